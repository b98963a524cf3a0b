// SPDX-License-Identifier: GPL-2.0-only
/* test_streams.c - which requests are of a stream, what is kept of one, and which writes go around the cache. */
#include "fixture.h"
#include "layout.h"
#include "life.h"
#include "map.h"
#include "options.h"
#include "policy.h"
#include "streams.h"

#define LBAS	1000000
#define LIMIT	1024u	/* blocks: 4 MiB */
#define PIECE	32u

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, 8192, LBAS);
	f.c->opt.stream_kib = XP_DEFAULT_STREAM_KIB;
	return 0;
}

static bool passes(u64 at, u32 nr)
{
	return stream_passes(f.c, at, at + nr);
}

/* Reads blocks from @at on, a piece after another, until they pass: how many were read then. */
static u32 until_it_passes(u64 at, u32 piece)
{
	u32 nr;

	for (nr = piece; !passes(at + nr - piece, piece); nr += piece)
		assert_in_range(nr, 1, 100 * LIMIT);
	return nr;
}

static void pieces_of_any_size_pass_beyond_the_limit(void **state)
{
	(void)state;
	assert_int_equal(until_it_passes(10000, PIECE), LIMIT + PIECE);
	assert_int_equal(until_it_passes(50000, 256), LIMIT + 256);
	assert_int_equal(until_it_passes(90000, 8), LIMIT + 8);
	assert_true(passes(10000 + LIMIT + PIECE, PIECE));
}

static void a_short_request_begins_none_but_goes_on_with_one(void **state)
{
	(void)state;
	for (u64 i = 0; i < 2 * LIMIT; i++)
		assert_false(passes(10000 + i, 1));
	assert_false(passes(20000, 8));
	for (u64 i = 0; i < LIMIT - 8; i++)
		assert_false(passes(20008 + i, 1));
	assert_true(passes(20000 + LIMIT, 1));
}

static void a_limit_of_zero_is_none(void **state)
{
	(void)state;
	f.c->opt.stream_kib = 0;
	for (u64 i = 0; i < 4 * LIMIT; i += 256)
		assert_false(passes(10000 + i, 256));
}

static void streams_in_turn_are_each_its_own(void **state)
{
	(void)state;
	for (u64 at = 0; at < LIMIT; at += PIECE)
		for (u64 s = 0; s < XP_STREAMS; s++)
			assert_false(passes(20000 * s + at, PIECE));
	for (u64 s = 0; s < XP_STREAMS; s++)
		assert_true(passes(20000 * s + LIMIT, PIECE));
}

/* One more than there are places: each pushes out the one that comes next. */
static void the_one_that_rested_longest_is_forgotten(void **state)
{
	(void)state;
	for (u64 s = 0; s < XP_STREAMS; s++)
		until_it_passes(20000 * s, PIECE);
	assert_true(passes(LIMIT + PIECE, PIECE));	/* the first of them */
	assert_false(passes(900000, PIECE));
	assert_false(passes(20000 + LIMIT + PIECE, PIECE));
	assert_true(passes(LIMIT + 2 * PIECE, PIECE));
}

/* A program that reads every second piece reads half of the disk, but 65 blocks on is elsewhere. */
static void what_is_left_out_counts_against_it(void **state)
{
	u64 at = 10000;

	(void)state;
	until_it_passes(at, PIECE);
	at += LIMIT + PIECE;
	assert_true(passes(at, PIECE));
	assert_false(passes(at + 2 * PIECE + PIECE, PIECE));
	assert_false(passes(at + 4 * PIECE + 65, PIECE));
	assert_int_equal(until_it_passes(at + 5 * PIECE + 65, PIECE), LIMIT);
}

static void going_back_is_no_stream(void **state)
{
	(void)state;
	until_it_passes(10000, PIECE);
	assert_false(passes(10000, PIECE));
}

/* The core sees what is left of a request as one more. */
static void the_same_request_again_makes_it_no_longer(void **state)
{
	(void)state;
	for (u32 i = 0; i < 100; i++)
		assert_false(passes(10000, LIMIT));
	assert_false(passes(10000 + LIMIT / 2, LIMIT / 2));
	assert_true(passes(10000 + LIMIT, 1));
}

static void what_is_cached_does_not_end_it(void **state)
{
	u64 at = 10000 + LIMIT + PIECE;

	(void)state;
	until_it_passes(10000, PIECE);
	write_blocks(&f, at, 1, 1);
	write_blocks(&f, at + 999, 1, 1);
	assert_true(passes(at + 1000, PIECE));
	assert_false(passes(at + 1000 + PIECE + 1000, PIECE));	/* nothing is, there */
}

/* ------------------------------------------------------------ what is kept ---- */

/* The blocks of a stream that were filled. */
static u32 read_stream(u64 at, u32 nr)
{
	u64 fills = stats_of(&f).fills;

	for (u64 end = at + nr; at < end; at += PIECE) {
		struct xp_req req;
		struct xp_fill fill;
		enum xp_act act = submit(&f, &req, XP_READ, at * 8, PIECE * 8, false);

		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		fill = req.fill;
		if (act == XP_SLOW_FILL)
			xp_fill_end(f.c, &fill, 0, &f.todo);
		write_journal(&f);
	}
	return (u32)(stats_of(&f).fills - fills);
}

static void what_passes_is_not_filled(void **state)
{
	(void)state;
	assert_int_equal(read_stream(100000, 3 * LIMIT), LIMIT);
}

/* The limit holds from the next request on, and what was read under another one counts. */
static void the_limit_may_change_while_it_runs(void **state)
{
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	assert_int_equal(f.c->opt.stream_kib, 4 * LIMIT);
	assert_int_equal(read_stream(100000, 8 * PIECE), 8 * PIECE);
	t.stream_kib = 4 * PIECE;
	xp_set_limits(f.c, &t);
	assert_int_equal(f.c->opt.stream_kib, 4 * PIECE);
	assert_int_equal(read_stream(100000 + 8 * PIECE, 8 * PIECE), 0);
	t.stream_kib = 0;
	xp_set_limits(f.c, &t);
	assert_int_equal(read_stream(100000 + 16 * PIECE, 8 * PIECE), 8 * PIECE);
}

static void what_is_streamed_again_is_filled(void **state)
{
	u32 again;

	(void)state;
	f.c->opt.stream_kib = 4 * PIECE;
	assert_int_equal(read_stream(100000, 16 * PIECE), PIECE);
	again = read_stream(100000 + PIECE, 15 * PIECE);
	assert_in_range(again, 10 * PIECE, 15 * PIECE);
}

/* They are worth a fill then, but for the sample of an eighth, which says when that has ended. */
static void where_streams_come_again_none_passes(void **state)
{
	(void)state;
	f.c->opt.stream_kib = 4 * PIECE;
	for (u64 i = 0; i < 32; i++) {
		read_stream(100000 + i * 5000, 32 * PIECE);
		read_stream(100000 + i * 5000, 32 * PIECE);
	}
	assert_in_range(read_stream(300000, 128 * PIECE), 96 * PIECE, 127 * PIECE);
	read_stream(400000, 10000 * PIECE);
	assert_int_equal(read_stream(800000, 64 * PIECE), PIECE);
}

/* -------------------------------------------------------------- what is written ---- */

/* The last of such a write; what is left out of the answer is not sent. */
static struct xp_req written;

static enum xp_act write_at(u64 at, u32 nr)
{
	enum xp_act act = submit(&f, &written, XP_WRITE, at * 8, nr * 8, false);

	assert_int_equal(xp_end(f.c, &written, 0, &f.todo), XP_DONE);
	write_journal(&f);
	return act;
}

/* Pieces of a stream, which all go the same way: which one. */
static enum xp_act write_stream(u64 at, u32 pieces)
{
	enum xp_act act = write_at(at, PIECE);

	while (--pieces)
		assert_int_equal(write_at(at += PIECE, PIECE), act);
	return act;
}

#define LONG	(4 * PIECE)	/* a stream is, with more than that */
#define FAR	500000u

/* Single blocks that are no stream. Then nobody has synced for two ticks. */
static void make_dirty(u32 percent)
{
	u32 nr = f.c->nr_slots / 100 * percent + percent;

	f.c->opt.stream_kib = 4 * LONG;
	for (u64 i = 0; f.c->nr_dirty < nr; i++)
		write_blocks(&f, FAR + 200 * i, 1, 1);
	for (int i = 0; i < 2; i++)
		xp_tick(f.c, &f.todo);
	write_journal(&f);
}

static u32 class_of(u64 lba)
{
	return rank_class(entry_rank(entry_of(f.c, map_mapped(f.c, XP_LBA(lba)))));
}

static void a_written_stream_arrives_cold(void **state)
{
	(void)state;
	make_dirty(25);
	write_blocks(&f, 10000 + LONG + 1, 1, 1);
	flush(&f);
	assert_int_equal(write_stream(10000, 8), XP_FAST);
	assert_int_equal(class_of(10000), XP_RANK_YOUNG);
	assert_int_equal(class_of(10000 + LONG - 1), XP_RANK_YOUNG);
	assert_int_equal(class_of(10000 + LONG), XP_RANK_COLD);
	assert_int_equal(class_of(10000 + LONG + 1), XP_RANK_YOUNG);	/* it was there */
	assert_int_equal(class_of(10000 + 8 * PIECE - 1), XP_RANK_COLD);
	write_blocks(&f, FAR - 1, 1, 1);
	assert_int_equal(class_of(FAR - 1), XP_RANK_YOUNG);
}

static void as_long_as_there_is_room_it_arrives_as_any_other(void **state)
{
	(void)state;
	make_dirty(15);
	assert_int_equal(write_stream(10000, 8), XP_FAST);
	assert_int_equal(class_of(10000 + 8 * PIECE - 1), XP_RANK_YOUNG);
}

static void a_stream_passes_while_much_is_dirty(void **state)
{
	(void)state;
	make_dirty(25);
	assert_int_equal(write_stream(10000, 4), XP_FAST);
	assert_int_equal(write_stream(10000 + LONG, 4), XP_SLOW);
	assert_int_equal(stats_of(&f).write_bypass_blocks, 4 * PIECE);
	assert_int_equal(stats_of(&f).stream_bypass_written, 4 * PIECE);
	assert_int_equal(stats_of(&f).streams_seen, 0);		/* of reads */
	assert_int_equal(write_at(20000, PIECE), XP_FAST);
	assert_int_equal(write_at(10000 + 2 * LONG, 1), XP_SLOW);	/* goes on, however short */
	f.c->opt.stream_kib = 0;
	assert_int_equal(write_at(10000 + 2 * LONG + 1, PIECE), XP_FAST);
}

static void a_short_write_goes_on_with_a_stream_of_late_only(void **state)
{
	u64 at = 10000 + LONG;

	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	xp_tick(f.c, &f.todo);
	assert_int_equal(write_at(at++, 1), XP_SLOW);
	for (int i = 0; i < 2; i++)
		xp_tick(f.c, &f.todo);
	assert_int_equal(write_at(at++, 1), XP_FAST);
	assert_int_equal(write_at(at, PIECE), XP_SLOW);
}

/* I8; and what waits for a record would wait for long. */
static void what_is_cached_is_written_there(void **state)
{
	u64 at = 10000 + LONG;

	(void)state;
	make_dirty(25);
	write_blocks(&f, at + 3, 2, 1);
	write_stream(10000, 4);
	assert_int_equal(write_at(at, PIECE), XP_SLOW);
	assert_int_equal(written.nr_blocks, 3);
	assert_int_equal(write_at(at + 3, PIECE - 3), XP_FAST);
	assert_int_equal(written.nr_blocks, 2);
	assert_int_equal(write_at(at + 5, PIECE - 5), XP_SLOW);
	assert_int_equal(written.nr_blocks, PIECE - 5);
}

static void a_sync_write_never_passes(void **state)
{
	struct xp_req req;
	u64 hash[XP_COPY_MAX] = { 1 };

	(void)state;
	make_dirty(60);
	write_stream(10000, 4);
	write_stream(10000 + LONG, 2);
	assert_int_equal(submit(&f, &req, XP_WRITE, (10000 + 6 * PIECE) * 8, 8, true), XP_COPY);
	xp_copied(f.c, &req, hash, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	req = (struct xp_req){ .op = XP_WRITE, .sector = (10001 + 6 * PIECE) * 8, .nr_sectors = PIECE * 8, .ordered = true };
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(write_at(10001 + 7 * PIECE, PIECE), XP_SLOW);
}

/* A block that a FLUSH is expected after, as it came after as many writes before. */
static void nor_does_one_that_a_flush_is_expected_after(void **state)
{
	(void)state;
	make_dirty(60);
	write_stream(10000, 4);
	write_stream(10000 + LONG, 2);
	f.c->sync_streak = XP_SYNC_STREAK;
	f.c->writes_a_sync = f.c->writes_unsynced + 1;
	assert_true(write_blocks(&f, 10000 + 6 * PIECE, 1, 1) == XP_COPY);
	assert_int_equal(write_at(10001 + 6 * PIECE, PIECE), XP_SLOW);
}

static void a_part_of_a_block_never_passes(void **state)
{
	struct xp_req req;

	(void)state;
	make_dirty(60);
	write_stream(10000, 4);
	write_stream(10000 + LONG, 2);
	assert_int_equal(submit(&f, &req, XP_WRITE, (10000 + 6 * PIECE) * 8, 7, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

static void a_flush_keeps_streams_in(void **state)
{
	u64 at = 10000 + LONG;

	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	flush(&f);
	assert_int_equal(write_stream(at, 2), XP_FAST);
	xp_tick(f.c, &f.todo);
	write_journal(&f);
	assert_int_equal(write_stream(at + 2 * PIECE, 2), XP_FAST);
	assert_int_equal(stats_of(&f).flushes_slow, 0);
	xp_tick(f.c, &f.todo);
	assert_int_equal(write_stream(at + 4 * PIECE, 2), XP_SLOW);
}

/* It is answered without the lock. */
static void a_flush_with_nothing_to_do_keeps_them_in_too(void **state)
{
	struct xp_req req;

	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	f.c->owes = false;
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(write_stream(10000 + LONG, 2), XP_FAST);
}

static void before_writes_are_slowed_streams_pass_in_any_case(void **state)
{
	(void)state;
	make_dirty(46);
	flush(&f);
	write_stream(10000, 4);
	assert_int_equal(write_stream(10000 + LONG, 2), XP_SLOW);
}

static void nothing_passes_to_a_slow_device_that_fails(void **state)
{
	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	writeback_batch(&f, -EIO);
	assert_int_equal(write_stream(10000 + LONG, 2), XP_FAST);
}

static void what_the_slow_device_refuses_the_cache_takes(void **state)
{
	struct xp_req req;

	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	assert_int_equal(submit(&f, &req, XP_WRITE, (10000 + LONG) * 8, PIECE * 8, false), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	write_journal(&f);
	assert_int_equal(stats_of(&f).write_bypass_blocks, 0);
	assert_int_equal(class_of(10000 + LONG), XP_RANK_YOUNG);
}

/* Others of the stream overtake one that waits: it is of the stream all the same, and the stream no shorter. */
static void one_that_waits_is_asked_once(void **state)
{
	struct xp_req first, req;
	u64 at = 10000 + LONG;

	(void)state;
	make_dirty(25);
	write_stream(10000, 4);
	assert_int_equal(submit(&f, &first, XP_WRITE, at * 8, 8, false), XP_SLOW);
	assert_int_equal(submit(&f, &req, XP_WRITE, at * 8, PIECE * 8, false), XP_WAIT);
	assert_int_equal(write_stream(at + PIECE, 20), XP_SLOW);
	assert_int_equal(xp_end(f.c, &first, 0, &f.todo), XP_DONE);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(write_at(at + 21 * PIECE, 1), XP_SLOW);
}

/* ------------------------------------------------------------ what is told ---- */

static void a_stream_is_seen_once(void **state)
{
	u64 at = 10000 + LIMIT + PIECE;

	(void)state;
	for (u64 i = 10000; i < at - PIECE; i += PIECE)
		assert_false(passes(i, PIECE));
	assert_int_equal(stats_of(&f).streams_seen, 0);
	assert_true(passes(at - PIECE, PIECE));
	assert_int_equal(stats_of(&f).streams_seen, 1);
	assert_true(passes(at, PIECE));
	assert_false(passes(at + 2 * PIECE + PIECE, PIECE));	/* what it left out made it shorter */
	until_it_passes(at + 4 * PIECE, PIECE);
	assert_int_equal(stats_of(&f).streams_seen, 1);
	until_it_passes(500000, PIECE);
	assert_int_equal(stats_of(&f).streams_seen, 2);
}

static void what_bypasses_the_cache_is_counted(void **state)
{
	struct xp_stats s;

	(void)state;
	f.c->opt.stream_kib = 4 * PIECE;
	read_stream(100000, 16 * PIECE);
	s = stats_of(&f);
	assert_int_equal(s.stream_bypass_blocks, 15 * PIECE);
	assert_int_equal(s.ghost_hits, 0);
	read_stream(100000 + PIECE, 15 * PIECE);	/* again: it is filled, but for what was forgotten */
	assert_int_equal(stats_of(&f).stream_bypass_blocks, 30 * PIECE - (stats_of(&f).fills - s.fills));
	assert_int_equal(stats_of(&f).ghost_hits, 0);	/* more slots would not have had it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(pieces_of_any_size_pass_beyond_the_limit),
		T(a_short_request_begins_none_but_goes_on_with_one),
		T(a_limit_of_zero_is_none),
		T(streams_in_turn_are_each_its_own),
		T(the_one_that_rested_longest_is_forgotten),
		T(what_is_left_out_counts_against_it),
		T(going_back_is_no_stream),
		T(the_same_request_again_makes_it_no_longer),
		T(what_is_cached_does_not_end_it),
		T(what_passes_is_not_filled),
		T(the_limit_may_change_while_it_runs),
		T(what_is_streamed_again_is_filled),
		T(where_streams_come_again_none_passes),
		T(a_written_stream_arrives_cold),
		T(as_long_as_there_is_room_it_arrives_as_any_other),
		T(a_stream_passes_while_much_is_dirty),
		T(a_short_write_goes_on_with_a_stream_of_late_only),
		T(what_is_cached_is_written_there),
		T(a_sync_write_never_passes),
		T(nor_does_one_that_a_flush_is_expected_after),
		T(a_part_of_a_block_never_passes),
		T(a_flush_keeps_streams_in),
		T(a_flush_with_nothing_to_do_keeps_them_in_too),
		T(before_writes_are_slowed_streams_pass_in_any_case),
		T(nothing_passes_to_a_slow_device_that_fails),
		T(what_the_slow_device_refuses_the_cache_takes),
		T(one_that_waits_is_asked_once),
		T(a_stream_is_seen_once),
		T(what_bypasses_the_cache_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
