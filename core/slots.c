// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots.c - free slots and the states of used ones (the drawing in cache.h).
 *
 * Free slots are bits in a map of two levels; the hand moves through it like a
 * log, so that slots are handed out in runs and a large write stays one bio.
 * I1 rests here: a slot enters the free map only through slots_release() and slot_free().
 */
#include "badblocks.h"
#include "run.h"
#include "slot.h"

u64 xp_slot_sector(const struct xp *c, xp_slot_t slot)
{
	return slot_sector(c, slot);
}

static u32 words(u32 bits)
{
	return (bits + 63) / 64;
}

/* The @nr slots from @i on. */
static void free_set(struct xp *c, u32 i, u32 nr)
{
	u32 n;

	c->nr_free += nr;
	for (; nr; nr -= n, i += n) {
		n = min(nr, 64 - i % 64);
		c->free_map[i / 64] |= ~0ull >> (64 - n) << (i % 64);
		c->free_sum[i / 4096] |= 1ull << (i / 64 % 64);
	}
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
static u32 free_from(const struct xp *c, u32 from)
{
	u32 word = from / 64, slot;

	slot = next_bit(c->free_map, from, min((word + 1) * 64, c->nr_slots));
	if (slot != XP_NIL)
		return slot;
	word = next_bit(c->free_sum, word + 1, words(c->nr_slots));
	return word == XP_NIL ? XP_NIL : next_bit(c->free_map, word * 64, c->nr_slots);
}

u32 slots_search(const struct xp *c)
{
	u32 i;

	if (!c->nr_free)
		return XP_NIL;
	i = free_from(c, c->alloc_hand);
	return i == XP_NIL ? free_from(c, 0) : i;
}

/* Bits behind the last slot are never set. */
u32 slots_free_from(const struct xp *c, u32 from, u32 want)
{
	u32 n = 0;

	while (n < want && from + n < c->nr_slots) {
		u32 at = (from + n) % 64;
		u64 used = ~c->free_map[(from + n) / 64] >> at;

		n += used ? (u32)__builtin_ctzll(used) : 64 - at;
		if (used)
			break;
	}
	return min(n, want);
}

u32 slots_free_run(const struct xp *c, u32 from, u32 want, u32 *first)
{
	*first = from < c->nr_slots ? free_from(c, from) : XP_NIL;
	return *first == XP_NIL ? 0 : slots_free_from(c, *first, want);
}

/* Of the word @i of the map; bits behind the last slot are never set. */
static u64 free_word(const struct xp *c, u32 i)
{
	u32 first = i * 64, nr = min(c->nr_slots - first, 64u), at;
	u64 bits = 0;

	for (at = 0; at < nr; at++)
		bits |= (u64)(c->entry[first + at].state == SLOT_FREE) << at;
	return bits;
}

/* What is bad is not handed out. */
static u64 good_word(const struct xp *c, u32 i, u64 bits)
{
	u32 at;

	for (at = 0; c->super.nr_bad_slots && at < 64; at++)
		if (bits >> at & 1 && slot_is_bad(c, i * 64 + at))
			bits &= ~(1ull << at);
	return bits;
}

void slots_init_free(struct xp *c)
{
	u32 i;
	u64 left;

	c->nr_free = 0;
	for (i = 0; i < words(c->nr_slots); i++) {
		u64 bits = good_word(c, i, free_word(c, i));

		c->free_map[i] = bits;
		if (bits)
			c->free_sum[i / 64] |= 1ull << (i % 64);
		for (left = bits; left; left &= left - 1)
			c->nr_free++;
	}
}

u32 slots_alloc(struct xp *c, u32 want, enum xp_state state, xp_lba_t lba,
		xp_slot_t *first)
{
	u32 start = slots_next(c), n;

	XP_ASSERT(start != XP_NIL);
	if (unlikely(c->any_suspect))
		want = slots_together(c, start, want);
	want = slots_free_from(c, start, want);
	for (n = 0; n < want; n++)
		slots_take(c, start + n, state, lba_add(lba, n));
	*first = XP_SLOT(start);
	return n;
}

/* RELEASED, and without a pin -> FREE. May it be handed out? */
static inline bool becomes_free(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	if (e->state != SLOT_RELEASED || entry_pins(e))
		return false;
	xp_stores_depend();
	e->state = SLOT_FREE;
	if (unlikely(e->apart))
		slot_is_no_part(c, slot);
	return !slot_is_bad(c, xp_slot_n(slot));
}

static void are_released(struct xp *c, const struct xp_slots *run)
{
	struct xp_entry *e = &c->entry[run->first], *end = e + run->nr;
	const u16 *segment = &c->segment[run->first];

	for (; e < end; e++, segment++) {
		XP_ASSERT(*segment == NO_SEGMENT);
		e->state = SLOT_RELEASED;
	}
}

/* RELEASED without a pin, and no more to be said of it. */
static inline bool is_free_at_once(const struct xp_entry *e)
{
	const union xp_word word = { .all = XP_READ_ONCE(e->word.all) };
	const union xp_word asked = { .state = 7, .apart = 1, .use = (u16)~(XP_PIN - 1) }, want = { .state = SLOT_RELEASED };

	return (word.all & asked.all) == want.all;
}

/* Those of them that nobody has pinned. */
static void become_free(struct xp *c, const struct xp_slots *run)
{
	u32 first = run->first, end = first + run->nr, i;
	bool any_bad = c->super.nr_bad_slots;
	struct xp_entry *e = &c->entry[first];

	for (i = first; i < end; i++, e++) {
		if (likely(is_free_at_once(e) && !any_bad)) {
			xp_stores_depend();
			e->state = SLOT_FREE;
		} else if (!becomes_free(c, XP_SLOT(i))) {
			free_set(c, first, i - first);
			first = i + 1;
		}
	}
	free_set(c, first, end - first);
}

void slots_release(struct xp *c, const struct xp_slots *run, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		are_released(c, &run[i]);
	xp_barrier();	/* whoever takes the last pin away sees that, or we see none */
	for (i = 0; i < nr; i++)
		become_free(c, &run[i]);
}

void slot_release(struct xp *c, xp_slot_t slot)
{
	struct xp_slots one = { xp_slot_n(slot), 1 };

	slots_release(c, &one, 1);
}

void slot_free(struct xp *c, xp_slot_t slot)
{
	if (becomes_free(c, slot))
		free_set(c, xp_slot_n(slot), 1);
}

void slot_pin(struct xp *c, xp_slot_t slot)
{
	(void)pins_change(entry_of(c, slot), 1);
}

void slot_unpin(struct xp *c, xp_slot_t slot)
{
	(void)pins_change(entry_of(c, slot), -1);
	slot_free(c, slot);
}

void slot_unmap(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);

	XP_ASSERT(e->state == SLOT_MAPPED && !slot_is_unread(c, slot));
	slot_uncount(c, e);
	e->state = SLOT_UNMAPPING;
}

void slot_doom(struct xp *c, xp_slot_t slot)
{
	map_remove(c, slot);
	entry_of(c, slot)->state = SLOT_CANCELLED;
}
