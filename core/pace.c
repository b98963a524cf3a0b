// SPDX-License-Identifier: GPL-2.0-only
/* pace.c - how long a write waits while dirty blocks approach their limit. */
#include "pace.h"

#define COST_MAX	(100u * 1000000u)	/* ns, of one write */
#define AHEAD_MAX	(1000u * 1000000u)	/* of all that wait: no caller is forgotten */

u64 xp_pace(u64 *next, u64 now, u32 blocks, u64 block_ns, u32 pressure)
{
	u64 cost = min((block_ns * blocks * pressure) >> 10, (u64)COST_MAX);

	*next = min(max(*next, now) + cost, now + AHEAD_MAX);
	return *next;
}
