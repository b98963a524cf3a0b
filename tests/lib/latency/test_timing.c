// SPDX-License-Identifier: GPL-2.0-only
/* test_timing.c - what lib/latency/timing.c says of histograms, beside the numbers themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "lib/json.h"
#include "lib/latency/timing.h"
#include "histogram.h"

/* ------------------------------------------------------------- numbers ---- */

static u64 seed = 1;

/* Above 0 and below 1, the same ones in every run. */
static double even(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(seed >> 11) + 0.5) / (double)(1ull << 53);
}

static double shape_even(void)		{ return 1000 + 1e6 * even(); }
static double shape_by_log(void)	{ return pow(10, 3 + 6 * even()); }
static double shape_tailed(void)	{ return 8000 - 20000 * log(even()); }
static double shape_short(void)		{ return 1 + 126 * even(); }

static double shape_normal(void)
{
	return 50000 * exp(0.5 * sqrt(-2 * log(even())) * cos(2 * M_PI * even()));
}

static double (*const shapes[])(void) = {
	shape_even, shape_by_log, shape_tailed, shape_short, shape_normal,
};

#define SHAPES	(sizeof(shapes) / sizeof(*shapes))
#define MANY	200000u

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* @n of a shape into both, the array sorted. */
static void draw(double (*shape)(void), u32 n, struct xp_histogram *h, u64 *sorted)
{
	memset(h, 0, sizeof(*h));
	for (u32 i = 0; i < n; i++) {
		sorted[i] = (u64)shape();
		xp_histogram_add(h, sorted[i]);
	}
	qsort(sorted, n, sizeof(*sorted), by_size);
}

static void assert_near(double a, double b, double part)
{
	if (fabs(a - b) > part * fabs(b))
		fail_msg("%.9g is not %.9g, by %.3g", a, b, fabs(a - b) / fabs(b));
}

static void add_times(struct xp_histogram *h, u64 ns, u32 times)
{
	while (times--)
		xp_histogram_add(h, ns);
}

/* ----------------------------------------------------------- quantiles ---- */

static void quantiles_are_those_of_the_sorted_array(void **state)
{
	static const double q[] = { 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999 };
	static struct xp_histogram h;
	static u64 sorted[MANY];

	(void)state;
	for (u32 s = 0; s < SHAPES; s++) {
		draw(shapes[s], MANY, &h, sorted);
		for (u32 i = 0; i < sizeof(q) / sizeof(*q); i++) {
			u32 rank = (u32)ceil(q[i] * MANY - 1e-6);

			assert_near(timing_quantile(&h, q[i]), (double)sorted[rank - 1], 0.008);
		}
	}
}

/* As in the tail of few. The second: at the very ends of their bins. */
static void the_one_that_lies_alone_in_its_bin_is_as_near(void **state)
{
	static struct xp_histogram h;
	u64 sorted[50];
	u32 n = 0;

	(void)state;
	for (u32 round = 0; round < 200; round++) {
		draw(shape_by_log, 50, &h, sorted);
		for (u32 rank = 1; rank <= 50; rank++)
			assert_near(timing_quantile(&h, rank / 50.0), (double)sorted[rank - 1],
				    0.016);
	}
	memset(&h, 0, sizeof(h));
	for (u32 i = 200; n < 50; i += 31) {
		sorted[n++] = xp_bin_low(i) + (i & 1);
		sorted[n++] = xp_bin_low(i + 16) - 1;
	}
	for (u32 i = 0; i < n; i++)
		xp_histogram_add(&h, sorted[i]);
	for (u32 rank = 1; rank <= n; rank++)
		assert_near(timing_quantile(&h, (double)rank / n), (double)sorted[rank - 1], 0.008);
}

static void the_shortest_and_the_longest_are_exact(void **state)
{
	static struct xp_histogram h;

	(void)state;
	memset(&h, 0, sizeof(h));
	assert_true(timing_quantile(&h, 0.5) == 0 && timing_mean(&h) == 0 && !timing_least(&h));
	add_times(&h, 10007, 1000);
	for (u32 i = 0; i <= 100; i++)
		assert_true(timing_quantile(&h, i / 100.0) == 10007);
	xp_histogram_add(&h, 9999);
	xp_histogram_add(&h, 8765432);
	assert_true(timing_quantile(&h, 0) == 9999 && timing_quantile(&h, 1) == 8765432);
	assert_int_equal(timing_least(&h), 9999);
	assert_near(timing_mean(&h), (10007000 + 9999 + 8765432) / 1002.0, 1e-12);
	for (u32 i = 0; i <= 1000; i++) {
		double ns = timing_quantile(&h, i / 1000.0);

		assert_true(ns >= 9999 && ns <= 8765432);
	}
	assert_true(timing_part_below(&h, 9998) == 0 && timing_part_below(&h, 8765432) == 1);
}

/* Beyond the last bin too: 134 s and more. */
static void what_is_longer_than_all_bins_is_told(void **state)
{
	static struct xp_histogram h, later;
	double n[TIMING_DECADES * 50];

	(void)state;
	memset(&h, 0, sizeof(h));
	add_times(&h, 300000000000ull, 3);
	assert_true(timing_quantile(&h, 1) == 300e9);
	memcpy(&later, &h, sizeof(h));
	add_times(&later, 200000000000ull, 2);
	timing_subtract(&later, &h);
	assert_true(later.most >= 200000000000ull && later.sum == 400000000000ull);
	xp_histogram_add(&h, 20000000000000ull);
	timing_by_decade(&h, 50, n);
	assert_true(n[TIMING_DECADES * 50 - 1] > 0);
	for (u32 i = 0; i < TIMING_DECADES * 50 - 1; i++)
		n[TIMING_DECADES * 50 - 1] += n[i];
	assert_near(n[TIMING_DECADES * 50 - 1], 4, 1e-9);
}

static void a_percentile_needs_ten_beyond_it(void **state)
{
	static struct xp_histogram h;

	(void)state;
	memset(&h, 0, sizeof(h));
	assert_true(isinf(timing_needs(&h, 0.5)));
	add_times(&h, 1000, 9999);
	assert_true(timing_needs(&h, 0.999) > 1 && timing_needs(&h, 0.99) <= 1);
	add_times(&h, 1000, 1);
	assert_true(timing_needs(&h, 0.999) <= 1);
	assert_near(timing_needs(&h, 0.99999), 100, 1e-6);
}

/* ------------------------------------------------------ between two looks ---- */

static void what_came_between_is_what_was_added(void **state)
{
	static struct xp_histogram all, before, between;

	(void)state;
	for (u32 s = 0; s < SHAPES; s++) {
		memset(&all, 0, sizeof(all));
		memset(&between, 0, sizeof(between));
		for (u32 i = 0; i < 1000; i++)
			xp_histogram_add(&all, (u64)shapes[s]());
		memcpy(&before, &all, sizeof(all));
		for (u32 i = 0; i < 3000; i++) {
			u64 ns = (u64)shapes[s]();

			xp_histogram_add(&all, ns);
			xp_histogram_add(&between, ns);
		}
		timing_subtract(&all, &before);
		assert_int_equal(all.sum, between.sum);
		assert_memory_equal(all.bin, between.bin, sizeof(all.bin));
		assert_int_equal(xp_bin(all.most), xp_bin(between.most));
		assert_int_equal(xp_bin(timing_least(&all)), xp_bin(timing_least(&between)));
		assert_true(all.most >= between.most && timing_least(&all) <= timing_least(&between));
	}
}

static void between_two_looks_extremes_of_all_time_are_exact(void **state)
{
	static struct xp_histogram all, before;

	(void)state;
	memset(&all, 0, sizeof(all));
	add_times(&all, 50000, 10);
	memcpy(&before, &all, sizeof(all));
	timing_subtract(&all, &before);
	assert_true(!all.sum && !all.most && !all.least && !xp_histogram_count(&all));
	memcpy(&all, &before, sizeof(all));
	xp_histogram_add(&all, 40001);
	xp_histogram_add(&all, 70003);
	timing_subtract(&all, &before);
	assert_int_equal(timing_least(&all), 40001);
	assert_int_equal(all.most, 70003);
}

/* --------------------------------------------------------- by the decade ---- */

static void no_request_is_lost_by_the_decade(void **state)
{
	static const u32 per_decade[] = { 5, 10, 25, 50, 100 };
	static struct xp_histogram h;
	static u64 sorted[MANY];
	double n[TIMING_DECADES * 100];

	(void)state;
	for (u32 s = 0; s < SHAPES; s++) {
		draw(shapes[s], MANY, &h, sorted);
		xp_histogram_add(&h, 0);
		xp_histogram_add(&h, 1);
		xp_histogram_add(&h, 130000000000ull);
		for (u32 p = 0; p < sizeof(per_decade) / sizeof(*per_decade); p++) {
			double sum = 0;

			timing_by_decade(&h, per_decade[p], n);
			for (u32 i = 0; i < TIMING_DECADES * per_decade[p]; i++)
				sum += n[i];
			assert_near(sum, MANY + 3, 1e-9);
		}
	}
}

/* Four million evenly by the logarithm, from 1 us to 10 ms: 20,000 in each bin. */
static void even_data_has_no_comb(void **state)
{
	static struct xp_histogram h;
	double n[TIMING_DECADES * 50];
	u32 many = 4000000;

	(void)state;
	memset(&h, 0, sizeof(h));
	for (u32 i = 0; i < many; i++)
		xp_histogram_add(&h, (u64)pow(10, 3 + 4 * (i + 0.5) / many));
	timing_by_decade(&h, 50, n);
	for (u32 i = 3 * 50 + 1; i < 7 * 50 - 1; i++)
		assert_near(n[i], n[i - 1], 0.005);
	assert_near(n[5 * 50], many / 200.0, 0.005);
}

static void nothing_shows_beyond_the_extremes(void **state)
{
	static struct xp_histogram h;
	double n[TIMING_DECADES * 50];

	(void)state;
	memset(&h, 0, sizeof(h));
	add_times(&h, 100000, 7);	/* at an edge, and in the middle of a bin */
	timing_by_decade(&h, 50, n);
	assert_near(n[5 * 50], 7, 1e-9);
}

/* 970 hits at 10 us, 30 misses of 8 ms: two modes, and what each takes. */
static void two_modes_are_seen(void **state)
{
	static struct xp_histogram h;
	double n[TIMING_DECADES * 50];

	(void)state;
	memset(&h, 0, sizeof(h));
	for (u32 i = 0; i < 970; i++)
		xp_histogram_add(&h, 10200 + i / 10);
	for (u32 i = 0; i < 30; i++)
		xp_histogram_add(&h, 8000000 + 100 * i);
	timing_by_decade(&h, 50, n);
	assert_near(n[200], 970, 1e-9);			/* 10 to 10.47 us */
	assert_near(n[345], 30, 1e-9);			/* 7.94 to 8.32 ms */
	assert_near(timing_quantile(&h, 0.5), 10250, 0.008);
	assert_near(timing_quantile(&h, 0.97), 10296, 0.008);
	assert_near(timing_quantile(&h, 0.971), 8000000, 0.008);
	assert_near(timing_part_below(&h, 1e6), 0.97, 1e-9);
	assert_near(timing_time_below(&h, 1e6), 970 * 10248.0 / (970 * 10248.0 + 30 * 8001450.0), 0.005);
	assert_true(timing_time_below(&h, 1000) == 0 && timing_time_below(&h, 1e9) == 1);
}

/* ----------------------------------------------------------------- words ---- */

static char *print(const struct xp_histogram *h, enum xp_class class)
{
	u32 room = xp_histogram_print(h, class, NULL, 0) + 1;
	char *text = malloc(room);

	xp_histogram_print(h, class, text, room);
	return text;
}

static void the_kernels_line_is_read_exactly(void **state)
{
	static struct xp_histogram h, read;
	static u64 sorted[1000];
	enum xp_class class;

	(void)state;
	for (u32 s = 0; s < SHAPES; s++) {
		char *line;

		draw(shapes[s], 1000, &h, sorted);
		line = print(&h, s);
		assert_int_equal(timing_parse(line, &class, &read), 0);
		assert_int_equal(class, s);
		assert_memory_equal(&h, &read, sizeof(h));
		line[strlen(line) - 1] = '\0';	/* without its end */
		assert_int_equal(timing_parse(line, &class, &read), 0);
		free(line);
	}
	assert_int_equal(timing_parse("slow-flush 0 0 0 0", &class, &read), 0);
	assert_int_equal(class, XP_CLASS_SLOW_FLUSH);
	assert_int_equal(timing_parse("write-bypass 0 0 0 0", &class, &read), 0);
	assert_int_equal(class, XP_CLASS_WRITE_BYPASS);
	assert_int_equal(timing_parse("write-through 0 0 0 0", &class, &read), 0);	/* its first name */
	assert_int_equal(class, XP_CLASS_WRITE_BYPASS);
	assert_true(!xp_histogram_count(&read) && !read.least && !read.most);
}

/* Read while it was written: in its bin, not yet among the longest and the shortest. */
static void a_request_may_be_in_its_bin_alone(void **state)
{
	static struct xp_histogram h;
	enum xp_class class;

	(void)state;
	assert_int_equal(timing_parse("write 3 200 100 100 50:1 100:1 120:1", &class, &h), 0);
	assert_int_equal(timing_least(&h), 50);
	assert_int_equal(h.most, 120);
	assert_int_equal(timing_parse("write 1 0 8015 0 509:1", &class, &h), 0);
	assert_int_equal(timing_least(&h), 8015);	/* the first one ever */
	assert_int_equal(h.most, 8015);
}

static void damaged_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"", " ", "read", "read-hit", "read-hit ", "read-hits 1 100 100 100 100:1",
		"read-hit 1 100 100", "read-hit 1 100 100 100", "read-hit 2 100 100 100 100:1",
		"read-hit 1 100 100 100 100:1 ", "read-hit 1 100 100 100 100:1x",
		"read-hit 1 100 100 100 100", "read-hit 1 100 100 100 100:", "read-hit 1 100 100 100 :1",
		"read-hit 1 100 100 100 100:-1", "read-hit 1 100 100 100 2048:1",
		"read-hit -1 100 100 100 100:1", "read-hit 1 100 100 100  100:1",
		"read-hit 2 200 100 100 100:1 100:1", "read-hit 2 200 99 100 100:1 99:1",
		"read-hit 1 100 100 100 99:0 100:1", "read-hit 1 100 100 500 100:1",
		"read-hit 1 100 1 100 100:1", "read-hit 0 100 0 0", "read-hit 0 0 0 100",
		"read-hit 1 99999999999999999999 100 100 100:1", "read-hit 1 0x64 100 100 100:1",
		"read-hit 1 100 100 100 100:18446744073709551617",
	};
	static struct xp_histogram h;
	enum xp_class class;

	(void)state;
	assert_int_equal(timing_parse("read-hit 1 100 100 100 100:1", &class, &h), 0);
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (timing_parse(bad[i], &class, &h) != -EPROTO)
			fail_msg("\"%s\" is taken", bad[i]);
}

/* ----------------------------------------------------------------- files ---- */

static void json_comes_back_exactly(void **state)
{
	static struct xp_histogram h, read;
	static u64 sorted[MANY];

	(void)state;
	for (u32 s = 0; s <= SHAPES; s++) {
		struct json_object *o, *again;

		draw(shapes[s % SHAPES], s < SHAPES ? MANY : 0, &h, sorted);
		if (s == 1)
			add_times(&h, 400000000000ull, 2);
		o = timing_json(&h);
		again = json_tokener_parse(json_object_to_json_string(o));
		assert_int_equal(timing_from_json(again, &read), 0);
		assert_memory_equal(&h, &read, sizeof(h));
		json_object_put(again);
		json_object_put(o);
	}
}

static void json_tells_no_percentile_that_is_not_known(void **state)
{
	static struct xp_histogram h;
	struct json_object *o, *p, *v;

	(void)state;
	memset(&h, 0, sizeof(h));
	add_times(&h, 10000, 1000);
	o = timing_json(&h);
	assert_true(json_object_object_get_ex(o, "percentiles", &p));
	assert_true(json_object_object_get_ex(p, "99", &v) && json_object_get_double(v) == 10000);
	assert_true(json_object_object_get_ex(p, "99.9", &v) && !v);
	json_object_put(o);
}

static void damaged_json_is_refused(void **state)
{
#define JSON(count, most, bins) \
	"{\"count\":" count ",\"sum_ns\":200,\"min_ns\":100,\"max_ns\":" most ",\"bins\":" bins "}"
	static const char *const bad[] = {
		"[]", "{}", "\"x\"", JSON("2", "100", "{}"), JSON("2", "100", "[1]"),
		JSON("3", "100", "[[100,101,2]]"), JSON("2", "100", "[[100,101]]"),
		JSON("2", "100", "[[100,102,2]]"), JSON("2", "100", "[[\"100\",101,2]]"),
		JSON("2", "100", "[[100,101,2.5]]"), JSON("2", "100", "[[100,101,-2]]"),
		JSON("2", "100", "[[100,101,1],[100,101,1]]"), JSON("2", "500", "[[100,101,2]]"),
		JSON("null", "100", "[[100,101,2]]"), JSON("2", "100", "[[1001,1002,2]]"),
		"{\"count\":0,\"bins\":[]}",
	};
	static struct xp_histogram h;
	struct json_object *o = json_tokener_parse(JSON("2", "100", "[[100,101,2]]"));

	(void)state;
	assert_int_equal(timing_from_json(o, &h), 0);
	json_object_put(o);
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		o = json_tokener_parse(bad[i]);
		if (timing_from_json(o, &h) != -EPROTO)
			fail_msg("%s is taken", bad[i]);
		json_object_put(o);
	}
	assert_int_equal(timing_from_json(NULL, &h), -EPROTO);
}

static char *file_of(void (*write)(const struct xp_histogram *h, FILE *f),
		     const struct xp_histogram *h)
{
	static char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(h, f);
	fclose(f);
	return text;
}

static void hgrm_can_be_read(void **state)
{
	static struct xp_histogram h;
	static u64 sorted[1000];
	double value, part, inverse, last_value = 0, last_part = 0, mean, most;
	unsigned long long n, total;
	char *text, *line;
	u32 lines = 0;

	(void)state;
	draw(shape_by_log, 1000, &h, sorted);
	text = file_of(timing_hgrm, &h);
	line = strstr(text, "\n\n");
	assert_non_null(line);
	*line = '\0';
	assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)");
	for (line += 2; *line != '#'; line = strchr(line, '\n') + 1, lines++) {
		int got = sscanf(line, "%lf %lf %llu %lf", &value, &part, &n, &inverse);

		if (!lines)
			assert_true(got == 4 && fabs(value - (double)sorted[0] / 1000) < 0.0006 &&
				    part == 0 && n == 0 && inverse == 1);
		assert_true(got >= 3 && value >= last_value && part >= last_part);
		assert_near(part, (double)n / 1000, 1e-9);
		if (n && n < 1000)
			assert_near(value * 1000, (double)sorted[n - 1], 0.016);
		last_value = value;
		last_part = part;
	}
	assert_true(part == 1 && n == 1000 && fabs(value - (double)h.most / 1000) < 0.0006);
	assert_true(lines > 100);
	assert_int_equal(sscanf(line, "#[Mean = %lf", &mean), 1);
	assert_true(fabs(mean - timing_mean(&h) / 1000) < 0.0006);
	line = strchr(line, '\n') + 1;
	assert_int_equal(sscanf(line, "#[Max = %lf, Total count = %llu]", &most, &total), 2);
	assert_true(total == 1000 && fabs(most - (double)h.most / 1000) < 0.0006);
	free(text);
}

static void csv_has_a_line_a_bin(void **state)
{
	static struct xp_histogram h;
	size_t len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	memset(&h, 0, sizeof(h));
	add_times(&h, 100, 3);
	add_times(&h, 10000, 1);
	timing_csv(&h, "write,", f);
	fclose(f);
	assert_string_equal(text, "write,100,101,3,75.000000\nwrite,9984,10112,1,100.000000\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_sorted_array),
		cmocka_unit_test(the_one_that_lies_alone_in_its_bin_is_as_near),
		cmocka_unit_test(the_shortest_and_the_longest_are_exact),
		cmocka_unit_test(what_is_longer_than_all_bins_is_told),
		cmocka_unit_test(a_percentile_needs_ten_beyond_it),
		cmocka_unit_test(what_came_between_is_what_was_added),
		cmocka_unit_test(between_two_looks_extremes_of_all_time_are_exact),
		cmocka_unit_test(no_request_is_lost_by_the_decade),
		cmocka_unit_test(even_data_has_no_comb),
		cmocka_unit_test(nothing_shows_beyond_the_extremes),
		cmocka_unit_test(two_modes_are_seen),
		cmocka_unit_test(the_kernels_line_is_read_exactly),
		cmocka_unit_test(a_request_may_be_in_its_bin_alone),
		cmocka_unit_test(damaged_lines_are_refused),
		cmocka_unit_test(json_comes_back_exactly),
		cmocka_unit_test(json_tells_no_percentile_that_is_not_known),
		cmocka_unit_test(damaged_json_is_refused),
		cmocka_unit_test(hgrm_can_be_read),
		cmocka_unit_test(csv_has_a_line_a_bin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
