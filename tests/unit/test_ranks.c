// SPDX-License-Identifier: GPL-2.0-only
/* What a block is worth (rank.h): how it comes to its class, and who goes first. */
#include "fixture.h"
#include "checksum.h"
#include "ghost.h"
#include "look.h"
#include "policy.h"
#include "ranks.h"
#include "run.h"

#define LBAS	1000000u

static struct fixture f;

static struct xp_entry *entry(u64 lba)
{
	struct xp_mapping m;

	assert_true(xp_lookup(f.c, XP_LBA(lba), &m));
	return entry_of(f.c, m.slot);
}

static void assert_rank(u64 lba, enum xp_rank_class class, u32 freq)
{
	u32 rank = entry_rank(entry(lba));

	assert_int_equal(rank_class(rank), class);
	assert_int_equal(rank_freq(rank), freq);
}

static bool is_mapped(u64 lba)
{
	return mapped_byte(&f, lba) >= 0;
}

static void read_begin(struct xp_req *req, u64 lba)
{
	assert_int_equal(submit(&f, req, XP_READ, lba * 8, 8, false), XP_FAST);
}

static void read_block(u64 lba)
{
	struct xp_req req;

	if (!is_mapped(lba)) {
		fill_block(&f, lba, 'r');
		return;
	}
	read_begin(&req, lba);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void read_times(u64 lba, u32 times)
{
	while (times--)
		read_block(lba);
}

/* A write whose record goes in parallel with its data. */
static void write_durably(u64 lba)
{
	struct xp_req req;
	u64 hash;

	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8, 8, true), XP_COPY);
	assert_true(req.copy.parallel);
	memset(f.fast + req.target * 512, 'd', XP_BLOCK_SIZE);
	hash = xp_checksum(f.fast + req.target * 512, XP_BLOCK_SIZE);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
}

static void tick(u32 times)
{
	while (times--) {
		xp_tick(f.c, &f.todo);
		write_journal(&f);
	}
}

/* What is young is new. */
static void age(void)
{
	tick(XP_RANK_TICKS + 1);
}

/* The hand whose turn it is goes on until this one has another rank. */
static void its_turn(u64 lba)
{
	u32 was = entry_rank(entry(lba)), i, steps;

	for (i = 0; i < f.c->nr_slots && entry_rank(entry(lba)) == was; i++) {
		steps = 1;
		assert_false(is_slot(ranks_victim(f.c, &steps)));
	}
}

static void write_all_back(void)
{
	xp_write_back_all(f.c, true);
	while (f.c->nr_dirty)
		writeback_batch(&f, 0);
	xp_write_back_all(f.c, false);
}

/* A cache of which this much is of MAIN, with a frequency of one, and clean: lbas from 0 on. */
static u32 warm(u32 percent)
{
	u32 nr = f.c->nr_slots * percent / 100, i;

	for (i = 0; i < nr; i++)
		fill_block(&f, i, 'w');
	flush(&f);
	fixture_reopen(&f);
	return nr;
}

/* ------------------------------------------------------------- classes ---- */

static void hits_of_a_young_block_do_not_count(void **state)
{
	(void)state;
	fill_block(&f, 1, 'a');
	assert_rank(1, XP_RANK_YOUNG, 0);
	read_times(1, 5);
	assert_rank(1, XP_RANK_YOUNG, 0);
}

static void those_of_any_other_do_up_to_three(void **state)
{
	u32 i;

	(void)state;
	fill_block(&f, 1, 'a');
	age();
	for (i = 0; i <= XP_FREQ_MAX; i++, read_block(1))
		assert_rank(1, XP_RANK_NEW, i);
	assert_rank(1, XP_RANK_NEW, XP_FREQ_MAX);
	its_turn(1);
	assert_rank(1, XP_RANK_MAIN, XP_FREQ_MAX - 1);
	read_times(1, 2);
	assert_rank(1, XP_RANK_MAIN, XP_FREQ_MAX);
}

static void ticks_end_youth(void **state)
{
	(void)state;
	fill_block(&f, 1, 'a');
	tick(XP_RANK_TICKS - 1);
	assert_rank(1, XP_RANK_YOUNG, 0);
	fill_block(&f, 2, 'a');
	tick(2);
	assert_rank(1, XP_RANK_NEW, 0);
	assert_rank(2, XP_RANK_YOUNG, 0);
	tick(XP_RANK_TICKS);
	assert_rank(2, XP_RANK_NEW, 0);
}

static void others_end_youth(void **state)
{
	u32 i, steps = f.c->nr_slots;

	(void)state;
	fill_block(&f, LBAS / 2, 'a');
	age();			/* else there are only young ones: they must do */
	for (i = 0; i <= f.c->ranks.young_max; i++)
		fill_block(&f, i, 'a');
	assert_rank(0, XP_RANK_YOUNG, 0);
	ranks_victim(f.c, &steps);
	assert_rank(0, XP_RANK_NEW, 0);
	assert_rank(1, XP_RANK_YOUNG, 0);
}

static void new_and_asked_for_again_is_main(void **state)
{
	(void)state;
	fill_block(&f, 1, 'a');
	age();
	read_times(1, 2);
	assert_rank(1, XP_RANK_NEW, 2);
	its_turn(1);
	assert_rank(1, XP_RANK_MAIN, 1);
	its_turn(1);
	assert_rank(1, XP_RANK_MAIN, 0);
}

static void an_overwrite_keeps_the_class_and_counts(void **state)
{
	(void)state;
	write_blocks(&f, 1, 1, 'a');
	write_blocks(&f, 1, 1, 'b');
	assert_rank(1, XP_RANK_YOUNG, 0);
	tick(XP_RANK_TICKS);
	write_durably(1);	/* as new as one that comes now */
	tick(XP_RANK_TICKS - 1);
	assert_rank(1, XP_RANK_YOUNG, 0);
	age();
	assert_rank(1, XP_RANK_NEW, 0);
	write_blocks(&f, 1, 1, 'c');
	assert_rank(1, XP_RANK_NEW, 1);
	write_durably(1);
	assert_rank(1, XP_RANK_NEW, 2);
	its_turn(1);
	assert_rank(1, XP_RANK_MAIN, 1);
	write_durably(1);
	write_blocks(&f, 1, 1, 'd');
	write_blocks(&f, 1, 1, 'e');
	assert_rank(1, XP_RANK_MAIN, XP_FREQ_MAX);
}

static void recovered_is_main(void **state)
{
	(void)state;
	fill_block(&f, 1, 'a');
	write_blocks(&f, 2, 1, 'b');
	flush(&f);
	fixture_reopen(&f);
	assert_rank(1, XP_RANK_MAIN, 1);
	assert_rank(2, XP_RANK_MAIN, 1);
}

/* ------------------------------------------------------------ eviction ---- */

static bool is_main(u64 lba)
{
	return is_mapped(lba) && rank_class(entry_rank(entry(lba))) == XP_RANK_MAIN;
}

/* Of MAIN none, of the others those that came first. Few are taken for a ghost, and are of MAIN at once. */
static void a_scan_evicts_itself_in_order(void **state)
{
	u64 from = LBAS / 2, nr, i, gone = 0;
	u32 kept = warm(80), taken = 0;

	(void)state;
	nr = 10 * f.c->nr_slots;
	for (i = 0; i < nr; i++) {
		fill_block(&f, from + i, 's');
		taken += is_main(from + i);
	}
	assert_true(taken < nr / 100);
	for (i = 0; i < kept; i++)
		assert_rank(i, XP_RANK_MAIN, 1);
	for (i = 0; i < nr; i++)
		if (!is_mapped(from + i))
			gone = i;
	for (i = 0; i < gone; i++)
		assert_true(!is_mapped(from + i) || is_main(from + i));
	assert_in_range(nr - gone, f.c->ranks.new_max, f.c->nr_slots - kept);
	read_block(from + gone);
	assert_rank(from + gone, XP_RANK_MAIN, 1);
}

/* Of the blocks that were kept, which are asked for as often as the scan has read a cache, or never. */
static u32 left_by_a_scan(u32 kept, bool asked)
{
	u32 left = 0, i, j;

	for (i = 0; i < 20 * f.c->nr_slots; i++) {
		for (j = 0; asked && i % f.c->nr_slots == 0 && j < kept; j++)
			if (is_mapped(j))
				read_block(j);
		fill_block(&f, LBAS / 2 + i, 's');
	}
	for (i = 0; i < kept; i++)
		left += is_mapped(i);
	return left;
}

/* Full of MAIN: what is new has its part, and no more. */
static void a_scan_takes_a_part(void **state)
{
	u32 kept = warm(90);

	(void)state;
	assert_true(left_by_a_scan(kept, true) >= kept - f.c->ranks.new_max);
}

/* ... of what nobody asks for, two. */
static void a_scan_takes_two_of_a_stale_main(void **state)
{
	u32 kept = warm(90);

	(void)state;
	assert_true(left_by_a_scan(kept, false) >= kept - 2 * f.c->ranks.new_max);
}

static void main_goes_by_how_often_it_was_asked_for(void **state)
{
	u32 kept = warm(90), i;

	(void)state;
	for (i = 0; i < kept; i += 2)
		read_block(i);
	assert_int_equal(policy_evict(f.c, 32, true, &f.todo), 32);
	for (i = 0; i < kept; i += 2)
		assert_true(is_mapped(i));
}

static void cold_is_unmapped_when_written_back(void **state)
{
	struct xp_req read;

	(void)state;
	write_blocks(&f, 1, 4, 'a');
	read_begin(&read, 4);		/* while it is young */
	age();
	its_turn(1);
	its_turn(2);
	its_turn(4);
	assert_rank(1, XP_RANK_COLD, 0);
	read_block(2);
	write_blocks(&f, 2, 1, 'b');
	assert_rank(2, XP_RANK_COLD, 2);
	write_blocks(&f, 5, 1, 'a');
	write_all_back();
	assert_false(is_mapped(1));
	assert_rank(2, XP_RANK_MAIN, 1);
	assert_rank(4, XP_RANK_NEW, 0);	/* it is being read */
	assert_rank(5, XP_RANK_YOUNG, 0);
	read_block(1);
	assert_rank(1, XP_RANK_MAIN, 1);
	assert_int_equal(xp_end(f.c, &read, 0, &f.todo), XP_DONE);
}

static void a_block_of_zeros_leaves_no_ghost(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 1, 1, 'a');
	assert_int_equal(submit(&f, &req, XP_DISCARD, 8, 8, false), XP_DONE);
	write_journal(&f);
	assert_true(entry(1)->apart);
	write_all_back();
	assert_false(is_mapped(1));
	write_blocks(&f, 1, 1, 'b');
	assert_rank(1, XP_RANK_YOUNG, 0);
}

/* ------------------------------------------------------- no free slot ---- */

/* All of it is mapped and dirty, but for what is already there; and of MAIN, after a restart. */
static void write_the_rest(u64 lba)
{
	while (f.c->nr_free)
		write_blocks(&f, lba++, 1, 'a');
}

static u32 calls_until_some_are_evicted(void)
{
	u32 calls;

	for (calls = 1; calls < 1000 && !policy_evict(f.c, 1, true, &f.todo); calls++)
		;
	return calls;
}

static void without_a_free_slot_no_frequency_saves_all(void **state)
{
	u32 nr = f.c->nr_slots, i;

	(void)state;
	write_the_rest(0);
	flush(&f);
	fixture_reopen(&f);
	for (i = 0; i < nr; i++)
		read_times(i, 2);
	write_all_back();
	assert_int_equal(f.c->nr_clean, nr);
	assert_rank(nr - 1, XP_RANK_MAIN, XP_FREQ_MAX);
	assert_true(calls_until_some_are_evicted() <= XP_HURRY_MAX + 1);
	assert_int_equal(policy_evict(f.c, 1, true, &f.todo), 0);	/* and it counts again */
}

/* The one clean block of MAIN is read all the time. */
static void without_a_free_slot_a_pin_saves_its_own(void **state)
{
	struct xp_req read;
	u32 calls;
	u64 i;

	(void)state;
	fill_block(&f, 0, 'a');
	age();
	read_times(0, 2);
	its_turn(0);
	assert_rank(0, XP_RANK_MAIN, 1);
	read_begin(&read, 0);
	for (i = 1; f.c->nr_free > 30; i++)
		write_blocks(&f, i, 1, 'a');
	fill_block(&f, LBAS / 2, 'b');
	write_the_rest(f.c->nr_slots);
	assert_true(is_mapped(LBAS / 2));
	calls = calls_until_some_are_evicted();
	assert_true(calls <= XP_HURRY_MAX + f.c->nr_slots / 32);	/* half of 64 looks a call are the new hand's */
	assert_false(is_mapped(LBAS / 2));
	assert_true(is_mapped(0));
	assert_int_equal(xp_end(f.c, &read, 0, &f.todo), XP_DONE);
}

/* -------------------------------------------------------------- ghosts ---- */

/* Anywhere: 40 bits of it. */
static xp_lba_t any_lba(u64 i)
{
	i = (i + 1) * 0x9e3779b97f4a7c15ull;
	i = (i ^ i >> 31) * 0xbf58476d1ce4e5b9ull;
	return XP_LBA(i >> 24);
}

static void who_was_never_here_is_no_ghost(void **state)
{
	u32 nr = f.c->nr_slots, known = 0, i;

	(void)state;
	for (i = 0; i < 100000; i++)
		assert_false(ghost_knows(f.c, any_lba(i), ~0ull));
	for (i = 0; i < nr; i++)
		ghost_put(f.c, any_lba(i));
	for (i = 0; i < nr; i++)
		known += ghost_knows(f.c, any_lba(i), ~0ull);
	assert_in_range(known, nr / 3 * 2, nr);
	for (known = 0, i = nr; i < nr + 100000; i++)
		known += ghost_knows(f.c, any_lba(i), ~0ull);
	assert_in_range(known, 1, 100000 / 800);
}

/* Blocks at equal distances, as of a file or of one in so many: no more of them than of any. */
static void a_row_is_as_any_other(void **state)
{
	u32 nr = f.c->nr_slots, stride, known, i;

	(void)state;
	for (stride = 1; stride <= 256; stride *= 4) {
		for (i = 0; i < nr; i++)
			ghost_put(f.c, XP_LBA(i * stride));
		for (known = 0, i = 0; i < nr; i++)
			known += ghost_knows(f.c, XP_LBA(i * stride), ~0ull);
		assert_in_range(known, nr / 3 * 2, nr);
		for (known = 0, i = nr; i < nr + 100000; i++)
			known += ghost_knows(f.c, XP_LBA((u64)i * stride), ~0ull);
		assert_in_range(known, 1, 100000 / 700);
	}
}

static void one_too_many_pushes_the_first_out(void **state)
{
	u64 lba;

	(void)state;
	f.c->ranks.nr_ghosts = 1;
	for (lba = 1; lba <= XP_GHOSTS; lba++)
		ghost_put(f.c, XP_LBA(lba));
	assert_true(ghost_knows(f.c, XP_LBA(1), ~0ull));
	ghost_put(f.c, XP_LBA(lba));
	assert_false(ghost_knows(f.c, XP_LBA(1), ~0ull));
	for (lba = 2; lba <= XP_GHOSTS + 1; lba++)
		assert_true(ghost_knows(f.c, XP_LBA(lba), ~0ull));
}

/* A place in the word is the number of those that came since. */
static void four_ghosts(void)
{
	u64 lba;

	f.c->ranks.nr_ghosts = 1;
	for (lba = 1; lba <= 4; lba++)
		ghost_put(f.c, XP_LBA(LBAS / 2 + lba));
}

/* So many came since the main hand entered its part, as many more in the rest of the round. */
static void assert_in_time(u64 ghosts, u64 rest, bool in_time)
{
	u32 entered = (f.c->ranks.part + XP_RANK_PARTS - 1) % XP_RANK_PARTS;

	f.c->ranks.ghosted = rest + ghosts;
	memset(f.c->ranks.ghosted_at, 0, sizeof(f.c->ranks.ghosted_at));
	f.c->ranks.ghosted_at[entered] = rest;
	assert_int_equal(ranks_arrival(f.c, XP_LBA(LBAS / 2 + 1)),
			 in_time ? XP_RANK(XP_RANK_MAIN, 1) : XP_RANK(XP_RANK_YOUNG, 0));
}

static void a_late_ghost_does_not_count(void **state)
{
	(void)state;
	warm(90);
	four_ghosts();
	assert_in_time(6, 0, true);
	assert_in_time(6, 100, true);
	assert_in_time(5, 100, false);
	assert_int_equal(ranks_arrival(f.c, XP_LBA(LBAS / 2 + 2)), XP_RANK(XP_RANK_MAIN, 1));
}

/* The main hand goes over so many slots of MAIN, each with that frequency. */
static void main_hand_meets(u32 nr, u32 freq)
{
	u32 steps, i;

	for (i = 0; i < nr; i++) {
		u32 hand = f.c->ranks.main_hand;
		struct xp_entry *e = &f.c->entry[hand];

		if (e->state == SLOT_MAPPED)
			e->use = (u16)XP_RANK(XP_RANK_MAIN, freq);
		for (steps = 1; f.c->ranks.main_hand == hand; steps = 1)
			(void)ranks_victim(f.c, &steps);
	}
}

/* ... but with those of the whole round, where MAIN is not asked for. */
static void a_late_ghost_counts_where_main_is_not_asked_for(void **state)
{
	u32 nr;

	(void)state;
	nr = warm(90);
	four_ghosts();
	main_hand_meets(nr / 2, 0);
	assert_in_time(0, 6, true);
	assert_in_time(0, 5, false);
	main_hand_meets(nr / 2, 1);
	assert_in_time(0, 6, false);
}

static void a_few_that_are_not_asked_for_are_none(void **state)
{
	u32 nr, i;

	(void)state;
	nr = warm(90);
	four_ghosts();
	for (i = 0; i < nr; i++)
		main_hand_meets(1, i % 9 > 0);
	assert_in_time(0, 6, false);
	for (i = 0; i < nr; i++)
		main_hand_meets(1, i % 7 > 0);
	assert_in_time(0, 6, true);
}

static enum xp_rank_class class_of_victim(void)
{
	u32 steps = 4 * f.c->nr_slots;
	xp_slot_t slot = ranks_victim(f.c, &steps);

	assert_true(is_slot(slot));
	return rank_class(entry_rank(entry_of(f.c, slot)));
}

static void a_stale_main_leaves_more_to_what_is_new(void **state)
{
	u32 nr, i;

	(void)state;
	nr = warm(80);
	main_hand_meets(nr, 0);
	for (i = 0; i < f.c->ranks.new_max * 3 / 2; i++)
		fill_block(&f, LBAS / 2 + i, 'n');
	age();
	assert_int_equal(class_of_victim(), XP_RANK_MAIN);
	for (; i <= f.c->ranks.new_max * 2; i++)
		fill_block(&f, LBAS / 2 + i, 'n');
	age();
	assert_int_equal(class_of_victim(), XP_RANK_NEW);
}

static void a_main_that_is_asked_for_leaves_a_20th(void **state)
{
	u32 i;

	(void)state;
	warm(80);
	for (i = 0; i <= f.c->ranks.new_max; i++)
		fill_block(&f, LBAS / 2 + i, 'n');
	age();
	assert_int_equal(class_of_victim(), XP_RANK_NEW);
}

/* ... unless there is room. */
static void a_late_ghost_counts_in_a_cache_that_grows(void **state)
{
	(void)state;
	warm(40);
	ghost_put(f.c, XP_LBA(LBAS / 2));
	fill_block(&f, LBAS / 2, 'a');
	assert_rank(LBAS / 2, XP_RANK_MAIN, 1);
}

/* ----------------------------------------------------------- ghost hits ---- */

static void count_hits_of(u64 lba)
{
	ghost_count_hit(f.c, XP_LBA(lba));
}

/* Of evictions without end, those counted are as many as the slots that they stand for. */
static void a_ghost_hit_stands_for_so_many_slots(void **state)
{
	u32 nr = f.c->nr_slots, i;
	struct xp_stats s;

	(void)state;
	for (i = 0; i < 4 * nr; i++)
		ghost_put(f.c, any_lba(i));
	for (i = 0; i < 4 * nr; i++)
		ghost_count_hit(f.c, any_lba(i));
	s = stats_of(&f);
	assert_in_range(s.ghost_hits, nr * 69 / 100, nr * 71 / 100);
	assert_in_range(s.ghost_hits_quarter, nr * 24 / 100, nr * 26 / 100);
	for (i = 4 * nr - nr / 50; i < 4 * nr; i++)
		ghost_count_hit(f.c, any_lba(i));
	assert_true(stats_of(&f).ghost_hits_quarter - s.ghost_hits_quarter >= nr / 50 * 95 / 100);
}

/* What a stream has left may be in the oldest place of a word, and there alone. */
static void the_oldest_place_counts_no_ghost_hit(void **state)
{
	u64 lba;

	(void)state;
	f.c->ranks.nr_ghosts = 1;
	for (lba = 1; lba <= XP_GHOSTS; lba++)
		ghost_put(f.c, XP_LBA(lba));
	count_hits_of(1);
	assert_int_equal(stats_of(&f).ghost_hits, 0);
	ghost_put_last(f.c, XP_LBA(100));
	count_hits_of(100);
	assert_int_equal(stats_of(&f).ghost_hits, 0);
	for (u64 i = 1; i <= 100; i++)
		ghost_count_hit(f.c, XP_LBA(i));
	assert_int_equal(stats_of(&f).ghost_hits, XP_GHOSTS - 1);
	ghost_put(f.c, XP_LBA(200));
	count_hits_of(2);
	count_hits_of(100);
	assert_int_equal(stats_of(&f).ghost_hits, XP_GHOSTS - 1);
}

/* The block that was evicted last, of a scan. */
static u64 evicted_last(void)
{
	u64 from = LBAS / 2, i, gone = 0;

	warm(80);
	for (i = 0; i < f.c->nr_slots; i++)
		fill_block(&f, from + i, 's');
	for (i = 0; i < f.c->nr_slots; i++)
		if (!is_mapped(from + i))
			gone = from + i;
	return gone;
}

static void a_read_of_what_was_evicted_is_a_ghost_hit(void **state)
{
	u64 gone = evicted_last();
	struct xp_stats was = stats_of(&f), is;
	struct xp_req req;

	(void)state;
	submit(&f, &req, XP_READ, gone * 8, 8, false);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	is = stats_of(&f);
	assert_int_equal(is.ghost_hits, was.ghost_hits);
	read_times(gone, 2);
	read_block(LBAS - 1);
	is = stats_of(&f);
	assert_int_equal(is.ghost_hits, was.ghost_hits + 1);
	assert_int_equal(is.ghost_hits_quarter, was.ghost_hits_quarter + 1);
}

static void a_write_of_it_is_none(void **state)
{
	u64 gone = evicted_last();
	u64 was = stats_of(&f).ghost_hits;

	(void)state;
	write_blocks(&f, gone, 1, 'a');
	assert_int_equal(stats_of(&f).ghost_hits, was);
}

/* ------------------------------------------------------------------------- */

static int setup(void **state)
{
	return fixture_setup(*state, 2 * XP_DATA_ALIGN + 1000, LBAS);
}

int main(void)
{
#define TEST(name)	TEST_WITH(name, setup, teardown_audited)
	const struct CMUnitTest tests[] = {
		TEST(hits_of_a_young_block_do_not_count),
		TEST(those_of_any_other_do_up_to_three),
		TEST(ticks_end_youth),
		TEST(others_end_youth),
		TEST(new_and_asked_for_again_is_main),
		TEST(an_overwrite_keeps_the_class_and_counts),
		TEST(recovered_is_main),
		TEST(a_scan_evicts_itself_in_order),
		TEST(a_scan_takes_a_part),
		TEST(a_scan_takes_two_of_a_stale_main),
		TEST(main_goes_by_how_often_it_was_asked_for),
		TEST(cold_is_unmapped_when_written_back),
		TEST(a_block_of_zeros_leaves_no_ghost),
		TEST(without_a_free_slot_no_frequency_saves_all),
		TEST(without_a_free_slot_a_pin_saves_its_own),
		TEST(who_was_never_here_is_no_ghost),
		TEST(a_row_is_as_any_other),
		TEST(one_too_many_pushes_the_first_out),
		TEST(a_late_ghost_does_not_count),
		TEST(a_late_ghost_counts_where_main_is_not_asked_for),
		TEST(a_few_that_are_not_asked_for_are_none),
		TEST(a_stale_main_leaves_more_to_what_is_new),
		TEST(a_main_that_is_asked_for_leaves_a_20th),
		TEST(a_late_ghost_counts_in_a_cache_that_grows),
		TEST(a_ghost_hit_stands_for_so_many_slots),
		TEST(the_oldest_place_counts_no_ghost_hit),
		TEST(a_read_of_what_was_evicted_is_a_ghost_hit),
		TEST(a_write_of_it_is_none),
	};

	return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
