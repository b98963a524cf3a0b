// SPDX-License-Identifier: GPL-2.0-only
/* test_latency.c - the target's answer, and what its histograms say together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "planted.h"

static struct latency l, read;

static void the_answer_is_read_exactly(void **state)
{
	char *text;

	(void)state;
	planted_disk(&l);
	text = planted_answer(&l);
	assert_int_equal(latency_parse(text, &read), 0);
	assert_memory_equal(&l, &read, sizeof(l));
	free(text);
	memset(&l, 0, sizeof(l));
	strcpy(l.clock, "tsc-unstable");
	text = planted_answer(&l);
	assert_int_equal(latency_parse(text, &read), 0);
	assert_false(read.recording);
	assert_string_equal(read.clock, "tsc-unstable");
	assert_int_equal(read.ns, 0);
	free(text);
}

/* @to in place of the first @from of a good answer. */
static void assert_refused(const char *good, const char *from, const char *to)
{
	const char *at = strstr(good, from);
	char *bad = malloc(strlen(good) + strlen(to) + 1);

	assert_non_null(at);
	sprintf(bad, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	if (latency_parse(bad, &read) != -EPROTO)
		fail_msg("\"%s\" for \"%s\" is taken", to, from);
	free(bad);
}

static void another_answer_is_refused(void **state)
{
	char *good;

	(void)state;
	planted_disk(&l);
	good = planted_answer(&l);
	assert_refused(good, "histogram", "histograms");
	assert_refused(good, "histogram on", "histogram maybe");
	assert_refused(good, "tsc", "a-clock-that-nobody-knows");
	assert_refused(good, "81234567890", "-1");
	assert_refused(good, "81234567890", "812345678908123456789081234567890");
	assert_refused(good, "81234567890\n", "81234567890 ");
	assert_refused(good, "read-miss", "read-hit");		/* in this order */
	assert_refused(good, "read-miss", "read-mess");
	assert_refused(good, "read-hit ", "read-hit 1");
	assert_refused(good, "\nslow-flush 0 0 0 0\n", "");	/* all of them */
	good[strlen(good) / 2] = '\0';
	assert_int_equal(latency_parse(good, &read), -EPROTO);
	assert_int_equal(latency_parse("", &read), -EPROTO);
	free(good);
}

static void between_two_readings_is_what_came(void **state)
{
	static struct latency later;

	(void)state;
	planted_disk(&l);
	later = l;
	later.ns += 2000000000;
	plant(&later.class[XP_CLASS_READ_MISS], 20, 100000, 200000);
	assert_true(latency_subtract(&later, &l));
	assert_int_equal(later.ns, 2000000000);
	assert_int_equal(xp_histogram_count(&later.class[XP_CLASS_READ_MISS]), 20);
	assert_int_equal(xp_histogram_count(&later.class[XP_CLASS_READ_HIT]), 0);
	assert_int_equal(later.class[XP_CLASS_WRITE].sum, 0);
}

/* Sooner or later after its start than the earlier reading. */
static void a_cache_started_anew_has_no_earlier_reading(void **state)
{
	static struct latency later;

	(void)state;
	planted_disk(&l);
	for (int i = 0; i < 2; i++) {
		memset(&later, 0, sizeof(later));
		later.ns = i ? 2 * l.ns : l.ns / 2;
		plant(&later.class[XP_CLASS_READ_HIT], 7, 9000, 9100);
		assert_false(latency_subtract(&later, &l));
		assert_int_equal(xp_histogram_count(&later.class[XP_CLASS_READ_HIT]), 7);
	}
}

static void hits_are_many_reads_and_little_of_their_time(void **state)
{
	(void)state;
	planted_disk(&l);
	assert_true(fabs(latency_hits(&l) - 0.973) < 1e-12);
	assert_true(fabs(latency_hits_by_time(&l) - 0.0406) < 0.0001);
	plant(&l.class[XP_CLASS_READ_BYPASS], 100000, 8000000, 8200000);
	assert_true(fabs(latency_hits(&l) - 0.4865) < 1e-12);
	memset(&l, 0, sizeof(l));
	plant(&l.class[XP_CLASS_WRITE], 100, 9000, 9100);
	assert_true(isnan(latency_hits(&l)) && isnan(latency_hits_by_time(&l)));
}

static void our_own_cost_is_the_medians_difference(void **state)
{
	(void)state;
	planted_disk(&l);
	assert_true(fabs(latency_own_cost(&l) - 750) < 100);
	/* What a mean would take for ours: writeback reads, a few, each a millisecond. */
	plant(&l.class[XP_CLASS_FAST_READ], 1000, 1000000, 1100000);
	assert_true(fabs(latency_own_cost(&l) - 750) < 100);
	plant(&l.class[XP_CLASS_FAST_READ], 97300, 1000000, 1100000);
	assert_true(isnan(latency_own_cost(&l)));	/* most of them are not hits */
	memset(&l, 0, sizeof(l));
	plant(&l.class[XP_CLASS_READ_HIT], 19, 9000, 9100);
	plant(&l.class[XP_CLASS_FAST_READ], 19, 8000, 8100);
	assert_true(isnan(latency_own_cost(&l)));	/* a median needs 20 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_read_exactly),
		cmocka_unit_test(another_answer_is_refused),
		cmocka_unit_test(between_two_readings_is_what_came),
		cmocka_unit_test(a_cache_started_anew_has_no_earlier_reading),
		cmocka_unit_test(hits_are_many_reads_and_little_of_their_time),
		cmocka_unit_test(our_own_cost_is_the_medians_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
