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

enum xp_act flush_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u64 point = journal_commit(c, todo);

	policy_flush(c);
	xp_req_is(req, XP_CLASS_FLUSH);
	if (unlikely(c->flush_untold)) {
		c->flush_untold = false;
		bypass_flush_failed(c, c->bypass_done, todo);
		return req_finish(req, -EIO);
	}
	if (c->bypass_flushed < c->bypass_done) {
		c->stats.flushes_slow++;
		req->bypassed = c->bypass_done;
		req->point = point;
		req->state = REQ_SLOW_FLUSH;
		disk_begins(c);
		return XP_SLOW;
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
		writeback_flush_failed(c);
		c->flush_untold |= through_is_on(c) && c->bypass_done > req->bypassed;
		return req_finish(req, err);
	}
	bypass_note_flushed(c, req->bypassed);
	writeback_note_arrival(c);
	if (c->failed)	/* all that was acknowledged is there now, or it is not known to be */
		return req_finish(req, c->pass == PASS_OFF ? -EIO : 0);
	return req_sync(c, req, req->point);
}
