// SPDX-License-Identifier: GPL-2.0-only
/* test_places.c - where the requests of a benchmark go. */
#include "tools/bench/bench_places.h"
#include "platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

void xp_assert_failed(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: %s", file, line, what);
	abort();
}

static u32 met[100000];
static struct bench_places p;

/* Counts the places that @n requests from @begin meet; all in the range and aligned. */
static void meet(u64 begin, u64 n)
{
	for (u64 i = begin; i < begin + n; i++) {
		u64 at = bench_place(&p, i);

		assert_true(at >= p.from && (at - p.from) % p.align == 0);
		assert_true((at - p.from) / p.align < p.n);
		met[(at - p.from) / p.align]++;
	}
}

static void each_comes_once_before_any_comes_again(void **state)
{
	static const u64 many[] = { 1, 2, 3, 4, 5, 63, 64, 65, 1000, 4097, 99999 };

	(void)state;
	for (u32 k = 0; k < sizeof(many) / sizeof(*many); k++) {
		bench_places_init(&p, BENCH_RANDOM, 8192, many[k] * 4096, 4096, 4096, k);
		assert_int_equal(p.n, many[k]);
		memset(met, 0, sizeof(met));
		for (u32 round = 1; round <= 2; round++) {
			meet((round - 1) * many[k], many[k]);
			for (u64 i = 0; i < many[k]; i++)
				assert_int_equal(met[i], round);
		}
	}
}

static void they_are_in_no_order(void **state)
{
	u64 same = 0;

	(void)state;
	bench_places_init(&p, BENCH_RANDOM, 0, 4096ull * 10000, 4096, 4096, 7);
	for (u64 i = 0; i + 1 < 10000; i++)
		same += bench_place(&p, i + 1) == bench_place(&p, i) + 4096;
	assert_true(same < 10);
}

static void a_seed_gives_the_same_places_and_another_gives_others(void **state)
{
	struct bench_places other;
	u32 same = 0;

	(void)state;
	bench_places_init(&p, BENCH_RANDOM, 0, 4096ull * 10000, 4096, 4096, 7);
	other = p;
	for (u64 i = 0; i < 1000; i++)
		assert_int_equal(bench_place(&p, i), bench_place(&other, i));
	bench_places_init(&other, BENCH_RANDOM, 0, 4096ull * 10000, 4096, 4096, 8);
	for (u64 i = 0; i < 1000; i++)
		same += bench_place(&p, i) == bench_place(&other, i);
	assert_true(same < 5);
}

static void a_request_ends_in_the_range(void **state)
{
	(void)state;
	bench_places_init(&p, BENCH_RANDOM, 0, 10000, 4096, 512, 1);
	assert_int_equal(p.n, 12);	/* the last from 5632 to 9728 */
	bench_places_init(&p, BENCH_RANDOM, 0, 4095, 4096, 4096, 1);
	assert_int_equal(p.n, 0);
	bench_places_init(&p, BENCH_SEQUENTIAL, 0, 4 * 4096, 4096, 4096, 1);
	assert_int_equal(bench_place(&p, 3), 3 * 4096);
	assert_int_equal(bench_place(&p, 4), 0);
	bench_places_init(&p, BENCH_BACKWARD, 8192, 4 * 4096, 4096, 4096, 1);
	assert_int_equal(bench_place(&p, 0), 8192 + 3 * 4096);
	assert_int_equal(bench_place(&p, 3), 8192);
	assert_int_equal(bench_place(&p, 4), 8192 + 3 * 4096);
}

static void uniform_ones_are_drawn_each_for_itself(void **state)
{
	u32 none = 0;

	(void)state;
	memset(met, 0, sizeof(met));
	bench_places_init(&p, BENCH_UNIFORM, 0, 4096ull * 10000, 4096, 4096, 3);
	meet(0, 10000);
	for (u32 i = 0; i < 10000; i++)
		none += !met[i];
	assert_true(fabs(none - 10000 / M_E) < 150);	/* as chance has it */
}

/* P(rank k) is proportional to 1 / k^0.99: of 10,000 the first has 9.7 %. */
static void zipf_meets_few_often(void **state)
{
	u32 most = 0, second = 0;
	u64 hundred = 0;

	(void)state;
	memset(met, 0, sizeof(met));
	bench_places_init(&p, BENCH_ZIPF, 0, 4096ull * 10000, 4096, 4096, 3);
	meet(0, 1000000);
	for (u32 i = 0; i < 10000; i++) {
		if (met[i] > most) {
			second = most;
			most = met[i];
		} else if (met[i] > second) {
			second = met[i];
		}
		hundred += met[i] > 970;	/* about rank 100 */
	}
	assert_true(fabs(most / 1e6 - 0.0983) < 0.003);
	assert_true(fabs(second / 1e6 - 0.0495) < 0.003);
	assert_true(hundred > 80 && hundred < 120);
	assert_true(met[0] < most);	/* the popular ones lie anywhere */
}

static void listed_ones_are_the_lists(void **state)
{
	static const u64 list[] = { 77, 5, 1ull << 40 };
	u64 sum = 0;

	(void)state;
	bench_places_list(&p, list, 3, 1);
	for (u64 i = 0; i < 3; i++)
		sum += bench_place(&p, i);
	assert_int_equal(sum, 82 + (1ull << 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_comes_once_before_any_comes_again),
		cmocka_unit_test(they_are_in_no_order),
		cmocka_unit_test(a_seed_gives_the_same_places_and_another_gives_others),
		cmocka_unit_test(a_request_ends_in_the_range),
		cmocka_unit_test(uniform_ones_are_drawn_each_for_itself),
		cmocka_unit_test(zipf_meets_few_often),
		cmocka_unit_test(listed_ones_are_the_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
