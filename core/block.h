/* SPDX-License-Identifier: GPL-2.0-only */
/* block.h - the units that a cache counts in: blocks, sectors, lines. */
#ifndef XP_BLOCK_H
#define XP_BLOCK_H

#define XP_BLOCK_SHIFT		12
#define XP_BLOCK_SIZE		4096u
#define XP_SECTOR_SHIFT		9
#define XP_BLOCK_SECTORS	8u		/* 512-byte sectors in a block */
#define XP_LINE_SIZE		64u		/* of a processor's cache, by which memory is written */

/* The sectors of a block from @first on that are alike in @mask, a bit each; at most to its end. */
static inline unsigned int xp_part_run(unsigned int mask, unsigned int first)
{
	unsigned int end = first;

	while (end < XP_BLOCK_SECTORS && (mask >> end & 1) == (mask >> first & 1))
		end++;
	return end - first;
}

/* Of the sectors in @mask the next @nr side by side, from *@at on; *@at is where they begin, and has to be set behind them. */
static inline unsigned int xp_part_next(unsigned int mask, unsigned int *at)
{
	while (*at < XP_BLOCK_SECTORS && !(mask >> *at & 1))
		++*at;
	return *at < XP_BLOCK_SECTORS ? xp_part_run(mask, *at) : 0;
}

#endif /* XP_BLOCK_H */
