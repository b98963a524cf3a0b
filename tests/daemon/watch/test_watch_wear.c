// SPDX-License-Identifier: GPL-2.0-only
/* test_watch_wear.c - a drive's log of its health, and what its life has left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "daemon/watch/watch.h"
#include "platform.h"

static u8 page[WEAR_LOG];

/* 38 degrees, 98 % spare of 10 at least, 7 % used, 81,234,567 units written. */
static void plant(void)
{
	static const u8 first[] = { 0x02, 0x37, 0x01, 98, 10, 7 };

	memset(page, 0, sizeof(page));
	memcpy(page, first, sizeof(first));
	memset(page + 32, 0xff, 8);	/* data units read are others */
	for (int i = 0; i < 8; i++)
		page[48 + i] = (u8)(81234567ull >> 8 * i);
}

static void a_log_is_decoded(void **state)
{
	struct wear w;

	(void)state;
	plant();
	assert_int_equal(wear_decode(page, &w), 0);
	assert_true(w.known);
	assert_int_equal(w.warning, 2);
	assert_int_equal(w.spare, 98);
	assert_int_equal(w.spare_limit, 10);
	assert_int_equal(w.used, 7);
	assert_true(w.written == 81234567.0 * 512000);
	page[48 + 15] = 1;	/* more than 64 bits */
	assert_int_equal(wear_decode(page, &w), 0);
	assert_true(fabs(w.written / (ldexp(1, 120) * 512000) - 1) < 1e-12);
}

static void what_is_no_log_is_refused(void **state)
{
	struct wear w;

	(void)state;
	memset(page, 0xff, sizeof(page));
	assert_int_equal(wear_decode(page, &w), -EPROTO);
	assert_false(w.known);
	plant();
	page[4] = 101;
	assert_int_equal(wear_decode(page, &w), -EPROTO);
	plant();
	page[3] = 101;
	assert_int_equal(wear_decode(page, &w), -EPROTO);
}

static void what_is_left_follows_from_what_was_used(void **state)
{
	struct wear w = { .known = true, .used = 20, .written = 100e12 };

	(void)state;
	assert_true(wear_left(&w) == 400e12);
	w.used = 0;
	assert_true(isnan(wear_left(&w)));
	w.used = 100;
	assert_true(wear_left(&w) == 0);
	w.used = 255;
	assert_true(wear_left(&w) == 0);
	w.known = false;
	assert_true(isnan(wear_left(&w)));
}

static void controllers_are_found_by_name(void **state)
{
	static const struct {
		const char *kname, *path;
	} row[] = {
		{ "nvme0n1", "/dev/nvme0" }, { "nvme12n3p45", "/dev/nvme12" }, { "sda", NULL },
		{ "nvme0", NULL }, { "nvme0n1x", NULL }, { "dm-0", NULL }, { "", NULL },
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(wear_controller(row[i].kname, path, sizeof(path)), !!row[i].path);
		if (row[i].path)
			assert_string_equal(path, row[i].path);
	}
}

static void a_device_that_is_not_nvme_is_not_asked(void **state)
{
	struct wear w;

	(void)state;
	assert_int_equal(wear_read(0, &w), -ENODEV);
}

static void the_rate_is_that_of_a_day_or_two(void **state)
{
	struct wear_rate r = { .begun = false };

	(void)state;
	assert_true(isnan(wear_rate(&r, 1000, 5000)));
	assert_true(isnan(wear_rate(&r, 1000 + 3599, 5000 + 3599)));
	assert_true(wear_rate(&r, 1000 + 3600, 5000 + 3600) == 1);
	for (u32 day = 1; day <= 4; day++)
		assert_true(wear_rate(&r, 1000 + 86400.0 * day, 5000 + 86400ull * day) == 1);
	/* Ten times as much from now on: a day later the mean, two days later that. */
	assert_true(fabs(wear_rate(&r, 1000 + 86400.0 * 5, 5000 + 86400ull * 14) - 10) < 1e-9);
	assert_true(wear_rate(&r, 1000 + 86400.0 * 6, 5000 + 86400ull * 24) == 10);
	assert_true(isnan(wear_rate(&r, 1000 + 86400.0 * 6 + 1, 7)));	/* started anew */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_decoded),
		cmocka_unit_test(what_is_no_log_is_refused),
		cmocka_unit_test(what_is_left_follows_from_what_was_used),
		cmocka_unit_test(controllers_are_found_by_name),
		cmocka_unit_test(a_device_that_is_not_nvme_is_not_asked),
		cmocka_unit_test(the_rate_is_that_of_a_day_or_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
