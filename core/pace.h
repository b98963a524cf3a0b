/* SPDX-License-Identifier: GPL-2.0-only */
/* pace.h - how much writes are slowed, for the sake of writeback. */
#ifndef XP_PACE_H
#define XP_PACE_H

#include "platform.h"

struct xp;

/*
 * How hard a write should be slowed now, 0 (not) to 1024 (to the pace at which
 * blocks are written back): rises smoothly between the two dirty limits.
 */
u32 xp_pressure(struct xp *c);

/*
 * The time that a write of @blocks, which comes at @now, may go on: after those before it,
 * and so much later as its blocks take to be written back, @block_ns each, times the pressure.
 * At most 0.1 s for itself, and 1 s from now. *@next is the time of the one before, 0 at
 * first, and under a lock of the caller's. All in ns.
 */
u64 xp_pace(u64 *next, u64 now, u32 blocks, u64 block_ns, u32 pressure);
#define XP_PACE_SLACK	1000000u	/* less is not worth a sleep: paid by the next */

#endif /* XP_PACE_H */
