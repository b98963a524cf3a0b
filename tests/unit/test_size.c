// SPDX-License-Identifier: GPL-2.0-only
/* A slow device that is longer or shorter than it was. */
#include "fixture.h"
#include "look.h"
#include "resize.h"
#include "run.h"
#include "superblock.h"

#define LBAS	100u
#define SECTORS	(LBAS * XP_BLOCK_SECTORS)
#define SHORT	(SECTORS - 3)		/* its last block has 5 sectors */
#define LAST	(LBAS - 1)

static struct fixture f;

/* The last block of the slow device, as recovery writes it. */
static struct {
	u64 sector;
	u32 nr, times;
	int byte, err;
	bool was_durable;
} slow;

static bool on_medium(u64 lba);

static int write_slow(void *ctx, u64 sector, u32 nr, const void *buf)
{
	(void)ctx;
	slow.sector = sector;
	slow.nr = nr;
	slow.byte = *(const u8 *)buf;
	slow.times++;
	slow.was_durable = on_medium(sector / XP_BLOCK_SECTORS);
	return slow.err;
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 4096, LBAS);
	f.media.write_slow = write_slow;
	memset(&slow, 0, sizeof(slow));
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static int restart_with(u64 sectors)
{
	f.opt.slow_sectors = sectors;
	return fixture_restart(&f);
}

static u64 recorded(void)
{
	struct xp_sb sb;

	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg), 0);
	assert_int_equal(sb.slow_was, 0);
	return le64_to_cpu(sb.slow.sectors);
}

/* Who recovers from what is on the medium at this moment finds it mapped, and dirty. */
static bool on_medium(u64 lba)
{
	void *scratch = malloc(xp_recover_memory(&f.sb)), *memory;
	struct xp_message msg;
	struct xp_mapping m;
	struct xp *c;
	bool there;

	memory = aligned_alloc(4096, (xp_memory(&f.sb, false) + 4095) / 4096 * 4096);
	memset(memory, 0, xp_memory(&f.sb, false));
	c = xp_init(memory, &f.sb, &f.opt);
	assert_int_equal(xp_look(c, &f.media, scratch, NULL, &msg), 0);
	there = xp_lookup(c, XP_LBA(lba), &m) && m.dirty;
	free(memory);
	free(scratch);
	return there;
}

/* As a version that cached the last block, whole or not, has left it. */
static void older_version(bool dirty, int byte)
{
	assert_int_equal(restart_with(SHORT), 0);
	f.c->nr_whole = LBAS;
	write_blocks(&f, LAST, 1, byte);
	write_blocks(&f, 1, 1, 11);
	flush(&f);
	if (!dirty) {
		xp_write_back_all(f.c, true);
		writeback_batch(&f, 0);
		flush(&f);
		assert_int_equal(stats_of(&f).dirty, 0);
	}
}

/* ---------------------------------------------------------------- longer ---- */

static void a_longer_one_is_taken(void **state)
{
	(void)state;
	write_blocks(&f, LAST, 1, 7);
	fill_block(&f, 3, 8);
	flush(&f);
	assert_int_equal(restart_with(2 * SECTORS), 0);
	assert_int_equal(recorded(), 2 * SECTORS);
	assert_int_equal(mapped_byte(&f, LAST), 7);
	assert_true(mapped_dirty(&f, LAST));
	assert_int_equal(mapped_byte(&f, 3), 8);
	write_blocks(&f, 2 * LBAS - 1, 1, 9);
	flush(&f);
	f.opt.slow_sectors = 0;		/* whoever looks goes by the superblock */
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 2 * LBAS - 1), 9);
	assert_int_equal(slow.times, 0);
}

/* What comes behind its end one day is no zeros. */
static void a_short_last_block_is_not_cached(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(restart_with(SHORT), 0);
	assert_int_equal(submit(&f, &req, XP_WRITE, LAST * 8, 5, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_WRITE, LAST * 8 + 1, 2, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, LAST * 8, 5, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapped_byte(&f, LAST), -1);
	assert_int_equal(submit(&f, &req, XP_WRITE, (LAST - 1) * 8 + 1, 2, false), XP_FAST);
}

static void a_clean_one_of_an_older_version_is_dropped(void **state)
{
	(void)state;
	older_version(false, 7);
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(mapped_byte(&f, LAST), -1);
	assert_int_equal(mapped_byte(&f, 1), 11);
	assert_int_equal(slow.times, 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, LAST), -1);
}

/* The newest block of the journal says of the last block of the device that its slot lacks those sectors. */
static void say_it_lacks(u8 lacks)
{
	struct xp_jblock *b = ring_block(&f, stats_of(&f).seq);
	u32 i = 0;

	while ((le64_to_cpu(b->rec[i].lba) & (XP_MAX_LBAS - 1)) != LAST)
		i++;
	assert_true(i < le16_to_cpu(b->head.count));
	b->rec[i].lba = cpu_to_le64(LAST | (u64)XP_REC_MAP << 40 | (u64)XP_REC_DIRTY << 48 | (u64)lacks << 56);
	b->rec[i].hash = 0;
	reseal(b);
}

/* Its slot has what is behind the end of the device, and nothing of what the device had. */
static void of_a_part_behind_the_end_nothing_is_written_back(void **state)
{
	(void)state;
	older_version(true, 7);
	say_it_lacks(0x1f);
	assert_int_equal(restart_with(2 * SECTORS), 0);
	assert_int_equal(slow.times, 0);
	assert_int_equal(mapped_byte(&f, LAST), -1);
	older_version(true, 7);
	say_it_lacks(0x07);
	assert_int_equal(restart_with(2 * SECTORS), 0);
	assert_int_equal(slow.times, 1);
	assert_int_equal(slow.sector, LAST * 8 + 3);
	assert_int_equal(slow.nr, 2);
}

static void a_dirty_one_is_written_back_as_long_as_it_was(void **state)
{
	(void)state;
	older_version(true, 7);
	assert_int_equal(restart_with(2 * SECTORS), 0);
	assert_int_equal(slow.times, 1);
	assert_int_equal(slow.sector, LAST * 8);
	assert_int_equal(slow.nr, 5);
	assert_int_equal(slow.byte, 7);
	assert_true(slow.was_durable);
	assert_int_equal(mapped_byte(&f, LAST), -1);
	assert_int_equal(recorded(), 2 * SECTORS);
	assert_int_equal(mapped_byte(&f, 1), 11);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, LAST), -1);
	assert_int_equal(slow.times, 1);
}

static void it_stays_where_it_cannot_be(void **state)
{
	(void)state;
	older_version(true, 7);
	slow.err = -EIO;
	assert_int_equal(restart_with(SECTORS), -EIO);
	assert_non_null(strstr(f.msg.text, "sectors 792 to 796"));
	assert_int_equal(recorded(), SHORT);
	assert_true(on_medium(LAST));
	slow.err = 0;
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(slow.byte, 7);
	assert_int_equal(mapped_byte(&f, LAST), -1);
}

static void what_has_rotted_is_not_written_back(void **state)
{
	struct xp_mapping m;

	(void)state;
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_SUMS);
	f.opt.verify = true;
	older_version(true, 7);
	assert_true(xp_lookup(f.c, XP_LBA(LAST), &m));
	slot_data(&f, m.slot)[100] ^= 1;
	assert_int_equal(restart_with(SECTORS), -EIO);
	assert_non_null(strstr(f.msg.text, "as long as it was: sectors 792 to 796"));
	assert_int_equal(slow.times, 0);

	assert_int_equal(restart_with(SHORT), 0);
	assert_int_equal(slow.times, 0);
	assert_true(xp_lookup(f.c, XP_LBA(LAST), &m) && m.dirty);
	assert_int_equal(mapped_byte(&f, 1), 11);
	assert_int_equal(xp_resize(f.c, SECTORS, &f.todo), -EBUSY);

	write_blocks(&f, LAST, 1, 9);
	flush(&f);
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(slow.byte, 9);
}

static u32 writes_left;
static int (*whole_write)(void *ctx, u64 block, u32 nr, const void *buf);

static int write_until(void *ctx, u64 block, u32 nr, const void *buf)
{
	return writes_left ? writes_left--, whole_write(ctx, block, nr, buf) : -ENODEV;
}

/* A cut at any write: it is written back again, or was dropped. */
static void it_is_written_back_again_after_a_cut(void **state)
{
	u32 cut;

	for (cut = 0;; cut++) {
		int err;

		older_version(true, 7);
		whole_write = f.media.write;
		f.media.write = write_until;
		writes_left = cut;
		err = restart_with(2 * SECTORS);
		f.media.write = whole_write;
		assert_true(err == -ENODEV || !err);
		assert_int_equal(restart_with(2 * SECTORS), 0);
		assert_in_range(slow.times, 1, 2);
		assert_int_equal(slow.nr, 5);
		assert_int_equal(slow.byte, 7);
		assert_int_equal(mapped_byte(&f, LAST), -1);
		if (!err)
			break;
		teardown(state);
		setup(state);
	}
	assert_true(cut > 4);
}

static u64 unreadable;
static int (*whole_read)(void *ctx, u64 block, u32 nr, void *buf);

static int read_but(void *ctx, u64 block, u32 nr, void *buf)
{
	return block <= unreadable && unreadable < block + nr ? -EIO : whole_read(ctx, block, nr, buf);
}

static void what_cannot_be_read_is_not_written_back(void **state)
{
	struct xp_mapping m;

	(void)state;
	older_version(true, 7);
	assert_true(xp_lookup(f.c, XP_LBA(LAST), &m));
	unreadable = le64_to_cpu(f.sb.data_start) + xp_slot_n(m.slot);
	whole_read = f.media.read;
	f.media.read = read_but;
	assert_int_equal(restart_with(SECTORS), -EIO);
	assert_non_null(strstr(f.msg.text, "as long as it was: sectors 792 to 796"));
	assert_int_equal(slow.times, 0);
	assert_int_equal(restart_with(SHORT), 0);
	assert_true(xp_lookup(f.c, XP_LBA(LAST), &m) && m.dirty);
}

/* Believed by a recovery that could not read it: what its slot holds now says nothing. */
static void what_was_never_read_is_not_written_back(void **state)
{
	struct xp_mapping m;
	xp_slot_t slot;

	(void)state;
	older_version(true, 7);
	slot = write_under_way(&f, LAST, 9);
	unreadable = le64_to_cpu(f.sb.data_start) + xp_slot_n(slot);
	whole_read = f.media.read;
	f.media.read = read_but;
	assert_int_equal(restart_with(SHORT), 0);
	f.media.read = whole_read;
	memset(slot_data(&f, slot), 1, XP_BLOCK_SIZE);
	assert_int_equal(restart_with(SECTORS), -EIO);
	assert_non_null(strstr(f.msg.text, "as long as it was: sectors 792 to 796"));
	assert_int_equal(slow.times, 0);
	assert_int_equal(restart_with(SHORT), 0);
	assert_true(xp_lookup(f.c, XP_LBA(LAST), &m) && m.unread);
	assert_int_equal(slow.times, 0);
}

/* Its record alone says so: no slot is read. */
static void zeros_are_written_back(void **state)
{
	struct xp_jblock *b;
	u32 i;

	(void)state;
	older_version(true, 7);
	b = ring_block(&f, stats_of(&f).seq);
	for (i = 0; (le64_to_cpu(b->rec[i].lba) & (XP_MAX_LBAS - 1)) != LAST; i++)
		assert_true(i < le16_to_cpu(b->head.count));
	b->rec[i].lba |= cpu_to_le64((u64)XP_REC_ZEROS << 48);
	reseal(b);
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(slow.times, 1);
	assert_int_equal(slow.nr, 5);
	assert_int_equal(slow.byte, 0);
	assert_int_equal(mapped_byte(&f, LAST), -1);
}

/* ---------------------------------------------------------------- shorter ---- */

static void a_shorter_one_lacks_no_dirty_block(void **state)
{
	u32 writes;

	(void)state;
	write_blocks(&f, 50, 2, 7);
	write_blocks(&f, LAST, 1, 7);
	flush(&f);
	writes = f.media_writes;
	assert_int_equal(restart_with(51 * 8 + 7), -ENOSPC);
	assert_non_null(strstr(f.msg.text, "has 415 sectors, and had 800: 2 dirty blocks"));
	assert_non_null(strstr(f.msg.text, "sectors 408 to 799"));
	assert_int_equal(f.media_writes, writes);
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(mapped_byte(&f, 51), 7);
}

static void its_clean_blocks_are_dropped(void **state)
{
	(void)state;
	fill_block(&f, 50, 5);
	fill_block(&f, 70, 7);
	write_blocks(&f, 10, 1, 1);
	flush(&f);
	assert_int_equal(restart_with(50 * 8 + 4), 0);
	assert_int_equal(recorded(), 50 * 8 + 4);
	assert_int_equal(mapped_byte(&f, 50), -1);
	assert_int_equal(mapped_byte(&f, 70), -1);
	assert_int_equal(mapped_byte(&f, 10), 1);
	assert_int_equal(restart_with(SECTORS), 0);
	assert_int_equal(mapped_byte(&f, 50), -1);
	assert_int_equal(mapped_byte(&f, 70), -1);
	assert_int_equal(mapped_byte(&f, 10), 1);
}

/* It was shorter, the start was cut at any write, and it is longer again: something else is there by now. */
static void nor_are_they_there_after_a_cut(void **state)
{
	u32 cut;

	for (cut = 1;; cut++) {
		int err;

		fill_block(&f, 70, 7);
		write_blocks(&f, 10, 1, 1);
		flush(&f);
		assert_int_equal(mapped_byte(&f, 70), 7);
		whole_write = f.media.write;
		f.media.write = write_until;
		writes_left = cut;
		err = restart_with(60 * 8);
		f.media.write = whole_write;
		assert_int_equal(restart_with(SECTORS), 0);
		assert_int_equal(mapped_byte(&f, 70), -1);
		assert_int_equal(mapped_byte(&f, 10), 1);
		assert_int_equal(recorded(), SECTORS);
		if (!err)
			break;
		teardown(state);
		setup(state);
	}
	assert_true(cut > 4);
}

/* A record of a block that it never had is damage, also while it is shorter. */
static void a_block_that_never_was_is_refused(void **state)
{
	struct xp_jblock *b;

	(void)state;
	write_blocks(&f, 10, 1, 1);
	flush(&f);
	b = ring_block(&f, stats_of(&f).seq);
	b->rec[0].lba = cpu_to_le64((le64_to_cpu(b->rec[0].lba) & ~(XP_MAX_LBAS - 1)) | LBAS);
	reseal(b);
	assert_int_equal(restart_with(2 * SECTORS), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "past the slow device"));
}

/* ---------------------------------------------------------- while it runs ---- */

static u64 of_copy(u64 block)
{
	return le64_to_cpu(((struct xp_sb *)(f.fast + block * XP_BLOCK_SIZE))->slow.sectors);
}

static void it_grows_while_it_runs(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(restart_with(SHORT), 0);
	assert_int_equal(xp_resize(f.c, SHORT - 1, &f.todo), -EINVAL);
	assert_int_equal(xp_resize(f.c, SECTORS, &f.todo), 0);
	assert_int_equal(xp_resize_noted(f.c), -EAGAIN);
	assert_int_equal(submit(&f, &req, XP_WRITE, LAST * 8, 5, false), XP_SLOW);
	write_journal(&f);
	assert_int_equal(xp_resize_noted(f.c), 0);
	assert_int_equal(of_copy(XP_SB_BLOCK_A), SECTORS);
	assert_int_equal(of_copy(XP_SB_BLOCK_B), SECTORS);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_resize_end(f.c);
	assert_int_equal(submit(&f, &req, XP_WRITE, LAST * 8, 5, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
}

static void a_size_that_cannot_be_noted_is_told(void **state)
{
	(void)state;
	write_blocks(&f, 10, 1, 1);
	assert_int_equal(xp_resize(f.c, 2 * SECTORS, &f.todo), 0);
	fail_journal_for_good(&f);
	assert_int_equal(xp_resize_noted(f.c), -EIO);
	assert_int_equal(xp_resize(f.c, 2 * SECTORS, &f.todo), 0);
	write_journal(&f);
	assert_int_equal(xp_resize_noted(f.c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_longer_one_is_taken),
		T(a_short_last_block_is_not_cached),
		T(a_clean_one_of_an_older_version_is_dropped),
		T(of_a_part_behind_the_end_nothing_is_written_back),
		T(a_dirty_one_is_written_back_as_long_as_it_was),
		T(it_stays_where_it_cannot_be),
		T(what_has_rotted_is_not_written_back),
		T(it_is_written_back_again_after_a_cut),
		T(what_cannot_be_read_is_not_written_back),
		T(what_was_never_read_is_not_written_back),
		T(zeros_are_written_back),
		T(a_shorter_one_lacks_no_dirty_block),
		T(its_clean_blocks_are_dropped),
		T(nor_are_they_there_after_a_cut),
		T(a_block_that_never_was_is_refused),
		T(it_grows_while_it_runs),
		T(a_size_that_cannot_be_noted_is_told),
	};

	return cmocka_run_group_tests_name("sizes of the slow device", tests, NULL, NULL);
}
