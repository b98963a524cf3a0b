// SPDX-License-Identifier: GPL-2.0-only
/* A fast device that has grown, of a cache at rest. */
#include "fixture.h"
#include "range.h"
#include "fingerprint.h"
#include "layout.h"
#include "look.h"
#include "rest.h"
#include "superblock.h"

#define BLOCKS	2048u
#define LBAS	100000u
#define MAPPED	40u

#define MORE	(8 * BLOCKS)

static struct fixture f;
static u32 dies_at;	/* the write that is cut, from 1 on; 0: none is */
static u32 writes;
static u64 tells;	/* that the larger cache is to say, of compat */
static bool bad[MORE];	/* takes no write */

/* Half of what it writes lands, and nothing after that. */
static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct fixture *fix = ctx;

	assert_true(block + nr <= fix->fast_blocks);
	for (u32 i = 0; i < nr; i++)
		if (bad[block + i])
			return -EIO;
	if (dies_at && ++writes > dies_at)
		return -ENODEV;
	memcpy(fix->fast + block * XP_BLOCK_SIZE, buf, nr * XP_BLOCK_SIZE / (writes == dies_at && dies_at ? 2 : 1));
	return writes == dies_at && dies_at ? -ENODEV : 0;
}

static void add_room(u64 blocks)
{
	f.fast = realloc(f.fast, blocks * XP_BLOCK_SIZE);
	memset(f.fast + f.fast_blocks * XP_BLOCK_SIZE, 0x5a, min(blocks - f.fast_blocks, (u64)BLOCKS) * XP_BLOCK_SIZE);
	f.fast_blocks = blocks;
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, LBAS);
	f.media.write = media_write;
	dies_at = writes = 0;
	tells = 0;
	memset(bad, 0, sizeof(bad));
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static int byte_of(u64 lba)
{
	return (int)(lba % 200 + 1);
}

/* Blocks that are clean, and the cache comes to rest. In a longer journal its next block would be where slots are. */
static void rest_with_clean_blocks(void)
{
	u64 data = le64_to_cpu(f.sb.data_start) - le64_to_cpu(f.sb.journal_start);

	for (u64 lba = 0; lba < MAPPED; lba++)
		fill_block(&f, lba, byte_of(lba));
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	while (f.c->journal.sealed_number < data + MAPPED / 2) {
		fixture_reopen(&f);
		assert_int_equal(xp_close(f.c, &f.media), 0);
	}
	assert_true(f.c->journal.sealed_number < data + MAPPED - 1);
}

static void look(void)
{
	void *scratch = malloc(xp_recover_memory(&f.sb));

	free(f.memory);
	f.memory = aligned_alloc(4096, (xp_memory(&f.sb, false) + 4095) / 4096 * 4096);
	memset(f.memory, 0, xp_memory(&f.sb, false));
	f.c = xp_init(f.memory, &f.sb, &f.opt);
	assert_int_equal(xp_look(f.c, &f.media, scratch, NULL, &f.msg), 0);
	free(scratch);
}

static int grow(struct xp_end *end)
{
	static u8 zeros[5 * XP_BLOCK_SIZE];

	look();
	f.sb.compat |= cpu_to_le64(tells);
	return xp_grow(f.c, &f.media, &f.sb, f.fast_blocks, zeros, 5, end, &f.msg);
}

static u32 mapped_right(void)
{
	u32 n = 0;

	for (u64 lba = 0; lba < MAPPED; lba++) {
		int byte = mapped_byte(&f, lba);

		assert_true(byte == -1 || byte == byte_of(lba));
		n += byte != -1;
	}
	assert_int_equal(stats_of(&f).dirty, 0);
	assert_int_equal(stats_of(&f).clean, n);
	return n;
}

/* What the test has put into the superblock. */
static void superblock_is(void)
{
	f.sb.generation = cpu_to_le64(le64_to_cpu(f.sb.generation) + 1);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
}

static u64 slots(void)
{
	return le64_to_cpu(f.sb.nr_slots);
}

/* --------------------------------------------------------------- tests ---- */

static void a_little_more_keeps_all(void **state)
{
	struct xp_end end = { 7, 7 };
	u64 was = slots();

	(void)state;
	rest_with_clean_blocks();
	add_room(BLOCKS + 20);
	assert_true(xp_sb_can_grow(&f.sb, f.fast_blocks));
	assert_int_equal(grow(&end), 0);
	assert_int_equal(end.seq, 7);
	assert_int_equal(slots(), was + 20);
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), MAPPED);
	assert_int_equal(stats_of(&f).slots, was + 20);
	assert_false(xp_sb_can_grow(&f.sb, f.fast_blocks));
}

static void more_is_laid_out_anew(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_end end, there;
	struct xp_sb fresh = { 0 };

	(void)state;
	rest_with_clean_blocks();
	add_room(MORE);
	assert_int_equal(grow(&end), 0);
	assert_int_equal(xp_sb_layout(&fresh, MORE, &f.msg), 0);
	assert_int_equal(f.sb.nr_slots, fresh.nr_slots);
	assert_int_equal(f.sb.journal_blocks, fresh.journal_blocks);
	assert_int_equal(f.sb.data_start, fresh.data_start);
	assert_int_equal(xp_follow(&f.media, &f.sb, end.seq, block, &there), 0);
	assert_int_equal(there.seq, end.seq);
	assert_int_equal(there.incarnation, end.incarnation);

	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
	write_blocks(&f, 5, 3, 77);
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 77);
	assert_int_equal(stats_of(&f).slots, le64_to_cpu(fresh.nr_slots));
}

static void features_stay(void **state)
{
	struct xp_end end;

	(void)state;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_SUMS | XP_INCOMPAT_MARK);
	superblock_is();
	fixture_reopen(&f);
	rest_with_clean_blocks();
	add_room(MORE);
	tells = XP_COMPAT_PART;
	assert_int_equal(grow(&end), 0);
	assert_int_equal(le64_to_cpu(f.sb.incompat), XP_INCOMPAT_SUMS | XP_INCOMPAT_MARK);
	memset(&f.sb, 0, sizeof(f.sb));
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &f.sb, &f.msg), 0);
	assert_int_equal(le64_to_cpu(f.sb.compat), XP_COMPAT_PART);
}

static void a_part_is_laid_out_as_a_device_of_that_size(void **state)
{
	struct xp_sb sb = { 0 };
	u64 least = xp_sb_least_blocks();
	struct xp_fp fp = { .block[XP_FP_BLOCKS - 1].lba = cpu_to_le64(77) };

	(void)state;
	assert_int_equal(xp_sb_layout(&sb, least - 1, &f.msg), -ENOSPC);
	assert_int_equal(xp_sb_layout(&sb, least, &f.msg), 0);
	assert_int_equal(le64_to_cpu(sb.nr_slots), XP_MIN_SLOTS);
	assert_int_equal(stats_of(&f).fast_blocks, BLOCKS);
	assert_int_equal(xp_fp_fast_blocks(&fp), 77);
	fp.count = cpu_to_le32(XP_FP_NOTED);
	assert_int_equal(xp_fp_fast_blocks(&fp), 77);
	fp.count = cpu_to_le32(XP_FP_BLOCKS);	/* of an older version: a block of the slow device */
	assert_int_equal(xp_fp_fast_blocks(&fp), 0);
}

static void what_is_dirty_goes_first(void **state)
{
	struct xp_end end;

	(void)state;
	write_blocks(&f, 5, 3, 77);
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	add_room(MORE);
	assert_int_equal(grow(&end), -EBUSY);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 77);
}

/* After any write, and in the middle of it. False: so many there are not. */
static bool cut(u64 blocks, u32 at)
{
	struct xp_end end;
	bool died;
	u32 nr;

	fixture_teardown(&f);
	setup(NULL);
	rest_with_clean_blocks();
	add_room(blocks);
	dies_at = at;
	died = grow(&end) == -ENODEV || writes >= at;
	dies_at = writes = 0;
	f.sb.generation = 0;
	fixture_reopen(&f);
	nr = mapped_right();
	assert_true(nr == 0 || nr == MAPPED);
	/* It is one that goes on, and can be told to grow again. */
	assert_int_equal(xp_close(f.c, &f.media), 0);
	if (xp_sb_can_grow(&f.sb, f.fast_blocks))
		assert_int_equal(grow(&end), 0);
	assert_int_equal(le64_to_cpu(f.sb.fast_blocks), blocks);
	fixture_reopen(&f);
	mapped_right();
	for (u64 lba = MAPPED; lba < 1200; lba++)
		fill_block(&f, lba, byte_of(lba));
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 1199), byte_of(1199));
	return died;
}

static void every_cut_leaves_a_cache(void **state)
{
	u32 at = 1;

	(void)state;
	while (cut(MORE, at))
		at++;
	assert_uint_in_range(at, 80, 200);	/* the longer journal is erased, five blocks at a time */
	for (at = 1; cut(BLOCKS + 20, at);)
		at++;
	assert_int_equal(at, 3);
}

/* No place of the journal says anything but what a journal that was made there would have. */
static void nothing_is_left_in_the_ring(void **state)
{
	u64 start, ring, i, n = 0;
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	add_room(MORE);
	assert_int_equal(grow(&end), 0);
	start = le64_to_cpu(f.sb.journal_start);
	ring = le64_to_cpu(f.sb.journal_blocks);
	for (i = 0; i < ring; i++) {
		const struct xp_jblock *b = (struct xp_jblock *)(f.fast + (start + i) * XP_BLOCK_SIZE);

		if (!b->head.magic)
			continue;
		n++;
		assert_int_equal(le64_to_cpu(b->head.seq) % ring, i);
		assert_uint_in_range(le64_to_cpu(b->head.seq), end.seq - 1, end.seq);
	}
	assert_int_equal(n, 2);
}

static void it_grows_again(void **state)
{
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	add_room(2 * BLOCKS);
	assert_int_equal(grow(&end), 0);
	fixture_reopen(&f);
	for (u64 lba = 0; lba < MAPPED; lba++)
		fill_block(&f, lba, byte_of(lba));
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	add_room(MORE);
	assert_int_equal(grow(&end), 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
	assert_int_equal(le64_to_cpu(f.sb.fast_blocks), MORE);
}

/* The journal is one block longer, and slot 0 a mebibyte further on. */
static void fewer_slots_are_no_growth(void **state)
{
	struct xp_sb sb = { .slow.sectors = cpu_to_le64(8) };
	u64 blocks = 9408, start;

	(void)state;
	assert_int_equal(xp_sb_layout(&sb, blocks, &f.msg), 0);
	for (start = le64_to_cpu(sb.data_start); le64_to_cpu(sb.data_start) == start; blocks++)
		assert_int_equal(xp_sb_layout(&sb, blocks, &f.msg), 0);
	assert_int_equal(xp_sb_layout(&sb, blocks - 2, &f.msg), 0);
	assert_false(xp_sb_can_grow(&sb, blocks - 1));
	assert_true(xp_sb_can_grow(&sb, blocks + XP_DATA_ALIGN));
}

/* The one with the layout of before could be believed some day. */
static void both_superblocks_are_needed(void **state)
{
	struct xp_end end;

	(void)state;
	for (u32 copy = 0; copy < 2; copy++) {
		fixture_teardown(&f);
		setup(NULL);
		rest_with_clean_blocks();
		add_room(MORE);
		bad[copy ? XP_SB_BLOCK_B : XP_SB_BLOCK_A] = true;
		f.fast[(copy ? XP_SB_BLOCK_B : XP_SB_BLOCK_A) * XP_BLOCK_SIZE + 100] ^= 1;
		assert_int_equal(grow(&end), -EIO);
		assert_non_null(strstr(f.msg.text, "superblocks"));
		fixture_reopen(&f);
		assert_int_equal(mapped_right(), MAPPED);
	}
}

/* It takes no write, and can be read. */
static void the_layout_of_before_must_not_stay(void **state)
{
	u8 *was = malloc(XP_BLOCK_SIZE);
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	memcpy(was, f.fast, XP_BLOCK_SIZE);
	add_room(MORE);
	assert_int_equal(grow(&end), 0);
	memcpy(f.fast + XP_SB_BLOCK_A * XP_BLOCK_SIZE, was, XP_BLOCK_SIZE);
	free(was);
	bad[XP_SB_BLOCK_A] = true;
	assert_int_equal(fixture_restart(&f), -EIO);
	bad[XP_SB_BLOCK_A] = false;
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
}

static void what_takes_no_zeros_is_bad(void **state)
{
	u64 journal = le64_to_cpu(f.sb.journal_start);
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	add_room(MORE);
	bad[journal + 7] = true;
	bad[journal + 400] = true;
	bad[journal + (f.c->journal.sealed_number + 1) % f.c->journal.blocks] = true;
	assert_int_equal(grow(&end), 0);
	assert_int_equal(le32_to_cpu(f.sb.bad.nr_places), 3);
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
	assert_int_equal(stats_of(&f).bad_places, 3);
}

/* An image of this very fast device was on the slow one, and cached: of a later life, even. */
static void no_copy_of_its_journal_counts(void **state)
{
	u64 ring, place;
	struct xp_jblock *b;
	struct xp_end end;
	u8 *copy;

	(void)state;
	rest_with_clean_blocks();
	ring = le64_to_cpu(f.sb.journal_start);
	copy = malloc(XP_BLOCK_SIZE);
	memcpy(copy, ring_block(&f, f.c->journal.sealed_number), XP_BLOCK_SIZE);
	add_room(MORE);
	b = (struct xp_jblock *)copy;
	b->head.incarnation = cpu_to_le64(1000);
	for (u64 blocks = 300; blocks < 360; blocks++) {	/* wherever it would fit */
		b->head.seq = b->head.tail_seq = b->head.durable_seq = cpu_to_le64(blocks);
		reseal(b);
		place = ring + blocks % ((MORE * 4 + XP_RECORDS - 1) / XP_RECORDS + XP_BAD_PLACES);
		if (place >= ring + le64_to_cpu(f.sb.journal_blocks))
			memcpy(f.fast + place * XP_BLOCK_SIZE, copy, XP_BLOCK_SIZE);
	}
	free(copy);
	assert_int_equal(grow(&end), 0);
	assert_true(end.incarnation < 1000);
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
	assert_true(f.c->journal.incarnation < 1000);
}

static void list_slot(u64 block)
{
	u32 n = le32_to_cpu(f.sb.bad.nr_slots);

	f.sb.bad.slot[n] = cpu_to_le32((u32)(block - le64_to_cpu(f.sb.data_start)));
	f.sb.bad.nr_slots = cpu_to_le32(n + 1);
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
}

static void what_is_bad_stays_bad(void **state)
{
	u64 journal = le64_to_cpu(f.sb.journal_start), data = le64_to_cpu(f.sb.data_start);
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	f.sb.bad.place[0] = cpu_to_le32(11);
	f.sb.bad.nr_places = cpu_to_le32(1);
	list_slot(data);		/* the journal's, then */
	list_slot(data + 1000);
	superblock_is();
	add_room(MORE);
	assert_int_equal(grow(&end), 0);
	assert_int_equal(le32_to_cpu(f.sb.bad.nr_places), 2);
	assert_int_equal(le32_to_cpu(f.sb.bad.place[0]), 11);
	assert_int_equal(le32_to_cpu(f.sb.bad.place[1]), data - journal);
	assert_int_equal(le32_to_cpu(f.sb.bad.nr_slots), 1);
	assert_int_equal(le32_to_cpu(f.sb.bad.slot[0]), data + 1000 - le64_to_cpu(f.sb.data_start));
	fixture_reopen(&f);
	assert_int_equal(mapped_right(), 0);
}

static void too_much_that_is_bad_is_refused(void **state)
{
	u64 data = le64_to_cpu(f.sb.data_start);
	struct xp_end end;

	(void)state;
	rest_with_clean_blocks();
	for (u32 i = 0; i <= XP_BAD_PLACES; i++)
		list_slot(data + i);
	superblock_is();
	writes = 0;
	add_room(MORE);
	dies_at = 100;
	assert_int_equal(grow(&end), -ENOSPC);
	assert_int_equal(writes, 0);
	assert_non_null(strstr(f.msg.text, "bad blocks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_little_more_keeps_all),
		T(more_is_laid_out_anew),
		T(features_stay),
		T(a_part_is_laid_out_as_a_device_of_that_size),
		T(what_is_dirty_goes_first),
		T(every_cut_leaves_a_cache),
		T(nothing_is_left_in_the_ring),
		T(it_grows_again),
		T(fewer_slots_are_no_growth),
		T(both_superblocks_are_needed),
		T(the_layout_of_before_must_not_stay),
		T(what_takes_no_zeros_is_bad),
		T(no_copy_of_its_journal_counts),
		T(what_is_bad_stays_bad),
		T(too_much_that_is_bad_is_refused),
	};

	return cmocka_run_group_tests_name("a fast device that has grown", tests, NULL, NULL);
}
