/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.h - what the core's recovery saw of the journal ring, noted down: for check and dump. */
#ifndef XP_RING_H
#define XP_RING_H

#include "core/witness.h"

struct xp_sb;
struct findings;

struct ring {
	struct xp_witness witness;	/* to be given to offline_look() */
	u64 start, blocks;		/* where the ring lies; fixed */

	/* Each place, by its position in the ring. */
	u8 *place;			/* enum xp_place */
	struct xp_ring_block *block;	/* seq 0: not valid */
	u8 *part;			/* check_ring.c's */
	u64 count[XP_PLACES];
	u64 oldest, newest, records;	/* of the valid ones: numbers, sum */

	/* What was picked: */
	struct xp_ring_block head;	/* the end of the chain; seq 0: none will do */
	u64 passed_over;		/* newer blocks, whose chains break: */
	u64 broken_at;			/* the last of those, there */

	/* Its records: */
	u64 said[XP_REFUSED + 1];	/* by verdict */
	u64 unproven;			/* of those, sent beside data that was not yet known to land */
	u64 *hash;			/* checksum that a slot's newest record bears, 0 none; or NULL */
	struct findings *findings;	/* told of records that are refused; or NULL */
};

/* @hashes: note those too, 8 bytes a slot. Negative errno. */
int ring_init(struct ring *r, const struct xp_sb *sb, bool hashes);
void ring_done(struct ring *r);
/* After a look with XP_ACCEPT_LOSS: how many blocks of the chain are missed, or may have come after it. */
u64 ring_lost(const struct ring *r);
/* The same with what recoveries that were cut had gone on without; @asked: for more than that, consent is needed. */
u64 ring_lost_in_all(const struct ring *r, const struct xp_sb *sb, bool asked);
const char *ring_place_text(enum xp_place place);

#endif /* XP_RING_H */
