/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part.h - a slot that has a part of its block: a write began or ended within the block, and nothing of it was cached.
 *
 * A bit for each sector that the slot lacks: the slow device has the newest there. Such a slot is dirty and .apart, so no
 * hit takes it as it is. It has no checksum, as what it lacks is whatever was there before. Written back are the sectors
 * that it has; then it is not mapped any more. A write of others adds them, and says so by a record (overwrite.c).
 */
#ifndef XP_PART_H
#define XP_PART_H

#include "cache.h"

static inline u8 slot_lacks(const struct xp *c, xp_slot_t slot)
{
	return c->lacks ? c->lacks[xp_slot_n(slot)] : 0;
}

/* Of a slot that is MAPPED. */
static inline bool slot_is_part(const struct xp *c, xp_slot_t slot)
{
	return unlikely(c->entry[xp_slot_n(slot)].apart) && slot_lacks(c, slot);
}

/* Of @nr sectors of a block, from @first on. */
static inline u8 part_mask(u32 first, u32 nr)
{
	return (u8)(((1u << nr) - 1) << first);
}

/* How many runs of sectors it has. */
static inline u8 part_runs(u8 lacks)
{
	u32 at, nr;
	u8 n = 0;

	for (at = 0; (nr = xp_part_next((u8)~lacks, &at)); at += nr)
		n++;
	return n;
}

/* It has all but those; with the lock held, or before anybody else knows the slot. A hit that finds it whole finds the data. */
static inline void slot_set_lacks(struct xp *c, xp_slot_t slot, u8 lacks)
{
	c->lacks[xp_slot_n(slot)] = lacks;
	xp_write_barrier();
	c->entry[xp_slot_n(slot)].apart = !!lacks;
}

/* Zeros, or free. What is .apart may be one. */
static inline void slot_is_no_part(struct xp *c, xp_slot_t slot)
{
	if (c->lacks)
		c->lacks[xp_slot_n(slot)] = 0;
}

#endif /* XP_PART_H */
