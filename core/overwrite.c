// SPDX-License-Identifier: GPL-2.0-only
/*
 * overwrite.c - a write of a part of a block, in the slot that the block has.
 *
 * Anywhere else it would cost a read of the block, a write of all of it, and a record.
 *
 * I1: a slot that a recovery may read is never written, but for whole sectors of one that is dirty and bears no checksum.
 * Each of them is old or new then, as in a write to the device itself (xp_options.fast_sectors). Dirty: else a recovery
 * could take the slow device's version for the same, or a fingerprint of it. No checksum: no record of the mapping that is
 * in the chain has one, so whatever is lost of the chain, nobody finds that the slot is not what it was. Sectors that a slot
 * lacks (part.h) no mapping names: they are written at any time, and then a record says that it has them.
 *
 * I2: without such a record a block of none is what a FLUSH writes for it: that flushes the fast device's cache
 * (journal_flush()). A FUA write is sent as such, and waits for its slot's record.
 *
 * I4, I7: no batch reads what is being written. One that has the slot already keeps it by its pin: nothing is written in
 * place there until it is done. One that takes it meanwhile waits for the end. What was home is not any more.
 *
 * Where the device fails it the sectors are old or new, or cannot be read until they are written. So it is tried in place
 * once more, and goes elsewhere only then.
 */
#include "badblocks.h"
#include "busy.h"
#include "overwrite.h"
#include "passthrough.h"
#include "ranks.h"
#include "slot.h"
#include "through.h"
#include "writeback.h"

/* The device gets the caller's own memory, and nothing waits for the slow one; a sum would be of the whole block. */
static bool goes_as_it_is(const struct xp *c, const struct xp_req *req)
{
	return req->op == XP_WRITE && !req->private && !c->sum && !through_is_on(c);
}

static bool is_plain(const struct xp *c, xp_slot_t slot)
{
	const struct xp_entry *e = &c->entry[xp_slot_n(slot)];

	return e->dirty && (!e->apart || slot_lacks(c, slot));
}

bool overwrite_may_follow(const struct xp *c, const struct xp_req *req, xp_slot_t slot)
{
	return c->opt.fast_sectors && goes_as_it_is(c, req) && is_plain(c, slot);
}

bool part_begins(const struct xp *c, const struct xp_req *req)
{
	return c->lacks && goes_as_it_is(c, req);
}

/* Sectors that the slot lacks may tear: no mapping names them. Then memory will do, which leaves those beside them alone. */
static bool may_be_written(const struct xp *c, const struct xp_req *req, xp_slot_t slot)
{
	if (!(req_mask(req) & (u8)~slot_lacks(c, slot)) && c->opt.fast_at_once)
		return goes_as_it_is(c, req) && is_plain(c, slot);
	return overwrite_may_follow(c, req, slot) && !c->entry[xp_slot_n(slot)].checked;
}

bool overwrite_begins(struct xp *c, struct xp_req *req, xp_slot_t slot)
{
	struct xp_overwrites *o = &c->overwrites;
	struct xp_entry *e;

	if (!is_slot(slot) || o->nr == XP_OVERWRITES_MAX || req->tries > 1 || !may_be_written(c, req, slot))
		return false;
	e = entry_of(c, slot);
	if (entry_pins(e))
		return false;
	req_trim(req, 1);
	hold_sectors(c, slot, req, REQ_OVERWRITE);
	e->home = 0;
	o->lba[o->nr++] = xp_lba_n(req_lba(req));
	c->writes_unsynced++;
	xp_req_is(req, XP_CLASS_WRITE);
	return true;
}

bool overwrite_is_awaited(struct xp *c, xp_lba_t lba)
{
	bool runs = unlikely(c->overwrites.nr) && map_is_overwritten(c, lba);

	c->overwrites.awaited |= runs;
	return runs;
}

void overwrite_ends(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	struct xp_overwrites *o = &c->overwrites;
	u32 i = 0;

	while (o->lba[i] != xp_lba_n(req_lba(req)))
		i++;
	o->lba[i] = o->lba[--o->nr];
	todo->work |= o->awaited;
	o->awaited = false;
	slot_unpin(c, req->slot);
	requests_wake(c, req_lba(req), 1, todo);
}

enum xp_act overwrite_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo)
{
	if (err && !c->failed) {
		journal_doubt(c, todo);
		req->err = err;
		return req_wait_point(c, req, journal_probe(c, todo), REQ_OVERWRITE_DOUBTED);
	}
	if (c->failed) {
		overwrite_ends(c, req, todo);
		return pass_again(c, req, err ? err : -EIO, todo);
	}
	return overwrite_grows(c, req, todo);
}

static enum xp_act finish(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	overwrite_ends(c, req, todo);
	req_count_written(c, req);
	c->stats.write_in_place_blocks++;
	c->journal.owes_flush |= c->opt.volatile_fast && !req->fua;
	todo->tick |= c->journal.owes_flush;
	if (unlikely(through_is_on(c)))	/* since it began */
		return through_wait(c, req, todo);
	return req->fua ? req_sync(c, req, journal_commit(c, todo)) : req_finish(req, 0);
}

enum xp_act overwrite_grows(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u8 lacks = slot_lacks(c, req->slot);

	if (!(lacks & req_mask(req)))
		return finish(c, req, todo);
	if (!journal_room(c, 1, todo)) {
		req->state = REQ_OVERWRITE_PARKED;
		return req_wait(c, &c->parked, req);
	}
	slot_set_lacks(c, req->slot, lacks & ~req_mask(req));
	journal_add(c, XP_REC_MAP, XP_REC_DIRTY, req_lba(req), req->slot, 0);
	if (entry_pins(entry_of(c, req->slot)) > 1)
		writeback_covers(c, todo);
	return finish(c, req, todo);
}

enum xp_act overwrite_again(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	overwrite_ends(c, req, todo);
	if (error_of_place(req->err) && req->tries)
		slots_refused(c, req->slot, 1, todo);
	return write_again(req, todo);
}
