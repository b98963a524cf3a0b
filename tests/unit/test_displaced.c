// SPDX-License-Identifier: GPL-2.0-only
/* test_displaced.c - recovery when a slot is given to a block, and nobody has said that it is another's no more. */
#include "fixture.h"
#include "look.h"
#include "recovery.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

/*
 * A later life gives slots to blocks at @lba and on, @nr of them, that hold those at 0 and on, and says nothing of
 * these: where a recovery has decided so it says it at once.
 */
static void displace(u64 lba, u32 nr)
{
	xp_slot_t *held_by = malloc(nr * sizeof(*held_by));
	struct xp_mapping m;
	u64 first, seq;
	u32 i;

	for (i = 0; i < nr; i++)
		write_blocks(&f, i, 1, 7);
	flush(&f);
	for (i = 0; i < nr; i++) {
		assert_true(xp_lookup(f.c, XP_LBA(i), &m));
		held_by[i] = m.slot;
	}
	fixture_reopen(&f);
	first = stats_of(&f).seq + 1;
	for (i = 0; i < nr; i++)
		write_blocks(&f, lba + i, 1, 8);
	flush(&f);
	for (seq = first; seq <= stats_of(&f).seq; seq++) {
		struct xp_jblock *b = ring_block(&f, seq);

		for (i = 0; i < le16_to_cpu(b->head.count); i++) {
			u64 of_lba = le64_to_cpu(b->rec[i].lba) & (XP_MAX_LBAS - 1);

			if (of_lba >= lba && of_lba < lba + nr)
				b->rec[i].slot = cpu_to_le32(xp_slot_n(held_by[of_lba - lba]));
		}
		reseal(b);
	}
	free(held_by);
}

/* What it was before the decision is lost: whoever accepts losses goes on without. */
static void a_slot_is_taken_from_a_block_that_nobody_speaks_of(void **state)
{
	(void)state;
	displace(50000, 3);
	restart_refused(&f, "holds another block");
	f.opt.accept = XP_ACCEPT_LOSS;
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 0), -1);
	assert_int_equal(mapped_byte(&f, 2), -1);
	assert_true(mapped_dirty(&f, 50002));
	f.opt.accept = 0;
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 2), -1);
	assert_true(mapped_dirty(&f, 50002));
}

/* As many as a recovery can decide on; one more is damage. */
static void too_many_taken_slots_are_refused(void **state)
{
	(void)state;
	fixture_teardown(&f);
	fixture_setup(&f, 32768, 100000);
	displace(50000, DISPLACED_MAX + 1);
	restart_refused(&f, "holds another block");
	f.opt.accept = XP_ACCEPT_LOSS;
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 0), -1);
	assert_int_equal(mapped_byte(&f, DISPLACED_MAX - 1), -1);
	assert_int_equal(mapped_byte(&f, DISPLACED_MAX), 7);
	assert_int_equal(mapped_byte(&f, 50000 + DISPLACED_MAX), -1);
}

/* Where several blocks may have it each is looked into: also for one of a slot that lacks sectors. */
static void a_record_is_found_in_its_block(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_mapping m;
	struct xp_req req;
	u64 seq, i;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 56, 4, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_blocks(&f, 8, 1, 1);
	flush(&f);
	seq = stats_of(&f).seq;
	for (i = 0; i < 3; i++) {
		write_blocks(&f, 100 + i, 1, 1);
		flush(&f);
	}
	for (i = 7; i < 9; i++) {
		assert_true(xp_lookup(f.c, XP_LBA(i), &m));
		assert_int_equal(record_number_of(f.c, &f.media, block, m.slot, stats_of(&f).seq, XP_RECORDS), seq);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_slot_is_taken_from_a_block_that_nobody_speaks_of),
		T(too_many_taken_slots_are_refused),
		T(a_record_is_found_in_its_block),
	};

	return cmocka_run_group_tests_name("displaced", tests, NULL, NULL);
}
