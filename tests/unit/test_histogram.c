// SPDX-License-Identifier: GPL-2.0-only
/* test_histogram.c - the bins, and their words. */
#include "fixture.h"
#include "histogram.h"

#include <stdlib.h>

static_assert(sizeof(struct xp_histogram) == 16384, "a power of two: a histogram is one allocation");

static void each_bin_begins_where_the_last_ends(void **state)
{
	(void)state;
	for (u32 i = 0; i < XP_BINS; i++) {
		assert_int_equal(xp_bin(xp_bin_low(i)), i);
		if (i < XP_BINS - 1)
			assert_int_equal(xp_bin(xp_bin_low(i + 1) - 1), i);
		if (i >= 128)
			assert_true((xp_bin_low(i + 1) - xp_bin_low(i)) * 64 <= xp_bin_low(i));
		else
			assert_int_equal(xp_bin_low(i), i);
	}
	assert_int_equal(xp_bin_low(XP_BINS), 125ull << 30);
	assert_int_equal(xp_bin(~0ull), XP_BINS - 1);
}

/* fio's plat_val_to_idx() and plat_idx_to_val(), from what they say that they do: the
 * most significant bit of the value, and the six after it. */
static void the_bins_are_those_of_fio(void **state)
{
	(void)state;
	for (u32 group = 1; group < 29; group++) {
		for (u32 offset = 0; offset < 64; offset++) {
			u64 low = ((u64)offset << (group - 1)) + (1ull << (group + 5));

			assert_int_equal(xp_bin(low), (group << 6) + offset);
			assert_int_equal(xp_bin_low((group << 6) + offset), low);
		}
	}
}

static void what_is_added_is_counted_exactly(void **state)
{
	static struct xp_histogram h, twice;

	(void)state;
	memset(&h, 0, sizeof(h));
	memset(&twice, 0, sizeof(twice));
	xp_histogram_add(&h, 10000);
	xp_histogram_add(&h, 8000000);
	xp_histogram_add(&h, 10001);
	assert_int_equal(xp_histogram_count(&h), 3);
	assert_int_equal(h.sum, 8020001);
	assert_int_equal(h.most, 8000000);
	assert_int_equal(~h.least, 10000);
	assert_int_equal(h.bin[xp_bin(10000)], 2);
	xp_histogram_merge(&twice, &h);
	xp_histogram_merge(&twice, &h);
	assert_int_equal(xp_histogram_count(&twice), 6);
	assert_int_equal(twice.sum, 16040002);
	assert_int_equal(~twice.least, 10000);
	assert_int_equal(twice.bin[xp_bin(8000000)], 2);
}

static void its_words_are_cut_where_room_ends(void **state)
{
	static struct xp_histogram h;
	char text[128];
	u32 needs;

	(void)state;
	memset(&h, 0, sizeof(h));
	xp_histogram_print(&h, XP_CLASS_FLUSH, text, sizeof(text));
	assert_string_equal(text, "flush 0 0 0 0\n");
	xp_histogram_add(&h, 0);
	xp_histogram_add(&h, 100);
	xp_histogram_add(&h, 100);
	needs = xp_histogram_print(&h, XP_CLASS_READ_HIT, text, sizeof(text));
	assert_string_equal(text, "read-hit 3 200 0 100 0:1 100:2\n");
	assert_int_equal(needs, strlen(text));
	assert_int_equal(xp_histogram_print(&h, XP_CLASS_READ_HIT, text, 12), needs);
	assert_string_equal(text, "read-hit 3 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bin_begins_where_the_last_ends),
		cmocka_unit_test(the_bins_are_those_of_fio),
		cmocka_unit_test(what_is_added_is_counted_exactly),
		cmocka_unit_test(its_words_are_cut_where_room_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
