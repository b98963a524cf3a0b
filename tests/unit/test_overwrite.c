// SPDX-License-Identifier: GPL-2.0-only
/* Writes of a part of a dirty block, in its slot: when, what meets them, and what is durable then. */
#include "fixture.h"
#include "checksum.h"
#include "journal.h"
#include "look.h"
#include "options.h"
#include "run.h"
#include "superblock.h"

static struct fixture f;
static struct xp_run run;

/* A block of the fast device; 0: none. */
static u64 unreadable;
static int (*whole_read)(void *ctx, u64 block, u32 nr, void *buf);

static int media_read(void *ctx, u64 block, u32 nr, void *buf)
{
	return unreadable && unreadable - block < nr ? -EIO : whole_read(ctx, block, nr, buf);
}

static int start(bool sectors, bool volatile_fast)
{
	fixture_setup(&f, 8192, 100000);
	whole_read = f.media.read;
	f.media.read = media_read;
	f.opt.fast_sectors = sectors;
	f.opt.volatile_fast = volatile_fast;
	fixture_reopen(&f);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return start(true, false);
}

static int setup_volatile(void **state)
{
	(void)state;
	return start(true, true);
}

static int setup_whole(void **state)
{
	(void)state;
	return start(false, false);
}

/* ------------------------------------------------------------- helpers ---- */

/* The second sector of a block. */
static enum xp_act submit_part(struct xp_req *req, u64 lba, bool fua)
{
	return submit(&f, req, XP_WRITE, lba * 8 + 1, 1, fua);
}

static void begin_in_place(struct xp_req *req, u64 lba)
{
	assert_int_equal(submit_part(req, lba, false), XP_FAST);
	assert_int_equal(req->nr_sectors, 1);
	assert_int_equal(req->target, xp_slot_sector(f.c, mapping_of(&f, lba).slot) + 1);
}

static enum xp_act end_in_place(struct xp_req *req, int byte)
{
	memset(f.fast + req->target * 512, byte, 512);
	return xp_end(f.c, req, 0, &f.todo);
}

static void write_in_place(u64 lba, int byte)
{
	struct xp_req req;

	begin_in_place(&req, lba);
	assert_int_equal(end_in_place(&req, byte), XP_DONE);
}

static bool goes_elsewhere(u64 lba)
{
	struct xp_req req;

	return submit_part(&req, lba, false) == XP_COPY;
}

/* In parallel with its record, to its end. */
static void write_checked(u64 lba, int byte)
{
	struct xp_req req;
	u64 hash;

	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8, 8, true), XP_COPY);
	memset(f.fast + req.target * 512, byte, XP_BLOCK_SIZE);
	hash = xp_checksum(f.fast + req.target * 512, XP_BLOCK_SIZE);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
}

/* ---------------------------------------------------------------- when ---- */

static void a_part_of_a_dirty_block_is_written_where_it_is(void **state)
{
	xp_slot_t slot;
	u64 blocks;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	slot = mapping_of(&f, 5).slot;
	blocks = stats_of(&f).journal_writes;
	write_in_place(5, 2);
	assert_int_equal(xp_slot_n(mapping_of(&f, 5).slot), xp_slot_n(slot));
	assert_int_equal(slot_data(&f, slot)[511], 1);
	assert_int_equal(slot_data(&f, slot)[512], 2);
	flush(&f);
	assert_int_equal(stats_of(&f).journal_writes, blocks);
	assert_int_equal(stats_of(&f).write_blocks, 2);
	assert_int_equal(stats_of(&f).write_in_place_blocks, 1);
	assert_int_equal(pins_of(&f, 5), 0);
	write_in_place(5, 3);
	assert_int_equal(f.c->writes_unsynced, 1);
}

/* Its record may still be on its way: it has no checksum. */
static void also_before_its_record_is_durable(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	write_in_place(5, 2);
}

static void one_that_is_not_dirty_is_not(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 1);
	assert_true(goes_elsewhere(5));
	write_blocks(&f, 7, 1, 1);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 7 * 8, 8, false), XP_DONE);
	assert_true(goes_elsewhere(7));
}

static void zeroes_are_not_nor_what_the_device_cannot_take(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 2, 1);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 41, 1, false), XP_COPY);
	memset(&req, 0, sizeof(req));
	req.op = XP_WRITE;
	req.sector = 49;
	req.nr_sectors = 1;
	req.private = true;
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_COPY);
}

static void none_is_where_sectors_are_not_whole(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_true(goes_elsewhere(5));
}

static void a_slot_that_is_read_is_not(void **state)
{
	struct xp_req reader, req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(submit(&f, &reader, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(submit_part(&req, 5, false), XP_COPY);
}

/* I1: what is compared with it would not find what it was. */
static void a_slot_with_a_sum_is_not(void **state)
{
	(void)state;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_KNOWN);
	f.opt.verify = true;
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	assert_true(goes_elsewhere(5));
	assert_int_equal(xp_close(f.c, &f.media), 0);
	f.opt.verify = false;
	fixture_reopen(&f);
	assert_true(goes_elsewhere(5));
}

static void no_more_than_there_is_room_for(void **state)
{
	struct xp_req req[XP_OVERWRITES_MAX];
	u32 i;

	(void)state;
	write_blocks(&f, 5, XP_OVERWRITES_MAX + 1, 1);
	for (i = 0; i < XP_OVERWRITES_MAX; i++)
		begin_in_place(&req[i], 5 + i);
	assert_true(goes_elsewhere(5 + XP_OVERWRITES_MAX));
	for (i = 0; i < XP_OVERWRITES_MAX; i++)
		assert_int_equal(end_in_place(&req[i], 2), XP_DONE);
	write_in_place(5, 3);
}

/* ------------------------------------------------------------ checksums ---- */

static void commit_another(u64 lba)
{
	write_blocks(&f, lba, 1, 9);
	flush(&f);
}

/* I1: whatever of the ring is lost, a recovery that goes on without may compare it. */
static void one_with_a_checksum_is_not(void **state)
{
	u32 i;

	(void)state;
	write_checked(5, 1);
	for (i = 0; i < 20; i++)
		commit_another(20 + i);
	assert_true(goes_elsewhere(5));
}

static void nor_is_it_after_a_start(void **state)
{
	(void)state;
	write_checked(5, 1);
	write_blocks(&f, 6, 1, 1);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	fixture_reopen(&f);
	assert_true(goes_elsewhere(5));
	write_in_place(6, 2);
}

/* The one before is in the ring still. */
static void nor_when_it_was_said_again_without(void **state)
{
	xp_slot_t slot;

	(void)state;
	write_checked(5, 1);
	slot = mapping_of(&f, 5).slot;
	xp_lock(&f.c->lock);
	assert_true(journal_room(f.c, 1, &f.todo));
	journal_add_mapping(f.c, slot);
	xp_unlock(&f.c->lock);
	flush(&f);
	assert_true(goes_elsewhere(5));
}

/* A recovery looks at such a slot whatever is durable, and the record that says that it need not may be lost. */
static void nor_is_one_that_could_not_be_read(void **state)
{
	xp_slot_t slot;

	(void)state;
	write_blocks(&f, 5, 1, 7);
	flush(&f);
	slot = write_under_way(&f, 5, 9);
	unreadable = le64_to_cpu(f.sb.data_start) + xp_slot_n(slot);
	fixture_reopen(&f);
	assert_int_equal(xp_unread(f.c), 1);
	unreadable = 0;
	fixture_reopen(&f);
	assert_int_equal(xp_unread(f.c), 0);
	commit_another(20);
	assert_int_equal(xp_slot_n(mapping_of(&f, 5).slot), xp_slot_n(slot));
	assert_true(goes_elsewhere(5));
}

/* The slot is another's by now, of which there is no checksum. */
static void a_slot_that_had_one_may_be_again(void **state)
{
	(void)state;
	write_checked(5, 1);
	write_blocks(&f, 5, 1, 2);
	flush(&f);
	f.c->alloc_hand = 0;
	write_blocks(&f, 7, 1, 3);
	flush(&f);
	write_in_place(7, 4);
	fixture_reopen(&f);
	write_in_place(7, 5);
}

/* Else a part that is written and flushed again and again would have one each time. */
static void the_next_one_is_without(void **state)
{
	struct xp_req req;

	(void)state;
	write_checked(5, 1);
	assert_int_equal(submit_part(&req, 5, true), XP_COPY);
	assert_false(req.copy.parallel);
	assert_false(req.copy.hashed);
	memset(f.fast + req.target * 512, 2, XP_BLOCK_SIZE);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	write_in_place(5, 3);
}

/* -------------------------------------------------------- what meets it ---- */

static void its_block_is_busy_meanwhile(void **state)
{
	struct xp_req req, part, whole, zeroes, discard;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	begin_in_place(&req, 5);
	assert_int_equal(submit(&f, &part, XP_WRITE, 43, 1, false), XP_WAIT);
	assert_int_equal(submit(&f, &whole, XP_WRITE, 40, 8, false), XP_WAIT);
	assert_int_equal(submit(&f, &zeroes, XP_ZEROES, 40, 8, false), XP_WAIT);
	assert_int_equal(submit(&f, &discard, XP_DISCARD, 40, 8, false), XP_WAIT);
	assert_true(xp_list_empty(&f.todo.ready));
	assert_int_equal(end_in_place(&req, 2), XP_DONE);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &part.link);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &whole.link);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &zeroes.link);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &discard.link);
}

/* I7: what is clean is what the batch has read. */
static void none_while_a_batch_has_the_block(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_true(goes_elsewhere(5));
}

static void a_batch_waits_for_it(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 4, 3, 1);
	flush(&f);
	begin_in_place(&req, 5);
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(run.nr_blocks, 1);
	xp_writeback_end(f.c, &run, &f.todo);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_WAIT);
	f.todo.work = false;
	assert_int_equal(end_in_place(&req, 2), XP_DONE);
	assert_true(f.todo.work);
	assert_true(goes_elsewhere(5));	/* the batch has it */
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(xp_lba_n(run.lba), 5);
	assert_int_equal(run.nr_blocks, 2);
}

static void who_awaits_none_is_not_woken(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	f.todo.work = false;
	write_in_place(5, 2);
	assert_false(f.todo.work);
}

static void write_blocks_waiting(struct xp_req *req, u64 lba)
{
	assert_int_equal(submit(&f, req, XP_WRITE, lba * 8, 20 * 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_WAIT);
}

/* Of a write that began in another mode, and waits for the slow device. */
static void so_does_a_batch_of_what_writes_wait_for(void **state)
{
	struct xp_req waits, req;

	(void)state;
	change_mode(&f, XP_MODE_WRITETHROUGH);
	write_blocks_waiting(&waits, 5);
	change_mode(&f, XP_MODE_WRITEBACK);
	begin_in_place(&req, 5);
	assert_true(xp_writeback_wanted(f.c));
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_WAIT);
	assert_int_equal(end_in_place(&req, 2), XP_DONE);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(xp_lba_n(run.lba), 5);
	assert_int_equal(run.nr_blocks, 20);
	xp_writeback_end(f.c, &run, &f.todo);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &waits.link);
	assert_true(goes_elsewhere(5));
}

/* As any other write that was under way then. */
static void one_that_ends_in_another_mode_waits_for_the_slow_device(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	begin_in_place(&req, 5);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_int_equal(end_in_place(&req, 2), XP_WAIT);
	assert_true(xp_writeback_wanted(f.c));
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	xp_writeback_end(f.c, &run, &f.todo);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, 0);
}

/* I2: the batch that sends it flushes nothing of the fast device; and until its block is clean that is what a start reads. */
static void a_flush_covers_one_that_ended_in_another_mode(void **state)
{
	struct xp_req req;
	u64 point;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	begin_in_place(&req, 5);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_int_equal(end_in_place(&req, 2), XP_WAIT);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	xp_writeback_end(f.c, &run, &f.todo);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	point = stats_of(&f).journal_writes;
	submit(&f, &req, XP_FLUSH, 0, 0, false);
	xp_end(f.c, &req, 0, &f.todo);
	write_journal(&f);
	assert_int_equal(stats_of(&f).journal_writes, point + 1);
}

static void none_while_a_write_ends_on_the_slow_device(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	change_mode(&f, XP_MODE_WRITETHROUGH);
	assert_true(goes_elsewhere(5));
}

/* What was sent to the slow device is not what the slot holds now. */
static void a_block_that_was_home_is_not_any_more(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	entry_of(f.c, mapping_of(&f, 5).slot)->home = 1;
	write_in_place(5, 2);
	assert_false(entry_of(f.c, mapping_of(&f, 5).slot)->home);
}

/* ------------------------------------------------------------- durable ---- */

/* I2: a block without a record, and one is enough. */
static void a_flush_is_a_block_of_no_record(void **state)
{
	struct xp_req req;
	struct xp_journal_io io;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	write_in_place(5, 2);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_true(f.todo.journal);
	xp_journal_io(f.c, (u32)__builtin_ctz(f.todo.journal), &io);
	assert_true(io.flush_fua);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(ring_block(&f, stats_of(&f).seq)->head.count, 0);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
}

/* A block that was sealed before it ended does not flush it. */
static void nor_does_a_block_that_is_on_its_way(void **state)
{
	struct xp_req first, second, third;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	begin_in_place(&first, 5);
	write_blocks(&f, 6, 1, 1);
	assert_int_equal(submit(&f, &second, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_int_equal(end_in_place(&first, 2), XP_DONE);
	assert_int_equal(submit(&f, &third, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_int_equal(__builtin_popcount(f.todo.journal), 2);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &second.link);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &third.link);
}

/* One that comes with a record does. */
static void records_take_it_along(void **state)
{
	u64 blocks;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	write_in_place(5, 2);
	write_blocks(&f, 6, 1, 1);
	blocks = stats_of(&f).journal_writes;
	flush(&f);
	flush(&f);
	assert_int_equal(stats_of(&f).journal_writes, blocks + 1);
}

/* Sent as such; it waits for the record that names its slot. */
static void fua_needs_its_slots_record(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	assert_int_equal(submit_part(&req, 5, true), XP_FAST);
	assert_int_equal(end_in_place(&req, 2), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(submit_part(&req, 5, true), XP_FAST);
	assert_int_equal(end_in_place(&req, 3), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_false(f.todo.journal);
}

static void a_stop_flushes_it(void **state)
{
	u32 writes;

	(void)state;
	f.opt.accept = XP_ACCEPT_LOSS;	/* no hint is written then */
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	write_in_place(5, 2);
	writes = f.media_writes;
	assert_int_equal(xp_close(f.c, &f.media), 0);
	assert_true(f.media_writes > writes);
}

/* The last place of the window is for what undoes the oldest block, which may be why there is no other. */
static void an_empty_block_does_not_take_the_last_place(void **state)
{
	struct xp_req req[XP_WINDOW], caller;
	u8 data[XP_BLOCK_SIZE] = { 7 };
	u64 hash = xp_checksum(data, sizeof(data));
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	for (i = 0; i < XP_WINDOW - 1; i++) {
		assert_int_equal(submit(&f, &req[i], XP_WRITE, (100 + i) * 8, 8, true), XP_COPY);
		xp_copied(f.c, &req[i], &hash, &f.todo);
		write_journal(&f);
		assert_true(req[i].copy.parallel);
	}
	write_in_place(5, 2);
	assert_int_equal(submit(&f, &caller, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_false(f.todo.journal);
	assert_int_equal(xp_end(f.c, &req[0], -EIO, &f.todo), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req[0].link);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &caller.link);
}

/* -------------------------------------------------------------- errors ---- */

static void one_that_fails_is_written_there_once_more(void **state)
{
	struct xp_req req;
	u64 sector;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	begin_in_place(&req, 5);
	sector = req.target;
	refuse_write(&f, &req);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(req.target, sector);
	assert_int_equal(end_in_place(&req, 2), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(stats_of(&f).bad_slots, 0);
}

static void then_elsewhere_and_its_slot_is_given_up(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	begin_in_place(&req, 5);
	refuse_write(&f, &req);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	refuse_write(&f, &req);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_int_equal(req.copy.from, xp_slot_sector(f.c, mapping_of(&f, 5).slot));
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	flush(&f);
	assert_int_equal(stats_of(&f).bad_slots, 1);
}

static void the_block_is_busy_while_it_is_in_doubt(void **state)
{
	struct xp_req req, other;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	begin_in_place(&req, 5);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_int_equal(submit(&f, &other, XP_WRITE, 40, 8, false), XP_WAIT);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &other.link);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
}

static void with_the_device_gone_it_has_failed(void **state)
{
	struct xp_req req, late;

	(void)state;
	write_blocks(&f, 5, 2, 1);
	flush(&f);
	begin_in_place(&req, 5);
	begin_in_place(&late, 6);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	fail_journal_for_good(&f);
	assert_true(xp_has_failed(f.c));
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(end_in_place(&late, 2), XP_DONE);
	assert_int_equal(late.err, -EIO);
	assert_int_equal(pins_of(&f, 5) + pins_of(&f, 6), 0);
	assert_int_equal(f.c->overwrites.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_part_of_a_dirty_block_is_written_where_it_is),
		T(also_before_its_record_is_durable),
		T(one_that_is_not_dirty_is_not),
		T(zeroes_are_not_nor_what_the_device_cannot_take),
		TEST_WITH(none_is_where_sectors_are_not_whole, setup_whole, teardown),
		T(a_slot_that_is_read_is_not),
		T(a_slot_with_a_sum_is_not),
		T(no_more_than_there_is_room_for),
		T(one_with_a_checksum_is_not),
		T(nor_is_it_after_a_start),
		T(nor_when_it_was_said_again_without),
		T(nor_is_one_that_could_not_be_read),
		T(a_slot_that_had_one_may_be_again),
		T(the_next_one_is_without),
		T(its_block_is_busy_meanwhile),
		T(none_while_a_batch_has_the_block),
		T(a_batch_waits_for_it),
		T(who_awaits_none_is_not_woken),
		T(so_does_a_batch_of_what_writes_wait_for),
		T(one_that_ends_in_another_mode_waits_for_the_slow_device),
		T(none_while_a_write_ends_on_the_slow_device),
		T(a_block_that_was_home_is_not_any_more),
		TEST_WITH(a_flush_is_a_block_of_no_record, setup_volatile, teardown),
		TEST_WITH(nor_does_a_block_that_is_on_its_way, setup_volatile, teardown),
		TEST_WITH(records_take_it_along, setup_volatile, teardown),
		TEST_WITH(fua_needs_its_slots_record, setup_volatile, teardown),
		TEST_WITH(a_stop_flushes_it, setup_volatile, teardown),
		TEST_WITH(a_flush_covers_one_that_ended_in_another_mode, setup_volatile, teardown),
		TEST_WITH(an_empty_block_does_not_take_the_last_place, setup_volatile, teardown),
		T(one_that_fails_is_written_there_once_more),
		T(then_elsewhere_and_its_slot_is_given_up),
		T(the_block_is_busy_while_it_is_in_doubt),
		T(with_the_device_gone_it_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
