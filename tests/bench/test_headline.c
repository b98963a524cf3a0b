// SPDX-License-Identifier: GPL-2.0-only
/* test_headline.c - what a cache hides, of planted histograms. */
#include "lib/json.h"
#include "tools/bench/bench_headline.h"
#include "histogram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct xp_histogram u, c, r;
static struct bench_headline h;

void xp_assert_failed(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: %s", file, line, what);
	abort();
}

static int begin(void **state)
{
	(void)state;
	memset(&u, 0, sizeof(u));
	memset(&c, 0, sizeof(c));
	memset(&r, 0, sizeof(r));
	return 0;
}

/* @n requests around @ns, up to @spread of it to either side. */
static void plant(struct xp_histogram *to, u32 n, double ns, double spread)
{
	for (u32 i = 0; i < n; i++)
		xp_histogram_add(to, (u64)(ns * (1 + spread * (2.0 * i / n - 1))));
}

static void near(double is, double should, double tolerance)
{
	if (!(fabs(is - should) <= tolerance))
		fail_msg("%g is not within %g of %g", is, tolerance, should);
}

/* 97.3 % hits at 9.5 us before an 8.2 ms disk: hide 97 %, and are 35x of a possible 863x. */
static void the_example_of_the_definition(void **state)
{
	(void)state;
	plant(&u, 10000, 8200e3, 0.2);
	plant(&r, 100000, 9500, 0.1);
	plant(&c, 97300, 9500, 0.1);
	plant(&c, 2700, 8200e3, 0.2);
	bench_headline_of(&h, &u, &c, &r, 0.973);
	near(h.hidden[BENCH_HIDDEN_MEAN], 0.973, 0.0005);
	assert_int_equal((int)h.faster, 35);
	assert_int_equal((int)h.limit, 863);
	near(h.waiting, 0.96, 0.002);
	near(h.cover, 0.973, 1e-9);
	near(1 / (1 - h.cover), 37, 0.1);
	near(h.tax_ns, 0, 100);
	near(h.hidden[BENCH_HIDDEN_50], 1, 0.001);
	assert_true(h.hidden[BENCH_HIDDEN_99] < 0.2);
	assert_string_equal(h.verdict, "Mostly hidden");
	assert_string_equal(h.sentence, "Your cache hides 97% of the disk's wait.");
	assert_true(bench_headline_agrees(&h, 100000));
}

static void a_tax_is_that_of_hits_alone(void **state)
{
	(void)state;
	plant(&u, 1000, 90e3, 0.3);
	plant(&r, 100000, 9500, 0.1);
	plant(&c, 50000, 10400, 0.1);
	plant(&c, 50000, 95e3, 0.3);
	bench_headline_of(&h, &u, &c, &r, 0.5);
	near(h.tax_ns, 900, 150);
	near(h.cover, 0.5, 1e-6);
	assert_string_equal(h.verdict, "Partly hidden");
}

static void a_full_cache_is_as_fast_as_the_drive(void **state)
{
	(void)state;
	plant(&u, 1000, 8200e3, 0.2);
	plant(&r, 100000, 9500, 0.1);
	plant(&c, 100000, 10400, 0.1);
	bench_headline_of(&h, &u, &c, &r, 1);
	assert_string_equal(h.verdict, "As fast as the fast drive");
	near(h.cover, 1, 0);
	near(h.waiting, 0, 0);
	near(h.hidden[BENCH_HIDDEN_MEAN], 0.9999, 0.0001);
	assert_string_equal(h.sentence, "Your cache hides 99.9% of the disk's wait.");
}

static void a_cold_one_says_so(void **state)
{
	(void)state;
	plant(&u, 1000, 8200e3, 0.2);
	plant(&r, 100000, 9500, 0.1);
	plant(&c, 30, 10400, 0.1);
	plant(&c, 970, 8200e3, 0.2);
	bench_headline_of(&h, &u, &c, &r, 0.03);
	assert_string_equal(h.verdict, "Not helping");
	assert_string_equal(h.sentence, "Your cache hides 3% of the disk's wait. It is cold: "
			    "97% of these reads were not in it.");
	near(h.cover, 0.03, 1e-6);
	assert_true(h.waiting > 0.99);
}

static void nothing_in_it_has_no_tax(void **state)
{
	(void)state;
	plant(&u, 1000, 8200e3, 0.2);
	plant(&r, 1000, 9500, 0.1);
	plant(&c, 1000, 8300e3, 0.2);
	bench_headline_of(&h, &u, &c, &r, 0);
	near(h.cover, 0, 0);
	assert_true(isnan(h.tax_ns));
	assert_true(h.hidden[BENCH_HIDDEN_MEAN] < 0);
	assert_string_equal(h.verdict, "Not helping");
}

static void a_hit_or_two_have_none_either(void **state)
{
	(void)state;
	plant(&u, 1000, 8200e3, 0.2);
	plant(&r, 1000, 9500, 0.1);
	plant(&c, 1000, 8300e3, 0.2);
	plant(&c, 19, 10400, 0.1);
	bench_headline_of(&h, &u, &c, &r, 0.019);
	assert_true(isnan(h.tax_ns));
	plant(&c, 1, 10400, 0.1);
	bench_headline_of(&h, &u, &c, &r, 0.02);
	near(h.tax_ns, 900, 500);
}

/* Hits far from what the raw device does, and nothing in between: still hits. */
static void a_great_tax_is_no_miss(void **state)
{
	(void)state;
	plant(&u, 1000, 8000e3, 0.1);
	plant(&r, 10000, 120e3, 0.05);
	plant(&c, 9200, 380e3, 0.3);
	plant(&c, 800, 8000e3, 0.1);
	bench_headline_of(&h, &u, &c, &r, 0.92);
	near(h.cover, 0.92, 1e-6);
	near(h.tax_ns, 260e3, 30e3);
	assert_true(bench_headline_agrees(&h, 10000));
}

static void the_same_wait_is_nothing_hidden(void **state)
{
	(void)state;
	plant(&u, 1000, 8000e3, 0.1);
	plant(&r, 10000, 120e3, 0.05);
	plant(&c, 1000, 8010e3, 0.1);
	bench_headline_of(&h, &u, &c, &r, 0);
	assert_string_equal(h.sentence, "Your cache hides nothing of the disk's wait. It is cold: "
			    "100% of these reads were not in it.");
}

static void slower_than_none_is_told(void **state)
{
	(void)state;
	plant(&u, 1000, 100e3, 0.1);
	plant(&r, 1000, 10e3, 0.1);
	plant(&c, 1000, 190e3, 0.1);
	bench_headline_of(&h, &u, &c, &r, 0.9);
	near(h.hidden[BENCH_HIDDEN_MEAN], -1, 0.01);
	assert_string_equal(h.verdict, "Slower than no cache");
	assert_string_equal(h.sentence, "Your cache adds 100% to the disk's wait.");
	assert_false(bench_headline_agrees(&h, 1000));
}

static void where_there_is_nothing_to_hide_nothing_is_claimed(void **state)
{
	(void)state;
	plant(&u, 1000, 10.5e3, 0.1);
	plant(&r, 1000, 10e3, 0.1);
	plant(&c, 1000, 10.2e3, 0.1);
	bench_headline_of(&h, &u, &c, &r, NAN);
	for (u32 i = 0; i < BENCH_HIDDEN; i++)
		assert_true(isnan(h.hidden[i]));
	assert_non_null(strstr(h.sentence, "no wait to hide"));
}

static void too_few_requests_give_no_percentile(void **state)
{
	(void)state;
	plant(&u, 900, 8200e3, 0.2);
	plant(&r, 100000, 9500, 0.1);
	plant(&c, 100000, 9500, 0.1);
	bench_headline_of(&h, &u, &c, &r, 1);
	assert_false(isnan(h.hidden[BENCH_HIDDEN_50]));
	assert_true(isnan(h.hidden[BENCH_HIDDEN_99]));
	assert_true(isnan(h.hidden[BENCH_HIDDEN_999]));
}

static void what_cannot_be_told_is_null(void **state)
{
	struct json_object *o, *value;

	(void)state;
	plant(&u, 900, 8200e3, 0.2);
	plant(&r, 1000, 9500, 0.1);
	plant(&c, 1000, 9500, 0.1);
	bench_headline_of(&h, &u, &c, &r, NAN);
	o = bench_headline_json(&h);
	assert_true(json_object_object_get_ex(o, "hit_ratio", &value));
	assert_null(value);
	assert_true(json_object_object_get_ex(o, "hidden", &value));
	assert_true(json_object_object_get_ex(value, "99.9", &value));
	assert_null(value);
	json_object_put(o);
}

#define TEST(name)	cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_example_of_the_definition),
		TEST(a_tax_is_that_of_hits_alone),
		TEST(a_full_cache_is_as_fast_as_the_drive),
		TEST(a_cold_one_says_so),
		TEST(nothing_in_it_has_no_tax),
		TEST(a_hit_or_two_have_none_either),
		TEST(a_great_tax_is_no_miss),
		TEST(the_same_wait_is_nothing_hidden),
		TEST(slower_than_none_is_told),
		TEST(where_there_is_nothing_to_hide_nothing_is_claimed),
		TEST(too_few_requests_give_no_percentile),
		TEST(what_cannot_be_told_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
