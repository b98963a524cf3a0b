// SPDX-License-Identifier: GPL-2.0-only
/* test_span.c - misses and the hits between them, read from the slow device at once. */
#include "fixture.h"
#include "ghost.h"
#include "map.h"
#include "run.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

/* ------------------------------------------------------------- helpers ---- */

/* Every second block from @lba + 1 on is cached, clean. */
static void cache_every_second(u64 lba, u32 nr)
{
	for (u32 i = 1; i < nr; i += 2)
		fill_block(&f, lba + i, 100 + (int)i % 100);
}

/* What a read of @nr blocks from @lba on, which begins with a miss, is answered for. */
static u32 asked_at_once(u64 lba, u32 nr)
{
	struct xp_req req;
	enum xp_act act = submit(&f, &req, XP_READ, lba * 8, nr * 8, false);

	assert_true(act == XP_SLOW || act == XP_SLOW_FILL);
	xp_fill_end(f.c, &req.fill, -ENOMEM, &f.todo);
	req.fill.nr_blocks = 0;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	return req.nr_blocks;
}

static void fill_runs(struct xp_req *req)
{
	struct xp_fill run;

	while (xp_fill_run(f.c, &req->fill, &run)) {
		for (u32 i = 0; i < run.nr_blocks; i++)
			memset(f.fast + (run.target + i * 8) * 512, (int)(xp_lba_n(run.lba) + i) % 100, XP_BLOCK_SIZE);
		xp_fill_end(f.c, &run, 0, &f.todo);
		write_journal(&f);
	}
}

/* --------------------------------------------------------------- tests ---- */

static void a_mixed_range_is_one_read(void **state)
{
	struct xp_req req;
	u64 sector;
	u32 nr;

	(void)state;
	cache_every_second(5000, 63);
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8, 63 * 8, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_blocks, 63);
	assert_int_equal(req.fill.nr_blocks, 32);
	xp_fill_read(f.c, &req, &sector, &nr);
	assert_int_equal(sector, 5000 * 8);
	assert_int_equal(nr, 63 * 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	fill_runs(&req);
	for (u32 i = 0; i < 63; i++)
		assert_int_equal(mapped_byte(&f, 5000 + i), i % 2 ? 100 + (int)i : (int)i);
}

/* They are read from the fast device. */
static void hits_at_its_end_are_not(void **state)
{
	(void)state;
	cache_every_second(5000, 4);
	fill_block(&f, 5004, 1);
	assert_int_equal(asked_at_once(5000, 5), 3);
}

static void writes_under_way_end_no_span(void **state)
{
	struct xp_req write, read;

	(void)state;
	cache_every_second(5000, 8);
	assert_int_equal(submit(&f, &write, XP_WRITE, 5004 * 8, 8, false), XP_FAST);
	assert_int_equal(submit(&f, &read, XP_READ, 5000 * 8, 7 * 8, false), XP_SLOW_FILL);
	assert_int_equal(read.nr_blocks, 7);
	assert_int_equal(read.fill.nr_blocks, 3);
	assert_int_equal(xp_end(f.c, &read, 0, &f.todo), XP_DONE);
	fill_runs(&read);
	assert_int_equal(mapped_byte(&f, 5004), -1);
	assert_int_equal(mapped_byte(&f, 5006), 6);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_DONE);
}

/* An access of 90 us, and 2 us a block. */
static void time_as_flash(void)
{
	f.c->disk.access_ns = 90000;
	f.c->disk.block_ns = 2000;
}

/* As long as the blocks between cost less than what they save. */
static void it_pays_or_is_not_done(void **state)
{
	(void)state;
	for (u32 i = 1; i <= 100; i++)
		fill_block(&f, 5000 + i, 7);
	fill_block(&f, 7001, 7);
	assert_int_equal(asked_at_once(5000, 102), 102);	/* 2.8 ms of a disk's for one of 8 */
	assert_int_equal(asked_at_once(7000, 3), 3);
	time_as_flash();
	assert_int_equal(asked_at_once(5000, 102), 1);
	assert_int_equal(asked_at_once(7000, 3), 3);
	fill_block(&f, 8001, 7);
	assert_int_equal(asked_at_once(8000, 60), 1);		/* two pieces of 120 us at once for one access */
}

/* 5000 to 5023: four misses, four hits, eight misses, six hits, two misses. */
static void cache_in_turns(void)
{
	for (u32 i = 4; i < 8; i++)
		fill_block(&f, 5000 + i, 1);
	for (u32 i = 16; i < 22; i++)
		fill_block(&f, 5000 + i, 1);
}

/* The disk's head is there, and has to be where the next one begins. */
static void what_goes_on_has_hits_at_both_ends(void **state)
{
	(void)state;
	cache_in_turns();
	assert_int_equal(asked_at_once(5000, 8), 4);	/* begins anew */
	assert_int_equal(asked_at_once(5008, 12), 12);
	assert_int_equal(asked_at_once(5020, 4), 4);
	for (u32 i = 16; i < 22; i++)
		assert_int_equal(pins_of(&f, 5000 + i), 0);
}

static void a_hit_that_goes_on_is_one(void **state)
{
	struct xp_req req;

	(void)state;
	cache_in_turns();
	assert_int_equal(asked_at_once(5008, 8), 8);
	assert_int_equal(submit(&f, &req, XP_READ, 5016 * 8, 6 * 8, false), XP_FAST);
	assert_int_equal(req.nr_blocks, 6);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, 5016 * 8, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void flash_has_no_head(void **state)
{
	struct xp_req req;

	(void)state;
	cache_in_turns();
	time_as_flash();
	assert_int_equal(asked_at_once(5000, 8), 4);
	assert_int_equal(asked_at_once(5008, 12), 8);
	assert_int_equal(submit(&f, &req, XP_READ, 5016 * 8, 8 * 8, false), XP_FAST);
	assert_int_equal(req.nr_blocks, 6);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* Whether it is asked with the lock or without, a block has been asked for once. */
static void hits_at_its_beginning_are_asked_for_once(void **state)
{
	(void)state;
	cache_in_turns();
	for (u32 i = 0; i < 5; i++)	/* not YOUNG any more */
		xp_tick(f.c, &f.todo);
	f.c->disk.next = 5016;
	assert_int_equal(asked_at_once(5016, 8), 8);
	for (u32 i = 17; i < 22; i++)
		assert_int_equal(rank_freq(word_use(entry_of(f.c, map_mapped(f.c, XP_LBA(5000 + i)))->word)), 1);
}

/* Cached in other slots, it is a hit, and the next. */
static void slots_that_do_not_adjoin_are_no_miss(void **state)
{
	struct xp_req req;

	(void)state;
	for (u32 i = 8; i; i--)
		fill_block(&f, 5000 + i - 1, 1);
	for (u32 i = 0; i < 8; i++) {
		f.c->disk.next = 5000;
		assert_int_equal(xp_hit(f.c, (submit(&f, &req, XP_READ, (5000 + i) * 8, (8 - i) * 8, false), &req)), XP_HIT);
		assert_int_equal(req.nr_blocks, 1);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
}

/* What would take longer than an access is left to the fast device; as is what lies behind the head. */
static void a_long_hit_is_read_as_one(void **state)
{
	struct xp_req req;

	(void)state;
	for (u32 i = 0; i < 255; i++)
		fill_block(&f, 5000 + i, 1);
	f.c->disk.block_ns = 50000;
	for (u32 i = 0; i < 2; i++) {
		f.c->disk.next = i ? 5001 : 5000 - 100;
		assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8, 256 * 8, false), XP_FAST);
		assert_int_equal(req.nr_blocks, 255);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
}

/* A sector below a hit cannot be read: the hit is not an error, nor are the misses. */
static void a_slow_error_comes_again_in_pieces(void **state)
{
	struct xp_req req;

	(void)state;
	cache_every_second(5000, 4);
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8, 3 * 8, false), XP_SLOW_FILL);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(req.nr_blocks, 1);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	req.sector += 8;
	req.nr_sectors = 16;
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* A read of @nr blocks to its end, of a disk that fails each read of block @bad; how often it did. */
static u32 failures(u64 lba, u32 nr, u64 bad)
{
	u64 end = (lba + nr) * 8;
	u32 failed = 0;
	struct xp_req req;
	enum xp_act act = submit(&f, &req, XP_READ, lba * 8, nr * 8, false);

	for (;;) {
		bool slow = act == XP_SLOW || act == XP_SLOW_FILL;
		bool fails = slow && req.sector <= bad * 8 && bad * 8 < req.sector + req.nr_sectors;

		failed += fails;
		act = xp_end(f.c, &req, fails ? -EIO : 0, &f.todo);
		if (act == XP_WAIT) {
			assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
		} else {
			assert_int_equal(req.err, 0);
			if (slow)
				fill_runs(&req);
			req.sector += req.nr_sectors;
		}
		if (req.sector == end)
			return failed;
		req.nr_sectors = (u32)(end - req.sector);
		act = xp_submit(f.c, &req, &f.todo);
	}
}

static void a_bad_sector_below_a_hit_is_met_once(void **state)
{
	(void)state;
	cache_every_second(5000, 255);
	assert_int_equal(failures(5000, 255, 5201), 1);
	assert_int_equal(failures(5000, 255, 5201), 0);
}

/* They have been evicted, and came back. */
static void hits_between_are_no_ghost_hits(void **state)
{
	(void)state;
	cache_every_second(5000, 63);
	for (u32 i = 1; i < 63; i += 2)
		ghost_put(f.c, XP_LBA(5000 + i));
	assert_int_equal(asked_at_once(5000, 63), 63);
	assert_int_equal(stats_of(&f).ghost_hits, 0);
}

static void all_misses_of_a_long_one_are_filled(void **state)
{
	struct xp_req req;

	(void)state;
	cache_every_second(5000, 120);
	assert_int_equal(submit(&f, &req, XP_READ, 5000 * 8, 119 * 8, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_blocks, 119);
	assert_int_equal(req.fill.nr_blocks, 60);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	fill_runs(&req);
}

/* As often as it is found there. */
static void hits_between_are_asked_for(void **state)
{
	u32 evicted = (u32)stats_of(&f).evicted;
	struct xp_req req;

	(void)state;
	cache_every_second(5000, 4);
	for (u32 i = 0; i < 5; i++)	/* not YOUNG any more */
		xp_tick(f.c, &f.todo);
	for (u32 i = 0; i < 20; i++)
		assert_int_equal(asked_at_once(5000, 3), 3);
	for (u32 i = 0; i < 3 * f.c->nr_slots; i++) {
		submit(&f, &req, XP_READ, (10000 + i) * 8, 8, false);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		fill_runs(&req);
		if (i % 500 == 0)
			xp_tick(f.c, &f.todo);
		write_journal(&f);
	}
	assert_true(stats_of(&f).evicted > evicted);
	assert_int_not_equal(mapped_byte(&f, 5001), -1);
	assert_int_equal(mapped_byte(&f, 5003), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_mixed_range_is_one_read),
		T(hits_at_its_end_are_not),
		T(writes_under_way_end_no_span),
		T(it_pays_or_is_not_done),
		T(what_goes_on_has_hits_at_both_ends),
		T(a_hit_that_goes_on_is_one),
		T(flash_has_no_head),
		T(hits_at_its_beginning_are_asked_for_once),
		T(slots_that_do_not_adjoin_are_no_miss),
		T(a_long_hit_is_read_as_one),
		T(a_slow_error_comes_again_in_pieces),
		T(a_bad_sector_below_a_hit_is_met_once),
		T(hits_between_are_no_ghost_hits),
		T(all_misses_of_a_long_one_are_filled),
		T(hits_between_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
