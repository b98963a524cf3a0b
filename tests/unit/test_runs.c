// SPDX-License-Identifier: GPL-2.0-only
/* Records that speak of a run of blocks: who writes one, what is left of it, what a recovery makes of it. */
#include "fixture.h"
#include "checksum.h"
#include "jblock.h"
#include "journal.h"
#include "relocate.h"
#include "run.h"
#include "superblock.h"
#include "../no_witness.h"

#define LBAS	100000u

static struct fixture f;

static int start(u64 incompat, bool verify)
{
	fixture_setup(&f, 8192, LBAS);
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
	return start(XP_INCOMPAT_NEW & ~XP_INCOMPAT_RUNS, false);
}

static int setup_sums(void **state)
{
	(void)state;
	return start(XP_INCOMPAT_KNOWN, true);
}

/* ------------------------------------------------------------- helpers ---- */

static struct xp_jblock *newest(void)
{
	return ring_block(&f, stats_of(&f).seq);
}

/* New records of the newest block: those that only repeat come last, or there are none yet. */
static u32 records(void)
{
	return le16_to_cpu(newest()->head.count);
}

/* The first record of the newest block. */
static void is_record(u64 lba, u32 nr, enum xp_kind kind, u8 flags)
{
	const struct xp_record *r = &newest()->rec[0];

	assert_int_equal(le64_to_cpu(r->lba) & (XP_MAX_LBAS - 1), lba);
	assert_int_equal(record_kind(r), kind);
	assert_int_equal(record_flags(r), flags | (nr > 1 ? XP_REC_RUN : 0));
	assert_int_equal(record_blocks(r), nr);
	assert_int_equal(le32_to_cpu(r->sum), nr - 1);
	assert_int_equal(r->hash, 0);
}

/* As a recovery does that has a witness: another way. */
static void look_with_witness(void)
{
	void *scratch = malloc(xp_recover_memory(&f.sb));

	memset(f.memory, 0, xp_memory(&f.sb, f.opt.verify));
	f.c = xp_init(f.memory, &f.sb, &f.opt);
	assert_int_equal(xp_look(f.c, &f.media, scratch, &no_witness, &f.msg), 0);
	free(scratch);
}

static void are_mapped(u64 lba, u32 nr, int byte, bool dirty)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		assert_int_equal(mapped_byte(&f, lba + i), byte);
		assert_int_equal(mapped_dirty(&f, lba + i), dirty);
	}
}

/* With a witness and without, the blocks are mapped, dirty or not, with the data of their writes. */
static void recovers(u64 lba, u32 nr, int byte, bool dirty)
{
	look_with_witness();
	are_mapped(lba, nr, byte, dirty);
	fixture_reopen(&f);
	are_mapped(lba, nr, byte, dirty);
}

static void fill_run(u64 lba, u32 nr)
{
	struct xp_fill fill;
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_READ, lba * 8, nr * 8, false), XP_SLOW_FILL);
	fill = req.fill;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &fill, 0, &f.todo);
	write_journal(&f);
}

/* --------------------------------------------------------------- tests ---- */

static void a_write_is_one_record(void **state)
{
	(void)state;
	write_blocks(&f, 500, XP_RUN_MAX, 3);
	flush(&f);
	assert_int_equal(records(), 1);
	is_record(500, XP_RUN_MAX, XP_REC_MAP, XP_REC_DIRTY);
	recovers(500, XP_RUN_MAX, 3, true);
}

static void a_block_speaks_of_no_more_than_its_limit(void **state)
{
	u64 seq = stats_of(&f).seq;

	(void)state;
	write_blocks(&f, 500, 200, 3);
	write_blocks(&f, 1000, 200, 4);
	flush(&f);
	assert_int_equal(stats_of(&f).seq, seq + 2);
	is_record(1000 + XP_NAMED_MAX - 200, 400 - XP_NAMED_MAX, XP_REC_MAP, XP_REC_DIRTY);
	assert_int_equal(record_blocks(&ring_block(&f, seq + 1)->rec[1]), XP_NAMED_MAX - 200);
	recovers(500, 200, 3, true);
	recovers(1000, 200, 4, true);
}

/* One that is full has no room for a block more. */
static void nor_of_one_more(void **state)
{
	u64 seq = stats_of(&f).seq;

	(void)state;
	write_blocks(&f, 500, XP_NAMED_MAX, 3);
	write_blocks(&f, 1000, 1, 4);
	flush(&f);
	assert_int_equal(stats_of(&f).seq, seq + 2);
	is_record(1000, 1, XP_REC_MAP, XP_REC_DIRTY);
}

static void an_older_cache_has_one_for_each(void **state)
{
	(void)state;
	write_blocks(&f, 500, 8, 3);
	fill_run(700, 4);
	flush(&f);
	assert_int_equal(records(), 8 + 4);
	is_record(500, 1, XP_REC_MAP, XP_REC_DIRTY);
	recovers(500, 8, 3, true);
}

static void so_has_one_with_sums(void **state)
{
	u32 i;

	(void)state;
	write_blocks(&f, 500, 8, 3);
	flush(&f);
	assert_int_equal(records(), 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(record_flags(&newest()->rec[i]) & (XP_REC_RUN | XP_REC_SUMMED), XP_REC_SUMMED);
	recovers(500, 8, 3, true);
}

static void what_is_written_anew_is_left_out_of_it(void **state)
{
	u32 i;

	(void)state;
	write_blocks(&f, 500, 100, 3);
	flush(&f);
	for (i = 1; i < 100; i += 2)
		write_blocks(&f, 500 + i, 1, 4);
	flush(&f);
	for (i = 0; i < 100; i++)
		recovers(500 + i, 1, i % 2 ? 4 : 3, true);
}

/* Slots in a row, and blocks: one record. A gap of either ends it. */
static void fills_side_by_side_are_one_record(void **state)
{
	(void)state;
	fill_run(500, 5);
	fill_run(505, 3);
	fill_run(600, 2);
	flush(&f);
	assert_int_equal(records(), 2);
	is_record(500, 8, XP_REC_MAP, 0);
	assert_int_equal(record_blocks(&newest()->rec[1]), 2);
	recovers(500, 8, 0, false);
	recovers(600, 2, 0, false);
}

static void a_record_grows_no_longer_than_it_may(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 2 * XP_NAMED_MAX; i += 32)
		fill_run(500 + i, 32);
	flush(&f);
	is_record(500 + XP_NAMED_MAX, XP_NAMED_MAX, XP_REC_MAP, 0);
	recovers(500, 2 * XP_NAMED_MAX, 0, false);
}

static void what_is_written_back_is_one_record(void **state)
{
	(void)state;
	write_blocks(&f, 500, 64, 3);
	write_blocks(&f, 700, 2, 3);
	flush(&f);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	flush(&f);
	assert_int_equal(records(), 2);
	is_record(500, 64, XP_REC_CLEAN, 0);
	recovers(500, 64, 3, false);
	recovers(700, 2, 3, false);
}

/* Nothing is added to one that only repeats what was: it would not be new. */
static void one_that_repeats_is_not_added_to(void **state)
{
	struct xp_window *w;

	(void)state;
	fill_run(500, 1);
	w = journal_window(f.c, journal_open(f.c));
	assert_int_equal(w->run_end, w->nr);
	journal_put_mapping(f.c, mapping_of(&f, 500).slot);	/* as relocate() does */
	w->nr_relocated++;
	fill_run(501, 1);
	assert_int_equal(w->nr, 3);
	assert_int_equal(w->nr_relocated, 1);
	flush(&f);
	recovers(500, 2, 0, false);
}

/* All of it goes along to another place. */
static void each_of_its_blocks_knows_its_place(void **state)
{
	const struct xp_record *r;
	u32 i;

	(void)state;
	write_blocks(&f, 500, 64, 3);
	flush(&f);
	r = &newest()->rec[0];
	write_blocks(&f, 510, 1, 4);
	flush(&f);
	journal_goes_along(f.c, r, f.c->journal.blocks - 1);
	for (i = 0; i < 64; i++) {
		xp_slot_t slot = mapping_of(&f, 500 + i).slot;

		assert_int_equal(f.c->segment[xp_slot_n(slot)] == (f.c->journal.blocks - 1) >> f.c->journal.segment_shift,
				 i != 10);
	}
}

static void each_is_found_in_it(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	u64 seq;
	u32 i;

	(void)state;
	write_blocks(&f, 500, 64, 3);
	flush(&f);
	seq = stats_of(&f).seq;
	for (i = 0; i < 3; i++) {
		write_blocks(&f, 9000 + i, 1, 3);
		flush(&f);
	}
	for (i = 0; i < 64; i++)
		assert_int_equal(record_number_of(f.c, &f.media, block, mapping_of(&f, 500 + i).slot, seq + 3, XP_RECORDS), seq);
}

/* What a forger makes of the one record of the newest block, of eight blocks from 500 on. */
static void forged(struct xp_jblock *b, u64 lba, u32 slot, u32 sum, enum xp_kind kind, u8 flags, const char *why)
{
	struct xp_jblock kept = *b;

	b->rec[0].lba = cpu_to_le64(lba | (u64)kind << 40 | (u64)flags << 48);
	b->rec[0].slot = cpu_to_le32(slot);
	b->rec[0].sum = cpu_to_le32(sum);
	reseal(b);
	if (why)
		restart_refused(&f, why);
	else
		fixture_reopen(&f);
	*b = kept;
}

static void one_that_makes_no_sense_is_refused(void **state)
{
	static const u8 never[] = { XP_REC_ZEROS, XP_REC_CHECKED, XP_REC_SUMMED, XP_REC_UNREAD, 0x40, 0x80 };
	u32 slots = f.c->nr_slots, i;
	struct xp_jblock *b;

	(void)state;
	write_blocks(&f, 500, 8, 3);
	flush(&f);
	b = newest();
	for (i = 0; i < sizeof(never); i++) {
		forged(b, 500, 9, 7, XP_REC_MAP, XP_REC_RUN | never[i], "unknown kind");
		forged(b, 500, 9, 7, XP_REC_MAP, XP_REC_RUN | XP_REC_DIRTY | never[i], "unknown kind");
		forged(b, 500, 9, 7, XP_REC_CLEAN, XP_REC_RUN | never[i], "unknown kind");
	}
	forged(b, 500, 9, 7, XP_REC_CLEAN, XP_REC_RUN | XP_REC_DIRTY, "unknown kind");
	forged(b, 500, 9, 7, XP_REC_UNMAP, XP_REC_RUN, "unknown kind");
	forged(b, 500, 9, 7, XP_REC_ZERO, XP_REC_RUN, "unknown kind");
	forged(b, 500, 9, 0, XP_REC_MAP, XP_REC_RUN, "unknown kind");
	forged(b, 500, 9, XP_RUN_RECORD, XP_REC_MAP, XP_REC_RUN, "unknown kind");
	forged(b, 500, 9, ~0u, XP_REC_MAP, XP_REC_RUN, "unknown kind");
	forged(b, 500 | 1ull << 56, 9, 7, XP_REC_MAP, XP_REC_RUN | XP_REC_DIRTY, "unknown kind");
	forged(b, XP_MAX_LBAS - 7, 9, 7, XP_REC_MAP, XP_REC_RUN, "unknown kind");
	forged(b, LBAS - 7, 9, 7, XP_REC_MAP, XP_REC_RUN, "past the slow device");
	forged(b, 500, slots - 7, 7, XP_REC_MAP, XP_REC_RUN, "slot past the data area");
	forged(b, 500, ~0u - 6, 7, XP_REC_MAP, XP_REC_RUN, "unknown kind");
}

static void an_older_cache_has_none(void **state)
{
	(void)state;
	write_blocks(&f, 500, 1, 3);
	flush(&f);
	forged(newest(), 500, 9, 7, XP_REC_MAP, XP_REC_RUN | XP_REC_DIRTY, "unknown kind");
}

/* Whoever accepts a loss loses the blocks that are refused, and keeps the others. */
static void those_of_it_that_can_be_are_kept(void **state)
{
	(void)state;
	write_blocks(&f, 500, 8, 3);
	flush(&f);
	f.opt.accept = XP_ACCEPT_LOSS;
	forged(newest(), LBAS - 7, 9, 7, XP_REC_MAP, XP_REC_RUN | XP_REC_DIRTY, NULL);
	assert_true(mapped_dirty(&f, LBAS - 1));
	assert_true(mapped_dirty(&f, LBAS - 7));
}

/* The whole of a format that is older: a recovery that says all anew leaves no run. */
static void said_anew_there_is_none(void **state)
{
	u32 seq, i;

	(void)state;
	write_blocks(&f, 500, 64, 3);
	flush(&f);
	f.opt.anew = true;
	fixture_reopen(&f);
	for (seq = (u32)f.c->journal.tail_written; seq <= stats_of(&f).seq; seq++)
		for (i = 0; i < xp_block_records(ring_block(&f, seq)); i++)
			assert_false(record_flags(&ring_block(&f, seq)->rec[i]) & XP_REC_RUN);
	f.opt.anew = false;
	recovers(500, 64, 3, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_write_is_one_record),
		T(a_block_speaks_of_no_more_than_its_limit),
		T(nor_of_one_more),
		TEST_WITH(an_older_cache_has_one_for_each, setup_older, teardown),
		TEST_WITH(so_has_one_with_sums, setup_sums, teardown),
		T(what_is_written_anew_is_left_out_of_it),
		T(fills_side_by_side_are_one_record),
		T(a_record_grows_no_longer_than_it_may),
		T(what_is_written_back_is_one_record),
		T(one_that_repeats_is_not_added_to),
		T(each_of_its_blocks_knows_its_place),
		T(each_is_found_in_it),
		T(one_that_makes_no_sense_is_refused),
		TEST_WITH(an_older_cache_has_none, setup_older, teardown),
		T(those_of_it_that_can_be_are_kept),
		T(said_anew_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
