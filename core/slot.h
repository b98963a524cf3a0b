/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slot.h - those arrows of the drawing in cache.h that every write draws, inline.
 */
#ifndef XP_SLOT_H
#define XP_SLOT_H

#include "map.h"
#include "ranks.h"
#include "relocate.h"
#include "unread.h"

void slots_init_free(struct xp *c);
u32 slots_search(const struct xp *c);
/*
 * Up to @want consecutive free slots, FREE -> @state, in the hash from @lba on; one is free.
 * Returns how many.
 */
u32 slots_alloc(struct xp *c, u32 want, enum xp_state state, xp_lba_t lba,
		xp_slot_t *first);
/*
 * Nobody names it any more: FREE, or RELEASED until the last pin goes. Must be
 * neither in the hash nor on a list.
 */
void slot_release(struct xp *c, xp_slot_t slot);
/* The same of @nr such runs. */
void slots_release(struct xp *c, const struct xp_slots *run, u32 nr);
void slot_pin(struct xp *c, xp_slot_t slot);
void slot_unpin(struct xp *c, xp_slot_t slot);
/* RELEASED, and the last pin has gone: FREE. */
void slot_free(struct xp *c, xp_slot_t slot);
/* FILLING -> CANCELLED: the fill must not land. */
void slot_doom(struct xp *c, xp_slot_t slot);
/* MAPPED -> UNMAPPING; stays in the hash. */
void slot_unmap(struct xp *c, xp_slot_t slot);

static inline bool slots_is_free(const struct xp *c, u32 i)
{
	return i < c->nr_slots && c->free_map[i / 64] >> (i % 64) & 1;
}

/* Slots from @from on that are free, up to @want. */
u32 slots_free_from(const struct xp *c, u32 from, u32 want);
/* Consecutive free slots, the first of them at or after @from; up to @want. Returns how many; 0: there are none. */
u32 slots_free_run(const struct xp *c, u32 from, u32 want, u32 *first);

/* The free slot that is next in turn, or XP_NIL. Those behind it may be free as well. */
static inline u32 slots_next(const struct xp *c)
{
	return slots_is_free(c, c->alloc_hand) ? c->alloc_hand : slots_search(c);
}

static inline void slots_mark_used(struct xp *c, u32 i)
{
	c->free_map[i / 64] &= ~(1ull << (i % 64));
	if (!c->free_map[i / 64])
		c->free_sum[i / 4096] &= ~(1ull << (i / 64 % 64));
	c->nr_free--;
}

/* Of the free slots @i and so on. */
static inline void slots_mark_run(struct xp *c, u32 i, u32 nr)
{
	u32 n;

	if (nr == 1) {
		slots_mark_used(c, i);
		c->alloc_hand = i + 1;
		return;
	}
	c->nr_free -= nr;
	for (; nr; nr -= n, i += n) {
		n = min(nr, 64 - i % 64);
		c->free_map[i / 64] &= ~(~0ull >> (64 - n) << (i % 64));
		if (!c->free_map[i / 64])
			c->free_sum[i / 4096] &= ~(1ull << (i / 64 % 64));
	}
	c->alloc_hand = i;
}

/* FREE -> @state; to be marked, and to go into the hash. */
static inline void slot_begin(struct xp *c, u32 i, enum xp_state state)
{
	union xp_word word = { .state = state };

	XP_WRITE_ONCE(c->entry[i].word.all, word.all);	/* free: nobody has it pinned */
}

/* FREE -> @state, in the hash as @lba's. */
static inline void slots_take(struct xp *c, u32 i, enum xp_state state, xp_lba_t lba)
{
	slots_mark_used(c, i);
	c->alloc_hand = i + 1;
	slot_begin(c, i, state);
	map_insert(c, XP_SLOT(i), lba);
}

static inline void slot_set_dirty(struct xp *c, struct xp_entry *e, bool dirty)
{
	if (e->dirty == dirty)
		return;
	ranks_count(c, e, -1);
	e->dirty = dirty;
	ranks_count(c, e, 1);
	if (dirty) {
		c->nr_dirty++;
		c->nr_clean--;
	} else {
		c->nr_clean++;
		c->nr_dirty--;
		e->home = 0;
	}
}

static inline void slot_uncount(struct xp *c, const struct xp_entry *e)
{
	ranks_count(c, e, -1);
	if (e->dirty)
		c->nr_dirty--;
	else
		c->nr_clean--;
}

/*
 * WRITING or FILLING -> MAPPED. No exchange: it was not MAPPED, so no hit has it.
 * I4: who hits this one finds what it supersedes gone, wherever he looks: pin_more() looks beside, not in the hash.
 */
static inline void slot_show(struct xp_entry *e, bool dirty, u32 rank)
{
	union xp_word word = e->word;

	XP_ASSERT(!word_pins(word));
	word.state = SLOT_MAPPED;
	word.dirty = dirty;
	word.use = (u16)rank;
	xp_write_barrier();
	XP_WRITE_ONCE(e->word.all, word.all);
}

/* WRITING or FILLING -> MAPPED, counted, with that rank. */
static inline void slot_map(struct xp *c, xp_slot_t slot, bool dirty, u32 rank)
{
	struct xp_entry *e = entry_of(c, slot);

	slot_show(e, dirty, rank);
	if (dirty)
		c->nr_dirty++;
	else
		c->nr_clean++;
	ranks_count(c, e, 1);
}

/* Out of the hash and of the counts of MAPPED slots; -> PENDING_FREE. */
static inline void slot_supersede(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	XP_ASSERT(e->state == SLOT_MAPPED);
	slot_is_read_again(c, slot);
	slot_uncount(c, e);
	map_remove(c, slot);
	e->state = SLOT_PENDING_FREE;
}

/*
 * @old, which is out of the hash, -> PENDING_FREE; @slot, WRITING, -> MAPPED and dirty in its place, with that rank. They count
 * alike, if both are dirty: a rank's class is that of the version before (ranks_successor()). I4: in this order, as slot_map().
 */
static inline void slot_follow(struct xp *c, xp_slot_t old, xp_slot_t slot, u32 rank)
{
	struct xp_entry *was = entry_of(c, old);

	XP_ASSERT(was->state == SLOT_MAPPED);
	slot_is_read_again(c, old);
	slot_set_dirty(c, was, true);
	was->state = SLOT_PENDING_FREE;
	slot_show(entry_of(c, slot), true, rank);
}

/* A number that a FILLING slot keeps for who fills it: it has no pins, no rank, and no live record. */
static inline u32 slot_link(const struct xp *c, u32 i)
{
	return (u32)XP_READ_ONCE(c->entry[i].use) << 16 | c->segment[i];
}

static inline void slot_set_link(struct xp *c, u32 i, u32 link)
{
	XP_WRITE_ONCE(c->entry[i].use, (u16)(link >> 16));
	c->segment[i] = (u16)link;
}

static inline void slot_end_link(struct xp *c, xp_slot_t slot)
{
	XP_WRITE_ONCE(entry_of(c, slot)->use, 0);
	c->segment[xp_slot_n(slot)] = NO_SEGMENT;
}

#endif /* XP_SLOT_H */
