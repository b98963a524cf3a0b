// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.c - a FLUSH: all that was acknowledged before it is durable when it ends (I2).
 *
 * It waits for the journal, and flushes the slow device first if bypass writes have ended there.
 *
 * A device tells once that it has forgotten what it was sent, and the next flush ends well all the same. Who is told may
 * be another: a FLUSH that was submitted before some of these writes ended, or a batch's. So bypass writes are numbered as
 * they end. Of a failure that may be about writes up to c->flush_lost one FLUSH of a caller is to hear that covers what
 * is beyond c->flush_told: whether it comes later, or was under way then.
 */
#include "bypass.h"
#include "policy.h"
#include "request.h"
#include "writeback.h"

bool flush_is_doomed(const struct xp *c, u64 bypassed)
{
	return min(bypassed, c->flush_lost) > c->flush_told;
}

enum xp_act flush_tell(struct xp *c, struct xp_req *req, u64 bypassed, struct xp_todo *todo)
{
	c->flush_told = max(c->flush_told, bypassed);
	bypass_flush_failed(c, bypassed, todo);
	return req_finish(req, -EIO);
}

enum xp_act flush_slow(struct xp *c, struct xp_req *req)
{
	c->stats.flushes_slow++;
	req->bypassed = c->bypass_done;
	req->state = REQ_SLOW_FLUSH;
	disk_begins(c);
	return XP_SLOW;
}

enum xp_act flush_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u64 point = journal_commit(c, todo);

	policy_flush(c);
	xp_req_is(req, XP_CLASS_FLUSH);
	if (unlikely(flush_is_doomed(c, c->bypass_done)))
		return flush_tell(c, req, c->bypass_done, todo);
	if (c->bypass_flushed < c->bypass_done) {
		req->point = point;
		return flush_slow(c, req);
	}
	if (c->journal.grows && journal_is_written(c, point))
		XP_WRITE_ONCE(c->owes, false);
	return req_sync(c, req, point);
}

enum xp_act flush_slow_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	disk_ends(c);
	if (err) {
		bypass_flush_failed(c, req->bypassed, todo);
		writeback_flush_failed(c, req->bypassed);
		return req_finish(req, err);
	}
	if (unlikely(flush_is_doomed(c, req->bypassed)))
		return flush_tell(c, req, req->bypassed, todo);
	bypass_note_flushed(c, req->bypassed);
	writeback_note_arrival(c);
	if (c->failed)	/* all that was acknowledged is there now, or it is not known to be */
		return req_finish(req, c->pass == PASS_OFF ? -EIO : 0);
	return req_sync(c, req, req->point);
}
