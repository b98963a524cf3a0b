// SPDX-License-Identifier: GPL-2.0-only
/* test_engine.c - requests to a file, by both engines: none lost, none twice, errors told. */
#include "bench_engine.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define BLOCKS	512u

static int fd;
static struct bench_outcome o;
static u8 image[BLOCKS * 4096];

void xp_assert_failed(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: %s", file, line, what);
	abort();
}

static int begin(void **state)
{
	char path[] = "/tmp/xpcache-bench.XXXXXX";

	(void)state;
	fd = mkstemp(path);
	unlink(path);
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

static void a_mix_is_as_asked_for(void **state)
{
	struct bench_job job = job_of(BENCH_IO_URING, 4, 2, 70);

	(void)state;
	job.requests = 10000;
	assert_int_equal(bench_run(&job, &o), 0);
	assert_in_range(xp_histogram_count(&o.read), 6800, 7200);
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
	assert_in_range(o.errors, 1000, 1004);
}

static void an_open_loop_keeps_its_rate(void **state)
{
	(void)state;
	for (u32 i = 0; i < WAYS; i++) {
		struct bench_job job = job_of(way[i].engine, way[i].depth, way[i].threads, 100);

		job.rate = 500;
		job.seconds = 1;
		assert_int_equal(bench_run(&job, &o), 0);
		assert_in_range(xp_histogram_count(&o.read), 400, 501);	/* a busy machine misses some */
		assert_int_equal(xp_histogram_count(&o.intended), xp_histogram_count(&o.read));
		assert_true(o.intended.sum >= o.read.sum);
		bench_outcome_free(&o);
	}
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
	assert_in_range(n, 300, 402);
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
		TEST(a_mix_is_as_asked_for),
		TEST(errors_are_counted_and_not_timed),
		TEST(a_device_that_is_gone_ends_it),
		TEST(an_open_loop_keeps_its_rate),
		TEST(seconds_and_what_is_dropped),
		TEST(no_place_is_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
