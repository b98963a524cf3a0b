// SPDX-License-Identifier: GPL-2.0-only
/* What the cache answers while a device fails. */
#include "fixture.h"
#include "class.h"
#include "look.h"
#include "run.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

/* A read that hits, and that the fast device fails: the answer when it comes back. */
static enum xp_act read_again(struct xp_req *req, u64 lba, u32 nr)
{
	assert_int_equal(submit(&f, req, XP_READ, lba * 8, nr * 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req->link);
	req->nr_sectors = nr * 8;
	return xp_submit(f.c, req, &f.todo);
}

static void a_clean_block_is_read_from_the_slow_device(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(read_again(&req, 5, 1), XP_SLOW);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(req.class, XP_CLASS_READ_BYPASS);
	assert_int_equal(pins_of(&f, 5), 0);
}

static void if_that_fails_too_it_is_an_error(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(read_again(&req, 5, 1), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

static void a_dirty_block_is_not(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(pins_of(&f, 5), 0);
}

/* The one in the middle is all that only the fast device has. */
static void a_run_is_read_in_pieces(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 6, 1, 9);
	fill_block(&f, 7, 9);	/* in slots side by side */
	assert_int_equal(submit(&f, &req, XP_READ, 40, 24, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 24);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(read_again(&req, 5, 3), XP_SLOW);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);

	/* As if the first had not been there: dirty ones are tried alone. */
	assert_int_equal(read_again(&req, 6, 2), XP_FAST);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

/* What was written since is not on the slow device. */
static void a_block_rewritten_meanwhile_is_read_where_it_is(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	write_blocks(&f, 5, 1, 7);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(f.fast[req.target * 512], 7);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

static void a_block_that_became_zeros_needs_no_device(void **state)
{
	struct xp_req req, zeroes;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(submit(&f, &zeroes, XP_ZEROES, 40, 8, false), XP_DONE);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_ZERO);
}

/* They are not on the slow device, whatever is around them. */
static void zeros_in_the_middle_are_not_read_from_the_slow_device(void **state)
{
	struct xp_req req, zeroes;

	(void)state;
	fill_block(&f, 5, 9);
	fill_block(&f, 6, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 16, false), XP_FAST);
	assert_int_equal(submit(&f, &zeroes, XP_ZEROES, 48, 8, false), XP_DONE);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(req.nr_sectors, 8);
}

/* The next hit of the same request is one like any other. */
static void the_rest_of_the_request_is_read_as_ever(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(read_again(&req, 5, 1), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_blocks(&f, 6, 1, 8);
	req.sector += req.nr_sectors;
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* A write of the block's second sector, whose base the fast device fails: the answer when it comes back. */
static enum xp_act write_again(struct xp_req *req, u64 lba)
{
	assert_int_equal(submit(&f, req, XP_WRITE, lba * 8 + 1, 1, false), XP_COPY);
	assert_int_equal(req->copy.base, XP_BASE_FAST);
	assert_int_equal(xp_base_failed(f.c, req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req->link);
	return xp_submit(f.c, req, &f.todo);
}

static void a_clean_base_is_read_from_the_slow_device(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(write_again(&req, 5), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_SLOW);
	assert_int_equal(req.copy.from, 40);
	memset(f.fast + req.target * 512, 7, XP_BLOCK_SIZE);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(mapped_byte(&f, 5), 7);
	assert_true(mapped_dirty(&f, 5));
	assert_int_equal(pins_of(&f, 5), 0);
}

static void if_that_base_fails_too_it_is_an_error(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(write_again(&req, 5), XP_COPY);
	assert_int_equal(xp_base_failed(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(mapped_byte(&f, 5), 9);
	assert_int_equal(pins_of(&f, 5), 0);
}

static void a_dirty_base_is_not(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(xp_base_failed(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(mapped_byte(&f, 5), 9);
	assert_int_equal(pins_of(&f, 5), 0);
}

/* A device that is gone may be written to seldom: one that failed a read is asked. */
static void a_tick_finds_that_the_device_is_gone(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 6, 2, 9);
	flush(&f);
	f.todo.tick = false;
	xp_tick(f.c, &f.todo);
	assert_int_equal(f.todo.journal, 0);
	assert_int_equal(read_again(&req, 5, 1), XP_SLOW);
	assert_true(f.todo.tick);
	assert_int_equal(stats_of(&f).failed, 0);
	xp_tick(f.c, &f.todo);
	assert_int_not_equal(f.todo.journal, 0);
	fail_journal_for_good(&f);
	assert_int_equal(stats_of(&f).failed, -EIO);
	assert_int_equal(stats_of(&f).dirty_unreachable, 2);
	assert_int_equal(read_again(&req, 5, 1), XP_SLOW);
	xp_tick(f.c, &f.todo);
	assert_int_equal(f.todo.journal, 0);
}

static void a_bad_spot_is_not_the_end(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 6, 1, 9);
	flush(&f);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	refuse_write(&f, &req);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	flush(&f);
	assert_int_equal(stats_of(&f).failed, 0);
	assert_int_equal(stats_of(&f).dirty_unreachable, 0);
	xp_tick(f.c, &f.todo);		/* one is enough */
	assert_int_equal(f.todo.journal, 0);
	write_blocks(&f, 5, 1, 7);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 9);
}

static u64 clock_now = 1000;

static u64 failing_since(void)
{
	return stats_of(&f).writeback_failing_since;
}

/* Each run and the flush of it had these errors. Returns the pause after it. */
static u32 batch_ends(int run_err, int flush_err)
{
	batch_end(&f, run_err, flush_err, clock_now);
	return xp_writeback_pause(f.c);
}

static u32 pause_after(int run_err, int flush_err)
{
	batch_begin(&f);
	return batch_ends(run_err, flush_err);
}

static void pauses_grow_to_a_bound(void **state)
{
	static const u32 ms[] = { 1000, 2000, 4000, 8000, 16000, 30000, 30000 };
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	f.c->dirty_low = 0;
	assert_int_equal(xp_writeback_pause(f.c), 0);
	for (i = 0; i < sizeof(ms) / sizeof(*ms); i++)
		assert_int_equal(pause_after(i % 2 ? -EIO : 0, -EIO), ms[i]);
	assert_int_equal(pause_after(0, 0), 0);
	write_blocks(&f, 5, 1, 9);
	assert_int_equal(pause_after(-EIO, 0), 1000);	/* from the beginning */
}

/* Somebody asks for it now: it may have been repaired for that. */
static void a_flush_ends_the_pause(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 9);
	f.c->dirty_low = 0;
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	xp_write_back_all(f.c, true);
	assert_int_equal(xp_writeback_pause(f.c), 0);
	assert_int_equal(pause_after(-EIO, 0), 1000);
}

/* Not since the last that failed, or since somebody asked for another; and until one has no error. */
static void it_is_known_since_when(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 9);
	f.c->dirty_low = 0;
	clock_now = 1000;
	pause_after(-EIO, 0);
	assert_int_equal(failing_since(), 1000);
	clock_now = 1005;
	xp_write_back_all(f.c, true);
	assert_int_equal(failing_since(), 1000);
	pause_after(0, -EIO);
	assert_int_equal(failing_since(), 1000);
	pause_after(0, 0);
	assert_int_equal(failing_since(), 0);
	write_blocks(&f, 5, 1, 9);
	pause_after(-EIO, 0);
	assert_int_equal(failing_since(), 1005);
}

/* One that brings home what it has ends it, whatever has become dirty meanwhile. */
static void a_good_batch_of_a_busy_cache_ends_it(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 9);
	f.c->dirty_low = 0;
	pause_after(-EIO, 0);
	batch_begin(&f);
	write_blocks(&f, 6, 1, 9);
	assert_int_equal(batch_ends(0, 0), 0);
	assert_true(mapped_dirty(&f, 6));
	assert_int_equal(failing_since(), 0);
}

/* Zeroes around the cache: nothing is dirty, and a flush of the slow device is owed. */
static void discard_around(void)
{
	struct xp_req req;

	f.opt.slow_discards = true;
	fixture_reopen(&f);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 40, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	f.c->dirty_low = 0;
}

/* A caller's, and with it all is home. */
static void flush_slow(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_true(xp_is_clean(f.c));
}

/* A batch whose own flush failed when the caller's had brought all home is no failure. */
static void a_callers_flush_may_be_faster(void **state)
{
	(void)state;
	discard_around();
	batch_begin(&f);
	flush_slow();
	assert_int_equal(batch_ends(0, -EIO), 0);
	assert_true(xp_is_clean(f.c));
	assert_int_equal(failing_since(), 0);
}

/* What was around the cache may be gone, of which a caller is told first. */
static void flush_told(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

/* What writeback could not flush the caller's FLUSH has: nothing is left that could fail. */
static void a_callers_flush_ends_it_with_the_cache_clean(void **state)
{
	(void)state;
	discard_around();
	assert_int_equal(pause_after(0, -EIO), 1000);
	assert_int_equal(failing_since(), clock_now);
	flush_told();
	flush_slow();
	assert_int_equal(xp_writeback_pause(f.c), 0);
	assert_int_equal(failing_since(), 0);
}

/* A writer that waits for a slot is told soon that none will come. */
static void who_waits_for_a_slot_ends_it_too(void **state)
{
	struct xp_req req;
	u64 lba;

	(void)state;
	for (lba = 0; stats_of(&f).free; lba++)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	assert_int_equal(xp_writeback_pause(f.c), 1000);
}

/* Nobody waits any more once writers are told; but each that is told asks for another try. */
static void who_gets_none_ends_it_as_well(void **state)
{
	struct xp_req req;
	u64 lba;
	u32 i;

	(void)state;
	for (lba = 0; stats_of(&f).free; lba++)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	for (i = 0; i < 2 * XP_FUTILE_MAX; i++)
		pause_after(-EIO, 0);
	assert_true(xp_writeback_pause(f.c) > 1000);
	f.todo.work = false;
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_true(f.todo.work);
	assert_int_equal(xp_writeback_pause(f.c), 1000);
	pause_after(0, 0);
	assert_int_not_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_DONE);
}

/* One bad sector must not keep all else from going home. */
static void a_batch_that_wrote_something_back_has_the_shortest(void **state)
{
	struct xp_run *run = malloc(sizeof(*run));
	int n = 0;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	f.c->dirty_low = 0;
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	write_blocks(&f, 50, 1, 9);
	assert_true(xp_writeback_begin(f.c, &f.todo));
	write_journal(&f);
	while (xp_writeback_next(f.c, run) == XP_NEXT_RUN) {
		run->err = n++ ? 0 : -EIO;
		xp_writeback_end(f.c, run, &f.todo);
	}
	assert_int_equal(n, 2);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_int_equal(xp_writeback_pause(f.c), 1000);
	free(run);
}

/* As a backend does it: after @most errors it is the device that is bad. */
static void batch_with_bad(u64 first, u64 nr, u32 most)
{
	struct xp_run *run = malloc(sizeof(*run));
	u32 errors = 0;

	assert_true(xp_writeback_begin(f.c, &f.todo));
	write_journal(&f);
	while (errors < most && xp_writeback_next(f.c, run) == XP_NEXT_RUN) {
		u64 lba = xp_lba_n(run->lba);

		run->err = lba < first + nr && first < lba + run->nr_blocks ? -EIO : 0;
		errors += !!run->err;
		xp_writeback_end(f.c, run, &f.todo);
	}
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	write_journal(&f);
	free(run);
}

static u32 dirty_of(u64 first, u64 nr)
{
	u32 n = 0;

	while (nr--)
		n += mapped_dirty(&f, first + nr);
	return n;
}

static void a_bad_block_keeps_no_neighbour(void **state)
{
	(void)state;
	write_blocks(&f, 100, 16, 9);
	write_blocks(&f, 200, 16, 9);
	f.c->dirty_low = 0;
	batch_with_bad(107, 1, 8);
	assert_int_equal(dirty_of(100, 16), 16);
	assert_int_equal(dirty_of(200, 16), 0);
	batch_with_bad(107, 1, 8);
	assert_int_equal(dirty_of(100, 16), 1);
	assert_true(mapped_dirty(&f, 107));
	write_blocks(&f, 100, 16, 9);	/* again: it is known where */
	batch_with_bad(107, 1, 8);
	assert_int_equal(dirty_of(100, 16), 1);
	batch_with_bad(0, 0, 8);	/* mended */
	assert_int_equal(dirty_of(100, 16), 0);
}

/* When there is nothing bad any more all goes in one piece. */
static void after_a_bad_block_runs_are_long_again(void **state)
{
	struct xp_run *run = malloc(sizeof(*run));

	(void)state;
	write_blocks(&f, 100, 16, 9);
	f.c->dirty_low = 0;
	batch_with_bad(107, 1, 8);
	batch_with_bad(0, 0, 8);
	write_blocks(&f, 100, 16, 9);
	assert_true(xp_writeback_begin(f.c, &f.todo));
	write_journal(&f);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_RUN);
	assert_int_equal(run->nr_blocks, 16);
	xp_writeback_end(f.c, run, &f.todo);
	assert_int_equal(xp_writeback_next(f.c, run), XP_NEXT_END);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	free(run);
}

static void what_is_behind_many_bad_blocks_has_its_turn(void **state)
{
	u32 i;

	(void)state;
	write_blocks(&f, 100, 32, 9);
	f.c->dirty_low = 0;
	for (i = 0; i < 8; i++)
		batch_with_bad(100, 20, 8);
	assert_int_equal(dirty_of(100, 20), 20);
	assert_int_equal(dirty_of(120, 12), 0);
}

/* One of @first and one of @second, each in a batch of its own. */
static void batch_with_two_bad(u64 first, u64 second)
{
	struct xp_run *run = malloc(sizeof(*run));

	assert_true(xp_writeback_begin(f.c, &f.todo));
	write_journal(&f);
	while (xp_writeback_next(f.c, run) == XP_NEXT_RUN) {
		u64 lba = xp_lba_n(run->lba);

		run->err = first - lba < run->nr_blocks || second - lba < run->nr_blocks ? -EIO : 0;
		xp_writeback_end(f.c, run, &f.todo);
	}
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	write_journal(&f);
	free(run);
}

/* What one batch has failed is not forgotten for what the next fails. */
static void bad_blocks_of_two_batches_keep_no_neighbours(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 2 * f.c->batch.max; i += 16)
		write_blocks(&f, 100 + i, 16, 9);
	f.c->dirty_low = 0;
	for (i = 0; i < 12; i++)
		batch_with_two_bad(107, 100 + 2 * f.c->batch.max - 7);
	assert_int_equal(dirty_of(100, 2 * f.c->batch.max), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_clean_block_is_read_from_the_slow_device),
		T(if_that_fails_too_it_is_an_error),
		T(a_dirty_block_is_not),
		T(a_run_is_read_in_pieces),
		T(a_block_rewritten_meanwhile_is_read_where_it_is),
		T(a_block_that_became_zeros_needs_no_device),
		T(zeros_in_the_middle_are_not_read_from_the_slow_device),
		T(the_rest_of_the_request_is_read_as_ever),
		T(a_clean_base_is_read_from_the_slow_device),
		T(if_that_base_fails_too_it_is_an_error),
		T(a_dirty_base_is_not),
		T(a_tick_finds_that_the_device_is_gone),
		T(a_bad_spot_is_not_the_end),
		T(pauses_grow_to_a_bound),
		T(a_flush_ends_the_pause),
		T(it_is_known_since_when),
		T(a_good_batch_of_a_busy_cache_ends_it),
		T(a_callers_flush_may_be_faster),
		T(a_callers_flush_ends_it_with_the_cache_clean),
		T(who_waits_for_a_slot_ends_it_too),
		T(who_gets_none_ends_it_as_well),
		T(a_batch_that_wrote_something_back_has_the_shortest),
		T(a_bad_block_keeps_no_neighbour),
		T(after_a_bad_block_runs_are_long_again),
		T(what_is_behind_many_bad_blocks_has_its_turn),
		T(bad_blocks_of_two_batches_keep_no_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
