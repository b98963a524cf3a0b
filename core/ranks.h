/* SPDX-License-Identifier: GPL-2.0-only */
/* ranks.h - the ranks of the MAPPED slots: who comes with which, who goes. */
#ifndef XP_RANKS_H
#define XP_RANKS_H

#include "cache.h"

void ranks_init(struct xp *c);
/* Its rank as a block of the cache that was not there before. */
u32 ranks_arrival(struct xp *c, xp_lba_t lba);
/* The same of one that is written; @streams: by a stream. */
u32 ranks_written_new(struct xp *c, xp_lba_t lba, bool streams);
/* A MAPPED slot was asked for, by other ways than xp_hit(). */
void ranks_hit(struct xp_entry *e);
/*
 * A slot that may be evicted, the one whose turn it is, or XP_NIL. Up to *@steps slots are looked at;
 * that is what is left of them then.
 */
xp_slot_t ranks_victim(struct xp *c, u32 *steps);
/* A call for slots to evict has ended, and not @any was found: after a few of these one is, as long as there is one. */
void ranks_found(struct xp *c, bool any);
/* The slot, which is about to be clean, had its turn to go while it was dirty; or slots are needed, and it is not. */
bool ranks_is_over(const struct xp_entry *e, bool in_need);
/* It has become clean, and stays. */
void ranks_cleaned(struct xp *c, struct xp_entry *e);
/* The block goes since it is not worth its slot. */
void ranks_evicted(struct xp *c, const struct xp_entry *e);
/* xp_tick(): what was young some ticks ago is not any more. */
void ranks_tick(struct xp *c);

/* The rank of a block that recovery finds mapped, and nothing more is known of. */
#define XP_RANK_RECOVERED	XP_RANK(XP_RANK_MAIN, 1)
/* Before the first request: the hands are at these slots. False: there are none such, and the hands stay. */
bool ranks_restore_hands(struct xp *c, u32 main_hand, u32 new_hand, u32 young_hand);

static inline void ranks_count(struct xp *c, const struct xp_entry *e, int by)
{
	u32 *nr = &c->ranks.nr[rank_class(entry_rank(e))][e->dirty];

	*nr = (u32)((int)*nr + by);
}

/*
 * Before the first request, so that no hit changes the word at the same time: the MAPPED slot gets the rank @rank, or what is
 * next to it and true of the slot.
 */
static inline void ranks_restore(struct xp *c, struct xp_entry *e, u32 rank)
{
	if (rank_class(rank) == XP_RANK_COLD && !e->dirty)
		rank = XP_RANK(XP_RANK_NEW, rank_freq(rank));
	if (rank_class(rank) == XP_RANK_YOUNG)
		rank = XP_RANK(XP_RANK_YOUNG, 0);
	c->ranks.nr[rank_class(e->use)][e->dirty]--;
	e->use = (u16)rank;
	c->ranks.nr[rank_class(rank)][e->dirty]++;
}

/* Its rank as a newer version of what @old holds, which is MAPPED. */
static inline u32 ranks_successor(struct xp *c, xp_slot_t old)
{
	u32 rank = entry_rank(entry_of(c, old));

	if (rank_class(rank) == XP_RANK_YOUNG)
		c->ranks.arrived++;	/* its slot is as new as that of one that arrives */
	return rank + rank_hit(rank);
}

/* Of a block that is written, whether there was a version of it or not. */
static inline u32 ranks_written(struct xp *c, xp_lba_t lba, xp_slot_t old, bool streams)
{
	return is_slot(old) ? ranks_successor(c, old) : ranks_written_new(c, lba, streams);
}

#endif /* XP_RANKS_H */
