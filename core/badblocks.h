/* SPDX-License-Identifier: GPL-2.0-only */
/* badblocks.h - what the fast device cannot write: places of the journal ring, and slots. */
#ifndef XP_BADBLOCKS_H
#define XP_BADBLOCKS_H

#include "cache.h"

struct xp_media;

bool place_avoided(const struct xp *c, u64 number);
static inline bool place_is_bad(const struct xp *c, u64 number)
{
	return unlikely(c->super.nr_avoided) && place_avoided(c, number);
}

/* The number after @number on the medium. */
static inline u64 number_after(const struct xp *c, u64 number)
{
	do
		number++;
	while (place_is_bad(c, number));
	return number;
}

/* At rest, of a place that no recovery needs; then super_write_now(). False: no more may be bad. */
bool place_give_up(struct xp *c, u64 position);
/* At rest: place[@i] of the superblock's is good after all, and no chain skips it. */
void place_take_back(struct xp *c, u32 i);

/* A block could not be written. False: the device is gone, or has no place to spare. */
bool journal_refused(struct xp *c, struct xp_window *w, int err, struct xp_todo *todo);
/* Goes on with that, once nothing is on its way (journal.rerouting). False: as above. */
bool journal_reroute(struct xp *c, struct xp_todo *todo);
/* Has the device failed a place of it, and not as a whole? */
static inline bool error_of_place(int err)
{
	return err == -EIO || err == -ENODATA || err == -EILSEQ || err == -EREMOTEIO;
}

bool slot_listed_bad(const struct xp *c, u32 i);
/* Given up: handed out to nobody. */
static inline bool slot_is_bad(const struct xp *c, u32 i)
{
	return unlikely(c->super.nr_bad_slots) && slot_listed_bad(c, i);
}

/* ... and not what recovery has found in use all the same. */
u32 slots_given_up(const struct xp *c);
/*
 * A device that is there has refused a write of them. One that was written alone is given up,
 * whether it is free by now or not; else each of them is written alone from now on, for a while.
 */
void slots_refused(struct xp *c, xp_slot_t first, u32 nr, struct xp_todo *todo);
void slots_suspect(struct xp *c, xp_slot_t first, u32 nr);
bool slot_is_suspect(const struct xp *c, xp_slot_t slot);
/* The device may have failed it, or have been gone: given up the second time. */
void slot_failed_again(struct xp *c, xp_slot_t slot, struct xp_todo *todo);
/* Of @want slots from @first on: how many may go into one write. */
u32 slots_together(const struct xp *c, u32 first, u32 want);

#endif /* XP_BADBLOCKS_H */
