/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check.h - what the parts of check hand on to each other.
 *
 *   check.c       the verb: who may be checked, the map, the slow device, the verdict
 *   check_sb.c    both superblocks
 *   check_ring.c  the journal ring, and what recovery makes of it
 *   check_data.c  the slots (--data)
 *
 * Everything is read, nothing written. What they find they say to k->found.
 */
#ifndef XP_CHECK_H
#define XP_CHECK_H

#include "lib/device.h"
#include "lib/exit.h"
#include "lib/findings.h"
#include "lib/journal_ring.h"
#include "lib/offline.h"
#include "platform.h"

struct check {
	struct device dev;
	struct offline o;
	struct ring ring;
	struct findings found;
	bool recovered;		/* the map could be rebuilt */
	bool acceptable;	/* or can be, with --accept-loss */
	u64 bad_superblocks;	/* of the problems: copies that will do no more */
	u64 lost;		/* dirty blocks whose newest contents are gone */
	bool too_short;		/* the slow device: dirty blocks reach past its end */
	u64 unread;		/* dirty blocks of the map that are errors */
};

/* @usable: the core has found one that will do, k->o.sb. */
void check_superblocks(struct check *k, bool usable);

/* After offline_look() with k->ring's witness: @refused, or what it took. */
void check_ring(struct check *k, bool refused);

/* Every slot in use: can it be read, is it what its record says? */
enum xc check_data(struct check *k);

#endif /* XP_CHECK_H */
