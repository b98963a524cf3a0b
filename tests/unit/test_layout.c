// SPDX-License-Identifier: GPL-2.0-only
/* A fast device that has grown, of a cache at rest. */
#include "fixture.h"

#define BLOCKS	8192u
#define LBAS	100000u
#define MAPPED	40u

static struct fixture f;
static u32 dies_at;	/* the write that is cut, from 1 on; 0: none is */
static u32 writes;

/* Half of what it writes lands, and nothing after that. */
static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct fixture *fix = ctx;

	assert_true(block + nr <= fix->fast_blocks);
	if (dies_at && ++writes > dies_at)
		return -ENODEV;
	memcpy(fix->fast + block * XP_BLOCK_SIZE, buf, nr * XP_BLOCK_SIZE / (writes == dies_at && dies_at ? 2 : 1));
	return writes == dies_at && dies_at ? -ENODEV : 0;
}

static void add_room(u64 blocks)
{
	f.fast = realloc(f.fast, blocks * XP_BLOCK_SIZE);
	memset(f.fast + f.fast_blocks * XP_BLOCK_SIZE, 0x5a, (blocks - f.fast_blocks) * XP_BLOCK_SIZE);
	f.fast_blocks = blocks;
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, LBAS);
	f.media.write = media_write;
	dies_at = writes = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_teardown(&f);
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
	void *scratch = malloc(xp_recover_memory(&f.sb));
	int err;

	look();
	err = xp_grow(f.c, &f.media, &f.sb, f.fast_blocks, scratch, end, &f.msg);
	free(scratch);
	return err;
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
	add_room(4 * BLOCKS);
	assert_int_equal(grow(&end), 0);
	assert_int_equal(xp_sb_layout(&fresh, 4 * BLOCKS, &f.msg), 0);
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
	assert_int_equal(stats_of(&f).slots, fresh.nr_slots);
}

static void features_stay(void **state)
{
	struct xp_end end;

	(void)state;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_SUMS | XP_INCOMPAT_MARK);
	rest_with_clean_blocks();
	add_room(4 * BLOCKS);
	assert_int_equal(grow(&end), 0);
	assert_int_equal(le64_to_cpu(f.sb.incompat), XP_INCOMPAT_SUMS | XP_INCOMPAT_MARK);
}

static void what_is_dirty_goes_first(void **state)
{
	struct xp_end end;

	(void)state;
	write_blocks(&f, 5, 3, 77);
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	add_room(4 * BLOCKS);
	assert_int_equal(grow(&end), -EBUSY);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 77);
}

/* After any write, and in the middle of it. */
static void cut(u64 blocks, u32 at)
{
	struct xp_end end;
	u32 nr;

	fixture_teardown(&f);
	setup(NULL);
	rest_with_clean_blocks();
	add_room(blocks);
	dies_at = at;
	assert_int_equal(grow(&end), at ? -ENODEV : 0);
	dies_at = writes = 0;
	f.sb.generation = 0;
	fixture_reopen(&f);
	nr = mapped_right();
	assert_true(nr == 0 || nr == MAPPED);
	/* It is one that goes on, and can be told to grow again. */
	assert_int_equal(xp_close(f.c, &f.media), 0);
	if (xp_sb_can_grow(&f.sb, f.fast_blocks))
		assert_int_equal(grow(&end), 0);
	fixture_reopen(&f);
	mapped_right();
	for (u64 lba = MAPPED; lba < 3000; lba++)
		fill_block(&f, lba, byte_of(lba));
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 2999), byte_of(2999));
}

static void every_cut_leaves_a_cache(void **state)
{
	(void)state;
	for (u32 at = 0; at <= 4; at++)
		cut(4 * BLOCKS, at);
	for (u32 at = 0; at <= 2; at++)
		cut(BLOCKS + 20, at);
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
	add_room(4 * BLOCKS);
	b = (struct xp_jblock *)copy;
	b->head.incarnation = cpu_to_le64(1000);
	for (u64 blocks = 800; blocks < 860; blocks++) {	/* wherever it would fit */
		b->head.seq = b->head.tail_seq = b->head.durable_seq = cpu_to_le64(blocks);
		b->head.checksum = cpu_to_le64(jblock_checksum(b));
		place = ring + blocks % ((4 * BLOCKS * 4 + XP_RECORDS - 1) / XP_RECORDS + XP_BAD_PLACES);
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
	list_slot(data + 5000);
	add_room(4 * BLOCKS);
	assert_int_equal(grow(&end), 0);
	assert_int_equal(le32_to_cpu(f.sb.bad.nr_places), 2);
	assert_int_equal(le32_to_cpu(f.sb.bad.place[0]), 11);
	assert_int_equal(le32_to_cpu(f.sb.bad.place[1]), data - journal);
	assert_int_equal(le32_to_cpu(f.sb.bad.nr_slots), 1);
	assert_int_equal(le32_to_cpu(f.sb.bad.slot[0]), data + 5000 - le64_to_cpu(f.sb.data_start));
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
	add_room(4 * BLOCKS);
	dies_at = 100;
	assert_int_equal(grow(&end), -ENOSPC);
	assert_int_equal(writes, 0);
	assert_non_null(strstr(f.msg.text, "bad blocks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(a_little_more_keeps_all),
		T(more_is_laid_out_anew),
		T(features_stay),
		T(what_is_dirty_goes_first),
		T(every_cut_leaves_a_cache),
		T(no_copy_of_its_journal_counts),
		T(what_is_bad_stays_bad),
		T(too_much_that_is_bad_is_refused),
	};

	return cmocka_run_group_tests_name("a fast device that has grown", tests, NULL, NULL);
}
