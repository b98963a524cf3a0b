/* SPDX-License-Identifier: GPL-2.0-only */
/* look.h - what a cache that does not run has: for check and dump. */
#ifndef XP_LOOK_H
#define XP_LOOK_H

#include "block.h"
#include "checksum.h"
#include "platform.h"

struct xp;
struct xp_media;
struct xp_message;
struct xp_witness;

/*
 * xp_recover() without restating, before a witness (or NULL). For check and dump. The ranks of the last
 * stop are read before a witness only.
 */
int xp_look(struct xp *c, const struct xp_media *m, void *scratch,
	    const struct xp_witness *witness, struct xp_message *msg);

/* For check and dump: what block @lba is mapped to. False: not cached. */
struct xp_mapping {
	xp_lba_t lba;
	xp_slot_t slot;
	bool dirty, zeros;
	u8 lacks;		/* a bit for each sector that the slot has not, and the slow device has (part.h) */
	/* dirty; a recovery believed its slot, and what is there is not proven to be it: an error (unread.h) */
	bool unread;
	bool doubtful;		/* journal blocks that came after its record cannot be read, and may have
				 * said otherwise: an older version, or another block's data */
	u32 sum;		/* xp_sum() of its data; 0: not known, or not xp_options.verify */
};
bool xp_lookup(struct xp *c, xp_lba_t lba, struct xp_mapping *m);

/* Are these the 4096 bytes that were written to its slot? True if nothing says otherwise. */
static inline bool xp_mapping_holds(const struct xp_mapping *m, const void *data)
{
	return !m->unread && (!m->sum || xp_sum(xp_checksum(data, XP_BLOCK_SIZE)) == m->sum);
}

/* Walks the slots from *@cursor (start with 0); false at the end. */
bool xp_walk(struct xp *c, u32 *cursor, struct xp_mapping *m);

#endif /* XP_LOOK_H */
