// SPDX-License-Identifier: GPL-2.0-only
/* test_overlay.c - dirty blocks between misses are laid over what the slow device returned. */
#include "fixture.h"
#include "accounting.h"
#include "cache.h"
#include "format.h"
#include "map.h"
#include "overlay.h"
#include "run.h"

#define AT	5000u
#define OLD	0x55	/* what the slow device has of every block */

static struct fixture f;
static u8 buffer[XP_RUN_MAX][XP_BLOCK_SIZE];

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

static int setup_verify(void **state)
{
	setup(state);
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_KNOWN);
	f.opt.verify = true;
	fixture_reopen(&f);
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static int byte_of(u32 i)
{
	return 100 + (int)i % 100;
}

/* Every second block of @nr, in their order: its slots are side by side. */
static void dirty_every_second(u64 lba, u32 nr)
{
	for (u32 i = 1; i < nr; i += 2)
		write_blocks(&f, lba + i, 1, byte_of(i));
}

/* ... and from the last one on: no two of them are. */
static void dirty_every_second_apart(u64 lba, u32 nr)
{
	for (u32 i = nr / 2; i--; )
		write_blocks(&f, lba + 2 * i + 1, 1, byte_of(2 * i + 1));
}

static enum xp_act ask(struct xp_req *req, u64 lba, u32 nr)
{
	return submit(&f, req, XP_READ, lba * 8, nr * 8, false);
}

static void lay_over(const struct xp_overlay *o)
{
	for (u32 i = 0; i < o->nr_runs; i++)
		for (u32 k = 0; k < o->run[i].nr_blocks; k++) {
			u8 *to = buffer[o->at[o->run[i].first + k]];

			if (o->run[i].zeros)
				memset(to, 0, XP_BLOCK_SIZE);
			else
				memcpy(to, f.fast + (xp_slot_sector(f.c, o->run[i].slot) + k * 8) * 512, XP_BLOCK_SIZE);
		}
}

/* As a backend does it; what is to be filled is given back. */
static void perform(struct xp_req *req)
{
	memset(buffer, OLD, sizeof(buffer));
	lay_over(req->overlay);
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &req->fill, -ENOMEM, &f.todo);
	assert_null(req->overlay);
}

/* --------------------------------------------------------------- tests ---- */

static void dirty_ones_are_laid_over(void **state)
{
	struct xp_req req;
	u64 sector;
	u32 nr;

	(void)state;
	fill_block(&f, AT + 3, 1);
	dirty_every_second_apart(AT, 3);
	write_blocks(&f, AT + 5, 2, 7);
	assert_int_equal(ask(&req, AT, 8), XP_MIXED);
	assert_int_equal(req.nr_blocks, 8);
	assert_int_equal(req.fill.nr_blocks, 4);	/* 0, 2, 4, 7 */
	assert_int_equal(req.overlay->nr_blocks, 3);
	xp_fill_read(f.c, &req, &sector, &nr);
	assert_int_equal(sector, AT * 8);
	assert_int_equal(nr, 8 * 8);
	perform(&req);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(buffer[i][XP_BLOCK_SIZE - 1], i == 1 ? byte_of(1) : i == 5 || i == 6 ? 7 : OLD);
	assert_int_equal(stats_of(&f).read_blocks_fast, 3);
	assert_int_equal(stats_of(&f).read_blocks_slow, 1 + 5);	/* a fill's */
	for (u32 i = 0; i < 8; i++)
		if (mapped_byte(&f, AT + i) >= 0)
			assert_int_equal(pins_of(&f, AT + i), 0);
}

static void slots_side_by_side_are_one_read(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 255);
	assert_int_equal(ask(&req, AT, 255), XP_MIXED);
	assert_int_equal(req.nr_blocks, 255);
	assert_int_equal(req.overlay->nr_runs, 1);
	perform(&req);
	for (u32 i = 0; i < 255; i++)
		assert_int_equal(buffer[i][0], i % 2 ? byte_of(i) : OLD);
}

/* As with hits that are clean: those are read from the fast device alone. */
static void dirty_ones_at_its_end_are_not(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 4);
	assert_int_equal(ask(&req, AT, 4), XP_MIXED);
	assert_int_equal(req.nr_blocks, 3);
	assert_int_equal(pins_of(&f, AT + 3), 0);
	perform(&req);
}

static void slots_apart_are_a_read_each(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second_apart(AT, 255);
	assert_int_equal(ask(&req, AT, 255), XP_MIXED);
	assert_int_equal(req.overlay->nr_runs, 127);
	assert_int_equal(req.nr_blocks, 255);
	perform(&req);
	for (u32 i = 0; i < 255; i++)
		assert_int_equal(buffer[i][0], i % 2 ? byte_of(i) : OLD);
}

/* An overwrite of what is pinned gives no slot back before the read ends. */
static void no_more_is_pinned_than_slots_are_free(void **state)
{
	struct xp_req req, more;
	u64 lba = AT + 1000;

	(void)state;
	dirty_every_second_apart(AT, 41);
	dirty_every_second_apart(AT + 100, 41);
	for (; f.c->nr_free > 30; lba += 2)
		write_blocks(&f, lba, 1, 1);
	flush(&f);
	assert_int_equal(f.c->nr_free, 30);
	assert_int_equal(ask(&req, AT, 41), XP_MIXED);
	assert_int_equal(req.overlay->nr_blocks, 20);
	assert_int_equal(f.c->overlaid, 20);
	assert_int_equal(ask(&more, AT + 100, 41), XP_MIXED);
	assert_int_equal(f.c->overlaid, 30);
	perform(&more);
	perform(&req);
	assert_int_equal(f.c->overlaid, 0);
}

static void zeros_are_not_read(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 5);
	assert_int_equal(submit(&f, &req, XP_ZEROES, (AT + 3) * 8, 8, false), XP_DONE);
	assert_int_equal(ask(&req, AT, 5), XP_MIXED);
	assert_int_equal(req.overlay->nr_runs, 2);
	assert_false(req.overlay->run[0].zeros);
	assert_true(req.overlay->run[1].zeros);
	perform(&req);
	assert_int_equal(buffer[1][0], byte_of(1));
	assert_int_equal(buffer[3][0], 0);
}

/* The first of several: the slow device has failed it, the fast one has, or there is no memory. */
static void pins_are_given_back_on_error(void **state)
{
	static const int errors[] = { -EIO, -ENODEV, -ENOMEM };
	struct xp_req req;
	u32 free;

	(void)state;
	for (u32 e = 0; e < 3; e++) {
		u64 lba = AT + 100 * e;

		dirty_every_second(lba, 5);
		free = f.c->nr_free;
		assert_int_equal(ask(&req, lba, 5), XP_MIXED);
		assert_int_equal(pins_of(&f, lba + 1), 1);
		write_blocks(&f, lba + 1, 1, 9);
		flush(&f);
		assert_int_equal(xp_end(f.c, &req, errors[e], &f.todo), XP_WAIT);
		assert_int_equal(pins_of(&f, lba + 1), 0);
		assert_int_equal(pins_of(&f, lba + 3), 0);
		assert_int_equal(f.c->nr_free, free);	/* the older version's as well */
		assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
		assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
		assert_int_equal(req.nr_blocks, 1);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		req.sector += 8;
		req.nr_sectors = 4 * 8;
		assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_FAST);
		assert_int_equal(req.nr_blocks, 1);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	}
}

/* Of a device that has failed it nothing is tried twice; of memory that was short there may be enough now. */
static void what_has_failed_is_read_in_pieces(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	assert_int_equal(xp_end(f.c, &req, -ENOMEM, &f.todo), XP_WAIT);
	xp_list_pop(&f.todo.ready);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	xp_list_pop(&f.todo.ready);
	assert_int_equal(ask(&req, AT, 3), XP_SLOW);
	assert_int_equal(req.nr_blocks, 1);
}

/* The read of the slow device may have come before it, so what it returned is no use. */
static void a_version_written_back_meanwhile_is_still_laid_over(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_false(mapped_dirty(&f, AT + 1));
	perform(&req);
	assert_int_equal(buffer[1][0], byte_of(1));
}

/* I1: its slot is not handed out again under the read. */
static void a_version_superseded_meanwhile_is_still_laid_over(void **state)
{
	struct xp_req req;
	u32 turn;

	(void)state;
	dirty_every_second(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	for (turn = 0; turn < f.c->nr_slots / 50; turn++) {	/* once round all slots */
		for (u32 i = 0; i < 64; i++)
			write_blocks(&f, AT + i, 1, 3);
		flush(&f);
		xp_write_back_all(f.c, true);
		writeback_batch(&f, 0);
	}
	perform(&req);
	assert_int_equal(buffer[1][0], byte_of(1));
}

/* A batch that is home leaves it clean, and mapped: the read has it. */
static void what_is_over_stays_while_it_is_read(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	entry_of(f.c, map_mapped(f.c, XP_LBA(AT + 1)))->use &= (u16)~(XP_PIN - 1);	/* as old as can be */
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_int_not_equal(mapped_byte(&f, AT + 1), -1);
	perform(&req);
}

static struct xp_req hit[XP_HIT_PINS];

/* Reads of @lba that have not ended. */
static void read_often(u64 lba, u32 times)
{
	for (u32 i = 0; i < times; i++)
		assert_int_equal(ask(&hit[i], lba, 1), XP_FAST);
}

static void a_block_at_its_most_pins_ends_it(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 5);
	read_often(AT + 3, XP_HIT_PINS);
	assert_int_equal(ask(&req, AT, 5), XP_MIXED);
	assert_int_equal(req.nr_blocks, 3);
	perform(&req);
}

static void its_end_wakes_who_waits_for_a_pin(void **state)
{
	struct xp_req req, other;

	(void)state;
	dirty_every_second(AT, 5);
	read_often(AT + 3, XP_HIT_PINS - 1);
	assert_int_equal(ask(&req, AT, 5), XP_MIXED);
	assert_int_equal(req.nr_blocks, 5);
	assert_int_equal(ask(&other, AT + 3, 1), XP_WAIT);
	perform(&req);
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &other.link);
	assert_int_equal(xp_submit(f.c, &other, &f.todo), XP_FAST);
}

static void only_so_many_have_one_at_once(void **state)
{
	struct xp_req req[XP_OVERLAYS_MAX + 1];

	(void)state;
	dirty_every_second(AT, 3);
	for (u32 i = 0; i < XP_OVERLAYS_MAX; i++)
		assert_int_equal(ask(&req[i], AT, 3), XP_MIXED);
	assert_true(ask(&req[XP_OVERLAYS_MAX], AT, 3) != XP_MIXED);
	assert_int_equal(req[XP_OVERLAYS_MAX].nr_blocks, 1);
	perform(&req[3]);
	assert_int_equal(ask(&req[3], AT, 3), XP_MIXED);
	for (u32 i = 0; i < XP_OVERLAYS_MAX; i++)
		perform(&req[i]);
	assert_int_equal(pins_of(&f, AT + 1), 0);
}

static void none_when_slots_are_short(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 3);
	for (u64 lba = 10000; f.c->nr_free; lba++)
		write_blocks(&f, lba, 1, 1);
	assert_true(ask(&req, AT, 3) != XP_MIXED);
	assert_int_equal(req.nr_blocks, 1);
	assert_int_equal(pins_of(&f, AT + 1), 0);
}

static void none_with_sums(void **state)
{
	struct xp_req req;

	(void)state;
	dirty_every_second(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_SLOW_FILL);
	assert_int_equal(req.nr_blocks, 1);
}

/* 20 us a run: an access of 90 us is worth four of those, and 2 us a block. */
static void it_pays_or_is_not_done(void **state)
{
	struct xp_req req;

	(void)state;
	f.c->disk.access_ns = 90000;
	f.c->disk.block_ns = 2000;
	dirty_every_second_apart(AT, 3);
	assert_int_equal(ask(&req, AT, 3), XP_MIXED);
	perform(&req);
	for (u32 i = 4; i; i--)
		write_blocks(&f, 6000 + i, 1, 1);
	assert_int_equal(ask(&req, 6000, 6), XP_SLOW_FILL);
	assert_int_equal(req.nr_blocks, 1);
	assert_null(req.overlay);
	assert_int_equal(pins_of(&f, 6001), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(dirty_ones_are_laid_over),
		T(slots_side_by_side_are_one_read),
		T(dirty_ones_at_its_end_are_not),
		T(slots_apart_are_a_read_each),
		T(no_more_is_pinned_than_slots_are_free),
		T(zeros_are_not_read),
		T(pins_are_given_back_on_error),
		T(what_has_failed_is_read_in_pieces),
		T(a_version_written_back_meanwhile_is_still_laid_over),
		T(a_version_superseded_meanwhile_is_still_laid_over),
		T(what_is_over_stays_while_it_is_read),
		T(a_block_at_its_most_pins_ends_it),
		T(its_end_wakes_who_waits_for_a_pin),
		T(only_so_many_have_one_at_once),
		T(none_when_slots_are_short),
		TEST_WITH(none_with_sums, setup_verify, teardown),
		T(it_pays_or_is_not_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
