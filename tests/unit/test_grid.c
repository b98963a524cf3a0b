// SPDX-License-Identifier: GPL-2.0-only
/* A cache whose blocks begin at sector 7 of the slow device: requests come one sector later, and block 0 has none before it. */
#include "fixture.h"
#include "layout.h"
#include "life.h"
#include "look.h"
#include "resize.h"
#include "superblock.h"

#define GRID	7u
#define PAD	(XP_BLOCK_SECTORS - GRID)
#define LBAS	100u		/* so many whole blocks, but for the one before */
#define SECTORS	(LBAS * XP_BLOCK_SECTORS)

static struct fixture f;
static u64 written_back;	/* the sector of the slow device that a recovery has written; 0: none */

static int write_slow(void *ctx, u64 sector, u32 nr, const void *buf)
{
	(void)ctx;
	(void)nr;
	(void)buf;
	written_back = sector;
	return 0;
}

static int setup(void **state)
{
	u8 block[XP_BLOCK_SIZE];

	(void)state;
	fixture_setup(&f, 4096, LBAS);
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_NEW);
	xp_sb_set_grid(&f.sb, GRID);
	assert_int_equal(xp_format(&f.media, &f.sb, block), 0);
	f.opt.fast_sectors = true;
	fixture_reopen(&f);
	return 0;
}

static int read_sb(void)
{
	struct xp_sb sb;

	return xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg);
}

static void refuse_superblock(u8 grid, bool bit)
{
	f.sb.grid = grid;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_NEW | (bit ? XP_INCOMPAT_GRID : 0));
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(read_sb(), -ENOTSUP);
	assert_non_null(strstr(f.msg.text, "grid"));
}

static void a_grid_that_is_none_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_sb(), 0);
	refuse_superblock(8, true);
	refuse_superblock(0, true);
	refuse_superblock(GRID, false);
}

/* Sector 7 of the device is 8 of a request. */
static void its_blocks_are_whole(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, GRID + PAD, 8, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	flush(&f);
	fixture_reopen(&f);
	assert_true(mapped_dirty(&f, 1));
	assert_int_equal(mapping_of(&f, 1).lacks, 0);
}

static void what_is_before_them_is_not_cached(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, PAD, GRID, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, PAD, GRID + 16, false), XP_SLOW);
	assert_int_equal(req.nr_sectors, GRID);
	assert_int_equal(req.fill.nr_blocks, 0);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapped_byte(&f, 0), -1);
}

static void a_record_of_it_is_refused(void **state)
{
	struct xp_jblock *b;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	b = ring_block(&f, stats_of(&f).seq);
	b->rec[0].lba = cpu_to_le64((u64)XP_REC_MAP << 40 | (u64)XP_REC_DIRTY << 48);
	b->rec[0].hash = 0;
	b->rec[0].slot = cpu_to_le32(9);
	b->head.durable_seq = b->head.seq;
	reseal(b);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "before the slow device"));
}

/* Of another grid they would be other sectors. */
static void the_journal_of_another_grid_is_none(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	xp_sb_set_grid(&f.sb, 6);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	xp_sb_set_grid(&f.sb, GRID);
	assert_int_equal(fixture_restart(&f), 0);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* The superblock has the device's own size. */
static void it_may_be_shorter_and_longer(void **state)
{
	struct xp_sb sb;

	(void)state;
	f.opt.slow_sectors = SECTORS - 16;
	assert_int_equal(fixture_restart(&f), 0);
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg), 0);
	assert_int_equal(le64_to_cpu(sb.slow.sectors), SECTORS - 16);
	assert_int_equal(xp_resize(f.c, SECTORS + 8, &f.todo), 0);
	write_journal(&f);
	assert_int_equal(xp_resize_noted(f.c), 0);
	xp_resize_end(f.c);
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg), 0);
	assert_int_equal(le64_to_cpu(sb.slow.sectors), SECTORS + 8);
	write_blocks(&f, LBAS, 1, 4);		/* the last whole one by now */
	assert_int_equal(mapped_byte(&f, LBAS), 4);
}

/* As a version that cached the last block, whole or not, has left it: it goes home to where the device has it. */
static void a_short_last_block_goes_home_to_its_place(void **state)
{
	(void)state;
	f.opt.slow_sectors = SECTORS - PAD - 3;
	assert_int_equal(fixture_restart(&f), 0);
	f.c->nr_whole = LBAS;
	write_blocks(&f, LBAS - 1, 1, 7);
	flush(&f);
	f.media.write_slow = write_slow;
	assert_int_equal(fixture_restart(&f), 0);
	assert_int_equal(written_back, (LBAS - 1) * XP_BLOCK_SECTORS - PAD);
	assert_int_equal(mapped_byte(&f, LBAS - 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_grid_that_is_none_is_refused),
		T(its_blocks_are_whole),
		T(what_is_before_them_is_not_cached),
		T(a_record_of_it_is_refused),
		T(the_journal_of_another_grid_is_none),
		T(it_may_be_shorter_and_longer),
		T(a_short_last_block_goes_home_to_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
