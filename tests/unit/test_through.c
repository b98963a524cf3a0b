// SPDX-License-Identifier: GPL-2.0-only
/* test_through.c - modes: when a write ends, and what the slow device has by then. */
#include "fixture.h"
#include "cache.h"
#include "checksum.h"
#include "options.h"
#include "run.h"
#include "superblock.h"

static struct fixture f;
static struct xp_run run;

static int start_in(enum xp_mode mode)
{
	fixture_setup(&f, 2048, 100000);
	f.opt.mode = (u8)mode;
	fixture_reopen(&f);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return start_in(XP_MODE_WRITETHROUGH);
}

static int setup_around(void **state)
{
	(void)state;
	return start_in(XP_MODE_WRITEAROUND);
}

static int setup_back(void **state)
{
	(void)state;
	return start_in(XP_MODE_WRITEBACK);
}

/* ------------------------------------------------------------- helpers ---- */

/* Into the cache, as a backend does it; it waits then. */
static void write_in(struct xp_req *req, u64 lba, u32 nr, int byte, bool fua)
{
	enum xp_act act = submit(&f, req, XP_WRITE, lba * 8, nr * 8, fua);
	u8 *data = f.fast + req->target * 512;
	u64 hash[XP_COPY_MAX];

	assert_int_equal(req->nr_blocks, nr);
	memset(data, byte, nr * XP_BLOCK_SIZE);
	if (act == XP_COPY) {
		for (u32 i = 0; i < nr; i++)
			hash[i] = xp_checksum(data + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
		xp_copied(f.c, req, hash, &f.todo);
		write_journal(&f);
	} else {
		assert_int_equal(act, XP_FAST);
	}
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_WAIT);
	write_journal(&f);
}

static bool has_ended(struct xp_req *req)
{
	struct xp_link *link = xp_list_pop(&f.todo.done);

	assert_true(!link || link == &req->link);
	return link;
}

static void begin(void)
{
	assert_true(xp_writeback_wanted(f.c));
	batch_begin(&f);
}

static void begin_run(u64 lba, u32 nr)
{
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(xp_lba_n(run.lba), lba);
	assert_int_equal(run.nr_blocks, nr);
}

static void end_run(int err)
{
	run.err = err;
	xp_writeback_end(f.c, &run, &f.todo);
}

/* A batch begins, and its first run is there. */
static void send(u64 lba, u32 nr)
{
	begin();
	begin_run(lba, nr);
	end_run(0);
}

/* Returns whether it was flushed. */
static bool end_batch(int err)
{
	enum xp_flush flush;

	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
	flush = xp_writeback_flushes(f.c);
	assert_int_not_equal(flush, XP_FLUSH_LATER);
	xp_writeback_commit(f.c, flush == XP_FLUSH_NOW ? err : 0, 1, &f.todo);
	write_journal(&f);
	return flush == XP_FLUSH_NOW;
}

/* A FLUSH of a caller goes to the slow device, which fails it with @err. */
static void flush_slow(int err)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, err, &f.todo), XP_DONE);
	assert_int_equal(req.err, err);
}

/* A block that the slow device was sent, and no flush since. */
static void write_home(u64 lba)
{
	struct xp_req req;

	write_in(&req, lba, 1, 1, false);
	send(lba, 1);
	assert_true(has_ended(&req));
	assert_false(end_batch(0));
}

static void batch_well(void)
{
	batch_begin(&f);
	while (xp_writeback_next(f.c, &run) == XP_NEXT_RUN)
		end_run(0);
	xp_writeback_flushes(f.c);
	xp_writeback_commit(f.c, 0, 1, &f.todo);
	write_journal(&f);
}

/* Does a FLUSH end well, of a slow device that is well? */
static bool is_flushed(void)
{
	struct xp_req req;

	if (submit(&f, &req, XP_FLUSH, 0, 0, false) == XP_SLOW) {
		write_journal(&f);
		xp_end(f.c, &req, 0, &f.todo);
	}
	return !req.err;
}

/* --------------------------------------------------------------- tests ---- */

static void a_write_ends_when_the_slow_device_has_it(void **state)
{
	struct xp_req req;

	(void)state;
	write_in(&req, 5, 3, 1, false);
	assert_false(has_ended(&req));
	begin();
	assert_false(has_ended(&req));
	begin_run(5, 3);
	assert_false(has_ended(&req));
	end_run(0);
	assert_true(has_ended(&req));
	assert_int_equal(req.err, 0);
	assert_false(end_batch(0));
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(mapped_byte(&f, 6), 1);
}

/* I3: it is on its way to the slow device with its record durable. */
static void its_record_is_durable_before(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8 * 20, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	assert_true(xp_writeback_begin(f.c, &f.todo));
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_WAIT);
	write_journal(&f);
	begin_run(5, 20);
}

/* I2, I7: a FLUSH goes to both, and nothing is clean without one; what was sent is not sent again. */
static void what_is_home_is_clean_behind_a_flush(void **state)
{
	(void)state;
	write_home(5);
	assert_true(mapped_dirty(&f, 5));
	flush_slow(0);
	flush(&f);
	xp_write_back_all(f.c, true);
	begin();
	assert_true(end_batch(0));
	assert_false(mapped_dirty(&f, 5));
	assert_true(xp_is_clean(f.c));
	assert_int_equal(stats_of(&f).written_back, 1);
}

/* A flush that fails may have lost it. */
static void what_is_home_is_sent_again_after_a_flush_that_failed(void **state)
{
	(void)state;
	write_home(5);
	flush_slow(-EIO);
	xp_write_back_all(f.c, true);
	send(5, 1);
	assert_true(end_batch(0));
	assert_true(xp_is_clean(f.c));
}

static void fua_waits_for_the_flush(void **state)
{
	struct xp_req req, other;

	(void)state;
	write_in(&req, 5, 1, 1, true);
	write_in(&other, 9, 1, 1, false);
	send(5, 1);
	assert_false(has_ended(&req));
	begin_run(9, 1);
	end_run(0);
	assert_true(has_ended(&other));
	assert_true(end_batch(0));
	assert_true(has_ended(&req));
	assert_int_equal(req.err, 0);
	assert_true(xp_is_clean(f.c));
}

static void fua_fails_with_the_flush(void **state)
{
	struct xp_req req;

	(void)state;
	write_in(&req, 5, 1, 1, true);
	send(5, 1);
	assert_true(end_batch(-EIO));
	assert_true(has_ended(&req));
	assert_int_equal(req.err, -EIO);
	assert_true(mapped_dirty(&f, 5));
}

/* ... as the cache does not lie: it is dirty, and goes home one day. */
static void a_run_that_fails_is_told(void **state)
{
	struct xp_req req, other;

	(void)state;
	write_in(&req, 5, 1, 1, false);
	write_in(&other, 90, 1, 1, false);
	begin();
	begin_run(5, 1);
	end_run(-EIO);
	assert_true(has_ended(&req));
	assert_int_equal(req.err, -EIO);
	begin_run(90, 1);
	end_run(0);
	assert_true(has_ended(&other));
	assert_int_equal(other.err, 0);
	end_batch(0);
	assert_true(mapped_dirty(&f, 5));
	assert_int_equal(mapped_byte(&f, 5), 1);
	write_in(&req, 7, 1, 2, false);
	assert_int_equal(xp_writeback_pause(f.c), 0);	/* somebody waits to be told */
	send(7, 1);
	assert_true(has_ended(&req));
	assert_int_equal(req.err, 0);
}

/* One block of a run may be all that is bad: the others are not told that they have failed. */
static void neighbours_of_a_bad_block_are_written(void **state)
{
	struct xp_req bad, good;

	(void)state;
	write_in(&bad, 5, 1, 1, false);
	write_in(&good, 6, 1, 1, false);
	begin();
	begin_run(5, 2);
	end_run(-EIO);
	assert_null(xp_list_pop(&f.todo.done));
	end_batch(0);
	begin();
	begin_run(5, 1);
	end_run(-EIO);
	assert_true(has_ended(&bad));
	assert_int_equal(bad.err, -EIO);
	begin_run(6, 1);
	end_run(0);
	assert_true(has_ended(&good));
	assert_int_equal(good.err, 0);
}

/* I9: the flush of a batch has failed, of writes that were told that they are there: the next FLUSH says so. */
static void a_flush_of_a_batch_that_failed_is_told(void **state)
{
	struct xp_req req, fua, caller;

	(void)state;
	write_in(&req, 5, 1, 1, false);
	write_in(&fua, 9, 1, 1, true);
	send(5, 1);
	assert_true(has_ended(&req));
	begin_run(9, 1);
	end_run(0);
	assert_true(end_batch(-EIO));
	assert_true(has_ended(&fua));
	assert_int_equal(fua.err, -EIO);
	assert_int_equal(submit(&f, &caller, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(caller.err, -EIO);
	flush_slow(0);
}

/* I7: ... and what a caller's FLUSH that failed was about is not clean behind a batch that ran meanwhile. */
static void nothing_is_clean_beside_a_flush_that_failed(void **state)
{
	struct xp_req caller;

	(void)state;
	write_home(5);
	assert_int_equal(submit(&f, &caller, XP_FLUSH, 0, 0, false), XP_SLOW);
	write_journal(&f);
	xp_write_back_all(f.c, true);
	begin();
	assert_int_equal(xp_end(f.c, &caller, -EIO, &f.todo), XP_DONE);
	assert_true(end_batch(0));
	assert_true(mapped_dirty(&f, 5));
	send(5, 1);
	assert_true(end_batch(0));
	assert_false(mapped_dirty(&f, 5));
}

/* What is zeros in the cache, and may not be so any more on the slow device, is sent once more. */
static void zeroes_are_sent_again_after_a_flush_that_failed(void **state)
{
	struct xp_req req;

	(void)state;
	write_home(5);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(submit(&f, &req, XP_ZEROES, 40, 8, false), XP_WAIT);
		begin();
		begin_run(5, 1);
		assert_true(run.zeroes);
		end_run(0);
		assert_true(has_ended(&req));
		assert_false(end_batch(0));
		flush_slow(-EIO);
	}
}

/* A writer that never stops: what was dirty before the switch is home, and that is all there was to do. */
static void a_switch_is_over_though_somebody_writes(void **state)
{
	struct xp_req req;
	u32 flushes = 0;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	for (u32 i = 0; i < 200; i++) {
		write_in(&req, 100 + i, 1, 1, false);
		begin();
		while (xp_writeback_next(f.c, &run) == XP_NEXT_RUN)
			end_run(0);
		flushes += end_batch(0);
		if (!has_ended(&req)) {
			begin();
			begin_run(100 + i, 1);
			end_run(0);
			assert_true(has_ended(&req));
			flushes += end_batch(0);
		}
	}
	assert_false(mapped_dirty(&f, 5));
	assert_in_range(flushes, 1, 3);
}

/* I4: a run brings what was mapped when it was gathered. */
static void a_newer_version_waits_for_a_run_of_its_own(void **state)
{
	struct xp_req first, second;

	(void)state;
	write_in(&first, 5, 1, 1, false);
	begin();
	begin_run(5, 1);
	write_in(&second, 5, 1, 2, false);
	end_run(0);
	assert_true(has_ended(&first));
	assert_false(has_ended(&second));
	end_batch(0);
	assert_true(mapped_dirty(&f, 5));
	send(5, 1);
	assert_true(has_ended(&second));
}

/* ... which is enough for all before it, also where the batch has the older one. */
static void one_run_is_enough_for_all_versions_before_it(void **state)
{
	struct xp_req first, second;

	(void)state;
	write_in(&first, 5, 2, 1, false);
	begin();
	write_in(&second, 6, 1, 2, false);
	begin_run(5, 1);
	end_run(0);
	assert_false(has_ended(&first));	/* the newer one of block 6 is not in the batch */
	end_batch(0);
	send(6, 1);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &first.link);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &second.link);
}

/* Two that wait for one block: it goes home once. */
static void two_that_wait_for_a_block_have_one_run(void **state)
{
	struct xp_req first, second;

	(void)state;
	write_in(&first, 5, 1, 1, false);
	write_in(&second, 5, 1, 2, false);
	begin();
	assert_int_equal(pins_of(&f, 5), 1);
	begin_run(5, 1);
	end_run(0);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &first.link);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &second.link);
	end_batch(0);
	assert_int_equal(pins_of(&f, 5), 0);
}

static void zeroes_and_discards_wait_too(void **state)
{
	struct xp_req zeroes;

	(void)state;
	write_home(5);
	assert_int_equal(submit(&f, &zeroes, XP_ZEROES, 40, 8, false), XP_WAIT);
	begin();
	begin_run(5, 1);
	assert_true(run.zeroes);
	end_run(0);
	assert_true(has_ended(&zeroes));
	end_batch(0);
}

/* It began in write-back's time, and is longer than a part of a write-through. */
static void a_long_write_across_the_switch_waits(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 200 * 8, false), XP_FAST);
	assert_int_equal(req.nr_blocks, 200);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	send(0, 200);
	assert_true(has_ended(&req));
	end_batch(0);
}

/* What was dirty in write-back's time goes home without being asked for. */
static void a_switch_brings_home_what_is_dirty(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_false(xp_writeback_wanted(f.c));
	change_mode(&f, XP_MODE_WRITETHROUGH);
	send(5, 1);
	assert_true(end_batch(0));
	assert_true(xp_is_clean(f.c));
	assert_false(stats_of(&f).flushing);
}

/* ... and so does what a start finds. */
static void a_start_brings_home_what_is_dirty(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	f.opt.mode = XP_MODE_WRITEAROUND;
	fixture_reopen(&f);
	send(5, 1);
	assert_true(end_batch(0));
}

/* A start that says nothing of it has the mode of before; write-back asks for no version that knows the others. */
static void the_superblock_keeps_the_mode(void **state)
{
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITEBACK);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	f.opt.mode = XP_MODE_KEPT;
	fixture_reopen(&f);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
	assert_true(le64_to_cpu(f.sb.incompat) & XP_INCOMPAT_MODE);
	f.opt.mode = XP_MODE_WRITEAROUND;
	fixture_reopen(&f);
	f.opt.mode = XP_MODE_KEPT;
	fixture_reopen(&f);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITEAROUND);
	change_mode(&f, XP_MODE_WRITEBACK);
	fixture_reopen(&f);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITEBACK);
	/* also where it stops before a tick */
	t.mode = XP_MODE_WRITETHROUGH;
	xp_set_limits(f.c, &t);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	fixture_reopen(&f);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
	change_mode(&f, XP_MODE_WRITEBACK);
	fixture_reopen(&f);
	assert_false(le64_to_cpu(f.sb.incompat) & XP_INCOMPAT_MODE);
}

static void a_mode_that_is_not_known_is_refused(void **state)
{
	(void)state;
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_MODE);
	f.sb.mode = XP_MODES;
	xp_sb_seal(&f.sb);
	assert_int_equal(xp_sb_verify(&f.sb, f.fast_blocks, &f.msg), -ENOTSUP);
	assert_non_null(strstr(f.msg.text, "mode unknown"));
	f.sb.mode = XP_MODE_WRITEBACK;	/* says nothing, and nobody writes that */
	xp_sb_seal(&f.sb);
	assert_int_equal(xp_sb_verify(&f.sb, f.fast_blocks, &f.msg), -ENOTSUP);
}

/* Write-around, I8: the end of the mapping is durable before the slow device is sent it. */
static void around_ends_a_clean_mapping_first(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 7);
	assert_int_equal(mapped_byte(&f, 5), 7);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_WAIT);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_true(xp_list_empty(&f.todo.ready));
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	flush_slow(0);
	assert_true(xp_is_clean(f.c));
}

static void around_leaves_alone_what_is_not_mapped(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 43, 30, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(stats_of(&f).dirty, 0);
}

/* Of write-back's time: the newest version is in the cache, and stays there until it is home. */
static void around_writes_what_is_dirty_through(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	change_mode(&f, XP_MODE_WRITEAROUND);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 16, false), XP_COPY);
	assert_int_equal(req.nr_blocks, 1);
	xp_copied(f.c, &req, &(u64){ 1 }, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	send(5, 1);
	assert_true(has_ended(&req));
	end_batch(0);
}

/* The fast device is gone: who waits is not told that it went well. */
static void a_write_that_waits_fails_with_the_cache(void **state)
{
	struct xp_req req, other;

	(void)state;
	write_in(&req, 5, 1, 1, false);
	assert_int_equal(submit(&f, &other, XP_WRITE, 80, 8, false), XP_COPY);
	xp_copied(f.c, &other, &(u64){ 1 }, &f.todo);
	fail_journal_for_good(&f);
	assert_true(has_ended(&req));
	assert_int_equal(req.err, -EIO);
	assert_false(xp_writeback_wanted(f.c));
}

/* It was sent, and waits for the flush of a batch to come, when a caller's FLUSH fails. */
static void fua_that_waits_fails_with_a_flush(void **state)
{
	struct xp_req req, flush;
	struct xp_run last;

	(void)state;
	write_home(3);
	assert_int_equal(submit(&f, &flush, XP_FLUSH, 0, 0, false), XP_SLOW);
	write_in(&req, 5, 1, 1, true);
	begin();
	begin_run(5, 1);
	last = run;
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);	/* another worker's, which is done first */
	xp_writeback_end(f.c, &last, &f.todo);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NONE);
	xp_writeback_commit(f.c, 0, 1, &f.todo);
	assert_int_equal(xp_end(f.c, &flush, -EIO, &f.todo), XP_DONE);
	while (xp_writeback_wanted(f.c) && !has_ended(&req))
		batch_well();
	assert_int_equal(req.err, -EIO);
}

/* It was sent and flushed since: that is not about it. */
static void fua_that_is_sent_after_the_failure_ends_well(void **state)
{
	struct xp_req req, caller;

	(void)state;
	write_home(5);
	assert_int_equal(submit(&f, &caller, XP_FLUSH, 0, 0, false), XP_SLOW);
	write_in(&req, 9, 1, 1, true);
	begin();
	assert_int_equal(xp_end(f.c, &caller, -EIO, &f.todo), XP_DONE);
	begin_run(9, 1);
	end_run(0);
	end_batch(0);
	assert_true(has_ended(&req));
	assert_int_equal(req.err, 0);
}

/* The server is there again, without what it was sent. */
static void what_a_device_has_lost_is_told_and_sent_again(void **state)
{
	struct xp_req req;

	(void)state;
	write_home(5);
	xp_slow_lost(f.c);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	xp_write_back_all(f.c, true);
	send(5, 1);
	end_batch(0);
	assert_true(xp_is_clean(f.c));
}

/* It may have been what the device has lost: it has another run. */
static void a_run_beside_a_loss_does_not_count(void **state)
{
	struct xp_req req;

	(void)state;
	write_in(&req, 5, 1, 1, false);
	begin();
	begin_run(5, 1);
	xp_slow_lost(f.c);
	end_run(0);
	assert_false(has_ended(&req));
	end_batch(0);
	send(5, 1);
	assert_true(has_ended(&req));
	end_batch(0);
}

/* Of write-back's time: once round the disk. */
static void dirty_apart(u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		write_blocks(&f, 10 * i, 1, 1);
	flush(&f);
}

static u32 dirty_of(u32 nr)
{
	u32 n = 0;

	for (u32 i = 0; i < nr; i++)
		n += (u32)mapped_dirty(&f, 10 * i);
	return n;
}

/* The first batch's flush fails with @flush, and of its runs that of block 50 with @bad. */
static void settle(int bad, int flush)
{
	u32 n;

	change_mode(&f, XP_MODE_WRITETHROUGH);
	for (n = 0; xp_writeback_wanted(f.c) && n < 20; n++) {
		batch_begin(&f);
		while (xp_writeback_next(f.c, &run) == XP_NEXT_RUN)
			end_run(!n && xp_lba_n(run.lba) == 50 ? bad : 0);
		assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
		xp_writeback_commit(f.c, n ? 0 : flush, 1, &f.todo);
		write_journal(&f);
	}
	assert_in_range(n, 2, 19);
	assert_int_equal(dirty_of(700), 0);
}

static void a_switch_goes_on_after_a_flush_that_failed(void **state)
{
	(void)state;
	dirty_apart(700);
	settle(0, -EIO);
}

static void a_switch_goes_on_after_a_run_that_failed(void **state)
{
	(void)state;
	dirty_apart(700);
	settle(-EIO, 0);
}

static void a_batch_of_the_switch_before_settles_nothing(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	begin();
	begin_run(5, 1);
	change_mode(&f, XP_MODE_WRITEBACK);
	write_blocks(&f, 70, 1, 2);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	end_run(0);
	end_batch(0);
	assert_true(xp_writeback_wanted(f.c));
	send(70, 1);
	end_batch(0);
	assert_int_equal(stats_of(&f).dirty, 0);
}

/* Its error may be about a write that ended since the flush was sent. */
static void around_hears_of_a_flush_that_it_ended_beside(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	change_mode(&f, XP_MODE_WRITEAROUND);
	send(5, 1);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
	assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
	assert_int_equal(submit(&f, &req, XP_WRITE, 800, 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_writeback_commit(f.c, -EIO, 1, &f.todo);
	write_journal(&f);
	assert_false(is_flushed());
}

/* ------------------------------------------------------------- the superblock ---- */

static void a_mode_that_was_not_written_is_written_later(void **state)
{
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	t.mode = XP_MODE_WRITETHROUGH;
	xp_set_limits(f.c, &t);
	xp_tick(f.c, &f.todo);
	for (u32 i = 0; i < 2; i++)
		fail_journal(&f);
	assert_int_equal(f.c->failed, 0);
	for (u32 i = 0; i < 61; i++) {
		xp_tick(f.c, &f.todo);
		write_journal(&f);
	}
	f.opt.mode = XP_MODE_KEPT;
	assert_int_equal(fixture_restart(&f), 0);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
}

static void a_mode_that_was_not_written_is_written_at_the_stop(void **state)
{
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	t.mode = XP_MODE_WRITETHROUGH;
	xp_set_limits(f.c, &t);
	xp_tick(f.c, &f.todo);
	for (u32 i = 0; i < 2; i++)
		fail_journal(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	f.opt.mode = XP_MODE_KEPT;
	fixture_reopen(&f);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
}

static int (*write_of_media)(void *ctx, u64 block, u32 nr, const void *data);

static int all_but_copy_a(void *ctx, u64 block, u32 nr, const void *data)
{
	return block == XP_SB_BLOCK_A ? -EIO : write_of_media(ctx, block, nr, data);
}

static void it_starts_in_a_mode_that_cannot_be_kept(void **state)
{
	(void)state;
	write_of_media = f.media.write;
	f.media.write = all_but_copy_a;
	memset(f.fast + XP_SB_BLOCK_A * XP_BLOCK_SIZE, 0xff, XP_BLOCK_SIZE);
	f.opt.mode = XP_MODE_WRITETHROUGH;
	assert_int_equal(fixture_restart(&f), 0);
	assert_int_equal(xp_mode(f.c), XP_MODE_WRITETHROUGH);
	f.media.write = write_of_media;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_write_ends_when_the_slow_device_has_it),
		T(its_record_is_durable_before),
		T(what_is_home_is_clean_behind_a_flush),
		T(what_is_home_is_sent_again_after_a_flush_that_failed),
		T(fua_waits_for_the_flush),
		T(fua_fails_with_the_flush),
		T(a_run_that_fails_is_told),
		T(neighbours_of_a_bad_block_are_written),
		T(a_flush_of_a_batch_that_failed_is_told),
		T(nothing_is_clean_beside_a_flush_that_failed),
		T(zeroes_are_sent_again_after_a_flush_that_failed),
		TEST_WITH(a_switch_is_over_though_somebody_writes, setup_back, teardown),
		T(a_newer_version_waits_for_a_run_of_its_own),
		T(one_run_is_enough_for_all_versions_before_it),
		T(two_that_wait_for_a_block_have_one_run),
		T(zeroes_and_discards_wait_too),
		TEST_WITH(a_long_write_across_the_switch_waits, setup_back, teardown),
		TEST_WITH(a_switch_brings_home_what_is_dirty, setup_back, teardown),
		TEST_WITH(a_start_brings_home_what_is_dirty, setup_back, teardown),
		TEST_WITH(the_superblock_keeps_the_mode, setup_back, teardown),
		T(a_mode_that_is_not_known_is_refused),
		TEST_WITH(around_ends_a_clean_mapping_first, setup_around, teardown),
		TEST_WITH(around_leaves_alone_what_is_not_mapped, setup_around, teardown),
		TEST_WITH(around_writes_what_is_dirty_through, setup_back, teardown),
		T(a_write_that_waits_fails_with_the_cache),
		T(fua_that_waits_fails_with_a_flush),
		T(fua_that_is_sent_after_the_failure_ends_well),
		T(what_a_device_has_lost_is_told_and_sent_again),
		T(a_run_beside_a_loss_does_not_count),
		TEST_WITH(a_switch_goes_on_after_a_flush_that_failed, setup_back, teardown),
		TEST_WITH(a_switch_goes_on_after_a_run_that_failed, setup_back, teardown),
		TEST_WITH(a_batch_of_the_switch_before_settles_nothing, setup_back, teardown),
		TEST_WITH(around_hears_of_a_flush_that_it_ended_beside, setup_back, teardown),
		TEST_WITH(a_mode_that_was_not_written_is_written_later, setup_back, teardown),
		TEST_WITH(a_mode_that_was_not_written_is_written_at_the_stop, setup_back, teardown),
		TEST_WITH(it_starts_in_a_mode_that_cannot_be_kept, setup_back, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
