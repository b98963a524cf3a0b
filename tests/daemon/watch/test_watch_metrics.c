// SPDX-License-Identifier: GPL-2.0-only
/* test_watch_metrics.c - what Prometheus is told of caches whose figures are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "tests/lib/latency/planted.h"
#include "daemon/watch/watch.h"
#include "lib/latency/pulse.h"

static struct watch w;
static struct watched cache;

static char *metrics(void)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	metrics_write(&w, f, METRICS_PROMETHEUS);
	fclose(f);
	return text;
}

static int begin(void **state)
{
	(void)state;
	memset(&cache, 0, sizeof(cache));
	memset(&w, 0, sizeof(w));
	alarms_init(&cache.alarms);
	strcpy(cache.now.name, "xpcache0");
	strcpy(cache.now.uuid, "0123456789abcdef0123456789abcdef");
	strcpy(cache.now.state, "running");
	cache.looks = 1;
	w.cache[0] = &cache;
	w.n = 1;
	return 0;
}

/* The value of the line that begins with @series and a blank. */
static double value(const char *text, const char *series)
{
	size_t len = strlen(series);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, series, len) && line[len] == ' ')
			return strtod(line + len + 1, NULL);
	}
	fail_msg("no %s", series);
	return 0;
}

/* Counted one by one, by the seconds that the le says. */
static void buckets_are_exact(void **state)
{
	static const u64 times[] = { 0, 1, 999, 1000, 1001, 9983, 9984, 10000, 17663, 17664, 999423, 999424,
				     8000000, 10066329599, 10066329600, 99999999999 };
	struct xp_histogram *h = &cache.now.latency.class[XP_CLASS_READ_MISS];
	char *text, series[256];
	const char *at;
	u32 seen = 0;
	u64 sum = 0;

	(void)state;
	cache.now.timed = true;
	for (u32 i = 0; i < sizeof(times) / sizeof(*times); i++) {
		xp_histogram_add(h, times[i]);
		sum += times[i];
	}
	text = metrics();
	snprintf(series, sizeof(series), "xpcache_request_duration_seconds_bucket{cache=\"xpcache0\","
		 "class=\"read-miss\",le=\"");
	for (at = text; (at = strstr(at, series)); seen++) {
		char *end;
		double le = strtod(at += strlen(series), &end), wanted = 0;

		for (u32 i = 0; i < sizeof(times) / sizeof(*times); i++)
			wanted += (double)times[i] / 1e9 <= le * (1 + 1e-15);
		assert_true(!strncmp(end, "\"} ", 3) && strtod(end + 3, NULL) == wanted);
	}
	assert_int_equal(seen, METRICS_EDGES + 1);
	assert_true(value(text, "xpcache_request_duration_seconds_count{cache=\"xpcache0\",class=\"read-miss\"}") == 16);
	assert_true(fabs(value(text, "xpcache_request_duration_seconds_sum{cache=\"xpcache0\",class=\"read-miss\"}") -
			 (double)sum / 1e9) < 1e-9);
	free(text);
}

static void edges_are_about_a_quarter_decade_apart(void **state)
{
	(void)state;
	for (u32 i = 0; i < METRICS_EDGES; i++) {
		double edge = (double)xp_bin_low(metrics_edge_bin(i)), wanted = 1000 * pow(10, i / 4.0);

		assert_true(fabs(edge / wanted - 1) < 0.008);
		assert_true(!i || metrics_edge_bin(i) > metrics_edge_bin(i - 1));
	}
}

static void figures_are_those_of_the_pulse(void **state)
{
	struct pulse *p = &cache.now;
	char *text;

	(void)state;
	p->slots = 1000;
	p->dirty = 7;
	p->clean = 5;
	p->journal_blocks = 64;
	p->journal_used = 9;
	p->pressure = 512;
	p->reads = 100;
	p->read_hits = 97;
	p->counted = true;
	p->requests[XP_CLASS_READ_HIT] = 97;
	p->requests[XP_CLASS_WRITE_BYPASS] = 6;
	p->requests_failed = 8;
	p->read_blocks_fast = 150;
	p->read_blocks_slow = 50;
	p->write_bypass_blocks = 10;
	p->discard_blocks = 11;
	p->fills = 2;
	p->kept_known = true;
	p->streams_seen = 12;
	p->stream_bypass_blocks = 13;
	p->stream_bypass_written = 14;
	p->ghost_hits = 20;
	p->ghost_hits_quarter = 10;
	p->written_back = 3;
	p->fast_bytes_written = 123456789012345678;
	p->fast_errors = 4;
	p->slow_errors = 5;
	p->bytes_known = true;
	p->read_bytes = 4096;
	text = metrics();
	assert_true(value(text, "xpcache_caches") == 1);
	assert_true(value(text, "xpcache_slots{cache=\"xpcache0\"}") == 1000);
	assert_true(value(text, "xpcache_dirty_bytes{cache=\"xpcache0\"}") == 7 * 4096);
	assert_true(value(text, "xpcache_clean_bytes{cache=\"xpcache0\"}") == 5 * 4096);
	assert_true(value(text, "xpcache_journal_used_blocks{cache=\"xpcache0\"}") == 9);
	assert_true(value(text, "xpcache_pressure_ratio{cache=\"xpcache0\"}") == 0.5);
	assert_true(value(text, "xpcache_read_hits_total{cache=\"xpcache0\"}") == 97);
	assert_true(value(text, "xpcache_read_misses_total{cache=\"xpcache0\"}") == 3);
	assert_true(value(text, "xpcache_requests_total{cache=\"xpcache0\",class=\"read-hit\"}") == 97);
	assert_true(value(text, "xpcache_requests_total{cache=\"xpcache0\",class=\"write-bypass\"}") == 6);
	assert_true(value(text, "xpcache_requests_failed_total{cache=\"xpcache0\"}") == 8);
	assert_true(value(text, "xpcache_read_fast_bytes_total{cache=\"xpcache0\"}") == 150 * 4096);
	assert_true(value(text, "xpcache_write_slow_bytes_total{cache=\"xpcache0\"}") == 10 * 4096);
	assert_true(value(text, "xpcache_discarded_bytes_total{cache=\"xpcache0\"}") == 11 * 4096);
	assert_true(value(text, "xpcache_hit_ratio{cache=\"xpcache0\"}") == 0.97);
	assert_true(value(text, "xpcache_hit_ratio_by_bytes{cache=\"xpcache0\"}") == 0.75);
	assert_null(strstr(text, "xpcache_hit_ratio_by_time{"));	/* no latencies */
	assert_true(value(text, "xpcache_filled_bytes_total{cache=\"xpcache0\"}") == 2 * 4096);
	assert_true(value(text, "xpcache_streams_total{cache=\"xpcache0\"}") == 12);
	assert_true(value(text, "xpcache_stream_bypass_bytes_total{cache=\"xpcache0\"}") == 13 * 4096);
	assert_true(value(text, "xpcache_stream_bypass_written_bytes_total{cache=\"xpcache0\"}") == 14 * 4096);
	assert_true(value(text, "xpcache_ghost_hit_bytes_total{cache=\"xpcache0\"}") == 20 * 4096);
	assert_true(value(text, "xpcache_ghost_hit_quarter_bytes_total{cache=\"xpcache0\"}") == 10 * 4096);
	assert_true(value(text, "xpcache_ghost_hit_ratio{cache=\"xpcache0\"}") == 0.2);
	assert_true(fabs(value(text, "xpcache_fills_per_hit{cache=\"xpcache0\"}") - 2 / 150.0) < 1e-12);
	assert_true(fabs(value(text, "xpcache_fast_bytes_per_user_byte{cache=\"xpcache0\"}") -
			 123456789012345678.0 / (210 * 4096)) < 1);
	assert_true(value(text, "xpcache_written_back_bytes_total{cache=\"xpcache0\"}") == 3 * 4096);
	assert_true(value(text, "xpcache_read_bytes_total{cache=\"xpcache0\"}") == 4096);
	assert_true(value(text, "xpcache_device_errors_total{cache=\"xpcache0\",device=\"fast\"}") == 4);
	assert_true(value(text, "xpcache_device_errors_total{cache=\"xpcache0\",device=\"slow\"}") == 5);
	assert_true(value(text, "xpcache_state{cache=\"xpcache0\",state=\"running\"}") == 1);
	assert_true(value(text, "xpcache_state{cache=\"xpcache0\",state=\"failed\"}") == 0);
	assert_non_null(strstr(text, "xpcache_fast_written_bytes_total{cache=\"xpcache0\"} 123456789012345678\n"));
	free(text);
}

static void what_an_older_backend_does_not_tell_is_left_out(void **state)
{
	char *text;

	(void)state;
	cache.now.read_blocks_slow = 1;
	text = metrics();
	assert_null(strstr(text, "xpcache_streams_total{"));
	assert_null(strstr(text, "xpcache_ghost_hit_bytes_total{"));
	assert_null(strstr(text, "xpcache_ghost_hit_ratio{"));
	assert_null(strstr(text, "xpcache_fast_bytes_per_user_byte{"));
	free(text);
}

static void first_names_have_the_same_figures(void **state)
{
	char *text;

	(void)state;
	cache.now.written_back = 3;
	cache.now.timed = true;
	xp_histogram_add(&cache.now.latency.class[XP_CLASS_WRITE_BYPASS], 1000);
	text = metrics();
	assert_true(value(text, "xpcache_destaged_bytes_total{cache=\"xpcache0\"}") == 3 * 4096);
	assert_true(value(text, "xpcache_request_duration_seconds_count{cache=\"xpcache0\",class=\"write-bypass\"}") == 1);
	assert_true(value(text, "xpcache_request_duration_seconds_count{cache=\"xpcache0\",class=\"write-through\"}") == 1);
	free(text);
}

static void what_is_not_known_is_not_told(void **state)
{
	char *text = metrics();

	(void)state;
	assert_null(strstr(text, "xpcache_read_bytes_total{"));
	assert_null(strstr(text, "_bucket{"));
	assert_null(strstr(text, "xpcache_fast_wear_ratio{"));
	assert_null(strstr(text, "xpcache_recording{"));
	free(text);
	cache.wear = (struct wear){ .known = true, .used = 12, .spare = 99, .written = 5e14 };
	text = metrics();
	assert_true(value(text, "xpcache_fast_wear_ratio{cache=\"xpcache0\"}") == 0.12);
	assert_true(value(text, "xpcache_fast_life_written_bytes_total{cache=\"xpcache0\"}") == 5e14);
	assert_null(strstr(text, "xpcache_fast_lifetime_seconds{"));
	free(text);
	cache.looks = 0;	/* seen, and not looked at yet */
	text = metrics();
	assert_null(strstr(text, "xpcache_slots{"));
	free(text);
}

static void names_are_quoted(void **state)
{
	char *text;

	(void)state;
	strcpy(cache.now.name, "a\"b\\c\nd\xff");
	strcpy(cache.now.state, "odd");
	text = metrics();
	assert_non_null(strstr(text, "\nxpcache_state{cache=\"a\\\"b\\\\c\\nd?\",state=\"odd\"} 1\n"));
	free(text);
}

/* As Prometheus sends it, others, and who does not care. */
static void a_format_is_the_one_that_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(metrics_wanted(NULL), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("*/*"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("text/plain;version=0.0.4"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"), METRICS_OPEN);
	assert_int_equal(metrics_wanted("text/plain, Application/OpenMetrics-Text"), METRICS_OPEN);
	assert_int_equal(metrics_wanted("application/openmetrics-text;q=0, text/plain"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text;q=0.000"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text, text/plain;q=0"), METRICS_OPEN);
	assert_int_equal(metrics_wanted("text/plain;version=0.0.4;q=1, application/openmetrics-text;q=0.1"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text ; Q = 0"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-textual"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text;version=2.0.0"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_wanted("application/openmetrics-text;version=0.0.1;q=0,application/openmetrics-text; version=1.0.0"),
			 METRICS_OPEN);
	assert_int_equal(metrics_wanted(",;,; q,=;"), METRICS_PROMETHEUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(buckets_are_exact, begin),
		cmocka_unit_test_setup(edges_are_about_a_quarter_decade_apart, begin),
		cmocka_unit_test_setup(figures_are_those_of_the_pulse, begin),
		cmocka_unit_test_setup(what_an_older_backend_does_not_tell_is_left_out, begin),
		cmocka_unit_test_setup(first_names_have_the_same_figures, begin),
		cmocka_unit_test_setup(what_is_not_known_is_not_told, begin),
		cmocka_unit_test_setup(names_are_quoted, begin),
		cmocka_unit_test(a_format_is_the_one_that_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
