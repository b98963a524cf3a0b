// SPDX-License-Identifier: GPL-2.0-only
/*
 * Discards and writes of zeroes: one request below where nothing is dirty, whatever its length;
 * and whoever waits for a place around the cache comes in order, once.
 */
#include "fixture.h"

#define LBAS	(1u << 28)		/* 1 TiB */
#define GIB	(1u << 21)		/* sectors */

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, LBAS);
}

/* Submits again what the core has let go; returns the last answer, and how many there were. */
static enum xp_act again(u32 nr_sectors, u32 *times)
{
	enum xp_act act = XP_WAIT;
	struct xp_link *link;

	while ((link = xp_list_pop(&f.todo.ready))) {
		struct xp_req *req = container_of(link, struct xp_req, link);

		req->nr_sectors = nr_sectors;
		act = xp_submit(f.c, req, &f.todo);
		++*times;
	}
	return act;
}

/* Journal writes and further submissions, until it is to be sent or over. */
static enum xp_act until_sent(struct xp_req *req, enum xp_act act)
{
	u32 nr_sectors = req->nr_sectors, times = 0;

	while (act == XP_WAIT) {
		write_journal(&f);
		act = again(nr_sectors, &times);
		assert_true(times < 100);
	}
	return act;
}

static void what_is_not_mapped_is_one_request(void **state)
{
	static const u8 op[] = { XP_DISCARD, XP_ZEROES };
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 2, 3);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(submit(&f, &req, op[i], GIB, GIB, false), XP_SLOW);
		assert_int_equal(req.nr_sectors, GIB);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
	assert_int_equal(stats_of(&f).discard_blocks, 2 * GIB / XP_BLOCK_SECTORS);
	assert_int_equal(stats_of(&f).write_bypass_blocks, 0);
}

/* More of them than the journal takes at once, here and there. */
static void clean_blocks_are_dropped(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	for (i = 0; i < 2000; i++)
		fill_block(&f, 100 + i * 3, 7);
	assert_int_equal(stats_of(&f).clean, 2000);
	assert_int_equal(until_sent(&req, submit(&f, &req, XP_DISCARD, 0, GIB, false)), XP_SLOW);
	assert_int_equal(req.nr_sectors, GIB);
	assert_int_equal(stats_of(&f).clean, 0);
	assert_int_equal(stats_of(&f).dirty, 0);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);

	/* I8: their ends were on the medium before. */
	fixture_reopen(&f);
	assert_int_equal(stats_of(&f).clean, 0);
}

/* In the first block of each region, wherever they begin; and more in one than it counts. */
static void none_is_overlooked(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	for (i = 0; i < 60; i++)
		fill_block(&f, (u64)i << 20, 7);
	for (i = 0; i < 600; i++)
		fill_block(&f, 1000 + i, 7);
	assert_int_equal(stats_of(&f).clean, 660);
	assert_int_equal(until_sent(&req, submit(&f, &req, XP_DISCARD, 8000, 255 * 8, false)), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(stats_of(&f).clean, 405);
	assert_int_equal(until_sent(&req, submit(&f, &req, XP_DISCARD, 0, LBAS * 8, false)), XP_SLOW);
	assert_int_equal(stats_of(&f).clean, 0);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void long_zeroes_drop_them_as_well(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 100, 7);
	assert_int_equal(until_sent(&req, submit(&f, &req, XP_ZEROES, 0, GIB, false)), XP_SLOW);
	assert_int_equal(req.nr_sectors, GIB);
	assert_int_equal(stats_of(&f).clean, 0);
	xp_end(f.c, &req, 0, &f.todo);
}

static void short_zeroes_are_a_record(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 100, 7);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 800, 8, false), XP_DONE);
	assert_int_equal(stats_of(&f).dirty, 1);
	assert_int_equal(submit(&f, &req, XP_READ, 800, 8, false), XP_ZERO);
}

static void a_run_of_dirty_ones_is_one_request_more(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 50, 7);
	write_blocks(&f, 100, 3, 1);
	assert_int_equal(until_sent(&req, submit(&f, &req, XP_DISCARD, 0, GIB, false)), XP_SLOW);
	assert_int_equal(req.nr_sectors, 800);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 800, GIB - 800, false), XP_DONE);
	assert_int_equal(req.nr_sectors, 24);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 824, GIB - 824, false), XP_SLOW);
	assert_int_equal(req.nr_sectors, GIB - 824);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(submit(&f, &req, XP_READ, 800, 24, false), XP_ZERO);
}

static void a_device_without_discards_gets_none(void **state)
{
	struct xp_req req;

	(void)state;
	fixture_teardown(&f);
	fixture_setup(&f, 8192, LBAS);
	f.opt.slow_discards = false;
	fixture_reopen(&f);
	fill_block(&f, 50, 7);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 0, GIB, false), XP_DONE);
	assert_int_equal(req.nr_sectors, GIB);
	assert_int_equal(mapped_byte(&f, 50), 7);
}

/* Nobody gets at what it has looked at; all come after it. */
static void others_wait_while_mappings_end(void **state)
{
	struct xp_req req, write, read;
	u32 times = 0;

	(void)state;
	fill_block(&f, 100, 7);
	write_journal(&f);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 0, GIB, false), XP_WAIT);
	assert_int_equal(submit(&f, &write, XP_WRITE, 1600, 8, false), XP_WAIT);
	assert_int_equal(submit(&f, &read, XP_READ, 800, 8, false), XP_SLOW);
	assert_int_equal(read.fill.nr_blocks, 0);
	xp_end(f.c, &read, 0, &f.todo);
	write_journal(&f);
	assert_int_equal(again(GIB, &times), XP_SLOW);
	assert_int_equal(times, 1);
	xp_end(f.c, &req, 0, &f.todo);
	assert_int_equal(again(8, &times), XP_FAST);
	assert_int_equal(xp_end(f.c, &write, 0, &f.todo), XP_DONE);
}

static void a_journal_that_fails_meanwhile_ends_it(void **state)
{
	struct xp_req req;
	u32 times = 0;

	(void)state;
	write_blocks(&f, 7, 1, 1);	/* something dirty: nothing passes */
	flush(&f);
	fill_block(&f, 100, 7);
	write_journal(&f);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 800, GIB, false), XP_WAIT);
	fail_journal_for_good(&f);
	assert_int_equal(f.c->bypass_running, 0);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(again(GIB, &times), XP_WAIT);
}

/* As blkdiscard -z sends them. */
static void whoever_waits_for_a_place_comes_once_and_in_order(void **state)
{
	enum { N = 16000 };
	struct xp_req *req = calloc(N, sizeof(*req));
	u32 sent = 0, i, submissions = N;
	struct xp_link *link;

	(void)state;
	for (i = 0; i < N; i++) {
		enum xp_act act = submit(&f, &req[i], XP_ZEROES, i * 1024ull, 1024, false);

		assert_int_equal(act, i < XP_BYPASS_MAX ? XP_SLOW : XP_WAIT);
	}
	assert_true(xp_crowded(f.c));
	for (; sent < N; sent++) {
		assert_int_equal(xp_end(f.c, &req[sent], 0, &f.todo), XP_DONE);
		while ((link = xp_list_pop(&f.todo.ready))) {
			assert_ptr_equal(container_of(link, struct xp_req, link), &req[sent + XP_BYPASS_MAX]);
			assert_int_equal(xp_submit(f.c, &req[sent + XP_BYPASS_MAX], &f.todo), XP_SLOW);
			submissions++;
		}
	}
	assert_int_equal(submissions, 2 * N - XP_BYPASS_MAX);
	assert_false(xp_crowded(f.c));
	assert_int_equal(f.c->bypass_running, 0);
	free(req);
}

/* It had to wait, and is a hit of a free slot by then: its place is the next one's. */
static void a_place_that_is_not_wanted_any_more_goes_on(void **state)
{
	struct xp_req req[XP_BYPASS_MAX + 2], write;
	u32 i, times = 0;

	(void)state;
	for (i = 0; i < XP_BYPASS_MAX + 2; i++)
		submit(&f, &req[i], XP_DISCARD, i * (u64)GIB, 8, false);
	xp_end(f.c, &req[0], 0, &f.todo);
	write_blocks(&f, XP_BYPASS_MAX * (u64)GIB / 8, 1, 1);	/* before it comes again */
	assert_int_equal(submit(&f, &write, XP_FLUSH, 0, 0, false), XP_SLOW);
	assert_int_equal(again(8, &times), XP_SLOW);
	assert_int_equal(times, 2);
	assert_int_equal(req[XP_BYPASS_MAX].err, 0);
	for (i = 1; i < XP_BYPASS_MAX + 2; i++)
		if (i != XP_BYPASS_MAX)
			xp_end(f.c, &req[i], 0, &f.todo);
	assert_int_equal(f.c->bypass_running, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_not_mapped_is_one_request),
		T(clean_blocks_are_dropped),
		T(none_is_overlooked),
		T(long_zeroes_drop_them_as_well),
		T(short_zeroes_are_a_record),
		T(a_run_of_dirty_ones_is_one_request_more),
		T(a_device_without_discards_gets_none),
		T(others_wait_while_mappings_end),
		T(a_journal_that_fails_meanwhile_ends_it),
		T(whoever_waits_for_a_place_comes_once_and_in_order),
		T(a_place_that_is_not_wanted_any_more_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
