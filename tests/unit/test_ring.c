// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_ring.c - the ring never fills, whatever it is given to relocate.
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
#define FREE		80u		/* so few that XP_RELOCATE_MAX records a block need two for each full one */
#define QUARTER		(RING / 4)	/* as many blocks as a full map fills */
#define PART		(RING / 8)	/* that are emptied at once */
#define MOST		92u		/* docs/ARCHITECTURE.md, "The ring never fills" */

static struct fixture f;
static u64 most;	/* that was in use */
static u32 spare;	/* places more */

static int setup_ring(u32 places)
{
	u8 block[XP_BLOCK_SIZE];

	fixture_setup(&f, DATA_START + SLOTS, 20000);
	f.refuses = NULL;
	spare = places - RING;
	f.sb.journal_blocks = cpu_to_le64(places);
	f.sb.data_start = cpu_to_le64(DATA_START);
	f.sb.nr_slots = cpu_to_le64(SLOTS);
	assert_int_equal(xp_format(&f.media, &f.sb, block), 0);
	assert_int_equal(xp_sb_verify(&f.sb, f.fast_blocks, &f.msg), 0);
	fixture_reopen(&f);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	most = 0;
	return setup_ring(RING);
}

/* A ring that was never fuller says nothing. */
static int full(void **state)
{
	int err = teardown(state);

	if (most > RING / 2)
		return err;
	fprintf(stderr, "no more than %llu blocks were in use\n", (unsigned long long)most);
	return -1;
}

/* Never more: else the place of a block comes up that a recovery may need. */
static void check_room(void)
{
	most = max(most, journal_used(f.c));
	assert_true(journal_used(f.c) <= MOST + spare);
	assert_int_equal(f.c->journal.written, f.c->journal.sealed);
}

static void write_aside_one(void)
{
	write_blocks(&f, ASIDE, 1, 1);
}

static void write_aside(void)
{
	write_aside_one();
	flush(&f);
}

static u64 number_of(u32 slot)
{
	u32 nr;

	return record_first_of(f.c, XP_SLOT(slot), f.c->journal.sealed_number, &nr);
}

/* The lba of the first slot whose record is as old as any. */
static u64 oldest_lba(void)
{
	u32 i, oldest = SLOTS;

	for (i = 0; i < SLOTS; i++)
		if (f.c->entry[i].state == SLOT_MAPPED && (oldest == SLOTS || number_of(i) < number_of(oldest)))
			oldest = i;
	return xp_lba_n(entry_lba(&f.c->entry[oldest]));
}

/* Nearly all of the map in a quarter of the ring, each block of it full. Returns the lbas. */
static u64 dense_quarter(void)
{
	u64 all = SLOTS - f.c->low_free - 8, n;

	for (n = 0; n < all; n++) {
		write_blocks(&f, n, 1, 1);
		check_room();
	}
	flush(&f);
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

/* Beside its record, over what the tail waits for. */
static void hold_the_oldest(u32 meanwhile)
{
	struct xp_req req = { 0 };
	u64 lba = oldest_lba();

	begin_holding(&req, lba);
	for (; lba != ASIDE && meanwhile; meanwhile--)
		write_aside();
	end_holding(&req, 0);
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

/* One held record after the other is what the tail waits for, and each of them for a window; between them each
 * block is full of new records that supersede none of what is alive. */
static void a_chain_of_held_records_leaves_room(void **state)
{
	u64 all = dense_quarter(), n;

	(void)state;
	for (n = 0; n < RING; n++) {
		hold_the_oldest(XP_WINDOW - 2);
		check_room();
	}
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

/* Nor where every second place takes no write, wherever that begins: each block has two numbers there. */
static void nor_does_what_cannot_be_written_fill_it(void **state)
{
	static bool no_write[DATA_START];
	u32 begin, n;

	(void)state;
	for (begin = 0; begin < 2 * RING; begin += 5) {
		fixture_teardown(&f);
		setup_ring(RING + XP_BAD_PLACES);
		memset(no_write, 0, sizeof(no_write));
		dense_quarter();
		for (n = 0; n < 4 * RING; n++) {
			if (n == begin)
				for (u32 i = 0; i < XP_BAD_PLACES; i++)
					no_write[f.c->journal.start + (f.c->journal.sealed_number + 1 + 2 * i) %
						 f.c->journal.blocks] = true;
			f.refuses = no_write;
			hold_the_oldest(begin % 2 ? XP_WINDOW - 2 : 1);
			check_room();
		}
		assert_int_equal(f.c->super.nr_avoided, XP_BAD_PLACES);
		assert_int_equal(f.c->failed, 0);
		fixture_reopen(&f);
	}
}

/* Full blocks, of records that supersede nothing that lives elsewhere. */
static void write_nothing(u32 blocks)
{
	u32 i;

	for (; blocks; blocks--) {
		for (i = 0; i < XP_NEW_MAX; i++)
			write_aside_one();
		flush(&f);
		check_room();
	}
}

/* Of @nr blocks: as many at once as there are free slots in a row. */
static void write_run(u64 lba, u32 nr)
{
	f.c->opt.stream_kib = 0;
	while (nr) {
		u64 hash[XP_COPY_MAX] = { 0 };
		struct xp_req req;

		if (f.c->nr_free < nr)
			flush(&f);
		if (submit(&f, &req, XP_WRITE, lba * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, false) == XP_COPY)
			xp_copied(f.c, &req, hash, &f.todo);
		assert_in_range(req.nr_blocks, 1, nr);
		write_journal(&f);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		write_journal(&f);
		check_room();
		lba += req.nr_blocks;
		nr -= req.nr_blocks;
	}
}

/* Nearly all of the map in as few blocks as can be, each with one record of as many blocks as it may speak of. */
static u64 dense_runs(void)
{
	u64 all = SLOTS - f.c->low_free - 8, n;

	for (n = 0; n < all; n += XP_NAMED_MAX) {
		write_run(n, (u32)min(all - n, (u64)XP_NAMED_MAX));
		flush(&f);
		check_room();
	}
	return all;
}

/* One in @step of the first @all blocks, from @from on, written anew: @together in a block of the journal. */
static void punch(u64 from, u64 all, u32 step, u32 together)
{
	u64 n;
	u32 i = 0;

	for (n = from; n < all; n += step) {
		write_blocks(&f, n, 1, 2);
		if (++i % together == 0)
			flush(&f);
		check_room();
	}
	flush(&f);
}

/* A run of 256 blocks is one record, until each block that is left of it has one of its own. */
static void nor_does_what_is_left_of_long_runs_fill_it(void **state)
{
	static const u32 step[] = { 2, 3, 8, 256, 5000 };
	static const u32 together[] = { XP_NEW_MAX, 30, 1 };
	u32 before, i, k;

	(void)state;
	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++)
		for (k = 0; k < sizeof(together) / sizeof(together[0]); k++)
			for (before = 0; before <= QUARTER; before += 6) {
				u64 all;

				write_nothing(before);
				all = dense_runs();
				punch(1, all, step[i], together[k]);
				write_nothing(2 * RING);
				fixture_teardown(&f);
				setup_ring(RING);
			}
}

/* Behind as much as is left alone: the dense quarter, and then what makes no record die. */
static void the_worst_that_a_ring_relocates_leaves_room(void **state)
{
	u32 before;

	(void)state;
	for (before = 0; before <= QUARTER; before += 3) {
		write_nothing(before);
		dense_quarter();
		write_nothing(3 * RING);
		fixture_teardown(&f);
		setup_ring(RING);
		write_nothing(before);
		dense_runs();
		write_nothing(3 * RING);
		fixture_teardown(&f);
		setup_ring(RING);
	}
}

/* xorshift64 */
static u64 draw(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	return *rng ^= *rng << 17;
}

static u32 random_length(u64 *rng, u64 limit)
{
	u64 nr = 1 + draw(rng) % XP_NAMED_MAX;

	return (u32)min(nr, limit);
}

/* In turns of a random length: dense, sparse, with what ends mappings, with held records, cut in between. */
static void nor_does_a_ring_fill_by_chance(void **state)
{
	u64 rng = 1, all = SLOTS - f.c->low_free - 8;
	u32 turn, n, i;

	(void)state;
	for (turn = 0; turn < 3000; turn++) {
		u64 lba = draw(&rng) % all, way = draw(&rng) % 8;

		n = (u32)(draw(&rng) % 300);
		for (i = 0; i < n; i++) {
			struct xp_req req;

			lba = way & 1 ? (lba + 1) % all : draw(&rng) % all;
			if (way < 4)
				write_run(lba, turn % 3 ? 1 : random_length(&rng, all - lba));
			else if (way < 6 && xp_slot_n(map_mapped(f.c, XP_LBA(lba))) != XP_NIL)
				assert_int_equal(submit(&f, &req, XP_DISCARD, lba * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS,
							false), XP_DONE);
			else if (way >= 6 && i < 20)
				hold_the_oldest((u32)(draw(&rng) % (XP_WINDOW - 1)));
			if (way < 2)
				flush(&f);
			write_journal(&f);
			check_room();
		}
		if (way == 7)
			fixture_reopen(&f);
	}
}

/* One sync of each of @nr writes to one of the first @blocks. Returns the most that one of them relocated. */
static u32 most_of_a_sync(u64 *rng, u32 nr, u64 blocks)
{
	u64 worst = 0, before = stats_of(&f).relocated, now;

	while (nr--) {
		write_blocks(&f, draw(rng) % blocks, 1, 1);
		flush(&f);
		now = stats_of(&f).relocated;
		worst = max(worst, now - before);
		before = now;
	}
	return (u32)worst;
}

/* A ring whose parts have many slots and few records, side by side: no sync finds them all, nor the hand late. */
static void no_sync_has_much_more_to_relocate_than_another(void **state)
{
	const u32 slots = 60000, hot = 2048;
	u64 rng = 1, n;

	(void)state;
	fixture_teardown(&f);
	fixture_setup(&f, slots + 2000, 2 * slots);
	for (n = 0; n < 4 * hot; n++)
		write_blocks(&f, n, 1, 1);
	most_of_a_sync(&rng, f.c->journal.blocks / 2, hot);
	assert_in_range(most_of_a_sync(&rng, 4 * f.c->journal.blocks, hot), 1, XP_RELOCATE_MAX * 2 / 3);
	assert_true(journal_used(f.c) < f.c->journal.usable / 2);
}

static u32 live_between(u32 from, u32 nr)
{
	u32 i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += f.c->segment[i] - from < nr;
	return n;
}

/* Not one slot is passed over by the hand, however it stops and goes on; and the ring rests where it has been said to. */
static void a_part_is_empty_when_the_hand_has_been_round(void **state)
{
	const struct xp_journal *j = &f.c->journal;
	u32 n, parts = 0, from = 0, nr = 0;

	(void)state;
	dense_quarter();
	for (n = 0; n < 8 * RING; n++) {
		write_aside();
		check_room();
		if (nr && (!j->nr_empty || j->empty_from != from)) {
			assert_int_equal(live_between(from, nr), 0);
			parts++;
		}
		from = j->empty_from;
		nr = j->nr_empty;
	}
	assert_true(parts > 8);
	assert_in_range(journal_used(f.c), QUARTER, RING / 2 + PART);
}

/*
 * The most that is in use where the hand is in a hurry from @mark on, and all that lives is at the tail of a ring of @blocks,
 * as dense as it can be: in thousandths of a block.
 */
static u64 bound_at(u64 blocks, u64 mark)
{
	const u64 each = XP_RELOCATE_MAX, dense = XP_NAMED_MAX + XP_RELOCATE_MAX, all = blocks * 42;
	u64 pace = blocks / 64 + 1, part = blocks / 8, worst = 0, n;

	/* the tail of so many parts, of which the first is cut short by the ring's end, and bad places may lie in any */
	for (n = 1; n <= 8; n++) {
		u64 least = (n - 1) * part, k;

		least -= min(least, (u64)XP_BAD_PLACES);
		k = max(least * 1000, min(all * 1000 / dense, n * part * 1000));
		if (k > mark * 1000)
			break;
		worst = max(worst, mark * 1000 + min(all * 1000, k * dense) / each - k + (pace * n + XP_WINDOW) * 1000 + blocks * 125);
	}
	return worst;
}

static void the_bound_is_that_of_every_ring(void **state)
{
	u64 blocks;

	(void)state;
	for (blocks = RING; blocks < 1ull << 31; blocks += 1 + blocks / 1000)
		assert_true(bound_at(blocks, blocks / 2 - min(blocks / 4, (u64)XP_WINDOW + 8)) < blocks * 1000);
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

/* What is held in a part keeps nothing else in it from being repeated. */
static void a_held_record_keeps_no_other(void **state)
{
	const struct xp_journal *j = &f.c->journal;
	struct xp_req req = { 0 };
	u32 from, nr, i;
	u64 tail;

	(void)state;
	dense_quarter();
	while (!j->nr_empty || j->hand < SLOTS / 4 * 3)
		write_aside();
	from = j->empty_from;
	nr = j->nr_empty;
	assert_true(live_between(from, nr) > XP_RECORDS);
	assert_true(begin_holding(&req, oldest_lba()));
	tail = j->tail;
	for (i = 0; i < XP_WINDOW - 2; i++)
		write_aside();
	assert_int_equal(j->tail, tail);
	assert_int_equal(live_between(from, nr), 1);
	end_holding(&req, 0);
	for (i = 0; i < 2 * PART && j->tail == tail; i++)
		write_aside();
	assert_true(j->tail > tail);
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

/* The longest chain that leaves room for what is alive, and one block more, which an honest cache never writes: an older
 * one comes to three quarters of the ring. */
static void a_chain_leaves_room_for_what_is_alive(void **state)
{
	const u32 longest = RING - PART;

	(void)state;
	forge(longest + 1);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "no room in the ring"));
	for (u32 blocks = QUARTER; blocks <= longest; blocks++) {
		forge(blocks);
		fixture_reopen(&f);
		assert_int_equal(stats_of(&f).dirty, SLOTS - FREE);
		assert_true(worst_lap() <= MOST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_WITH(a_chain_of_held_records_leaves_room, setup, full),
		T(a_held_record_keeps_no_other),
		T(no_sync_has_much_more_to_relocate_than_another),
		T(a_part_is_empty_when_the_hand_has_been_round),
		T(the_bound_is_that_of_every_ring),
		T(a_ring_is_tight_in_time),
		TEST_WITH(the_worst_that_a_ring_relocates_leaves_room, setup, full),
		TEST_WITH(nor_does_what_is_left_of_long_runs_fill_it, setup, full),
		TEST_WITH(nor_does_what_cannot_be_written_fill_it, setup, full),
		TEST_WITH(nor_does_a_ring_fill_by_chance, setup, full),
		T(a_chain_leaves_room_for_what_is_alive),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
