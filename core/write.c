// SPDX-License-Identifier: GPL-2.0-only
/*
 * write.c - a write into free slots, then its mapping.
 *
 * I1, I3: never over what is mapped. The data goes to slots that nobody names;
 * when it is there, records are placed and the mapping flips, block by block.
 */
#include "request.h"

/* Another write to the lba runs. A fill of it must not land. */
static bool lba_busy(struct xp *c, const struct xp_found *f, xp_lba_t lba)
{
	if (is_slot(f->writing) || bypass_overlaps(c, lba))
		return true;
	if (is_slot(f->filling))
		slot_doom(c, f->filling);
	return false;
}

/* No slot for the first block. Space that is on its way is waited for; a
 * mapped block must wait for destage, unless that gets nowhere; any other goes
 * around the cache. */
static enum xp_act write_without_slot(struct xp *c, struct xp_req *req,
				      bool mapped, struct xp_todo *todo)
{
	bool coming;

	policy_evict(c, c->low_free, todo);
	journal_commit(c, todo);
	coming = c->nr_limbo || c->nr_clean > c->nr_slots / 64;
	if (mapped && !coming && c->futile == XP_FUTILE_MAX)
		return req_finish(req, -EIO);
	if (mapped || coming) {
		todo->work = todo->tick = true;
		return req_wait(c, &c->space, req);
	}
	return bypass_submit(c, req, min(req_span(req), XP_RUN_MAX));
}

/* I2 asks for it of a FUA write alone. Any other may be treated as one. */
static bool may_go_beside(const struct xp *c, const struct xp_req *req, u32 nr_blocks)
{
	return nr_blocks <= XP_COPY_MAX && !journal_tight(c) &&
	       (req->fua || policy_sync_follows(c, nr_blocks));
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
		return req_wait(c, &c->busy, req);
	n = slots_alloc(c, n, SLOT_WRITING, req_lba(req), &req->slot);
	if (!n)
		return write_without_slot(c, req, mapped, todo);
	c->stats.writes++;
	policy_write(c);
	beside = may_go_beside(c, req, n);
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
	if (lba_busy(c, &f, lba))
		return req_wait(c, &c->busy, req);
	if (!slots_alloc(c, 1, SLOT_WRITING, lba, &req->slot))
		return write_without_slot(c, req, is_slot(f.mapped), todo);
	c->stats.writes++;
	policy_write(c);
	req_trim(req, 1);
	req->state = REQ_DATA;
	req->target = xp_slot_sector(c, req->slot);
	req->copy.offset = req_offset(req) << XP_SECTOR_SHIFT;
	req->copy.beside = may_go_beside(c, req, 1);
	choose_base(c, req, f.mapped);
	return XP_COPY;
}

enum xp_act write_submit(struct xp *c, struct xp_req *req,
			 struct xp_todo *todo)
{
	req->progress = 0;
	req->base_slot = XP_SLOT(XP_NIL);
	policy_evict_ahead(c, todo);
	if (req_starts_partial(req))
		return write_partial(c, req, todo);
	return write_whole(c, req, todo);
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

/* The data is in the slots: record by record, the mapping flips. The old slot
 * is free when the record is durable (I1). */
enum xp_act write_flip(struct xp *c, struct xp_req *req,
		       struct xp_todo *todo)
{
	for (; req->progress < req->nr_blocks; req->progress++) {
		xp_lba_t lba = lba_add(req_lba(req), req->progress);
		xp_slot_t slot = slot_add(req->slot, req->progress), old;

		if (!journal_room(c, 1, todo)) {
			req->state = REQ_PARKED;
			return req_wait(c, &c->parked, req);
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
		return req_sync(c, req, journal_commit(c, todo));
	return req_finish(req, 0);
}

enum xp_act write_end(struct xp *c, struct xp_req *req, int err,
		      struct xp_todo *todo)
{
	if (err || c->failed) {
		write_abort(c, req, todo);
		return req_finish(req, err ? err : -EIO);
	}
	return write_flip(c, req, todo);
}
