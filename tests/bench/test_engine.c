// SPDX-License-Identifier: GPL-2.0-only
/* test_engine.c - requests to a file, by both engines: none lost, none twice, errors told. */
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "range.h"

#define BLOCKS	512u

static int fd;
static struct bench_outcome o;
static u8 image[BLOCKS * 4096];

void xp_assert_failed(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: %s", file, line, what);
	abort();
}

#ifdef __SANITIZE_THREAD__
/* A ring's memory comes and goes by system calls of its own: the next ring's, at the same
 * address, looks like the last one's. What threads share, psync shares as well. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:bench_io_uring\n";
}
#endif

/* In memory: a disk that others keep busy answers nobody for a second or two, and the tests count. */
static int begin(void **state)
{
	(void)state;
	fd = memfd_create("xpcache-bench", MFD_CLOEXEC);
	return fd < 0 || ftruncate(fd, sizeof(image));
}

static int end(void **state)
{
	(void)state;
	bench_outcome_free(&o);
	return close(fd);
}

static struct bench_job job_of(enum bench_engine engine, u32 depth, u32 threads, u32 read_percent)
{
	struct bench_job job = {
		.fd = fd, .engine = engine, .size = 4096, .read_percent = read_percent,
		.depth = depth, .threads = threads, .seconds = 60,
	};

	bench_places_init(&job.places, BENCH_RANDOM, 0, sizeof(image), 4096, 4096, 1);
	return job;
}

static const struct { enum bench_engine engine; u32 depth, threads; } way[] = {
	{ BENCH_PSYNC, 1, 1 }, { BENCH_PSYNC, 2, 3 }, { BENCH_IO_URING, 1, 1 },
	{ BENCH_IO_URING, 32, 1 }, { BENCH_IO_URING, 5, 4 },
};

#define WAYS	(sizeof(way) / sizeof(*way))

static void so_many_as_asked_for(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		job.requests = 1003;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(xp_histogram_count(&o.read), 1003);
		assert_int_equal(xp_histogram_count(&o.write), 0);
		assert_int_equal(o.bytes, 1003 * 4096);
		assert_int_equal(o.errors, 0);
		bench_outcome_free(&o);
	}
}

/* Each block is written once, by data that no other has. */
static void every_block_is_written(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 0);

		job.requests = BLOCKS;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, sizeof(image)), 0);
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(xp_histogram_count(&o.write), BLOCKS);
		assert_int_equal(pread(fd, image, sizeof(image), 0), sizeof(image));
		for (u32 a = 0; a < BLOCKS; a++)
			for (u32 b = 0; b < a; b++)
				assert_memory_not_equal(image + a * 4096, image + b * 4096, 64);
		bench_outcome_free(&o);
	}
}

/* Its places are the draw's from there on, and where it ended is told. */
static void it_begins_where_it_is_told(void **state)
{
	static const u8 none[64];

	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 0);

		job.requests = 60;
		job.begin = 100;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, sizeof(image)), 0);
		assert_int_equal(bench_run(&job, &o), 0);
		assert_uint_in_range(o.drawn, 160, 166);
		assert_int_equal(pread(fd, image, sizeof(image), 0), sizeof(image));
		for (u64 k = 0; k < BLOCKS; k++)
			assert_int_equal(memcmp(image + bench_place(&job.places, k), none, 64) != 0,
					 k >= 100 && k < 160);
		bench_outcome_free(&o);
	}
}

static double part_seen;

static void see(void *ctx, const struct bench_running *r, double part)
{
	(void)ctx;
	(void)r;
	assert_true(part >= part_seen && part <= 1);
	part_seen = part;
}

/* However long that takes: no time is set. */
static void requests_alone_end_it(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		job.seconds = 0;
		job.requests = 1200;
		job.rate = 1000;
		job.tick = see;
		part_seen = 0;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(xp_histogram_count(&o.read), 1200);
		assert_int_equal(o.nr_seconds, 1);
		assert_true(part_seen == 1);
		bench_outcome_free(&o);
	}
}

static void a_mix_is_as_asked_for(void **state)
{
	struct bench_job job = job_of(BENCH_IO_URING, 4, 2, 70);

	(void)state;
	job.requests = 10000;
	assert_int_equal(bench_run(&job, &o), 0);
	assert_uint_in_range(xp_histogram_count(&o.read), 6800, 7200);
	assert_int_equal(xp_histogram_count(&o.read) + xp_histogram_count(&o.write), 10000);
}

/* The file ends before the places do. */
static void errors_are_counted_and_not_timed(void **state)
{
	(void)state;
	assert_int_equal(ftruncate(fd, sizeof(image) / 2), 0);
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		job.requests = BLOCKS;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(o.errors, BLOCKS / 2);
		assert_int_equal(o.first_error, -EIO);
		assert_true(o.first_place >= sizeof(image) / 2);
		assert_int_equal(xp_histogram_count(&o.read), BLOCKS / 2);
		bench_outcome_free(&o);
	}
}

static void a_device_that_is_gone_ends_it(void **state)
{
	struct bench_job job = job_of(BENCH_IO_URING, 4, 1, 100);

	(void)state;
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(bench_run(&job, &o), 0);
	assert_uint_in_range(o.errors, 1000, 1004);
}

/* All threads together see so many, and those that were under way then. */
static void a_device_that_is_gone_ends_all_threads(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(bench_run(&job, &o), 0);
		assert_uint_in_range(o.errors, 1000, 1000 + way[i].depth * way[i].threads);
		bench_outcome_free(&o);
	}
}

static void an_open_loop_keeps_its_rate(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		job.rate = 500;
		job.seconds = 1;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_uint_in_range(xp_histogram_count(&o.read), 400, 501);	/* a busy machine misses some */
		assert_int_equal(xp_histogram_count(&o.intended), xp_histogram_count(&o.read) + o.never_begun);
		assert_true(o.intended.sum >= o.read.sum);
		bench_outcome_free(&o);
	}
}

/* Not by whole ns: at high rates those are much. */
static void a_rate_is_not_rounded(void **state)
{
	struct bench_worker w = { .gap = 1e9 / 7e8, .drawn = 700000000 };

	(void)state;
	assert_uint_in_range(bench_due(&w), 999999000, 1000001000);
}

/* What is due and cannot begin has waited all the same. */
static void no_request_that_was_due_is_left_out(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);
		u64 n;

		job.rate = 5e7;		/* no machine keeps up */
		job.seconds = 0.5;
		assert_int_equal(bench_run(&job, &o), 0);
		n = xp_histogram_count(&o.intended);
		assert_true(o.never_begun > 20000000);
		assert_int_equal(n, xp_histogram_count(&o.read) + o.never_begun);
		assert_uint_in_range(n, 24990000, 25010000);		/* all that were due, */
		assert_true(o.intended.sum / n > 200000000);	/* for half of the time on average */
		assert_uint_in_range(o.intended.most, 400000000, 4000000000);
		assert_uint_in_range(xp_histogram_count(&o.read) * 2, 0, n);
		bench_outcome_free(&o);
	}
}

/* Who ends it before its time has not found it slow; nor has who asked for so many. */
static volatile sig_atomic_t stopped;

static void stop_it(void *ctx, const struct bench_running *r, double part)
{
	(void)ctx;
	(void)r;
	(void)part;
	__atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

/* The next request is due in 20 s. */
static void a_long_wait_can_be_ended(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);
		u64 begun = bench_clock();

		stopped = 0;
		job.rate = 0.05;
		job.stop = &stopped;
		job.tick = stop_it;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_uint_in_range(bench_clock() - begun, 0, 3000000000ull);
		bench_outcome_free(&o);
	}
}

/* The other thread's first is due at 5 s, and the time is up after one. */
static void what_is_due_too_late_is_not_waited_for(void **state)
{
	static const enum bench_engine engine[] = { BENCH_PSYNC, BENCH_IO_URING };

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		struct bench_job job = job_of(engine[i], 1, 2, 100);
		u64 begun = bench_clock();

		job.rate = 0.2;
		job.seconds = 1;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(xp_histogram_count(&o.read), 1);
		assert_uint_in_range(bench_clock() - begun, 0, 3000000000ull);
		bench_outcome_free(&o);
	}
}

static void a_run_that_was_ended_has_none(void **state)
{
	struct bench_job job = job_of(BENCH_PSYNC, 1, 1, 100);

	(void)state;
	job.rate = 5e7;
	job.seconds = 5;
	job.stop = &stopped;
	job.tick = stop_it;
	assert_int_equal(bench_run(&job, &o), 0);
	assert_int_equal(o.never_begun, 0);
	bench_outcome_free(&o);
	stopped = 0;
	job.tick = NULL;
	job.requests = 100;
	assert_int_equal(bench_run(&job, &o), 0);
	assert_int_equal(o.never_begun, 0);
}

static void seconds_and_what_is_dropped(void **state)
{
	struct bench_job job = job_of(BENCH_PSYNC, 1, 1, 100);
	u64 n = 0;

	(void)state;
	job.rate = 200;
	job.dropped = 1;
	job.seconds = 2;
	assert_int_equal(bench_run(&job, &o), 0);
	assert_int_equal(o.nr_seconds, 2);
	for (u32 i = 0; i < o.nr_seconds; i++) {
		u64 heat = 0;

		for (u32 k = 0; k < BENCH_HEAT; k++)
			heat += o.second[i].heat[k];
		assert_int_equal(heat, o.second[i].n);
		assert_true(o.second[i].lo <= bench_second_mean(&o.second[i]));
		assert_true(o.second[i].hi >= bench_second_mean(&o.second[i]));
		n += o.second[i].n;
	}
	assert_int_equal(n, xp_histogram_count(&o.read));
	assert_uint_in_range(n, 300, 440);	/* on a busy machine some of those dropped end late */
}

/* A part of a second is none, and makes no other longer. */
static void seconds_are_whole(void **state)
{
	static const struct { double seconds; u32 whole; } of[] = { { 0.5, 0 }, { 1.5, 1 }, { 1.25, 1 }, { 2, 2 } };

	(void)state;
	for (u32 i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct bench_job job = job_of(BENCH_PSYNC, 1, 2, 100);

		job.rate = 400;
		job.seconds = of[i].seconds;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_int_equal(o.nr_seconds, of[i].whole);
		for (u32 s = 0; s < o.nr_seconds; s++)
			assert_uint_in_range(o.second[s].n, 300, 460);
		bench_outcome_free(&o);
	}
}

static void one_beside_another(void **state)
{
	struct bench_job job = job_of(BENCH_PSYNC, 1, 2, 100);
	struct bench_running *load;

	(void)state;
	assert_int_equal(bench_begin(&job, &load), 0);
	job.seconds = 0.3;
	assert_int_equal(bench_run(&job, &o), 0);
	bench_outcome_free(&o);
	assert_false(bench_over(load));
	bench_halt(load);
	assert_int_equal(bench_end(load, &o), 0);
	assert_true(xp_histogram_count(&o.read));
}

static void no_place_is_no_job(void **state)
{
	struct bench_job job = job_of(BENCH_PSYNC, 1, 1, 100);

	(void)state;
	bench_places_init(&job.places, BENCH_RANDOM, 0, 100, 4096, 4096, 1);
	assert_int_equal(bench_run(&job, &o), -ENOSPC);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(so_many_as_asked_for),
		TEST(every_block_is_written),
		TEST(it_begins_where_it_is_told),
		TEST(requests_alone_end_it),
		TEST(a_mix_is_as_asked_for),
		TEST(errors_are_counted_and_not_timed),
		TEST(a_device_that_is_gone_ends_it),
		TEST(a_device_that_is_gone_ends_all_threads),
		TEST(an_open_loop_keeps_its_rate),
		TEST(a_rate_is_not_rounded),
		TEST(a_long_wait_can_be_ended),
		TEST(what_is_due_too_late_is_not_waited_for),
		TEST(no_request_that_was_due_is_left_out),
		TEST(a_run_that_was_ended_has_none),
		TEST(seconds_and_what_is_dropped),
		TEST(one_beside_another),
		TEST(seconds_are_whole),
		TEST(no_place_is_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
