/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rank.h - what a cached block is worth: four bits of its slot, and the hands that change them.
 *
 * A block's class says how it came to where it is, and its frequency how often it was asked for
 * since (at most XP_FREQ_MAX):
 *
 *      a miss, or a          the young hand           the new hand, asked for since
 *      write of a    YOUNG -----------------> NEW ------------------------------> MAIN --.
 *      block that                              | not asked for                     ^  |  | the main hand
 *      is unknown                 dirty        |  clean                            |  |  | takes one of its
 *                           COLD <-------------+---------> out, noted as a ghost   |  |  | frequency, or it
 *                            | written back: as the new hand                       |  '--' is out
 *                            `-----------------------------------------------------'
 *                                     a block that comes back in time: MAIN at once
 *
 * The slots are handed out one after another, so that those behind the hand which hands them out are
 * new in the order of their age, and two hands that follow it need no queue. What is YOUNG and NEW
 * together is a 20th of the cache, or a tenth where MAIN is stale: a scan passes through that and
 * leaves the rest alone. The youngest three quarters of the 20th are YOUNG, and count no hits: what is
 * asked for again at once, by one program, may never be again. A block of MAIN is not evicted before the main hand has been there as
 * often as it was asked for. Ghosts: ghost.h.
 *
 * True in each class:
 *   MAIN   asked for again: after it was NEW, or soon after it was evicted
 *   NEW    hits count
 *   YOUNG  hits do not count: its frequency is 0
 *   COLD   dirty, and would have been evicted; or written by a stream while much is dirty
 * An overwrite is a hit; the block keeps its class.
 */
#ifndef XP_RANK_H
#define XP_RANK_H

#include "platform.h"

enum xp_rank_class {
	XP_RANK_MAIN,
	XP_RANK_NEW,
	XP_RANK_YOUNG,
	XP_RANK_COLD,
	XP_RANK_CLASSES,
};

#define XP_RANK_BITS	4u
#define XP_FREQ_MAX	3u
#define XP_HURRY_MAX	(XP_FREQ_MAX + 1)

/* As it is in a slot: the frequency in the low two bits. */
#define XP_RANK(class, freq)	((u32)(class) << 2 | (freq))

/*
 * A bit for each rank that a hit adds one to: not of YOUNG, nor where the frequency has its end. Twice
 * side by side: a shift by 5 bits is one instruction, and the rank has 4.
 */
#define XP_RANK_COUNTS	0x70777077u

static inline u32 rank_class(u32 rank)
{
	return rank >> 2;
}

static inline u32 rank_freq(u32 rank)
{
	return rank & XP_FREQ_MAX;
}

/* What a hit adds to it. What is above the rank's bits counts for nothing. */
static __always_inline u32 rank_hit(u32 rank)
{
	return XP_RANK_COUNTS >> rank % 32 & 1;
}

#define XP_RANK_PARTS	16u	/* of a round of the main hand */
#define XP_RANK_TICKS	2u

struct xp_ranks {
	u32 nr[XP_RANK_CLASSES][2];	/* slots: clean ones, dirty ones */
	u32 main_hand, new_hand, young_hand;
	u32 part, part_end;		/* where the main hand is, and the slot behind that part */
	u32 new_max, young_max;		/* slots; more only until the hands have been there */
	u32 arrived;			/* slots that became YOUNG; it wraps */
	u32 arrived_at[XP_RANK_TICKS];	/* that was it at the last ticks */
	u32 tick;
	/* no slot is free: a block of up to this frequency may go; XP_HURRY_MAX: of any class */
	u32 hurry;
	u32 restored;			/* slots whose rank is of the life before (hint.h) */
	u64 *ghost;			/* ghost.h */
	u32 nr_ghosts;			/* words of it */
	u64 ghosted;			/* blocks that became one */
	/* that was it when the main hand came by these parts of the slots */
	u64 ghosted_at[XP_RANK_PARTS];
	/* of what the main hand has met lately, that much was not asked for (ranks.c) */
	u64 unasked;
	u32 eighth_shift;		/* the slots' eighth, as a power of two */
};

#endif /* XP_RANK_H */
