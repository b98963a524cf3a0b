/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map.h - which slots speak of an lba: a chained hash over the slots.
 *
 * An lba has at most one MAPPED, one WRITING and one FILLING slot, and any
 * number of UNMAPPING ones. Where the MAPPED one is written in place no other is WRITING. Inline: every request comes through here.
 *
 * A hash does not tell what follows an lba. So the slow device is cut into regions, an eighth as
 * many as there are slots (I12), and each counts its slots in the hash: a long range is gone
 * through by those, and block by block only where something is mapped. A region is a byte, so that
 * eight empty ones are one look.
 */
#ifndef XP_MAP_H
#define XP_MAP_H

#include "cache.h"

#ifndef XP_REGION_FULL	/* the simulator fills them sooner */
#define XP_REGION_FULL	255
#endif

/* What the hash holds of an lba; XP_NIL where nothing. */
struct xp_found {
	xp_slot_t mapped, writing, filling, unmapping;
};

/*
 * Fibonacci hashing, then a multiplication instead of a remainder: the table
 * need not be a power of two, so memory a slot does not depend on the size.
 */
static inline u32 map_bucket(const struct xp *c, xp_lba_t lba)
{
	u32 hash = (u32)(xp_lba_n(lba) * 0x9e3779b97f4a7c15ull >> 32);

	return (u32)((u64)hash * c->nr_buckets >> 32);
}

/*
 * Where the chain begins that the lba's slots are on; XP_NIL: empty. Without the
 * lock; it may change at once.
 */
static inline u32 map_peek(const struct xp *c, xp_lba_t lba)
{
	return XP_READ_ONCE(c->bucket[map_bucket(c, lba)]);
}

/* Which region the block is in. */
static inline u64 map_region(const struct xp *c, u64 lba)
{
	return min(lba >> c->region_shift, (u64)c->nr_regions - 1);
}

/* The first of the regions from @i on and before @end that has a slot, or @end. */
static inline u64 map_region_used(const struct xp *c, u64 i, u64 end)
{
	u64 eight;

	while (i < end && !c->region[i]) {
		memcpy(&eight, &c->region[i & ~7ull], sizeof(eight));
		i = eight ? i + 1 : min((i | 7) + 1, end);
	}
	return i;
}

/* Of @most blocks from @lba on, so many at least have nothing in the hash. */
static inline u32 map_gap(const struct xp *c, xp_lba_t lba, u32 most)
{
	u64 at = xp_lba_n(lba), first = map_region(c, at), end, used;

	if (c->region[first])
		return 0;
	end = map_region(c, at + most - 1) + 1;
	used = map_region_used(c, first, end);
	return used == end ? most : (u32)((used << c->region_shift) - at);
}

/* Of a region that has @nr slots more in the hash. A count that has reached its end stays there: it is looked through. */
static inline void region_more(u8 *region, u32 nr)
{
	*region = (u8)min(*region + nr, (u32)XP_REGION_FULL);
}

static inline void region_one_more(u8 *region)
{
	*region = (u8)(*region + (*region < XP_REGION_FULL));
}

static inline void region_less(u8 *region, u32 nr)
{
	if (*region < XP_REGION_FULL)
		*region = (u8)(*region - nr);
}

/* Blocks from @lba on, of @nr, that are in its region. */
static inline u32 map_region_span(const struct xp *c, u64 lba, u32 nr)
{
	u64 first = map_region(c, lba);

	return first == c->nr_regions - 1 ? nr : (u32)min((u64)nr, ((first + 1) << c->region_shift) - lba);
}

/* By region_more or region_less: each of the @nr blocks from @lba on has a slot more in the hash, or less. */
static __always_inline void map_count(struct xp *c, xp_lba_t lba, u32 nr, void (*change)(u8 *region, u32 nr))
{
	u64 at = xp_lba_n(lba);
	u32 n;

	for (; nr > 1; nr -= n, at += n) {
		n = map_region_span(c, at, nr);
		change(&c->region[map_region(c, at)], n);
	}
	if (nr)
		change(&c->region[map_region(c, at)], 1);
}

/* What names the first slot of the lba's chain. */
static inline u32 *map_chain(const struct xp *c, xp_lba_t lba)
{
	return &c->bucket[map_bucket(c, lba)];
}

/* Into its chain, and to be counted. */
static inline void map_link(struct xp *c, xp_slot_t slot, xp_lba_t lba, u32 *chain)
{
	struct xp_entry *e = entry_of(c, slot);

	entry_set_lba(e, lba);
	XP_WRITE_ONCE(e->hash_next, *chain);
	XP_WRITE_ONCE(*chain, xp_slot_n(slot));
}

static inline void map_insert(struct xp *c, xp_slot_t slot, xp_lba_t lba)
{
	region_one_more(&c->region[map_region(c, xp_lba_n(lba))]);
	map_link(c, slot, lba, map_chain(c, lba));
}

/* Out of the chain, where @link names it. */
static inline void map_unlink(struct xp_entry *e, u32 *link)
{
	XP_WRITE_ONCE(*link, e->hash_next);
	XP_WRITE_ONCE(e->hash_next, XP_NIL);
}

static inline void map_remove(struct xp *c, xp_slot_t slot)
{
	struct xp_entry *e = entry_of(c, slot);
	u32 *link = map_chain(c, entry_lba(e));

	while (*link != xp_slot_n(slot)) {
		XP_ASSERT(*link != XP_NIL);
		link = &c->entry[*link].hash_next;
	}
	map_unlink(e, link);
	region_less(&c->region[map_region(c, xp_lba_n(entry_lba(e)))], 1);
}

static inline bool map_is_overwritten(const struct xp *c, xp_lba_t lba)
{
	u32 i = c->overwrites.nr;

	while (i && c->overwrites.lba[i - 1] != xp_lba_n(lba))
		i--;
	return i;
}

/* Of the lba whose chain begins at @chain. A slot that is written in place is mapped and writing. */
static inline void map_find_in(struct xp *c, const u32 *chain, xp_lba_t lba, struct xp_found *f)
{
	u32 i;

	f->mapped = f->writing = f->filling = f->unmapping = XP_SLOT(XP_NIL);
	for (i = XP_READ_ONCE(*chain); i != XP_NIL; i = c->entry[i].hash_next) {
		struct xp_entry *e = &c->entry[i];

		if (!entry_is_of(e, lba))
			continue;
		if (e->state == SLOT_MAPPED)
			f->mapped = XP_SLOT(i);
		else if (e->state == SLOT_WRITING)
			f->writing = XP_SLOT(i);
		else if (e->state == SLOT_FILLING)
			f->filling = XP_SLOT(i);
		else
			f->unmapping = XP_SLOT(i);
	}
	if (unlikely(c->overwrites.nr) && map_is_overwritten(c, lba))
		f->writing = f->mapped;
}

static inline void map_find(struct xp *c, xp_lba_t lba, struct xp_found *f)
{
	map_find_in(c, map_chain(c, lba), lba, f);
}

/* Is the lba mapped at most, and nothing under way? Of a chain as map_find_in(). */
static inline bool map_is_quiet(const struct xp *c, const u32 *chain, xp_lba_t lba)
{
	u32 i;

	for (i = *chain; i != XP_NIL; i = c->entry[i].hash_next)
		if (c->entry[i].state != SLOT_MAPPED && entry_is_of(&c->entry[i], lba))
			return false;
	return likely(!c->overwrites.nr) || !map_is_overwritten(c, lba);
}

/* Is a slot in the hash that speaks of it? */
static inline bool map_holds(const struct xp *c, xp_lba_t lba)
{
	u32 i = map_peek(c, lba);

	while (i != XP_NIL && !entry_is_of(&c->entry[i], lba))
		i = c->entry[i].hash_next;
	return i != XP_NIL;
}

static inline xp_slot_t map_mapped(struct xp *c, xp_lba_t lba)
{
	u32 i;

	for (i = map_peek(c, lba); i != XP_NIL; i = c->entry[i].hash_next) {
		struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED && entry_is_of(e, lba))
			return XP_SLOT(i);
	}
	return XP_SLOT(XP_NIL);
}

/*
 * The same where @slot is the lba's, and WRITING: what that will supersede came into the chain before it, and is behind it.
 * *@link: what names it there.
 */
static inline xp_slot_t map_mapped_behind(struct xp *c, xp_slot_t slot, xp_lba_t lba, u32 **link)
{
	u32 *at, i;

	for (at = &entry_of(c, slot)->hash_next; (i = *at) != XP_NIL; at = &c->entry[i].hash_next) {
		struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED && entry_is_of(e, lba)) {
			*link = at;
			return XP_SLOT(i);
		}
	}
	return XP_SLOT(XP_NIL);
}

#endif /* XP_MAP_H */
