// SPDX-License-Identifier: GPL-2.0-only
/*
 * zeroes.c - discards and writes of zeroes: the slow device's business, as they came, where
 * nothing is dirty; a record for each block that is.
 *
 * I8: what goes below goes where nothing is mapped. So the mappings of clean blocks end first,
 * and their ends are on the medium, while the request keeps everybody else away from what it
 * has looked at (bypass.c). A short write of zeroes is faster as a record, on clean blocks too.
 */
#include "bypass.h"
#include "policy.h"
#include "request.h"
#include "slot.h"
#include "through.h"

/* Blocks looked at before others have the lock. */
#ifndef XP_LOOKS	/* the simulator looks at a few */
#define XP_LOOKS	1024u
#endif

/* I7: it is on the slow device as well, or will be zeros there. */
static bool goes_below(struct xp *c, const struct xp_req *req, xp_slot_t mapped)
{
	return !entry_of(c, mapped)->dirty &&
	       (req->op != XP_ZEROES || req->nr_sectors > XP_RUN_MAX * XP_BLOCK_SECTORS);
}

/*
 * Whole blocks that are mapped read as zeros from now on, and after a power
 * cut once the record is durable.
 */
static enum xp_act zeroes_mapped(struct xp *c, struct xp_req *req, u32 want,
				 struct xp_todo *todo)
{
	struct xp_found f;
	u32 n;

	for (n = 0; n < want; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);
		struct xp_entry *e;

		map_find(c, lba, &f);
		if (!is_slot(f.mapped) || is_slot(f.writing) || goes_below(c, req, f.mapped))
			break;
		e = entry_of(c, f.mapped);
		if (slot_is_zeros(c, f.mapped))
			continue;
		if (!journal_room(c, 1, todo))
			break;
		if (is_slot(f.filling))	/* of a part */
			slot_doom(c, f.filling);
		journal_add(c, XP_REC_ZERO, 0, lba, f.mapped, 0);
		slot_is_read_again(c, f.mapped);
		slot_is_no_part(c, f.mapped);
		e->apart = 1;
		e->home = 0;
		slot_set_dirty(c, e, true);
	}
	if (!n)
		return req_wait(c, &c->room, req);
	todo->work |= c->nr_dirty > c->dirty_low;
	req_trim(req, n);
	c->stats.discard_blocks += n;
	return through_is_on(c) ? through_wait(c, req, todo) : req_finish(req, 0);
}

/* ------------------------------------------------------------- below ---- */

enum look { LOOK_ON, LOOK_END, LOOK_ROOM };

/*
 * Nothing of the block is in the way any more, but for the ends of mappings (@b->ended). Or it
 * is where the request ends, for now; or the journal has no room.
 */
static enum look look(struct xp *c, const struct xp_req *req, struct xp_bypass *b, xp_lba_t lba,
		      struct xp_todo *todo)
{
	struct xp_found f;

	map_find(c, lba, &f);
	if (c->pass == PASS_ON)
		bypass_unmap(c, &f);
	if (is_slot(f.writing) || (is_slot(f.mapped) && !goes_below(c, req, f.mapped)))
		return LOOK_END;
	if (is_slot(f.mapped) && !policy_unmap(c, f.mapped, todo))
		return LOOK_ROOM;
	if (is_slot(f.filling))
		slot_doom(c, f.filling);
	b->ended |= is_slot(f.mapped) || is_slot(f.unmapping);
	return LOOK_ON;
}

/*
 * Looks at the blocks behind those that @b has, which becomes one of them all. What nobody
 * knows anything of is not looked at.
 */
static enum look look_on(struct xp *c, const struct xp_req *req, struct xp_bypass *b, u32 want,
			 struct xp_todo *todo)
{
	u32 looks = 0, end = b->nr + bypass_gap(c, lba_add(req_lba(req), b->nr), want - b->nr);

	while (b->nr < end && looks < XP_LOOKS) {
		xp_lba_t lba = lba_add(req_lba(req), b->nr);
		u32 gap = map_gap(c, lba, end - b->nr);
		enum look found = LOOK_ON;

		looks += !gap;
		if (!gap && map_holds(c, lba))
			found = look(c, req, b, lba, todo);
		if (found != LOOK_ON)
			return found;
		b->nr += max(gap, 1u);
	}
	return b->nr < end ? LOOK_ON : LOOK_END;
}

/* The journal has failed while others had the lock. */
static enum xp_act again(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	bypass_give_up(c, req, todo);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

/* True: it waits, and nobody else gets at what it has looked at. */
static bool clear(struct xp *c, struct xp_req *req, struct xp_bypass *b, enum look found,
		  struct xp_todo *todo)
{
	u64 point = journal_commit(c, todo);

	if (found != LOOK_ROOM && journal_is_written(c, point))
		return false;
	b->clearing = true;
	if (found == LOOK_ROOM) {
		req_wait(c, &c->room, req);
	} else {
		b->ended = false;
		if (req->op == XP_WRITE)
			xp_req_is(req, XP_CLASS_WRITE_STALLED);
		req_wait_point(c, req, point, REQ_CLEARING);
	}
	return true;
}

enum xp_act zeroes_below(struct xp *c, struct xp_req *req, u32 want, struct xp_todo *todo)
{
	struct xp_bypass *b = bypass_place(c, req);
	enum look found;

	if (!b)
		return bypass_queue(c, req);
	b->lba = xp_lba_n(req_lba(req));
	while ((found = look_on(c, req, b, want, todo)) == LOOK_ON) {
		xp_unlock(&c->lock);
		xp_lock(&c->lock);
		if (c->failed && c->pass != PASS_ON)
			return again(c, req, todo);
	}
	if (!b->nr)
		return req_wait(c, found == LOOK_ROOM ? &c->room : &c->busy, req);
	if ((found == LOOK_ROOM || b->ended) && c->pass != PASS_ON && clear(c, req, b, found, todo))
		return XP_WAIT;
	return bypass_begin(c, b, req, b->nr);
}

enum xp_act zeroes_submit(struct xp *c, struct xp_req *req,
			  struct xp_todo *todo)
{
	u32 want = req_starts_partial(req) ? 1 : req->nr_sectors / XP_BLOCK_SECTORS;
	xp_lba_t lba = req_lba(req);
	struct xp_found f;

	xp_req_is(req, XP_CLASS_DISCARD);
	if (req->op == XP_DISCARD && (req_starts_partial(req) || !c->opt.slow_discards))
		return req_finish_command(c, req, want);
	if (bypass_resume(c, req))
		return zeroes_below(c, req, want, todo);
	map_find(c, lba, &f);
	if (is_slot(f.writing) || bypass_overlaps(c, lba))
		return req_wait(c, &c->busy, req);
	if (is_slot(f.mapped) && req_starts_partial(req))
		return write_submit(c, req, todo);
	if (is_slot(f.mapped) && !goes_below(c, req, f.mapped))
		return zeroes_mapped(c, req, min(want, through_part(c)), todo);
	return zeroes_below(c, req, want, todo);
}
