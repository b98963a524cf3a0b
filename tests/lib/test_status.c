// SPDX-License-Identifier: GPL-2.0-only
/* test_status.c - the status line: renamed fields under both names, from backends of either age. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "lib/json.h"
#include "lib/status.h"
#include "accounting.h"
#include "cache.h"
#include "layout.h"
#include "life.h"
#include "message.h"
#include "statistics.h"

static const struct {
	const char *name, *older;
} renamed[] = {
	{ "slow_complete", "home" },
	{ "passthrough", "passing" },
	{ "dirty_unreachable", "stranded" },
	{ "writeback_failing_since", "destage_failing_since" },
	{ "written_back", "destaged" },
	{ "relocated", "carried" },
	{ "flushes_completed", "homes" },
	{ "writeback_flushes", "destage_flushes" },
};
#define NR_RENAMED	(sizeof(renamed) / sizeof(*renamed))

static struct xp *make_cache(void)
{
	static u8 memory[1 << 20] __attribute__((aligned(XP_BLOCK_SIZE)));
	static const struct xp_options opt = { .dirty_low = 10, .dirty_high = 80 };
	static struct xp_sb sb;
	struct xp_message msg;

	sb.slow.sectors = cpu_to_le64(1 << 20);
	assert_int_equal(xp_sb_layout(&sb, 3072, &msg), 0);
	assert_true(xp_memory(&sb, false) <= sizeof(memory));
	return xp_init(memory, &sb, &opt);
}

/* A line in which each renamed field has a value of its own. */
static void print_line(char *line, size_t room)
{
	static const u8 uuid[16];
	const struct xp_backend backend = { .running = true, .uuid = uuid, .writeback_flushes = 7, .not_memory = "kernel" };
	struct xp *c = make_cache();

	c->stats.written_back = 1001;
	c->stats.relocated = 1002;
	c->stats.flushes_completed = 1003;
	c->failing_since = 1004;
	c->pass = PASS_ON;
	c->failed = -EIO;
	c->nr_dirty = 5;
	assert_true(xp_status_print(c, &backend, line, (u32)room) < room);
}

static u64 in_json(const struct status *s, const char *name)
{
	struct json_object *o = status_json(s), *v;
	u64 n;

	assert_true(json_object_object_get_ex(o, name, &v));
	n = json_object_get_uint64(v);
	json_object_put(o);
	return n;
}

static void both_names_have_the_same_value(void **state)
{
	static const u64 value[NR_RENAMED] = { 0, 1, 5, 1004, 1001, 1002, 1003, 7 };
	struct status s;

	(void)state;
	print_line(s.line, sizeof(s.line));
	assert_int_equal(status_parse(&s), 0);
	for (size_t i = 0; i < NR_RENAMED; i++) {
		assert_int_equal(status_number(&s, renamed[i].name), value[i]);
		assert_int_equal(status_number(&s, renamed[i].older), value[i]);
		assert_int_equal(in_json(&s, renamed[i].name), value[i]);
		assert_int_equal(in_json(&s, renamed[i].older), value[i]);
	}
}

/* No field moves when the first names go: they are the last ones. */
static void first_names_end_the_line(void **state)
{
	struct status s;

	(void)state;
	print_line(s.line, sizeof(s.line));
	assert_int_equal(status_parse(&s), 0);
	assert_true(s.n > NR_RENAMED);
	for (size_t i = 0; i < NR_RENAMED; i++)
		assert_string_equal(s.name[s.n - NR_RENAMED + i], renamed[i].older);
	assert_string_equal(s.name[s.n - NR_RENAMED - 1], "not_memory");
}

static void an_older_backend_is_read_by_new_names(void **state)
{
	struct status s = { .line = "running slots 10 home 1 passing 2 stranded 3 destage_failing_since 4 destaged 5 "
				    "carried 6 homes 7 destage_flushes 8" };

	(void)state;
	assert_int_equal(status_parse(&s), 0);
	for (size_t i = 0; i < NR_RENAMED; i++) {
		assert_int_equal(status_number(&s, renamed[i].name), i + 1);
		assert_int_equal(in_json(&s, renamed[i].name), i + 1);
		assert_int_equal(in_json(&s, renamed[i].older), i + 1);
	}
	assert_null(status_text(&s, "clean"));
}

/* In a release after this one. */
static void a_newer_backend_needs_no_first_names(void **state)
{
	struct status s = { .line = "running slow_complete 1 written_back 5" };

	(void)state;
	assert_int_equal(status_parse(&s), 0);
	assert_int_equal(status_number(&s, "slow_complete"), 1);
	assert_int_equal(status_number(&s, "written_back"), 5);
	assert_null(status_text(&s, "home"));
}

/* Each class by its name, and the sums. */
static void requests_are_told_by_class_and_in_sum(void **state)
{
	static const struct {
		const char *name;
		u64 value;
	} told[] = {
		{ "requests_read_hit", 1 }, { "requests_read_miss", 2 }, { "requests_read_bypass", 4 },
		{ "requests_write", 8 }, { "requests_write_bypass", 16 }, { "requests_write_stalled", 32 },
		{ "requests_flush", 64 }, { "requests_discard", 128 }, { "requests_failed", 256 },
		{ "requests_split", 512 }, { "read_blocks_fast", 1024 },
		{ "read_hits", 1 }, { "read_misses", 6 }, { "writes", 56 }, { "write_bypass", 16 }, { "flushes", 64 },
		{ "discards", 128 },
	};
	static const u8 uuid[16];
	const struct xp_requests one = {
		.ended = { 1, 2, 4, 8, 16, 32, 64, 128 }, .failed = 256, .split = 512, .hit_blocks = 1024,
	};
	struct xp_requests sum = { .failed = 0 };
	const struct xp_backend backend = { .uuid = uuid, .requests = &sum };
	struct status s;

	(void)state;
	xp_requests_merge(&sum, &one);
	assert_true(xp_status_print(make_cache(), &backend, s.line, sizeof(s.line)) < sizeof(s.line));
	assert_int_equal(status_parse(&s), 0);
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		assert_int_equal(status_number(&s, told[i].name), told[i].value);
}

static void streams_and_ghosts_are_told(void **state)
{
	static const u8 uuid[16];
	const struct xp_backend backend = { .uuid = uuid };
	struct xp *c = make_cache();
	struct status s;

	(void)state;
	c->stats.streams_seen = 11;
	c->stats.stream_bypass_blocks = 12;
	c->stats.stream_bypass_written = 15;
	c->stats.ghost_hits = 13;
	c->stats.ghost_hits_quarter = 14;
	assert_true(xp_status_print(c, &backend, s.line, sizeof(s.line)) < sizeof(s.line));
	assert_int_equal(status_parse(&s), 0);
	assert_int_equal(status_number(&s, "streams_seen"), 11);
	assert_int_equal(status_number(&s, "stream_bypass_blocks"), 12);
	assert_int_equal(status_number(&s, "stream_bypass_written"), 15);
	assert_int_equal(status_number(&s, "ghost_hits"), 13);
	assert_int_equal(status_number(&s, "ghost_hits_quarter"), 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_names_have_the_same_value),
		cmocka_unit_test(first_names_end_the_line),
		cmocka_unit_test(an_older_backend_is_read_by_new_names),
		cmocka_unit_test(a_newer_backend_needs_no_first_names),
		cmocka_unit_test(requests_are_told_by_class_and_in_sum),
		cmocka_unit_test(streams_and_ghosts_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
