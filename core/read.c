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
#include "disk.h"
#include "ghost.h"
#include "overlay.h"
#include "policy.h"
#include "request.h"
#include "run.h"
#include "slot.h"
#include "space.h"
#include "span.h"

/* Not zeros: the slow device does not hold it, and the fast one alone is asked. */
static bool only_fast(struct xp *c, xp_slot_t slot)
{
	const struct xp_entry *e = &c->entry[xp_slot_n(slot)];

	return e->state == SLOT_MAPPED && e->dirty && (!e->apart || slot_lacks(c, slot));
}

/* Blocks from the first on whose slots are not read: zeros, or unread. */
static u32 apart_run(struct xp *c, const struct xp_req *req, bool unread)
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);

	for (n = 0; n < span; n++) {
		xp_slot_t s = map_mapped(c, lba_add(req_lba(req), n));

		if (!is_slot(s) || !(unread ? slot_is_unread(c, s) : slot_is_zeros(c, s)))
			break;
	}
	return n;
}

/* I9: nobody knows what the newest is. */
static enum xp_act read_unread(struct xp *c, struct xp_req *req)
{
	req_trim(req, apart_run(c, req, true));
	return req_finish(req, -EIO);
}

/* As it is, of the slow device; nothing of it is filled. */
static enum xp_act read_below(struct xp *c, struct xp_req *req)
{
	disk_read_begins(c, req);
	req->state = REQ_MISS;
	req->fill.nr_blocks = 0;
	req->overlay = NULL;
	xp_req_is(req, XP_CLASS_READ_BYPASS);
	return XP_SLOW;
}

static enum xp_act read_span(struct xp *c, struct xp_req *req, u32 n, u32 misses, struct xp_todo *todo);

/* All of it from the slow device, with what the slot has laid over: that is what another slot is filled with. */
static bool is_completed(struct xp *c, struct xp_req *req, xp_slot_t slot)
{
	if (req->alone || !(slot_lacks(c, slot) & req_mask(req)))
		return false;
	req->overlay = NULL;
	return overlay_add(c, req, 0, slot);
}

/* Of the first block. In pieces: sectors that lie side by side on one device; the slow one has what the slot lacks. */
static enum xp_act read_part(struct xp *c, struct xp_req *req, xp_slot_t slot, struct xp_todo *todo)
{
	u32 first = req_offset(req), nr = xp_part_run(slot_lacks(c, slot), first);
	struct xp_entry *e = entry_of(c, slot);
	bool below = slot_lacks(c, slot) >> first & 1;

	if (!below && entry_pins(e) >= XP_HIT_PINS)
		return req_wait(c, &c->busy, req);
	if (is_completed(c, req, slot)) {
		ranks_hit(e);
		return read_span(c, req, 1, 1, todo);
	}
	req_trim(req, 1);
	req->private |= c->opt.fast_whole && nr < req->nr_sectors;
	req->nr_sectors = min(req->nr_sectors, nr);
	if (below) {
		ranks_hit(e);
		return read_below(c, req);
	}
	hold_sectors(c, slot, req, REQ_HIT);
	return hit_act(c, req);
}

/* Not read from its slot as it is, or of a block that has as many readers as it may. */
static enum xp_act read_hit(struct xp *c, struct xp_req *req, xp_slot_t slot, struct xp_todo *todo)
{
	u32 n, i;

	if (!entry_of(c, slot)->apart)
		return req_wait(c, &c->busy, req);
	if (slot_is_unread(c, slot))
		return read_unread(c, req);
	if (slot_lacks(c, slot))
		return read_part(c, req, slot, todo);
	n = apart_run(c, req, false);
	for (i = 0; i < n; i++)
		ranks_hit(entry_of(c, map_mapped(c, lba_add(req_lba(req), i))));
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

/* No write of it is under way, and no other fill, and it is not cached, or in part. */
static bool is_fillable(struct xp *c, xp_lba_t lba)
{
	struct xp_found f;

	map_find(c, lba, &f);
	return (!is_slot(f.mapped) || slot_is_part(c, f.mapped)) && !is_slot(f.writing) && !is_slot(f.filling) &&
	       !bypass_overlaps(c, lba);
}

static u32 fillable_run(struct xp *c, xp_lba_t first, u32 most)
{
	u32 n;

	for (n = 0; n < most && is_fillable(c, lba_add(first, n)); n++)
		;
	return n;
}

/*
 * The slots of a fill are runs, chained by the link of the first slot of each: the number of the next one's, or NO_RUN; and
 * ALONE if there is but this slot, else its second one's link is how many there are (slot_link()).
 */
#define ALONE	0x80000000u
#define NO_RUN	(XP_MAX_SLOTS - 1)

static u32 run_length(const struct xp *c, u32 slot)
{
	return slot_link(c, slot) & ALONE ? 1 : slot_link(c, slot + 1);
}

/* What a fill takes: from its first run on, to its last as yet, of @nr. */
struct chain {
	u32 first, last, nr;
};

static void chain_run(struct xp *c, struct chain *chain, u32 slot, u32 n)
{
	if (chain->nr++)
		slot_set_link(c, chain->last, (slot_link(c, chain->last) & ALONE) | slot);
	else
		chain->first = slot;
	chain->last = slot;
	slot_set_link(c, slot, (n == 1 ? ALONE : 0) | NO_RUN);
	if (n > 1)
		slot_set_link(c, slot + 1, n);
}

/* Takes slots for a run of @nr blocks, wherever they are. */
static void take_run(struct xp *c, struct xp_fill *fill, struct chain *chain, xp_lba_t lba, u32 nr)
{
	while (nr && chain->nr < XP_FILL_RUNS_MAX) {
		xp_slot_t slot;
		u32 n = slots_alloc(c, nr, SLOT_FILLING, lba, &slot);

		chain_run(c, chain, xp_slot_n(slot), n);
		fill->nr_blocks += n;
		lba = lba_add(lba, n);
		nr -= n;
	}
}

/*
 * Takes slots for up to @want blocks, as many as are free, of the @span from @first on: those that can be filled. Whoever
 * has the fill walks the chain of runs without the lock: nobody else changes it until xp_fill_end().
 */
static void fill_take(struct xp *c, struct xp_fill *fill, xp_lba_t first, u32 span, u32 want)
{
	struct chain chain = { 0 };
	u32 at = 0;

	while (at < span && fill->nr_blocks < want && chain.nr < XP_FILL_RUNS_MAX) {
		u32 n = fillable_run(c, lba_add(first, at), min(span - at, want - fill->nr_blocks));

		take_run(c, fill, &chain, lba_add(first, at), n);
		at += n + 1;
	}
	fill->slot = XP_SLOT(chain.first);
	fill->target = fill->nr_blocks ? xp_slot_sector(c, fill->slot) : 0;
}

bool xp_fill_run(struct xp *c, struct xp_fill *fill, struct xp_fill *run)
{
	const struct xp_entry *e;

	if (!fill->nr_blocks)
		return false;
	e = entry_of(c, fill->slot);
	*run = *fill;
	run->lba = entry_lba(e);
	run->nr_blocks = run_length(c, xp_slot_n(fill->slot));
	run->target = xp_slot_sector(c, run->slot);
	fill->nr_blocks -= run->nr_blocks;
	fill->slot = XP_SLOT(slot_link(c, xp_slot_n(fill->slot)) & ~ALONE);
	return true;
}

void xp_fill_read(const struct xp *c, const struct xp_req *req, u64 *sector, u32 *nr_sectors)
{
	u64 end = xp_lba_n(req_lba(req)) + req->nr_blocks;

	*sector = xp_lba_n(req_lba(req)) * XP_BLOCK_SECTORS;
	if (end <= XP_READ_RACY(c->nr_whole))
		*nr_sectors = req->nr_blocks * XP_BLOCK_SECTORS;
	else
		*nr_sectors = (u32)(req->sector + req->nr_sectors - *sector);
}

/*
 * Slots for blocks of a miss, of which @misses are not cached. Those at its ends may be asked for in part, and are
 * read whole; what the slow device ends with, less than a block, is not filled.
 *
 * I4: none for a block that a write around the cache has touched and no flush of
 * the slow device has covered. What is read may be that write's; a power cut could
 * then leave it in the cache, clean, but not on the slow device, and its eviction
 * would bring the older value back.
 */
static void fill_prepare(struct xp *c, struct xp_req *req, u32 misses, bool streams, struct xp_todo *todo)
{
	xp_lba_t first = req_lba(req);
	u32 span = req->nr_blocks, want;

	if (xp_lba_n(first) + span > c->nr_whole || !lba_is_whole(c, first))
		span--;
	want = span ? policy_admit(c, first, span, misses, streams) : 0;
	if (want)
		span = flushed_run(c, first, span, todo);
	if (want && span)
		fill_take(c, &req->fill, first, span, want);
}

/* As its caller sent it: this is asked before the request is cut. */
static bool is_of_stream(struct xp *c, const struct xp_req *req)
{
	u64 end = (req->sector + req->nr_sectors + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;

	return stream_passes(c, xp_lba_n(req_lba(req)), end);
}

/* Hits that are read with the misses around them. */
static void ask_for_hits(struct xp *c, const struct xp_req *req, u32 nr)
{
	u32 n;

	for (n = 0; n < nr; n++) {
		xp_slot_t slot = map_mapped(c, lba_add(req_lba(req), n));

		if (is_slot(slot))
			ranks_hit(entry_of(c, slot));
	}
}

/* More than was asked for failed there: to a disk that has to give up on a sector each try takes seconds. */
static bool has_failed_before(const struct xp *c, const struct xp_req *req)
{
	u64 first = xp_lba_n(req_lba(req));

	return first < c->failed_lba + c->failed_blocks && c->failed_lba < first + req_span(req);
}

/* The first @n blocks, of which so many are misses. */
static enum xp_act read_span(struct xp *c, struct xp_req *req, u32 n, u32 misses, struct xp_todo *todo)
{
	bool streams = is_of_stream(c, req);

	if (misses < n)
		ask_for_hits(c, req, n);
	req_trim(req, n);
	disk_read_begins(c, req);
	req->state = REQ_MISS;
	req->fill.nr_blocks = 0;
	if (!c->failed && !req->alone) {
		policy_evict_ahead(c, todo);
		fill_prepare(c, req, misses, streams, todo);
	}
	xp_req_is(req, req->fill.nr_blocks ? XP_CLASS_READ_MISS : XP_CLASS_READ_BYPASS);
	if (req->overlay)
		return XP_MIXED;
	return req->fill.nr_blocks ? XP_SLOW_FILL : XP_SLOW;
}

/* One block is not worth a look. */
static bool may_begin_with_hits(const struct xp *c, const struct xp_req *req)
{
	return req_span(req) > 1 && !req->alone && disk_goes_on(c, req_lba(req));
}

/* I7: what is clean, and what is not mapped. */
static bool slow_holds(struct xp *c, xp_slot_t slot)
{
	return !is_slot(slot) || !entry_of(c, slot)->dirty;
}

/* ... and nothing else. */
static bool fast_holds(struct xp *c, xp_slot_t slot)
{
	return is_slot(slot) && only_fast(c, slot) && !slot_is_part(c, slot);
}

/* Blocks from the first on that are so. */
static u32 alike(struct xp *c, const struct xp_req *req, bool (*so)(struct xp *c, xp_slot_t slot))
{
	u32 n = 0, span = min(req_span(req), XP_RUN_MAX);

	while (n < span && so(c, map_mapped(c, lba_add(req_lba(req), n))))
		n++;
	return n;
}

/* Or it waits, or is not read from its slot. */
static enum xp_act read_mapped(struct xp *c, struct xp_req *req, xp_slot_t slot, struct xp_todo *todo)
{
	if (req_is_private(c, req))
		verify_trim(req);
	return hit_slot(c, slot, req) ? hit_act(c, req) : read_hit(c, req, slot, todo);
}

/*
 * The fast device has just failed it. What the slow device holds at this moment is right:
 * a write that the read meets there is beside it in time. What only the fast one has is
 * asked for apart from that: if it fails again it is an error.
 */
static enum xp_act read_elsewhere(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	xp_slot_t slot = map_mapped(c, req_lba(req));
	u32 n = alike(c, req, fast_holds);

	req->fast_failed = false;
	if (n) {
		req_trim(req, n);
		return read_mapped(c, req, slot, todo);
	}
	n = alike(c, req, slow_holds);
	if (!n)
		return read_hit(c, req, slot, todo);	/* not read from its slot */
	req_trim(req, n);
	req->alone = true;
	return read_below(c, req);
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
		if (!only_fast(c, slot_add(req->slot, i)))
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
	req->fast_failed = true;
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
	u32 most = lba_is_whole(c, req_lba(req)) ? min(req_span(req), XP_RUN_MAX) : 1, misses, n = 0;

	if (req->fast_failed)
		return read_elsewhere(c, req, todo);
	req->alone |= has_failed_before(c, req);
	if (!is_slot(slot) || may_begin_with_hits(c, req))
		n = span_blocks(c, req, most, &misses);
	return n ? read_span(c, req, n, misses, todo) : read_mapped(c, req, slot, todo);
}

static void fill_drop(struct xp *c, xp_slot_t slot)
{
	slot_end_link(c, slot);
	if (entry_of(c, slot)->state == SLOT_FILLING)
		map_remove(c, slot);
	slot_release(c, slot);
	c->stats.fills_dropped++;
}

static void count_missed(struct xp *c, const struct xp_req *req)
{
	u32 n, laid_over = req->overlay ? req->overlay->nr_blocks : 0;

	c->stats.read_blocks_slow += req->nr_blocks - laid_over;
	c->stats.read_blocks_fast += laid_over;
	for (n = 0; n < req->nr_blocks; n++)
		if (!is_slot(map_mapped(c, lba_add(req_lba(req), n))))
			ghost_count_hit(c, lba_add(req_lba(req), n));
}

/* More was read than its caller asked for, or what the cache holds. */
static bool is_more(struct xp *c, const struct xp_req *req)
{
	u64 sector;
	u32 nr, n;

	if (req->overlay)
		return true;
	xp_fill_read(c, req, &sector, &nr);
	if (req->fill.nr_blocks && nr > req->nr_sectors)
		return true;
	for (n = 0; n < req->nr_blocks; n++)
		if (is_slot(map_mapped(c, lba_add(req_lba(req), n))))
			return true;
	return false;
}

/* A place of the slow device that failed is remembered. -ENOMEM: another time it may do. */
static enum xp_act read_in_pieces(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	req->alone = true;
	if (err != -ENOMEM) {
		c->failed_lba = xp_lba_n(req_lba(req));
		c->failed_blocks = req->nr_blocks;
	}
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

enum xp_act read_miss_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	bool more = err && !req->alone && is_more(c, req);
	struct xp_fill run;
	u32 i;

	disk_ends(c);
	while (err && xp_fill_run(c, &req->fill, &run))
		for (i = 0; i < run.nr_blocks; i++)
			fill_drop(c, slot_add(run.slot, i));
	if (!err)
		count_missed(c, req);
	overlay_end(c, req, todo);
	if (more)
		return read_in_pieces(c, req, err, todo);
	return req_finish(req, err);
}

/* I7: the slow device has not what @part has. Nothing was written to the block since, or the fill were doomed. */
static void complete(struct xp *c, xp_lba_t lba, xp_slot_t slot, xp_slot_t part)
{
	u32 rank = ranks_written(c, lba, part, false);

	XP_ASSERT(slot_is_part(c, part));
	journal_add(c, XP_REC_MAP, XP_REC_DIRTY, lba, slot, 0);
	record_is_dead(c, part);
	slot_supersede(c, part);
	journal_free_later(c, part);
	slot_map(c, slot, true, rank);
}

static void fill_block_end(struct xp *c, xp_lba_t lba, xp_slot_t slot,
			   int err, struct xp_todo *todo)
{
	xp_slot_t part = map_mapped(c, lba);

	/* a batch of those that settle a mode may have the part, and a reader waits for no other */
	if (err || c->failed || entry_of(c, slot)->state == SLOT_CANCELLED || (is_slot(part) && c->settling.on) ||
	    !journal_room(c, 1, todo)) {
		fill_drop(c, slot);
		return;
	}
	slot_end_link(c, slot);
	if (is_slot(part)) {
		complete(c, lba, slot, part);
	} else {
		journal_add_next(c, XP_REC_MAP, 0, lba, slot);
		slot_map(c, slot, false, ranks_arrival(c, lba));
	}
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
