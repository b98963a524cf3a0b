// SPDX-License-Identifier: GPL-2.0-only
/* test_plan.c - the runs that a test and the options become; nothing is measured. */
#include "lib/exit.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"
#include "platform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define MIB	(1024u * 1024)

static struct bench b;
static u64 cache_bytes;

u64 __wrap_bench_cache_bytes(const struct bench_cache *c);
u64 __wrap_bench_cache_bytes(const struct bench_cache *c)
{
	(void)c;
	return cache_bytes;
}

static void add_target(enum bench_leg leg, u64 bytes)
{
	struct bench_target *t = &b.target[b.nr_targets++];

	t->leg = leg;
	t->bytes = bytes;
	t->dev.logical = 512;
	snprintf(t->dev.path, sizeof(t->dev.path), "/dev/planned");
}

static int begin(void **state)
{
	(void)state;
	memset(&b, 0, sizeof(b));
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(b.plan.run);
	return 0;
}

static void add_cache(u64 bytes, u64 slow)
{
	b.cache = (void *)&cache_bytes;		/* not looked into */
	cache_bytes = bytes;
	add_target(BENCH_U, slow);
	add_target(BENCH_C, slow);
	add_target(BENCH_R, bytes);
}

static void plan(const char *test)
{
	b.setup.tests = 1u << bench_test_find(test);
	assert_int_equal(bench_plan_make(&b), XC_OK);
}

static const struct bench_plan_run *run_called(const char *id)
{
	for (u32 i = 0; i < b.plan.nr; i++)
		if (!strcmp(b.plan.run[i].id, id))
			return &b.plan.run[i];
	fail_msg("there is no run %s", id);
	return NULL;
}

/* ---------------------------------------------------------- warming ---- */

static void a_set_is_warmed_by_reading_all_of_it(void **state)
{
	const struct bench_plan_run *run;

	(void)state;
	add_cache(64ull * MIB, 4096ull * MIB);
	b.setup.seconds = 1;
	b.setup.size = 8192;
	b.setup.depth = 3;
	plan("working-set");
	run = run_called("working-set/C/uniform-4.00-warming");
	assert_int_equal(run->requests * run->size, 256ull * MIB);
	assert_int_equal(run->pattern, BENCH_BACKWARD);	/* a stream would not stay in the cache */
	assert_int_equal(run->bytes, 256ull * MIB);
	assert_true(run->seconds >= 600);
	assert_int_equal(run->engine, BENCH_PSYNC);
	run = run_called("working-set/C/zipf-1.00-warming");
	assert_int_equal(run->requests * run->size, 64ull * MIB);
	run = run_called("working-set/C/zipf-2.00-warming");
	assert_int_equal(run->requests * run->size, 2 * 128ull * MIB);
	assert_int_equal(run->pattern, BENCH_ZIPF);
	run = run_called("working-set/C/zipf-2.00");
	assert_int_equal(run->size, 8192);
	assert_int_equal(run->depth, 3);
	assert_int_equal(run->requests, 0);
}

/* ----------------------------------------------------- what prepares ---- */

static void options_are_for_what_is_measured(void **state)
{
	const struct bench_plan_run *run;

	(void)state;
	add_target(BENCH_ALONE, 1024ull * MIB);
	b.target[0].writable = true;
	b.setup = (struct bench_setup){
		.destructive = true, .precondition = true, .size = 256 << 10, .depth = 2, .threads = 3,
		.rate = 10, .seconds = 5,
	};
	plan("fill");
	run = run_called("precondition/1");
	assert_int_equal(run->requests * run->size, 2 * 1024ull * MIB);
	assert_int_equal(run->size, 4096);
	assert_int_equal(run->seconds, 0);		/* the requests end it, however long that takes */
	assert_true(run->rate == 0);
	run = run_called("fill/1/write-50");
	assert_int_equal(run->requests * run->size, 256ull * MIB);
	assert_int_equal(run->threads, 1);
	assert_int_equal(run->seconds, 0);
	run = run_called("fill/1/read-50");
	assert_int_equal(run->size, 256 << 10);
	assert_int_equal(run->threads, 3);
	assert_true(run->seconds == 5);
}

/* ------------------------------------------------------- what it says ---- */

static void no_two_runs_have_one_name(void **state)
{
	(void)state;
	add_cache(64ull * MIB, 4096ull * MIB);
	b.setup.rate = 7;
	plan("all");
	for (u32 i = 0; i < b.plan.nr; i++)
		for (u32 k = 0; k < i; k++)
			if (!b.plan.run[i].rounds || b.plan.run[i].at == b.plan.run[k].at)
				assert_string_not_equal(b.plan.run[i].id, b.plan.run[k].id);
}

/* All others change what is in the cache. */
static void warming_up_comes_before_what_warms(void **state)
{
	u32 at = 0;

	(void)state;
	add_cache(64ull * MIB, 4096ull * MIB);
	plan("all");
	while (strcmp(b.plan.run[at].id, "warmup/C") != 0)
		assert_string_equal(b.plan.run[at++].test, "headline");
}

static void an_option_is_in_the_name(void **state)
{
	(void)state;
	add_target(BENCH_ALONE, 1024ull * MIB);
	b.target[0].writable = b.setup.destructive = true;
	b.setup.size = 8192;
	b.setup.depth = 7;
	plan("writes");
	assert_int_equal(run_called("writes/1/8K-QD7")->depth, 7);
	plan("distribution");
	assert_int_equal(run_called("distribution/1/QD7")->size, 8192);
}

/* A list has places of 4 KiB: of bigger requests it says nothing. */
static void listed_places_are_for_blocks(void **state)
{
	(void)state;
	add_cache(64ull * MIB, 4096ull * MIB);
	b.setup.size = 512;
	plan("headline");
	assert_true(run_called("headline/C")->listed);
	b.plan.nr = 0;
	b.setup.size = 4096;
	plan("headline");
	assert_true(run_called("headline/C")->listed);
	b.plan.nr = 0;
	b.setup.size = 65536;
	plan("headline");
	assert_false(run_called("headline/C")->listed);
}

static void the_page_cache_is_not_read_again(void **state)
{
	const struct bench_plan_run *run;

	(void)state;
	add_target(BENCH_ALONE, 64ull * MIB);
	plan("randread");
	run = run_called("randread/1/read-ahead");
	assert_int_equal(run->requests * run->size, 64ull * MIB);
	assert_true(run->by_places && run->dropped == 0);
	assert_int_equal(run_called("randread/1/4Kx1")->requests, 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_is_warmed_by_reading_all_of_it),
		TEST(no_two_runs_have_one_name),
		TEST(warming_up_comes_before_what_warms),
		TEST(an_option_is_in_the_name),
		TEST(listed_places_are_for_blocks),
		TEST(the_page_cache_is_not_read_again),
		TEST(options_are_for_what_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
