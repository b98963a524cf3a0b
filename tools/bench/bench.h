/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - what the files of `xpcache bench` ask of each other.
 *
 *   bench.c           the verb: what is measured, in what order, what becomes of it
 *   bench_setup.c     the words of the options, as numbers
 *   bench_target.c    the devices; bench_guard.c: may one be written?
 *   bench_tests.c     the named tests, as runs
 *   bench_run.c       one run: from the plan to its result
 *   bench_engine.c    bench_io.c  bench_places.c: the requests themselves
 *   bench_cache.c     a running cache: its counters, its histogram, what it holds
 *   bench_headline.c  hidden, tax, cover: arithmetic on three histograms
 *   bench_result.c    the result as JSON; bench_host.c: where it came from
 *   bench_result.h    and what is read off it, told and compared
 *   bench_randread.c  as randread printed it
 *   bench_state.c     what an interrupted session goes on from
 *   bench_output.c    the files that are written, and what is never written over
 */
#ifndef BENCH_H
#define BENCH_H

#include "lib/device.h"
#include "lib/exit.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"
#include "tools/bench/bench_result.h"
#include "platform.h"

#include <limits.h>
#include <stdio.h>

struct bench_cache;
struct json_object;
struct options;

/* ---------------------------------------------------- bench_setup.c ---- */

/* 0 (and for the range, nothing) where the test decides. */
struct bench_setup {
	double seconds, rate;
	u32 size, depth, threads;
	u64 range_from, range_bytes;
	double range_percent;
	u64 seed;
	u32 tests;			/* a bit for each row of bench_tests[] */
	enum bench_where { BENCH_PLACES_WORKLOAD, BENCH_PLACES_CACHED, BENCH_PLACES_DEVICE } places;
	bool engine_given, ranged, quick, destructive, force, buffered, precondition;
	enum bench_engine engine;
};
enum xc bench_setup_read(struct bench_setup *s, const struct options *opt);

/* --------------------------------------------------- bench_target.c ---- */

enum bench_leg {
	BENCH_ALONE,		/* a device, and no cache */
	BENCH_U,		/* the slow device, uncached */
	BENCH_C,		/* through the cache */
	BENCH_R,		/* the raw fast device */
};

#define BENCH_TARGETS	16u

struct bench_target {
	struct device dev;
	enum bench_leg leg;
	const char *role;	/* "cached", "slow", "fast", "device" */
	char label[64];
	u64 from, bytes;	/* what of it is measured */
	bool writable;		/* the guard has let it pass, and holds it */
	bool scratch;		/* leg R's for writes: what the cache keeps free for this */
	u64 *list, nr_list;	/* places of 4 KiB that stand for it; or none */
	bool unchanged;		/* reading them changes nothing: they may come again */
};
enum xc bench_target_open(struct bench_target *t, const char *path, enum bench_leg leg);
enum xc bench_target_range(struct bench_target *t, const struct bench_setup *s);
void bench_target_close(struct bench_target *t);

/* ---------------------------------------------------- bench_guard.c ---- */

/* May what is on it be destroyed? Held by nobody, asked three times. */
enum xc bench_guard(struct bench_target *t, bool force);

/* ---------------------------------------------------- bench_tests.c ---- */

/* One run, as planned. */
struct bench_plan_run {
	char id[96];
	const char *test;
	struct bench_target *target;
	enum bench_engine engine;
	enum bench_pattern pattern;
	u32 size, align, depth, threads, read_percent;
	bool own_region, buffered, lines;
	bool fell_back;		/* to the page cache: there is no O_DIRECT */
	bool listed;		/* its places are those of the target's list, if it has one */
	double rate, seconds, dropped;
	u64 requests, begin;	/* with requests and no seconds they alone end it */
	u64 from, bytes;	/* of the target's range; 0 bytes: all of it */
	bool prepares;		/* with the engine that it has */
	bool by_places;		/* where requests end it: there are no more places */
	bool load;		/* big sequential requests beside it, of */
#define BENCH_LOAD_SIZE	(128u << 10)
	u32 load_read_percent;
	u32 rounds;		/* not 0: one of so many that become one run, with one id */
	/* One of a curve: the working set's ratio, how full it is, which round. */
	double at;
};

struct bench_plan {
	struct bench_plan_run *run;
	u32 nr, room;
};

/* What a test goes through by itself: no option takes its place. */
enum bench_axes { BENCH_BY_SIZE = 1, BENCH_BY_DEPTH = 2, BENCH_BY_THREADS = 4, BENCH_BY_ALL = 7 };
enum bench_needs { BENCH_ANY = 0, BENCH_WRITES = 1, BENCH_CACHE = 2, BENCH_DEVICES = 4 };

struct bench;
struct bench_test {
	const char *name;
	int (*plan)(struct bench *b, const struct bench_test *test);
	double seconds, dropped;
	u32 needs, axes;
	const char *what;
};
extern const struct bench_test bench_tests[];

#define BENCH_TESTS	16u
int bench_test_find(const char *name);	/* its row, or -1 */
/* All that was asked for. */
enum xc bench_plan_make(struct bench *b);
double bench_plan_seconds(const struct bench_plan *p, u32 from);

/* ------------------------------------------------------ bench_run.c ---- */

struct bench {
	struct bench_setup setup;
	struct bench_target target[BENCH_TARGETS];
	u32 nr_targets;
	struct bench_cache *cache;	/* NULL: devices alone */
	struct bench_plan plan;
	struct json_object *result;	/* what bench_result.h's schema says */
	struct json_object *runs;	/* its "runs" */
	char state_path[PATH_MAX];	/* "": no state but after Ctrl-C */
	bool cut_short;			/* it could not be stored what was measured */
	bool lines;			/* randread prints as it goes */
	bool quiet;			/* stdout is for a program */
};

/* Set by Ctrl-C: the run under way ends and is thrown away. */
extern volatile sig_atomic_t bench_stopped;
void bench_catch_signals(void);
/* Each run of the plan that the result does not hold already. */
enum xc bench_run_all(struct bench *b);

/* ------------------------------------------------- bench_randread.c ---- */

void bench_lines_header(const struct bench_plan_run *run);
void bench_line(const struct bench_second *s);

/* --------------------------------------------------- bench_result.c ---- */

struct json_object *bench_result_new(const struct bench *b, int argc, char **argv);
struct json_object *bench_result_run(const struct bench_plan_run *run,
				     const struct bench_outcome *o);

/* ----------------------------------------------------- bench_host.c ---- */

struct json_object *bench_host_json(void);
struct json_object *bench_device_json(const struct bench_target *t);

/* --------------------------------------------------- bench_output.c ---- */

/* May a result go to @path, and can it? Asked before anything is measured. */
enum xc bench_output_ready(const struct bench *b, const char *path);
/* To @path, all of it or nothing, or to stdout for NULL. */
enum xc bench_output_write(const struct bench *b, struct json_object *result, enum bench_form form,
			   const char *path);
/* A file, or to be one; no terminal and no pipe. */
bool bench_output_is_file(const char *path);

/* ---------------------------------------------------- bench_state.c ---- */

/* Into the result goes what it is of, until the session ends. */
enum xc bench_state_begin(struct bench *b);
void bench_state_end(struct bench *b);
/* Is @old a state of this program's? Goes to the directory where it was begun. */
enum xc bench_state_enter(struct json_object *old, const char *path);
/* Complains where the targets are not those of @old. */
enum xc bench_state_check(const struct bench *b, struct json_object *old);
/* Complains if there is one at @path. */
enum xc bench_state_free(const char *path);
/* At its path; or under a new name, if it has none. */
enum xc bench_state_save(struct bench *b);
void bench_state_drop(const struct bench *b);

/* ---------------------------------------------------- bench_cache.c ---- */

/* Opens the three legs of the running cache @name. */
enum xc bench_cache_open(struct bench *b, const char *name);
void bench_cache_close(struct bench *b);
/* Around a run of leg C: what the cache saw of it. */
void bench_cache_before(struct bench_cache *c);
void bench_cache_after(struct bench_cache *c, struct json_object *run);
void bench_cache_begin(struct bench *b);
void bench_cache_finish(struct bench *b);	/* the headline, and what it warns of */
/* Share of hits among the reads since the last look; -1: none. */
double bench_cache_look(struct bench_cache *c);
u64 bench_cache_bytes(const struct bench_cache *c);
const char *bench_cache_uuid(const struct bench_cache *c);

#endif /* BENCH_H */
