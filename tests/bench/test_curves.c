// SPDX-License-Identifier: GPL-2.0-only
/* test_curves.c - what is read off the runs of a result, and what they are reason to warn of. */
#include "lib/json.h"
#include "tools/bench/bench.h"
#include "platform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static struct json_object *result;

u64 __wrap_bench_cache_bytes(const struct bench_cache *c);
u64 __wrap_bench_cache_bytes(const struct bench_cache *c)
{
	(void)c;
	return 0;
}

static int end(void **state)
{
	(void)state;
	json_object_put(result);
	result = NULL;
	return 0;
}

/* Of these runs. */
static void read_off(const char *runs)
{
	char text[8192];

	snprintf(text, sizeof(text), "{ \"warnings\": [], \"runs\": [ %s ] }", runs);
	result = json_tokener_parse(text);
	assert_non_null(result);
	bench_curves(result);
	bench_warnings(result);
}

static struct json_object *row(const char *curve, size_t i)
{
	struct json_object *o = json_object_array_get_idx(bench_result_get(result, curve), i);

	assert_non_null(o);
	return o;
}

static bool warned_of(const char *code)
{
	struct json_object *all = bench_result_get(result, "warnings");

	for (size_t i = 0; i < json_object_array_length(all); i++)
		if (!strcmp(bench_result_text(json_object_array_get_idx(all, i), "code"), code))
			return true;
	return false;
}

#define SET(done)	\
	"{ \"id\": \"w/C/uniform-4.00-warming\", \"test\": \"working-set\", \"requests\": 1000, " \
	"  \"read\": { \"count\": " #done " } }, " \
	"{ \"id\": \"w/C/uniform-4.00\", \"test\": \"working-set\", \"at\": 4, \"hits\": 30, \"misses\": 90, " \
	"  \"pattern\": \"random\", \"read\": { \"mean_ns\": 5000 } }"

static void a_warm_set_is_told(void **state)
{
	(void)state;
	read_off(SET(901));
	assert_true(bench_result_number(row("working_set", 0), "hit_ratio") == 0.25);
	assert_true(bench_result_number(row("working_set", 0), "mean_ns") == 5000);
	assert_true(bench_result_number(row("working_set", 0), "warmed") == 0.901);
	assert_false(warned_of("warming"));
}

static void one_that_is_not_warm_is_not(void **state)
{
	(void)state;
	read_off(SET(120));
	assert_null(bench_result_get(row("working_set", 0), "hit_ratio"));
	assert_null(bench_result_get(row("working_set", 0), "mean_ns"));
	assert_true(bench_result_number(row("working_set", 0), "warmed") == 0.12);
	assert_true(warned_of("warming"));
}

/* ---------------------------------------------------------- seconds ---- */

#define SECONDS	\
	"\"held_before\": 30, \"slots\": 90, \"hit_ratio_per_second\": [ 0.5, null ], \"per_second\": [ " \
	"  { \"n\": 2, \"mean_ns\": 700, \"bytes\": 8000, \"heat\": [ [ 28, 2 ] ] }, " \
	"  { \"n\": 0, \"mean_ns\": 0, \"bytes\": 0, \"heat\": [ ] } ]"

static struct json_object *point(struct json_object *curve, size_t i)
{
	return json_object_array_get_idx(bench_result_get(curve, "points"), i);
}

static void a_second_without_a_request_has_no_mean(void **state)
{
	(void)state;
	read_off("{ \"id\": \"writes/1\", \"test\": \"writes\", " SECONDS " }, "
		 "{ \"id\": \"writes/2\", \"test\": \"writes\", " SECONDS " }, "
		 "{ \"id\": \"warmup/C\", \"test\": \"warmup\", " SECONDS " }");
	for (size_t i = 0; i < 2; i++) {	/* of each device a curve */
		struct json_object *curve = row("writes", i);

		assert_string_equal(bench_result_text(curve, "run"), i ? "writes/2" : "writes/1");
		assert_true(bench_result_number(point(curve, 0), "mean_ns") == 700);
		assert_null(bench_result_get(point(curve, 1), "mean_ns"));
		assert_null(bench_result_get(point(curve, 1), "p99_ns"));
	}
	assert_null(bench_result_get(point(bench_result_get(result, "warmup"), 1), "mean_ns"));
	assert_true(bench_result_number(bench_result_get(result, "warmup"), "held_before") == 30);
	assert_true(bench_result_number(bench_result_get(result, "warmup"), "slots") == 90);
}

static void hits_are_those_of_their_second(void **state)
{
	struct json_object *runs = json_object_new_array(), *hits = json_object_new_array();

	(void)state;
	bench_result_hits(hits, 0, 0.1);
	bench_result_hits(hits, 1, 0.25);
	bench_result_hits(hits, 1, 0.3);
	bench_result_hits(hits, 4, 0.5);	/* two of them stood still */
	bench_result_hits(hits, 5, -1);
	assert_string_equal(json_object_to_json_string_ext(hits, JSON_C_TO_STRING_PLAIN), "[0.25,null,null,0.5,null]");
	json_object_put(hits);
	for (u32 i = 0; i < 2; i++)
		bench_result_take(runs, json_tokener_parse("{ \"id\": \"h\", \"per_second\": [ ], "
							   "\"hit_ratio_per_second\": [ 0.5, null ] }"));
	hits = bench_result_get(json_object_array_get_idx(runs, 0), "hit_ratio_per_second");
	assert_string_equal(json_object_to_json_string_ext(hits, JSON_C_TO_STRING_PLAIN), "[0.5,null,0.5,null]");
	json_object_put(runs);
}

/* ------------------------------------------------------------ shown ---- */

static char shown[8192];

static void show(void)
{
	FILE *f = tmpfile();
	int was = dup(1);
	size_t n;

	assert_non_null(f);
	fflush(stdout);
	dup2(fileno(f), 1);
	bench_show(result);
	fflush(stdout);
	dup2(was, 1);
	close(was);
	rewind(f);
	n = fread(shown, 1, sizeof(shown) - 1, f);
	shown[n] = '\0';
	fclose(f);
}

/* A hundred requests of 100 ns. */
#define LEG(id, ended_by)	\
	"{ \"id\": \"" id "\", \"test\": \"headline\", \"size\": 65536, \"depth\": 2, \"threads\": 2, " \
	"  \"pattern\": \"random\", \"ended_by\": \"" ended_by "\", \"read\": { \"count\": 100, \"sum_ns\": 10000, " \
	"  \"min_ns\": 100, \"max_ns\": 100, \"bins\": [ [ 100, 101, 100 ] ] } }"

static void a_headline_says_what_was_read(void **state)
{
	(void)state;
	read_off(LEG("h/U", "places") ", " LEG("h/C", "time") ", " LEG("h/R", "time"));
	bench_result_add(result, "headline", json_tokener_parse(
		"{ \"u\": \"h/U\", \"c\": \"h/C\", \"r\": \"h/R\", \"faster\": 1, \"limit\": 1, \"cover\": 1 }"));
	show();
	assert_non_null(strstr(shown, "64K random read, 4 at a time"));
	assert_non_null(strstr(shown, "the range is too small (100 samples)"));
	assert_non_null(strstr(shown, "needs 10x longer (100 samples)"));
}

#define TEST(name)	cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_warm_set_is_told),
		TEST(a_second_without_a_request_has_no_mean),
		TEST(hits_are_those_of_their_second),
		TEST(a_headline_says_what_was_read),
		TEST(one_that_is_not_warm_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
