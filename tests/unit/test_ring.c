// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_ring.c - the ring never fills, whatever it is given to carry.
 *
 * The smallest ring with the fullest map that xp_sb_verify() lets pass.
 */
#include "fixture.h"
#include "journal.h"
#include "slot.h"

#define RING		96u
#define SLOTS		4032u
#define DATA_START	512u
#define ASIDE		15000u		/* an lba of no other use */

static struct fixture f;

static int setup(void **state)
{
	u8 block[XP_BLOCK_SIZE];

	(void)state;
	fixture_setup(&f, DATA_START + SLOTS, 20000);
	f.sb.journal_blocks = cpu_to_le64(RING);
	f.sb.data_start = cpu_to_le64(DATA_START);
	f.sb.nr_slots = cpu_to_le64(SLOTS);
	assert_int_equal(xp_format(&f.media, &f.sb, block), 0);
	assert_int_equal(xp_sb_verify(&f.sb, f.fast_blocks, &f.msg), 0);
	fixture_reopen(&f);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_teardown(&f);
	return 0;
}

/* Never more: else the place of a block comes up that a recovery may need. */
static void check_room(void)
{
	assert_true(journal_used(f.c) <= RING - 2);
	assert_int_equal(f.c->journal.written, f.c->journal.sealed);
}

static void write_aside(void)
{
	write_blocks(&f, ASIDE, 1, 1);
	flush(&f);
}

static u32 alive_in_oldest(void)
{
	struct xp_journal *j = &f.c->journal;
	u32 i, n = 0;

	while (j->tail < j->sealed && j->list[journal_position(f.c, j->tail)] == XP_NIL)
		j->tail++;
	for (i = j->list[journal_position(f.c, j->tail)]; i != XP_NIL; i = f.c->entry[i].list_next)
		n++;
	return n;
}

/* All of the map in the blocks at the tail, and nearly each of them full. Returns its lbas. */
static u64 dense_tail(void)
{
	u64 all = SLOTS - f.c->low_free - 8, n;
	u32 i;

	for (n = 0; n < all / 2; n++)
		write_blocks(&f, n, 1, 1);
	flush(&f);
	while (journal_used(f.c) < RING / 2)
		write_aside();
	for (; n < all; n++)
		write_blocks(&f, n, 1, 1);
	flush(&f);
	for (i = 0; i < 4 * RING && (journal_used(f.c) <= RING / 2 ||
				     alive_in_oldest() <= XP_RECORDS / 2); i++)
		write_aside();
	assert_true(alive_in_oldest() > XP_RECORDS / 2);
	return all;
}

/* When @blocks more have been sealed. */
static bool tight_after(u32 blocks)
{
	bool tight;

	f.c->journal.sealed += blocks;
	tight = journal_tight(f.c);
	f.c->journal.sealed -= blocks;
	return tight;
}

/* Beside its record, over the first that the tail would carry. */
static void hold_the_oldest(u32 meanwhile)
{
	struct xp_journal *j = &f.c->journal;
	struct xp_req req = { 0 };
	u64 hash = 1, lba;

	alive_in_oldest();
	lba = xp_lba_n(entry_lba(&f.c->entry[j->list[journal_position(f.c, j->tail)]]));
	if (submit(&f, &req, XP_WRITE, lba * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, true) == XP_COPY)
		xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	for (; meanwhile; meanwhile--)
		write_aside();
	if (xp_end(f.c, &req, 0, &f.todo) == XP_WAIT) {
		write_journal(&f);
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	}
	write_journal(&f);
}

/* One held record after the other keeps the tail, and the last of them for a window;
 * then each block is full of new records that supersede none of what is alive. */
static void a_chain_of_held_records_leaves_room(void **state)
{
	u64 all = dense_tail(), n;

	(void)state;
	for (n = 0; n < RING && !tight_after(1); n++)
		hold_the_oldest(0);
	hold_the_oldest(XP_WINDOW - 2);
	check_room();
	for (n = 0; n < all; n++) {
		struct xp_req req;

		assert_int_equal(submit(&f, &req, XP_DISCARD, n * XP_BLOCK_SECTORS,
					XP_BLOCK_SECTORS, false), XP_DONE);
		write_journal(&f);
		check_room();
	}
	flush(&f);
	check_room();
}

/* What is held in the oldest block keeps nothing else in it from being carried. */
static void a_held_record_keeps_no_other(void **state)
{
	struct xp_req req;
	u64 hash = 1, lba, tail;
	u32 i;

	(void)state;
	dense_tail();
	i = f.c->journal.list[journal_position(f.c, f.c->journal.tail)];
	lba = xp_lba_n(entry_lba(&f.c->entry[i]));
	assert_int_equal(submit(&f, &req, XP_WRITE, lba * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, true),
			 XP_COPY);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	assert_true(req.copy.beside);
	write_aside();
	write_aside();
	write_aside();
	assert_int_equal(alive_in_oldest(), 1);
	assert_int_equal(f.c->journal.list[journal_position(f.c, f.c->journal.tail)], i);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
	tail = f.c->journal.tail;
	write_aside();
	assert_true(f.c->journal.tail > tail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		T(a_chain_of_held_records_leaves_room),
		T(a_held_record_keeps_no_other),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
