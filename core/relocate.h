/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relocate.h - where in the ring the live records are, and how the tail moves on. Inline: each
 * write comes through here.
 *
 * A record is live while it is the newest MAP record of a MAPPED slot, or of one that is being
 * written. The ring is cut into segments of so many places that two bytes tell them apart; of up to
 * 65,535 places each is a segment. Of each slot its segment is kept, and of each segment the number
 * of its live records. That is all: which records a segment has is found by a look at all slots.
 */
#ifndef XP_RELOCATE_H
#define XP_RELOCATE_H

#include "cache.h"

struct xp_media;

#ifndef XP_SEGMENTS_MAX	/* the simulator has few, of more than one place */
#define XP_SEGMENTS_MAX	65535u
#endif

#define NO_SEGMENT	0xffffu		/* of a slot without a live record: of no part */

static_assert(XP_SEGMENTS_MAX <= NO_SEGMENT, "two bytes tell them apart");

/* Of a ring of @blocks places: places of a segment, as a power of two; and how many segments. */
static inline u32 segment_shift(u64 blocks)
{
	u32 shift = 0;

	while ((blocks - 1) >> shift >= XP_SEGMENTS_MAX)
		shift++;
	return shift;
}

static inline u32 segments_of(u64 blocks)
{
	return (u32)((blocks - 1) >> segment_shift(blocks)) + 1;
}

/* Of a slot that is not being filled, which keeps a link there (slot_link()). */
static inline bool record_lives(const struct xp *c, xp_slot_t slot)
{
	return c->segment[xp_slot_n(slot)] != NO_SEGMENT;
}

/* The slot's newest record is in the block at @position of the ring. */
static inline void record_is_live(struct xp *c, xp_slot_t slot, u32 position)
{
	u16 *segment = &c->segment[xp_slot_n(slot)];

	if (record_lives(c, slot))
		c->journal.live[*segment]--;
	*segment = (u16)(position >> c->journal.segment_shift);
	c->journal.live[*segment]++;
}

/* The same of a slot that had none; to be counted, with others of that segment. */
static inline void record_is_born(struct xp *c, xp_slot_t slot, u32 segment)
{
	XP_ASSERT(!record_lives(c, slot));
	c->segment[xp_slot_n(slot)] = (u16)segment;
}

/* It says nothing that a recovery needs, once what has come instead is durable. */
static inline void record_is_dead(struct xp *c, xp_slot_t slot)
{
	u16 *segment = &c->segment[xp_slot_n(slot)];

	if (!record_lives(c, slot))
		return;
	c->journal.live[*segment]--;
	*segment = NO_SEGMENT;
}

/* relocate.c */
/*
 * Repeats live records of the oldest blocks in the open one, and moves the tail on. To be called
 * for each block before it is sealed or stored.
 */
void relocate(struct xp *c);
/*
 * Does a cache that goes on with the chain from journal.tail to block @head never fill the ring?
 * @whole: no block that it writes has a new record, and no more places turn out to be bad.
 */
bool relocate_has_room(const struct xp *c, u64 head, bool whole);
/* The first block that may have the slot's newest record, and how many may: of a chain that ends with @newest. */
u64 record_first_of(const struct xp *c, xp_slot_t slot, u64 newest, u32 *nr);
/*
 * The block that has it, before record @before of block @newest. Where several may it is looked
 * for; @block: 4096 bytes.
 */
u64 record_number_of(struct xp *c, const struct xp_media *m, void *block, xp_slot_t slot,
		     u64 newest, u32 before);

#endif /* XP_RELOCATE_H */
