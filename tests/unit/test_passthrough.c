// SPDX-License-Identifier: GPL-2.0-only
/* The fast device is gone, and nothing dirty with it: what then passes to the slow one, and
 * what of it is taken back. */
#include "fixture.h"
#include "look.h"
#include "mark.h"
#include "rest.h"
#include "run.h"

static struct fixture f;

#define PLACE 700u		/* for the mark, an lba */

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 8192, 100000);
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
	fail_journal_for_good(&f);
	assert_int_equal(stats_of(&f).failed, -EIO);
}

static void writeback_all(void)
{
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
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
	assert_int_equal(stats_of(&f).passthrough, 1);
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

static void a_dirty_block_keeps_writes_from_passing_through(void **state)
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
	writeback_all();
	assert_int_equal(stats_of(&f).dirty, 0);
	fail_now();
	assert_false(f.todo.mark);
}

static void the_clock_sees_to_that(void **state)
{
	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 8, 1, 9);
	flush(&f);
	xp_write_back_all(f.c, true);
	f.todo.tick = false;
	writeback_batch(&f, 0);
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
	writeback_all();
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
	writeback_all();
	fill_block(&f, 5, 9);
	flush(&f);
	fail_now();
	assert_false(f.todo.mark);
}

static void tables_that_are_home_do_not(void **state)
{
	(void)state;
	write_blocks(&f, 1, 1, 9);
	writeback_all();
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
	fail_journal_for_good(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &plain.link);
	assert_int_equal(xp_end(f.c, &fua, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &fua.link);
	assert_int_equal(xp_submit(f.c, &plain, &f.todo), XP_WAIT);
	mark(0);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &plain.link);
	assert_int_equal(xp_submit(f.c, &fua, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &fua, 0, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &fua.link);
	assert_int_equal(xp_submit(f.c, &fua, &f.todo), XP_SLOW_FLUSH);
	assert_int_equal(xp_end(f.c, &fua, 0, &f.todo), XP_DONE);
	assert_int_equal(fua.err, 0);
}

static void a_write_to_a_bad_spot_goes_elsewhere_when_that_is_known(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	refuse_write(&f, &req);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(stats_of(&f).failed, 0);
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
	fail_journal_for_good(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), NULL);
	mark(0);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
}

/* Every place of the journal's window but the last is taken; @parallel holds the oldest. */
static void window_up_to_the_last(struct xp_req *parallel)
{
	u64 hash = 1;
	u32 n;

	assert_int_equal(submit(&f, parallel, XP_WRITE, 40, 8, true), XP_COPY);
	xp_copied(f.c, parallel, &hash, &f.todo);
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
	struct xp_req parallel, req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 400, 8, false), XP_FAST);
	window_up_to_the_last(&parallel);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_int_equal(f.todo.journal, 0);
	xp_tick(f.c, &f.todo);
	assert_int_equal(f.todo.journal, 0);
	assert_int_equal(xp_end(f.c, &parallel, -EIO, &f.todo), XP_WAIT);
	assert_int_not_equal(f.todo.journal, 0);	/* its end, in the last place */
	write_journal(&f);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(parallel.err, -EIO);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(stats_of(&f).failed, 0);
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

	memset(f.memory, 0, xp_memory(&f.sb, f.opt.verify));
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
	seq = stats_of(&f).seq;
	incarnation = stats_of(&f).incarnation;
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
	assert_int_equal(unmark(stats_of(&f).seq, stats_of(&f).incarnation), -EUCLEAN);
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
	seq = stats_of(&f).seq;
	incarnation = stats_of(&f).incarnation;
	fixture_reopen(&f);
	write_blocks(&f, 6, 1, 9);
	flush(&f);
	assert_int_equal(unmark(seq, incarnation), -EUCLEAN);
	assert_int_equal(slow_written, 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(writes_pass_behind_the_mark),
		T(without_a_mark_nothing_passes),
		T(a_dirty_block_keeps_writes_from_passing_through),
		T(so_does_a_cleaning_that_is_not_in_the_journal),
		T(the_clock_sees_to_that),
		T(new_tables_withdraw_the_place),
		T(tables_that_are_not_home_withdraw_it),
		T(tables_that_are_home_do_not),
		T(what_is_on_its_way_there_does_too),
		T(nobody_writes_over_the_mark),
		T(the_write_that_fails_first_passes_too),
		T(a_write_to_a_bad_spot_goes_elsewhere_when_that_is_known),
		T(it_is_not_told_by_a_block_of_before),
		T(a_doubt_leaves_the_journals_last_place),
		T(what_it_has_is_forgotten_and_the_mark_erased),
		T(dirty_blocks_of_before_are_not),
		T(what_it_acknowledged_since_is_not_forgotten),
	};

	return cmocka_run_group_tests_name("passing", tests, NULL, NULL);
}
