// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots.c - free slots and the states of used ones (the drawing in cache.h).
 *
 * Free slots are bits in a map of two levels; the hand moves through it like a
 * log, so that slots are handed out in runs and a large write stays one bio.
 * I1 rests here: a slot enters the free map only through slot_release().
 */
#include "cache.h"

static u32 words(u32 bits)
{
	return (bits + 63) / 64;
}

static void free_set(struct xp *c, u32 i)
{
	c->free_map[i / 64] |= 1ull << (i % 64);
	c->free_sum[i / 4096] |= 1ull << (i / 64 % 64);
	c->nr_free++;
}

static void free_clear(struct xp *c, u32 i)
{
	c->free_map[i / 64] &= ~(1ull << (i % 64));
	if (!c->free_map[i / 64])
		c->free_sum[i / 4096] &= ~(1ull << (i / 64 % 64));
	c->nr_free--;
}

static bool free_test(const struct xp *c, u32 i)
{
	return i < c->nr_slots && c->free_map[i / 64] >> (i % 64) & 1;
}

/* First set bit of @map from @from on and before @end, or XP_NIL. */
static u32 next_bit(const u64 *map, u32 from, u32 end)
{
	for (; from < end; from = (from / 64 + 1) * 64) {
		u64 bits = map[from / 64] & ~0ull << (from % 64);

		if (bits)
			return from / 64 * 64 + (u32)__builtin_ctzll(bits);
	}
	return XP_NIL;
}

/* First free slot at or after @from, or XP_NIL. */
static u32 free_next(const struct xp *c, u32 from)
{
	u32 word = from / 64, slot;

	slot = next_bit(c->free_map, from, min((word + 1) * 64, c->nr_slots));
	if (slot != XP_NIL)
		return slot;
	word = next_bit(c->free_sum, word + 1, words(c->nr_slots));
	return word == XP_NIL ? XP_NIL : next_bit(c->free_map, word * 64, c->nr_slots);
}

void slots_init_free(struct xp *c)
{
	u32 i;

	c->nr_free = 0;
	for (i = 0; i < c->nr_slots; i++)
		if (c->entry[i].state == SLOT_FREE)
			free_set(c, i);
}

u32 slots_alloc(struct xp *c, u32 want, enum xp_state state, xp_lba_t lba,
		xp_slot_t *first)
{
	u32 start, n;

	if (!c->nr_free)
		return 0;
	start = free_next(c, c->alloc_hand);
	if (start == XP_NIL)
		start = free_next(c, 0);
	for (n = 0; n < want && free_test(c, start + n); n++) {
		struct xp_entry *e = &c->entry[start + n];

		free_clear(c, start + n);
		e->state = state;
		e->dirty = e->zeros = e->referenced = e->held = 0;
		map_insert(c, XP_SLOT(start + n), lba_add(lba, n));
	}
	c->alloc_hand = start + n;
	*first = XP_SLOT(start);
	return n;
}

void slot_release(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	XP_ASSERT(!e->listed);
	e->state = SLOT_DEAD;
	xp_barrier();	/* whoever takes the last pin away sees that, or we see none */
	slot_bury(c, slot);
}

void slot_bury(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	if (e->state != SLOT_DEAD || XP_READ_ONCE(e->pins))
		return;
	e->state = SLOT_FREE;
	free_set(c, xp_slot_n(slot));
}

void slot_pin(struct xp *c, xp_slot_t slot)
{
	(void)pins_change(entry_of(c, slot), 1);
}

void slot_unpin(struct xp *c, xp_slot_t slot)
{
	(void)pins_change(entry_of(c, slot), -1);
	slot_bury(c, slot);
}

void slot_set_dirty(struct xp *c, struct xp_entry *e, bool dirty)
{
	if (e->dirty == dirty)
		return;
	e->dirty = dirty;
	if (dirty) {
		c->nr_dirty++;
		c->nr_clean--;
	} else {
		c->nr_clean++;
		c->nr_dirty--;
	}
}

static void uncount(struct xp *c, const struct xp_entry *e)
{
	if (e->dirty)
		c->nr_dirty--;
	else
		c->nr_clean--;
}

void slot_map(struct xp *c, xp_slot_t slot, bool dirty)
{
	struct xp_entry *e = entry_of(c, slot);

	/* I4: who hits this one finds what it supersedes gone, wherever he looks:
	 * pin_more() looks beside, not in the hash. */
	xp_write_barrier();
	e->state = SLOT_MAPPED;
	e->dirty = dirty;
	if (dirty)
		c->nr_dirty++;
	else
		c->nr_clean++;
}

void slot_supersede(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	XP_ASSERT(e->state == SLOT_MAPPED);
	uncount(c, e);
	map_remove(c, slot);
	e->state = SLOT_LIMBO;
}

void slot_unmap(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	XP_ASSERT(e->state == SLOT_MAPPED);
	uncount(c, e);
	e->state = SLOT_UNMAPPING;
}

void slot_doom(struct xp *c, xp_slot_t slot)
{
	map_remove(c, slot);
	entry_of(c, slot)->state = SLOT_DOOMED;
}
