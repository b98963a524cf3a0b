// SPDX-License-Identifier: GPL-2.0-only
/*
 * crash.c - every image that a power cut may leave, or a sample of them.
 *
 * What is not certain is a list of units: a sector of a write (or a block of it,
 * where the device says so). Few units: every subset. Many: none, all, each one
 * only, each one missing, prefixes, and random ones of several kinds, some with
 * garbage where a write was under way. The same image is looked at once, until
 * less is allowed than before.
 */
#include <stdio.h>
#include "sim.h"

/* -------------------------------------------------------------- images ---- */

static struct image image;

struct undo {
	const struct content **cell, *was;
	u64 key;
};

static struct undo *undo;
static u32 nr_undo, max_undo;

static u64 cell_hash(u64 key, const struct content *k)
{
	return k == &content_zero ? 0 : mix(key * 0x9e3779b97f4a7c15ull ^ mix(k->stamp));
}

static u64 key_of(bool slow, u64 sector)
{
	return sector << 1 | slow;
}

static void put(bool slow, u64 sector, const struct content *k)
{
	const struct content **cell = (slow ? image.slow : image.fast) + sector;
	u64 key = key_of(slow, sector);

	if (*cell == k)
		return;
	if (nr_undo == max_undo) {
		max_undo = max_undo ? 2 * max_undo : 1024;
		undo = realloc(undo, max_undo * sizeof(*undo));
	}
	undo[nr_undo++] = (struct undo){ cell, *cell, key };
	image.hash += cell_hash(key, k) - cell_hash(key, *cell);
	*cell = k;
}

static void rewind_to(u32 mark)
{
	while (nr_undo > mark) {
		struct undo *u = &undo[--nr_undo];

		image.hash += cell_hash(u->key, u->was) - cell_hash(u->key, *u->cell);
		*u->cell = u->was;
	}
}

static void image_of_floor(void)
{
	u64 i;

	memcpy(image.fast, sim.fast.floor, sim.fast.sectors * sizeof(*image.fast));
	memcpy(image.slow, sim.slow.floor, sim.slow.sectors * sizeof(*image.slow));
	image.hash = 0;
	for (i = 0; i < sim.fast.sectors; i++)
		image.hash += cell_hash(key_of(false, i), image.fast[i]);
	for (i = 0; i < sim.slow.sectors; i++)
		image.hash += cell_hash(key_of(true, i), image.slow[i]);
	nr_undo = 0;
}

/* ----------------------------------------------- images looked at before ---- */

#define SEEN_MAX (1u << 18)

static u64 seen[SEEN_MAX];
static u32 nr_seen;

static void forget_seen(void)
{
	memset(seen, 0, sizeof(seen));
	nr_seen = 0;
}

static bool seen_before(u64 key)
{
	u32 i;

	if (nr_seen > SEEN_MAX / 2)
		forget_seen();
	for (i = (u32)key % SEEN_MAX; seen[i]; i = (i + 1) % SEEN_MAX)
		if (seen[i] == key)
			return true;
	seen[i] = key;
	nr_seen++;
	return false;
}

/* ----------------------------------------------------------- the ring, told ---- */

static void dump_record(const struct xp_record *r)
{
	static const char * const kind[] = { "?", "map", "clean", "unmap", "zero" };
	u64 word = le64_to_cpu(r->lba);
	u32 k = word >> 40 & 0xff, flags = word >> 48 & 0xff;

	printf(" %s %llu>%u%s%s%s", k < 5 ? kind[k] : "?",
	       (unsigned long long)(word & (XP_MAX_LBAS - 1)), le32_to_cpu(r->slot),
	       flags & XP_REC_DIRTY ? "d" : "", flags & XP_REC_ZEROS ? "z" : "",
	       flags & XP_REC_CHECKED ? "c" : "");
}

void crash_dump(void)
{
	struct xp_jblock b;
	u64 at, i;

	for (at = 0; image.fast && at < sim.geometry.ring; at++) {
		u64 s = (le64_to_cpu(sim.sb.journal_start) + at) * XP_BLOCK_SECTORS;

		for (i = 0; i < XP_BLOCK_SECTORS; i++)
			memcpy((u8 *)&b + i * SECTOR, image.fast[s + i]->bytes, SECTOR);
		if (le32_to_cpu(b.head.magic) != XP_JOURNAL_MAGIC)
			continue;
		printf("  ring %llu: seq %llu tail %llu durable %llu incarnation %llu:",
		       (unsigned long long)at, (unsigned long long)le64_to_cpu(b.head.seq),
		       (unsigned long long)le64_to_cpu(b.head.tail_seq),
		       (unsigned long long)le64_to_cpu(b.head.durable_seq),
		       (unsigned long long)le64_to_cpu(b.head.incarnation));
		for (i = 0; i < min(le32_to_cpu(b.head.count), XP_RECORDS); i++)
			dump_record(&b.rec[i]);
		putchar('\n');
	}
}

/* ------------------------------------------------------------ recovering ---- */

/* The fast device itself. Its errors are those of sim.fault. */
static int live_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	if (fault_hits(0, OP_READ, true))
		return -EIO;
	disk_read(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf);
	return 0;
}

static int live_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	if (fault_hits(0, OP_WRITE, true))
		return -EIO;
	sim.now++;
	disk_flush(&sim.fast, sim.now);
	disk_complete(&sim.fast, disk_submit(&sim.fast, block * XP_BLOCK_SECTORS,
					     nr * XP_BLOCK_SECTORS, buf, true));
	return 0;
}

const struct xp_media live_media = { NULL, live_read, live_write };

/* An image, a power that may go again, and a read that may fail. */
struct medium {
	struct arena *arena;
	u32 writes_left;	/* until the power goes again */
	u32 reads_left;		/* until one fails */
	u64 *rng;
	u32 writes, reads;
};

static int medium_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct medium *m = ctx;
	u64 s = block * XP_BLOCK_SECTORS;
	u32 i;

	m->reads++;
	if (!m->reads_left--)
		return -EIO;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		memcpy((u8 *)buf + i * SECTOR, image.fast[s + i]->bytes, SECTOR);
	return 0;
}

static int medium_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct medium *m = ctx;
	u64 s = block * XP_BLOCK_SECTORS;
	bool torn = !m->writes_left--;
	u32 i;

	m->writes++;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		if (!torn || chance(m->rng, 2))
			put(false, s + i, content_new(m->arena, (const u8 *)buf + i * SECTOR));
	return torn ? -ENODEV : 0;
}

static struct xp *state_core;
static void *state_memory;

static int recover(const struct xp_media *media, void *memory, struct xp **c,
		   bool restating, struct xp_message *msg)
{
	const struct geometry *g = &sim.geometry;
	struct xp_options opt = {
		.volatile_fast = g->fast_volatile, .slow_discards = g->slow_discards,
		.dirty_low = g->dirty_low, .dirty_high = g->dirty_high,
	};

	memset(memory, 0, xp_memory(&sim.sb));
	msg->text[0] = '\0';
	*c = xp_init(memory, &sim.sb, &opt);
	figures.recoveries++;
	return xp_recover(*c, media, sim.scratch, restating, msg);
}

/* On the image, with @cuts further cuts, the first at write @first_cut. Returns
 * what the last attempt took. */
static struct medium recover_image(struct arena *arena, void *memory, struct xp **c, u32 cuts,
			 u32 first_cut, u64 *rng)
{
	struct xp_message msg;

	for (;;) {
		struct medium m = { arena, cuts ? first_cut : UINT32_MAX, UINT32_MAX, rng, 0, 0 };
		struct xp_media media = { &m, medium_read, medium_write };
		int err = recover(&media, memory, c, true, &msg);

		if (!err)
			return m;
		if (err != -ENODEV) {
			violation(P_ALLOWED, "recovery refused: %s", msg.text);
			run_abandon();
		}
		figures.recovery_cuts++;
		cuts--;
		first_cut = below(rng, 3);
	}
}

/* Only looks at the image, and changes nothing; or one of its reads fails, and
 * that is said. */
static void look_at_image(u32 failing_read)
{
	struct medium m = { &sim.state, UINT32_MAX, failing_read, NULL, 0, 0 };
	struct xp_media media = { &m, medium_read, medium_write };
	bool fails = failing_read != UINT32_MAX;
	struct xp_message msg;
	int err = recover(&media, state_memory, &state_core, fails, &msg);

	figures.failed_starts += fails;
	if (m.writes)
		violation(P_ERRORS, "a recovery that %s wrote", fails ? "could not read" : "looks only");
	if (err != (fails ? -EIO : 0) || !msg.text[0] != !fails)
		violation(P_ERRORS, "a recovery of which %s ended with %d: %s",
			  fails ? "a read failed" : "none failed", err, msg.text);
}

/* ------------------------------------------------------- one crash image ---- */

/* A second recovery, or somebody who looks. */
static void check_stays(bool looking)
{
	static struct xp_mapping first[SECTORS_MAX], second;
	static bool mapped[SECTORS_MAX];
	u64 blocks = (sim.slow.sectors + 7) / XP_BLOCK_SECTORS, b;

	for (b = 0; b < blocks; b++)
		mapped[b] = xp_lookup(state_core, XP_LBA(b), &first[b]);
	if (looking)
		look_at_image(UINT32_MAX);
	else
		recover_image(&sim.state, state_memory, &state_core, 0, 0, NULL);
	for (b = 0; b < blocks; b++)
		if (xp_lookup(state_core, XP_LBA(b), &second) != mapped[b] ||
		    (mapped[b] && (xp_slot_n(second.slot) != xp_slot_n(first[b].slot) ||
				   second.zeros != first[b].zeros)))
			violation(P_STAYS, "block %llu: a second recovery decides otherwise than the first",
				  (unsigned long long)b);
}

/* What the next life begins with. */
static bool check_once(void)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u32 mark = nr_undo;
	bool right;

	recover_image(&sim.state, state_memory, &state_core, 0, 0, NULL);
	right = oracle_check_image(state_core, &image, false);
	rewind_to(mark);
	arena_rewind(&sim.state, memory);
	return right;
}

static void check_image(u64 *rng)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u32 mark = nr_undo, cut;
	struct medium took;
	bool right;

	figures.images++;
	if (seen_before(mix(image.hash ^ mix(oracle_epoch()))))
		return;
	figures.states++;
	took = recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	right = oracle_check_image(state_core, &image, false);
	if (chance(rng, 16))
		check_stays(chance(rng, 4));
	rewind_to(mark);
	if (chance(rng, 64))
		look_at_image(below(rng, took.reads));
	/* Two writes are the least; more say that there was more to decide. */
	if (chance(rng, took.writes > 2 ? 4 : 16)) {
		for (cut = 0; cut < took.writes; cut++) {
			recover_image(&sim.state, state_memory, &state_core, 1 + below(rng, 2),
				      cut, rng);
			if (right)
				oracle_check_image(state_core, &image, true);
			rewind_to(mark);
		}
	}
	arena_rewind(&sim.state, memory);
}

/* ----------------------------------------------------------- enumeration ---- */

struct unit {
	const struct write *w;
	u32 first, nr;		/* sectors of it */
	bool slow;
	bool fresh;		/* first unit of its write */
};

#define UNITS_MAX 4096u

static struct unit unit[UNITS_MAX];
static bool chosen[UNITS_MAX];
static u32 nr_units;

static void gather(const struct disk *d, bool slow)
{
	const struct write *w;
	u32 i, n;

	for (w = d->pending; w; w = w->next) {
		bool fresh = true;

		for (i = 0; i < w->nr && nr_units < UNITS_MAX; i += n) {
			n = 1;
			while (w->whole_blocks && i + n < w->nr &&
			       (w->sector + i + n) % XP_BLOCK_SECTORS)
				n++;
			if (!w->content[i] || w->content[i] == d->floor[w->sector + i])
				continue;
			unit[nr_units++] = (struct unit){ w, i, n, slow, fresh };
			fresh = false;
		}
	}
}

static void put_unit(const struct unit *u, const struct content *instead)
{
	u32 i;

	for (i = u->first; i < u->first + u->nr; i++)
		if (u->w->content[i])
			put(u->slow, u->w->sector + i, instead ? instead : u->w->content[i]);
}

static void apply(void)
{
	u32 i;

	for (i = 0; i < nr_units; i++)
		if (chosen[i])
			put_unit(&unit[i], NULL);
}

static void check_chosen(u64 *rng)
{
	u32 mark = nr_undo;

	apply();
	check_image(rng);
	rewind_to(mark);
}

static void choose_all(bool yes)
{
	memset(chosen, yes, nr_units);
}

/* By write, by sector, or one write torn among whole or absent ones. */
static void choose_randomly(u64 *rng)
{
	u32 i, kind = below(rng, 5), odds = 2 + below(rng, 4), torn = below(rng, nr_units);
	bool whole = false;

	for (i = 0; i < nr_units; i++) {
		if (unit[i].fresh)
			whole = kind == 3 ? true : kind == 4 ? false : chance(rng, odds);
		chosen[i] = whole;
		if (kind == 0 || (kind >= 2 && unit[i].w == unit[torn].w))
			chosen[i] = chance(rng, 2);
	}
}

/* Where a write was under way its sectors may hold anything. */
static void spoil(u64 *rng)
{
	u32 tries = 1 + below(rng, 3);

	while (tries--) {
		const struct unit *u = &unit[below(rng, nr_units)];

		if (!u->w->completed && u->w->fragile)
			put_unit(u, &content_garbage);
	}
}

static void check_random(u64 *rng)
{
	u32 mark = nr_undo;

	choose_randomly(rng);
	apply();
	if (chance(rng, 4))
		spoil(rng);
	check_image(rng);
	rewind_to(mark);
}

static void check_every(u64 *rng)
{
	u32 mask, i;

	for (mask = 0; mask < 1u << nr_units; mask++) {
		for (i = 0; i < nr_units; i++)
			chosen[i] = mask >> i & 1;
		check_chosen(rng);
	}
}

static void check_sample(u64 *rng, u32 randoms, bool each)
{
	u32 i;

	choose_all(false);
	check_chosen(rng);
	for (i = 0; each && i < nr_units; i++) {	/* only it */
		chosen[i] = true;
		check_chosen(rng);
		chosen[i] = false;
	}
	for (i = 0; i < nr_units; i++) {		/* a prefix */
		chosen[i] = true;
		if (each || (i + 1 < nr_units && unit[i + 1].fresh))
			check_chosen(rng);
	}
	check_chosen(rng);				/* all */
	for (i = 0; each && i < nr_units; i++) {	/* all but it */
		chosen[i] = false;
		check_chosen(rng);
		chosen[i] = true;
	}
	while (randoms--)
		check_random(rng);
}

static void find_units(void)
{
	nr_units = 0;
	gather(&sim.fast, false);
	gather(&sim.slow, true);
}

void crash_check(u64 *rng)
{
	static const u32 exhaustive[] = { 3, 7, 10 }, randoms[] = { 4, 16, 64 };
	u32 depth = sim.geometry.depth;

	find_units();
	image_of_floor();
	figures.crash_points++;
	if (nr_units <= exhaustive[depth])
		check_every(rng);
	else
		check_sample(rng, randoms[depth], depth == 2);
}

static void choose_image(u64 *rng)
{
	find_units();
	image_of_floor();
	if (!nr_units)
		return;
	choose_randomly(rng);
	apply();
	if (chance(rng, 4))
		spoil(rng);
}

void crash_sample(u64 *rng, crash_look before, crash_look after)
{
	struct arena_mark memory = arena_mark(&sim.state);

	choose_image(rng);
	before(NULL, &image);
	recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	oracle_check_image(state_core, &image, false);
	after(state_core, &image);
	arena_rewind(&sim.state, memory);
}

/* --------------------------------------------------------- starting anew ---- */

void crash_new_run(void)
{
	size_t memory = (xp_memory(&sim.sb) + 4095) / 4096 * 4096;
	uintptr_t at = (uintptr_t)arena_alloc(&sim.arena, 2 * memory + 4096);

	at = (at + 4095) / 4096 * 4096;
	sim.memory = (void *)at;
	state_memory = (void *)(at + memory);
	sim.scratch = arena_alloc(&sim.arena, xp_recover_memory(&sim.sb));
	image.fast = arena_alloc(&sim.arena, sim.fast.sectors * sizeof(*image.fast));
	image.slow = arena_alloc(&sim.arena, sim.slow.sectors * sizeof(*image.slow));
	nr_undo = 0;
	forget_seen();
}

void crash_start(void)
{
	struct xp_message msg;
	int err;

	sim.now++;
	disk_flush(&sim.slow, sim.now);		/* xpcache.h: before the first request */
	sim.faulted = false;
	err = recover(&live_media, sim.memory, &sim.c, true, &msg);
	if (err && sim.faulted) {
		trace("does not start: %s", msg.text);
		figures.failed_starts++;
		if (!msg.text[0])
			violation(P_ERRORS, "does not start, and does not say why");
		sim.fault.on = false;
		err = recover(&live_media, sim.memory, &sim.c, true, &msg);
	}
	sim.faulted = false;
	if (err) {
		violation(P_ALLOWED, "start refused: %s (%d)", msg.text, err);
		run_abandon();
	}
	shell_new_life();
}

static void settle_on_image(struct disk *d, const struct content **cells)
{
	memcpy(d->floor, cells, d->sectors * sizeof(*cells));
	memcpy(d->seen, cells, d->sectors * sizeof(*cells));
	d->pending = NULL;
	d->pending_end = &d->pending;
}

void crash_cut(u64 *rng)
{
	bool right;

	choose_image(rng);
	sim.fault.on = false;
	right = check_once();
	recover_image(&sim.arena, sim.memory, &sim.c, chance(rng, 3) ? 1 + below(rng, 2) : 0,
		      below(rng, 4), rng);
	if (right)
		oracle_check_image(sim.c, &image, true);
	settle_on_image(&sim.fast, image.fast);
	settle_on_image(&sim.slow, image.slow);
	oracle_restart(sim.c, &image);
	shell_new_life();
	forget_seen();
	sim.faulted = false;
	figures.lives++;
}
