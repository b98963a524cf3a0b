// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.c - a FLUSH: all that was acknowledged before it is durable when it ends (I2).
 *
 * It waits for the journal, and flushes the slow device first if bypass writes have ended there.
 */
#include "bypass.h"
#include "policy.h"
#include "request.h"
#include "through.h"
#include "writeback.h"

enum xp_act flush_tell(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	c->flush_untold = false;
	bypass_flush_failed(c, c->bypass_done, todo);
	return req_finish(req, -EIO);
}

/*
 * Of two that are under way together the device may tell one alone what both are about. So it fails as well if
 * another's failure is seen before its own end.
 */
enum xp_act flush_slow(struct xp *c, struct xp_req *req)
{
	c->stats.flushes_slow++;
	req->bypassed = c->bypass_done;
	req->progress = c->flush_failures;
	req->state = REQ_SLOW_FLUSH;
	disk_begins(c);
	return XP_SLOW;
}

enum xp_act flush_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u64 point = journal_commit(c, todo);

	policy_flush(c);
	xp_req_is(req, XP_CLASS_FLUSH);
	if (unlikely(c->flush_untold))
		return flush_tell(c, req, todo);
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
	bool told_another = req->progress != c->flush_failures;

	disk_ends(c);
	if (err)
		writeback_flush_failed(c, req->bypassed);
	if (err || told_another) {
		bypass_flush_failed(c, req->bypassed, todo);
		return req_finish(req, err ? err : -EIO);
	}
	bypass_note_flushed(c, req->bypassed);
	writeback_note_arrival(c);
	if (c->failed)	/* all that was acknowledged is there now, or it is not known to be */
		return req_finish(req, c->pass == PASS_OFF ? -EIO : 0);
	return req_sync(c, req, req->point);
}
