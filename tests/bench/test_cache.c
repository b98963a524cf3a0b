// SPDX-License-Identifier: GPL-2.0-only
/* test_cache.c - what the counters of a cache say of a run, where they can be read and where not. */
#define status_read	planted_status
#define latency_read	planted_latency
#include "tools/bench/bench_cache.c"
#undef status_read
#undef latency_read

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static u64 hits, misses;
static bool broken;

int planted_status(const char *name, struct status *s)
{
	(void)name;
	if (broken)
		return -EIO;
	memset(s, 0, sizeof(*s));
	snprintf(s->line, sizeof(s->line),
		 "online read_hits %" PRIu64 " read_misses %" PRIu64, hits, misses);
	return status_parse(s);
}

int planted_latency(const char *name, struct latency *l)
{
	(void)name;
	memset(l, 0, sizeof(*l));
	return -EOPNOTSUPP;
}

static struct bench_cache cache;

/* A run of 90 hits and 10 misses, whose counters cannot be read before, or after. */
static struct json_object *run_of(bool before, bool after)
{
	struct json_object *run = json_object_new_object();

	hits = 1000;
	misses = 5000;
	broken = !before;
	bench_cache_before(&cache);
	hits += 90;
	misses += 10;
	broken = !after;
	bench_cache_after(&cache, run);
	return run;
}

static void a_run_has_its_own(void **state)
{
	struct json_object *run = run_of(true, true);

	(void)state;
	assert_int_equal(bench_result_number(run, "hits"), 90);
	assert_int_equal(bench_result_number(run, "misses"), 10);
	json_object_put(run);
}

static void what_cannot_be_read_is_not_told(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct json_object *run = run_of(i & 1, i & 2);

		assert_null(bench_result_get(run, "hits"));
		assert_null(bench_result_get(run, "misses"));
		json_object_put(run);
	}
}

/* A second whose beginning is not known has no ratio; the next one has. */
static void nor_of_a_second(void **state)
{
	struct json_object *run = run_of(false, true);

	(void)state;
	json_object_put(run);
	hits += 30;
	assert_true(bench_cache_look(&cache) < 0);
	hits += 30;
	misses += 10;
	assert_true(bench_cache_look(&cache) == 0.75);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_has_its_own),
		cmocka_unit_test(what_cannot_be_read_is_not_told),
		cmocka_unit_test(nor_of_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
