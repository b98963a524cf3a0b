// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - from xp_submit() to XP_DONE: the states of a request.
 *
 *   read    HIT  (slots pinned, without the lock) ------------ xp_end -> done
 *                 `-- the device failed it: again, from the slow device where clean
 *           MISS (slots FILLING where admitted) -------------- xp_end -> done
 *   write   DATA (slots WRITING) -- xp_end --> flip: a MAP record and the new
 *               mapping, block by block
 *                 |  no room in the journal: PARKED, flip goes on later
 *                 `-- done, or FUA: SYNC until its records are written
 *                 `-- data failed: DOUBTED until it is known whether the device is gone;
 *                     if not, again, into other slots
 *   write   DATA -- xp_copied --> BESIDE: records with checksums are on their
 *               way beside the data -- xp_end --> SYNC_PARALLEL until they are
 *               written --> flip without records -- done
 *                 `-- data failed: UNDO record, SYNC_UNDO, again, into other slots
 *   around the cache: BYPASS ---------------------------------- xp_end -> done
 *   zeroes  CLEARING until the ends of clean mappings are written; then again, BYPASS
 *   flush   SYNC, or SLOW_FLUSH -- xp_end --> SYNC ------------------> done
 *
 * True in DATA, BESIDE, PARKED: no other write to those lbas runs.
 * True at "done" of a FUA write or a FLUSH: what it covers is on the medium (I2).
 *
 * hit.c, read.c, write.c, parallel.c, zeroes.c and bypass.c each hold one of these ways;
 * here are the entry points, FLUSH, and what wakes those that wait.
 */
#include "journal.h"
#include "request.h"

const char *const xp_op_name[] = {
	[XP_READ] = "read", [XP_WRITE] = "write", [XP_FLUSH] = "flush",
	[XP_DISCARD] = "discard", [XP_ZEROES] = "write zeroes",
};

u64 xp_slot_sector(const struct xp *c, xp_slot_t slot)
{
	return slot_sector(c, slot);
}

/* --------------------------------------------------------------- flush ---- */

static enum xp_act flush_submit(struct xp *c, struct xp_req *req,
				struct xp_todo *todo)
{
	u64 point = journal_commit(c, todo);

	policy_flush(c);
	c->stats.flushes++;
	xp_req_is(req, XP_CLASS_FLUSH);
	if (c->bypass_flushed < c->bypass_done) {
		c->stats.flushes_slow++;
		req->bypassed = c->bypass_done;
		req->point = point;
		req->state = REQ_SLOW_FLUSH;
		return XP_SLOW;
	}
	if (c->journal.grows && journal_is_written(c, point))
		XP_WRITE_ONCE(c->owes, false);
	return req_sync(c, req, point);
}

/* Nothing is owed. What it covers was acknowledged before it came, and what is acknowledged is
 * durable, or c->owes was set before: so no lock is needed to see it (I2). */
static enum xp_act flush_idle(struct xp *c, struct xp_req *req)
{
	xp_count(&c->idle_flushes);
	xp_req_is(req, XP_CLASS_FLUSH);
	return XP_DONE;
}

static enum xp_act flush_slow_end(struct xp *c, struct xp_req *req, int err,
				  struct xp_todo *todo)
{
	if (err) {
		bypass_flush_failed(c, req->bypassed, todo);
		return req_finish(req, err);
	}
	c->bypass_flushed = max(c->bypass_flushed, req->bypassed);
	writeback_note_arrival(c);
	if (c->failed)	/* all that was acknowledged is there now, or it is not known to be */
		return req_finish(req, c->pass == PASS_OFF ? -EIO : 0);
	return req_sync(c, req, req->point);
}

/* ------------------------------------------------------------ progress ---- */

void requests_wake_busy(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo)
{
	struct xp_list keep;
	struct xp_link *link;

	xp_list_init(&keep);
	while ((link = xp_list_pop(&c->busy))) {
		struct xp_req *req = req_of(link);
		u64 first = xp_lba_n(req_lba(req));

		if (first < xp_lba_n(lba) + nr &&
		    xp_lba_n(lba) < first + max(req_span(req), 1u))
			xp_list_add(&todo->ready, link);
		else
			xp_list_add(&keep, link);
	}
	xp_list_splice(&c->busy, &keep);
}

static void settle(struct xp_req *req, enum xp_act act, struct xp_todo *todo)
{
	if (act == XP_DONE)
		xp_list_add(&todo->done, &req->link);
}

static enum xp_act sync_end(struct xp *c, struct xp_req *req,
			    struct xp_todo *todo)
{
	if (req->state == REQ_SYNC_PARALLEL)
		return parallel_flip(c, req, todo);
	if (req->state == REQ_SYNC_UNDO)
		return parallel_undone(c, req, todo);
	if (req->state == REQ_DOUBTED)
		return write_elsewhere(c, req, todo);
	if (req->state != REQ_CLEARING)
		return req_finish(req, 0);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

static void progress_sync(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_init(&all);
	xp_list_splice(&all, &c->sync);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		if (journal_is_written(c, req->point))
			settle(req, sync_end(c, req, todo), todo);
		else
			xp_list_add(&c->sync, link);
	}
}

static void progress_parked(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_init(&all);
	xp_list_splice(&all, &c->parked);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		settle(req, req->state == REQ_UNDO ? parallel_undo(c, req, todo) :
						     write_flip(c, req, todo),
		       todo);
	}
}

/* The journal failed: what waits for it gets EIO, or passes; the rest is tried again and
 * sees the failure itself. The map stays as it is, for reads. */
static void fail_all(struct xp *c, struct xp_todo *todo)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&c->sync))) {
		struct xp_req *req = req_of(link);

		if (req->state == REQ_SYNC_PARALLEL)
			parallel_abort(c, req, todo);
		else if (req->state == REQ_DOUBTED)
			write_abort(c, req, todo);
		else if (req->state == REQ_CLEARING)
			bypass_give_up(c, req, todo);
		settle(req, pass_again(c, req, -EIO, todo), todo);
	}
	while ((link = xp_list_pop(&c->parked))) {
		struct xp_req *req = req_of(link);

		if (req->state == REQ_PARKED)
			write_abort(c, req, todo);
		else
			parallel_abort(c, req, todo);
		settle(req, pass_again(c, req, -EIO, todo), todo);
	}
	xp_list_splice(&todo->ready, &c->busy);
	bypass_fail(c, todo);
	xp_list_splice(&todo->ready, &c->space);
	xp_list_splice(&todo->ready, &c->room);
	todo->work = true;
}

/* Somebody waits for a slot: hand on what is free, or make some. */
void requests_hand_out(struct xp *c, struct xp_todo *todo)
{
	u32 n;

	if (!c->nr_free) {
		policy_evict(c, c->low_free, todo);
		journal_commit(c, todo);
	}
	todo->work |= !c->nr_free && c->nr_dirty;
	/* No more than slots: whoever is let go and takes none ends or
	 * waits for one that will end, and that comes back here. */
	for (n = c->nr_free; n && !xp_list_empty(&c->space); n--)
		xp_list_add(&todo->ready, xp_list_pop(&c->space));
}

void requests_progress(struct xp *c, struct xp_todo *todo)
{
	if (c->failed) {
		fail_all(c, todo);
		return;
	}
	if (!xp_list_empty(&c->sync))
		progress_sync(c, todo);
	if (!xp_list_empty(&c->parked))
		progress_parked(c, todo);
	writeback_progress(c, todo);
	if (!xp_list_empty(&c->room) && journal_room(c, 1, todo))
		xp_list_splice(&todo->ready, &c->room);
	requests_relieve(c, todo);
}

/* --------------------------------------------------------- entry points ---- */

/* It may have been let go because of a slot, which is now another's. */
static enum xp_act refuse(struct xp *c, struct xp_req *req,
			  struct xp_todo *todo)
{
	requests_relieve(c, todo);
	return req_finish(req, -EIO);
}

/* The tables that say whose the place of the mark is: MBR, and the header of GPT. */
#define TABLE_SECTORS	(2 * XP_BLOCK_SECTORS)

static noinline enum xp_act submit_locked(struct xp *c, struct xp_req *req,
					  struct xp_todo *todo)
{
	enum xp_act act;

	xp_lock(&c->lock);
	XP_ASSERT(c->running);
	if (unlikely(c->bypass_held))
		bypass_resume(c, req);
	if (unlikely(req->sector < TABLE_SECTORS) && req->op > XP_READ && req->op != XP_FLUSH)
		c->tables_written = true;
	if (req->op == XP_READ)
		act = read_submit(c, req, todo);
	else if (unlikely(c->failed))
		act = pass_submit(c, req, todo);
	else if (req->ordered && bypass_in_doubt(c))
		act = refuse(c, req, todo);
	else if (req->op == XP_WRITE)
		act = write_submit(c, req, todo);
	else if (req->op == XP_FLUSH)
		act = flush_submit(c, req, todo);
	else
		act = zeroes_submit(c, req, todo);
	bypass_settle(c, req, todo);
	requests_hand_on(c, todo);
	xp_unlock(&c->lock);
	return act;
}

static inline u32 submit_hit(struct xp *c, struct xp_req *req)
{
	return req_is_private(c, req) ? verify_hit(c, req) : xp_hit(c, req);
}

enum xp_act xp_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u32 hit = req->op == XP_READ && !req->fast_failed ? submit_hit(c, req) : 0;

	req->err = 0;
	if (req->op == XP_FLUSH && !XP_READ_ONCE(c->owes))
		return flush_idle(c, req);
	if (hit & XP_HIT_OWES)
		xp_hit_free(c, req, todo);
	return hit & XP_HIT ? hit_act(c, req) : submit_locked(c, req, todo);
}

static enum xp_act end_by_state(struct xp *c, struct xp_req *req, int err,
				struct xp_todo *todo)
{
	switch ((enum xp_req_state)req->state) {
	case REQ_MISS:
		return read_miss_end(c, req, err);
	case REQ_BYPASS:
		return bypass_end(c, req, err, todo);
	case REQ_DATA:
		return write_end(c, req, err, todo);
	case REQ_PARALLEL:
		return parallel_end(c, req, err, todo);
	case REQ_SLOW_FLUSH:
		return flush_slow_end(c, req, err, todo);
	case REQ_HIT:
		return read_hit_failed(c, req, err, todo);
	case REQ_PARKED:
	case REQ_UNDO:
	case REQ_SYNC:
	case REQ_SYNC_PARALLEL:
	case REQ_SYNC_UNDO:
	case REQ_DOUBTED:
	case REQ_CLEARING:
		break;
	}
	XP_ASSERT(!"xp_end() of a request that the core keeps");
	return XP_DONE;
}

static noinline enum xp_act end_locked(struct xp *c, struct xp_req *req, int err,
				       struct xp_todo *todo)
{
	bool parallel = req->state == REQ_PARALLEL;
	enum xp_act act;

	xp_lock(&c->lock);
	if ((req->state == REQ_DATA || parallel) && is_slot(req->base_slot))
		slot_unpin(c, req->base_slot);
	act = end_by_state(c, req, err, todo);
	if (parallel && !c->failed)
		journal_advance(c, todo);
	else if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
	return act;
}

enum xp_act xp_base_failed(struct xp *c, struct xp_req *req, int err,
			   struct xp_todo *todo)
{
	enum xp_act act;

	xp_lock(&c->lock);
	if (is_slot(req->base_slot))
		slot_unpin(c, req->base_slot);
	act = write_base_failed(c, req, err, todo);
	if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
	return act;
}

enum xp_act xp_end(struct xp *c, struct xp_req *req, int err,
		   struct xp_todo *todo)
{
	if (req->state != REQ_HIT || err)
		return end_locked(c, req, err, todo);
	if (xp_hit_end(c, req))
		xp_hit_free(c, req, todo);
	return req_finish(req, 0);
}
