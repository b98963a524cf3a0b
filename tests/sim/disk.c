// SPDX-License-Identifier: GPL-2.0-only
/*
 * disk.c - a device that promises no more than real ones do.
 *
 * Writes complete in any order. Until a write is certain each of its sectors
 * may or may not be there after a power cut. It is certain when it completes, on
 * a device without a volatile cache or with FUA; else when a FLUSH completes
 * that was submitted after it had completed. Where a FLUSH fails, each of the slow device's
 * that completed before is certain, or gone for good: the next FLUSH ends well all the same.
 *
 * Memory takes stores of 8 bytes. Whoever reads finds the newest; until its line was
 * flushed, and the thread that flushed it came past a fence, each may be on the medium
 * or not, without regard to the others. (That a processor writes back whole lines, in
 * the order of their stores, is nothing to build on: it promises none of it.)
 */
#include "sim.h"

void disk_init(struct disk *d, const char *name, u64 sectors, u64 tail, bool volatile_cache)
{
	u64 i;

	d->name = name;
	d->sectors = sectors;
	d->max = sectors;
	d->tail = tail;
	d->volatile_cache = volatile_cache;
	d->memory = d->whole = false;
	d->floor = arena_alloc(&sim.arena, disk_all(d) * sizeof(*d->floor));
	d->seen = arena_alloc(&sim.arena, disk_all(d) * sizeof(*d->seen));
	for (i = 0; i < disk_all(d); i++)
		d->floor[i] = d->seen[i] = &content_zero;
	d->pending = NULL;
	d->pending_end = &d->pending;
}

static bool overlap(const struct write *w, u64 sector, u32 nr)
{
	return w->sector < sector + nr && sector < w->sector + w->nr;
}

/* Which of two such writes wins is not defined: nobody may send them. */
static void check_alone(const struct disk *d, u64 sector, u32 nr)
{
	const struct write *w;

	for (w = d->pending; w; w = w->next)
		if (!w->completed && overlap(w, sector, nr))
			violation(P_HOST, "%s: write of sectors %llu+%u while %llu+%u is being written",
				  d->name, (unsigned long long)sector, nr,
				  (unsigned long long)w->sector, w->nr);
}

struct write *disk_submit(struct disk *d, u64 sector, u32 nr, const u8 *bytes, bool fua)
{
	struct write *w = arena_alloc(&sim.arena, sizeof(*w) + nr * sizeof(w->content[0]));
	u32 i;

	if (sector + nr > disk_all(d) || (sector < max(d->max, d->sectors) && sector + nr > d->sectors))
		violation(P_HOST, "%s: write past its end", d->name);
	check_alone(d, sector, nr);
	w->sector = sector;
	w->nr = nr;
	w->fua = fua;
	w->fragile = !d->memory;
	for (i = 0; i < nr; i++) {
		w->content[i] = content_new(&sim.arena, bytes + i * SECTOR);
		if (d->seen[sector + i]->stays)
			w->content[i] = content_unreadable(&sim.arena, w->content[i], true);
		figures.healed += d->seen[sector + i]->under && !d->seen[sector + i]->stays;
	}
	if (d->memory)
		w->words = arena_alloc(&sim.arena, nr * sizeof(*w->words));
	for (i = 0; d->memory && i < nr; i++)
		w->words[i].due = ~0ull;
	*d->pending_end = w;
	d->pending_end = &w->next;
	return w;
}

/* What @w put there is certain; older ones to the same sectors will not come back. */
static void settle(struct disk *d, struct write *w)
{
	struct write *old;
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->content[i])
			d->floor[w->sector + i] = w->content[i];
	for (old = d->pending; old != w; old = old->next)
		for (i = 0; i < old->nr; i++)
			if (overlap(w, old->sector + i, 1) &&
			    w->content[old->sector + i - w->sector])
				old->content[i] = NULL;
	w->nr = 0;
}

static bool is_settled(const struct write *w)
{
	u32 i;

	if (!w->words)
		return !w->nr;
	for (i = 0; i < w->nr; i++)
		if (w->words[i].stored)
			return false;
	return w->completed;
}

static void drop_settled(struct disk *d)
{
	struct write **p = &d->pending;

	while (*p)
		if (!is_settled(*p))
			p = &(*p)->next;
		else
			*p = (*p)->next;
	d->pending_end = p;
}

void disk_complete(struct disk *d, struct write *w)
{
	u32 i;

	if (w->words) {
		w->completed = sim.now;
		drop_settled(d);
		return;
	}
	for (i = 0; i < w->nr; i++)
		if (w->content[i])
			d->seen[w->sector + i] = w->content[i];
	w->completed = sim.now;
	if (!d->volatile_cache || w->fua) {
		settle(d, w);
		drop_settled(d);
	}
}

/* A sector that somebody may look at is the old one or the new one, or cannot be read. */
static const struct content *refused(const struct content *k, u64 *rng)
{
	if (!sim.geometry.bad || k->stays || chance(rng, 2))
		return k;
	figures.in_place_lost++;
	return content_unreadable(&sim.arena, k, false);
}

void disk_fail(struct disk *d, struct write *w, u64 *rng)
{
	u32 i, dice = below(rng, 3);	/* nothing landed, all, or some */
	bool landed = dice;

	if (w->words) {
		if (landed)
			disk_store(d, w, rng);
		disk_complete(d, w);
		return;
	}
	for (i = 0; i < w->nr; i++) {
		if (dice == 2 && !(w->whole_blocks && i && (w->sector + i) % XP_BLOCK_SECTORS))
			landed = chance(rng, 2);
		if (!landed)
			w->content[i] = NULL;
		else if (w->in_place)
			w->content[i] = refused(w->content[i], rng);
		else if (dice == 2 && d == &sim.fast && chance(rng, 4) && !w->content[i]->stays)
			w->content[i] = &content_garbage;
	}
	disk_complete(d, w);
}

/* Not behind its end, as far as requests go. */
static bool is_there(const struct disk *d, u64 sector)
{
	return sector < d->sectors || (sector >= d->max && sector < disk_all(d));
}

void disk_read(const struct disk *d, u64 sector, u32 nr, u8 *bytes)
{
	u32 i;

	for (i = 0; i < nr; i++)
		memcpy(bytes + i * SECTOR, is_there(d, sector + i) ?
		       d->seen[sector + i]->bytes : content_zero.bytes, SECTOR);
}

bool disk_unreadable(const struct disk *d, u64 sector, u32 nr)
{
	if (!unreadable(d->seen, d == &sim.fast, sector, nr))
		return false;
	sim.faulted = true;
	figures.bad_reads[d == &sim.slow]++;
	return true;
}

void disk_flush(struct disk *d, u64 submitted)
{
	struct write *w;

	for (w = d->pending; w; w = w->next)
		if (w->completed && w->completed < submitted)
			settle(d, w);
	drop_settled(d);
}

/* Durable, or nothing of it will ever be there. */
static void decide(struct disk *d, struct write *w, bool durable)
{
	u32 i;

	for (i = 0; i < w->nr; i++) {
		if (!w->content[i])
			continue;
		if (!durable)
			oracle_lost(w->sector + i, w->content[i]->tag);
		d->seen[w->sector + i] = durable ? w->content[i] : d->floor[w->sector + i];
	}
	if (w->nr)
		trace("--- the slow device %s %llu+%u", durable ? "keeps" : "forgets", (unsigned long long)w->sector, w->nr);
	figures.forgotten += !durable && w->nr;
	if (durable)
		settle(d, w);
	w->nr = 0;
}

void disk_flush_fails(struct disk *d, u64 *rng)
{
	struct write *w;

	if (d != &sim.slow || (!sim.geometry.forgets && chance(rng, 2)))
		return;
	for (w = d->pending; w; w = w->next)
		if (w->completed)
			decide(d, w, !sim.geometry.forgets && chance(rng, 2));
	drop_settled(d);
}

/* --------------------------------------------------------------- memory ---- */

/* The bits below @n; all if there are no more. */
static u64 below_bit(u32 n)
{
	return n < 64 ? (1ull << n) - 1 : ~0ull;
}

void disk_narrow(struct write *w, u32 skip, u32 bytes)
{
	u32 first = skip / 8, end = (skip + bytes) / 8, i;

	w->nr = (end + 63) / 64;
	for (i = 0; i < w->nr; i++)
		w->words[i].due = below_bit(end - i * 64) & ~(first > i * 64 ? below_bit(first - i * 64) : 0);
}

bool disk_store(struct disk *d, struct write *w, u64 *rng)
{
	u32 dice = rng ? below(rng, 4) : 3, first = dice == 1 ? below(rng, w->nr) : w->nr, i;
	u64 left = 0;

	for (i = 0; i < w->nr; i++) {
		struct words *x = &w->words[i];
		u64 now = i > first ? 0 : dice ? x->due : x->due & draw(rng);
		const struct content **seen = &d->seen[w->sector + i];

		*seen = content_mix(&sim.arena, *seen, w->content[i], now);
		x->stored |= now;
		x->due &= ~now;
		left |= x->due;
	}
	return !left;
}

void disk_write_back(struct write *w)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		w->words[i].flushed = w->words[i].stored;
}

/* What older writes stored there will not come back. */
static void settle_words(struct disk *d, struct write *w, u32 i, u64 words)
{
	const struct content **floor = &d->floor[w->sector + i];
	struct write *old;

	*floor = content_mix(&sim.arena, *floor, w->content[i], words);
	for (old = d->pending; old != w->next; old = old->next)
		if (overlap(old, w->sector + i, 1)) {
			struct words *x = &old->words[w->sector + i - old->sector];

			x->stored &= ~words;
			x->flushed &= ~words;
		}
}

void disk_fence(struct disk *d, u32 thread)
{
	struct write *w;
	u32 i;

	for (w = d->pending; w; w = w->next)
		for (i = 0; w->thread == thread && i < w->nr; i++)
			settle_words(d, w, i, w->words[i].flushed);
	drop_settled(d);
}

void disk_write_back_all(struct disk *d, u64 sector, u32 nr)
{
	struct write *w;
	u32 i;

	for (w = d->pending; w; w = w->next)
		for (i = 0; i < w->nr; i++)
			if (w->sector + i >= sector && w->sector + i < sector + nr) {
				figures.kept += !!w->words[i].stored;
				settle_words(d, w, i, w->words[i].stored);
			}
	drop_settled(d);
}

static struct write *under_way(const struct disk *d)
{
	struct write *w = d->pending;

	while (w && w->completed)
		w = w->next;
	return w;
}

void disk_abandon(struct disk *d, u64 *rng)
{
	struct write *w;

	while ((w = under_way(d)))
		if (w->words)
			disk_complete(d, w);
		else
			disk_fail(d, w, rng);
}
