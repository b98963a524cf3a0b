/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ghost.h - blocks that were evicted a while ago without having been asked for again.
 *
 * Of each there are twelve bits of its hash. A word has those of five, the newest in the low bits: who
 * comes pushes the oldest out. So a place in a word tells about how many have come since. One
 * in 900 blocks that is none is taken for one.
 */
#ifndef XP_GHOST_H
#define XP_GHOST_H

#include "cache.h"

#define XP_GHOST_BITS	12u
#define XP_GHOSTS	5u		/* of a word */

/* How many words a cache of so many slots has: 7 ghosts for 8 slots. */
static inline u32 ghost_words(u64 slots)
{
	return (u32)(slots * 7 / 40 + 1);
}

void ghost_put(struct xp *c, xp_lba_t lba);
/* A block that was read once and never came: there may be many of those, and they push out but the oldest. */
void ghost_put_last(struct xp *c, xp_lba_t lba);
#define XP_GHOST_EVER	(~0ull)
/* Is it one of about the last @most that came? */
bool ghost_knows(const struct xp *c, xp_lba_t lba, u64 most);
/*
 * A block was missed: counts the ghost hit, if it is one. The oldest place of a word counts
 * none: what has passed may be there, and would have passed a larger cache as well.
 */
void ghost_count_hit(struct xp *c, xp_lba_t lba);

#endif /* XP_GHOST_H */
