/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.h - the journal ring as it lies on the medium, block by block: for check and dump. */
#ifndef XP_RING_H
#define XP_RING_H

#include "tool.h"

enum ring_state {
	RING_EMPTY,	/* never written: zeros */
	RING_GOOD,
	RING_OTHER,	/* sound, but of a cache that was here before */
	RING_TORN,	/* has the magic and does not verify: a write that a cut interrupted, or damage */
	RING_MISPLACED,	/* verifies, but its number belongs elsewhere in the ring */
	RING_NOISE,	/* something else: never written, on a device that was not empty */
	RING_STATES,
};

struct ring {
	u64 count[RING_STATES];
	u64 first_bad, nr_bad;	/* torn or misplaced: block of the device; how many */
	u64 newest, oldest;	/* seq of good blocks */
	u64 incarnation;	/* highest of good blocks */
	u64 records;		/* in good blocks */
};

enum ring_state ring_judge(const struct xp_sb *sb, u64 index, const struct xp_jblock *b);
/* Reads all of it. Negative errno. */
int ring_scan(const struct xp_media *m, const struct xp_sb *sb, struct ring *r);

#endif /* XP_RING_H */
