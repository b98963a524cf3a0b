// SPDX-License-Identifier: GPL-2.0-only
/* The ranks of the blocks from one life to the next (hint.h): when they are taken over, and when not. */
#include "fixture.h"
#include "hint.h"
#include "journal.h"
#include "life.h"
#include "look.h"
#include "ranks.h"
#include "slot.h"
#include "../no_witness.h"

#define FAST_BLOCKS	20000u		/* three blocks of ranks, two of them in slots */
#define LBAS		100000u
#define BLOCKS		3u

static struct fixture f;
static int (*all_read)(void *ctx, u64 block, u32 nr, void *buf);
static int (*all_written)(void *ctx, u64 block, u32 nr, const void *buf);
static u64 bad_block;

/* A block for each of these slots: first, last and middle ones of each block of ranks. */
static const u32 slot_of[] = { 0, 1, XP_HINT_RANKS - 1, XP_HINT_RANKS, XP_HINT_RANKS + 7, 2 * XP_HINT_RANKS - 1,
			       2 * XP_HINT_RANKS, 2 * XP_HINT_RANKS + 500 };
#define MAPPED	(sizeof(slot_of) / sizeof(slot_of[0]))

static u32 rank_of(u32 i)
{
	static const u32 rank[] = { XP_RANK(XP_RANK_MAIN, 3), XP_RANK(XP_RANK_NEW, 0), XP_RANK(XP_RANK_YOUNG, 0),
				    XP_RANK(XP_RANK_MAIN, 0), XP_RANK(XP_RANK_NEW, 2), XP_RANK(XP_RANK_NEW, 3),
				    XP_RANK(XP_RANK_MAIN, 2), XP_RANK(XP_RANK_YOUNG, 0) };

	return rank[i % MAPPED];
}

static u32 rank_in(u32 slot)
{
	assert_int_equal(f.c->entry[slot].state, SLOT_MAPPED);
	return entry_rank(&f.c->entry[slot]);
}

static void give_ranks(void)
{
	for (u32 i = 0; i < MAPPED; i++) {
		f.c->alloc_hand = slot_of[i];
		fill_block(&f, i, 'a' + (int)i);
		assert_int_equal(f.c->entry[slot_of[i]].state, SLOT_MAPPED);
		ranks_restore(f.c, &f.c->entry[slot_of[i]], rank_of(i));
	}
	flush(&f);
	assert_true(ranks_restore_hands(f.c, 12345, 23, 9999));
	f.c->alloc_hand = 77;
}

static void stop(void)
{
	assert_int_equal(xp_close(f.c, &f.media), 0);
}

static void stopped_anew(void)
{
	fixture_teardown(&f);
	fixture_setup(&f, FAST_BLOCKS, LBAS);
	give_ranks();
	stop();
}

static void assert_ranks_of(u32 first, u32 end)
{
	for (u32 i = 0; i < MAPPED; i++) {
		assert_int_equal(mapped_byte(&f, i), 'a' + (int)i);
		assert_int_equal(rank_in(slot_of[i]), i >= first && i < end ? rank_of(i) : XP_RANK_RECOVERED);
	}
	assert_int_equal(f.c->ranks.restored, end - first);
}

static void assert_warm(void)
{
	assert_ranks_of(0, MAPPED);
	assert_int_equal(f.c->ranks.main_hand, 12345);
	assert_int_equal(f.c->ranks.new_hand, 23);
	assert_int_equal(f.c->ranks.young_hand, 9999);
	assert_int_equal(f.c->alloc_hand, 77);
}

static void assert_cold(void)
{
	assert_ranks_of(0, 0);
	assert_int_equal(f.c->ranks.main_hand, 0);
	assert_int_equal(f.c->ranks.new_hand, 0);
	assert_int_equal(f.c->ranks.young_hand, 0);
	assert_int_equal(f.c->alloc_hand, 0);
}

static struct xp_hint *first_block(void)
{
	return (struct xp_hint *)(f.fast + XP_HINT_BLOCK * XP_BLOCK_SIZE);
}

/* Where it lies. */
static u64 place_of(u32 i)
{
	const struct xp_hint *h = first_block();
	u64 at = XP_HINT_BLOCK;

	while (i--) {
		assert_int_not_equal(le32_to_cpu(h->nr_next), 0);
		at = f.c->data_start + le32_to_cpu(h->next);
		h = (const struct xp_hint *)(f.fast + at * XP_BLOCK_SIZE);
	}
	return at;
}

static struct xp_hint *hint_block(u32 i)
{
	return (struct xp_hint *)(f.fast + place_of(i) * XP_BLOCK_SIZE);
}

static void seal_hint(struct xp_hint *h)
{
	h->checksum = cpu_to_le64(xp_xxh64(h, offsetof(struct xp_hint, checksum)));
}

/* -------------------------------------------------------------- a stop ---- */

static void ranks_survive_a_stop(void **state)
{
	(void)state;
	give_ranks();
	stop();
	assert_int_equal(le32_to_cpu(hint_block(BLOCKS - 1)->nr_next), 0);
	fixture_reopen(&f);
	assert_warm();
}

static void those_of_dirty_blocks_do(void **state)
{
	(void)state;
	write_blocks(&f, 5, 2, 'd');
	ranks_restore(f.c, &f.c->entry[0], XP_RANK(XP_RANK_COLD, 2));
	ranks_restore(f.c, &f.c->entry[1], XP_RANK(XP_RANK_NEW, 1));
	stop();
	fixture_reopen(&f);
	assert_int_equal(rank_in(0), XP_RANK(XP_RANK_COLD, 2));
	assert_int_equal(rank_in(1), XP_RANK(XP_RANK_NEW, 1));
}

static void slots_that_were_free_are(void **state)
{
	u64 nr_free;

	(void)state;
	give_ranks();
	nr_free = stats_of(&f).free;
	stop();
	fixture_reopen(&f);
	assert_int_equal(stats_of(&f).free, nr_free);
	f.c->alloc_hand = (u32)(place_of(1) - f.c->data_start);
	fill_block(&f, 1000, 'z');
	assert_int_equal(mapped_byte(&f, 1000), 'z');
}

static void who_looks_sees_it(void **state)
{
	void *scratch = malloc(xp_recover_memory(&f.sb));

	(void)state;
	give_ranks();
	stop();
	for (u32 i = 0; i < 2; i++) {
		memset(f.memory, 0, xp_memory(&f.sb, false));
		f.c = xp_init(f.memory, &f.sb, &f.opt);
		assert_int_equal(xp_look(f.c, &f.media, scratch, i ? NULL : &no_witness, &f.msg), 0);
		assert_int_equal(stats_of(&f).ranks_restored, i ? 0 : MAPPED);
	}
	free(scratch);
	fixture_reopen(&f);
	assert_warm();
}

/* Each fourth slot is free: no two blocks lie side by side. */
static void free_slots_may_lie_apart(void **state)
{
	(void)state;
	give_ranks();
	for (u32 i = 0; i < f.c->nr_slots; i++)
		if (i % 4 && slots_is_free(f.c, i))
			slots_mark_used(f.c, i);
	stop();
	assert_int_equal(le32_to_cpu(hint_block(0)->nr_next), 1);
	fixture_reopen(&f);
	assert_warm();
}

/* A life goes on after its stop, as a suspended one that is resumed, and stops once more. */
static void the_last_stop_counts(void **state)
{
	(void)state;
	give_ranks();
	stop();
	write_blocks(&f, 50, 1, 'n');
	ranks_restore(f.c, &f.c->entry[slot_of[3]], XP_RANK(XP_RANK_MAIN, 3));
	stop();
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 50), 'n');
	assert_int_equal(f.c->ranks.restored, MAPPED + 1);
	assert_int_equal(rank_in(slot_of[3]), XP_RANK(XP_RANK_MAIN, 3));
}

/* Records that were relocated ahead of need are in memory only, and stay there. */
static void an_open_journal_block_is_written_before_slots(void **state)
{
	(void)state;
	for (u32 open = 0; open < XP_WINDOW; open++) {
		if (open)
			stopped_anew();
		else
			give_ranks();
		for (u32 i = 0; i < open; i++) {
			write_blocks(&f, 500 + i, 1, 'n');
			flush(&f);
		}
		f.c->journal.leave = f.c->journal.sealed_number;
		journal_relocate_ahead(f.c);
		assert_int_equal(journal_window(f.c, journal_open(f.c))->state, BLOCK_OPEN);
		stop();
		assert_int_equal(journal_window(f.c, journal_open(f.c))->state, BLOCK_IDLE);
		f.c->journal.leave = 0;
		write_blocks(&f, 50, 1, 'n');
		stop();
		fixture_reopen(&f);
		assert_int_equal(mapped_byte(&f, 50), 'n');
		assert_int_equal(f.c->ranks.restored, MAPPED + 1 + open);
		for (u32 i = 0; i < MAPPED; i++)
			assert_int_equal(rank_in(slot_of[i]), rank_of(i));
	}
}

/* Where the first block is all, no slot is written. */
static void an_open_journal_block_is_left_alone(void **state)
{
	(void)state;
	for (u32 open = 0; open < XP_WINDOW; open++) {
		write_blocks(&f, 500 + open, 1, 'n');
		flush(&f);
		f.c->journal.leave = f.c->journal.sealed_number;
		journal_relocate_ahead(f.c);
		stop();
		assert_int_equal(journal_window(f.c, journal_open(f.c))->state, BLOCK_OPEN);
		f.c->journal.leave = 0;
		write_blocks(&f, 50, 1, 'n');
		stop();
		fixture_reopen(&f);
		assert_int_equal(mapped_byte(&f, 50), 'n');
		assert_int_equal(f.c->ranks.restored, open + 2);
	}
}

static int read_but_one(void *ctx, u64 block, u32 nr, void *buf)
{
	return bad_block >= block && bad_block < block + nr ? -EIO : all_read(ctx, block, nr, buf);
}

/* What a start that accepts a loss may go back to. */
static void older_versions_outlive_a_stop(void **state)
{
	struct xp_req req;
	u64 hash;

	(void)state;
	give_ranks();
	flush(&f);
	write_blocks(&f, 50, 1, 'o');
	flush(&f);
	assert_int_equal(submit(&f, &req, XP_WRITE, 50 * 8, 8, true), XP_COPY);
	memset(f.fast + req.target * 512, 'n', XP_BLOCK_SIZE);
	hash = xp_checksum(f.fast + req.target * 512, XP_BLOCK_SIZE);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
	stop();
	bad_block = f.c->journal.start + journal_position(f.c, f.c->journal.sealed_number);
	f.media.read = read_but_one;
	f.opt.accept = XP_ACCEPT_LOSS;
	assert_int_equal(fixture_restart(&f), 0);
	assert_true(mapped_byte(&f, 50) == 'n' || mapped_byte(&f, 50) == 'o');
}

static void no_more_is_written_than_slots_are_in_use(void **state)
{
	(void)state;
	fill_block(&f, 1, 'a');
	stop();
	assert_int_equal(le32_to_cpu(first_block()->count), 1);
	assert_int_equal(le32_to_cpu(first_block()->nr_next), 0);
}

static void an_empty_cache_writes_none(void **state)
{
	u32 writes = f.media_writes;

	(void)state;
	stop();
	assert_int_equal(f.media_writes, writes);
}

/* ------------------------------------------------------------- no hint ---- */

static void a_hint_of_another_life_is_ignored(void **state)
{
	(void)state;
	give_ranks();
	stop();
	fixture_reopen(&f);
	assert_warm();
	fixture_reopen(&f);	/* killed */
	assert_cold();
}

static void nor_is_one_of_the_same_life_before(void **state)
{
	(void)state;
	give_ranks();
	stop();
	write_blocks(&f, 50, 1, 'n');
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 50), 'n');
	assert_cold();
}

/* Neither number nor incarnation alone says which life it was. */
static void each_block_must_be_of_that_stop(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * BLOCKS; i++) {
		struct xp_hint *h;

		if (i)
			fixture_reopen(&f);
		else
			give_ranks();
		stop();
		h = hint_block(i / 2);
		*(i % 2 ? &h->seq : &h->incarnation) = cpu_to_le64(le64_to_cpu(i % 2 ? h->seq : h->incarnation) - 1);
		seal_hint(h);
		fixture_reopen(&f);
		assert_int_equal(f.c->ranks.restored, 0);
		assert_int_equal(rank_in(slot_of[0]), XP_RANK_RECOVERED);
	}
}

static void nor_is_one_of_another_cache(void **state)
{
	(void)state;
	give_ranks();
	stop();
	first_block()->uuid[3] ^= 1;
	seal_hint(first_block());
	fixture_reopen(&f);
	assert_cold();
}

static void a_torn_hint_is_none(void **state)
{
	(void)state;
	for (u32 i = 0; i < BLOCKS; i++) {
		stopped_anew();
		hint_block(i)->rank[2000] ^= 0x10;
		fixture_reopen(&f);
		assert_cold();
	}
}

static void an_unreadable_hint_is_none(void **state)
{
	(void)state;
	for (u32 i = 0; i < BLOCKS; i++) {
		stopped_anew();
		bad_block = place_of(i);
		f.media.read = read_but_one;
		fixture_reopen(&f);
		assert_cold();
	}
}

static int write_but_one(void *ctx, u64 block, u32 nr, const void *buf)
{
	return bad_block >= block && bad_block < block + nr ? -EIO : all_written(ctx, block, nr, buf);
}

/* It is the cache's blocks that the stop is for. */
static void one_that_cannot_be_written_is_none(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2; i++) {
		stopped_anew();
		fixture_reopen(&f);
		bad_block = place_of(i);
		f.media.write = write_but_one;
		stop();
		f.media.write = all_written;
		fixture_reopen(&f);
		assert_cold();
	}
}

/* Ranks of as many slots as there is room for. */
static void no_room_a_shorter_hint(void **state)
{
	(void)state;
	for (u32 blocks = 0; blocks < 2; blocks++) {
		u32 left = blocks;

		fixture_teardown(&f);
		fixture_setup(&f, FAST_BLOCKS, LBAS);
		give_ranks();
		for (u32 i = 0; i < f.c->nr_slots; i++)
			if (slots_is_free(f.c, i) && !(left && left--))
				slots_mark_used(f.c, i);
		stop();
		fixture_reopen(&f);
		assert_ranks_of(0, blocks ? 6 : 3);
	}
}

static void none_where_a_loss_is_accepted(void **state)
{
	(void)state;
	give_ranks();
	stop();
	f.opt.accept = XP_ACCEPT_LOSS;
	fixture_reopen(&f);
	assert_cold();
	stop();
	f.opt.accept = 0;
	fixture_reopen(&f);
	assert_cold();
}

static void none_of_a_cache_that_has_failed(void **state)
{
	(void)state;
	give_ranks();
	write_blocks(&f, 50, 1, 'n');
	xp_tick(f.c, &f.todo);
	fail_journal_for_good(&f);
	memset(first_block(), 0x5a, XP_BLOCK_SIZE);
	assert_int_not_equal(xp_close(f.c, &f.media), 0);
	assert_int_equal(first_block()->magic[0], 0x5a);
}

/* What is whole, and is none of a core's. */
static void ranks_are_made_true(void **state)
{
	(void)state;
	give_ranks();
	stop();
	hint_block(0)->rank[0] = XP_RANK(XP_RANK_YOUNG, 3) | XP_RANK(XP_RANK_COLD, 1) << 4;
	seal_hint(hint_block(0));
	fixture_reopen(&f);
	assert_int_equal(rank_in(0), XP_RANK(XP_RANK_YOUNG, 0));
	assert_int_equal(rank_in(1), XP_RANK(XP_RANK_NEW, 1));
	assert_int_equal(rank_in(slot_of[7]), rank_of(7));
}

static void assert_refused(void)
{
	seal_hint(first_block());
	fixture_reopen(&f);
	assert_cold();
	stopped_anew();
}

static void numbers_out_of_range_are_none(void **state)
{
	(void)state;
	give_ranks();
	stop();
	first_block()->main_hand = cpu_to_le32(f.c->nr_slots);
	assert_refused();
	first_block()->alloc_hand = cpu_to_le32(f.c->nr_slots + 1);
	assert_refused();
	first_block()->count = 0;
	assert_refused();
	first_block()->count = cpu_to_le32(XP_HINT_RANKS + 1);
	assert_refused();
	first_block()->first = cpu_to_le32(1);
	assert_refused();
	first_block()->next = cpu_to_le32(slot_of[2]);	/* a block of the cache */
	assert_refused();
	first_block()->nr_next = cpu_to_le32(BLOCKS);	/* one more than there are */
	assert_refused();
	first_block()->nr_next = cpu_to_le32(~0u);	/* what is past the device is not read */
	first_block()->next = cpu_to_le32(f.c->nr_slots - 1);
	seal_hint(first_block());
	fixture_reopen(&f);
	assert_ranks_of(0, 3);
}

/* A hint of fewer slots than there are by now, as of a fast device that has grown. */
static void slots_beyond_it_are_as_without(void **state)
{
	(void)state;
	give_ranks();
	stop();
	first_block()->nr_next = 0;
	seal_hint(first_block());
	fixture_reopen(&f);
	assert_ranks_of(0, 3);
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, FAST_BLOCKS, LBAS);
	all_read = f.media.read;
	all_written = f.media.write;
	return 0;
}

int main(void)
{
#define TEST(name)	TEST_WITH(name, setup, teardown_audited)
	const struct CMUnitTest tests[] = {
		TEST(ranks_survive_a_stop),
		TEST(those_of_dirty_blocks_do),
		TEST(slots_that_were_free_are),
		TEST(who_looks_sees_it),
		TEST(free_slots_may_lie_apart),
		TEST(the_last_stop_counts),
		TEST(an_open_journal_block_is_written_before_slots),
		TEST(an_open_journal_block_is_left_alone),
		TEST(older_versions_outlive_a_stop),
		TEST(no_more_is_written_than_slots_are_in_use),
		TEST(an_empty_cache_writes_none),
		TEST(a_hint_of_another_life_is_ignored),
		TEST(nor_is_one_of_the_same_life_before),
		TEST(each_block_must_be_of_that_stop),
		TEST(nor_is_one_of_another_cache),
		TEST(a_torn_hint_is_none),
		TEST(an_unreadable_hint_is_none),
		TEST(one_that_cannot_be_written_is_none),
		TEST(no_room_a_shorter_hint),
		TEST(none_where_a_loss_is_accepted),
		TEST(none_of_a_cache_that_has_failed),
		TEST(ranks_are_made_true),
		TEST(numbers_out_of_range_are_none),
		TEST(slots_beyond_it_are_as_without),
	};

	return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
