// SPDX-License-Identifier: GPL-2.0-only
/* What the cache answers while a device fails. */
#include "fixture.h"

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 8192, 100000);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_teardown(&f);
	return 0;
}

static u32 pins(u64 lba)
{
	struct xp_mapping m;

	assert_true(xp_lookup(f.c, XP_LBA(lba), &m));
	return entry_of(f.c, m.slot)->pins;
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
	assert_int_equal(pins(5), 0);
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
	assert_int_equal(pins(5), 0);
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
	assert_int_equal(pins(5), 0);
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
	assert_int_equal(pins(5), 0);
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
	assert_int_equal(pins(5), 0);
}

/* Fails what the todo asks of the journal. */
static void fail_journal(void)
{
	while (f.todo.journal) {
		u32 i = (u32)__builtin_ctz(f.todo.journal);
		struct xp_journal_io io;

		f.todo.journal &= ~(1u << i);
		xp_journal_io(f.c, i, &io);
		xp_journal_end(f.c, i, -EIO, &f.todo);
	}
}

static struct xp_stats stats(void)
{
	struct xp_stats s;

	xp_get_stats(f.c, &s);
	return s;
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
	assert_int_equal(stats().failed, 0);
	xp_tick(f.c, &f.todo);
	assert_int_not_equal(f.todo.journal, 0);
	fail_journal();
	assert_int_equal(stats().failed, -EIO);
	assert_int_equal(stats().stranded, 2);
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
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	xp_tick(f.c, &f.todo);
	assert_int_not_equal(f.todo.journal, 0);
	write_journal(&f);
	assert_int_equal(stats().failed, 0);
	assert_int_equal(stats().stranded, 0);
	xp_tick(f.c, &f.todo);		/* one is enough */
	assert_int_equal(f.todo.journal, 0);
	write_blocks(&f, 5, 1, 7);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 9);
}

/* One batch, of which each run and the flush had these errors. */
static u32 pause_after(int run_err, int flush_err)
{
	struct xp_run *run = malloc(sizeof(*run));

	assert_true(xp_destage_begin(f.c, &f.todo));
	write_journal(&f);
	while (xp_destage_next(f.c, run) == XP_NEXT_RUN) {
		run->err = run_err;
		xp_destage_end(f.c, run);
	}
	xp_destage_commit(f.c, flush_err, &f.todo);
	write_journal(&f);
	free(run);
	return xp_destage_pause(f.c);
}

static void pauses_grow_to_a_bound(void **state)
{
	static const u32 ms[] = { 1000, 2000, 4000, 8000, 16000, 30000, 30000 };
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	xp_drain(f.c, true);
	assert_int_equal(xp_destage_pause(f.c), 0);
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
	xp_drain(f.c, true);
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	xp_bring_home(f.c, true);
	assert_int_equal(xp_destage_pause(f.c), 0);
	assert_int_equal(pause_after(-EIO, 0), 1000);
}

/* What destage could not flush the caller's FLUSH has: nothing is left that could fail. */
static void a_callers_flush_ends_it_with_the_cache_clean(void **state)
{
	struct xp_req req;

	(void)state;
	f.opt.slow_discards = true;
	fixture_reopen(&f);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 40, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_drain(f.c, true);
	assert_int_equal(pause_after(0, -EIO), 1000);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_true(xp_is_clean(f.c));
	assert_int_equal(xp_destage_pause(f.c), 0);
}

/* A writer that waits for a slot is told soon that none will come. */
static void who_waits_for_a_slot_ends_it_too(void **state)
{
	struct xp_req req;
	u64 lba;

	(void)state;
	for (lba = 0; stats().free; lba++)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_WAIT);
	assert_int_equal(xp_destage_pause(f.c), 1000);
}

/* Nobody waits any more once writers are told; but each that is told asks for another try. */
static void who_gets_none_ends_it_as_well(void **state)
{
	struct xp_req req;
	u64 lba;
	u32 i;

	(void)state;
	for (lba = 0; stats().free; lba++)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	for (i = 0; i < 2 * XP_FUTILE_MAX; i++)
		pause_after(-EIO, 0);
	assert_true(xp_destage_pause(f.c) > 1000);
	f.todo.work = false;
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_true(f.todo.work);
	assert_int_equal(xp_destage_pause(f.c), 1000);
	pause_after(0, 0);
	assert_int_not_equal(submit(&f, &req, XP_WRITE, 0, 8, false), XP_DONE);
}

/* One bad sector must not keep all else from going home. */
static void a_batch_that_got_something_home_has_the_shortest(void **state)
{
	struct xp_run *run = malloc(sizeof(*run));
	int n = 0;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	xp_drain(f.c, true);
	pause_after(-EIO, 0);
	assert_int_equal(pause_after(-EIO, 0), 2000);
	write_blocks(&f, 50, 1, 9);
	assert_true(xp_destage_begin(f.c, &f.todo));
	write_journal(&f);
	while (xp_destage_next(f.c, run) == XP_NEXT_RUN) {
		run->err = n++ ? 0 : -EIO;
		xp_destage_end(f.c, run);
	}
	assert_int_equal(n, 2);
	xp_destage_commit(f.c, 0, &f.todo);
	assert_int_equal(xp_destage_pause(f.c), 1000);
	free(run);
}

/* As a shell does it: after @most errors it is the device that is bad. */
static void batch_with_bad(u64 first, u64 nr, u32 most)
{
	struct xp_run *run = malloc(sizeof(*run));
	u32 errors = 0;

	assert_true(xp_destage_begin(f.c, &f.todo));
	write_journal(&f);
	while (errors < most && xp_destage_next(f.c, run) == XP_NEXT_RUN) {
		u64 lba = xp_lba_n(run->lba);

		run->err = lba < first + nr && first < lba + run->nr_blocks ? -EIO : 0;
		errors += !!run->err;
		xp_destage_end(f.c, run);
	}
	xp_destage_commit(f.c, 0, &f.todo);
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
	xp_drain(f.c, true);
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
	xp_drain(f.c, true);
	batch_with_bad(107, 1, 8);
	batch_with_bad(0, 0, 8);
	write_blocks(&f, 100, 16, 9);
	assert_true(xp_destage_begin(f.c, &f.todo));
	write_journal(&f);
	assert_int_equal(xp_destage_next(f.c, run), XP_NEXT_RUN);
	assert_int_equal(run->nr_blocks, 16);
	xp_destage_end(f.c, run);
	assert_int_equal(xp_destage_next(f.c, run), XP_NEXT_END);
	xp_destage_commit(f.c, 0, &f.todo);
	free(run);
}

static void what_is_behind_many_bad_blocks_has_its_turn(void **state)
{
	u32 i;

	(void)state;
	write_blocks(&f, 100, 32, 9);
	xp_drain(f.c, true);
	for (i = 0; i < 8; i++)
		batch_with_bad(100, 20, 8);
	assert_int_equal(dirty_of(100, 20), 20);
	assert_int_equal(dirty_of(120, 12), 0);
}

/* ------------------------------------------------------------ passing ---- */

#define PLACE 700u

static int setup_place(void **state)
{
	setup(state);
	f.opt.mark_lba = PLACE;
	fixture_reopen(&f);
	return 0;
}

static void fail_now(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	xp_list_pop(&f.todo.ready);
	xp_tick(f.c, &f.todo);
	fail_journal();
	assert_int_equal(stats().failed, -EIO);
}

static void mark(int err)
{
	static u8 block[XP_BLOCK_SIZE];

	assert_true(f.todo.mark);
	f.todo.mark = false;
	assert_int_equal(xp_mark_sector(f.c), PLACE * 8);
	memset(block, 0, sizeof(block));
	assert_true(xp_mark_make(f.c, block));
	assert_true(xp_mark_is(&f.sb, block));
	assert_false(xp_mark_make(f.c, block));	/* it is somebody's now */
	xp_mark_end(f.c, err, &f.todo);
}

static void writes_pass_behind_the_mark(void **state)
{
	struct xp_req req, flush_req;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_WAIT);
	mark(0);
	assert_int_equal(stats().passing, 1);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &flush_req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &flush_req, 0, &f.todo), XP_DONE);
	assert_int_equal(flush_req.err, 0);
	assert_int_equal(submit(&f, &flush_req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(xp_close(f.c, &f.media), 0);
}

static void without_a_mark_nothing_passes(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_WAIT);
	mark(-EIO);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(xp_close(f.c, &f.media), -EIO);
}

static void a_dirty_block_keeps_writes_from_passing(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 8, 1, 9);
	flush(&f);
	fail_now();
	assert_false(f.todo.mark);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
}

/* It is clean in memory, and would be dirty after a start. */
static void so_does_a_cleaning_that_is_not_in_the_journal(void **state)
{
	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 8, 1, 9);
	flush(&f);
	xp_drain(f.c, true);
	destage_batch(&f, 0);
	assert_int_equal(stats().dirty, 0);
	fail_now();
	assert_false(f.todo.mark);
}

static void the_clock_sees_to_that(void **state)
{
	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 8, 1, 9);
	flush(&f);
	xp_drain(f.c, true);
	f.todo.tick = false;
	destage_batch(&f, 0);
	assert_true(f.todo.tick);
	xp_tick(f.c, &f.todo);
	write_journal(&f);
	fail_now();
	assert_true(f.todo.mark);
}

static void new_tables_withdraw_the_place(void **state)
{
	(void)state;
	write_blocks(&f, 1, 1, 9);
	xp_drain(f.c, true);
	destage_batch(&f, 0);
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_false(f.todo.mark);
}

/* What was written in an earlier run: the tool read the tables that the slow device has still. */
static void tables_that_are_not_home_withdraw_it(void **state)
{
	(void)state;
	write_blocks(&f, 1, 1, 9);
	flush(&f);
	fixture_reopen(&f);
	xp_drain(f.c, true);
	destage_batch(&f, 0);
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_false(f.todo.mark);
}

static void tables_that_are_home_do_not(void **state)
{
	(void)state;
	write_blocks(&f, 1, 1, 9);
	xp_drain(f.c, true);
	destage_batch(&f, 0);
	flush(&f);
	fixture_reopen(&f);
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_true(f.todo.mark);
}

/* It would land on the mark. */
static void what_is_on_its_way_there_does_too(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	assert_int_equal(submit(&f, &req, XP_ZEROES, PLACE * 8, 8, false), XP_SLOW);
	fail_now();
	assert_false(f.todo.mark);
	xp_end(f.c, &req, 0, &f.todo);
}

static void nobody_writes_over_the_mark(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	mark(0);
	assert_int_equal(submit(&f, &req, XP_WRITE, (PLACE - 1) * 8, 16, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_ZEROES, PLACE * 8 + 1, 1, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_WRITE, (PLACE + 1) * 8, 8, false), XP_SLOW);
	xp_end(f.c, &req, 0, &f.todo);
}

/* Those that find it out are not the ones to pay for it. */
static void the_write_that_fails_first_passes_too(void **state)
{
	struct xp_req plain, fua;
	u64 hash = 0;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	assert_int_equal(submit(&f, &plain, XP_WRITE, 40, 8, false), XP_FAST);
	assert_int_equal(submit(&f, &fua, XP_WRITE, 80, 8, true), XP_COPY);
	assert_int_equal(xp_end(f.c, &plain, -EIO, &f.todo), XP_WAIT);
	xp_copied(f.c, &fua, &hash, &f.todo);
	assert_true(xp_list_empty(&f.todo.ready));
	fail_journal();
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &plain.link);
	assert_int_equal(xp_end(f.c, &fua, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &fua.link);
	assert_int_equal(xp_submit(f.c, &plain, &f.todo), XP_WAIT);
	mark(0);
	assert_int_equal(xp_submit(f.c, &fua, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &fua, 0, &f.todo), XP_DONE);
	assert_int_equal(fua.err, 0);
}

static void a_write_to_a_bad_spot_fails_when_that_is_known(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(stats().failed, 0);
}

/* One that is out may have landed before the device went. */
static void it_is_not_told_by_a_block_of_before(void **state)
{
	struct xp_journal_io io;
	struct xp_req req;
	u32 out;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	fill_block(&f, 100, 9);
	xp_tick(f.c, &f.todo);
	assert_int_not_equal(f.todo.journal, 0);
	out = (u32)__builtin_ctz(f.todo.journal);
	f.todo.journal = 0;
	xp_journal_io(f.c, out, &io);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_int_equal(f.todo.journal, 0);
	xp_journal_end(f.c, out, 0, &f.todo);
	assert_ptr_equal(xp_list_pop(&f.todo.done), NULL);
	assert_int_not_equal(f.todo.journal, 0);	/* the one that tells */
	fail_journal();
	assert_ptr_equal(xp_list_pop(&f.todo.done), NULL);
	mark(0);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
}

/* Every place of the journal's window but the last is taken; @beside holds the oldest. */
static void window_up_to_the_last(struct xp_req *beside)
{
	u64 hash = 1;
	u32 n;

	assert_int_equal(submit(&f, beside, XP_WRITE, 40, 8, true), XP_COPY);
	xp_copied(f.c, beside, &hash, &f.todo);
	write_journal(&f);
	for (n = 0; n < XP_WINDOW - 2; n++) {
		fill_block(&f, 100 + n, 9);
		xp_tick(f.c, &f.todo);
		assert_int_not_equal(f.todo.journal, 0);
		write_journal(&f);
	}
}

/* That place is for who takes back what the oldest block says: until then no doubt is cleared up. */
static void a_doubt_leaves_the_journals_last_place(void **state)
{
	struct xp_req beside, req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 400, 8, false), XP_FAST);
	window_up_to_the_last(&beside);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_int_equal(f.todo.journal, 0);
	xp_tick(f.c, &f.todo);
	assert_int_equal(f.todo.journal, 0);
	assert_int_equal(xp_end(f.c, &beside, -EIO, &f.todo), XP_WAIT);
	assert_int_not_equal(f.todo.journal, 0);	/* its end, in the last place */
	write_journal(&f);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(beside.err, -EIO);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(stats().failed, 0);
}

/* ------------------------------------------------------ taking it back ---- */

static u8 slow_block[XP_BLOCK_SIZE];
static u64 slow_written;

static int slow_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	(void)nr;
	slow_written = block;
	memcpy(slow_block, buf, XP_BLOCK_SIZE);
	return 0;
}

/* With what is on the fast device now. */
static int unmark(u64 seq, u64 incarnation)
{
	const struct xp_media slow = { .write = slow_write };
	void *scratch = malloc(xp_recover_memory(&f.sb));
	struct xp_mark *m = (struct xp_mark *)aligned_alloc(8, XP_BLOCK_SIZE);
	int err;

	memset(f.memory, 0, xp_memory(&f.sb));
	f.c = xp_init(f.memory, &f.sb, &f.opt);
	assert_int_equal(xp_look(f.c, &f.media, scratch, NULL, &f.msg), 0);
	memset(m, 0, sizeof(*m));
	m->seq = cpu_to_le64(seq);
	m->incarnation = cpu_to_le64(incarnation);
	slow_written = 0;
	err = xp_unmark(f.c, &f.media, &slow, PLACE, false, m);
	free(scratch);
	free(m);
	return err;
}

static void what_it_has_is_forgotten_and_the_mark_erased(void **state)
{
	u64 seq, incarnation;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	seq = stats().seq;
	incarnation = stats().incarnation;
	write_blocks(&f, 6, 1, 9);	/* as one that was under way */
	flush(&f);
	memset(slow_block, 1, sizeof(slow_block));
	assert_int_equal(unmark(seq, incarnation), 0);
	assert_int_equal(slow_written, PLACE);
	assert_int_equal(slow_block[0] | slow_block[4095], 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(mapped_byte(&f, 6), -1);
}

static void dirty_blocks_of_before_are_not(void **state)
{
	u32 writes;

	(void)state;
	write_blocks(&f, 6, 1, 9);
	flush(&f);
	writes = f.media_writes;
	assert_int_equal(unmark(stats().seq, stats().incarnation), -EUCLEAN);
	assert_int_equal(f.media_writes, writes);
	assert_int_equal(slow_written, 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 9);
}

/* Somebody started it and left the mark where it was. */
static void what_it_acknowledged_since_is_not_forgotten(void **state)
{
	u64 seq, incarnation;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	seq = stats().seq;
	incarnation = stats().incarnation;
	fixture_reopen(&f);
	write_blocks(&f, 6, 1, 9);
	flush(&f);
	assert_int_equal(unmark(seq, incarnation), -EUCLEAN);
	assert_int_equal(slow_written, 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 9);
}

#define P(name) cmocka_unit_test_setup_teardown(name, setup_place, teardown)
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
		T(a_callers_flush_ends_it_with_the_cache_clean),
		T(who_waits_for_a_slot_ends_it_too),
		T(who_gets_none_ends_it_as_well),
		T(a_batch_that_got_something_home_has_the_shortest),
		T(a_bad_block_keeps_no_neighbour),
		T(after_a_bad_block_runs_are_long_again),
		T(what_is_behind_many_bad_blocks_has_its_turn),
		P(writes_pass_behind_the_mark),
		P(without_a_mark_nothing_passes),
		P(a_dirty_block_keeps_writes_from_passing),
		P(so_does_a_cleaning_that_is_not_in_the_journal),
		P(the_clock_sees_to_that),
		P(new_tables_withdraw_the_place),
		P(tables_that_are_not_home_withdraw_it),
		P(tables_that_are_home_do_not),
		P(what_is_on_its_way_there_does_too),
		P(nobody_writes_over_the_mark),
		P(the_write_that_fails_first_passes_too),
		P(a_write_to_a_bad_spot_fails_when_that_is_known),
		P(it_is_not_told_by_a_block_of_before),
		P(a_doubt_leaves_the_journals_last_place),
		P(what_it_has_is_forgotten_and_the_mark_erased),
		P(dirty_blocks_of_before_are_not),
		P(what_it_acknowledged_since_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
