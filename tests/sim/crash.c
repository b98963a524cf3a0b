// SPDX-License-Identifier: GPL-2.0-only
/*
 * crash.c - every image that a power cut may leave, or a sample of them.
 *
 * What is not certain is a list of units: a sector of a write (or a block of it,
 * where the device says so). Few units: every subset. Many: none, all, each one
 * only, each one missing, prefixes, and random ones of several kinds, some with
 * garbage where a write was under way. In memory a unit is a sector's stores, or a line's
 * of a short write, or 8 bytes of a record; the random ones tear it further, at 8 bytes.
 */
#include "image.h"
#include "life.h"
#include "look.h"

/* ------------------------------------------------------- one crash image ---- */

/* What the first recovery has decided. */
static struct xp_mapping first[SECTORS_MAX];
static bool mapped[SECTORS_MAX];

static u64 nr_lbas(void)
{
	return (sim.slow.sectors + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
}

static void note_mappings(void)
{
	u64 b;

	for (b = 0; b < nr_lbas(); b++)
		mapped[b] = xp_lookup(state_core, XP_LBA(b), &first[b]);
}

static void compare_mappings(void)
{
	struct xp_mapping second;
	u64 b;

	for (b = 0; b < nr_lbas(); b++)
		if (xp_lookup(state_core, XP_LBA(b), &second) != mapped[b] ||
		    (mapped[b] && (xp_slot_n(second.slot) != xp_slot_n(first[b].slot) ||
				   second.zeros != first[b].zeros || second.lacks != first[b].lacks)))
			violation(P_STAYS, "block %llu: a second recovery decides otherwise than the first",
				  (unsigned long long)b);
}

/* A second recovery, or somebody who looks. */
static void check_stays(bool looking)
{
	note_mappings();
	if (looking)
		look_at_image(UINT32_MAX);
	else
		recover_image(&sim.state, state_memory, &state_core, 0, 0, NULL);
	compare_mappings();
}

/* 13: what was decided is decided, also when sectors can be read again as they were. It need not
 * ask again, but of what has been written since where that is of no use: then it may decide otherwise. */
static void check_decided(bool right, u64 *rng)
{
	u32 asked = told.asked;

	note_mappings();
	ask_settled();
	if (sim.geometry.bad_returns && chance(rng, 2))
		bad_return(NULL);
	recover_image(&sim.state, state_memory, &state_core, 0, 0, NULL);
	if (told.asked == asked)
		compare_mappings();
	if (right)
		oracle_check_image(state_core, &image, true);
}

static void check_taking_older(u64 *rng)
{
	figures.took_older++;
	ask_anew(XP_ACCEPT_OLDER);
	recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	check_decided(oracle_check_image(state_core, &image, false), rng);
}

static bool any_undecided(void)
{
	u64 b;

	for (b = 0; b < nr_lbas(); b++)
		if (told.undecided[b])
			return true;
	return false;
}

static void check_unreadable(u64 *rng)
{
	u32 mark = image_mark(), cut;
	struct medium took = recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	bool right = oracle_check_image(state_core, &image, false), undecided = any_undecided();

	check_decided(right, rng);
	image_rewind(mark);
	for (cut = 0; cut < took.writes && chance(rng, 4); cut++) {
		ask_anew(0);
		recover_image(&sim.state, state_memory, &state_core, 1 + below(rng, 2), cut, rng);
		if (right)
			oracle_check_image(state_core, &image, true);
		image_rewind(mark);
	}
	if (undecided)
		check_taking_older(rng);
	image_rewind(mark);
}

static void check_readable(u64 *rng)
{
	u32 mark = image_mark(), cut;
	struct medium took;
	bool right;

	took = recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	right = oracle_check_image(state_core, &image, false);
	if (chance(rng, 16))
		check_stays(chance(rng, 4));
	image_rewind(mark);
	if (chance(rng, 64))
		look_at_image(below(rng, took.reads));
	/* Two writes are the least; more say that there was more to decide. */
	if (chance(rng, took.writes > 2 ? 4 : 16)) {
		for (cut = 0; cut < took.writes; cut++) {
			recover_image(&sim.state, state_memory, &state_core, 1 + below(rng, 2),
				      cut, rng);
			if (right)
				oracle_check_image(state_core, &image, true);
			image_rewind(mark);
		}
	}
}

#define LOOK_TWICE	16	/* one of so many states */

static void check_new_image(u64 *rng, u64 *own)
{
	u32 chosen = (u32)mix(image.hash ^ 0x2100);	/* by what it is: so it is when the run is shrunk */

	figures.states++;
	if (chosen % LOOK_TWICE == 0)
		look_twice(chosen / LOOK_TWICE % 4);	/* each of what may be accepted, and both */
	if (bad_in_image())
		check_unreadable(own);
	else
		check_readable(rng);
}

/* What sectors it cannot read is drawn from what it is. */
static void check_image(u64 *rng)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u64 own = mix(image.hash ^ 0xbad);
	u32 mark = image_mark();

	ask_anew(0);
	if (sim.geometry.bad && chance(&own, 2))
		bad_spoil_image(&sim.state, false, &own);
	figures.images++;
	if (!image_seen_before())
		check_new_image(rng, &own);
	image_rewind(mark);
	arena_rewind(&sim.state, memory);
}

/* ----------------------------------------------------------- enumeration ---- */

struct unit {
	const struct write *w;
	u32 first, nr;		/* sectors of it */
	bool slow;
	bool fresh;		/* first unit of its write */
	u64 words, landing;	/* memory: stored, and now on the medium */
};

#define UNITS_MAX 4096u

static struct unit unit[UNITS_MAX];
static bool chosen[UNITS_MAX];
static u32 nr_units;

static void gather_words(const struct write *w)
{
	u32 of_line = XP_LINE_SIZE / 8, step = w->nr == 1 ? of_line : 64, i, at;
	bool fresh = true;

	if (w->nr == 1 && (u32)__builtin_popcountll(w->words[0].stored) <= sizeof(struct xp_record) / 8)
		step = 1;
	for (i = 0; i < w->nr; i++)
		for (at = 0; at < 64 && nr_units < UNITS_MAX; at += step) {
			u64 words = w->words[i].stored >> at & ~0ull >> (64 - step);

			if (!words)
				continue;
			unit[nr_units++] = (struct unit){ w, i, 1, false, fresh, words << at, words << at };
			fresh = false;
		}
}

static void gather(const struct disk *d, bool slow)
{
	const struct write *w;
	u32 i, n;

	for (w = d->pending; w; w = w->next) {
		bool fresh = true;

		if (w->words) {
			gather_words(w);
			continue;
		}
		for (i = 0; i < w->nr && nr_units < UNITS_MAX; i += n) {
			n = 1;
			while (w->whole_blocks && i + n < w->nr &&
			       (w->sector + i + n) % XP_BLOCK_SECTORS)
				n++;
			if (!w->content[i] || w->content[i] == d->floor[w->sector + i])
				continue;
			unit[nr_units++] = (struct unit){ w, i, n, slow, fresh, 0, 0 };
			fresh = false;
		}
	}
}

static void put_unit(const struct unit *u, const struct content *instead)
{
	u32 i;

	for (i = u->first; i < u->first + u->nr; i++)
		if (u->w->content[i] && !(instead && u->w->content[i]->stays))
			image_put(u->slow, u->w->sector + i, instead ? instead : u->w->content[i]);
}

static void put_words(const struct unit *u, struct arena *a)
{
	u64 s = u->w->sector + u->first;

	image_put(false, s, content_mix(a, image.fast[s], u->w->content[u->first], u->landing));
}

/* @a: what has to be mixed comes from it. */
static void apply(struct arena *a)
{
	u32 i;

	for (i = 0; i < nr_units; i++)
		if (chosen[i] && unit[i].words)
			put_words(&unit[i], a);
		else if (chosen[i])
			put_unit(&unit[i], NULL);
}

static void check_chosen(u64 *rng)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u32 mark = image_mark();

	apply(&sim.state);
	check_image(rng);
	image_rewind(mark);
	arena_rewind(&sim.state, memory);
}

static void choose_all(bool yes)
{
	memset(chosen, yes, nr_units);
}

/* Any of them, one, all but one, or those before one. */
static u64 some_words(u64 words, u64 *rng)
{
	u32 skip = below(rng, (u32)__builtin_popcountll(words));
	u64 one = words;

	while (skip--)
		one &= one - 1;
	one &= -one;
	switch (below(rng, 4)) {
	case 0: return one;
	case 1: return words & ~one;
	case 2: return words & (one - 1);
	}
	return words & draw(rng);
}

/* Within one unit, those of a write, or all. */
static void tear(u64 *rng)
{
	u32 one = below(rng, nr_units), kind = below(rng, 3), i;

	for (i = 0; i < nr_units; i++) {
		if (!unit[i].words || (kind == 0 && i != one) ||
		    (kind == 1 && unit[i].w != unit[one].w))
			continue;
		unit[i].landing = some_words(unit[i].words, rng);
		chosen[i] = true;
	}
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
		unit[i].landing = unit[i].words;
	}
	if (sim.fast.memory && chance(rng, 2))
		tear(rng);
}

static bool is_edge(const struct unit *u)
{
	u64 sector = u->w->sector + u->first, block = sector - sector % XP_BLOCK_SECTORS;

	return block < u->w->sector || block + XP_BLOCK_SECTORS > u->w->sector + u->w->nr;
}

/* Where a write was under way its sectors may hold anything. */
static void spoil(u64 *rng)
{
	u32 tries = 1 + below(rng, 3);

	while (tries--) {
		const struct unit *u = &unit[below(rng, nr_units)];

		if (!u->w->completed && u->w->fragile && !(u->w->edges_hold && is_edge(u)))
			put_unit(u, &content_garbage);
	}
}

static void check_random(u64 *rng)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u32 mark = image_mark();

	choose_randomly(rng);
	apply(&sim.state);
	if (chance(rng, 4))
		spoil(rng);
	check_image(rng);
	image_rewind(mark);
	arena_rewind(&sim.state, memory);
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

void crash_choose(u64 *rng)
{
	find_units();
	image_of_floor();
	if (!nr_units)
		return;
	choose_randomly(rng);
	apply(&sim.arena);
	if (chance(rng, 4))
		spoil(rng);
}

void crash_sample(u64 *rng, crash_look before, crash_look after)
{
	struct arena_mark memory = arena_mark(&sim.state);

	crash_choose(rng);
	ask_anew(0);
	before(NULL, &image);
	recover_image(&sim.state, state_memory, &state_core, 0, 0, rng);
	oracle_check_image(state_core, &image, false);
	after(state_core, &image);
	arena_rewind(&sim.state, memory);
}

void crash_new_run(void)
{
	recover_new_run();
	image_new_run();
}
