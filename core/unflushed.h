/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unflushed.h - blocks that a bypass write may have left in the volatile cache of the slow device.
 *
 * I11: a table of so many ranges. What finds no place in it counts as the whole device.
 */
#ifndef XP_UNFLUSHED_H
#define XP_UNFLUSHED_H

#include "platform.h"

#ifndef XP_UNFLUSHED_MAX	/* the simulator tries a few */
#define XP_UNFLUSHED_MAX	128u
#endif

/* No two of them overlap or adjoin. */
struct xp_unflushed_range {
	u64 first, end;		/* blocks */
	u64 number;		/* of the newest bypass write to them */
};

/* Of bypass writes that have ended; they are numbered in that order. Of xp.lock. */
struct xp_unflushed {
	struct xp_unflushed_range range[XP_UNFLUSHED_MAX];
	u32 nr;
	u64 all;		/* number of the newest one that had no place, or 0 */
};

/* Bypass write @number to @nr blocks from @lba on has ended. */
void unflushed_add(struct xp_unflushed *u, xp_lba_t lba, u32 nr, u64 number);
/* A flush of the slow device has covered those up to @number. */
void unflushed_drop(struct xp_unflushed *u, u64 number);
/* Of @most blocks from @lba on, so many come before the first that is not flushed. */
u32 unflushed_gap(const struct xp_unflushed *u, xp_lba_t lba, u32 most);

/* A flush is due, or the table will be full. */
static inline bool unflushed_crowded(const struct xp_unflushed *u)
{
	return u->nr > XP_UNFLUSHED_MAX / 2;
}

#endif /* XP_UNFLUSHED_H */
