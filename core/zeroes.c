// SPDX-License-Identifier: GPL-2.0-only
/*
 * zeroes.c - discards and writes of zeroes: one record where a block is mapped,
 * the slow device's business where it is not.
 */
#include "journal.h"
#include "request.h"
#include "slot.h"

/* Whole blocks that are mapped read as zeros from now on, and after a power
 * cut once the record is durable. */
static enum xp_act zeroes_mapped(struct xp *c, struct xp_req *req, u32 want,
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
		return req_wait(c, &c->room, req);
	c->stats.discards++;
	req_trim(req, n);
	todo->work |= c->nr_dirty > c->dirty_low;
	return req_finish(req, 0);
}

/* Blocks that are not mapped: the slow device's business, if it has any. */
static enum xp_act zeroes_unmapped(struct xp *c, struct xp_req *req, u32 want,
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
		return req_finish(req, 0);
	}
	map_find(c, req_lba(req), &f);
	if (is_slot(f.unmapping))
		journal_commit(c, todo);
	return bypass_submit(c, req, want);
}

enum xp_act zeroes_submit(struct xp *c, struct xp_req *req,
			  struct xp_todo *todo)
{
	u32 want = min(req->nr_sectors / XP_BLOCK_SECTORS, XP_RUN_MAX);
	xp_lba_t lba = req_lba(req);
	struct xp_found f;

	xp_req_is(req, XP_CLASS_DISCARD);
	if (req_starts_partial(req) && req->op == XP_DISCARD) {
		req_trim(req, 1);
		return req_finish(req, 0);
	}
	map_find(c, lba, &f);
	if (is_slot(f.writing) || bypass_overlaps(c, lba))
		return req_wait(c, &c->busy, req);
	if (is_slot(f.mapped))
		return req_starts_partial(req) ? write_submit(c, req, todo) :
					     zeroes_mapped(c, req, want, todo);
	return zeroes_unmapped(c, req, req_starts_partial(req) ? 1 : want, todo);
}
