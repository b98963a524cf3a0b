// SPDX-License-Identifier: GPL-2.0-only
/* test_limits.c - the dirty limits change while the cache runs: what follows from them, and who is woken. */
#include "fixture.h"
#include "options.h"
#include "pace.h"
#include "run.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 4096, 100000);
}

/* That part of the cache, and a block. */
static void dirty(u32 percent)
{
	u64 lba, nr = stats_of(&f).slots * percent / 100 + 1;

	for (lba = stats_of(&f).dirty; lba < nr; lba++)
		write_blocks(&f, lba, 1, 'a');
	assert_int_equal(stats_of(&f).dirty, nr);
}

static bool set(u32 low, u32 high)
{
	struct xp_tunables t;

	xp_tunables_init(&t);
	t.dirty_low = low;
	t.dirty_high = high;
	return xp_set_limits(f.c, &t);
}

static void a_lower_limit_wakes_writeback(void **state)
{
	(void)state;
	dirty(5);
	assert_false(xp_writeback_wanted(f.c));
	assert_false(set(6, 80));
	assert_false(xp_writeback_wanted(f.c));
	assert_true(set(5, 80));
	assert_true(xp_writeback_wanted(f.c));
	writeback_batch(&f, 0);
	assert_false(xp_writeback_wanted(f.c));
}

static void a_higher_limit_lets_it_rest(void **state)
{
	(void)state;
	dirty(15);
	assert_true(xp_writeback_wanted(f.c));
	assert_false(set(20, 80));
	assert_false(xp_writeback_wanted(f.c));
	/* each write looks at the limit of now */
	f.todo.work = false;
	dirty(16);
	assert_false(f.todo.work);
	dirty(20);
	assert_true(f.todo.work);
}

/* Those who wait ask again within 20 ms (throttle.c of either backend). */
static void writers_are_slowed_by_the_limits_of_now(void **state)
{
	(void)state;
	dirty(60);
	assert_in_range(xp_pressure(f.c), 1, 1023);
	set(70, 90);
	assert_int_equal(xp_pressure(f.c), 0);
	set(50, 60);
	assert_int_equal(xp_pressure(f.c), 1024);
	set(0, 100);
	assert_in_range(xp_pressure(f.c), 1, 1023);
	set(60, 61);	/* less than two slots apart, or none */
	assert_in_range(xp_pressure(f.c), 0, 1024);
}

/* All that follows from them is what a start makes of the same ones. */
static void limits_are_those_of_a_start(void **state)
{
	u32 low, pass, soft, high, free;

	(void)state;
	dirty(5);
	set(33, 66);
	low = f.c->dirty_low, pass = f.c->dirty_pass, soft = f.c->dirty_soft, high = f.c->dirty_high;
	free = f.c->low_free;
	assert_int_equal(f.c->opt.dirty_low, 33);
	assert_int_equal(f.c->opt.dirty_high, 66);
	assert_int_equal(f.c->opt.stream_kib, XP_DEFAULT_STREAM_KIB);
	assert_int_equal(f.c->opt.writeback_delay, 0);
	f.opt.dirty_low = 33;
	f.opt.dirty_high = 66;
	fixture_reopen(&f);
	assert_int_equal(f.c->dirty_low, low);
	assert_int_equal(f.c->dirty_pass, pass);
	assert_int_equal(f.c->dirty_soft, soft);
	assert_int_equal(f.c->dirty_high, high);
	assert_int_equal(f.c->low_free, free);
}

static void set_mode(u32 mode)
{
	struct xp_tunables t;

	xp_tunables_init(&t);
	t.mode = mode;
	xp_set_limits(f.c, &t);
}

/* Limits alone leave the mode as it is; and what is dirty goes home from another mode on. */
static void a_mode_changes_and_writeback_begins(void **state)
{
	(void)state;
	dirty(5);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITEBACK);
	assert_false(xp_writeback_wanted(f.c));
	set_mode(XP_MODE_WRITETHROUGH);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
	assert_true(xp_writeback_wanted(f.c));
	set(10, 80);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
	set_mode(XP_MODE_WRITEBACK);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITEBACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_lower_limit_wakes_writeback),
		T(a_higher_limit_lets_it_rest),
		T(writers_are_slowed_by_the_limits_of_now),
		T(limits_are_those_of_a_start),
		T(a_mode_changes_and_writeback_begins),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
