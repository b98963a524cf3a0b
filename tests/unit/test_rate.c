// SPDX-License-Identifier: GPL-2.0-only
/* test_rate.c - when dirty blocks are written back, and how fast: against a clock and a disk of the test's own. */
#include "fixture.h"
#include "accounting.h"
#include "cache.h"
#include "run.h"

#define MS	1000000ull
#define SECOND	(1000 * MS)
#define IDLE_MS	5000u

/* Of the disk: 120 accesses a second, and 150 MB/s. It is not told before it has been timed. */
#define ACCESS	(8300000ull)
#define BLOCK	27000ull

static struct fixture f;
static u64 now;

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 40000, 2000000);
	f.c->opt.idle_ms = IDLE_MS;
	now = 77 * SECOND;
	xp_writeback_watch(f.c, now);
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static void begin_read(struct xp_req *req, u64 lba)
{
	enum xp_act act = submit(&f, req, XP_READ, lba * 8, 8, false);

	assert_true(act == XP_SLOW || act == XP_SLOW_FILL);
	xp_fill_end(f.c, &req->fill, -ENOMEM, &f.todo);
	req->fill.nr_blocks = 0;
}

static void end_read(struct xp_req *req, u64 ns)
{
	xp_slow_took(f.c, req, 8, ns);
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_DONE);
}

static void miss(u64 lba)
{
	struct xp_req req;

	begin_read(&req, lba);
	now += ACCESS;
	end_read(&req, ACCESS);
}

/* @nr blocks, no two of them side by side, as @percent of the slots. */
static u32 dirty_percent(u32 percent)
{
	u32 nr = (u32)(stats_of(&f).slots * percent / 100);

	for (u32 i = (u32)stats_of(&f).dirty; i < nr; i++)
		write_blocks(&f, 1000 + i * 2, 1, 1);
	return nr;
}

/* Seconds until the clock says that there is something to do, @most at most. */
static u32 idle_until_watched(u32 most)
{
	u32 n;

	for (n = 0; n < most; n++) {
		now += SECOND;
		if (xp_writeback_watch(f.c, now))
			break;
	}
	return n + 1;
}

/* Begins and ends a run of the batch, of @ns. */
static struct xp_run run;

static void write_run(u64 ns)
{
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	now += ns;
	run.took = ns;
	xp_writeback_end(f.c, &run, &f.todo);
}

/* From now on, by a backend that asks as often as it is told. */
static u64 rest_of_run(void)
{
	u64 begun = now, wait;

	while ((wait = xp_writeback_turn(f.c, now))) {
		assert_true(wait <= 100 * MS);
		now += wait;
	}
	return now - begun;
}

/* --------------------------------------------------------------- tests ---- */

static void an_idle_cache_is_drained(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(idle_until_watched(20), 5);
	writeback_batch(&f, 0);
	assert_true(xp_is_clean(f.c));
}

static void an_idle_ms_of_0_drains_nothing(void **state)
{
	(void)state;
	f.c->opt.idle_ms = 0;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(idle_until_watched(100), 101);
	assert_false(xp_writeback_wanted(f.c));
}

/* Brings home what is dirty; returns how long the clock had to wait for that, in seconds. */
static u32 drained_after(u32 most)
{
	u32 waited = idle_until_watched(most);

	while (xp_writeback_wanted(f.c))
		writeback_batch(&f, 0);
	assert_true(xp_is_clean(f.c));
	return waited;
}

/* As long as callers leave the slow device alone, which may sleep then. */
static void a_disk_that_sleeps_is_left_alone_for_the_delay(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	idle_until_watched(3000);
	write_blocks(&f, 5, 1, 1);
	assert_in_range(drained_after(3000), 599, 601);
	write_blocks(&f, 5, 1, 2);
	write_blocks(&f, 9, 1, 2);
	assert_in_range(drained_after(3000), 599, 601);
}

/* Blocks that are written all the time wake it once in that time. */
static void what_is_written_again_wakes_it_once_a_delay(void **state)
{
	u32 woken = 0;

	(void)state;
	f.c->opt.writeback_delay = 600;
	for (u32 i = 0; i < 3600; i++) {
		write_blocks(&f, 5, 1, 1);
		now += SECOND;
		if (!xp_writeback_watch(f.c, now))
			continue;
		woken++;
		while (xp_writeback_wanted(f.c))
			writeback_batch(&f, 0);
	}
	assert_in_range(woken, 5, 6);
}

/* A read has woken it: what is dirty goes along, once the reader is done. */
static void a_read_that_wakes_the_disk_takes_along_what_is_dirty(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(idle_until_watched(100), 101);
	miss(50000);
	assert_in_range(drained_after(100), 5, 6);
	/* and once only */
	write_blocks(&f, 5, 1, 2);
	assert_int_equal(idle_until_watched(500), 501);
}

/* ... nor is it awake for ever, where nothing was dirty then. */
static void a_read_of_long_ago_does_not_keep_it_awake(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	miss(50000);
	idle_until_watched(200);
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(idle_until_watched(500), 501);
}

/* The mark wakes it: all goes home then, not what is above the mark alone. */
static void a_mark_wakes_the_disk_for_all_that_is_dirty(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 3600;
	idle_until_watched(100);
	dirty_percent(11);
	while (xp_writeback_wanted(f.c))
		writeback_batch(&f, 0);
	assert_false(xp_is_clean(f.c));
	assert_in_range(drained_after(100), 1, 6);
}

/* The clock of the kernel's backend stands still while nothing is dirty: what it saw before says nothing now. */
static void a_read_before_the_clock_stood_does_not_keep_it_awake(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	miss(50000);
	now += SECOND;
	xp_writeback_watch(f.c, now);
	now += 7200 * SECOND;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(idle_until_watched(500), 501);
	assert_in_range(drained_after(3000), 98, 103);
}

/* ... but who used it a moment ago does, whether or not the clock saw that. */
static void a_read_just_before_the_clock_went_on_keeps_it_awake(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 3600;
	miss(50000);
	now += SECOND;
	xp_writeback_watch(f.c, now);
	now += 3500 * MS;
	write_blocks(&f, 5, 1, 1);
	assert_in_range(drained_after(100), 5, 7);
	now += 600 * SECOND;
	miss(60000);
	write_blocks(&f, 5, 1, 2);
	assert_in_range(drained_after(100), 5, 7);
}

/* A reader is there when the drain ends: the disk is awake for what is dirty next. */
static void a_drain_that_ends_beside_a_reader_leaves_the_disk_awake(void **state)
{
	struct xp_req req;

	(void)state;
	f.c->opt.writeback_delay = 600;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	assert_in_range(idle_until_watched(3000), 599, 601);
	writeback_batch(&f, 0);
	begin_read(&req, 50000);
	xp_writeback_watch(f.c, now);
	end_read(&req, ACCESS);
	write_blocks(&f, 5, 1, 2);
	assert_in_range(drained_after(100), 5, 7);
}

/* The idle time is turned off, and on, at once: what was brought home does not count as use. */
static void an_idle_time_that_is_changed_does_not_wake_the_disk(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	drained_after(3000);
	f.c->opt.idle_ms = 0;
	xp_writeback_watch(f.c, now);
	write_blocks(&f, 5, 1, 2);
	f.c->opt.idle_ms = IDLE_MS;
	assert_int_equal(idle_until_watched(500), 501);
}

/* Suspended again and again: dirty blocks come of age all the same. */
static void gaps_do_not_begin_the_delay_anew(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 600;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	for (u32 gaps = 0; gaps < 6; gaps++) {
		assert_int_equal(idle_until_watched(7), 8);
		now += 90 * SECOND;
	}
	assert_in_range(drained_after(30), 5, 26);
}

/* One run, or its flush, has failed: the disk is awake, and asked again as without a delay. */
static void a_drain_that_failed_does_not_wait_for_the_delay(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 3600;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	assert_in_range(idle_until_watched(4000), 3595, 3602);
	writeback_batch(&f, -EIO);
	assert_in_range(drained_after(100), 1, 12);
}

/* The first run has failed, as a disk that is slow to wake does, and all others have not. */
static void a_drain_of_which_a_part_failed_does_not_wait_for_the_delay(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 3600;
	f.c->batch.max = 500;
	idle_until_watched(100);
	for (u32 i = 0; i < 1600; i++)
		write_blocks(&f, 1000 + 2 * i, 1, 1);
	assert_in_range(idle_until_watched(4000), 3595, 3602);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	run.err = -EIO;
	xp_writeback_end(f.c, &run, &f.todo);
	run.err = 0;
	batch_end(&f, 0, 0, 0);
	while (xp_writeback_wanted(f.c)) {
		writeback_batch(&f, 0);
		if (stats_of(&f).dirty == 1)
			break;
	}
	assert_int_equal(stats_of(&f).dirty, 1);
	f.c->rate.drain_over = true;
	assert_in_range(drained_after(100), 1, 12);
}

/* A block that never goes home does not keep it awake. */
static void a_block_that_always_fails_lets_the_disk_sleep(void **state)
{
	u32 drains = 0;

	(void)state;
	f.c->opt.writeback_delay = 3600;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	for (u32 i = 0; i < 3 * 3600; i++) {
		now += SECOND;
		if (!xp_writeback_watch(f.c, now) || !xp_writeback_wanted(f.c))
			continue;
		drains++;
		writeback_batch(&f, -EIO);
	}
	assert_in_range(drains, 3, 20);
}

/* A new idle time, say. */
static void a_drain_that_was_left_does_not_wait_for_the_delay(void **state)
{
	(void)state;
	f.c->opt.writeback_delay = 3600;
	f.c->batch.max = 500;
	idle_until_watched(100);
	write_blocks(&f, 5, 1, 1);
	for (u32 i = 0; i < 4; i++)
		write_blocks(&f, 1000 + i * 225, 225, 1);
	assert_in_range(idle_until_watched(4000), 3595, 3602);
	writeback_batch(&f, 0);
	assert_false(xp_is_clean(f.c));
	xp_lock(&f.c->lock);
	rate_forget(f.c);
	xp_unlock(&f.c->lock);
	assert_in_range(drained_after(100), 1, 12);
}

/* A start has used the disk: what is dirty since the last life goes home. */
static void what_a_start_finds_dirty_does_not_wait_for_the_delay(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	f.opt.writeback_delay = 3600;
	f.opt.idle_ms = IDLE_MS;
	fixture_reopen(&f);
	xp_writeback_watch(f.c, now);
	assert_in_range(drained_after(100), 4, 7);
}

/* Without an idle time nothing but the marks begins it. */
static void a_delay_without_an_idle_time_drains_nothing(void **state)
{
	(void)state;
	f.c->opt.idle_ms = 0;
	f.c->opt.writeback_delay = 10;
	write_blocks(&f, 5, 1, 1);
	miss(50000);
	assert_int_equal(idle_until_watched(100), 101);
}

/* A hit asks nothing of the slow device; a miss, a write around the cache and a slow flush do. */
static void hits_are_idle_and_misses_are_not(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 9, 1);
	write_blocks(&f, 5, 1, 1);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(idle_until_watched(1), 2);
		miss(50000 + i * 10000);
	}
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(idle_until_watched(1), 2);
		assert_int_equal(submit(&f, &req, XP_DISCARD, 800000, 80, false), XP_SLOW);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
	for (u32 i = 0; i < 4; i++) {
		now += SECOND;
		assert_false(xp_writeback_watch(f.c, now));
		assert_int_equal(submit(&f, &req, XP_READ, 72, 8, false), XP_FAST);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
	assert_int_equal(idle_until_watched(20), 2);
}

static void one_that_takes_long_is_not_idle(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	begin_read(&req, 50000);
	assert_int_equal(idle_until_watched(60), 61);
	end_read(&req, 0);
	assert_int_equal(idle_until_watched(20), 5);
}

/* Blocks that are written all the time are written back each idle_ms, not all the time. */
static void what_is_written_again_is_not_chased(void **state)
{
	u32 batches = 0;

	(void)state;
	for (u32 i = 0; i < 600; i++) {
		now += SECOND / 10;
		write_blocks(&f, 5 + i % 7 * 2, 1, 1);
		if (i % 10 == 9)
			xp_writeback_watch(f.c, now);
		while (xp_writeback_wanted(f.c)) {
			batches++;
			writeback_batch(&f, 0);
			write_blocks(&f, 4, 1, 1);
			xp_writeback_watch(f.c, now);
		}
	}
	assert_in_range(batches, 10, 24);
}

static void marks_begin_and_end_it(void **state)
{
	(void)state;
	miss(900000);
	dirty_percent(9);
	assert_false(xp_writeback_wanted(f.c));
	dirty_percent(11);
	assert_true(xp_writeback_wanted(f.c));
	while (xp_writeback_wanted(f.c))
		writeback_batch(&f, 0);
	assert_in_range(stats_of(&f).dirty * 1000 / stats_of(&f).slots, 43, 50);
	dirty_percent(9);
	assert_false(xp_writeback_wanted(f.c));
}

static void a_used_disk_rests_eleven_times_a_run(void **state)
{
	(void)state;
	miss(900000);
	dirty_percent(15);
	batch_begin(&f);
	for (u32 i = 0; i < 5; i++) {
		miss(900000 + i * 50000);
		write_run(20 * MS);
		assert_int_not_equal(xp_writeback_turn(f.c, now), 0);
		miss(950000 + i * 50000);
		assert_in_range(rest_of_run(), 219 * MS - ACCESS, 220 * MS);
	}
	/* one that says at once that it has written */
	write_run(1);
	assert_in_range(rest_of_run(), 80 * MS, 11 * (ACCESS + BLOCK));
	batch_end(&f, 0, 0, 0);
}

static void one_at_a_time_where_it_is_used(void **state)
{
	struct xp_run second;

	(void)state;
	miss(900000);
	dirty_percent(15);
	batch_begin(&f);
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_not_equal(xp_writeback_turn(f.c, now), 0);
	now += 2 * SECOND;	/* nobody uses it any more */
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	assert_int_equal(xp_writeback_next(f.c, &second), XP_NEXT_RUN);
	xp_writeback_end(f.c, &run, &f.todo);
	xp_writeback_end(f.c, &second, &f.todo);
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	batch_end(&f, 0, 0, 0);
}

static void flash_rests_as_long_as_a_run(void **state)
{
	(void)state;
	f.c->opt.slow_is_flash = true;
	begin_read(&(struct xp_req){ 0 }, 900000);
	dirty_percent(15);
	batch_begin(&f);
	write_run(2 * MS);
	assert_in_range(rest_of_run(), 2 * MS, 2 * MS + 10);
	batch_end(&f, 0, 0, 0);
}

/* From 40 to 45 % the rests end, and who waits ends them at once. */
static void pressed_it_rests_less(void **state)
{
	static const struct {
		u32 percent;
		u64 least, most;
	} steps[] = { { 39, 219, 220 }, { 41, 140, 220 }, { 43, 44, 140 }, { 46, 0, 0 } };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		miss(900000 + i * 50000);
		dirty_percent(steps[i].percent);
		batch_begin(&f);
		xp_writeback_turn(f.c, now);	/* the rest that the batch before owes begins */
		now += SECOND / 2;
		miss(905000 + i * 50000);
		write_run(20 * MS);
		miss(910000 + i * 50000);
		assert_in_range(rest_of_run() + (i < 3) * ACCESS, steps[i].least * MS, steps[i].most * MS + ACCESS);
		batch_end(&f, -EIO, 0, 0);
	}
	batch_begin(&f);
	xp_write_back_all(f.c, true);
	write_run(20 * MS);
	assert_int_equal(rest_of_run(), 0);
	batch_end(&f, 0, 0, 0);
}

/* Fills wait for a slow flush: the batch ends, and its flush covers what was bypassed by then. */
static void a_flush_that_is_wanted_ends_the_batch(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_percent(15);
	batch_begin(&f);
	write_run(20 * MS);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 8000000, 80, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	begin_read(&req, 1000000);	/* it is not filled */
	end_read(&req, 0);
	xp_tick(f.c, &f.todo);
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	for (u32 i = 0; i < 3; i++)	/* whoever asks */
		assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	write_journal(&f);
	fill_block(&f, 1000000, 1);
	assert_true(stats_of(&f).dirty);
}

/* Nothing is dirty, and a flush is owed all the same. */
static void an_idle_cache_flushes_what_was_bypassed(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_DISCARD, 8000000, 80, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(idle_until_watched(20), 6);
	writeback_batch(&f, 0);
	assert_true(xp_is_clean(f.c));
	assert_int_equal(idle_until_watched(60), 61);
}

/* Batches in a minute of a second's writes each, of which the run that holds @bad fails. */
static u32 batches_of_a_minute(u32 nr, u64 bad)
{
	u32 batches = 0;

	for (u32 i = 0; i < 60; i++) {
		now += SECOND;
		for (u32 n = 0; n < nr; n++)
			write_blocks(&f, 5 + n * 2, 1, 1);
		xp_writeback_watch(f.c, now);
		for (; xp_writeback_wanted(f.c); batches++) {
			batch_begin(&f);
			while (xp_writeback_next(f.c, &run) == XP_NEXT_RUN) {
				run.err = bad - xp_lba_n(run.lba) < run.nr_blocks ? -EIO : 0;
				xp_writeback_end(f.c, &run, &f.todo);
			}
			xp_writeback_commit(f.c, 0, 0, &f.todo);
			write_journal(&f);
		}
	}
	return batches;
}

static void a_bad_block_is_not_tried_without_end(void **state)
{
	(void)state;
	assert_in_range(batches_of_a_minute(3, 7), 8, 24);
}

static void more_than_a_batch_is_not_chased(void **state)
{
	(void)state;
	f.c->batch.max = 1000;
	assert_in_range(batches_of_a_minute(3000, ~0ull), 24, 60);	/* three or four each 5 s */
}

/* Of two processors that ask at once one may have read the clock before, and have the lock after. */
static void a_clock_that_is_late_is_not_idle(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	miss(900000);
	now += SECOND / 10;
	xp_writeback_turn(f.c, now);
	miss(950000);
	xp_writeback_turn(f.c, now);
	assert_false(xp_writeback_watch(f.c, now - SECOND / 20));
}

/* Whatever it took: a disk that had to spin up. */
static void a_rest_has_a_bound(void **state)
{
	(void)state;
	miss(900000);
	dirty_percent(15);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	now += 60 * SECOND;
	run.took = 60 * SECOND;
	miss(950000);
	xp_writeback_turn(f.c, now);
	xp_writeback_end(f.c, &run, &f.todo);
	miss(900000);
	assert_int_not_equal(xp_writeback_turn(f.c, now), 0);	/* a batch of such runs lasts too long in any case */
	f.c->batch.since = now;
	assert_in_range(rest_of_run(), SECOND, 2 * SECOND);
	batch_end(&f, 0, 0, 0);
}

/* What is written is to be clean some day, however slowly it is written. */
static void a_batch_does_not_last_for_ever(void **state)
{
	u32 runs = 0;

	(void)state;
	miss(900000);
	dirty_percent(35);
	batch_begin(&f);
	for (;; runs++) {
		miss(900000 + runs % 7 * 10000);
		rest_of_run();
		if (xp_writeback_next(f.c, &run) == XP_NEXT_END)
			break;
		now += 10 * MS;
		run.took = 10 * MS;
		xp_writeback_end(f.c, &run, &f.todo);
	}
	assert_in_range(runs, 100, 400);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	write_journal(&f);
}

/* Who reads when an idle cache writes back few blocks has the disk for itself. */
static void a_drain_ends_when_somebody_comes(void **state)
{
	(void)state;
	dirty_percent(5);
	assert_int_equal(idle_until_watched(20), 5);
	assert_true(xp_writeback_wanted(f.c));
	batch_begin(&f);
	write_run(10 * MS);
	miss(900000);
	assert_int_equal(xp_writeback_turn(f.c, now), 0);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_false(xp_writeback_wanted(f.c));
	assert_true(stats_of(&f).dirty);
}

/* -------------------------------------------------------------- a disk ---- */

/* One arm: what comes waits for what is before it. */
struct disk {
	u64 free;	/* when */
};

static u64 served(struct disk *d, u64 at, u32 nr_blocks)
{
	d->free = max(d->free, at) + ACCESS + (nr_blocks - 1) * BLOCK;
	return d->free;
}

struct backend {
	struct disk disk;
	bool open, running;
	u64 ask, ends;		/* when the backend asks again; when its run ends */
	u64 written;		/* blocks */
};

static void end_of_run(struct backend *b)
{
	run.took = b->ends - now;
	now = b->ends;
	xp_writeback_end(f.c, &run, &f.todo);
	b->running = false;
	b->written += run.nr_blocks;
	b->ask = now;
}

static void next_of_batch(struct backend *b)
{
	u64 wait = xp_writeback_turn(f.c, now);
	u64 at = now;

	if (wait) {
		b->ask = now + wait;
	} else if (xp_writeback_next(f.c, &run) == XP_NEXT_RUN) {
		b->running = true;
		b->ends = served(&b->disk, at, run.nr_blocks);
	} else {
		xp_writeback_commit(f.c, 0, 0, &f.todo);
		write_journal(&f);
		served(&b->disk, at, 1);
		b->open = false;
	}
}

/* What the backend does until @until. */
static void go_on(struct backend *b, u64 until)
{
	for (;;) {
		if (b->running && b->ends > until)
			return;
		if (!b->running && b->ask > until)
			return;
		if (b->running) {
			now = b->ends;
			run.took = ACCESS;
			end_of_run(b);
			continue;
		}
		now = max(now, b->ask);
		if (!b->open) {
			if (!xp_writeback_wanted(f.c)) {
				b->ask = until + 1;
				continue;
			}
			batch_begin(&f);
			b->open = true;
		}
		next_of_batch(b);
	}
}

/* Who reads block after block from everywhere on the disk, while so much is dirty. */
static void a_reader_keeps_nine_tenths(void **state)
{
	struct backend b = { .ask = now };
	u64 begun = now, window_begun = now, window_written = 0, t = now;
	u32 reads = 0, least = ~0u, most = 0;
	struct xp_req req;

	(void)state;
	dirty_percent(39);
	while (t - begun < 60 * SECOND) {
		begin_read(&req, 900000 + (u64)reads * 7919 % 100000 * 10);
		t = served(&b.disk, t, 1);
		go_on(&b, t);
		now = t;
		end_read(&req, ACCESS);
		reads++;
		if (t - window_begun >= 10 * SECOND) {
			least = min(least, (u32)(b.written - window_written));
			most = max(most, (u32)(b.written - window_written));
			window_begun = t;
			window_written = b.written;
		}
	}
	assert_in_range(reads * ACCESS * 1000 / (t - begun), 900, 1000);
	assert_in_range(least, 60, 10000);
	assert_in_range((most - least) * 100 / least, 0, 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_idle_cache_is_drained),
		T(an_idle_ms_of_0_drains_nothing),
		T(a_disk_that_sleeps_is_left_alone_for_the_delay),
		T(what_is_written_again_wakes_it_once_a_delay),
		T(a_read_that_wakes_the_disk_takes_along_what_is_dirty),
		T(a_read_of_long_ago_does_not_keep_it_awake),
		T(a_mark_wakes_the_disk_for_all_that_is_dirty),
		T(a_read_before_the_clock_stood_does_not_keep_it_awake),
		T(a_read_just_before_the_clock_went_on_keeps_it_awake),
		T(a_drain_that_ends_beside_a_reader_leaves_the_disk_awake),
		T(an_idle_time_that_is_changed_does_not_wake_the_disk),
		T(a_drain_of_which_a_part_failed_does_not_wait_for_the_delay),
		T(a_block_that_always_fails_lets_the_disk_sleep),
		T(gaps_do_not_begin_the_delay_anew),
		T(a_drain_that_failed_does_not_wait_for_the_delay),
		T(a_drain_that_was_left_does_not_wait_for_the_delay),
		T(what_a_start_finds_dirty_does_not_wait_for_the_delay),
		T(a_delay_without_an_idle_time_drains_nothing),
		T(hits_are_idle_and_misses_are_not),
		T(one_that_takes_long_is_not_idle),
		T(what_is_written_again_is_not_chased),
		T(marks_begin_and_end_it),
		T(a_used_disk_rests_eleven_times_a_run),
		T(one_at_a_time_where_it_is_used),
		T(flash_rests_as_long_as_a_run),
		T(pressed_it_rests_less),
		T(a_flush_that_is_wanted_ends_the_batch),
		T(an_idle_cache_flushes_what_was_bypassed),
		T(a_bad_block_is_not_tried_without_end),
		T(more_than_a_batch_is_not_chased),
		T(a_clock_that_is_late_is_not_idle),
		T(a_rest_has_a_bound),
		T(a_batch_does_not_last_for_ever),
		T(a_drain_ends_when_somebody_comes),
		T(a_reader_keeps_nine_tenths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
