// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - hits, misses, and the fills that misses bring.
 *
 * Most hits never come here (hit.c). A fill is in the hash while it is under way,
 * where a write finds and dooms it.
 */
#include "badblocks.h"
#include "busy.h"
#include "bypass.h"
#include "policy.h"
#include "request.h"
#include "run.h"
#include "slot.h"
#include "space.h"

/* Not zeros: the slow device does not hold it, and the fast one alone is asked. */
static bool only_fast(const struct xp_entry *e)
{
	return e && e->state == SLOT_MAPPED && e->dirty && !e->zeros;
}

/* Of zeros, or of a block that has as many readers as it may. */
static enum xp_act read_hit(struct xp *c, struct xp_req *req, xp_slot_t slot)
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);

	if (!entry_of(c, slot)->zeros)
		return req_wait(c, &c->busy, req);
	for (n = 0; n < span; n++) {
		xp_slot_t s = map_mapped(c, lba_add(req_lba(req), n));

		if (!is_slot(s) || !entry_of(c, s)->zeros)
			break;
		ranks_hit(entry_of(c, s));
	}
	req_trim(req, n);
	c->stats.read_blocks_fast += n;
	return XP_ZERO;
}

/* Of @n blocks to be filled, those before the first that a slow flush has to come for. */
static u32 flushed_run(struct xp *c, xp_lba_t first, u32 n, struct xp_todo *todo)
{
	u32 gap = unflushed_gap(&c->unflushed, first, n);

	if (gap < n)
		todo->tick = c->fills_held_up = true;
	if (unflushed_crowded(&c->unflushed) && c->batch.state == BATCH_NONE)
		todo->work = c->slow_flush_wanted = true;
	return gap;
}

/*
 * Takes slots for up to @want blocks from fill->lba on, wherever they are. As many are free. Whoever
 * has the fill walks the chain of runs without the lock: nobody else changes it until xp_fill_end().
 */
static void fill_take(struct xp *c, struct xp_fill *fill, u32 want)
{
	u32 first = XP_NIL, *link = &first, runs;

	for (runs = 0; fill->nr_blocks < want && runs < XP_FILL_RUNS_MAX; runs++) {
		xp_slot_t slot;
		u32 nr = slots_alloc(c, want - fill->nr_blocks, SLOT_FILLING,
				     lba_add(fill->lba, fill->nr_blocks), &slot);

		*link = xp_slot_n(slot);
		link = &entry_of(c, slot)->list_next;
		entry_of(c, slot)->list_prev = nr;
		fill->nr_blocks += nr;
	}
	*link = XP_NIL;
	fill->slot = XP_SLOT(first);
	fill->target = xp_slot_sector(c, fill->slot);
}

bool xp_fill_run(struct xp *c, struct xp_fill *fill, struct xp_fill *run)
{
	const struct xp_entry *e;

	if (!fill->nr_blocks)
		return false;
	e = entry_of(c, fill->slot);
	*run = *fill;
	run->nr_blocks = e->list_prev;
	fill->lba = lba_add(fill->lba, run->nr_blocks);
	fill->nr_blocks -= run->nr_blocks;
	fill->slot = XP_SLOT(e->list_next);
	fill->target = xp_slot_sector(c, fill->slot);
	return true;
}

void xp_fill_read(const struct xp_req *req, u64 *sector, u32 *nr_sectors)
{
	u64 end = max(req->sector + req->nr_sectors,
		      (xp_lba_n(req->fill.lba) + req->fill.nr_blocks) * XP_BLOCK_SECTORS);

	*sector = xp_lba_n(req_lba(req)) * XP_BLOCK_SECTORS;
	*nr_sectors = (u32)(end - *sector);
}

/*
 * No write of it is under way, and no other fill. What the slow device ends with, less than a block, is
 * not filled.
 */
static bool is_fillable(struct xp *c, xp_lba_t lba)
{
	struct xp_found f;

	map_find(c, lba, &f);
	return xp_lba_n(lba) < c->nr_whole && !is_slot(f.writing) && !is_slot(f.filling) &&
	       !bypass_overlaps(c, lba);
}

/*
 * Slots for the first blocks of a miss that are side by side and fillable. Those at its ends may be asked for
 * in part, and are read whole. Of a sequence of such reads each has the last block of the one before, whose
 * fill may be under way.
 *
 * I4: none for a block that a write around the cache has touched and no flush of
 * the slow device has covered. What is read may be that write's; a power cut could
 * then leave it in the cache, clean, but not on the slow device, and its eviction
 * would bring the older value back.
 */
static void fill_prepare(struct xp *c, struct xp_req *req, bool streams, struct xp_todo *todo)
{
	xp_lba_t first = req_lba(req);
	u32 skip = 0, n = 0;

	while (skip < req->nr_blocks && !is_fillable(c, lba_add(first, skip)))
		skip++;
	first = lba_add(first, skip);
	while (skip + n < req->nr_blocks && is_fillable(c, lba_add(first, n)))
		n++;
	n = n ? policy_admit(c, first, n, streams) : 0;
	if (n)
		n = flushed_run(c, first, n, todo);
	if (!n)
		return;
	req->fill.lba = first;
	fill_take(c, &req->fill, n);
}

/* As its caller sent it: this is asked before the request is cut. */
static bool is_of_stream(struct xp *c, const struct xp_req *req)
{
	u64 end = (req->sector + req->nr_sectors + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;

	return stream_passes(c, xp_lba_n(req_lba(req)), end);
}

static enum xp_act read_miss(struct xp *c, struct xp_req *req,
			     struct xp_todo *todo)
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);
	bool streams = is_of_stream(c, req);

	for (n = 1; n < span; n++)
		if (is_slot(map_mapped(c, lba_add(req_lba(req), n))))
			break;
	req_trim(req, n);
	req->state = REQ_MISS;
	req->fill.nr_blocks = 0;
	if (!c->failed) {
		policy_evict_ahead(c, todo);
		fill_prepare(c, req, streams, todo);
	}
	if (!req->fill.nr_blocks) {
		xp_req_is(req, XP_CLASS_READ_BYPASS);
		return XP_SLOW;
	}
	xp_req_is(req, XP_CLASS_READ_MISS);
	return XP_SLOW_FILL;
}

/* I7: what is clean, and what is not mapped. */
static bool slow_holds(const struct xp_entry *e)
{
	return !e || !e->dirty;
}

/* Blocks from the first on that are so. */
static u32 alike(struct xp *c, const struct xp_req *req, bool (*so)(const struct xp_entry *e))
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);

	for (n = 0; n < span; n++) {
		xp_slot_t slot = map_mapped(c, lba_add(req_lba(req), n));

		if (!so(is_slot(slot) ? entry_of(c, slot) : NULL))
			break;
	}
	return n;
}

/* Or it waits, or is of zeros. */
static enum xp_act read_mapped(struct xp *c, struct xp_req *req, xp_slot_t slot)
{
	if (req_is_private(c, req))
		verify_trim(req);
	return hit_slot(c, slot, req) ? hit_act(c, req) : read_hit(c, req, slot);
}

/*
 * The fast device has just failed it. What the slow device holds at this moment is right:
 * a write that the read meets there is beside it in time. What only the fast one has is
 * asked for apart from that: if it fails again it is an error.
 */
static enum xp_act read_elsewhere(struct xp *c, struct xp_req *req)
{
	xp_slot_t slot = map_mapped(c, req_lba(req));
	u32 n = alike(c, req, only_fast);

	req->from_slow = false;
	if (n) {
		req_trim(req, n);
		return read_mapped(c, req, slot);
	}
	n = alike(c, req, slow_holds);
	if (!n)
		return read_hit(c, req, slot);	/* of zeros */
	req_trim(req, n);
	req->state = REQ_MISS;
	req->fill.nr_blocks = 0;
	xp_req_is(req, XP_CLASS_READ_BYPASS);
	return XP_SLOW;
}

/* A clean block whose slot has failed a read before is dropped, and its slot given up. */
static void read_never_again(struct xp *c, xp_slot_t slot, struct xp_todo *todo)
{
	if (!policy_evictable(entry_of(c, slot)))
		return;
	if (!slot_is_suspect(c, slot) || policy_unmap(c, slot, todo))
		slot_failed_again(c, slot, todo);
}

bool read_is_lost(struct xp *c, const struct xp_req *req)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++)
		if (!only_fast(entry_of(c, slot_add(req->slot, i))))
			return false;
	return true;
}

enum xp_act read_elsewhere_or(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	bool lost = read_is_lost(c, req);
	u32 i;

	for (i = 0; i < req->nr_blocks; i++) {
		slot_unpin(c, slot_add(req->slot, i));
		requests_wake(c, lba_add(req_lba(req), i), 1, todo);
	}
	if (lost)
		return req_finish(req, err);
	req->from_slow = true;
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

enum xp_act read_hit_failed(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	xp_slot_t slot = req->slot;
	bool alone = req->nr_blocks == 1;
	enum xp_act act;

	journal_doubt(c, todo);
	act = read_elsewhere_or(c, req, err, todo);
	if (alone && error_of_place(err) && !c->failed)
		read_never_again(c, slot, todo);
	return act;
}

enum xp_act read_submit(struct xp *c, struct xp_req *req,
			struct xp_todo *todo)
{
	xp_slot_t slot = map_mapped(c, req_lba(req));

	if (req->from_slow)
		return read_elsewhere(c, req);
	if (!is_slot(slot))
		return read_miss(c, req, todo);
	return read_mapped(c, req, slot);
}

static void fill_drop(struct xp *c, xp_slot_t slot)
{
	if (entry_of(c, slot)->state == SLOT_FILLING)
		map_remove(c, slot);
	slot_release(c, slot);
	c->stats.fills_dropped++;
}

/* More is read than its caller asked for. */
static bool is_widened(const struct xp_req *req)
{
	u64 sector;
	u32 nr;

	if (!req->fill.nr_blocks)
		return false;
	xp_fill_read(req, &sector, &nr);
	return nr > req->nr_sectors;
}

/* What cannot be read may be what its caller has not asked for. */
static enum xp_act read_exactly(struct xp_req *req, struct xp_todo *todo)
{
	req->from_slow = true;
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

enum xp_act read_miss_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	bool widened = err && is_widened(req);
	struct xp_fill run;
	u32 i;

	while (err && xp_fill_run(c, &req->fill, &run))
		for (i = 0; i < run.nr_blocks; i++)
			fill_drop(c, slot_add(run.slot, i));
	if (widened)
		return read_exactly(req, todo);
	if (!err)
		c->stats.read_blocks_slow += req->nr_blocks;
	return req_finish(req, err);
}

static void fill_block_end(struct xp *c, xp_lba_t lba, xp_slot_t slot,
			   int err, struct xp_todo *todo)
{
	if (err || c->failed || entry_of(c, slot)->state == SLOT_CANCELLED ||
	    !journal_room(c, 1, todo)) {
		fill_drop(c, slot);
		return;
	}
	journal_add(c, XP_REC_MAP, 0, lba, slot, 0);
	slot_map(c, slot, false, ranks_arrival(c, lba));
	c->stats.fills++;
}

static void fill_run_end(struct xp *c, const struct xp_fill *run, int err,
			 struct xp_todo *todo)
{
	u32 i;

	if (error_of_place(err) && run->nr_blocks == 1)
		slot_failed_again(c, run->slot, todo);
	else if (error_of_place(err))
		slots_suspect(c, run->slot, run->nr_blocks);
	for (i = 0; i < run->nr_blocks; i++)
		fill_block_end(c, lba_add(run->lba, i),
			       slot_add(run->slot, i), err, todo);
}

void xp_fill_end(struct xp *c, const struct xp_fill *fill, int err,
		 struct xp_todo *todo)
{
	struct xp_fill left = *fill, run;

	xp_lock(&c->lock);
	while (xp_fill_run(c, &left, &run))
		fill_run_end(c, &run, err, todo);
	if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
}
