// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - from xp_submit() to XP_DONE: the states of a request.
 *
 *   read    HIT  (slots pinned) ------------------------------ xp_end -> done
 *           MISS (slots FILLING where admitted) -------------- xp_end -> done
 *   write   DATA (slots WRITING) -- xp_end --> flip: a MAP record and the new
 *               mapping, block by block
 *                 |  no room in the journal: PARKED, flip goes on later
 *                 `-- done, or FUA: SYNC until its records are written
 *   write   DATA -- xp_copied --> BESIDE: records with checksums are on their
 *               way beside the data -- xp_end --> SYNC_BESIDE until they are
 *               written --> flip without records -- done
 *                 `-- data failed: UNDO record, SYNC_UNDO, done with the error
 *   around the cache: BYPASS ---------------------------------- xp_end -> done
 *   flush   SYNC, or SLOW_FLUSH -- xp_end --> SYNC ------------------> done
 *
 * True in DATA, BESIDE, PARKED: no other write to those lbas runs.
 * True at "done" of a FUA write or a FLUSH: what it covers is on the medium (I2).
 */
#include "cache.h"

enum xp_req_state {
	REQ_HIT,
	REQ_MISS,
	REQ_BYPASS,
	REQ_DATA,
	REQ_BESIDE,
	REQ_PARKED,
	REQ_UNDO,
	REQ_SLOW_FLUSH,
	REQ_SYNC,
	REQ_SYNC_BESIDE,
	REQ_SYNC_UNDO,
};

static struct xp_req *req_of(struct xp_link *link)
{
	return container_of(link, struct xp_req, link);
}

static xp_lba_t req_lba(const struct xp_req *req)
{
	return XP_LBA(req->sector / XP_BLOCK_SECTORS);
}

static u32 req_offset(const struct xp_req *req)
{
	return (u32)(req->sector % XP_BLOCK_SECTORS);
}

/* Blocks that the request touches, whole or in part. */
static u32 req_span(const struct xp_req *req)
{
	return (req_offset(req) + req->nr_sectors + XP_BLOCK_SECTORS - 1) /
	       XP_BLOCK_SECTORS;
}

/* The answer is about the first @nr blocks only. */
static void req_trim(struct xp_req *req, u32 nr)
{
	req->nr_blocks = nr;
	req->nr_sectors = min(req->nr_sectors,
			      nr * XP_BLOCK_SECTORS - req_offset(req));
}

static enum xp_act finish(struct xp_req *req, int err)
{
	req->err = err;
	return XP_DONE;
}

static enum xp_act wait_on(struct xp *c, struct xp_list *list,
			   struct xp_req *req)
{
	c->stats.waits++;
	xp_list_add(list, &req->link);
	return XP_WAIT;
}

/* Until block @seq is written, then @state says what follows. */
static enum xp_act wait_for(struct xp *c, struct xp_req *req, u64 seq,
			    enum xp_req_state state)
{
	req->state = state;
	req->seq = XP_SEQ(seq);
	xp_list_add(&c->sync, &req->link);
	return XP_WAIT;
}

static bool is_written(const struct xp *c, u64 seq)
{
	return seq <= c->journal.written;
}

/* Durable now, or XP_WAIT until it is. */
static enum xp_act sync_or_wait(struct xp *c, struct xp_req *req, u64 seq)
{
	if (is_written(c, seq))
		return finish(req, 0);
	return wait_for(c, req, seq, REQ_SYNC);
}

u64 xp_slot_sector(const struct xp *c, xp_slot_t slot)
{
	return (c->data_start + xp_slot_n(slot)) * XP_BLOCK_SECTORS;
}

/* ------------------------------------------------------ around the cache ---- */

static bool bypass_overlaps(const struct xp *c, xp_lba_t lba)
{
	u32 i;

	if (!c->bypass_running)
		return false;
	for (i = 0; i < XP_BYPASS_MAX; i++) {
		const struct xp_bypass *b = &c->bypass[i];

		if (b->nr && xp_lba_n(lba) - b->lba < b->nr)
			return true;
	}
	return false;
}

static void doom_fill(struct xp *c, xp_slot_t slot)
{
	map_remove(c, slot);
	entry_of(c, slot)->state = SLOT_DOOMED;
}

/* I8: with no mapping, none on its way in, and none whose end is not durable. */
static bool may_bypass(const struct xp *c, const struct xp_found *f,
		       xp_lba_t lba)
{
	return !is_slot(f->mapped) && !is_slot(f->writing) &&
	       !is_slot(f->unmapping) && !bypass_overlaps(c, lba);
}

static enum xp_act bypass_run(struct xp *c, struct xp_req *req, u32 span)
{
	struct xp_found f;
	u32 i, n;

	if (c->bypass_running == XP_BYPASS_MAX)
		return wait_on(c, &c->busy, req);
	for (n = 0; n < span; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);

		map_find(c, lba, &f);
		if (!may_bypass(c, &f, lba))
			break;
		if (is_slot(f.filling))
			doom_fill(c, f.filling);
	}
	if (!n)
		return wait_on(c, &c->busy, req);
	for (i = 0; c->bypass[i].nr; i++)
		;
	c->bypass[i].lba = xp_lba_n(req_lba(req));
	c->bypass[i].nr = n;
	c->bypass_running++;
	req_trim(req, n);
	req->bypass = (u8)i;
	req->state = REQ_BYPASS;
	c->stats.write_bypass++;
	return XP_SLOW;
}

static enum xp_act bypass_end(struct xp *c, struct xp_req *req, int err,
			      struct xp_todo *todo)
{
	c->bypass[req->bypass].nr = 0;
	c->bypass_running--;
	c->bypass_done++;	/* also after an error: part of it may be there */
	xp_list_splice(&todo->ready, &c->busy);
	return finish(req, err);
}

/* ---------------------------------------------------------------- reads ---- */

static enum xp_act read_hit(struct xp *c, struct xp_req *req, xp_slot_t slot)
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);
	bool zeros = entry_of(c, slot)->zeros;

	for (n = 0; n < span; n++) {
		xp_slot_t s = map_mapped(c, lba_add(req_lba(req), n));
		struct xp_entry *e;

		if (!is_slot(s))
			break;
		e = entry_of(c, s);
		if (e->zeros != zeros)
			break;
		if (!zeros) {
			if (xp_slot_n(s) != xp_slot_n(slot) + n ||
			    e->pins == XP_MAX_PINS)
				break;
			slot_pin(c, s);
		}
		e->referenced = 1;
	}
	if (!n)
		return wait_on(c, &c->busy, req);
	req_trim(req, n);
	c->stats.read_hits++;
	if (zeros)
		return XP_ZERO;
	req->slot = slot;
	req->target = xp_slot_sector(c, slot) + req_offset(req);
	req->state = REQ_HIT;
	return XP_FAST;
}

/*
 * Slots for the whole blocks of a miss, of which no write is under way.
 *
 * I4: none while a write around the cache is not flushed on the slow device.
 * The block read may be that write's; a power cut could then leave it in the
 * cache, clean, but not on the slow device, and its eviction would bring the
 * older value back.
 */
static void fill_prepare(struct xp *c, struct xp_req *req)
{
	xp_lba_t first = lba_add(req_lba(req), req_offset(req) ? 1 : 0);
	u64 end = (req->sector + req->nr_sectors) / XP_BLOCK_SECTORS;
	struct xp_found f;
	u32 n;

	if (c->bypass_flushed < c->bypass_done) {
		c->fills_held_up = true;
		return;
	}
	for (n = 0; xp_lba_n(first) + n < end; n++) {
		xp_lba_t lba = lba_add(first, n);

		map_find(c, lba, &f);
		if (is_slot(f.writing) || is_slot(f.filling) ||
		    bypass_overlaps(c, lba))
			break;
	}
	if (!n || !policy_admit(c, req, n))
		return;
	req->fill.lba = first;
	req->fill.nr_blocks = slots_alloc(c, n, SLOT_FILLING, first,
					  &req->fill.slot);
	req->fill.target = xp_slot_sector(c, req->fill.slot);
}

static enum xp_act read_miss(struct xp *c, struct xp_req *req,
			     struct xp_todo *todo)
{
	u32 n, span = min(req_span(req), XP_RUN_MAX);

	for (n = 1; n < span; n++)
		if (is_slot(map_mapped(c, lba_add(req_lba(req), n))))
			break;
	req_trim(req, n);
	c->stats.read_misses++;
	req->state = REQ_MISS;
	req->fill.nr_blocks = 0;
	if (c->failed)
		return XP_SLOW;
	policy_evict_ahead(c, todo);
	fill_prepare(c, req);
	return req->fill.nr_blocks ? XP_SLOW_FILL : XP_SLOW;
}

static enum xp_act submit_read(struct xp *c, struct xp_req *req,
			       struct xp_todo *todo)
{
	xp_slot_t slot = map_mapped(c, req_lba(req));

	if (is_slot(slot))
		return read_hit(c, req, slot);
	return read_miss(c, req, todo);
}

static enum xp_act hit_end(struct xp *c, struct xp_req *req, int err,
			   struct xp_todo *todo)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++)
		slot_unpin(c, slot_add(req->slot, i));
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	return finish(req, err);
}

static void fill_drop(struct xp *c, xp_slot_t slot)
{
	if (entry_of(c, slot)->state == SLOT_FILLING)
		map_remove(c, slot);
	slot_release(c, slot);
	c->stats.fills_dropped++;
}

static enum xp_act miss_end(struct xp *c, struct xp_req *req, int err)
{
	u32 i;

	if (err) {
		for (i = 0; i < req->fill.nr_blocks; i++)
			fill_drop(c, slot_add(req->fill.slot, i));
		req->fill.nr_blocks = 0;
	}
	return finish(req, err);
}

static void fill_block_end(struct xp *c, xp_lba_t lba, xp_slot_t slot,
			   int err, struct xp_todo *todo)
{
	if (err || c->failed || entry_of(c, slot)->state == SLOT_DOOMED ||
	    !journal_room(c, 1, todo)) {
		fill_drop(c, slot);
		return;
	}
	journal_add(c, XP_REC_MAP, 0, lba, slot, 0);
	slot_map(c, slot, false);
	c->stats.fills++;
}

/* -------------------------------------------------------------- writes ---- */

/* Another write to the lba runs. A fill of it must not land. */
static bool lba_busy(struct xp *c, const struct xp_found *f, xp_lba_t lba)
{
	if (is_slot(f->writing) || bypass_overlaps(c, lba))
		return true;
	if (is_slot(f->filling))
		doom_fill(c, f->filling);
	return false;
}

/* No slot for the first block. Space that is on its way is waited for; a
 * mapped block must wait for destage; any other goes around the cache. */
static enum xp_act write_without_slot(struct xp *c, struct xp_req *req,
				      bool mapped, struct xp_todo *todo)
{
	policy_evict(c, c->low_free, todo);
	journal_commit(c, todo);
	if (mapped || c->nr_limbo || c->nr_clean > c->nr_slots / 64) {
		todo->work = true;
		return wait_on(c, &c->space, req);
	}
	return bypass_run(c, req, min(req_span(req), XP_RUN_MAX));
}

static enum xp_act write_whole(struct xp *c, struct xp_req *req,
			       struct xp_todo *todo)
{
	u32 n, want = min(req->nr_sectors / XP_BLOCK_SECTORS, XP_RUN_MAX);
	bool mapped = false, beside;
	struct xp_found f;

	for (n = 0; n < want; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);

		map_find(c, lba, &f);
		if (lba_busy(c, &f, lba))
			break;
		if (!n)
			mapped = is_slot(f.mapped);
	}
	if (!n)
		return wait_on(c, &c->busy, req);
	beside = req->fua && n <= XP_COPY_MAX && !journal_tight(c);
	n = slots_alloc(c, n, SLOT_WRITING, req_lba(req), &req->slot);
	if (!n)
		return write_without_slot(c, req, mapped, todo);
	c->stats.writes++;
	req_trim(req, n);
	req->state = REQ_DATA;
	req->target = xp_slot_sector(c, req->slot);
	req->copy.base = XP_BASE_NONE;
	req->copy.offset = 0;
	req->copy.beside = beside;
	return beside ? XP_COPY : XP_FAST;
}

static void choose_base(struct xp *c, struct xp_req *req, xp_slot_t mapped)
{
	req->base_slot = XP_SLOT(XP_NIL);
	if (!is_slot(mapped)) {
		req->copy.base = XP_BASE_SLOW;
		req->copy.from = xp_lba_n(req_lba(req)) * XP_BLOCK_SECTORS;
	} else if (entry_of(c, mapped)->zeros) {
		req->copy.base = XP_BASE_ZERO;
	} else {
		req->copy.base = XP_BASE_FAST;
		req->copy.from = xp_slot_sector(c, mapped);
		req->base_slot = mapped;
		slot_pin(c, mapped);
	}
}

static enum xp_act write_partial(struct xp *c, struct xp_req *req,
				 struct xp_todo *todo)
{
	xp_lba_t lba = req_lba(req);
	struct xp_found f;

	map_find(c, lba, &f);
	if (lba_busy(c, &f, lba) ||
	    (is_slot(f.mapped) && entry_of(c, f.mapped)->pins == XP_MAX_PINS))
		return wait_on(c, &c->busy, req);
	if (!slots_alloc(c, 1, SLOT_WRITING, lba, &req->slot))
		return write_without_slot(c, req, is_slot(f.mapped), todo);
	c->stats.writes++;
	req_trim(req, 1);
	req->state = REQ_DATA;
	req->target = xp_slot_sector(c, req->slot);
	req->copy.offset = req_offset(req) << XP_SECTOR_SHIFT;
	req->copy.beside = req->fua && !journal_tight(c);
	choose_base(c, req, f.mapped);
	return XP_COPY;
}

static bool starts_partial(const struct xp_req *req)
{
	return req_offset(req) || req->nr_sectors < XP_BLOCK_SECTORS;
}

static enum xp_act submit_write(struct xp *c, struct xp_req *req,
				struct xp_todo *todo)
{
	req->progress = 0;
	req->base_slot = XP_SLOT(XP_NIL);
	policy_evict_ahead(c, todo);
	if (starts_partial(req))
		return write_partial(c, req, todo);
	return write_whole(c, req, todo);
}

/* Slots no record names: back at once. */
static void write_abort(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u32 i;

	for (i = req->progress; i < req->nr_blocks; i++) {
		map_remove(c, slot_add(req->slot, i));
		slot_release(c, slot_add(req->slot, i));
	}
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
}

/* The data is in the slots: record by record, the mapping flips. The old slot
 * is free when the record is durable (I1). */
static enum xp_act write_flip(struct xp *c, struct xp_req *req,
			      struct xp_todo *todo)
{
	for (; req->progress < req->nr_blocks; req->progress++) {
		xp_lba_t lba = lba_add(req_lba(req), req->progress);
		xp_slot_t slot = slot_add(req->slot, req->progress), old;

		if (!journal_room(c, 1, todo)) {
			req->state = REQ_PARKED;
			return wait_on(c, &c->parked, req);
		}
		journal_add(c, XP_REC_MAP, XP_REC_DIRTY, lba, slot, 0);
		old = map_mapped(c, lba);
		if (is_slot(old)) {
			journal_unlist(c, old);
			slot_supersede(c, old);
			journal_free_later(c, old);
		}
		slot_map(c, slot, true);
	}
	c->stats.write_blocks += req->nr_blocks;
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	todo->work |= c->nr_dirty > c->dirty_low;
	if (req->fua)
		return sync_or_wait(c, req, journal_commit(c, todo));
	return finish(req, 0);
}

static enum xp_act data_end(struct xp *c, struct xp_req *req, int err,
			    struct xp_todo *todo)
{
	if (err || c->failed) {
		write_abort(c, req, todo);
		return finish(req, err ? err : -EIO);
	}
	return write_flip(c, req, todo);
}

/* ------------------------------------------ writes beside their records ---- */

static void records_beside(struct xp *c, struct xp_req *req, const u64 *hash)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++) {
		xp_lba_t lba = lba_add(req_lba(req), i);
		xp_slot_t old = map_mapped(c, lba);
		u64 seq;

		if (is_slot(old))
			entry_of(c, old)->held = 1;
		seq = journal_add(c, XP_REC_MAP, XP_REC_DIRTY | XP_REC_CHECKED,
				  lba, slot_add(req->slot, i), hash[i]);
		req->record_seq = XP_SEQ(seq);
	}
	journal_window(c, xp_seq_n(req->record_seq))->undone++;
	req->state = REQ_BESIDE;
}

void xp_copied(struct xp *c, struct xp_req *req, const u64 *hash,
	       struct xp_todo *todo)
{
	xp_lock(&c->lock);
	/* No room, or by now a tight ring: the data goes first and its record
	 * after it. */
	if (!c->failed && !journal_tight(c) &&
	    journal_room(c, req->nr_blocks, todo)) {
		records_beside(c, req, hash);
		journal_commit(c, todo);
	} else {
		req->copy.beside = false;
	}
	xp_unlock(&c->lock);
}

/* Data and record are durable: nothing falls back to the old slots any more,
 * so they are free now. */
static enum xp_act beside_flip(struct xp *c, struct xp_req *req,
			       struct xp_todo *todo)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++) {
		xp_slot_t old = map_mapped(c, lba_add(req_lba(req), i));

		if (is_slot(old)) {
			journal_unlist(c, old);
			slot_supersede(c, old);
			slot_release(c, old);
		}
		slot_map(c, slot_add(req->slot, i), true);
	}
	journal_data_done(c, xp_seq_n(req->record_seq));
	c->stats.write_blocks += req->nr_blocks;
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	todo->work |= c->nr_dirty > c->dirty_low;
	return finish(req, 0);
}

/* A record went out for data that did not land: say again what holds. */
static void undo_block(struct xp *c, xp_lba_t lba, xp_slot_t slot)
{
	xp_slot_t old = map_mapped(c, lba);

	if (is_slot(old)) {
		struct xp_entry *e = entry_of(c, old);

		e->held = 0;
		journal_add(c, XP_REC_MAP, (e->dirty ? XP_REC_DIRTY : 0) |
			    (e->zeros ? XP_REC_ZEROS : 0), lba, old, 0);
	} else {
		journal_add(c, XP_REC_UNMAP, 0, lba, slot, 0);
	}
	journal_unlist(c, slot);
	map_remove(c, slot);
	entry_of(c, slot)->state = SLOT_LIMBO;
	journal_free_later(c, slot);
}

static enum xp_act write_undo(struct xp *c, struct xp_req *req,
			      struct xp_todo *todo)
{
	u64 seq = xp_seq_n(req->record_seq);

	for (; req->progress < req->nr_blocks; req->progress++) {
		if (!journal_room_undo(c, seq, todo)) {
			req->state = REQ_UNDO;
			return wait_on(c, &c->parked, req);
		}
		undo_block(c, lba_add(req_lba(req), req->progress),
			   slot_add(req->slot, req->progress));
	}
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	return wait_for(c, req, journal_undo(c, seq, todo), REQ_SYNC_UNDO);
}

static enum xp_act beside_end(struct xp *c, struct xp_req *req, int err,
			      struct xp_todo *todo)
{
	u64 seq = xp_seq_n(req->record_seq);

	if (c->failed)
		return finish(req, -EIO);
	if (err) {
		req->err = err;
		return write_undo(c, req, todo);
	}
	if (is_written(c, seq))
		return beside_flip(c, req, todo);
	return wait_for(c, req, seq, REQ_SYNC_BESIDE);
}

/* -------------------------------------------------- discards and zeroes ---- */

/* Whole blocks that are mapped read as zeros from now on, and after a power
 * cut once the record is durable. */
static enum xp_act zero_mapped(struct xp *c, struct xp_req *req, u32 want,
			       struct xp_todo *todo)
{
	struct xp_found f;
	u32 n;

	for (n = 0; n < want; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);
		struct xp_entry *e;

		map_find(c, lba, &f);
		if (!is_slot(f.mapped) || is_slot(f.writing))
			break;
		e = entry_of(c, f.mapped);
		if (e->zeros)
			continue;
		if (!journal_room(c, 1, todo))
			break;
		journal_add(c, XP_REC_ZERO, 0, lba, f.mapped, 0);
		e->zeros = 1;
		slot_set_dirty(c, e, true);
	}
	if (!n)
		return wait_on(c, &c->room, req);
	c->stats.discards++;
	req_trim(req, n);
	todo->work |= c->nr_dirty > c->dirty_low;
	return finish(req, 0);
}

/* Blocks that are not mapped: the slow device's business, if it has any. */
static enum xp_act zero_unmapped(struct xp *c, struct xp_req *req, u32 want,
				 struct xp_todo *todo)
{
	struct xp_found f;
	u32 n;

	if (req->op == XP_DISCARD && !c->opt.slow_discards) {
		for (n = 1; n < want; n++) {
			map_find(c, lba_add(req_lba(req), n), &f);
			if (is_slot(f.mapped) || is_slot(f.writing))
				break;
		}
		req_trim(req, n);
		return finish(req, 0);
	}
	map_find(c, req_lba(req), &f);
	if (is_slot(f.unmapping))
		journal_commit(c, todo);
	return bypass_run(c, req, want);
}

static enum xp_act submit_zeroes(struct xp *c, struct xp_req *req,
				 struct xp_todo *todo)
{
	u32 want = min(req->nr_sectors / XP_BLOCK_SECTORS, XP_RUN_MAX);
	xp_lba_t lba = req_lba(req);
	struct xp_found f;

	if (starts_partial(req) && req->op == XP_DISCARD) {
		req_trim(req, 1);
		return finish(req, 0);
	}
	map_find(c, lba, &f);
	if (is_slot(f.writing) || bypass_overlaps(c, lba))
		return wait_on(c, &c->busy, req);
	if (is_slot(f.mapped))
		return starts_partial(req) ? submit_write(c, req, todo) :
					     zero_mapped(c, req, want, todo);
	return zero_unmapped(c, req, starts_partial(req) ? 1 : want, todo);
}

/* --------------------------------------------------------------- flush ---- */

static enum xp_act submit_flush(struct xp *c, struct xp_req *req,
				struct xp_todo *todo)
{
	u64 seq = journal_commit(c, todo);

	c->stats.flushes++;
	if (c->bypass_flushed < c->bypass_done) {
		c->stats.flushes_slow++;
		req->bypassed = c->bypass_done;
		req->seq = XP_SEQ(seq);
		req->state = REQ_SLOW_FLUSH;
		return XP_SLOW;
	}
	return sync_or_wait(c, req, seq);
}

static enum xp_act slow_flush_end(struct xp *c, struct xp_req *req, int err)
{
	if (err)
		return finish(req, err);
	c->bypass_flushed = max(c->bypass_flushed, req->bypassed);
	if (c->failed)
		return finish(req, -EIO);
	return sync_or_wait(c, req, xp_seq_n(req->seq));
}

/* ------------------------------------------------------------ progress ---- */

void requests_wake(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo)
{
	struct xp_list keep;
	struct xp_link *link;

	if (xp_list_empty(&c->busy))
		return;
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
	if (req->state == REQ_SYNC_BESIDE)
		return beside_flip(c, req, todo);
	if (req->state == REQ_SYNC_UNDO) {
		journal_undone(c, xp_seq_n(req->record_seq));
		return finish(req, req->err);
	}
	return finish(req, 0);
}

static void progress_sync(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_init(&all);
	xp_list_splice(&all, &c->sync);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		if (is_written(c, xp_seq_n(req->seq)))
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

		settle(req, req->state == REQ_UNDO ? write_undo(c, req, todo) :
						     write_flip(c, req, todo),
		       todo);
	}
}

/* The journal failed: what waits for it gets EIO, the rest is tried again and
 * sees the failure itself. The map stays as it is, for reads. */
static void fail_all(struct xp *c, struct xp_todo *todo)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&c->sync)))
		settle(req_of(link), finish(req_of(link), -EIO), todo);
	while ((link = xp_list_pop(&c->parked))) {
		struct xp_req *req = req_of(link);

		if (req->state == REQ_PARKED)
			write_abort(c, req, todo);
		settle(req, finish(req, -EIO), todo);
	}
	xp_list_splice(&todo->ready, &c->busy);
	xp_list_splice(&todo->ready, &c->space);
	xp_list_splice(&todo->ready, &c->room);
	todo->work = true;
}

/* Somebody waits for a slot: hand on what is free, or make some. */
void requests_relieve(struct xp *c, struct xp_todo *todo)
{
	u32 n;

	if (xp_list_empty(&c->space))
		return;
	if (c->nr_free) {
		/* No more than slots: whoever is let go and takes none ends or
		 * waits for one that will end, and that comes back here. */
		for (n = c->nr_free; n && !xp_list_empty(&c->space); n--)
			xp_list_add(&todo->ready, xp_list_pop(&c->space));
		return;
	}
	policy_evict(c, c->low_free, todo);
	journal_commit(c, todo);
	if (c->nr_dirty)
		todo->work = true;
}

void requests_progress(struct xp *c, struct xp_todo *todo)
{
	if (c->failed) {
		fail_all(c, todo);
		return;
	}
	progress_sync(c, todo);
	progress_parked(c, todo);
	destage_progress(c, todo);
	if (journal_room(c, 1, todo))
		xp_list_splice(&todo->ready, &c->room);
	requests_relieve(c, todo);
}

/* --------------------------------------------------------- entry points ---- */

enum xp_act xp_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	enum xp_act act;

	xp_lock(&c->lock);
	XP_ASSERT(c->running);
	req->err = 0;
	if (req->op == XP_READ)
		act = submit_read(c, req, todo);
	else if (c->failed)
		act = finish(req, -EIO);
	else if (req->op == XP_WRITE)
		act = submit_write(c, req, todo);
	else if (req->op == XP_FLUSH)
		act = submit_flush(c, req, todo);
	else
		act = submit_zeroes(c, req, todo);
	xp_unlock(&c->lock);
	return act;
}

static enum xp_act end_by_state(struct xp *c, struct xp_req *req, int err,
				struct xp_todo *todo)
{
	switch ((enum xp_req_state)req->state) {
	case REQ_HIT:
		return hit_end(c, req, err, todo);
	case REQ_MISS:
		return miss_end(c, req, err);
	case REQ_BYPASS:
		return bypass_end(c, req, err, todo);
	case REQ_DATA:
		return data_end(c, req, err, todo);
	case REQ_BESIDE:
		return beside_end(c, req, err, todo);
	case REQ_SLOW_FLUSH:
		return slow_flush_end(c, req, err);
	case REQ_PARKED:
	case REQ_UNDO:
	case REQ_SYNC:
	case REQ_SYNC_BESIDE:
	case REQ_SYNC_UNDO:
		break;
	}
	XP_ASSERT(!"xp_end() of a request that the core keeps");
	return XP_DONE;
}

enum xp_act xp_end(struct xp *c, struct xp_req *req, int err,
		   struct xp_todo *todo)
{
	enum xp_act act;
	bool beside;

	xp_lock(&c->lock);
	beside = req->state == REQ_BESIDE;
	if ((req->state == REQ_DATA || beside) && is_slot(req->base_slot))
		slot_unpin(c, req->base_slot);
	act = end_by_state(c, req, err, todo);
	if (beside && !c->failed)
		journal_advance(c, todo);
	else if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
	return act;
}

void xp_fill_end(struct xp *c, const struct xp_fill *fill, int err,
		 struct xp_todo *todo)
{
	u32 i;

	xp_lock(&c->lock);
	for (i = 0; i < fill->nr_blocks; i++)
		fill_block_end(c, lba_add(fill->lba, i),
			       slot_add(fill->slot, i), err, todo);
	if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
}
