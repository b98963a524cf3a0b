// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.c - a FLUSH: all that was acknowledged before it is durable when it ends (I2).
 *
 * It waits for the journal, and flushes the slow device first if bypass writes have ended there.
 *
 *	caller's FLUSH --its turn--> sent --end--> journal --> done
 *	         `-- wait: another is under way --its end covers it--> journal --> done
 *	                                `-- it does not: it comes again, and is about the same writes
 *
 * One flush of the slow device is under way at a time, a batch's, a caller's or the mark's (c->turn). A device tells once
 * that it has forgotten what it was sent, and the next flush ends well all the same: of two that are together one may
 * take the error of both, and the other's success be seen first. So the end of each is noted before the next begins.
 *
 * Who is told may be another all the same: a FLUSH that was submitted before some of these writes ended, or a batch's.
 * So all FLUSHes of callers fail that are under way at a failure. And bypass writes are numbered as they end: where a
 * failure may be about writes up to c->flush_lost, and callers have heard of those up to c->flush_told alone, the next
 * FLUSH fails. One that is aside, of no caller, hears of it once as well, and takes nothing that a caller is to hear.
 *
 * A FUA write that goes around the cache is a write, and then such a flush, unless the device makes one write durable by
 * itself (xp_options.slow_fua). It speaks for itself alone.
 */
#include "bypass.h"
#include "flush.h"
#include "policy.h"
#include "request.h"
#include "through.h"
#include "writeback.h"

/* -------------------------------------------------------------- a loss ---- */

void flush_note_loss(struct xp *c)
{
	if (!flush_is_untold(c))	/* else somebody has yet to hear, whatever is durable by now */
		c->flush_told = max(c->flush_told, c->bypass_flushed);
	c->homes_lost = true;
	c->flush_failures++;
	c->flush_lost = c->bypass_done;
	through_lost(c);
}

/* It waits for the flush behind it. */
static bool is_write(const struct xp_req *req)
{
	return req->op == XP_WRITE;
}

/* A flush has failed since it is under way. */
static bool is_doubted(const struct xp *c, const struct xp_req *req)
{
	return req->failures != c->flush_failures;
}

/* One has failed before, and nobody has said so whom it would tell. */
static bool is_news(const struct xp *c, const struct xp_req *req)
{
	return flush_is_untold(c) && (!req->aside || c->flush_told_aside < c->flush_lost);
}

static enum xp_act finish(struct xp_req *req, int err)
{
	req->written = false;
	return req_finish(req, err);
}

/* It fails for that, and a later one does not. */
static enum xp_act tell(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	if (req->aside) {
		c->flush_told_aside = max(c->flush_told_aside, req->bypassed);
	} else if (!is_write(req)) {
		c->flush_told = max(c->flush_told, req->bypassed);
		bypass_flush_failed(c, req->bypassed, todo);
	}
	return finish(req, err);
}

/* ------------------------------------------------------------ its turn ---- */

/* The mark waits only while it is taken. */
static bool is_taken(const struct xp *c)
{
	return c->turn.taken || c->turn.batch_waits;
}

static enum xp_act wait_for_turn(struct xp *c, struct xp_req *req)
{
	c->stats.waits++;
	req->state = REQ_TURN;
	xp_list_add(&c->turn.waiting, &req->link);
	return XP_WAIT;
}

bool flush_takes_turn(struct xp *c)
{
	if (c->turn.taken)
		return false;
	c->turn.taken = true;
	c->turn.bypassed = c->bypass_done;
	c->turn.failures = c->flush_failures;
	return true;
}

/* It is on the slow device, durably. */
static enum xp_act is_there(struct xp *c, struct xp_req *req)
{
	return is_write(req) ? finish(req, 0) : req_sync(c, req, req->point);
}

/* Another's flush has ended. */
static void waited(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	enum xp_act act = XP_WAIT;

	if (is_doubted(c, req))
		act = tell(c, req, -EIO, todo);
	else if (c->bypass_flushed < req->bypassed || (c->failed && !is_write(req)))
		xp_list_add(&todo->ready, &req->link);
	else
		act = is_there(c, req);
	if (act == XP_DONE)
		xp_list_add(&todo->done, &req->link);
}

void flush_wants_mark(struct xp *c, struct xp_todo *todo)
{
	c->turn.mark_waits = !flush_takes_turn(c);
	todo->mark |= !c->turn.mark_waits;
}

void flush_turn_ends(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_take(&all, &c->turn.waiting);
	while ((link = xp_list_pop(&all)))
		waited(c, req_of(link), todo);
	c->turn.taken = false;
	if (c->turn.mark_waits)
		flush_wants_mark(c, todo);
	todo->work |= c->turn.batch_waits;
}

/* -------------------------------------------------------------- callers ---- */

/* Of the first req->bypassed writes that went around the cache. */
static enum xp_act begin(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	if (unlikely(is_doubted(c, req)))
		return tell(c, req, -EIO, todo);
	if (c->bypass_flushed >= req->bypassed)
		return finish(req, 0);
	if (is_taken(c))
		return wait_for_turn(c, req);
	flush_takes_turn(c);
	c->stats.flushes_slow++;
	req->state = REQ_SLOW_FLUSH;
	disk_begins(c);
	return is_write(req) ? XP_SLOW_FLUSH : XP_SLOW;
}

/* It is about what has ended by now, however often it comes again. */
static void number(struct xp *c, struct xp_req *req)
{
	req->tries = 1;
	req->bypassed = c->bypass_done;
	req->failures = c->flush_failures;
}

enum xp_act flush_below(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	if (req->tries)
		return begin(c, req, todo);
	number(c, req);
	return is_news(c, req) ? tell(c, req, -EIO, todo) : begin(c, req, todo);
}

enum xp_act flush_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	bool again = req->tries;
	enum xp_act act;

	if (!again) {
		req->point = journal_flush(c, todo);
		policy_flush(c);
	}
	xp_req_is(req, XP_CLASS_FLUSH);
	act = flush_below(c, req, todo);
	if (act != XP_DONE || req->err)
		return act;
	if (c->journal.grows && !again && !flush_is_untold(c) && journal_is_written(c, req->point))
		XP_WRITE_ONCE(c->owes, false);
	return req_sync(c, req, req->point);
}

/* It went well, and so did all that was under way with it. */
static enum xp_act flushed(struct xp *c, struct xp_req *req)
{
	bypass_note_flushed(c, c->turn.bypassed);
	writeback_note_arrival(c);
	if (!c->failed || is_write(req))
		return is_there(c, req);
	if (c->pass == PASS_MARKING)
		return req_wait(c, &c->room, req);
	/* all that was acknowledged is there now, or it is not known to be */
	return req_finish(req, c->pass == PASS_OFF ? -EIO : 0);
}

enum xp_act flush_slow_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	enum xp_act act;

	disk_ends(c);
	if (err)
		flush_note_loss(c);
	if (err || is_doubted(c, req))
		act = tell(c, req, err ? err : -EIO, todo);
	else
		act = flushed(c, req);
	flush_turn_ends(c, todo);
	return act;
}

/* ------------------------------------------------------- behind a write ---- */

enum xp_act flush_behind(struct xp *c, struct xp_req *req, u32 failures, struct xp_todo *todo)
{
	req->bypassed = c->bypass_done;
	req->failures = failures;
	if (is_doubted(c, req))
		return req_finish(req, -EIO);
	req->written = true;
	if (is_taken(c))
		return wait_for_turn(c, req);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

enum xp_act flush_behind_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	req_trim(req, req->nr_blocks);
	return begin(c, req, todo);
}
