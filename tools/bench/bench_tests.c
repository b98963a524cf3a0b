// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_tests.c - the named tests, as runs.
 *
 * Each is what an article measured (docs/MEASURING.md says which). A test makes its runs
 * for every target and, if that may be written, for writes too. What is given on the
 * command line (--size, --depth, ...) takes the place of the test's own.
 */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"
#include "core/block.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB	1024u
#define MIB	(1024u * KIB)
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/* ------------------------------------------------------- the plan ---- */

static const char *size_word(u32 size)
{
	static char word[4][16];
	static u32 next;
	char *s = word[next++ % COUNT(word)];

	if (size >= MIB && size % MIB == 0)
		snprintf(s, sizeof(word[0]), "%uM", size / MIB);
	else if (size >= KIB && size % KIB == 0)
		snprintf(s, sizeof(word[0]), "%uK", size / KIB);
	else
		snprintf(s, sizeof(word[0]), "%uB", size);
	return s;
}

/* "U", "C", "R", or the number of the device. */
static const char *target_word(const struct bench *b, const struct bench_target *t)
{
	static const char *const leg[] = { "", "U", "C", "R" };
	static char word[16];

	snprintf(word, sizeof(word), "%u", (u32)(t - b->target) + 1);
	return t->leg == BENCH_ALONE ? word : leg[t->leg];
}

static int plan_add(struct bench_plan *p, const struct bench_plan_run *run)
{
	if (p->nr == p->room) {
		u32 room = p->room ? 2 * p->room : 32;
		struct bench_plan_run *grown = reallocarray(p->run, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->run = grown;
		p->room = room;
	}
	p->run[p->nr++] = *run;
	return 0;
}

/* A quick one is 1/20 as long, and 1 s at least: enough to see that all works. Rounds share
 * what is given by --seconds. */
static void set_durations(const struct bench *b, struct bench_plan_run *run)
{
	const struct bench_setup *s = &b->setup;
	double seconds = run->seconds;

	if (s->seconds > 0)
		seconds = s->seconds / max(run->rounds, 1);
	else if (s->quick)
		seconds = min(seconds, max(1.0, seconds / 20));
	run->dropped *= run->seconds > 0 ? min(1.0, seconds / run->seconds) : 1;
	run->seconds = seconds;
}

static struct bench_plan_run run_of(const struct bench_test *test)
{
	return (struct bench_plan_run){
		.test = test->name, .engine = BENCH_IO_URING, .pattern = BENCH_RANDOM,
		.size = 4 * KIB, .align = 4 * KIB, .depth = 1, .threads = 1, .read_percent = 100,
		.seconds = test->seconds, .dropped = test->dropped,
	};
}

/* A device of 4 KiB sectors takes no smaller requests, and a small one no bigger ones. */
static bool fits(const struct bench_target *t, const struct bench_plan_run *run)
{
	u64 bytes = run->bytes ? run->bytes : t->bytes;

	if (run->load && t->bytes < BENCH_LOAD_SIZE)
		return false;
	return (run->buffered || (run->size % t->dev.logical == 0 && run->align % t->dev.logical == 0)) &&
	       bytes >= run->size;
}

/* Once round, what the page cache has read it answers: a small device is done before its time,
 * and then no second of it can be dropped. */
static void end_with_device(const struct bench_target *t, struct bench_plan_run *run)
{
	run->requests = (run->bytes ? run->bytes : t->bytes) / run->size;
	run->by_places = true;
	run->dropped = 0;
}

/* Two tests share it. */
static bool is_planned(const struct bench_plan *plan, const struct bench_plan_run *run)
{
	for (u32 i = 0; i < plan->nr; i++)
		if (!strcmp(plan->run[i].id, run->id) && plan->run[i].at == run->at)
			return true;
	return false;
}

/* @run's id ends in @word. One at a time is what pread() does. io_uring hands a request for a
 * device that cannot be asked not to wait, as most of the device mapper cannot, to a thread of
 * the kernel first. */
static int plan_as_is(struct bench *b, struct bench_target *t, struct bench_plan_run run, const char *word)
{
	const struct bench_setup *s = &b->setup;

	run.target = t;
	if (s->engine_given && !run.prepares)
		run.engine = s->engine;
	else if (run.depth == 1)
		run.engine = BENCH_PSYNC;
	run.buffered |= s->buffered;
	run.listed &= run.size <= XP_BLOCK_SIZE;
	if (!fits(t, &run))
		return 0;
	if (run.buffered && run.pattern == BENCH_SEQUENTIAL && run.read_percent == 100)
		end_with_device(t, &run);
	snprintf(run.id, sizeof(run.id), "%s/%s%s%s", run.test, target_word(b, t), *word ? "/" : "", word);
	return is_planned(&b->plan, &run) ? 0 : plan_add(&b->plan, &run);
}

/* What is measured: the command line's, where it says something. What only prepares for that is
 * planned as it is. */
static int plan_on(struct bench *b, struct bench_target *t, struct bench_plan_run run, const char *word)
{
	const struct bench_setup *s = &b->setup;

	if (s->size)
		run.size = run.align = s->size;
	if (s->depth)
		run.depth = s->depth;
	if (s->threads)
		run.threads = s->threads;
	if (s->rate > 0)
		run.rate = s->rate;
	set_durations(b, &run);
	return plan_as_is(b, t, run, word);
}

/* Who only reads has no use for the scratch area of a cache, who writes needs leave. */
static bool may(const struct bench_target *t, bool writes)
{
	return writes ? t->writable : !t->scratch;
}

static int plan_everywhere(struct bench *b, const struct bench_plan_run *run, const char *word)
{
	int err = 0;

	for (u32 i = 0; i < b->nr_targets && !err; i++)
		if (may(&b->target[i], run->read_percent < 100))
			err = plan_on(b, &b->target[i], *run, word);
	return err;
}

/* Reads, then writes. */
static int plan_both(struct bench *b, struct bench_plan_run run, const char *word)
{
	char with[64];
	int err;

	snprintf(with, sizeof(with), "read-%s", word);
	run.read_percent = 100;
	err = plan_everywhere(b, &run, with);
	snprintf(with, sizeof(with), "write-%s", word);
	run.read_percent = 0;
	return err ? err : plan_everywhere(b, &run, with);
}

/* ------------------------------------------------------- the tests ---- */

#define ROUNDS	3u

/* Legs in turn, so that what drifts drifts for all. Of a cache nothing is dropped: the
 * first requests are at places like all others. */
static int plan_headline(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err = 0;

	run.listed = true;
	run.seconds /= ROUNDS;
	run.dropped = b->cache ? 0 : run.dropped / ROUNDS;
	for (u32 round = 0; round < ROUNDS && !err; round++) {
		run.at = round;
		run.rounds = ROUNDS;
		err = plan_everywhere(b, &run, "");
	}
	return err;
}

/* Dillon's matrix: so many processes, each at depth 1. */
static int plan_randread(struct bench *b, const struct bench_test *test)
{
	static const struct { u32 size, nr; } matrix[] = {
		{ 4 * KIB, 1 }, { 4 * KIB, 4 }, { 32 * KIB, 4 }, { 32 * KIB, 64 },
		{ 64 * KIB, 64 }, { 128 * KIB, 64 },
	};
	struct bench_plan_run run = run_of(test);
	int err = 0;

	run.engine = BENCH_PSYNC;
	run.lines = true;
	for (u32 i = 0; i < COUNT(matrix) && !err; i++) {
		char word[32];

		run.size = run.align = matrix[i].size;
		run.threads = matrix[i].nr;
		snprintf(word, sizeof(word), "%sx%u", size_word(run.size), run.threads);
		err = plan_everywhere(b, &run, word);
	}
	run.size = run.align = 128 * KIB;	/* a file system's read-ahead, as he had it */
	run.threads = 1;
	run.pattern = BENCH_SEQUENTIAL;
	run.buffered = true;
	return err ? err : plan_everywhere(b, &run, "read-ahead");
}

/* Latency Distribution and Latency Percentile are two views of one run. */
static int plan_distribution(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	char word[16];

	run.test = "distribution";
	run.depth = b->setup.depth ? b->setup.depth : 32;
	snprintf(word, sizeof(word), "QD%u", run.depth);
	return plan_everywhere(b, &run, word);
}

/* A depth is shared out to up to four threads. */
static void set_depth(struct bench_plan_run *run, u32 depth)
{
	run->threads = min(depth, 4u);
	run->depth = depth / run->threads;
}

/* @align 0: each by its own size. */
static int plan_sizes(struct bench *b, struct bench_plan_run run, u32 least, u32 align,
		      const char *kind)
{
	u32 most = run.pattern == BENCH_RANDOM && !*kind ? 128 * KIB : MIB;
	int err = 0;

	for (u32 size = least; size <= most && !err; size *= 2) {
		char word[48];

		run.size = size;
		run.align = align ? align : size;
		snprintf(word, sizeof(word), "%s%s", kind, size_word(size));
		err = plan_both(b, run, word);
	}
	return err;
}

static int plan_depths(struct bench *b, struct bench_plan_run run, u32 most)
{
	int err = 0;

	for (u32 depth = 1; depth <= most && !err; depth *= 2) {
		char word[48];

		set_depth(&run, depth);
		snprintf(word, sizeof(word), "%s-QD%u", size_word(run.size), depth);
		err = plan_both(b, run, word);
	}
	return err;
}

static int plan_random(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err = plan_sizes(b, run, 4 * KIB, 0, "");

	return err ? err : plan_depths(b, run, 16);
}

static int plan_sequential(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err;

	run.pattern = BENCH_SEQUENTIAL;
	run.own_region = true;
	err = plan_sizes(b, run, 4 * KIB, 0, "");
	run.size = run.align = 128 * KIB;
	return err ? err : plan_depths(b, run, 64);
}

static int plan_transfer_size(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err = plan_sizes(b, run, 512, 0, "aligned-");

	if (!err)
		err = plan_sizes(b, run, 1 * KIB, 512, "512-");
	run.pattern = BENCH_SEQUENTIAL;
	return err ? err : plan_sizes(b, run, 512, 0, "sequential-");
}

static int plan_mixed(struct bench *b, const struct bench_test *test)
{
	static const u32 percent[] = { 100, 90, 70, 50, 30, 0 };
	struct bench_plan_run run = run_of(test);
	int err = 0;

	for (u32 i = 0; i < COUNT(percent) && !err; i++) {
		char word[16];

		run.read_percent = percent[i];
		snprintf(word, sizeof(word), "%u%%", percent[i]);
		err = plan_everywhere(b, &run, word);
	}
	return err;
}

/* One at a time, while others take the device for big requests. */
static int plan_background(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err;

	run.load = true;
	run.load_read_percent = 100;
	err = plan_everywhere(b, &run, "beside-reads");
	run.load_read_percent = 0;
	for (u32 i = 0; i < b->nr_targets && !err; i++)
		if (may(&b->target[i], true))
			err = plan_on(b, &b->target[i], run, "beside-writes");
	return err;
}

/* What swapping asks of a device, without swapping: single pages in, from four processes,
 * while clusters go out. */
static int plan_swap(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	int err = 0;

	run.threads = 4;
	run.engine = BENCH_PSYNC;
	run.load = true;
	for (u32 i = 0; i < b->nr_targets && !err; i++)
		if (may(&b->target[i], true))
			err = plan_on(b, &b->target[i], run, "in-and-out");
	return err;
}

/* So much is written, then that is read; the first reads what was there. */
static int plan_fill_level(struct bench *b, struct bench_target *t, const struct bench_test *test, u32 level)
{
	struct bench_plan_run run = run_of(test);
	u64 part = t->bytes / 4 & ~(u64)(MIB - 1);
	char word[16];
	int err = 0;

	run.at = level / 4.0;
	snprintf(word, sizeof(word), "write-%u", 25 * level);
	if (level) {
		run.from = (level - 1) * part;
		run.bytes = part;
		run.pattern = BENCH_SEQUENTIAL;
		run.size = run.align = 128 * KIB;
		run.depth = 8;
		run.read_percent = 0;
		run.requests = part / run.size;
		run.seconds = run.dropped = 0;
		err = plan_as_is(b, t, run, word);
	}
	run = run_of(test);
	run.at = level / 4.0;
	run.bytes = level ? level * part : 0;
	snprintf(word, sizeof(word), "read-%u", 25 * level);
	return err ? err : plan_on(b, t, run, word);
}

static int plan_fill(struct bench *b, const struct bench_test *test)
{
	int err = 0;

	for (u32 i = 0; i < b->nr_targets && !err; i++)
		for (u32 level = 0; level <= 4 && !err; level++)
			if (b->target[i].writable && b->target[i].bytes >= 4 * MIB)
				err = plan_fill_level(b, &b->target[i], test, level);
	return err;
}

static int plan_writes(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);

	char word[48];

	run.read_percent = 0;
	run.size = b->setup.size ? b->setup.size : run.size;
	run.depth = b->setup.depth ? b->setup.depth : 4;
	snprintf(word, sizeof(word), "%s-QD%u", size_word(run.size), run.depth);
	return plan_everywhere(b, &run, word);
}

static int plan_crystal(struct bench *b, const struct bench_test *test)
{
	static const struct {
		const char *word;
		enum bench_pattern pattern;
		u32 size, depth;
	} row[] = {
		{ "SEQ1M-Q8T1", BENCH_SEQUENTIAL, MIB, 8 }, { "SEQ1M-Q1T1", BENCH_SEQUENTIAL, MIB, 1 },
		{ "RND4K-Q32T1", BENCH_RANDOM, 4 * KIB, 32 }, { "RND4K-Q1T1", BENCH_RANDOM, 4 * KIB, 1 },
	};
	struct bench_plan_run run = run_of(test);
	int err = 0;

	for (u32 i = 0; i < COUNT(row) && !err; i++) {
		run.pattern = row[i].pattern;
		run.size = run.align = row[i].size;
		run.depth = row[i].depth;
		err = plan_both(b, run, row[i].word);
	}
	return err;
}

static struct bench_target *leg_c(struct bench *b)
{
	for (u32 i = 0; i < b->nr_targets; i++)
		if (b->target[i].leg == BENCH_C)
			return &b->target[i];
	return b->target;
}

/* From as it is, in a set of half the cache, as a workload goes about it. */
static int plan_warmup(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	struct bench_target *t = leg_c(b);

	run.pattern = BENCH_ZIPF;
	run.bytes = min(t->bytes, bench_cache_bytes(b->cache) / 2 & ~4095ull);
	run.dropped = 0;
	return plan_on(b, t, run, "");
}

#define WARMING		3600	/* s at most */
#define WARMING_SIZE	(128 * KIB)

/*
 * It ends when all of the set has been read: big requests are what a disk does best. From the
 * last one down, as a cache keeps no more of a stream than its begin. Of a set that the cache
 * cannot hold and that has favourites, when twice as many were drawn as there are blocks: what
 * stays in the cache is for the draws to decide. By pread(), whatever the engine is: of a request
 * that is in the cache in part io_uring may be told to come again.
 */
static int plan_warming(struct bench *b, struct bench_plan_run run, const char *word)
{
	run.depth = 8;
	run.engine = BENCH_PSYNC;
	run.prepares = true;
	run.seconds = b->setup.quick ? WARMING / 20 : WARMING;
	run.dropped = 0;
	if (run.pattern == BENCH_ZIPF && run.bytes > bench_cache_bytes(b->cache)) {
		run.requests = 2 * (run.bytes / run.size);
	} else {
		run.pattern = BENCH_BACKWARD;
		run.size = run.align = WARMING_SIZE;
		run.requests = run.bytes / run.size;
	}
	return plan_as_is(b, leg_c(b), run, word);
}

/* One part of a set that is so many times the cache: warming it is a run of its own. */
static int plan_set(struct bench *b, struct bench_plan_run run, u64 bytes, const char *name)
{
	char word[48];
	int err;

	run.bytes = bytes;
	snprintf(word, sizeof(word), "%s-%.2f-warming", name, run.at);
	err = plan_warming(b, run, word);
	run.begin = 1ull << 32;	/* draws of its own */
	snprintf(word, sizeof(word), "%s-%.2f", name, run.at);
	return err ? err : plan_on(b, leg_c(b), run, word);
}

static int plan_working_set(struct bench *b, const struct bench_test *test)
{
	struct bench_plan_run run = run_of(test);
	u64 cache = bench_cache_bytes(b->cache);
	int err = 0;

	for (double ratio = 0.25; ratio <= 4 && !err; ratio *= 2) {
		u64 bytes = (u64)((double)cache * ratio) & ~(u64)(WARMING_SIZE - 1);

		if (!bytes || bytes > leg_c(b)->bytes)
			continue;
		run.at = ratio;
		run.pattern = BENCH_UNIFORM;
		err = plan_set(b, run, bytes, "uniform");
		run.pattern = BENCH_ZIPF;
		err = err ? err : plan_set(b, run, bytes, "zipf");
	}
	return err;
}

/* In this order: warming up begins with the cache as it is, and the headline's places are drawn
 * from what is in it. */
const struct bench_test bench_tests[BENCH_TESTS] = {
	{ "headline", plan_headline, 30, 1.5, BENCH_ANY, 0,
	  "4K random reads, one at a time: what the cache hides" },
	{ "warmup", plan_warmup, 120, 0, BENCH_CACHE, 0,
	  "hit rate and latency from the first second on" },
	{ "randread", plan_randread, 10, 1, BENCH_ANY, BENCH_BY_SIZE | BENCH_BY_THREADS,
	  "Dillon's: 4K to 128K, 1 to 64 processes; a line a second" },
	{ "distribution", plan_distribution, 60, 5, BENCH_ANY, 0,
	  "4K random reads, 32 at a time: how many took how long" },
	{ "percentile", plan_distribution, 60, 5, BENCH_ANY, 0,
	  "the same, as percentiles" },
	{ "random", plan_random, 180, 60, BENCH_ANY, BENCH_BY_ALL,
	  "random, by size and by depth" },
	{ "sequential", plan_sequential, 180, 60, BENCH_ANY, BENCH_BY_ALL,
	  "sequential, by size and by depth" },
	{ "transfer-size", plan_transfer_size, 10, 1, BENCH_ANY, BENCH_BY_SIZE,
	  "512 B to 1 MiB: aligned, at any sector, sequential" },
	{ "mixed", plan_mixed, 60, 5, BENCH_WRITES, 0,
	  "reads and writes, from all reads to all writes" },
	{ "background", plan_background, 60, 5, BENCH_ANY, 0,
	  "4K random reads beside a heavy sequential load" },
	{ "swap", plan_swap, 60, 5, BENCH_WRITES, 0,
	  "pages in beside clusters out, as swapping does" },
	{ "fill", plan_fill, 10, 1, BENCH_WRITES | BENCH_DEVICES, 0,
	  "reads with none to all of the device written" },
	{ "writes", plan_writes, 300, 0, BENCH_WRITES, 0,
	  "latency of writes against GB written" },
	{ "crystal", plan_crystal, 5, 1, BENCH_ANY, BENCH_BY_ALL,
	  "the four lines of CrystalDiskMark" },
	{ "working-set", plan_working_set, 20, 1, BENCH_CACHE, 0,
	  "sets of 1/4 to 4 times the cache" },
	{ "all", NULL, 0, 0, BENCH_ANY, 0,
	  "all that can be done here" },
};

#define ALL	(BENCH_TESTS - 1)

int bench_test_find(const char *name)
{
	for (u32 i = 0; i < BENCH_TESTS; i++)
		if (!strcmp(bench_tests[i].name, name))
			return (int)i;
	return -1;
}

/* ----------------------------------------------------------- whole ---- */

static enum xc check_needs(const struct bench *b, const struct bench_test *test)
{
	if (test->needs & BENCH_WRITES && !b->setup.destructive)
		return complain(XC_USAGE, test->name, "give --destructive if what is on the device may be lost",
				"the test writes");
	if (test->needs & BENCH_CACHE && !b->cache)
		return complain(XC_USAGE, test->name, "give the name of one that runs",
				"the test is of a cache");
	if (test->needs & BENCH_DEVICES && b->cache)
		return complain(XC_USAGE, test->name, "give a device", "the test is not of a cache");
	return XC_OK;
}

/* One size in place of many would be one run under many names. */
static enum xc check_axes(const struct bench *b, const struct bench_test *test)
{
	const struct bench_setup *s = &b->setup;
	const char *option = test->axes & BENCH_BY_SIZE && s->size ? "--size" :
			     test->axes & BENCH_BY_DEPTH && s->depth ? "--depth" :
			     test->axes & BENCH_BY_THREADS && s->threads ? "--threads" : NULL;

	return option ? complain(XC_USAGE, option, "leave it out, or give --test headline",
				 "the test %s goes through many of its own", test->name) : XC_OK;
}

static bool can(const struct bench *b, const struct bench_test *test)
{
	return !(test->needs & BENCH_WRITES && !b->setup.destructive) &&
	       !(test->needs & BENCH_CACHE && !b->cache) &&
	       !(test->needs & BENCH_DEVICES && b->cache);
}

/* "Filled twice with 4K random writes", as AnandTech did before measuring. */
static int plan_precondition(struct bench *b)
{
	const struct bench_test test = { .name = "precondition" };
	struct bench_plan_run run = run_of(&test);
	int err = 0;

	run.depth = 32;
	run.read_percent = 0;
	for (u32 i = 0; i < b->nr_targets && !err; i++) {
		if (!may(&b->target[i], true) || b->target[i].scratch)
			continue;
		run.requests = 2 * (b->target[i].bytes / run.size);
		err = plan_as_is(b, &b->target[i], run, "");
	}
	return err;
}

/* Each request under way has a buffer. */
#define MOST_BUFFERS	(1024ull * MIB)

static enum xc check_buffers(const struct bench_plan *p)
{
	for (u32 i = 0; i < p->nr; i++) {
		const struct bench_plan_run *run = &p->run[i];
		u64 bytes = (u64)run->size * run->depth * run->threads;

		if (bytes > MOST_BUFFERS)
			return complain(XC_USAGE, run->id, "give a smaller --size, --depth or --threads",
					"its buffers take %s, more than %s", text_bytes(bytes),
					text_bytes(MOST_BUFFERS));
	}
	return XC_OK;
}

/* By its name, or among all. */
static bool is_asked_for(const struct bench *b, u32 number)
{
	u32 tests = b->setup.tests;

	return tests & (1u << number) || (tests & (1u << ALL) && can(b, &bench_tests[number]));
}

static enum xc check_test(struct bench *b, const struct bench_test *test)
{
	enum xc ret = check_needs(b, test);

	return ret ? ret : check_axes(b, test);
}

enum xc bench_plan_make(struct bench *b)
{
	int err = b->setup.precondition ? plan_precondition(b) : 0;

	for (u32 i = 0; i < ALL && !err; i++) {
		const struct bench_test *test = &bench_tests[i];
		enum xc ret;

		if (!is_asked_for(b, i))
			continue;
		ret = check_test(b, test);
		if (ret)
			return ret;
		err = test->plan(b, test);
	}
	if (!err && !b->plan.nr)
		return complain(XC_USAGE, b->target->dev.path, "give another --test, --size or --range",
				"none of its requests fits the device");
	return err ? complain_errno(err, NULL, "cannot plan the runs") : check_buffers(&b->plan);
}

/* Runs that end by their requests are reckoned at a guess of 10,000 a second. */
static double run_seconds(const struct bench_plan_run *run)
{
	double seconds = run->seconds > 0 ? run->seconds + run->dropped : INFINITY;

	return run->requests ? fmin((double)run->requests / 10000, seconds) : seconds;
}

double bench_plan_seconds(const struct bench_plan *p, u32 from)
{
	double seconds = 0;

	for (u32 i = from; i < p->nr; i++)
		seconds += run_seconds(&p->run[i]);
	return seconds;
}
