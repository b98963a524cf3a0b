// SPDX-License-Identifier: GPL-2.0-only
/*
 * parallel.c - FUA writes whose records go to the journal in parallel with the data (parallel
 * commits).
 *
 * One device latency instead of two: the record carries the data's checksum, by
 * which recovery tells whether it landed (I2). Until both are durable the old
 * mapping stands; if the data fails, a further record says so.
 */
#include "badblocks.h"
#include "busy.h"
#include "passthrough.h"
#include "slot.h"
#include "through.h"

/*
 * They are sealed at once (journal_room, and a ring that is not tight), so no
 * other request's come into the same block.
 */
static void records_parallel(struct xp *c, struct xp_req *req, const u64 *hash)
{
	struct xp_window *w;
	u32 i;

	for (i = 0; i < req->nr_blocks; i++) {
		xp_lba_t lba = lba_add(req_lba(req), i);
		xp_slot_t old = map_mapped(c, lba);
		u64 seq;

		if (is_slot(old))
			entry_of(c, old)->held = 1;
		seq = journal_add(c, XP_REC_MAP, XP_REC_DIRTY | XP_REC_CHECKED,
				  lba, slot_add(req->slot, i), hash[i]);
		entry_of(c, slot_add(req->slot, i))->checked = 1;
		req->record_seq = XP_SEQ(seq);
	}
	w = journal_window(c, xp_seq_n(req->record_seq));
	XP_ASSERT(!w->undone);
	w->undone = true;
	req->state = REQ_PARALLEL;
}

void xp_copied(struct xp *c, struct xp_req *req, const u64 *hash,
	       struct xp_todo *todo)
{
	u32 i;

	for (i = 0; c->opt.verify && i < req->nr_blocks; i++)
		verify_set(c, slot_add(req->slot, i), hash[i]);
	if (!req->copy.parallel)
		return;
	xp_lock(&c->lock);
	/*
	 * No room, or by now a tight ring: the data goes first and its record
	 * after it.
	 */
	if (!c->failed && !journal_tight(c) &&
	    journal_room(c, req->nr_blocks, todo)) {
		records_parallel(c, req, hash);
		journal_commit(c, todo);
	} else {
		req->copy.parallel = false;
	}
	xp_unlock(&c->lock);
}

/*
 * Data and record are durable: nothing falls back to the old slots any more,
 * so they are free now.
 */
enum xp_act parallel_flip(struct xp *c, struct xp_req *req,
			struct xp_todo *todo)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++) {
		xp_lba_t lba = lba_add(req_lba(req), i);
		xp_slot_t old = map_mapped(c, lba), slot = slot_add(req->slot, i);

		if (is_slot(old)) {
			record_is_dead(c, old);
			map_remove(c, old);
			slot_follow(c, old, slot, ranks_successor(c, old));
			slot_release(c, old);
		} else {
			slot_map(c, slot, true, ranks_written_new(c, lba, req->stream == STREAM_LONG));
		}
	}
	journal_data_done(c, xp_seq_n(req->record_seq));
	req_count_written(c, req);
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	todo->work |= c->nr_dirty > c->dirty_low;
	return through_is_on(c) ? through_wait(c, req, todo) : req_finish(req, 0);
}

/* A record went out for data that did not land: say again what holds. */
static void undo_block(struct xp *c, xp_lba_t lba, xp_slot_t slot)
{
	xp_slot_t old = map_mapped(c, lba);

	if (is_slot(old)) {
		entry_of(c, old)->held = 0;
		journal_add_mapping(c, old);
	} else {
		journal_add(c, XP_REC_UNMAP, 0, lba, slot, 0);
	}
	record_is_dead(c, slot);
	map_remove(c, slot);
	entry_of(c, slot)->state = SLOT_PENDING_FREE;
	journal_free_later(c, slot);
}

/* No recovery will find the record beside what holds, but nobody writes to the slots again. */
void parallel_abort(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u32 i;

	for (i = req->progress; i < req->nr_blocks; i++) {
		xp_slot_t slot = slot_add(req->slot, i);

		record_is_dead(c, slot);
		map_remove(c, slot);
		entry_of(c, slot)->state = SLOT_PENDING_FREE;
	}
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
}

enum xp_act parallel_undo(struct xp *c, struct xp_req *req,
			struct xp_todo *todo)
{
	u64 seq = xp_seq_n(req->record_seq);

	for (; req->progress < req->nr_blocks; req->progress++) {
		if (!journal_room_undo(c, seq, todo)) {
			req->state = REQ_UNDO;
			return req_wait(c, &c->parked, req);
		}
		undo_block(c, lba_add(req_lba(req), req->progress),
			   slot_add(req->slot, req->progress));
	}
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
	return req_wait_point(c, req, journal_commit(c, todo), REQ_SYNC_UNDO);
}

enum xp_act parallel_undone(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	journal_data_done(c, xp_seq_n(req->record_seq));
	if (error_of_place(req->err))
		slots_refused(c, req->slot, req->nr_blocks, todo);
	return write_again(req, todo);
}

enum xp_act parallel_end(struct xp *c, struct xp_req *req, int err,
		       struct xp_todo *todo)
{
	u64 point = journal_end_of(xp_seq_n(req->record_seq));

	if (c->failed) {
		parallel_abort(c, req, todo);
		return pass_again(c, req, -EIO, todo);
	}
	if (err) {
		req->err = err;
		return parallel_undo(c, req, todo);
	}
	if (journal_is_written(c, point))
		return parallel_flip(c, req, todo);
	journal_relocate_ahead(c);	/* we wait anyway */
	return req_wait_point(c, req, point, REQ_SYNC_PARALLEL);
}
