// SPDX-License-Identifier: GPL-2.0-only
/* test_rival.c - the policies to compare with, where their miss ratio is known by calculation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "stream.h"

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

/* LRU and CLOCK miss all of a loop that is one block too long; MIN hits all but one in n. */
static void a_loop_too_long(void **state)
{
	struct stream s;

	(void)state;
	loop(&s, CAPACITY + 1, 101);
	near(stream_misses(&s, &rival_lru, CAPACITY), 1, 0);
	near(stream_misses(&s, &rival_clock, CAPACITY), 1, 0);
	near(stream_misses(&s, &rival_min, CAPACITY), 1.0 / CAPACITY, 1e-5);
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

/* MIN against every choice that could be made, on short traces of few blocks. */
static u32 fewest(const u32 *ids, u32 nr, u32 cached, u32 capacity)
{
	u32 best = RIVAL_NEVER, id;

	if (!nr)
		return 0;
	if (cached >> *ids & 1)
		return fewest(ids + 1, nr - 1, cached, capacity);
	if ((u32)__builtin_popcount(cached) < capacity)
		return 1 + fewest(ids + 1, nr - 1, cached | 1u << *ids, capacity);
	for (id = 0; id < 6; id++)
		if (cached >> id & 1)
			best = min(best, 1 + fewest(ids + 1, nr - 1, (cached & ~(1u << id)) | 1u << *ids, capacity));
	return best;
}

static void min_is_the_least(void **state)
{
	u64 seed = 1234567;
	u32 ids[14], i, k;

	(void)state;
	for (k = 0; k < 100; k++) {
		struct stream s;

		stream_init(&s);
		for (i = 0; i < 14; i++)
			stream_add(&s, ids[i] = (u32)(random_next(&seed) % 6), true);
		stream_end(&s);
		near(stream_misses(&s, &rival_min, 3) * 14, fewest(ids, 14, 0, 3), 1e-6);
		stream_free(&s);
	}
}

/* Small caches and random blocks: no rule about sizes breaks. */
static void small_caches(void **state)
{
	u64 seed = 99;
	u32 i, capacity;

	(void)state;
	for (capacity = 1; capacity < 40; capacity++) {
		struct stream s;

		stream_init(&s);
		for (i = 0; i < 2000; i++)
			stream_add(&s, random_next(&seed) % (random_next(&seed) % 100 + 1), true);
		stream_end(&s);
		for (i = 0; i < RIVALS; i++)
			assert_true(stream_misses(&s, rivals[i], capacity) >= stream_misses(&s, &rival_min, capacity));
		stream_free(&s);
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
		cmocka_unit_test(small_caches),
	};

	return cmocka_run_group_tests_name("rival", tests, NULL, NULL);
}
