// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"
#include "request.h"
#include "run.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

static void a_write_is_one_run(void **state)
{
	(void)state;
	write_blocks(&f, 1000, XP_RUN_MAX, 7);	/* 1 MiB: one answer, one bio */
	assert_int_equal(mapped_byte(&f, 1000), 7);
	assert_int_equal(mapped_byte(&f, 1000 + XP_RUN_MAX - 1), 7);
	assert_int_equal(mapped_byte(&f, 1000 + XP_RUN_MAX), -1);
}

static void a_hit_is_one_run(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 1000, XP_RUN_MAX, 7);
	assert_int_equal(submit(&f, &req, XP_READ, 8003, 2000, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 2000);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void a_read_is_split_where_the_cache_ends(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 10, 2, 7);
	assert_int_equal(submit(&f, &req, XP_READ, 75, 5 + 16, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_sectors, 5);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &req.fill, -ENOMEM, &f.todo);
	f.c->disk.next = 0;	/* no disk's head is there */
	assert_int_equal(submit(&f, &req, XP_READ, 80, 100, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 16);
	xp_end(f.c, &req, 0, &f.todo);
}

static void a_miss_fills(void **state)
{
	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(mapped_byte(&f, 5), 9);
	assert_false(mapped_dirty(&f, 5));
}

/* DESIGN: a fill is dropped if anything touched the block since its read began. */
static void a_write_dooms_the_fill(void **state)
{
	struct xp_req read;

	(void)state;
	assert_int_equal(submit(&f, &read, XP_READ, 40, 8, false), XP_SLOW_FILL);
	write_blocks(&f, 5, 1, 2);
	assert_int_equal(xp_end(f.c, &read, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &read.fill, 0, &f.todo);
	assert_int_equal(mapped_byte(&f, 5), 2);
}

static void overlapping_writes_take_turns(void **state)
{
	struct xp_req a, b;

	(void)state;
	assert_int_equal(submit(&f, &a, XP_WRITE, 40, 8, false), XP_FAST);
	assert_int_equal(submit(&f, &b, XP_WRITE, 40, 8, false), XP_WAIT);
	assert_int_equal(xp_end(f.c, &a, 0, &f.todo), XP_DONE);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &b.link);
	assert_int_equal(xp_submit(f.c, &b, &f.todo), XP_FAST);
	assert_int_not_equal(a.target, b.target);
	xp_end(f.c, &b, 0, &f.todo);
}

/* Of a cache of before: test_part.c is about any other. */
static void a_partial_write_reads_the_rest(void **state)
{
	struct xp_req req;

	(void)state;
	f.sb.incompat &= cpu_to_le64(~XP_INCOMPAT_PARTS);
	fixture_reopen(&f);
	assert_int_equal(submit(&f, &req, XP_WRITE, 43, 20, false), XP_COPY);
	assert_int_equal(req.nr_sectors, 5);
	assert_int_equal(req.copy.base, XP_BASE_SLOW);
	assert_int_equal(req.copy.from, 40);
	assert_int_equal(req.copy.offset, 3 * 512);
	assert_false(req.copy.parallel);
	refuse_write(&f, &req);
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(submit(&f, &req, XP_WRITE, 43, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	xp_end(f.c, &req, 0, &f.todo);
}

static void a_failed_write_changes_nothing(void **state)
{
	struct xp_req req;
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	for (u32 n = 1; n < WRITE_TRIES; n++) {
		refuse_write(&f, &req);
		assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	}
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(mapped_byte(&f, 5), 3);
	xp_get_stats(f.c, &s);
	assert_int_equal(s.free + s.dirty + WRITE_TRIES, s.slots);
}

static void a_flush_with_nothing_pending_is_free(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_int_not_equal(f.todo.journal, 0);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
}

/* One journal write, at once with the data: not data, then journal. */
static void a_fua_write_is_a_parallel_commit(void **state)
{
	struct xp_req req;
	u64 hash = 1;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, true), XP_COPY);
	assert_true(req.copy.parallel);
	assert_int_equal(f.todo.journal, 0);
	xp_copied(f.c, &req, &hash, &f.todo);
	assert_int_not_equal(f.todo.journal, 0);
	write_journal(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);	/* not before its data */
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_not_equal(mapped_byte(&f, 5), -1);
}

/* Where nothing is under way for a while there is no while to hide a checksum in. */
static void at_once_the_record_comes_behind_its_data(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	f.opt.fast_at_once = true;
	fixture_reopen(&f);
	for (i = 0; i < 8; i++) {
		assert_int_equal(write_blocks(&f, i, 1, 1), XP_FAST);
		flush(&f);
	}
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, true), XP_FAST);
	assert_int_equal(f.todo.journal, 0);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	assert_int_not_equal(f.todo.journal, 0);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
}

/* A lone sync's: the header's line, and its record's. */
static void a_journal_block_says_how_much_of_it_counts(void **state)
{
	struct xp_journal_io io;
	struct xp_req req;
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	i = (u32)__builtin_ctz(f.todo.journal);
	xp_journal_io(f.c, i, &io);
	assert_int_equal(io.bytes, 2 * XP_LINE_SIZE);
	write_journal(&f);
	xp_list_pop(&f.todo.done);
}

/* A FLUSH that is expected costs nothing: the last write before it took the records along. */
static void an_expected_flush_finds_nothing_to_do(void **state)
{
	struct xp_req req;
	u32 i, n;

	(void)state;
	for (n = 1; n <= 3; n++) {
		for (i = 0; i < 4 * n; i++) {
			write_blocks(&f, i, 1, 1);
			if (i % n == n - 1)
				flush(&f);
		}
		for (i = 1; i < n; i++)
			assert_int_equal(write_blocks(&f, i, 1, 1), XP_FAST);
		assert_int_equal(write_blocks(&f, 0, 1, 1), XP_COPY);
		assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
		assert_int_equal(f.todo.journal, 0);

		for (i = 1; i < n; i++)
			write_blocks(&f, i, 1, 1);
		assert_int_equal(write_blocks(&f, 0, 1, 1), XP_COPY);	/* in vain */
		assert_int_equal(write_blocks(&f, 0, 1, 1), XP_FAST);
		flush(&f);
		write_blocks(&f, 0, 1, 1);
		flush(&f);
	}
}

static void zeroes_hide_what_was_there(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 2, 3);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 40, 24, false), XP_DONE);
	assert_int_equal(req.nr_sectors, 16);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_ZERO);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 56, 8, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
}

/* All slots dirty: what is not mapped goes around, and the next FLUSH follows. */
static void a_full_cache_lets_writes_around(void **state)
{
	struct xp_stats s;
	struct xp_req req;
	u64 lba = 0;

	(void)state;
	for (xp_get_stats(f.c, &s); s.free; xp_get_stats(f.c, &s), lba++)
		write_blocks(&f, lba, 1, 1);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	write_journal(&f);
	xp_list_pop(&f.todo.done);
	assert_int_equal(submit(&f, &req, XP_WRITE, 50000 * 8, 24, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(stats_of(&f).write_bypass_blocks, 3);
	assert_int_equal(stats_of(&f).write_blocks, lba);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	assert_true(xp_writeback_wanted(f.c));
}

/* The device mapper sends a preflush and its FUA write one after the other, and
 * forgets the error of the first. */
static void a_failed_flush_refuses_what_is_behind_it(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_ZEROES, 56, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_true(f.todo.tick);
	assert_int_equal(submit(&f, &req, XP_WRITE, 80, 8, true), XP_DONE);
	assert_int_equal(req.err, -EIO);
	write_blocks(&f, 11, 1, 2);	/* ordered behind nothing */

	/* Ticks alone do not make it good, but have it flushed. */
	for (i = 0; i < 3; i++)
		xp_tick(f.c, &f.todo);
	assert_int_equal(submit(&f, &req, XP_WRITE, 80, 8, true), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_true(xp_writeback_wanted(f.c));
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(submit(&f, &req, XP_WRITE, 80, 8, true), XP_COPY);
	xp_end(f.c, &req, -EIO, &f.todo);
}

/* The write of the failed flush may come after somebody else's has succeeded. */
static void a_failed_flush_is_held_against_it_for_a_tick(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_ZEROES, 56, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	xp_end(f.c, &req, -EIO, &f.todo);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
	xp_tick(f.c, &f.todo);
	assert_int_equal(submit(&f, &req, XP_WRITE, 80, 8, true), XP_DONE);
	assert_int_equal(req.err, -EIO);
	f.todo.tick = false;
	xp_tick(f.c, &f.todo);
	assert_true(f.todo.tick);
	assert_int_equal(submit(&f, &req, XP_WRITE, 80, 8, true), XP_COPY);
	xp_end(f.c, &req, -EIO, &f.todo);
}

static void a_failed_journal_stops_acknowledging(void **state)
{
	struct xp_req req, read;
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	i = (u32)__builtin_ctz(f.todo.journal);
	f.todo.journal = 0;
	xp_journal_end(f.c, i, -ENODEV, &f.todo);	/* no place of it will do */
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &read, XP_READ, 40, 8, false), XP_FAST);
	xp_end(f.c, &read, 0, &f.todo);
}

/* I3: a dirty block leaves for the slow device only once a recovery finds it. */
static void writeback_waits_for_the_record(void **state)
{
	struct xp_run *run = malloc(sizeof(*run));
	struct xp_todo todo;

	(void)state;
	xp_todo_init(&todo);
	write_blocks(&f, 7, 1, 3);
	write_blocks(&f, 5, 2, 3);
	xp_write_back_all(f.c, true);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_WAIT);
	write_journal(&f);
	assert_true(f.todo.work);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_RUN);
	assert_int_equal(xp_lba_n(run->lba), 5);	/* in lba order, merged */
	assert_int_equal(run->nr_blocks, 3);
	xp_writeback_end(f.c, run, &f.todo);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_END);
	assert_true(mapped_dirty(&f, 5));
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_false(mapped_dirty(&f, 5));
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_true(xp_is_clean(f.c));
	free(run);
}

/* A flush arrives when nothing is dirty, though the next write comes before anybody looks. */
static void a_moment_without_dirty_is_clean(void **state)
{
	struct xp_run *run = malloc(sizeof(*run));
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_false(xp_writeback_wanted(f.c));
	xp_write_back_all(f.c, true);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	write_journal(&f);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_RUN);
	xp_writeback_end(f.c, run, &f.todo);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_END);
	xp_get_stats(f.c, &s);
	assert_true(s.flushing && !s.slow_complete && !s.flushes_completed);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	write_blocks(&f, 9, 2, 4);
	xp_get_stats(f.c, &s);
	assert_true(!s.flushing && !s.slow_complete && s.flushes_completed == 1);
	assert_false(xp_writeback_wanted(f.c));
	free(run);
}

/* Nothing to bring: it arrives at once. One that is given up does not arrive. */
static void clean_already_or_given_up(void **state)
{
	struct xp_stats s;

	(void)state;
	xp_write_back_all(f.c, true);
	assert_false(xp_writeback_wanted(f.c));
	xp_get_stats(f.c, &s);
	assert_true(!s.flushing && s.slow_complete && s.flushes_completed == 1);
	write_blocks(&f, 5, 1, 3);
	xp_write_back_all(f.c, true);
	xp_write_back_all(f.c, false);
	assert_false(xp_writeback_wanted(f.c));
	xp_get_stats(f.c, &s);
	assert_true(!s.flushing && !s.slow_complete && s.flushes_completed == 1);
}

/* What is written around the cache while a flush is asked for keeps it from arriving: its end is
 * when writeback has something to do, and if somebody's FLUSH is quicker, that is when it arrives. */
static void clean_waits_for_bypass_writes(void **state)
{
	struct xp_req around, req;
	struct xp_stats s;

	(void)state;
	for (u32 flushed_by_a_client = 0; flushed_by_a_client < 2; flushed_by_a_client++) {
		assert_int_equal(submit(&f, &around, XP_ZEROES, 56, 8, false), XP_SLOW);
		xp_write_back_all(f.c, true);
		assert_false(xp_writeback_wanted(f.c));
		f.todo.work = false;
		xp_end(f.c, &around, 0, &f.todo);
		assert_true(f.todo.work);
		assert_true(xp_writeback_wanted(f.c));
		if (flushed_by_a_client) {
			assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
			xp_end(f.c, &req, 0, &f.todo);
		} else {
			assert_true(xp_writeback_begin(f.c, &f.todo));
			xp_writeback_commit(f.c, 0, 0, &f.todo);
		}
		xp_get_stats(f.c, &s);
		assert_true(!s.flushing && s.slow_complete && s.flushes_completed == 1 + flushed_by_a_client);
	}
}

/* ------------------------------------------------- a cache full of dirty ---- */

/* Writes every free slot full; the lbas from 0 on. Returns how many. */
static u64 fill_with_dirty(void)
{
	struct xp_stats s;
	u64 lba = 0;

	for (xp_get_stats(f.c, &s); s.free; xp_get_stats(f.c, &s), lba++)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	return lba;
}

/* A slow device that is gone must not keep writers, and suspend, for ever. */
static void a_dead_slow_device_fails_who_waits_for_it(void **state)
{
	struct xp_req waiting, late;
	int batches = 0;

	(void)state;
	fill_with_dirty();
	assert_int_equal(submit(&f, &waiting, XP_WRITE, 0, 8, false), XP_WAIT);
	while (xp_list_empty(&f.todo.ready)) {
		assert_true(batches++ < 10);
		writeback_batch(&f, -EIO);
	}
	assert_true(batches > 1);	/* one may be bad luck */
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &waiting.link);
	assert_int_equal(xp_submit(f.c, &waiting, &f.todo), XP_DONE);
	assert_int_equal(waiting.err, -EIO);
	assert_int_equal(submit(&f, &late, XP_WRITE, 16, 8, false), XP_DONE);
	assert_int_equal(late.err, -EIO);
	assert_int_equal(mapped_byte(&f, 0), 1);

	/* It heals with the device. */
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_int_equal(submit(&f, &late, XP_WRITE, 16, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &late, 0, &f.todo), XP_DONE);
	fill_with_dirty();
	assert_int_equal(submit(&f, &late, XP_WRITE, 16, 8, false), XP_WAIT);
}

/* A cache of dirty blocks that only a write in need of a slot makes writeback. */
static void fill_and_pause(void)
{
	f.opt.dirty_low = f.opt.dirty_high = 100;
	fixture_reopen(&f);
	fill_with_dirty();
	assert_false(xp_writeback_wanted(f.c));
}

/* Errors of before a pause say little about the slow device of after it. */
static void errors_before_a_pause_do_not_count(void **state)
{
	struct xp_req req;

	(void)state;
	fill_and_pause();
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	while (xp_list_empty(&f.todo.ready))
		writeback_batch(&f, -EIO);
	xp_list_pop(&f.todo.ready);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);

	assert_false(xp_writeback_wanted(f.c));		/* the pause */
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	writeback_batch(&f, 0);				/* it has healed */
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* Nor do those of before a batch that came home: it takes as many again. */
static void errors_before_a_success_do_not_count(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	fill_with_dirty();
	for (i = 1; i < XP_FUTILE_MAX; i++)
		writeback_batch(&f, -EIO);
	writeback_batch(&f, 0);
	fill_with_dirty();
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	writeback_batch(&f, -EIO);
	assert_true(xp_list_empty(&f.todo.ready));
	for (i = 1; i < XP_FUTILE_MAX; i++)
		writeback_batch(&f, -EIO);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

/* A slot that a newer write freed while the batch still read it. */
static void the_end_of_a_batch_hands_on_its_slots(void **state)
{
	struct xp_req newer, waiting;

	(void)state;
	assert_int_equal(submit(&f, &newer, XP_WRITE, 0, 8, false), XP_FAST);
	/* lba 0 is busy: its block comes from a fill of the cache from 1 on. */
	assert_int_equal(xp_end(f.c, &newer, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &newer, XP_WRITE, 0, 8, false), XP_FAST);
	for (u64 lba = 1; ; lba++) {
		struct xp_stats s;

		xp_get_stats(f.c, &s);
		if (!s.free)
			break;
		write_blocks(&f, lba, 1, 1);
	}
	flush(&f);
	assert_int_equal(submit(&f, &waiting, XP_WRITE, 8, 8, false), XP_WAIT);
	assert_true(xp_writeback_begin(f.c, &f.todo));	/* pins lba 0's old slot */
	assert_int_equal(xp_end(f.c, &newer, 0, &f.todo), XP_DONE);
	flush(&f);
	assert_true(xp_list_empty(&f.todo.ready));
	xp_writeback_commit(f.c, -EIO, 0, &f.todo);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &waiting.link);
	assert_int_equal(xp_submit(f.c, &waiting, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &waiting, 0, &f.todo), XP_DONE);
}

/* It was let go for the sake of a slot, and takes none. */
static void a_refused_write_hands_on_its_slot(void **state)
{
	struct xp_req failing, refused, next, req;

	(void)state;
	assert_int_equal(submit(&f, &failing, XP_WRITE, 90000 * 8, 8, false), XP_FAST);
	fill_with_dirty();
	assert_int_equal(submit(&f, &refused, XP_WRITE, 0, 8, true), XP_WAIT);
	assert_int_equal(submit(&f, &next, XP_WRITE, 8, 8, false), XP_WAIT);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 80000 * 8, 8, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	xp_end(f.c, &req, -EIO, &f.todo);
	assert_int_equal(xp_end(f.c, &failing, -ENOSPC, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &failing.link);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &refused.link);
	assert_true(xp_list_empty(&f.todo.ready));
	assert_int_equal(xp_submit(f.c, &refused, &f.todo), XP_DONE);
	assert_int_equal(refused.err, -EIO);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &next.link);
	assert_int_equal(xp_submit(f.c, &next, &f.todo), XP_FAST);
	xp_end(f.c, &next, 0, &f.todo);
}

/* ------------------------------------------------------------ the journal ---- */

#define BACKLOG 224

static void end_write(struct xp_req *req)
{
	if (xp_end(f.c, req, 0, &f.todo) == XP_WAIT) {
		write_journal(&f);
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req->link);
	}
	assert_int_equal(req->err, 0);
}

/*
 * Each write beside its record holds the record that it supersedes. Here those
 * lie in two old blocks, so that the tail cannot move while the backlog, let in
 * when the ring was empty, takes a block for each write.
 */
static void a_backlog_of_fua_writes_leaves_room(void **state)
{
	static struct xp_req req[BACKLOG];
	u64 hash = 1;
	int i;

	(void)state;
	fixture_teardown(&f);
	fixture_setup(&f, 3000, 100000);
	assert_true(le64_to_cpu(f.sb.journal_blocks) < BACKLOG);
	for (i = 0; i < BACKLOG; i++)
		write_blocks(&f, (u64)i, 1, 1);
	flush(&f);
	for (i = 0; i < BACKLOG; i++)
		assert_int_equal(submit(&f, &req[i], XP_WRITE, (u64)i * 8, 8, true),
				 XP_COPY);
	for (i = 0; i < BACKLOG; i++) {
		xp_copied(f.c, &req[i], &hash, &f.todo);
		write_journal(&f);
		if (i)
			end_write(&req[i - 1]);
	}
	end_write(&req[BACKLOG - 1]);
	write_blocks(&f, 0, 1, 2);
	flush(&f);
}

/* Whoever places the first record of a block asks for the clock: nothing
 * acknowledged stays in memory alone, however late it was placed. */
static void a_record_asks_for_the_clock(void **state)
{
	struct xp_stats before, after;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_true(f.todo.tick);
	f.todo.tick = false;
	write_blocks(&f, 6, 1, 3);
	assert_false(f.todo.tick);
	xp_get_stats(f.c, &before);
	xp_tick(f.c, &f.todo);
	write_journal(&f);
	xp_get_stats(f.c, &after);
	assert_int_equal(after.durable_seq, before.durable_seq + 1);
	fill_block(&f, 9, 1);
	assert_true(f.todo.tick);
}

/* What has been counted since the last look. */
struct counts {
	u64 fast, slow, written, around, discarded;
};

static struct counts counted(void)
{
	static struct counts before;
	struct xp_stats s = stats_of(&f);
	struct counts now = {
		s.read_blocks_fast, s.read_blocks_slow, s.write_blocks, s.write_bypass_blocks, s.discard_blocks,
	};
	struct counts since = {
		now.fast - before.fast, now.slow - before.slow, now.written - before.written,
		now.around - before.around, now.discarded - before.discarded,
	};

	before = now;
	return since;
}

static void assert_counted(u64 fast, u64 slow, u64 written, u64 around, u64 discarded)
{
	struct counts c = counted();

	assert_int_equal(c.fast, fast);
	assert_int_equal(c.slow, slow);
	assert_int_equal(c.written, written);
	assert_int_equal(c.around, around);
	assert_int_equal(c.discarded, discarded);
}

/* A request of which there is one answer, to its end. */
static void answer(enum xp_op op, u64 sector, u32 nr_sectors, enum xp_act wanted, int err)
{
	struct xp_req req;
	enum xp_act act = submit(&f, &req, op, sector, nr_sectors, false);

	assert_int_equal(act, wanted);
	if (act == XP_FAST || act == XP_SLOW || act == XP_SLOW_FILL || act == XP_COPY)
		assert_int_equal(xp_end(f.c, &req, err, &f.todo), XP_DONE);
	if (act == XP_SLOW_FILL && !err)
		xp_fill_end(f.c, &req.fill, -EIO, &f.todo);
}

/* As many as it touches, in whole or in part; none of an answer that failed. */
static void each_answer_counts_its_blocks(void **state)
{
	struct xp_req req;

	(void)state;
	counted();	/* another test's */
	answer(XP_READ, 8003, 24, XP_SLOW_FILL, 0);
	assert_counted(0, 4, 0, 0, 0);
	answer(XP_READ, 8000, 24, XP_SLOW_FILL, -EIO);
	assert_counted(0, 0, 0, 0, 0);
	write_blocks(&f, 10, 3, 7);
	assert_counted(0, 0, 3, 0, 0);
	answer(XP_WRITE, 801, 2, XP_FAST, 0);
	assert_counted(0, 0, 1, 0, 0);
	answer(XP_READ, 81, 16, XP_FAST, 0);
	assert_counted(3, 0, 0, 0, 0);
	answer(XP_READ, 81, 16, XP_FAST, -EIO);
	assert_counted(0, 0, 0, 0, 0);

	/* Of 100 blocks, three: the rest is another answer's. */
	answer(XP_READ, 80, 800, XP_FAST, 0);
	assert_counted(3, 0, 0, 0, 0);

	/* Whoever ends a hit so knows whether it was read. */
	req = (struct xp_req){ .op = XP_READ, .sector = 80, .nr_sectors = 24 };
	assert_int_equal(xp_hit(f.c, &req), XP_HIT);
	assert_false(xp_hit_end(f.c, &req));
	assert_counted(0, 0, 0, 0, 0);
}

/* Neither reads nor writes, wherever they go. */
static void commands_without_data_are_counted_apart(void **state)
{
	(void)state;
	counted();
	write_blocks(&f, 10, 3, 7);
	answer(XP_ZEROES, 80, 16, XP_DONE, 0);		/* a record for each */
	answer(XP_ZEROES, 97, 2, XP_COPY, 0);		/* a part of a block, as a write does it */
	assert_counted(0, 0, 3, 0, 3);
	answer(XP_READ, 80, 16, XP_ZERO, 0);
	assert_counted(2, 0, 0, 0, 0);
	answer(XP_ZEROES, 8000, 800, XP_SLOW, 0);	/* to the slow device */
	answer(XP_DISCARD, 8000, 8000, XP_SLOW, 0);
	assert_counted(0, 0, 0, 0, 1100);
	answer(XP_DISCARD, 8000, 8000, XP_SLOW, -EIO);
	answer(XP_DISCARD, 8001, 2, XP_DONE, 0);	/* too little to do anything */
	assert_counted(0, 0, 0, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_write_is_one_run),
		T(a_hit_is_one_run),
		T(a_read_is_split_where_the_cache_ends),
		T(a_miss_fills),
		T(a_write_dooms_the_fill),
		T(overlapping_writes_take_turns),
		T(a_partial_write_reads_the_rest),
		T(a_failed_write_changes_nothing),
		T(a_flush_with_nothing_pending_is_free),
		T(a_fua_write_is_a_parallel_commit),
		T(at_once_the_record_comes_behind_its_data),
		T(a_journal_block_says_how_much_of_it_counts),
		T(an_expected_flush_finds_nothing_to_do),
		T(zeroes_hide_what_was_there),
		T(a_full_cache_lets_writes_around),
		T(a_failed_flush_refuses_what_is_behind_it),
		T(a_failed_flush_is_held_against_it_for_a_tick),
		T(a_failed_journal_stops_acknowledging),
		T(writeback_waits_for_the_record),
		T(a_moment_without_dirty_is_clean),
		T(clean_already_or_given_up),
		T(clean_waits_for_bypass_writes),
		T(a_dead_slow_device_fails_who_waits_for_it),
		T(errors_before_a_pause_do_not_count),
		T(errors_before_a_success_do_not_count),
		T(the_end_of_a_batch_hands_on_its_slots),
		T(a_refused_write_hands_on_its_slot),
		T(a_backlog_of_fua_writes_leaves_room),
		T(a_record_asks_for_the_clock),
		T(each_answer_counts_its_blocks),
		T(commands_without_data_are_counted_apart),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
