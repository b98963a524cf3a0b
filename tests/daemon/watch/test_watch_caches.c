// SPDX-License-Identifier: GPL-2.0-only
/* test_watch_caches.c - what the watcher remembers: looks, columns, and what the page is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <math.h>

#include "tests/lib/latency/planted.h"
#include "daemon/watch/watch.h"
#include "lib/json.h"
#include "lib/latency/pulse.h"

static struct watch w;
static struct pulse p;

static int begin(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(&p, 0, sizeof(p));
	w.interval = 1;
	w.limits = (struct limits){ .dirty = 90, .journal = 85, .wear = 90, .years = 1 };
	strcpy(p.name, "xpcache0");
	strcpy(p.uuid, "0123456789abcdef0123456789abcdef");
	strcpy(p.state, "running");
	p.slots = p.journal_blocks = 1000;
	p.dirty = 250;
	p.timed = true;
	p.seconds = 5000;
	return 0;
}

static int end(void **state)
{
	(void)state;
	watch_free(&w);
	return 0;
}

/* @hits of 10 us and @misses of 8 ms, and so many @seconds. */
static void work(u32 hits, u32 misses, double seconds)
{
	plant(&p.latency.class[XP_CLASS_READ_HIT], hits, 10000, 10001);
	plant(&p.latency.class[XP_CLASS_READ_MISS], misses, 8000000, 8000001);
	p.latency.ns += (u64)(seconds * 1e9);
	p.read_hits += hits;
	p.reads += hits + misses;
	p.seconds += seconds;
	watch_note(&w, &p, true);
}

static void a_column_is_ten_seconds(void **state)
{
	struct watched *c;

	(void)state;
	work(500, 0, 1);	/* before the first look */
	c = watch_find(&w, p.uuid);
	for (int i = 0; i < 9; i++)
		work(97, 3, 1);
	assert_int_equal(c->columns, 0);
	work(97, 3, 1);
	assert_int_equal(c->columns, 1);
	assert_true(c->column[0].seconds == 10 && c->column[0].reads == 1000);
	assert_true(c->column[0].hits[0] == 0.97 && c->column[0].dirty == 0.25);
	assert_true(fabs(c->column[0].hits[2] - 9.7 / (9.7 + 240)) < 1e-4);
	assert_int_equal(c->column[0].class[XP_CLASS_READ_HIT].n, 970);
	assert_true(fabs(c->column[0].class[XP_CLASS_READ_HIT].p50 - 10000) < 80);
	assert_true(isnan(c->column[0].class[XP_CLASS_READ_HIT].p99));	/* of 970 */
	assert_true(fabs(c->column[0].heat[0][40] + c->column[0].heat[0][39] - 970) < 0.1);
	assert_true(fabs(c->column[0].heat[0][69] - 30) < 0.1);
	assert_true(c->column[0].heat[1][40] == 0);
}

static void looks_without_histograms_leave_the_figures(void **state)
{
	struct pulse latest;
	struct watched *c;

	(void)state;
	work(10, 0, 1);
	c = watch_find(&w, p.uuid);
	assert_false(watched_latest(c, &latest));
	work(20, 5, 2);
	p.seconds++;
	p.reads += 1000;
	watch_note(&w, &p, false);
	assert_int_equal(c->looks, 2);
	assert_true(watched_latest(c, &latest));
	assert_true(latest.seconds == 2 && latest.reads == 25);
	assert_int_equal(xp_histogram_count(&latest.latency.class[XP_CLASS_READ_MISS]), 5);
}

static void a_cache_that_was_started_anew_begins_anew(void **state)
{
	struct pulse latest;
	struct watched *c;

	(void)state;
	work(1000, 0, 1);
	c = watch_find(&w, p.uuid);
	memset(&p.latency, 0, sizeof(p.latency));
	p.reads = p.read_hits = 0;
	work(10, 0, 10);
	assert_false(watched_latest(c, &latest));
	assert_int_equal(c->columns, 0);
	for (int i = 0; i < 10; i++)
		work(10, 0, 1);
	assert_int_equal(c->columns, 1);
	assert_int_equal(c->column[0].reads, 100);
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	assert_true(json_object_object_get_ex(o, name, &v));
	return v;
}

static void an_hour_is_kept_and_told_from_where_it_is_known(void **state)
{
	struct json_object *o, *columns, *classes;
	struct watched *c;

	(void)state;
	work(1, 0, 1);
	c = watch_find(&w, p.uuid);
	for (u32 i = 0; i < WATCH_COLUMNS + 5; i++) {
		work(100 + i, 20, 10);
		c->column[i % WATCH_COLUMNS].time = 1000 + 10 * i;
	}
	assert_int_equal(c->columns, WATCH_COLUMNS + 5);
	o = live_json(&w, p.uuid, 0);
	columns = get(get(o, "history"), "columns");
	assert_int_equal(json_object_array_length(columns), WATCH_COLUMNS);
	assert_int_equal(json_object_get_int(get(json_object_array_get_idx(columns, 0), "reads")), 125);
	classes = get(json_object_array_get_idx(columns, 0), "classes");
	assert_int_equal(json_object_object_length(classes), 2);
	assert_int_equal(json_object_get_int(get(get(classes, "read-miss"), "count")), 20);
	assert_null(get(get(classes, "read-miss"), "p99"));
	json_object_put(o);
	o = live_json(&w, p.uuid, 1000 + 10 * (WATCH_COLUMNS + 2));
	assert_int_equal(json_object_array_length(get(get(o, "history"), "columns")), 2);
	json_object_put(o);
	o = live_json(&w, "none", 0);
	assert_null(get(o, "history"));
	assert_int_equal(json_object_array_length(get(o, "caches")), 1);
	json_object_put(o);
}

static void alarms_are_on_the_page(void **state)
{
	struct json_object *o, *alarms;

	(void)state;
	p.dirty = 999;
	work(1, 0, 1);
	o = live_json(&w, NULL, 0);
	alarms = get(json_object_array_get_idx(get(o, "caches"), 0), "alarms");
	assert_int_equal(json_object_array_length(alarms), 1);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(alarms, 0)), "dirty");
	json_object_put(o);
}

static void there_is_room_for_so_many(void **state)
{
	(void)state;
	for (u32 i = 0; i < WATCH_CACHES + 3; i++) {
		snprintf(p.uuid, sizeof(p.uuid), "%032x", i);
		watch_note(&w, &p, false);
	}
	assert_int_equal(w.n, WATCH_CACHES);
}

static void hosts_are_numbers_and_names_that_are_known(void **state)
{
	const struct http_options opt = { .name = { "nas", "nas.lan" }, .names = 2 };
	static const char *const good[] = {
		"localhost", "localhost:19798", "LOCALHOST", "127.0.0.1", "127.0.0.1:80", "192.168.1.2:19798",
		"[::1]", "[::1]:19798", "[fe80::1]:1", "nas", "NAS:19798", "nas.lan:1",
	};
	static const char *const bad[] = {
		"evil.example", "evil.example:19798", "localhost.evil.example", "127.0.0.1.evil.example",
		"127.0.0.1@evil.example", "", ":", ":80", "[::1", "[]", "::1", "localhost:x", "localhost:80:80",
		"127.0.0.1 ", "0x7f000001", "127.1", "nas.", "nas.lan.evil.example", "[localhost]x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!http_host_allowed(&opt, good[i]))
			fail_msg("%s is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (http_host_allowed(&opt, bad[i]))
			fail_msg("%s is allowed", bad[i]);
	assert_false(http_host_allowed(&opt, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_column_is_ten_seconds, begin, end),
		cmocka_unit_test_setup_teardown(looks_without_histograms_leave_the_figures, begin, end),
		cmocka_unit_test_setup_teardown(a_cache_that_was_started_anew_begins_anew, begin, end),
		cmocka_unit_test_setup_teardown(an_hour_is_kept_and_told_from_where_it_is_known, begin, end),
		cmocka_unit_test_setup_teardown(alarms_are_on_the_page, begin, end),
		cmocka_unit_test_setup_teardown(there_is_room_for_so_many, begin, end),
		cmocka_unit_test(hosts_are_numbers_and_names_that_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
