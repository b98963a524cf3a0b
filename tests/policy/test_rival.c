// SPDX-License-Identifier: GPL-2.0-only
/* test_rival.c - the policies to compare with, where their miss ratio is known by calculation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "load.h"

#define CAPACITY	1000u

void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static void near(double is, double should, double by)
{
	if (fabs(is - should) > by)
		fail_msg("%.4f is not within %.4f of %.4f", is, by, should);
}

/* Rounds over @n blocks; the first is not counted. */
static void loop(struct stream *s, u32 n, u32 rounds)
{
	stream_init(s);
	for (u32 i = 0; i < n * rounds; i++)
		stream_add(s, i % n * 7919ull, i >= n);
	stream_end(s);
}

/* LRU and CLOCK miss all of a loop that is one block too long; MIN keeps all but that one. */
static void a_loop_too_long(void **state)
{
	struct stream s;

	(void)state;
	loop(&s, CAPACITY + 1, 101);
	near(stream_misses(&s, &rival_lru, CAPACITY), 1, 0);
	near(stream_misses(&s, &rival_clock, CAPACITY), 1, 0);
	near(stream_misses(&s, &rival_min, CAPACITY), 1.0 / (CAPACITY + 1), 1e-12);
	/* LIRS keeps its LIR blocks, 99 % of the cache. */
	near(stream_misses(&s, &rival_lirs, CAPACITY), 12.0 / (CAPACITY + 1), 2e-3);
	stream_free(&s);
}

/* A loop that the cache has room for. 2Q loses some blocks of the second round before it knows them. */
static void a_loop_that_fits(void **state)
{
	struct stream s;

	(void)state;
	loop(&s, CAPACITY * 3 / 4, 50);
	for (u32 i = 0; i < RIVALS; i++)
		near(stream_misses(&s, rivals[i], CAPACITY), 0, rivals[i] == &rival_2q ? .03 : 0);
	stream_free(&s);
}

static void what_is_used_once_is_never_hit(void **state)
{
	struct stream s;

	(void)state;
	loop(&s, CAPACITY * 20, 1);
	for (u32 i = 0; i < s.nr; i++)
		s.access[i].counts = true;
	for (u32 i = 0; i < RIVALS; i++)
		near(stream_misses(&s, rivals[i], CAPACITY), 1, 0);
	stream_free(&s);
}

/* Independent references: LRU by Che's approximation, and nothing better than MIN. */
static void zipf(void **state)
{
	u64 seed = 88172645463325252ull;
	double low = 0, high = 1e9, misses = 0, ideal, of[RIVALS];
	struct stream s;
	struct zipf z;
	u32 i;

	(void)state;
	zipf_init(&z, 3 * CAPACITY, .9);
	stream_init(&s);
	for (i = 0; i < 300000; i++)
		stream_add(&s, zipf_next(&z, &seed) * 2654435761ull, i >= 30000);
	stream_end(&s);
	/* The time in which CAPACITY different blocks are used. */
	while (high - low > 1e-3) {
		double time = (low + high) / 2, cached = 0;

		for (i = 0; i < z.n; i++)
			cached += 1 - exp(-(z.sum[i] - (i ? z.sum[i - 1] : 0)) * time);
		if (cached < CAPACITY)
			low = time;
		else
			high = time;
	}
	for (i = 0; i < z.n; i++) {
		double p = z.sum[i] - (i ? z.sum[i - 1] : 0);

		misses += p * exp(-p * low);
	}
	near(stream_misses(&s, &rival_lru, CAPACITY), misses, .005);
	for (i = 0; i < RIVALS; i++)
		of[i] = stream_misses(&s, rivals[i], CAPACITY);
	for (i = 0; i < RIVALS; i++) {
		assert_true(of[i] >= of[RIVALS - 1]);
		if (rivals[i] != &rival_lru)
			assert_true(of[i] < misses);
	}
	/* Its counts forget: it is between an LFU that knows all of the past and LRU, nearer to the LFU. */
	ideal = 1 - z.sum[CAPACITY - 1];
	near(stream_misses(&s, &rival_wtinylfu, CAPACITY), ideal + (misses - ideal) / 4, (misses - ideal) / 4);
	stream_free(&s);
	zipf_free(&z);
}

#define FEW		6u	/* blocks */
#define SETS		(1u << FEW)

/*
 * The fewest misses that count, by every choice that could be made: an access to a block that is not cached leaves
 * the @cached ones as they are, or has it take a free place or that of any of them.
 */
static u32 fewest_from(const struct access *a, const u32 *after, u32 cached, u32 capacity)
{
	u32 with = cached | 1u << a->id, best = after[cached], out;

	if (with == cached)
		return best;
	if ((u32)__builtin_popcount(cached) < capacity)
		best = min(best, after[with]);
	else
		for (out = 0; out < FEW; out++)
			if (cached >> out & 1)
				best = min(best, after[with & ~(1u << out)]);
	return best + a->counts;
}

static u32 fewest(const struct stream *s, u32 capacity)
{
	u32 after[SETS] = { 0 }, now[SETS], cached, i;

	for (i = s->nr; i--; memcpy(after, now, sizeof(after)))
		for (cached = 0; cached < SETS; cached++)
			now[cached] = fewest_from(&s->access[i], after, cached, capacity);
	return after[0];
}

static u32 missed(const struct stream *s, const struct rival *rival, u32 capacity)
{
	u32 counted = 0, i;

	for (i = 0; i < s->nr; i++)
		counted += s->access[i].counts;
	return (u32)(stream_misses(s, rival, capacity) * counted + .5);
}

/* With all accesses counted, with half of them, with two of three. */
static void min_is_the_least(void **state)
{
	u64 seed = 1234567;
	u32 i, k;

	(void)state;
	for (k = 0; k < 1000; k++) {
		struct stream s;

		stream_init(&s);
		for (i = 0; i < 30; i++)
			stream_add(&s, random_next(&seed) % FEW, random_next(&seed) % (k % 3 + 1) != 1);
		stream_end(&s);
		for (u32 capacity = 1; capacity < FEW; capacity++)
			assert_int_equal(missed(&s, &rival_min, capacity), fewest(&s, capacity));
		stream_free(&s);
	}
}

/*
 * By hand, one place: a is read, written, read. What is written is cached without a miss, so only the first read and
 * that of b miss; b is not worth the place of a. A cache that admits b misses once more.
 */
static void min_counts_reads_only(void **state)
{
	struct stream s;

	(void)state;
	stream_init(&s);
	stream_add(&s, 'a', true);
	stream_add(&s, 'a', false);
	stream_add(&s, 'b', true);
	stream_add(&s, 'a', true);
	stream_end(&s);
	assert_int_equal(missed(&s, &rival_min, 1), 2);
	assert_int_equal(missed(&s, &rival_lru, 1), 3);
	stream_free(&s);
}

/* Small caches and random blocks, read and written: no rule about sizes breaks. */
static void small_caches(void **state)
{
	u64 seed = 99;
	u32 i, capacity;

	(void)state;
	for (capacity = 1; capacity < 40; capacity++) {
		struct stream s;

		stream_init(&s);
		for (i = 0; i < 2000; i++)
			stream_add(&s, random_next(&seed) % (random_next(&seed) % 100 + 1), random_next(&seed) % 3);
		stream_end(&s);
		for (i = 0; i < RIVALS; i++)
			assert_true(stream_misses(&s, rivals[i], capacity) >= stream_misses(&s, &rival_min, capacity));
		stream_free(&s);
	}
}

/* Short enough to be followed by hand with the paper: m is a miss, h a hit. */
static void by_hand(void **state)
{
	static const struct {
		const struct rival *rival;
		u32 capacity;
		const char *blocks, *outcome;
	} cases[] = {
		{ &rival_lru, 3, "abcbadea", "mmmhhmmh" },
		{ &rival_clock, 3, "abcbadea", "mmmhhmmm" },	/* a and b go round once, in the order they came */
		{ &rival_sieve, 3, "abcadefa", "mmmhmmmh" },	/* the hand has passed a */
		{ &rival_clock, 3, "abcadefa", "mmmhmmmm" },
		{ &rival_2q, 4, "abcdeaabce", "mmmmmmhmmh" },
		{ &rival_arc, 2, "abacbab", "mmhmmmh" },	/* b moves the border up, a down again */
		{ &rival_lirs, 3, "adbcbadae", "mmmmmhhhm" },
		{ &rival_s3fifo, 10, "abcdefghijkaacclcd", "mmmmmmmmmmmmhhhmhm" },
		{ &rival_wtinylfu, 10, "abcdefghijkjlja", "mmmmmmmmmmmmmhm" },	/* j is used twice, so a goes */
	};

	(void)state;
	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *policy = cases[i].rival->make(cases[i].capacity, 26);
		char outcome[32] = "";

		for (u32 k = 0; cases[i].blocks[k]; k++) {
			u32 id = (u32)(cases[i].blocks[k] - 'a');

			outcome[k] = cases[i].rival->access(policy, id, RIVAL_NEVER) ? 'h' : 'm';
		}
		if (strcmp(outcome, cases[i].outcome))
			fail_msg("%s: %s is %s, should be %s", cases[i].rival->name, cases[i].blocks, outcome,
				 cases[i].outcome);
		cases[i].rival->free(policy);
	}
}

/* What an LRU cache holds, a larger one holds too. */
static void lru_includes_the_smaller(void **state)
{
	u64 seed = 4711;
	void *policy[20];
	u32 i, k;

	(void)state;
	for (k = 0; k < 20; k++)
		policy[k] = rival_lru.make(k + 1, 30);
	for (i = 0; i < 20000; i++) {
		u32 id = (u32)(random_next(&seed) % (random_next(&seed) % 30 + 1));
		bool hit = false;

		for (k = 0; k < 20; k++) {
			bool larger = rival_lru.access(policy[k], id, RIVAL_NEVER);

			assert_true(larger || !hit);
			hit = larger;
		}
	}
	for (k = 0; k < 20; k++)
		rival_lru.free(policy[k]);
}

/* Of each load that is made up, at a tenth of its footprint: none has fewer misses than MIN. */
static void loads_made_up(void **state)
{
	(void)state;
	for (u32 k = 0; k < LOADS_MADE; k++) {
		struct load l;
		double least;

		load_make(&l, k);
		least = stream_misses(&l.stream, &rival_min, l.stream.nr_ids / 10);
		for (u32 i = 0; i < RIVALS; i++)
			assert_true(stream_misses(&l.stream, rivals[i], l.stream.nr_ids / 10) >= least);
		load_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_too_long),
		cmocka_unit_test(a_loop_that_fits),
		cmocka_unit_test(what_is_used_once_is_never_hit),
		cmocka_unit_test(zipf),
		cmocka_unit_test(min_is_the_least),
		cmocka_unit_test(min_counts_reads_only),
		cmocka_unit_test(small_caches),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(lru_includes_the_smaller),
		cmocka_unit_test(loads_made_up),
	};

	return cmocka_run_group_tests_name("rival", tests, NULL, NULL);
}
