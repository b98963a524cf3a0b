// SPDX-License-Identifier: GPL-2.0-only
/* test_flush.c - flushes of the slow device, one at a time, and who hears of what it has lost. */
#include "fixture.h"
#include "cache.h"
#include "mark.h"
#include "options.h"
#include "run.h"

static struct fixture f;
static struct xp_run run;

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 2048, 100000);
	f.opt.mode = XP_MODE_WRITEAROUND;
	fixture_reopen(&f);
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

/* Around the cache; it has ended when somebody says so. */
static void begin_write(struct xp_req *req, u64 lba, bool fua)
{
	assert_int_equal(submit(&f, req, XP_WRITE, lba * 8, 8, fua), XP_SLOW);
}

static void written(u64 lba)
{
	struct xp_req req;

	begin_write(&req, lba, false);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static enum xp_act begin_flush(struct xp_req *req)
{
	enum xp_act act = submit(&f, req, XP_FLUSH, 0, 0, false);

	write_journal(&f);
	return act;
}

static void end_slow(struct xp_req *req, int err)
{
	assert_int_equal(xp_end(f.c, req, err, &f.todo), XP_DONE);
	write_journal(&f);
}

/* The next of those that have waited, or that are to be submitted again. */
static void assert_ended(struct xp_req *req, int err)
{
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req->link);
	assert_int_equal(req->err, err);
}

static void assert_comes_again(struct xp_req *req)
{
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req->link);
	assert_int_equal(xp_submit(f.c, req, &f.todo), XP_SLOW);
	write_journal(&f);
}

static void assert_is_flushed_next(struct xp_req *req)
{
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req->link);
	req->nr_sectors = 800;		/* the backend's: all that is left of it */
	assert_int_equal(xp_submit(f.c, req, &f.todo), XP_SLOW_FLUSH);
	assert_int_equal(req->nr_sectors, 8);
}

static void assert_nobody(void)
{
	assert_true(xp_list_empty(&f.todo.done));
	assert_true(xp_list_empty(&f.todo.ready));
}

/* Of a slow device that is well. */
static int flush_now(void)
{
	struct xp_req req;

	if (begin_flush(&req) == XP_SLOW)
		end_slow(&req, 0);
	return req.err;
}

/* The command line's, which goes to the device; that ends it with @err. */
static int flush_aside(int err)
{
	struct xp_req req = { .op = XP_FLUSH, .aside = true };

	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	end_slow(&req, err);
	return req.err;
}

/* A dirty block, of a batch whose flush comes next; and a write around the cache. */
static void batch_up_to_its_flush(u64 lba)
{
	f.c->opt.mode = XP_MODE_WRITEBACK;
	write_blocks(&f, lba, 1, 1);
	flush(&f);
	f.c->opt.mode = XP_MODE_WRITEAROUND;
	written(900);
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	run.err = 0;
	xp_writeback_end(f.c, &run, &f.todo);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
}

static void commit(int err)
{
	xp_writeback_commit(f.c, err, 1, &f.todo);
	write_journal(&f);
}

/* --------------------------------------------------------- one at a time ---- */

static void a_flush_waits_for_one_that_covers_it(void **state)
{
	struct xp_req first, second;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	assert_int_equal(begin_flush(&second), XP_WAIT);
	end_slow(&first, 0);
	assert_int_equal(first.err, 0);
	assert_ended(&second, 0);
	assert_int_equal(stats_of(&f).flushes_slow, 1);
	assert_nobody();
}

static void a_flush_of_more_comes_again(void **state)
{
	struct xp_req first, second, third;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	written(9);
	assert_int_equal(begin_flush(&second), XP_WAIT);
	assert_int_equal(begin_flush(&third), XP_WAIT);
	end_slow(&first, 0);
	assert_comes_again(&second);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &third.link);
	assert_int_equal(xp_submit(f.c, &third, &f.todo), XP_WAIT);
	end_slow(&second, 0);
	assert_ended(&third, 0);
	assert_int_equal(stats_of(&f).flushes_slow, 2);
	assert_nobody();
}

/* The device would have told the first alone, whatever order the two are seen in. */
static void all_that_were_under_way_hear_of_a_loss(void **state)
{
	struct xp_req first, same, more;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	assert_int_equal(begin_flush(&same), XP_WAIT);
	written(9);
	assert_int_equal(begin_flush(&more), XP_WAIT);
	end_slow(&first, -ENOSPC);
	assert_int_equal(first.err, -ENOSPC);
	assert_ended(&same, -EIO);
	assert_ended(&more, -EIO);
	assert_nobody();
	assert_int_equal(flush_now(), 0);	/* it was told */
}

/* ... although another has taken the news meanwhile. */
static void a_loss_beside_a_flush_is_told_to_it(void **state)
{
	struct xp_req first, waits, late;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	assert_int_equal(begin_flush(&waits), XP_WAIT);
	xp_slow_lost(f.c);
	assert_int_equal(begin_flush(&late), XP_DONE);
	assert_int_equal(late.err, -EIO);
	end_slow(&first, 0);
	assert_int_equal(first.err, -EIO);
	assert_ended(&waits, -EIO);
	assert_int_equal(flush_now(), 0);
}

/* It is about what had ended when it came: what ended since is another's to tell. */
static void a_flush_that_comes_again_tells_no_more(void **state)
{
	struct xp_req first, again;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	written(9);
	assert_int_equal(begin_flush(&again), XP_WAIT);
	written(12);
	end_slow(&first, 0);
	assert_comes_again(&again);
	end_slow(&again, -EIO);
	assert_int_equal(again.err, -EIO);
	assert_int_equal(flush_now(), -EIO);
	assert_int_equal(flush_now(), 0);
}

/* ... nor is it held up by them. */
static void a_flush_that_comes_again_waits_for_no_more(void **state)
{
	struct xp_req first, again, other;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	written(9);
	assert_int_equal(begin_flush(&again), XP_WAIT);
	end_slow(&first, 0);
	assert_int_equal(begin_flush(&other), XP_SLOW);
	written(12);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &again.link);
	assert_int_equal(xp_submit(f.c, &again, &f.todo), XP_WAIT);
	end_slow(&other, 0);
	assert_ended(&again, 0);
}

static int store(void *ctx, u64 at, const void *from, u32 bytes)
{
	(void)ctx;
	memcpy(f.fast + at, from, bytes);
	return 0;
}

/* On memory, where a FLUSH with nothing owed looks at nothing else. */
static void a_flush_that_comes_again_hears_when_all_is_well(void **state)
{
	struct xp_req first, again, failing;

	(void)state;
	f.opt.fast_at_once = true;
	f.opt.store = store;
	fixture_reopen(&f);
	written(3);
	assert_int_equal(begin_flush(&first), XP_SLOW);
	written(4);
	assert_int_equal(begin_flush(&again), XP_WAIT);
	end_slow(&first, 0);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &again.link);
	assert_int_equal(begin_flush(&failing), XP_SLOW);
	end_slow(&failing, -EIO);
	assert_int_equal(flush_now(), 0);
	assert_int_equal(flush_now(), 0);
	assert_false(f.c->owes);
	assert_int_equal(xp_submit(f.c, &again, &f.todo), XP_DONE);
	assert_int_equal(again.err, -EIO);
}

/* --------------------------------------------------------------- batches ---- */

/* I7: else its success may be seen before the failure of the other, which is about both. */
static void a_batch_waits_for_a_callers_flush(void **state)
{
	struct xp_req caller, next;

	(void)state;
	batch_up_to_its_flush(5);
	assert_int_equal(begin_flush(&caller), XP_SLOW);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_LATER);
	assert_int_equal(begin_flush(&next), XP_WAIT);
	f.todo.work = false;
	end_slow(&caller, -EIO);
	assert_true(f.todo.work);
	assert_ended(&next, -EIO);
	written(901);
	assert_int_equal(begin_flush(&next), XP_WAIT);	/* behind the batch, which has waited for longer */
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
	commit(0);
	assert_ended(&next, 0);
	assert_true(mapped_dirty(&f, 5));
	assert_int_equal(flush_now(), 0);
}

/* Between two turns, too. */
static void a_loss_before_a_batch_is_told_to_who_waits(void **state)
{
	struct xp_req caller, waits, late;

	(void)state;
	batch_up_to_its_flush(5);
	assert_int_equal(begin_flush(&caller), XP_SLOW);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_LATER);
	end_slow(&caller, 0);
	written(901);
	assert_int_equal(begin_flush(&waits), XP_WAIT);
	xp_slow_lost(f.c);
	assert_int_equal(begin_flush(&late), XP_DONE);
	assert_int_equal(late.err, -EIO);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
	commit(0);
	assert_ended(&waits, -EIO);
}

static void a_callers_flush_waits_for_a_batch(void **state)
{
	struct xp_req caller;

	(void)state;
	batch_up_to_its_flush(5);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
	assert_int_equal(begin_flush(&caller), XP_WAIT);
	commit(-EIO);
	assert_ended(&caller, -EIO);
	assert_int_equal(flush_now(), 0);
}

/* ------------------------------------------------ writes around the cache ---- */

/* It may have been in the device's cache. */
static void a_write_that_was_under_way_may_be_lost(void **state)
{
	struct xp_req flush, write;

	(void)state;
	written(3);
	assert_int_equal(begin_flush(&flush), XP_SLOW);
	begin_write(&write, 9, false);
	end_slow(&flush, -EIO);
	end_slow(&write, 0);
	assert_int_equal(write.err, 0);
	assert_int_equal(flush_now(), -EIO);
	assert_int_equal(flush_now(), 0);
}

/* It is a write, and then a flush, which is the next one's as well. */
static void fua_has_a_flush_behind_it(void **state)
{
	struct xp_req write, flush;

	(void)state;
	begin_write(&write, 9, true);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_WAIT);
	assert_is_flushed_next(&write);
	assert_int_equal(begin_flush(&flush), XP_WAIT);
	end_slow(&write, 0);
	assert_int_equal(write.err, 0);
	assert_ended(&flush, 0);
	begin_write(&write, 10, false);		/* nothing is left of it */
	end_slow(&write, 0);
	assert_nobody();
}

static void fua_waits_for_its_turn(void **state)
{
	struct xp_req flush, write, next;

	(void)state;
	written(3);
	begin_write(&write, 9, true);
	begin_write(&next, 10, true);
	assert_int_equal(begin_flush(&flush), XP_SLOW);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_WAIT);
	assert_int_equal(xp_end(f.c, &next, 0, &f.todo), XP_WAIT);
	assert_nobody();
	end_slow(&flush, 0);
	assert_is_flushed_next(&write);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &next.link);
	assert_int_equal(xp_submit(f.c, &next, &f.todo), XP_WAIT);
	end_slow(&write, 0);
	assert_ended(&next, 0);
	assert_int_equal(stats_of(&f).flushes_slow, 2);
}

static void fua_that_was_under_way_may_be_lost(void **state)
{
	struct xp_req flush, before, behind, write;

	(void)state;
	written(3);
	begin_write(&write, 9, true);
	assert_int_equal(begin_flush(&flush), XP_SLOW);
	begin_write(&before, 10, true);
	begin_write(&behind, 11, true);
	assert_int_equal(xp_end(f.c, &before, 0, &f.todo), XP_WAIT);
	end_slow(&flush, -EIO);
	assert_ended(&before, -EIO);
	end_slow(&write, 0);
	assert_int_equal(write.err, -EIO);
	end_slow(&behind, 0);
	assert_int_equal(behind.err, -EIO);
}

/* What ends late may be lost, but nothing that began since is. */
static void a_straggler_fails_nobody_else(void **state)
{
	struct xp_req flush, slow, fua, behind;

	(void)state;
	written(3);
	begin_write(&slow, 8, false);
	assert_int_equal(begin_flush(&flush), XP_SLOW);
	end_slow(&flush, -EIO);
	assert_int_equal(flush_now(), 0);
	for (u32 i = 0; i < 2; i++)	/* then FUA is taken again */
		xp_tick(f.c, &f.todo);
	begin_write(&fua, 9, true);
	assert_int_equal(xp_end(f.c, &fua, 0, &f.todo), XP_WAIT);
	assert_is_flushed_next(&fua);
	assert_int_equal(begin_flush(&behind), XP_WAIT);
	end_slow(&slow, 0);
	end_slow(&fua, 0);
	assert_int_equal(fua.err, 0);
	assert_ended(&behind, 0);
	assert_int_equal(flush_now(), -EIO);
	assert_int_equal(flush_now(), 0);
}

/* It was told of itself; what else is gone is a FLUSH's to tell. */
static void its_flush_that_fails_is_a_loss(void **state)
{
	struct xp_req write;

	(void)state;
	written(3);
	begin_write(&write, 9, true);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_WAIT);
	assert_is_flushed_next(&write);
	end_slow(&write, -EIO);
	assert_int_equal(write.err, -EIO);
	begin_write(&write, 10, true);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_WAIT);
	assert_is_flushed_next(&write);
	end_slow(&write, 0);
	assert_int_equal(write.err, 0);
	assert_int_equal(flush_now(), -EIO);
	assert_int_equal(flush_now(), 0);
}

/* The mark's flush may have been told of it. */
static void fua_beside_a_mark_that_failed_may_be_lost(void **state)
{
	struct xp_req write, read;

	(void)state;
	f.opt.mark_lba = 700;
	fixture_reopen(&f);
	fill_block(&f, 5, 9);
	flush(&f);
	begin_write(&write, 9, true);
	assert_int_equal(submit(&f, &read, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &read, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &read.link);
	xp_tick(f.c, &f.todo);
	fail_journal_for_good(&f);
	assert_true(f.todo.mark);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_WAIT);
	assert_int_equal(xp_mark_end(f.c, -EIO, &f.todo), -EIO);
	assert_ended(&write, -EIO);
}

/* A bad sector is nobody else's loss. */
static void fua_that_fails_is_a_loss_of_its_own(void **state)
{
	struct xp_req write;

	(void)state;
	written(3);
	begin_write(&write, 9, true);
	end_slow(&write, -EIO);
	assert_int_equal(write.err, -EIO);
	assert_int_equal(flush_now(), 0);
}

static void a_device_that_knows_fua_is_asked_for_it_alone(void **state)
{
	struct xp_req write, flush;

	(void)state;
	f.c->opt.slow_fua = true;
	written(3);
	assert_int_equal(begin_flush(&flush), XP_SLOW);
	begin_write(&write, 9, true);
	end_slow(&write, 0);
	assert_int_equal(write.err, 0);
	end_slow(&flush, 0);
	assert_nobody();
}

/* --------------------------------------------------------------- who hears ---- */

static void one_that_is_aside_takes_nothing(void **state)
{
	struct xp_req req;

	(void)state;
	written(3);
	xp_slow_lost(f.c);
	req = (struct xp_req){ .op = XP_FLUSH, .aside = true };
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(flush_aside(0), 0);	/* it hears once, too */
	assert_int_equal(flush_now(), -EIO);
	written(4);
	assert_int_equal(flush_aside(-EIO), -EIO);
	assert_int_equal(flush_aside(0), 0);
	assert_int_equal(flush_now(), -EIO);
	assert_int_equal(flush_now(), 0);
}

/* What was durable before is not lost. */
static void a_loss_of_nothing_is_told_to_nobody(void **state)
{
	(void)state;
	written(3);
	assert_int_equal(flush_now(), 0);
	xp_slow_lost(f.c);
	assert_int_equal(flush_now(), 0);
	written(4);
	assert_int_equal(flush_now(), 0);
}

static void a_stop_says_what_nobody_was_told(void **state)
{
	(void)state;
	written(3);
	xp_slow_lost(f.c);
	assert_int_equal(xp_close(f.c, &f.media), -EIO);
	fixture_reopen(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_flush_waits_for_one_that_covers_it),
		T(a_flush_of_more_comes_again),
		T(all_that_were_under_way_hear_of_a_loss),
		T(a_loss_beside_a_flush_is_told_to_it),
		T(a_flush_that_comes_again_tells_no_more),
		T(a_flush_that_comes_again_waits_for_no_more),
		T(a_flush_that_comes_again_hears_when_all_is_well),
		T(a_batch_waits_for_a_callers_flush),
		T(a_loss_before_a_batch_is_told_to_who_waits),
		T(a_callers_flush_waits_for_a_batch),
		T(a_write_that_was_under_way_may_be_lost),
		T(fua_that_was_under_way_may_be_lost),
		T(fua_has_a_flush_behind_it),
		T(fua_waits_for_its_turn),
		T(a_straggler_fails_nobody_else),
		T(its_flush_that_fails_is_a_loss),
		T(fua_beside_a_mark_that_failed_may_be_lost),
		T(fua_that_fails_is_a_loss_of_its_own),
		T(a_device_that_knows_fua_is_asked_for_it_alone),
		T(one_that_is_aside_takes_nothing),
		T(a_loss_of_nothing_is_told_to_nobody),
		T(a_stop_says_what_nobody_was_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
