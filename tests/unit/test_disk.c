// SPDX-License-Identifier: GPL-2.0-only
/* test_disk.c - what reads of the slow device tell of an access and of a block. */
#include "fixture.h"
#include "accounting.h"
#include "disk.h"
#include "run.h"

#define ACCESS	8000000u	/* ns, of a device that has not been timed */
#define BLOCK	27000u

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

/* ------------------------------------------------------------- helpers ---- */

static void begin(struct xp_req *req, u64 lba, u32 nr)
{
	enum xp_act act = submit(&f, req, XP_READ, lba * 8, nr * 8, false);

	assert_true(act == XP_SLOW || act == XP_SLOW_FILL);
	xp_fill_end(f.c, &req->fill, -ENOMEM, &f.todo);
	req->fill.nr_blocks = 0;
}

static void end(struct xp_req *req, u64 ns)
{
	xp_slow_took(f.c, req, req->nr_sectors, ns);
	assert_int_equal(xp_end(f.c, req, 0, &f.todo), XP_DONE);
}

static void timed(u64 lba, u32 nr, u64 ns)
{
	struct xp_req req;

	begin(&req, lba, nr);
	end(&req, ns);
}

/* Of two that are under way together, each takes @ns. */
static void together(u64 lba, u64 other, u32 nr, u64 ns)
{
	struct xp_req a, b;

	begin(&a, lba, nr);
	begin(&b, other, nr);
	end(&a, ns);
	end(&b, ns);
}

static void assert_pace(u32 access_ns, u32 block_ns)
{
	struct xp_disk_pace p = disk_pace(f.c);

	assert_in_range(p.access_ns, access_ns - access_ns / 100, access_ns);
	assert_in_range(p.block_ns, block_ns - block_ns / 100, block_ns);
}

/* --------------------------------------------------------------- tests ---- */

static void it_is_a_disk_until_timed(void **state)
{
	(void)state;
	assert_pace(ACCESS, BLOCK);
	timed(50000, 1, 0);
	timed(60000, 64, 0);
	assert_pace(ACCESS, BLOCK);
}

static void lone_reads_tell_both(void **state)
{
	(void)state;
	for (u32 i = 0; i < 200; i++) {
		timed(10000 + i % 7 * 10000, 1, 12000000);
		timed(15000 + i % 7 * 10000, 64, 12000000 + 64 * 40000);
	}
	assert_pace(12000000, 40000);
}

/* What is read on from the same track seeks nothing, and is no access. */
static void near_reads_tell_a_block_alone(void **state)
{
	(void)state;
	timed(49999, 1, 0);
	for (u32 i = 0; i < 100; i++)
		timed(50000 + i, 1, 100000);
	assert_pace(ACCESS, BLOCK);
	timed(59999, 1, 0);
	for (u32 i = 0; i < 200; i++)
		timed(60000 + i * 64, 64, 64 * 40000);
	assert_pace(ACCESS, 40000);
}

/* They wait for each other. */
static void reads_beside_others_tell_of_no_longer_one(void **state)
{
	(void)state;
	for (u32 i = 0; i < 200; i++) {
		together(10000 + i % 7 * 10000, 15000 + i % 7 * 10000, 1, 30000000);
		together(12000 + i % 7 * 10000, 17000 + i % 7 * 10000, 64, 50000000);
	}
	assert_pace(ACCESS, BLOCK);
	for (u32 i = 0; i < 200; i++)
		together(10000 + i % 7 * 10000, 15000 + i % 7 * 10000, 1, 200000);
	assert_pace(200000, BLOCK);
}

/* One in a hundred comes out of the device's buffer: it is a disk for all that. */
static void a_few_quick_ones_are_not_all(void **state)
{
	(void)state;
	for (u32 i = 0; i < 4000; i++)
		together(10000 + i % 7 * 10000, 15000 + i % 7 * 10000, 1, i % 50 ? 8000000 + i % 9 * 1000000 : 300000);
	assert_in_range(disk_pace(f.c).access_ns, 5000000, 16000000);
}

/* Two that read on, each where it was, beside each other: neither seeks by what it knows. */
static void near_is_near_any_of_the_newest(void **state)
{
	(void)state;
	timed(49999, 1, 0);
	timed(19999, 1, 0);
	timed(79999, 1, 0);
	for (u32 i = 0; i < 100; i++) {
		timed(50000 + i, 1, 100000);
		timed(20000 - i, 1, 100000);
		timed(80000 + i, 1, 100000);
	}
	assert_pace(ACCESS, BLOCK);
}

/* The gap has passed below the head as well, and is not of the block's time. */
static void behind_a_gap_it_tells_nothing(void **state)
{
	(void)state;
	timed(10000, 1, 0);
	for (u32 i = 0; i < 100; i++)
		timed(10100 + i * 132, 32, 132 * 27000);
	assert_pace(ACCESS, BLOCK);
}

/* Flash that nobody reads in small pieces. */
static void a_long_one_that_is_quick_bounds_an_access(void **state)
{
	(void)state;
	for (u32 i = 0; i < 200; i++)
		timed(10000 + i % 7 * 10000, 32, 200000);
	assert_in_range(disk_pace(f.c).access_ns, 1, 200000);
}

/* One that began alone is not, once another has begun; the next is, when all have ended. */
static void alone_is_from_beginning_to_end(void **state)
{
	struct xp_req a, b;

	(void)state;
	begin(&a, 10000, 1);
	begin(&b, 50000, 1);
	end(&b, 20000000);
	end(&a, 20000000);
	assert_pace(ACCESS, BLOCK);
	timed(20000, 1, 20000000);
	assert_pace(20000000, BLOCK);
}

static void its_head_is_where_the_newest_read_ended(void **state)
{
	(void)state;
	assert_false(disk_goes_on(f.c, XP_LBA(0)));
	timed(5000, 4, 0);
	assert_false(disk_goes_on(f.c, XP_LBA(5003)));
	assert_true(disk_goes_on(f.c, XP_LBA(5004)));
	assert_true(disk_goes_on(f.c, XP_LBA(5204)));
	assert_false(disk_goes_on(f.c, XP_LBA(5304)));
	xp_tick(f.c, &f.todo);
	assert_true(disk_goes_on(f.c, XP_LBA(5004)));
	xp_tick(f.c, &f.todo);
	assert_false(disk_goes_on(f.c, XP_LBA(5004)));
	timed(5000, 4, 0);
	write_blocks(&f, 9, 1, 1);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_false(disk_goes_on(f.c, XP_LBA(5004)));
	for (u32 i = 0; i < 200; i++)
		timed(10000 + i % 7 * 10000, 1, 90000);
	assert_false(disk_goes_on(f.c, XP_LBA(10000 + 199 % 7 * 10000 + 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(it_is_a_disk_until_timed),
		T(lone_reads_tell_both),
		T(near_reads_tell_a_block_alone),
		T(reads_beside_others_tell_of_no_longer_one),
		T(a_few_quick_ones_are_not_all),
		T(near_is_near_any_of_the_newest),
		T(behind_a_gap_it_tells_nothing),
		T(a_long_one_that_is_quick_bounds_an_access),
		T(alone_is_from_beginning_to_end),
		T(its_head_is_where_the_newest_read_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
