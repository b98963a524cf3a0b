// SPDX-License-Identifier: GPL-2.0-only
/* Slots that have a part of their block: written without a read, read where each sector is, written back by sectors. */
#include "fixture.h"
#include "checksum.h"
#include "journal.h"
#include "look.h"
#include "options.h"
#include "run.h"
#include "superblock.h"

static struct fixture f;
static struct xp_run run;

static int start(u64 incompat, bool verify)
{
	fixture_setup(&f, 8192, 100000);
	f.opt.fast_sectors = true;
	f.opt.verify = verify;
	f.sb.incompat = cpu_to_le64(incompat);
	fixture_reopen(&f);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return start(XP_INCOMPAT_NEW, false);
}

static int setup_older(void **state)
{
	(void)state;
	return start(XP_INCOMPAT_NEW & ~XP_INCOMPAT_PARTS, false);
}

static int setup_verify(void **state)
{
	(void)state;
	return start(XP_INCOMPAT_KNOWN, true);
}

/* ------------------------------------------------------------- helpers ---- */

static bool is_mapped(u64 lba)
{
	struct xp_mapping m;

	return xp_lookup(f.c, XP_LBA(lba), &m);
}

/* Sectors of a block, into a slot as they are. */
static void write_sectors(u64 lba, u32 first, u32 nr, int byte)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8 + first, nr, false), XP_FAST);
	assert_int_equal(req.nr_sectors, nr);
	memset(f.fast + req.target * 512, byte, nr * 512);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
}

/* A piece of a read that comes again after an error, to its end: so many sectors, of that device. */
static void read_piece(u64 *sector, u64 end, enum xp_act act, u32 nr)
{
	struct xp_req req = { .op = XP_READ, .sector = *sector, .nr_sectors = (u32)(end - *sector), .alone = true };

	assert_int_equal(xp_submit(f.c, &req, &f.todo), act);
	assert_int_equal(req.nr_sectors, nr);
	if (act == XP_FAST)
		assert_int_equal(req.target, xp_slot_sector(f.c, mapping_of(&f, *sector / 8).slot) + *sector % 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	*sector += nr;
}

static void begin_batch(void)
{
	xp_write_back_all(f.c, true);
	assert_true(xp_writeback_wanted(f.c));
	batch_begin(&f);
}

static void run_of(u64 lba, u32 skip, u32 nr, int err)
{
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(xp_lba_n(run.lba), lba);
	assert_int_equal(run.nr_blocks, 1);
	assert_int_equal(run.skip, skip);
	assert_int_equal(run.nr_sectors, nr);
	run.err = err;
	xp_writeback_end(f.c, &run, &f.todo);
}

static void end_batch(void)
{
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_END);
	xp_writeback_flushes(f.c);
	xp_writeback_commit(f.c, 0, 1, &f.todo);
	write_journal(&f);
	flush(&f);
}

/* -------------------------------------------------------------- written ---- */

static void a_write_of_a_part_reads_nothing(void **state)
{
	(void)state;
	write_sectors(5, 2, 3, 1);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe3);
	assert_true(mapping_of(&f, 5).dirty);
	assert_false(mapping_of(&f, 5).zeros);
	assert_int_equal(slot_data(&f, mapping_of(&f, 5).slot)[2 * 512], 1);
	assert_int_equal(stats_of(&f).write_blocks, 1);
	assert_int_equal(stats_of(&f).write_in_place_blocks, 0);
}

/* The two ends of a write that is off the grid. */
static void so_do_both_ends_of_one(void **state)
{
	(void)state;
	write_sectors(5, 7, 1, 1);
	write_sectors(6, 0, 7, 1);
	assert_int_equal(mapping_of(&f, 5).lacks, 0x7f);
	assert_int_equal(mapping_of(&f, 6).lacks, 0x80);
}

static void others_are_added_in_the_same_slot(void **state)
{
	xp_slot_t slot;
	struct xp_req req;

	(void)state;
	write_sectors(5, 0, 1, 1);
	slot = mapping_of(&f, 5).slot;
	write_sectors(5, 3, 1, 2);
	write_sectors(5, 3, 2, 3);
	assert_int_equal(xp_slot_n(mapping_of(&f, 5).slot), xp_slot_n(slot));
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe6);
	write_sectors(5, 1, 7, 4);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
	assert_int_equal(slot_data(&f, slot)[0], 1);
	assert_int_equal(slot_data(&f, slot)[4095], 4);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 8);
}

/* A disk that writes longer sectors than it takes may lose those beside one: the slot is left alone. Memory loses none. */
static void but_not_where_that_may_cost_the_others(void **state)
{
	struct xp_req req;
	u64 from;

	(void)state;
	f.opt.fast_sectors = false;
	fixture_reopen(&f);
	write_sectors(5, 0, 4, 1);
	from = xp_slot_sector(f.c, mapping_of(&f, 5).slot);
	assert_int_equal(submit(&f, &req, XP_WRITE, 44, 1, false), XP_COPY);
	assert_int_equal(req.copy.from, from);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe0);
	f.opt.fast_at_once = true;
	fixture_reopen(&f);
	write_sectors(5, 0, 4, 1);
	write_sectors(5, 4, 1, 1);
	assert_int_equal(submit(&f, &req, XP_WRITE, 44, 1, false), XP_COPY);	/* it has that one */
}

static void a_whole_write_takes_its_place(void **state)
{
	(void)state;
	write_sectors(5, 0, 1, 1);
	write_blocks(&f, 5, 1, 2);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
	assert_int_equal(mapped_byte(&f, 5), 2);
}

static void zeroes_take_its_place(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 0, 1, 1);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 40, 8, false), XP_DONE);
	assert_true(mapping_of(&f, 5).zeros);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
	flush(&f);
	fixture_reopen(&f);
	assert_true(mapping_of(&f, 5).zeros);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_ZERO);
}

/* They are sectors that the slot has, like any others. */
static void zeroes_of_a_part_are_added(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 0, 1, 1);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 42, 2, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_false(req.copy.parallel);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xf2);
}

/* Its slot is read: what it has goes along to another one. */
static void a_part_that_is_read_is_written_elsewhere(void **state)
{
	struct xp_req reader, req;
	u64 from;

	(void)state;
	write_sectors(5, 0, 1, 1);
	from = xp_slot_sector(f.c, mapping_of(&f, 5).slot);
	assert_int_equal(submit(&f, &reader, XP_READ, 40, 1, false), XP_FAST);
	assert_int_equal(submit(&f, &req, XP_WRITE, 43, 1, true), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_int_equal(req.copy.from, from);
	assert_false(req.copy.parallel);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xf6);
	assert_int_not_equal(xp_slot_sector(f.c, mapping_of(&f, 5).slot), from);
	assert_int_equal(xp_end(f.c, &reader, 0, &f.todo), XP_DONE);
}

static void one_that_fails_leaves_nothing(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_FAST);
	refuse_write(&f, &req);
	assert_false(is_mapped(5));
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xfd);
	write_blocks(&f, 6, 1, 1);
	assert_int_equal(mapping_of(&f, 6).lacks, 0);
}

static void with_no_room_in_the_journal_it_waits(void **state)
{
	struct xp_req req, other[XP_WINDOW];
	u8 data[XP_BLOCK_SIZE] = { 7 };
	u64 hash = xp_checksum(data, sizeof(data));
	u32 i;

	(void)state;
	write_sectors(5, 0, 1, 1);
	flush(&f);
	for (i = 0; i < XP_WINDOW - 1; i++) {
		assert_int_equal(submit(&f, &other[i], XP_WRITE, (100 + i) * 8, 8, true), XP_COPY);
		xp_copied(f.c, &other[i], &hash, &f.todo);
		write_journal(&f);
	}
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xfe);
	assert_int_equal(xp_end(f.c, &other[0], 0, &f.todo), XP_DONE);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xfc);
}

/* ----------------------------------------------------------------- read ---- */

static void each_sector_is_read_where_it_is(void **state)
{
	u64 at = 39;

	(void)state;
	write_sectors(5, 2, 3, 1);
	write_blocks(&f, 6, 1, 2);
	read_piece(&at, 56, XP_SLOW, 1);
	read_piece(&at, 56, XP_SLOW, 2);
	read_piece(&at, 56, XP_FAST, 3);
	read_piece(&at, 56, XP_SLOW, 3);
	read_piece(&at, 56, XP_FAST, 8);
	at = 43;
	read_piece(&at, 44, XP_FAST, 1);
	assert_int_equal(pins_of(&f, 5), 0);
}

/* A read of what it lacks, with what it has laid over; and then? */
static void begin_to_complete(struct xp_req *req, u64 lba)
{
	assert_int_equal(submit(&f, req, XP_READ, lba * 8, 16, false), XP_MIXED);
	assert_int_equal(req->nr_sectors, 8);
	assert_int_equal(req->overlay->nr_blocks, 1);
	assert_int_equal(req->overlay->lacks[0], mapping_of(&f, lba).lacks);
	assert_int_equal(req->fill.nr_blocks, 1);
	assert_int_equal(pins_of(&f, lba), 1);
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_DONE);
	assert_int_equal(pins_of(&f, lba), 0);
}

static void end_fill(const struct xp_req *req, int byte)
{
	memset(f.fast + req->fill.target * 512, byte, XP_BLOCK_SIZE);
	xp_fill_end(f.c, &req->fill, 0, &f.todo);
	write_journal(&f);
}

static void a_read_makes_it_whole(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 2, 3, 1);
	flush(&f);
	begin_to_complete(&req, 5);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe3);
	end_fill(&req, 7);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
	assert_true(mapping_of(&f, 5).dirty);
	assert_int_equal(mapped_byte(&f, 5), 7);
	flush(&f);
	fixture_reopen(&f);
	assert_true(mapping_of(&f, 5).dirty);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 8);
}

/* What was read is not what it is any more. */
static void a_write_meanwhile_keeps_it_a_part(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 2, 3, 1);
	begin_to_complete(&req, 5);
	write_sectors(5, 0, 1, 2);
	end_fill(&req, 7);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe2);
}

static void so_do_zeroes(void **state)
{
	struct xp_req req, zeroes;

	(void)state;
	write_sectors(5, 2, 3, 1);
	begin_to_complete(&req, 5);
	assert_int_equal(submit(&f, &zeroes, XP_ZEROES, 40, 8, false), XP_DONE);
	end_fill(&req, 7);
	assert_true(mapping_of(&f, 5).zeros);
}

/* The slow device has all of it by then. */
static void written_back_meanwhile_it_is_clean(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 2, 3, 1);
	flush(&f);
	begin_to_complete(&req, 5);
	begin_batch();
	run_of(5, 2, 3, 0);
	end_batch();
	assert_false(is_mapped(5));
	end_fill(&req, 7);
	assert_false(mapping_of(&f, 5).dirty);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
}

/* I9: the slow device has an older one. */
static void what_cannot_be_read_of_it_is_an_error(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 2, 3, 1);
	assert_int_equal(submit(&f, &req, XP_READ, 42, 3, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(pins_of(&f, 5), 0);
}

/* ... nor one of a run that begins with another. */
static void a_hit_behind_which_it_lies_ends_before_it(void **state)
{
	u64 at = 32;

	(void)state;
	write_blocks(&f, 4, 1, 1);
	write_sectors(5, 0, 8 - 1, 1);
	read_piece(&at, 48, XP_FAST, 8);
	read_piece(&at, 48, XP_FAST, 7);
	read_piece(&at, 48, XP_SLOW, 1);
}

/* -------------------------------------------------------- written back ---- */

static void what_it_has_is_written_back(void **state)
{
	(void)state;
	write_sectors(5, 1, 2, 1);
	write_sectors(5, 7, 1, 1);
	write_blocks(&f, 6, 1, 2);
	flush(&f);
	begin_batch();
	run_of(5, 1, 2, 0);
	assert_int_equal(stats_of(&f).written_back, 0);
	run_of(5, 7, 1, 0);
	assert_int_equal(stats_of(&f).written_back, 1);
	run_of(6, 0, 0, 0);
	end_batch();
	assert_false(is_mapped(5));
	assert_false(mapped_dirty(&f, 6));
	assert_true(xp_is_clean(f.c));
}

/* Several at once. */
static void runs_of_one_block_end_in_any_order(void **state)
{
	static struct xp_run second;

	(void)state;
	write_sectors(5, 1, 2, 1);
	write_sectors(5, 7, 1, 1);
	flush(&f);
	begin_batch();
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(xp_writeback_next(f.c, &second), XP_NEXT_RUN);
	assert_int_equal(second.skip, 7);
	xp_writeback_end(f.c, &second, &f.todo);
	assert_int_equal(stats_of(&f).written_back, 0);
	xp_writeback_end(f.c, &run, &f.todo);
	assert_int_equal(stats_of(&f).written_back, 1);
	end_batch();
	assert_false(is_mapped(5));
}

static void one_run_that_fails_is_enough(void **state)
{
	(void)state;
	write_sectors(5, 1, 2, 1);
	write_sectors(5, 7, 1, 1);
	flush(&f);
	begin_batch();
	run_of(5, 1, 2, -EIO);
	run_of(5, 7, 1, 0);
	end_batch();
	assert_true(mapped_dirty(&f, 5));
	assert_int_equal(mapping_of(&f, 5).lacks, 0x79);
}

static void one_that_is_superseded_meanwhile_is_left(void **state)
{
	(void)state;
	write_sectors(5, 1, 2, 1);
	write_sectors(5, 7, 1, 1);
	write_sectors(6, 3, 1, 1);
	flush(&f);
	begin_batch();
	run_of(5, 1, 2, 0);
	write_blocks(&f, 5, 1, 2);
	run_of(6, 3, 1, 0);
	end_batch();
	assert_true(mapped_dirty(&f, 5));
	assert_int_equal(mapped_byte(&f, 5), 2);
}

/* I3: half of a run must not be what a cut leaves of a sector that the slot has: so its record is durable first. */
static void what_was_added_meanwhile_is_durable_first(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 1, 2, 1);
	flush(&f);
	assert_int_equal(submit(&f, &req, XP_WRITE, 47, 1, false), XP_FAST);
	begin_batch();
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_WAIT);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_WAIT);
	f.todo.work = false;
	write_journal(&f);
	assert_true(f.todo.work);
	run_of(5, 1, 2, 0);
	run_of(5, 7, 1, 0);
	end_batch();
	assert_false(is_mapped(5));
}

/* A write that takes it along cannot read it: the slow device has it by now. */
static void what_was_written_back_is_not_lost_with_its_slot(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 1, 2, 1);
	flush(&f);
	begin_batch();
	assert_int_equal(submit(&f, &req, XP_WRITE, 47, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	run_of(5, 1, 2, 0);
	end_batch();
	assert_int_equal(xp_base_failed(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0x7f);
}

/* -------------------------------------------------------- after a start ---- */

static void a_recovery_knows_what_it_has(void **state)
{
	u64 at = 40;

	(void)state;
	write_sectors(5, 2, 3, 1);
	write_sectors(5, 7, 1, 1);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapping_of(&f, 5).lacks, 0x63);
	read_piece(&at, 48, XP_SLOW, 2);
	read_piece(&at, 48, XP_FAST, 3);
}

static void what_was_added_and_not_flushed_is_not_there(void **state)
{
	(void)state;
	write_sectors(5, 2, 3, 1);
	flush(&f);
	write_sectors(5, 7, 1, 1);
	fixture_reopen(&f);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe3);
}

static void its_record_says_so_however_often_it_is_said(void **state)
{
	xp_slot_t slot;

	(void)state;
	write_sectors(5, 2, 3, 1);
	slot = mapping_of(&f, 5).slot;
	xp_lock(&f.c->lock);
	assert_true(journal_room(f.c, 1, &f.todo));
	journal_add_mapping(f.c, slot);
	xp_unlock(&f.c->lock);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe3);
}

/* I10. The record is the newest one. */
static void no_other_record_lacks_anything(void **state)
{
	static const u64 word[] = { 0x01ull << 56 | 0x0001ull << 40, 0x01ull << 56 | 0x0501ull << 40, 0x01ull << 56 | 0x0301ull << 40,
				    0xffull << 56 | 0x0101ull << 40, 0x01ull << 56 | 0x0002ull << 40 };
	struct xp_jblock *b;
	u32 i;

	(void)state;
	write_sectors(5, 2, 3, 1);
	flush(&f);
	b = ring_block(&f, stats_of(&f).seq);
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		b->rec[0].lba = cpu_to_le64(word[i] | 5);
		reseal(b);
		restart_refused(&f, "record of unknown kind");
	}
}

/* A cache of before, until it is made anew. */
static void an_older_cache_reads_the_rest(void **state)
{
	struct xp_req req;
	struct xp_jblock *b;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0);
	flush(&f);
	b = ring_block(&f, stats_of(&f).seq);
	b->rec[0].lba |= cpu_to_le64(1ull << 56);
	reseal(b);
	restart_refused(&f, "record of unknown kind");
}

/* -------------------------------------------------- modes, and sums ---- */

static void none_while_a_write_ends_on_the_slow_device(void **state)
{
	struct xp_req req;

	(void)state;
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
}

/* What a sum is of is the whole block. */
static void none_with_sums(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_SLOW);
}

static void one_of_before_has_none(void **state)
{
	u8 data[XP_BLOCK_SIZE] = { 7 };
	u64 hash = xp_checksum(data, sizeof(data));
	struct xp_req req;

	(void)state;
	f.opt.verify = false;
	fixture_reopen(&f);
	write_sectors(5, 2, 3, 1);
	flush(&f);
	f.opt.verify = true;
	fixture_reopen(&f);
	assert_int_equal(submit(&f, &req, XP_READ, 42, 3, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	xp_copied(f.c, &req, &hash, &f.todo);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe1);
	assert_int_equal(mapping_of(&f, 5).sum, 0);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapping_of(&f, 5).lacks, 0xe1);
	begin_batch();
	run_of(5, 1, 4, 0);
}

/* I7: nobody waits until what it would have made is home. */
static void a_read_leaves_a_part_to_who_settles_a_mode(void **state)
{
	struct xp_req req;

	(void)state;
	write_sectors(5, 2, 3, 1);
	flush(&f);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_MIXED);
	assert_int_equal(req.fill.nr_blocks, 1);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	batch_begin(&f);
	xp_fill_end(f.c, &req.fill, 0, &f.todo);
	write_journal(&f);
	run_of(5, 2, 3, 0);
	end_batch();
	assert_false(xp_writeback_wanted(f.c));
	assert_false(is_mapped(5));
}

/* Of an earlier life, with another interface. A read of all of it that has failed once comes in pieces. */
static void a_device_of_whole_blocks_is_not_sent_pieces(void **state)
{
	struct xp_req req = { .op = XP_READ, .sector = 40, .nr_sectors = 8, .alone = true };

	(void)state;
	write_sectors(5, 0, 3, 1);
	flush(&f);
	f.opt.fast_sectors = false;
	f.opt.fast_whole = true;
	fixture_reopen(&f);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_CHECK);
	assert_int_equal(req.nr_sectors, 3);
	assert_int_equal(req.target, xp_slot_sector(f.c, mapping_of(&f, 5).slot));
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_write_of_a_part_reads_nothing),
		T(so_do_both_ends_of_one),
		T(others_are_added_in_the_same_slot),
		T(but_not_where_that_may_cost_the_others),
		T(a_whole_write_takes_its_place),
		T(zeroes_take_its_place),
		T(zeroes_of_a_part_are_added),
		T(a_part_that_is_read_is_written_elsewhere),
		T(one_that_fails_leaves_nothing),
		T(with_no_room_in_the_journal_it_waits),
		T(each_sector_is_read_where_it_is),
		T(a_read_leaves_a_part_to_who_settles_a_mode),
		T(a_device_of_whole_blocks_is_not_sent_pieces),
		T(a_read_makes_it_whole),
		T(a_write_meanwhile_keeps_it_a_part),
		T(so_do_zeroes),
		T(written_back_meanwhile_it_is_clean),
		T(what_cannot_be_read_of_it_is_an_error),
		T(a_hit_behind_which_it_lies_ends_before_it),
		T(what_it_has_is_written_back),
		T(runs_of_one_block_end_in_any_order),
		T(one_run_that_fails_is_enough),
		T(one_that_is_superseded_meanwhile_is_left),
		T(what_was_added_meanwhile_is_durable_first),
		T(what_was_written_back_is_not_lost_with_its_slot),
		T(a_recovery_knows_what_it_has),
		T(what_was_added_and_not_flushed_is_not_there),
		T(its_record_says_so_however_often_it_is_said),
		T(no_other_record_lacks_anything),
		TEST_WITH(an_older_cache_reads_the_rest, setup_older, teardown),
		T(none_while_a_write_ends_on_the_slow_device),
		TEST_WITH(none_with_sums, setup_verify, teardown),
		TEST_WITH(one_of_before_has_none, setup_verify, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
