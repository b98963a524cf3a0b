// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_ring.c - the ring never fills, whatever it is given to carry.
 *
 * The smallest ring with the fullest map that xp_sb_verify() lets pass.
 */
#include "fixture.h"
#include "journal.h"
#include "layout.h"
#include "slot.h"
#include "superblock.h"

#define RING		96u
#define SLOTS		4032u
#define DATA_START	512u
#define ASIDE		15000u		/* an lba of no other use */
#define FREE		80u		/* so few that 84 records a block need two for each full one */
#define QUARTER		(RING / 4)	/* as many blocks as a full map fills */
#define ALONE		16000u		/* some, each alone in its block before a dense quarter */

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

/* Nearly all of the map in a quarter of the ring, each block of it full. Before it @alone blocks with one
 * record each. Returns the lbas. */
static u64 dense_quarter(u32 alone)
{
	u64 all = SLOTS - f.c->low_free - 8, n;

	for (n = 0; n < all / 2; n++)
		write_blocks(&f, n, 1, 1);
	flush(&f);
	while (journal_used(f.c) < RING / 2 - alone)
		write_aside();
	for (; alone; alone--) {
		write_blocks(&f, ALONE + alone, 1, 1);
		flush(&f);
	}
	for (; n < all; n++)
		write_blocks(&f, n, 1, 1);
	flush(&f);
	return all;
}

/* All of the map in the blocks at the tail, and nearly each of them full. Returns its lbas. */
static u64 dense_tail(void)
{
	u64 all = dense_quarter(0);
	u32 i;

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

	f.c->journal.sealed_number += blocks;
	tight = journal_tight(f.c);
	f.c->journal.sealed_number -= blocks;
	return tight;
}

/* A write to @lba that holds what it would supersede, if its record may go beside its data. */
static bool begin_holding(struct xp_req *req, u64 lba)
{
	u64 hash = 1;

	if (submit(&f, req, XP_WRITE, lba * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, true) == XP_COPY)
		xp_copied(f.c, req, &hash, &f.todo);
	write_journal(&f);
	return req->copy.parallel;
}

static void end_holding(struct xp_req *req, int err)
{
	if (xp_end(f.c, req, err, &f.todo) == XP_WAIT) {
		write_journal(&f);
		assert_ptr_equal(xp_list_pop(err ? &f.todo.ready : &f.todo.done), &req->link);
	}
	write_journal(&f);
}

/* Beside its record, over the first that the tail would carry. */
static void hold_the_oldest(u32 meanwhile)
{
	struct xp_journal *j = &f.c->journal;
	struct xp_req req = { 0 };

	alive_in_oldest();
	begin_holding(&req, xp_lba_n(entry_lba(&f.c->entry[j->list[journal_position(f.c, j->tail)]])));
	for (; meanwhile; meanwhile--)
		write_aside();
	end_holding(&req, 0);
}

/* Blocks that can be sealed before the oldest of the window has left it. */
static u32 places(void)
{
	u32 n = 0;

	while (n < XP_WINDOW - 1 && journal_window(f.c, journal_open(f.c) + n + 1)->state == BLOCK_IDLE)
		n++;
	return n;
}

/* The most of the ring that is in use while all that is alive passes the tail. */
static u64 worst_lap(void)
{
	u64 most = 0, n;

	for (n = 0; n < 2 * RING; n++) {
		assert_int_equal(f.c->journal.written, f.c->journal.sealed);
		most = max(most, journal_used(f.c));
		write_aside();
	}
	return most;
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

/* With records that take no slot and supersede nothing. It is not sealed. */
static void fill_open_block(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_DISCARD, 0, (XP_NEW_MAX - journal_new(f.c)) * XP_BLOCK_SECTORS,
				false), XP_DONE);
	assert_int_equal(journal_new(f.c), XP_NEW_MAX);
}

/*
 * Close to the bound (docs/ARCHITECTURE.md): records that are alone in their blocks, each held when the one
 * before is let go, and so the tail; the last of them begun as late as may be, with a full block that is
 * sealed after the ring was found not to be tight, and held as long as may be. Behind it the
 * dense quarter.
 */
static void worst_case(int err)
{
	const u32 alone = 5;
	struct xp_req req[2];
	u64 lba = ALONE + alone;
	u32 held = 0;

	dense_quarter(alone);
	while (journal_used(f.c) < RING / 2 - 1)
		write_aside();
	assert_int_equal(alive_in_oldest(), 1);
	assert_true(begin_holding(&req[held], lba--));
	while (!tight_after(1)) {
		while (places() > 2 && !tight_after(1))
			write_aside();
		if (tight_after(1))
			fill_open_block();
		assert_true(begin_holding(&req[!held], lba--));
		end_holding(&req[held], 0);
		held = !held;
		assert_int_equal(alive_in_oldest(), 1);
	}
	assert_true(lba >= ALONE);
	while (places())
		write_aside();
	end_holding(&req[held], err);
	assert_int_equal(worst_lap(), RING - 4);
}

static void the_worst_that_a_ring_relocates_leaves_room(void **state)
{
	(void)state;
	worst_case(0);
}

static void or_that_is_undone(void **state)
{
	(void)state;
	worst_case(-EIO);
}

/* A quarter of the ring, and nine blocks, are kept (docs/ARCHITECTURE.md). */
static void a_ring_is_tight_in_time(void **state)
{
	u64 used = journal_used(f.c);
	u32 n;

	(void)state;
	for (n = 0; n < RING; n++)
		assert_int_equal(tight_after(n), used + n > RING - QUARTER - 9);
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
	assert_true(req.copy.parallel);
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

/* A chain of @blocks: a quarter of the ring full of what is alive, nothing behind it. Some slots are free. */
static void forge(u32 blocks)
{
	u64 first = 2 * RING, lba = 0;
	u32 i, k;

	memset(ring_block(&f, 0), 0, RING * XP_BLOCK_SIZE);
	for (k = 0; k < blocks; k++) {
		struct xp_jblock *b = ring_block(&f, first + k);

		b->head = (struct xp_jheader){
			.magic = cpu_to_le32(XP_JOURNAL_MAGIC), .incarnation = cpu_to_le64(1),
			.seq = cpu_to_le64(first + k), .tail_seq = cpu_to_le64(first),
			.durable_seq = cpu_to_le64(first + k),
			.count = cpu_to_le16(k < QUARTER - 1 ? XP_RECORDS : k < QUARTER ? XP_RECORDS - FREE : 0),
		};
		memcpy(b->head.uuid, f.sb.uuid, sizeof(b->head.uuid));
		for (i = 0; i < le16_to_cpu(b->head.count); i++, lba++)
			b->rec[i] = (struct xp_record){
				.lba = cpu_to_le64(lba | (u64)XP_REC_MAP << 40 | (u64)XP_REC_DIRTY << 48),
				.slot = cpu_to_le32((u32)lba),
			};
		reseal(b);
	}
}

/* The longest chain that leaves room for what is alive, and one block more, which an honest cache never writes. */
static void a_chain_leaves_room_for_what_is_alive(void **state)
{
	const u32 longest = RING - 1 - QUARTER;

	(void)state;
	forge(longest + 1);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "no room in the ring"));
	forge(longest);
	fixture_reopen(&f);
	assert_int_equal(stats_of(&f).dirty, SLOTS - FREE);
	assert_int_equal(worst_lap(), RING - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_chain_of_held_records_leaves_room),
		T(a_held_record_keeps_no_other),
		T(a_ring_is_tight_in_time),
		T(the_worst_that_a_ring_relocates_leaves_room),
		T(or_that_is_undone),
		T(a_chain_leaves_room_for_what_is_alive),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
