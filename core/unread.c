// SPDX-License-Identifier: GPL-2.0-only
/* unread.c - the table of unread.h: few entries, in no order. */
#include "recovery.h"
#include "unread.h"

u32 unread_most(u64 slots)
{
	return (u32)min(slots, (u64)RECORDS_CHECKED_MAX);
}

u32 unread_room(u64 slots)
{
	return (u32)min(slots, (u64)2 * RECORDS_CHECKED_MAX);
}

const struct xp_unread *unread_find(const struct xp *c, xp_slot_t slot)
{
	u32 i;

	for (i = 0; i < c->nr_unread; i++)
		if (c->unread[i].slot == xp_slot_n(slot))
			return &c->unread[i];
	return NULL;
}

void unread_drop(struct xp *c, xp_slot_t slot)
{
	const struct xp_unread *u = unread_find(c, slot);

	if (u)
		c->unread[u - c->unread] = c->unread[--c->nr_unread];
}

u32 xp_unread(const struct xp *c)
{
	return XP_READ_RACY(c->nr_unread);
}

bool unread_has_room(const struct xp *c)
{
	return c->nr_unread < unread_room(c->nr_slots);
}

void unread_add(struct xp *c, xp_slot_t slot, u64 hash)
{
	XP_ASSERT(unread_has_room(c) && entry_of(c, slot)->dirty);
	c->unread[c->nr_unread++] = (struct xp_unread){ .hash = hash, .slot = xp_slot_n(slot) };
	entry_of(c, slot)->apart = 1;
}
