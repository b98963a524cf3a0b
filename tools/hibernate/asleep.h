/* SPDX-License-Identifier: GPL-2.0-only */
/* asleep.h - one cache falls asleep: every block home, suspended, forgotten, led to the slow device. */
#ifndef XP_TOOLS_HIBERNATE_ASLEEP_H
#define XP_TOOLS_HIBERNATE_ASLEEP_H

#include "lib/exit.h"
#include "lib/media.h"
#include "lib/running.h"
#include "core/format.h"

/* One that falls asleep. */
struct drowsy {
	struct running r;
	struct media fast;
	u64 blocks;		/* of the fast device */
	struct xp_sb sb;
	struct xp_sleep note;	/* but for where its journal will end, */
	u32 place;		/* and which of them it is */
	bool alone;		/* not for a hibernation: without a note */
	bool turned;		/* by us */
};

/* Gives up when it is @end, by seconds_now(). Complains. */
enum xc fall_asleep(struct drowsy *d, double end);

#endif
