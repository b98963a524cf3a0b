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
 *   write   DATA -- xp_copied --> PARALLEL: records with checksums are on their
 *               way beside the data -- xp_end --> SYNC_PARALLEL until they are
 *               written --> flip without records -- done
 *                 `-- data failed: UNDO record, SYNC_UNDO, again, into other slots
 *   write   OVERWRITE (of a part of a dirty block, in its slot) -- xp_end --> done; FUA: SYNC
 *                 `-- failed: OVERWRITE_DOUBTED as above; if the device is there, again
 *   write-through: then THROUGH until the slow device has it, too (through.c)
 *   around the cache: BYPASS ---------------------------------- xp_end -> done
 *                                 `-- FUA: again, SLOW_FLUSH --- xp_end -> done
 *                                       `-- TURN as below
 *   zeroes  CLEARING until the ends of clean mappings are written; then again, BYPASS
 *   flush   SYNC, or SLOW_FLUSH -- xp_end --> SYNC ------------------> done
 *                 `-- TURN while another's is under way, whose end may do for it
 *
 * True in DATA, PARALLEL, PARKED, OVERWRITE: no other write to those lbas runs.
 * True at "done" of a FUA write or a FLUSH: what it covers is on the medium (I2).
 *
 * hit.c, read.c, write.c, parallel.c, overwrite.c, zeroes.c and bypass.c each hold one of these
 * ways; here are the entry points. flush.c is FLUSH; progress.c goes on with requests that wait.
 */
#include "bypass.h"
#include "flush.h"
#include "overwrite.h"
#include "passthrough.h"
#include "progress.h"
#include "slot.h"
#include "space.h"

const char *const xp_op_name[] = {
	[XP_READ] = "read", [XP_WRITE] = "write", [XP_FLUSH] = "flush",
	[XP_DISCARD] = "discard", [XP_ZEROES] = "write zeroes",
};

/* --------------------------------------------------------- entry points ---- */

/* It may have been let go because of a slot, which is now another's. */
static enum xp_act refuse(struct xp *c, struct xp_req *req,
			  struct xp_todo *todo)
{
	requests_relieve(c, todo);
	return req_finish(req, -EIO);
}

static noinline enum xp_act submit_locked(struct xp *c, struct xp_req *req,
					  struct xp_todo *todo)
{
	enum xp_act act;

	xp_lock(&c->lock);
	XP_ASSERT(c->running);
	if (unlikely(c->bypass_held))
		bypass_resume(c, req);
	if (unlikely(req->sector < XP_TABLE_SECTORS + c->pad) && req->op > XP_READ && req->op != XP_FLUSH)
		c->tables_written = true;
	if (req->op == XP_READ)
		act = read_submit(c, req, todo);
	else if (unlikely(req->written))
		act = flush_behind_submit(c, req, todo);
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
	if (req->op == XP_FLUSH && !XP_READ_ONCE(c->owes) && !req->tries)	/* else what failed since is its own, too */
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
		return read_miss_end(c, req, err, todo);
	case REQ_BYPASS:
		return bypass_end(c, req, err, todo);
	case REQ_DATA:
		return write_end(c, req, err, todo);
	case REQ_PARALLEL:
		return parallel_end(c, req, err, todo);
	case REQ_OVERWRITE:
		return overwrite_end(c, req, err, todo);
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
	case REQ_OVERWRITE_DOUBTED:
	case REQ_OVERWRITE_PARKED:
	case REQ_CLEARING:
	case REQ_THROUGH:
	case REQ_TURN:
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
		progress_advance(c, todo);
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
	xp_count_many(&c->hit_blocks[xp_processor() % XP_HIT_COUNTERS], req->nr_blocks);
	if (xp_hit_end(c, req))
		xp_hit_free(c, req, todo);
	return req_finish(req, 0);
}
