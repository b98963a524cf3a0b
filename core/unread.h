/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unread.h - blocks whose slot a recovery believed, and could not read.
 *
 * A record that is not proven durable is valid if its data has landed. Where the slot cannot be read nobody
 * knows: the block is an error until it is written anew (I9). That must not end when the slot can be read again, as
 * it may hold what was there before. So the record is said anew as UNREAD, with the checksum of the data, at each
 * recovery and by whatever repeats it, and the next recovery looks again: what it finds there counts only if it is that
 * data. Then it says so, and the record is one like any other.
 *
 * Such a slot is dirty, .apart, and in a table that has room for what one recovery can find. It does not go home, and says
 * nothing of either device: batches do without it.
 */
#ifndef XP_UNREAD_H
#define XP_UNREAD_H

#include "part.h"

/* A cache that runs has no more. */
u32 unread_most(u64 slots);
/* Of the table, in struct xp's memory: a replay meets those of before beside those that supersede them. */
u32 unread_room(u64 slots);

bool unread_has_room(const struct xp *c);
void unread_add(struct xp *c, xp_slot_t slot, u64 hash);
/* Zeros, another block's, or proven. */
void unread_drop(struct xp *c, xp_slot_t slot);
/* Of a slot that is .apart. NULL: zeros. */
const struct xp_unread *unread_find(const struct xp *c, xp_slot_t slot);

static inline bool slot_is_unread(const struct xp *c, xp_slot_t slot)
{
	return unlikely(c->nr_unread) && c->entry[xp_slot_n(slot)].apart && unread_find(c, slot);
}

static inline bool slot_is_zeros(const struct xp *c, xp_slot_t slot)
{
	return c->entry[xp_slot_n(slot)].apart && !slot_is_unread(c, slot) && !slot_lacks(c, slot);
}

/* Whatever the slot was. */
static inline void slot_is_read_again(struct xp *c, xp_slot_t slot)
{
	if (unlikely(c->nr_unread) && c->entry[xp_slot_n(slot)].apart)
		unread_drop(c, slot);
}

#endif /* XP_UNREAD_H */
