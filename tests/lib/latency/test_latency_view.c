// SPDX-License-Identifier: GPL-2.0-only
/* test_latency_view.c - what histogram and status print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "planted.h"
#include "range.h"

static struct latency l;

static char *show(bool utf8, int only, bool brief)
{
	struct canvas c = drawing_begin(utf8);
	const struct latency_view v = {
		.name = "xpcache0", .since = "since it was started, 1:21 ago", .only = only,
		.brief = brief,
	};

	latency_show(&c, &l, &v);
	return drawing_end(&c);
}

static void assert_shown(bool utf8, int only, bool brief, const char *wanted)
{
	char *text = show(utf8, only, brief);

	assert_string_equal(text, wanted);
	free(text);
}

/* ------------------------------------------------------------- canvas ---- */

static void times_have_three_figures(void **state)
{
	static const struct { double ns; const char *text; } wanted[] = {
		{ 0, "0 ns" }, { 85.4, "85 ns" }, { 999.4, "999 ns" }, { 999.6, "1.00 us" },
		{ 9994, "9.99 us" }, { 9996, "10.0 us" }, { 99940, "99.9 us" }, { 99960, "100 us" },
		{ 999400, "999 us" }, { 999600, "1.00 ms" }, { 8.2e6, "8.20 ms" },
		{ 137e9, "137 s" }, { 5e12, "5000 s" },
	};
	struct canvas c = { .utf8 = false };

	(void)state;
	for (u32 i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_string_equal(canvas_time(&c, wanted[i].ns), wanted[i].text);
	c.utf8 = true;
	assert_string_equal(canvas_time(&c, 10400), "10.4 µs");
}

static void assert_bar(bool utf8, double part, const char *wanted)
{
	struct canvas c = drawing_begin(utf8);
	char *text;

	canvas_bar(&c, 4, part);
	fputc('|', c.f);
	text = drawing_end(&c);
	assert_string_equal(text, wanted);
	free(text);
}

static void bars_are_as_long_as_their_part(void **state)
{
	(void)state;
	assert_bar(true, 1, "████|");
	assert_bar(true, 0.5, "██  |");
	assert_bar(true, 0.28, "█▏  |");
	assert_bar(true, 0.22, "▉   |");
	assert_bar(true, 1e-9, "▏   |");
	assert_bar(true, 0, "    |");
	assert_bar(false, 1, "####|");
	assert_bar(false, 0.5, "##  |");
	assert_bar(false, 1e-9, ".   |");
	assert_bar(false, 0, "    |");
}

static void the_locale_decides_on_characters(void **state)
{
	(void)state;
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_true(canvas_utf8());
	setenv("LC_ALL", "C", 1);
	assert_false(canvas_utf8());
	setenv("LC_ALL", "no_such.locale", 1);
	assert_false(canvas_utf8());
}

/* -------------------------------------------------------------- table ---- */

static void the_table_is_of_all_that_hold_anything(void **state)
{
	(void)state;
	planted_disk(&l);
	assert_shown(true, -1, true,
"xpcache0: latency since it was started, 1:21 ago\n"
"\n"
"requests      count part    mean     min     p50     p99   p99.9  p99.99     max\n"
"read-hit      97300  81% 9.63 µs 8.50 µs 9.55 µs 11.0 µs 23.8 µs       -  410 µs\n"
"read-miss      2700   2% 8.20 ms 3.90 ms 8.20 ms 12.4 ms       -       - 12.5 ms\n"
"write         20000  17% 23.0 µs 20.0 µs 23.0 µs 25.9 µs 26.0 µs       - 26.0 µs\n"
"write-stalled    15  <1% 19.2 ms 1.00 ms       -       -       -       - 37.4 ms\n"
"flush           500  <1% 59.9 µs 30.0 µs 59.9 µs       -       -       - 89.9 µs\n"
"\n"
"devices       count part    mean     min     p50     p99   p99.9  p99.99     max\n"
"fast-read     97300  81% 8.80 µs 7.90 µs 8.80 µs 9.68 µs 9.70 µs       - 9.70 µs\n"
"fast-write    20600  17% 19.5 µs 15.0 µs 19.5 µs 23.9 µs 24.0 µs       - 24.0 µs\n"
"slow-read      2700   2% 8.19 ms 3.89 ms 8.19 ms 12.4 ms       -       - 12.5 ms\n"
"\n"
"hits are 97.3 % of reads and 4.1 % of the time that reads took\n"
"hit minus fast leg: +0.75 µs is our own cost (of the medians)\n");
}

static void many_are_told_short(void **state)
{
	(void)state;
	memset(&l, 0, sizeof(l));
	l.recording = true;
	l.class[XP_CLASS_SLOW_READ].bin[xp_bin(8000000)] = 12345678901;
	l.class[XP_CLASS_SLOW_READ].sum = 12345678901ull * 8000000;
	l.class[XP_CLASS_SLOW_READ].most = 8000000;
	l.class[XP_CLASS_SLOW_READ].least = ~8000000ull;
	l.class[XP_CLASS_SLOW_WRITE] = l.class[XP_CLASS_SLOW_READ];
	l.class[XP_CLASS_SLOW_WRITE].bin[xp_bin(8000000)] = 100000;
	l.class[XP_CLASS_SLOW_WRITE].sum = 100000ull * 8000000;
	assert_shown(false, -1, true,
"xpcache0: latency since it was started, 1:21 ago\n"
"\n"
"devices       count part    mean     min     p50     p99   p99.9  p99.99     max\n"
"slow-read     12.3G >99% 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms\n"
"slow-write     100k  <1% 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms 8.00 ms\n"
"\n");
}

static void nothing_is_said_to_be_nothing(void **state)
{
	(void)state;
	memset(&l, 0, sizeof(l));
	strcpy(l.clock, "tsc-unstable");
	assert_shown(false, -1, false,
"xpcache0: latency since it was started, 1:21 ago; not recorded now\n"
"the processors' clocks do not agree: long times may be wrong\n"
"nothing was timed\n");
	planted_disk(&l);
	assert_shown(false, XP_CLASS_DISCARD, false,
"xpcache0: latency since it was started, 1:21 ago\n"
"nothing was timed\n");
}

/* --------------------------------------------------------------- bars ---- */

static void two_modes_are_two_hills(void **state)
{
	(void)state;
	memset(&l, 0, sizeof(l));
	l.recording = true;
	plant(&l.class[XP_CLASS_SLOW_READ], 600, 10000, 10350);
	plant(&l.class[XP_CLASS_SLOW_READ], 300, 10500, 10870);
	plant(&l.class[XP_CLASS_SLOW_READ], 100, 8000000, 8300000);
	assert_shown(true, XP_CLASS_SLOW_READ, false,
"xpcache0: latency since it was started, 1:21 ago\n"
"\n"
"devices       count part    mean     min     p50     p99   p99.9  p99.99     max\n"
"slow-read      1000 100%  824 µs 10.0 µs 10.3 µs 8.27 ms       -       - 8.30 ms\n"
"\n"
"slow-read: 1,000, a row is 1/50 of a decade\n"
"  10.0 µs  ██████████████████████████████████████████████  60.0 %  p50\n"
"  10.5 µs  ███████████████████████                         30.0 %\n"
"        ⋮\n"
"  7.94 ms  ███████▋                                        10.0 %  p99..max\n");
	assert_shown(false, XP_CLASS_SLOW_READ, false,
"xpcache0: latency since it was started, 1:21 ago\n"
"\n"
"devices       count part    mean     min     p50     p99   p99.9  p99.99     max\n"
"slow-read      1000 100%  824 us 10.0 us 10.3 us 8.27 ms       -       - 8.30 ms\n"
"\n"
"slow-read: 1,000, a row is 1/50 of a decade\n"
"  10.0 us  ##############################################  60.0 %  p50\n"
"  10.5 us  #######################                         30.0 %\n"
"        :\n"
"  7.94 ms  ########                                        10.0 %  p99..max\n");
}

static u32 count_lines(const char *text)
{
	u32 n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void too_many_rows_are_merged_and_it_says_so(void **state)
{
	static const struct { u64 to; const char *step; } wanted[] = {
		{ 10000, "1/50 of a decade\n" }, { 200000, "1/25 of a decade, as" },
		{ 300000000, "1/10 of a decade, as" }, { 100000000000, "1/5 of a decade, as" },
	};
	char *all;

	(void)state;
	for (u32 i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char *text;

		memset(&l, 0, sizeof(l));
		for (double ns = 1000; ns < (double)wanted[i].to; ns *= 1.001)
			plant(&l.class[XP_CLASS_WRITE], 3, (u64)ns, (u64)ns);
		text = show(true, XP_CLASS_WRITE, false);
		assert_non_null(strstr(text, wanted[i].step));
		assert_uint_in_range(count_lines(text), 6 + 40, 6 + 60);
		free(text);
	}
	memset(&l, 0, sizeof(l));
	for (u64 ns = 1; ns < 1ull << 50; ns += ns / 64 + 1)	/* all there is */
		xp_histogram_add(&l.class[XP_CLASS_WRITE], ns);
	all = show(true, XP_CLASS_WRITE, false);
	assert_uint_in_range(count_lines(all), 6 + 50, 6 + 60);
	free(all);
}

static void few_are_not_a_row_each(void **state)
{
	char *text;

	(void)state;
	planted_disk(&l);
	text = show(false, XP_CLASS_WRITE_STALLED, false);
	assert_non_null(strstr(text, "1/5 of a decade"));
	assert_uint_in_range(count_lines(text), 5, 15);
	free(text);
}

static u32 columns(const char *line)
{
	u32 n = 0;

	for (; *line && *line != '\n'; line++)
		n += ((unsigned char)*line & 0xc0) != 0x80;
	return n;
}

static void it_fits_a_terminal_of_80_columns(void **state)
{
	(void)state;
	planted_disk(&l);
	for (int utf8 = 0; utf8 < 2; utf8++) {
		char *text = show(utf8, -1, false);

		for (const char *line = text; line; line = strchr(line, '\n')) {
			line += *line == '\n';
			assert_uint_in_range(columns(line), 0, CANVAS_WIDTH);
			assert_true(!*line || strcspn(line, "\n") == 0 ||
				    line[strcspn(line, "\n") - 1] != ' ');
		}
		free(text);
	}
}

/* -------------------------------------------------------------- status ---- */

static void assert_summary(const char *wanted)
{
	struct canvas c = drawing_begin(true);
	char *text;

	latency_summary(&c, &l);
	text = drawing_end(&c);
	assert_string_equal(text, wanted);
	free(text);
}

static void status_has_two_lines(void **state)
{
	(void)state;
	planted_disk(&l);
	assert_summary(
"  p50, p99  hits 9.55 µs, 11.0 µs; misses 8.20 ms, 12.4 ms; writes 23.0 µs, 26.0 µs\n"
"  by time   hits are 97.3 % of reads and 4.1 % of the time that reads took\n");
	memset(&l, 0, sizeof(l));
	assert_summary(
"  p50, p99  hits -, -; misses -, -; writes -, -; not recorded now\n"
"  by time   no reads yet\n");
}

/* ---------------------------------------------------------- JSON, CSV ---- */

static struct json_object *at(struct json_object *o, const char *name)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, name, &v));
	return v;
}

static void json_has_every_class(void **state)
{
	struct json_object *o;
	static struct xp_histogram h;

	(void)state;
	planted_disk(&l);
	o = latency_json_bins(&l, -1);
	for (u32 i = 0; i < XP_CLASSES; i++) {
		assert_int_equal(timing_from_json(at(o, xp_class_name[i]), &h), 0);
		assert_memory_equal(&h, &l.class[i], sizeof(h));
	}
	assert_int_equal(json_object_object_length(o), XP_CLASSES + 1);
	assert_ptr_equal(at(o, "write-through"), at(o, "write-bypass"));
	json_object_put(o);
	o = latency_json_bins(&l, XP_CLASS_WRITE);
	assert_int_equal(json_object_object_length(o), 1);
	json_object_put(o);
	o = latency_json(&l);
	assert_ptr_equal(at(o, "write-through"), at(o, "write-bypass"));
	assert_int_equal(json_object_object_length(o), XP_CLASSES + 1);
	assert_int_equal(json_object_get_int64(at(at(o, "write"), "count")), 20000);
	assert_true(json_object_get_double(at(at(o, "write"), "p50")) > 22900);
	assert_null(at(at(o, "discard"), "mean_ns"));
	assert_null(at(at(o, "flush"), "p99"));
	json_object_put(o);
}

static void csv_names_the_class(void **state)
{
	struct canvas c = drawing_begin(false);
	char *text;

	(void)state;
	memset(&l, 0, sizeof(l));
	plant(&l.class[XP_CLASS_READ_HIT], 3, 100, 100);
	plant(&l.class[XP_CLASS_FLUSH], 1, 10000, 10000);
	latency_csv(&l, -1, "1.500,", c.f);
	latency_csv(&l, XP_CLASS_FLUSH, "", c.f);
	text = drawing_end(&c);
	assert_string_equal(text, "1.500,read-hit,100,101,3,100.000000\n"
				  "1.500,flush,9984,10112,1,100.000000\n"
				  "flush,9984,10112,1,100.000000\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_figures),
		cmocka_unit_test(bars_are_as_long_as_their_part),
		cmocka_unit_test(the_locale_decides_on_characters),
		cmocka_unit_test(the_table_is_of_all_that_hold_anything),
		cmocka_unit_test(many_are_told_short),
		cmocka_unit_test(nothing_is_said_to_be_nothing),
		cmocka_unit_test(two_modes_are_two_hills),
		cmocka_unit_test(too_many_rows_are_merged_and_it_says_so),
		cmocka_unit_test(few_are_not_a_row_each),
		cmocka_unit_test(it_fits_a_terminal_of_80_columns),
		cmocka_unit_test(status_has_two_lines),
		cmocka_unit_test(json_has_every_class),
		cmocka_unit_test(csv_names_the_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
