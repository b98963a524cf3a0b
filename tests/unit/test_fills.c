// SPDX-License-Identifier: GPL-2.0-only
/* test_fills.c - which misses are filled, and what holds a fill up. */
#include "fixture.h"
#include "layout.h"
#include "options.h"
#include "run.h"
#include "writeback.h"
#include "request.h"

#define LBAS 1000000

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, LBAS);
}

/* ------------------------------------------------------- bypass writes ---- */

/* A discard of what is not cached, to its end on the slow device. */
static void discard(u64 lba, u32 nr)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_DISCARD, lba * 8, nr * 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void slow_flush(void)
{
	struct xp_req req;

	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* Blocks of a miss that would be filled; none is. */
static u32 would_fill(u64 lba, u32 nr)
{
	struct xp_req req;
	enum xp_act act = submit(&f, &req, XP_READ, lba * 8, nr * 8, false);
	u32 filled = req.fill.nr_blocks;

	assert_int_equal(act, filled ? XP_SLOW_FILL : XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	return filled;
}

static void only_the_blocks_bypassed_hold_fills_up(void **state)
{
	(void)state;
	discard(100, 8);
	assert_int_equal(would_fill(99, 1), 1);
	assert_int_equal(would_fill(100, 1), 0);
	assert_int_equal(would_fill(107, 1), 0);
	assert_int_equal(would_fill(108, 1), 1);
	assert_int_equal(would_fill(90, 16), 10);
	assert_int_equal(would_fill(104, 16), 0);
	slow_flush();
	assert_int_equal(would_fill(90, 32), 32);
}

/* Nobody may come to flush: the tick does, but not before a fill wants it. */
static void a_fill_held_up_asks_for_the_flush(void **state)
{
	(void)state;
	discard(100, 8);
	assert_int_equal(would_fill(300, 8), 8);
	f.todo.tick = false;
	xp_tick(f.c, &f.todo);
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(would_fill(100, 8), 0);
	assert_true(f.todo.tick);
	xp_tick(f.c, &f.todo);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_int_equal(would_fill(100, 8), 8);
}

/* It covers what had ended when it was issued, and nothing else. */
static void a_flush_leaves_what_ended_behind_it(void **state)
{
	struct xp_req req;

	(void)state;
	discard(100, 8);
	discard(200, 8);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	discard(300, 8);
	discard(200, 1);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(would_fill(100, 8), 8);
	assert_int_equal(would_fill(200, 8), 0);
	assert_int_equal(would_fill(300, 8), 0);
}

static void a_failed_flush_leaves_all(void **state)
{
	struct xp_req req;

	(void)state;
	discard(100, 8);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(would_fill(100, 8), 0);
}

/* Also where its pieces come in any order. */
static void a_long_copy_is_one_range(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4096; i++)
		discard(1000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 1);
	for (i = 0; i < 64; i += 2)
		discard(100000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 33);
	for (i = 1; i < 64; i += 2)
		discard(100000 + i * 8, 8);
	assert_int_equal(f.c->unflushed.nr, 2);
	assert_int_equal(would_fill(999, 2), 1);
	assert_int_equal(would_fill(1000 + 4095 * 8 + 7, 1), 0);
	assert_int_equal(would_fill(1000 + 4096 * 8, 1), 1);
	assert_int_equal(would_fill(100000 + 63 * 8 + 7, 1), 0);
}

static void a_full_table_holds_all_up(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < XP_UNFLUSHED_MAX; i++)
		discard(i * 16, 8);
	assert_int_equal(would_fill(500000, 8), 8);
	discard(i * 16, 8);
	assert_int_equal(would_fill(500000, 8), 0);
	slow_flush();
	assert_int_equal(would_fill(500000, 8), 8);
	assert_int_equal(would_fill(0, 8), 8);
}

/* It takes place again before the table is full, if anybody fills. */
static void a_crowded_table_asks_for_a_flush_at_once(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < XP_UNFLUSHED_MAX / 2 + 1; i++)
		discard(i * 16, 8);
	assert_false(xp_writeback_wanted(f.c));
	f.todo.work = false;
	assert_int_equal(would_fill(500000, 8), 8);
	assert_true(f.todo.work);
	assert_true(xp_writeback_wanted(f.c));
	assert_true(xp_writeback_begin(f.c, &f.todo));
	assert_int_equal(would_fill(500000, 8), 8);
	xp_writeback_commit(f.c, 0, 0, &f.todo);
	assert_false(xp_writeback_wanted(f.c));
	assert_int_equal(f.c->unflushed.nr, 0);
}

/* A small discard after every tenth miss. */
static void discards_elsewhere_cost_no_fill(void **state)
{
	u64 i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		fill_block(&f, i * 16, 1);
		if (i % 10 == 0)
			discard(500000 + i % 500 * 16, 16);
	}
	assert_int_equal(stats_of(&f).fills, 2000);
}

/* ---------------------------------------------------------------- runs ---- */

#define SCATTERED	300u

/* The first slots are of blocks 0 on, and each second one is free. */
static void scatter(void)
{
	struct xp_link *link;
	struct xp_req req;
	u32 i;

	for (i = 0; i < SCATTERED; i++)
		fill_block(&f, i, 1);
	for (i = 1; i < SCATTERED; i += 2) {
		assert_int_equal(submit(&f, &req, XP_DISCARD, i * 8, 8, false), XP_WAIT);
		write_journal(&f);
		link = xp_list_pop(&f.todo.ready);
		assert_ptr_equal(link, &req.link);
		assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
	slow_flush();
	f.c->alloc_hand = 0;
}

static void read_missed(struct xp_req *req, u64 lba, u32 nr)
{
	assert_int_equal(submit(&f, req, XP_READ, lba * 8, nr * 8, false), XP_SLOW_FILL);
	assert_int_equal(req->nr_blocks, nr);
}

static void end_run(const struct xp_fill *run, int err)
{
	u32 i;

	for (i = 0; i < run->nr_blocks; i++)
		memset(slot_data(&f, slot_add(run->slot, i)), (int)(xp_lba_n(run->lba) + i), XP_BLOCK_SIZE);
	assert_int_equal(run->target, xp_slot_sector(f.c, run->slot));
	xp_fill_end(f.c, run, err, &f.todo);
	write_journal(&f);
}

static void a_fill_takes_slots_wherever_they_are(void **state)
{
	u32 runs = 0, blocks = 0;
	struct xp_fill run;
	struct xp_req req;

	(void)state;
	scatter();
	read_missed(&req, 5000, 16);
	assert_int_equal(req.fill.nr_blocks, 16);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	for (; xp_fill_run(f.c, &req.fill, &run); runs++) {
		assert_int_equal(xp_lba_n(run.lba), 5000 + blocks);
		assert_int_equal(xp_slot_n(run.slot), 2 * runs + 1);
		blocks += run.nr_blocks;
		end_run(&run, 0);
	}
	assert_int_equal(runs, 16);
	assert_int_equal(blocks, 16);
	for (u64 lba = 5000; lba < 5016; lba++)
		assert_int_equal(mapped_byte(&f, lba), lba % 256);
	assert_int_equal(mapped_byte(&f, 0), 1);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5015), 5015 % 256);
}

/* What is found with the lock held is so much, and the rest of the blocks is not filled. */
static void a_fill_takes_so_many_runs(void **state)
{
	struct xp_req req;

	(void)state;
	scatter();
	f.c->opt.stream_kib = XP_DEFAULT_STREAM_KIB;	/* else it is too long */
	read_missed(&req, 5000, 140);
	assert_int_equal(req.fill.nr_blocks, XP_FILL_RUNS_MAX);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.fill.nr_blocks, 0);
}

/* A run that the device fails, and one that a write has overtaken: the others land. */
static void each_run_ends_for_itself(void **state)
{
	u32 free = (scatter(), stats_of(&f).free), n = 0;
	struct xp_fill run;
	struct xp_req req;

	(void)state;
	read_missed(&req, 5000, 6);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_blocks(&f, 5004, 1, 99);
	for (; xp_fill_run(f.c, &req.fill, &run); n++)
		end_run(&run, n == 1 ? -EIO : 0);
	assert_int_equal(n, 6);
	assert_int_equal(mapped_byte(&f, 5000), 5000 % 256);
	assert_int_equal(mapped_byte(&f, 5001), -1);
	assert_int_equal(mapped_byte(&f, 5003), 5003 % 256);
	assert_int_equal(mapped_byte(&f, 5004), 99);
	assert_int_equal(mapped_byte(&f, 5005), 5005 % 256);
	assert_int_equal(stats_of(&f).free, free - 5);
	assert_int_equal(stats_of(&f).fills_dropped, 2);
}

static void a_fill_given_back_frees_all_runs(void **state)
{
	u32 free = (scatter(), stats_of(&f).free);
	struct xp_req req;

	(void)state;
	read_missed(&req, 5000, 16);
	assert_int_equal(stats_of(&f).free, free - 16);
	xp_fill_end(f.c, &req.fill, -ENOMEM, &f.todo);
	assert_int_equal(stats_of(&f).free, free);
	req.fill.nr_blocks = 0;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	read_missed(&req, 5000, 16);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(stats_of(&f).free, free);
}

/* -------------------------------------------------------- off the grid ---- */

static void is_read_as(const struct xp_req *req, u64 lba, u32 nr)
{
	struct xp_fill left = req->fill, run;
	u64 sector;
	u32 nr_sectors;

	assert_true(xp_fill_run(f.c, &left, &run));
	assert_int_equal(xp_lba_n(run.lba), lba);
	assert_int_equal(req->fill.nr_blocks, nr);
	xp_fill_read(f.c, req, &sector, &nr_sectors);
	assert_int_equal(sector, lba * 8);
	assert_int_equal(nr_sectors, nr * 8);
}

static void is_filled(struct xp_req *req)
{
	struct xp_fill run;

	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_DONE);
	while (xp_fill_run(f.c, &req->fill, &run))
		end_run(&run, 0);
}

static void a_read_within_a_block_fills_it(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8 + 3, 2, false), XP_SLOW_FILL);
	is_read_as(&req, 5000, 1);
	is_filled(&req);
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapped_byte(&f, 5000), 5000 % 256);
}

/* As of a partition that begins at sector 63. */
static void a_read_over_two_halves_fills_both(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8 + 7, 8, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_sectors, 8);
	is_read_as(&req, 5000, 2);
	is_filled(&req);
	assert_int_equal(mapped_byte(&f, 5001), 5001 % 256);
	assert_int_equal(submit(&f, &req, XP_READ, 5001 * 8 + 7, 8, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 1);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, 5002 * 8, 7, false), XP_SLOW_FILL);
	is_read_as(&req, 5002, 1);
	is_filled(&req);
}

/* The next read has a block of it, while its fill is under way. */
static void the_rest_is_filled_beside_a_fill(void **state)
{
	struct xp_req req, next;
	u64 sector;
	u32 nr;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8 + 7, 8, false), XP_SLOW_FILL);
	assert_int_equal(submit(&f, &next, XP_READ, 5001 * 8 + 7, 8, false), XP_SLOW_FILL);
	assert_int_equal(next.fill.nr_blocks, 1);
	xp_fill_read(f.c, &next, &sector, &nr);
	assert_int_equal(sector, 5001 * 8);
	assert_int_equal(nr, 16);
	is_filled(&req);
	is_filled(&next);
	assert_int_equal(mapped_byte(&f, 5001), 5001 % 256);
	assert_int_equal(mapped_byte(&f, 5002), 5002 % 256);
}

/* A write of the half that nobody has asked for. */
static void a_write_beside_it_ends_its_fill(void **state)
{
	struct xp_fill run;
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8 + 7, 2, false), XP_SLOW_FILL);
	write_blocks(&f, 5000, 1, 99);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	while (xp_fill_run(f.c, &req.fill, &run))
		end_run(&run, 0);
	assert_int_equal(mapped_byte(&f, 5000), 99);
	assert_int_equal(mapped_byte(&f, 5001), 5001 % 256);
}

static void the_short_last_block_is_not_filled(void **state)
{
	u64 sector, last = (u64)LBAS * 8;
	struct xp_req req;
	u32 nr;

	(void)state;
	f.c->slow_sectors += 5;
	assert_int_equal(submit(&f, &req, XP_READ, last + 1, 2, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, last - 1, 6, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_sectors, 6);
	assert_int_equal(req.fill.nr_blocks, 1);
	xp_fill_read(f.c, &req, &sector, &nr);
	assert_int_equal(sector, last - 8);
	assert_int_equal(nr, 13);
	is_filled(&req);
}

/* A sector beside those of the caller cannot be read. Its error is not the caller's. */
static void what_is_beside_it_need_not_be_readable(void **state)
{
	u32 free = stats_of(&f).free;
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8 + 7, 8, false), XP_SLOW_FILL);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(stats_of(&f).free, free);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(req.sector, 5000 * 8 + 7);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);

	/* It is not tried again. */
	assert_int_equal(submit(&f, &req, XP_READ, 5001 * 8, 4, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	read_missed(&req, 5002, 1);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
}

/* -------------------------------------------------------- small caches ---- */

static u64 seed;

static u64 draw(u64 below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

/* A read of @nr blocks anywhere, to its end. */
static void read_anywhere(u32 nr)
{
	struct xp_fill run;
	struct xp_req req;
	enum xp_act act = submit(&f, &req, XP_READ, draw(LBAS - nr) * 8, nr * 8, false);

	if (act == XP_FAST || act == XP_SLOW || act == XP_SLOW_FILL)
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	while (act == XP_SLOW_FILL && xp_fill_run(f.c, &req.fill, &run))
		xp_fill_end(f.c, &run, 0, &f.todo);
	write_journal(&f);
}

static void setup_slots(u32 slots)
{
	u64 fast_blocks = slots;
	struct xp_message msg;
	struct xp_sb sb;

	do
		memset(&sb, 0, sizeof(sb));
	while (xp_sb_layout(&sb, ++fast_blocks, &msg) || le64_to_cpu(sb.nr_slots) < slots);
	fixture_teardown(&f);
	fixture_setup(&f, fast_blocks, LBAS);
}

/* Reads nobody knows of, with a tick each 500: how many of a thousand blocks are filled, and how many
 * journal blocks a thousand fills cost. */
static void misses(u32 slots, u32 nr, u32 *filled, u32 *commits)
{
	u32 i, reads = 20000 / nr;
	struct xp_stats before, s;

	setup_slots(slots);
	before = stats_of(&f);
	for (i = 0; i < reads; i++) {
		read_anywhere(nr);
		if (i % 500 == 0)
			xp_tick(f.c, &f.todo);
		write_journal(&f);
	}
	s = stats_of(&f);
	*filled = (u32)(s.fills * 1000 / (reads * nr));
	*commits = (u32)((s.journal_writes - before.journal_writes) * 1000 / s.fills);
}

/* Between the two free marks a small cache stopped, or it would write a journal block for each eviction. */
static void small_caches_go_on_filling(void **state)
{
	static const struct { u32 slots, commits; } cache[] = {
		{ 256, 150 }, { 1000, 50 }, { 1512, 50 }, { 4096, 50 }, { 16000, 50 }
	};
	u32 i, filled, commits;

	(void)state;
	for (i = 0; i < sizeof(cache) / sizeof(*cache); i++) {
		misses(cache[i].slots, 1, &filled, &commits);
		print_message("# %u slots: %u of 1000 misses filled, %u journal blocks for 1000 fills\n",
			      f.c->nr_slots, filled, commits);
		assert_true(filled >= 950);
		assert_true(commits <= cache[i].commits);
	}
}

/* Of them some blocks are not: three use up what is free before a commit. */
static void longer_misses_are_filled_as_well(void **state)
{
	u32 filled, commits;

	(void)state;
	misses(1512, 16, &filled, &commits);
	print_message("# misses of 16 blocks: %u of 1000 filled, %u journal blocks for 1000 fills\n", filled, commits);
	assert_true(filled >= 800);
	assert_true(commits <= 50);
}

/* Not all or nothing. */
static void a_fill_takes_what_can_be_spared(void **state)
{
	u32 spare = f.c->low_free / 4 + 11;
	struct xp_req req;

	(void)state;
	while (f.c->nr_free > spare)
		write_blocks(&f, 900000 + f.c->nr_free, 1, 1);
	read_missed(&req, 5000, 16);
	assert_int_equal(req.fill.nr_blocks, 10);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(only_the_blocks_bypassed_hold_fills_up),
		T(a_fill_held_up_asks_for_the_flush),
		T(a_flush_leaves_what_ended_behind_it),
		T(a_failed_flush_leaves_all),
		T(a_long_copy_is_one_range),
		T(a_full_table_holds_all_up),
		T(a_crowded_table_asks_for_a_flush_at_once),
		T(discards_elsewhere_cost_no_fill),
		T(a_fill_takes_slots_wherever_they_are),
		T(a_fill_takes_so_many_runs),
		T(each_run_ends_for_itself),
		T(a_fill_given_back_frees_all_runs),
		T(small_caches_go_on_filling),
		T(longer_misses_are_filled_as_well),
		T(a_fill_takes_what_can_be_spared),
		T(a_read_within_a_block_fills_it),
		T(a_read_over_two_halves_fills_both),
		T(the_rest_is_filled_beside_a_fill),
		T(a_write_beside_it_ends_its_fill),
		T(the_short_last_block_is_not_filled),
		T(what_is_beside_it_need_not_be_readable),
	};

	return cmocka_run_group_tests_name("fills", tests, NULL, NULL);
}
