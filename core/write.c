// SPDX-License-Identifier: GPL-2.0-only
/*
 * write.c - a write into free slots, then its mapping.
 *
 * I1, I3: never over what is mapped. The data goes to slots that nobody names;
 * when it is there, records are placed and the mapping flips, block by block.
 */
#include "badblocks.h"
#include "busy.h"
#include "bypass.h"
#include "overwrite.h"
#include "passthrough.h"
#include "policy.h"
#include "run.h"
#include "slot.h"
#include "through.h"
#include "writeback.h"

/* Another write to the lba runs. A fill of it must not land. */
static bool lba_busy(struct xp *c, const struct xp_found *f, xp_lba_t lba)
{
	if (is_slot(f->writing) || bypass_overlaps(c, lba))
		return true;
	if (is_slot(f->filling))
		slot_doom(c, f->filling);
	return false;
}

static noinline bool chain_busy(struct xp *c, const u32 *chain, xp_lba_t lba)
{
	struct xp_found f;

	map_find_in(c, chain, lba, &f);
	return lba_busy(c, &f, lba);
}

/* Then no slot becomes free by itself. */
static bool all_are_unread(const struct xp *c)
{
	return unlikely(c->nr_unread) && c->nr_unread + slots_given_up(c) == c->nr_slots;
}

/*
 * No slot for the first block. Space that is on its way is waited for; a
 * mapped block must wait for writeback, unless that gets nowhere; any other goes
 * around the cache.
 */
static enum xp_act write_without_slot(struct xp *c, struct xp_req *req,
				      bool mapped, struct xp_todo *todo)
{
	bool coming;

	policy_free_soon(c, todo);
	coming = c->nr_free || c->nr_pending_free || c->nr_clean > c->nr_slots / 64;
	if (mapped && !coming && !c->overlaid && (c->futile == XP_FUTILE_MAX || all_are_unread(c))) {
		writeback_soon(c, todo);
		return req_finish(req, -EIO);
	}
	if (mapped || coming) {
		todo->work = todo->tick = true;
		return req_wait(c, &c->space, req);
	}
	return bypass_submit(c, req, min(req_span(req), XP_RUN_MAX));
}

/* I2 asks for it of a FUA write alone. Any other may be treated as one; I3 asks for its record before it is written back. */
static bool may_go_parallel(const struct xp *c, const struct xp_req *req, u32 nr_blocks)
{
	return !c->opt.fast_at_once && (req->fua || through_is_on(c) || policy_sync_follows(c, nr_blocks)) &&
	       nr_blocks <= XP_COPY_MAX && !journal_tight(c);
}

static __always_inline void write_begin(struct xp *c, struct xp_req *req, u32 nr_blocks)
{
	c->writes_unsynced++;
	xp_req_is(req, XP_CLASS_WRITE);
	req_trim(req, nr_blocks);
	req->state = REQ_DATA;
	req->target = slot_sector(c, req->slot);
	req->copy.parallel = may_go_parallel(c, req, nr_blocks);
	req->copy.hashed = req->copy.parallel || c->opt.verify;
}

/* Consecutive free slots for up to @want blocks, the first of them @start. */
static u32 slots_at(const struct xp *c, u32 start, u32 want)
{
	if (want == 1 || start == XP_NIL)
		return start != XP_NIL;
	if (unlikely(c->any_suspect))
		want = slots_together(c, start, want);
	return slots_free_from(c, start, want);
}

/* Up to @want blocks. */
static enum xp_act write_whole(struct xp *c, struct xp_req *req, u32 want,
			       struct xp_todo *todo)
{
	u32 start = slots_next(c), n = 0, free;
	bool busy;

	if (req_is_private(c, req))
		want = min(want, XP_COPY_MAX);
	free = slots_at(c, start, want);
	do {
		xp_lba_t lba = lba_add(req_lba(req), n);
		u32 *chain = map_chain(c, lba);

		busy = map_is_quiet(c, chain, lba) ? bypass_overlaps(c, lba) : chain_busy(c, chain, lba);
		if (busy || n == free)
			break;
		slot_begin(c, start + n, SLOT_WRITING);
		map_link(c, XP_SLOT(start + n), lba, chain);
	} while (++n < free);
	if (!n)
		return busy ? req_wait(c, &c->busy, req) :
			      write_without_slot(c, req, is_slot(map_mapped(c, req_lba(req))), todo);
	slots_mark_run(c, start, n);
	map_count(c, req_lba(req), n, region_more);
	req->slot = XP_SLOT(start);
	write_begin(c, req, n);
	if (likely(!req->copy.hashed && !req->private))
		return XP_FAST;
	req->copy.check = false;
	req->copy.base = XP_BASE_NONE;
	req->copy.offset = 0;
	return XP_COPY;
}

/* I7: what is clean is there too, for when the fast device has just failed it. */
static bool slow_serves(struct xp *c, const struct xp_req *req, xp_slot_t mapped)
{
	return !is_slot(mapped) || (req->fast_failed && !entry_of(c, mapped)->dirty);
}

static void choose_base(struct xp *c, struct xp_req *req, xp_slot_t mapped)
{
	req->base_slot = XP_SLOT(XP_NIL);
	req->copy.check = false;
	if (slow_serves(c, req, mapped)) {
		req->fast_failed = false;
		req->copy.base = XP_BASE_SLOW;
		c->disk.begun++;
		req->copy.from = xp_lba_n(req_lba(req)) * XP_BLOCK_SECTORS;
	} else if (slot_is_zeros(c, mapped)) {
		req->copy.base = XP_BASE_ZERO;
	} else {
		req->copy.base = XP_BASE_FAST;
		req->copy.from = xp_slot_sector(c, mapped);
		req->base_slot = mapped;
		req->copy.check = c->sum && c->sum[xp_slot_n(mapped)];
		req->doubted = false;
		slot_pin(c, mapped);
	}
}

/*
 * Sectors that neither it nor the slot of before has are not in this one. No checksum of it means anything then, so its
 * record comes after its data.
 */
static void leave_out(struct xp *c, struct xp_req *req, u8 lacks)
{
	slot_set_lacks(c, req->slot, lacks & ~req_mask(req));
	if (slot_lacks(c, req->slot))
		req->copy.parallel = false;
}

/* It takes the place of @mapped. */
static void succeed(struct xp *c, struct xp_req *req, xp_slot_t mapped)
{
	if (overwrite_may_follow(c, req, mapped))
		req->copy.parallel = false;
	if (slot_is_part(c, mapped))
		leave_out(c, req, slot_lacks(c, mapped));
}

/* The slot is taken. */
static enum xp_act part_into_slot(struct xp *c, struct xp_req *req, xp_slot_t mapped)
{
	write_begin(c, req, 1);
	if (!is_slot(mapped) && part_begins(c, req)) {
		leave_out(c, req, 0xff);
		req->target += req_offset(req);
		return XP_FAST;
	}
	if (is_slot(mapped))
		succeed(c, req, mapped);
	req->copy.hashed = req->copy.parallel || c->opt.verify;
	req->copy.offset = req_offset(req) << XP_SECTOR_SHIFT;
	choose_base(c, req, mapped);
	return XP_COPY;
}

static enum xp_act write_partial(struct xp *c, struct xp_req *req,
				 struct xp_todo *todo)
{
	xp_lba_t lba = req_lba(req);
	struct xp_found f;
	u32 i;

	map_find(c, lba, &f);
	if (lba_busy(c, &f, lba))
		return req_wait(c, &c->busy, req);
	/* what comes behind it one day is not ours */
	if (unlikely(!lba_is_whole(c, lba)) && !is_slot(f.mapped))
		return bypass_submit(c, req, 1);
	if (is_slot(f.mapped) && slot_is_unread(c, f.mapped))
		return req_finish(req, -EIO);	/* I9: what is left alone is not known */
	if (overwrite_begins(c, req, f.mapped))
		return XP_FAST;
	i = slots_next(c);
	if (i == XP_NIL)
		return write_without_slot(c, req, is_slot(f.mapped), todo);
	slots_take(c, i, SLOT_WRITING, lba);
	req->slot = XP_SLOT(i);
	return part_into_slot(c, req, f.mapped);
}

/* Who waits for a write to be durable waits for the slow device, if it goes there. */
static bool is_sync(const struct xp *c, const struct xp_req *req)
{
	return req->fua || req->ordered || policy_sync_is_next(c, req_span(req));
}

/* Asked once, of all that its caller has sent: the answer holds while it waits and others overtake it. */
static bool is_of_stream(struct xp *c, struct xp_req *req)
{
	u64 begin = xp_lba_n(req_lba(req));

	if (req->stream == STREAM_NOT_ASKED)
		req->stream = stream_is_written(c, begin, begin + req_span(req)) ? STREAM_LONG : STREAM_NONE;
	return req->stream == STREAM_LONG;
}

/* Of a write's next blocks so many go around the cache; if none does, so many into it. */
struct share {
	u32 around, cached;
};

/* Of the @want blocks of a write that may be of a stream. Apart: a short write is quicker without. */
static noinline struct share stream_share(struct xp *c, struct xp_req *req, u32 want)
{
	if (is_of_stream(c, req) && !is_sync(c, req) && policy_passes(c)) {
		u32 around = bypass_run(c, req_lba(req), want, true);

		if (around)
			return (struct share){ .around = around };
		want = bypass_run(c, req_lba(req), want, false);
	}
	return (struct share){ .cached = want };
}

static inline bool may_stream(const struct xp *c, const struct xp_req *req)
{
	return req->nr_sectors >= XP_STREAM_BEGIN * XP_BLOCK_SECTORS || stream_is_near(&c->writes, xp_lba_n(req_lba(req)));
}

/*
 * Write-around, I8: no mapping is left of what the slow device gets. A block that is dirty, of another mode's time, is
 * written into the cache, and through.
 */
static bool goes_around(struct xp *c, const struct xp_req *req)
{
	xp_slot_t mapped = map_mapped(c, req_lba(req));

	if (req->op != XP_WRITE)
		return false;	/* zeroes of a part of a block that is mapped (zeroes.c) */
	return !is_slot(mapped) || !entry_of(c, mapped)->dirty;
}

static enum xp_act around_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	struct xp_found f;

	if (!bypass_resume(c, req)) {
		map_find(c, req_lba(req), &f);
		if (is_slot(f.writing) || bypass_overlaps(c, req_lba(req)))
			return req_wait(c, &c->busy, req);
	}
	xp_req_is(req, XP_CLASS_WRITE_BYPASS);
	return zeroes_below(c, req, req_starts_partial(req) ? 1 : req->nr_sectors / XP_BLOCK_SECTORS, todo);
}

enum xp_act write_submit(struct xp *c, struct xp_req *req,
			 struct xp_todo *todo)
{
	u32 want = min(req->nr_sectors / XP_BLOCK_SECTORS, through_part(c));

	req->progress = 0;
	req->base_slot = XP_SLOT(XP_NIL);
	if (unlikely(c->opt.mode == XP_MODE_WRITEAROUND)) {
		if (goes_around(c, req))
			return around_submit(c, req, todo);
		want = 1;
	}
	policy_evict_ahead(c, todo);
	if (req_starts_partial(req))
		return write_partial(c, req, todo);
	if (unlikely(may_stream(c, req))) {
		struct share share = stream_share(c, req, want);

		if (share.around)
			return bypass_submit(c, req, share.around);
		want = share.cached;
	}
	return write_whole(c, req, want, todo);
}

/* Slots no record names: back at once. */
void write_abort(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u32 i;

	for (i = req->progress; i < req->nr_blocks; i++) {
		map_remove(c, slot_add(req->slot, i));
		slot_release(c, slot_add(req->slot, i));
	}
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
}

/* The mapping of @lba flips to @slot, by a record of the open block. Returns the slot that it had. */
static __always_inline xp_slot_t flip(struct xp *c, xp_lba_t lba, xp_slot_t slot, bool streams)
{
	u32 *link;
	xp_slot_t old = map_mapped_behind(c, slot, lba, &link);

	if (!is_slot(old)) {
		slot_map(c, slot, true, ranks_written_new(c, lba, streams));
		return old;
	}
	record_is_dead(c, old);
	map_unlink(entry_of(c, old), link);
	slot_follow(c, old, slot, ranks_successor(c, old));
	return old;
}

/* Slots in a row that the blocks before @end had: out of the count of their regions, and free some day. */
static __always_inline void superseded(struct xp *c, struct xp_window *w, xp_lba_t first, u32 end, struct xp_slots *gone)
{
	if (!gone->nr)
		return;
	map_count(c, lba_add(first, end - gone->nr), gone->nr, region_less);
	window_free_later(c, w, *gone);
	gone->nr = 0;
}

/* Of @nr blocks from @lba on: one record, if it may be. */
static __always_inline void record_blocks_of(struct xp *c, struct xp_window *w, xp_lba_t lba, xp_slot_t slot, u32 nr)
{
	u32 i;

	if (nr > 1 && journal_runs(c)) {
		window_run(c, w, lba, slot, nr);
		return;
	}
	XP_ASSERT(window_has_room(w, nr));
	for (i = 0; i < nr; i++)
		window_record(c, w, XP_REC_MAP, XP_REC_DIRTY, lba_add(lba, i), slot_add(slot, i), 0);
}

/* Of the next @nr blocks, for which the open block has room. */
static __always_inline void flip_blocks(struct xp *c, struct xp_req *req, u32 nr)
{
	struct xp_window *w = journal_window(c, journal_open(c));
	u32 segment = w->position >> c->journal.segment_shift, i;
	xp_lba_t first = lba_add(req_lba(req), req->progress);
	xp_slot_t slot = slot_add(req->slot, req->progress), old;
	bool streams = req->stream == STREAM_LONG;
	struct xp_slots gone = { 0, 0 };

	journal_owe(c);
	record_blocks_of(c, w, first, slot, nr);
	for (i = 0; i < nr; i++) {
		record_is_born(c, slot_add(slot, i), segment);
		old = flip(c, lba_add(first, i), slot_add(slot, i), streams);
		if (gone.nr && xp_slot_n(old) != gone.first + gone.nr)
			superseded(c, w, first, i, &gone);
		if (!gone.nr)
			gone.first = xp_slot_n(old);
		gone.nr += is_slot(old);
	}
	superseded(c, w, first, nr, &gone);
	c->journal.live[segment] += nr;
	req->progress += nr;
}

/*
 * The data is in the slots: record by record, the mapping flips. The old slot
 * is free when the record is durable (I1).
 */
enum xp_act write_flip(struct xp *c, struct xp_req *req,
		       struct xp_todo *todo)
{
	bool tick = todo->tick;
	u64 point;
	u32 nr;

	while (req->progress < req->nr_blocks) {
		nr = journal_room_for(c, req->nr_blocks - req->progress, todo);
		if (!nr) {
			req->state = REQ_PARKED;
			return req_wait(c, &c->parked, req);
		}
		if (nr == 1)	/* the shortest way, as the compiler knows of it */
			flip_blocks(c, req, 1);
		else
			flip_blocks(c, req, nr);
	}
	req_count_written(c, req);
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	todo->work |= c->nr_dirty > c->dirty_low;
	if (unlikely(through_is_on(c)))
		return through_wait(c, req, todo);
	if (!req->fua)
		return req_finish(req, 0);
	point = journal_commit(c, todo);
	if (journal_is_written(c, point))
		todo->tick = tick;	/* nothing of this is left for it */
	return req_sync(c, req, point);
}

/*
 * Is it the device, or a bad place of it? Until a journal block has told, the write waits, and
 * nobody else has its slots.
 */
enum xp_act write_end(struct xp *c, struct xp_req *req, int err,
		      struct xp_todo *todo)
{
	if (c->failed) {
		write_abort(c, req, todo);
		return pass_again(c, req, err ? err : -EIO, todo);
	}
	if (!err)
		return write_flip(c, req, todo);
	journal_doubt(c, todo);
	req->err = err;
	return req_wait_point(c, req, journal_probe(c, todo), REQ_DOUBTED);
}

/* Into other slots, unless the error is not one of these. */
enum xp_act write_again(struct xp_req *req, struct xp_todo *todo)
{
	if (!error_of_place(req->err) || ++req->tries >= WRITE_TRIES)
		return req_finish(req, req->err);
	if (req->op == XP_WRITE)
		xp_req_is(req, XP_CLASS_WRITE_STALLED);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

enum xp_act write_elsewhere(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	if (error_of_place(req->err))
		slots_refused(c, req->slot, req->nr_blocks, todo);
	write_abort(c, req, todo);
	return write_again(req, todo);
}

/* Not written back since, and then not mapped any more, as a part is. */
static bool is_only_there(const struct xp_entry *e)
{
	return e->state == SLOT_MAPPED && e->dirty;
}

/* The slow device may have what the write leaves alone: once more, with that. */
enum xp_act write_base_failed(struct xp *c, struct xp_req *req, int err,
			      struct xp_todo *todo)
{
	journal_doubt(c, todo);
	write_abort(c, req, todo);
	if (c->failed)
		return pass_again(c, req, err, todo);
	if (!is_slot(req->base_slot) || is_only_there(entry_of(c, req->base_slot)))
		return req_finish(req, err);
	req->fast_failed = true;
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}
