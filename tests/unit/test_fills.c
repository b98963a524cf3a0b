// SPDX-License-Identifier: GPL-2.0-only
/* test_fills.c - which misses are filled, and what holds a fill up. */
#include "fixture.h"
#include "layout.h"
#include "run.h"
#include "writeback.h"
#include "request.h"

#define LBAS 1000000

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 8192, LBAS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_teardown(&f);
	return 0;
}

/* ------------------------------------------------------- bypass writes ---- */

/* A discard of what is not cached, to its end on the slow device. */
static void discard(u64 lba, u32 nr)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_DISCARD, lba * 8, nr * 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void slow_flush(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* Blocks of a miss that would be filled; none is. */
static u32 would_fill(u64 lba, u32 nr)
{
	struct xp_req req;
	enum xp_act act = submit(&f, &req, XP_READ, lba * 8, nr * 8, false);
	u32 filled = req.fill.nr_blocks;

	assert_int_equal(act, filled ? XP_SLOW_FILL : XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	return filled;
}

static void only_the_blocks_bypassed_hold_fills_up(void **state)
{
	(void)state;
	discard(100, 8);
	assert_int_equal(would_fill(99, 1), 1);
	assert_int_equal(would_fill(100, 1), 0);
	assert_int_equal(would_fill(107, 1), 0);
	assert_int_equal(would_fill(108, 1), 1);
	assert_int_equal(would_fill(90, 16), 10);
	assert_int_equal(would_fill(104, 16), 0);
	slow_flush();
	assert_int_equal(would_fill(90, 32), 32);
}

/* Nobody may come to flush: the tick does, but not before a fill wants it. */
static void a_fill_held_up_asks_for_the_flush(void **state)
{
	(void)state;
	discard(100, 8);
	assert_int_equal(would_fill(300, 8), 8);
	f.todo.tick = false;
	xp_tick(f.c, &f.todo);
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(would_fill(100, 8), 0);
	assert_true(f.todo.tick);
	xp_tick(f.c, &f.todo);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_int_equal(would_fill(100, 8), 8);
}

/* It covers what had ended when it was issued, and nothing else. */
static void a_flush_leaves_what_ended_behind_it(void **state)
{
	struct xp_req req;

	(void)state;
	discard(100, 8);
	discard(200, 8);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	discard(300, 8);
	discard(200, 1);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(would_fill(100, 8), 8);
	assert_int_equal(would_fill(200, 8), 0);
	assert_int_equal(would_fill(300, 8), 0);
}

static void a_failed_flush_leaves_all(void **state)
{
	struct xp_req req;

	(void)state;
	discard(100, 8);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(would_fill(100, 8), 0);
}

/* Also where its pieces come in any order. */
static void a_long_copy_is_one_range(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4096; i++)
		discard(1000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 1);
	for (i = 0; i < 64; i += 2)
		discard(100000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 33);
	for (i = 1; i < 64; i += 2)
		discard(100000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 2);
	assert_int_equal(would_fill(999, 2), 1);
	assert_int_equal(would_fill(1000 + 4095 * 8 + 7, 1), 0);
	assert_int_equal(would_fill(1000 + 4096 * 8, 1), 1);
	assert_int_equal(would_fill(100000 + 63 * 8 + 7, 1), 0);
}

static void a_full_table_holds_all_up(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < XP_UNFLUSHED_MAX; i++)
		discard(i * 16, 8);
	assert_int_equal(would_fill(500000, 8), 8);
	discard(i * 16, 8);
	assert_int_equal(would_fill(500000, 8), 0);
	slow_flush();
	assert_int_equal(would_fill(500000, 8), 8);
	assert_int_equal(would_fill(0, 8), 8);
}

/* It takes place again before the table is full, if anybody fills. */
static void a_crowded_table_asks_for_a_flush_at_once(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < XP_UNFLUSHED_MAX / 2 + 1; i++)
		discard(i * 16, 8);
	assert_false(xp_writeback_wanted(f.c));
	f.todo.work = false;
	assert_int_equal(would_fill(500000, 8), 8);
	assert_true(f.todo.work);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	assert_int_equal(would_fill(500000, 8), 8);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(f.c->unflushed.nr, 0);
}

/* A small discard after every tenth miss. */
static void discards_elsewhere_cost_no_fill(void **state)
{
	u64 i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		fill_block(&f, i * 16, 1);
		if (i % 10 == 0)
			discard(500000 + i % 500 * 16, 16);
	}
	assert_int_equal(stats_of(&f).fills, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(only_the_blocks_bypassed_hold_fills_up),
		T(a_fill_held_up_asks_for_the_flush),
		T(a_flush_leaves_what_ended_behind_it),
		T(a_failed_flush_leaves_all),
		T(a_long_copy_is_one_range),
		T(a_full_table_holds_all_up),
		T(a_crowded_table_asks_for_a_flush_at_once),
		T(discards_elsewhere_cost_no_fill),
	};

	return cmocka_run_group_tests_name("fills", tests, NULL, NULL);
}
