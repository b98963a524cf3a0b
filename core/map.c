// SPDX-License-Identifier: GPL-2.0-only
/*
 * map.c - which slots speak of an lba: a chained hash over the slots.
 *
 * An lba has at most one MAPPED, one WRITING and one FILLING slot, and any
 * number of UNMAPPING ones.
 */
#include "cache.h"

static u32 *bucket_of(struct xp *c, xp_lba_t lba)
{
	return &c->bucket[map_bucket(c, lba)];
}

void map_insert(struct xp *c, xp_slot_t slot, xp_lba_t lba)
{
	struct xp_entry *e = entry_of(c, slot);
	u32 *bucket = bucket_of(c, lba);

	entry_set_lba(e, lba);
	XP_WRITE_ONCE(e->hash_next, *bucket);
	XP_WRITE_ONCE(*bucket, xp_slot_n(slot));
}

void map_remove(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);
	u32 *link = bucket_of(c, entry_lba(e));

	while (*link != xp_slot_n(slot)) {
		XP_ASSERT(*link != XP_NIL);
		link = &c->entry[*link].hash_next;
	}
	XP_WRITE_ONCE(*link, e->hash_next);
	XP_WRITE_ONCE(e->hash_next, XP_NIL);
}

void map_find(struct xp *c, xp_lba_t lba, struct xp_found *f)
{
	u32 i;

	f->mapped = f->writing = f->filling = f->unmapping = XP_SLOT(XP_NIL);
	for (i = *bucket_of(c, lba); i != XP_NIL; i = c->entry[i].hash_next) {
		struct xp_entry *e = &c->entry[i];

		if (xp_lba_n(entry_lba(e)) != xp_lba_n(lba))
			continue;
		if (e->state == SLOT_MAPPED)
			f->mapped = XP_SLOT(i);
		else if (e->state == SLOT_WRITING)
			f->writing = XP_SLOT(i);
		else if (e->state == SLOT_FILLING)
			f->filling = XP_SLOT(i);
		else
			f->unmapping = XP_SLOT(i);
	}
}

xp_slot_t map_mapped(struct xp *c, xp_lba_t lba)
{
	u32 i;

	for (i = *bucket_of(c, lba); i != XP_NIL; i = c->entry[i].hash_next) {
		struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED &&
		    xp_lba_n(entry_lba(e)) == xp_lba_n(lba))
			return XP_SLOT(i);
	}
	return XP_SLOT(XP_NIL);
}
