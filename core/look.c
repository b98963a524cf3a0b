// SPDX-License-Identifier: GPL-2.0-only
/*
 * look.c - what a cache that does not run has: for check, dump and other commands. Not in the
 * module.
 */
#include "hint.h"
#include "look.h"
#include "map.h"
#include "recovery.h"
#include "unread.h"

int xp_look(struct xp *c, const struct xp_media *m, void *scratch,
	    const struct xp_witness *witness, struct xp_message *msg)
{
	struct recovery r = { .c = c, .m = m, .msg = msg, .witness = witness };
	int err;

	err = recovery_rebuild(&r, scratch);
	if (!err)
		recovery_begin_after(c, &r.head);
	if (!err && witness)
		hint_read(&r);
	return err;
}

static void describe(struct xp *c, xp_slot_t slot, struct xp_mapping *m)
{
	const struct xp_entry *e = &c->entry[xp_slot_n(slot)];
	u32 nr;

	m->lba = entry_lba(e);
	m->slot = slot;
	m->dirty = e->dirty;
	m->unread = slot_is_unread(c, slot);
	m->zeros = slot_is_zeros(c, slot);
	m->lacks = slot_lacks(c, slot);
	m->doubtful = c->lost && record_first_of(c, slot, c->journal.sealed_number, &nr) < c->lost;
	m->sum = c->sum ? c->sum[xp_slot_n(slot)] : 0;
}

bool xp_lookup(struct xp *c, xp_lba_t lba, struct xp_mapping *m)
{
	xp_slot_t slot;

	xp_lock(&c->lock);
	slot = map_mapped(c, lba);
	if (is_slot(slot))
		describe(c, slot, m);
	xp_unlock(&c->lock);
	return is_slot(slot);
}

bool xp_walk(struct xp *c, u32 *cursor, struct xp_mapping *m)
{
	bool found = false;

	xp_lock(&c->lock);
	while (!found && *cursor < c->nr_slots) {
		const struct xp_entry *e = &c->entry[*cursor];

		if (e->state == SLOT_MAPPED) {
			describe(c, XP_SLOT(*cursor), m);
			found = true;
		}
		++*cursor;
	}
	xp_unlock(&c->lock);
	return found;
}
