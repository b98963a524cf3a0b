// SPDX-License-Identifier: GPL-2.0-only
/* bench_run.c - one run after another: from the plan to the result. */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/progress.h"
#include "lib/uring.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"
#include "core/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t bench_stopped;

static void stop(int sig)
{
	(void)sig;
	__atomic_store_n(&bench_stopped, 1, __ATOMIC_RELAXED);
}

void bench_catch_signals(void)
{
	const struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ------------------------------------------------------------- job ---- */

/* Where a file system has no O_DIRECT the page cache answers, and the result says so. */
static int open_directly(struct bench_plan_run *run, const char *path, int flags)
{
	int fd = open(path, flags | (run->buffered ? 0 : O_DIRECT));

	if (fd >= 0 || errno != EINVAL || run->buffered)
		return fd;
	run->buffered = run->fell_back = true;
	return open(path, flags);
}

/* What was opened and looked at, whatever its path leads to by now. */
#define NO_FILE	INT_MAX		/* of a remote device; close() finds nothing */

static int open_device(struct bench_plan_run *run, bool write)
{
	int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC, fd;
	char path[64];

	if (run->target->dev.remote)
		return NO_FILE;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", run->target->dev.fd);
	fd = open_directly(run, path, flags);
	if (fd >= 0 && run->buffered && !write)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd < 0 ? -errno : fd;
}

static void set_places(struct bench_places *p, const struct bench *b, const struct bench_plan_run *run)
{
	const struct bench_target *t = run->target;

	if (run->listed && t->nr_list)
		bench_places_list(p, t->list, t->nr_list, b->setup.seed);
	else
		bench_places_init(p, run->pattern, t->from + run->from, run->bytes ? run->bytes : t->bytes,
				  run->size, run->align, b->setup.seed);
}

/*
 * Each round has places of its own, and each leg: what U has read the disk may remember,
 * what C has read is in the cache from then on. A quarter is U's, the rest C's; a round
 * ends where its places do, unless reading them changes nothing.
 */
static void share_places(struct bench_job *job, const struct bench_plan_run *run)
{
	u64 share = max(1ull, job->places.n / (4 * run->rounds)), round = (u64)run->at;
	enum bench_leg leg = run->target->leg;

	if (leg == BENCH_U) {
		job->begin = round * share;
		job->requests = share;
	} else if (leg == BENCH_C) {
		job->begin = (run->rounds + 3 * round) * share;
		job->requests = run->target->unchanged ? 0 : 3 * share;
	} else {
		job->begin = round * (job->places.n / run->rounds);
	}
}

/* Its places are those of a draw that other runs share. */
static bool draws(const struct bench_plan_run *run)
{
	return (run->pattern == BENCH_RANDOM || run->pattern == BENCH_SEQUENTIAL) &&
	       !(run->listed && run->target->nr_list) && !run->requests;
}

static bool same_draw(struct json_object *j, const struct bench_plan_run *run)
{
	u64 bytes = run->bytes ? run->bytes : run->target->bytes;
	struct json_object *range = bench_result_get(j, "range");

	return bench_result_get(j, "places") &&
	       (run->target->leg != BENCH_ALONE || !strcmp(bench_result_text(j, "device"), run->target->dev.path)) &&
	       !json_object_get_boolean(bench_result_get(j, "repeats")) &&
	       !strcmp(bench_result_text(j, "pattern"), bench_pattern_name(run->pattern)) &&
	       json_object_get_uint64(json_object_array_get_idx(range, 1)) == bytes &&
	       (run->pattern == BENCH_SEQUENTIAL || (bench_result_number(j, "size") == run->size &&
						     bench_result_number(j, "align") == run->align));
}

/*
 * A run goes on where the last one of the same draw ended, whatever leg that was of: what
 * one has read another would find in the cache, or in the disk's memory. Of devices that are
 * compared each has the same places. Sequential ones go on at the same byte, whatever their size.
 */
static u64 begin_of(const struct bench *b, const struct bench_plan_run *run)
{
	u64 begin = 0;

	for (size_t i = 0; i < json_object_array_length(b->runs); i++) {
		struct json_object *j = json_object_array_get_idx(b->runs, i);
		u64 next, align = (u64)bench_result_number(j, "align");

		if (!same_draw(j, run))
			continue;
		next = json_object_get_uint64(json_object_array_get_idx(bench_result_get(j, "places"), 1));
		begin = max(begin, run->pattern == BENCH_SEQUENTIAL ?
				   (next * align + run->align - 1) / run->align : next);
	}
	return begin;
}

static void set_job(struct bench_job *job, const struct bench *b, const struct bench_plan_run *run)
{
	*job = (struct bench_job){
		.engine = run->target->dev.remote ? BENCH_NBD : run->engine,
		.uri = run->target->dev.path, .size = run->size, .read_percent = run->read_percent,
		.depth = run->depth, .threads = run->threads, .own_region = run->own_region,
		.rate = run->rate, .seconds = run->seconds, .dropped = run->dropped,
		.requests = run->requests, .begin = run->begin, .stop = &bench_stopped,
	};
	set_places(&job->places, b, run);
	if (run->rounds)
		share_places(job, run);
	else if (draws(run))
		job->begin = begin_of(b, run);
}

/* Big and sequential, eight at a time: what a copy or a scrub does. */
static int load_begin(const struct bench *b, const struct bench_plan_run *run, int fd,
		      struct bench_running **load)
{
	struct bench_job job;

	set_job(&job, b, run);
	job.fd = fd;
	if (job.engine != BENCH_NBD)
		job.engine = b->setup.engine_given ? b->setup.engine : BENCH_IO_URING;
	job.size = BENCH_LOAD_SIZE;
	job.depth = 8;
	job.threads = 1;
	job.rate = 0;
	job.begin = 0;
	job.read_percent = run->load_read_percent;
	bench_places_init(&job.places, BENCH_SEQUENTIAL, run->target->from, run->target->bytes,
			  job.size, job.size, b->setup.seed);
	return bench_begin(&job, load);
}

/* -------------------------------------------------------- progress ---- */

struct progress_of {
	struct bench *b;
	const struct bench_plan_run *run;
	u32 number;
	u64 begun;			/* ns */
	u32 shown;			/* seconds that were */
	struct json_object *hits;	/* of each second of a cache */
	u64 load_errors;
	double load_rate;		/* bytes a second */
	enum xc ret;			/* of the load */
	struct json_object *places;	/* the first of its draw, and the next one's; or NULL */
};

static void show_lines(struct progress_of *p, const struct bench_running *r)
{
	struct bench_second s;

	while (p->shown < bench_seconds(r)) {
		bench_second_of(r, p->shown++, &s);
		bench_line(&s);
	}
}

static void look_at_hits(struct progress_of *p, u32 seconds)
{
	if (json_object_array_length(p->hits) < seconds)
		bench_result_hits(p->hits, seconds, bench_cache_look(p->b->cache));
}

/* Seconds. How long requests take is not known before: what is done of them tells. */
static double left_of(const struct progress_of *p, double part)
{
	const struct bench_plan *plan = &p->b->plan;
	double rest = bench_plan_seconds(plan, p->number + 1), here = bench_plan_seconds(plan, p->number) - rest;

	if (p->run->requests && part > 0)
		here = (double)(bench_clock() - p->begun) / 1e9 / part;
	return rest + here * (1 - part);
}

static void tick(void *ctx, const struct bench_running *r, double part)
{
	struct progress_of *p = ctx;
	const struct bench_plan *plan = &p->b->plan;
	double all = bench_plan_seconds(plan, 0), left = left_of(p, part);
	char words[256];

	if (p->b->cache && p->run->target->leg == BENCH_C)
		look_at_hits(p, bench_seconds(r));
	if (p->b->lines && p->run->lines) {
		show_lines(p, r);
		return;
	}
	snprintf(words, sizeof(words), "%u of %u: %s, ETA %s", p->number + 1, plan->nr, p->run->id,
		 text_duration((u64)left + 1));
	progress_say(all > 0 ? fmax(0, 1 - left / all) : 1, words);
}

/* ------------------------------------------------------------- run ---- */

static enum xc tell_errors(const struct bench_plan_run *run, const struct bench_outcome *o, const char *whose)
{
	if (!o->errors)
		return XC_OK;
	return complain(XC_FAILED, run->target->dev.path, "dmesg may tell more",
			"%s: %s of %s failed, the first at byte %" PRIu64 ": %s", run->id,
			text_count(o->errors), whose, o->first_place, strerror(-o->first_error));
}

/* Root may be refused io_uring, too: by kernel.io_uring_disabled, or by a container. */
static enum xc tell_failure(const struct bench_plan_run *run, int err)
{
	bool uring = run->engine == BENCH_IO_URING || run->load;

	if (uring && (err == -EPERM || err == -ENOSYS || err == -EACCES || err == -ENOMEM))
		return complain(XC_FAILED, run->target->dev.path, "give --engine psync",
				"%s: io_uring is refused: %s", run->id, uring_why(err));
	return complain_errno(err, run->target->dev.path, run->id);
}

/* Where its draw began, and where the next may go on. */
static void note_places(struct progress_of *p, const struct bench_job *job, u64 drawn)
{
	p->places = draws(p->run) ? json_object_new_array() : NULL;
	if (!p->places)
		return;
	json_object_array_add(p->places, json_object_new_uint64(job->begin));
	json_object_array_add(p->places, json_object_new_uint64(max(drawn, job->begin)));
}

/* A run whose load had no effect is none. */
static int load_end(struct progress_of *p, struct bench_running *load)
{
	struct bench_outcome *o = calloc(1, sizeof(*o));
	int err;

	bench_halt(load);
	err = bench_end(load, o);
	if (!o)
		return -ENOMEM;
	p->load_errors = o->errors;
	p->load_rate = o->seconds > 0 ? (double)o->bytes / o->seconds : 0;
	p->ret = err ? XC_OK : tell_errors(p->run, o, "the requests beside it");
	bench_outcome_free(o);
	free(o);
	return err;
}

static int measure(struct progress_of *p, const struct bench_plan_run *run, int fd, struct bench_outcome *o)
{
	struct bench_running *load = NULL;
	struct bench_job job;
	int err = run->load ? load_begin(p->b, run, fd, &load) : 0;

	if (err)
		return err;
	set_job(&job, p->b, run);
	job.fd = fd;
	job.tick = tick;
	job.ctx = p;
	err = bench_run(&job, o);
	if (load) {
		int load_err = load_end(p, load);

		err = err ? err : load_err;
	}
	note_places(p, &job, o->drawn);
	return err;
}

static const char *ended_by(const struct bench_plan_run *run, const struct bench_outcome *o)
{
	return !o->used_up ? "time" : run->rounds || run->by_places ? "places" : "requests";
}

static void take(struct progress_of *p, const struct bench_outcome *o)
{
	struct bench *b = p->b;
	struct json_object *j = bench_result_run(p->run, o);

	bench_result_add(j, "ended_by", json_words(ended_by(p->run, o)));
	bench_result_add(j, "places", json_object_get(p->places));
	if (p->run->load) {
		bench_result_add(j, "load_bytes_per_second", json_object_new_double(p->load_rate));
		bench_result_add(j, "errors", json_object_new_uint64(o->errors + p->load_errors));
	}
	if (b->cache && p->run->target->leg == BENCH_C) {
		look_at_hits(p, o->nr_seconds);
		bench_cache_after(b->cache, j);
		bench_result_add(j, "hit_ratio_per_second", json_object_get(p->hits));
	}
	bench_result_take(b->runs, j);
}

/* Of the raw fast device nothing else may ever be written: a cache lives there. */
static void assert_harmless(const struct bench_plan_run *run)
{
	const struct bench_target *t = run->target;

	XP_ASSERT(t->writable && (t->leg != BENCH_R || t->scratch));
	XP_ASSERT(!t->scratch || (t->from == (u64)XP_SCRATCH_START << XP_BLOCK_SHIFT &&
				  t->bytes == (u64)XP_SCRATCH_BLOCKS << XP_BLOCK_SHIFT &&
				  !run->from && !run->bytes && !run->listed));
}

static bool writes(const struct bench_plan_run *run)
{
	return run->read_percent < 100 || (run->load && run->load_read_percent < 100);
}

static void show_rest(struct progress_of *p, const struct bench_outcome *o)
{
	for (; p->b->lines && p->run->lines && p->shown < o->nr_seconds; p->shown++)
		bench_line(&o->second[p->shown]);
}

/* Of an interrupted run nothing is kept but what went wrong. */
static enum xc measure_open(struct progress_of *p, struct bench_plan_run *run, int fd, struct bench_outcome *o)
{
	struct bench *b = p->b;
	int err;

	if (b->lines && run->lines)
		bench_lines_header(run);
	if (b->cache && run->target->leg == BENCH_C)
		bench_cache_before(b->cache);
	err = measure(p, run, fd, o);
	if (err)
		return tell_failure(run, err);
	show_rest(p, o);
	if (!bench_stopped)
		take(p, o);
	return tell_errors(run, o, "its requests");
}

static enum xc run_one(struct bench *b, u32 number)
{
	struct bench_plan_run *run = &b->plan.run[number];
	struct progress_of p = { .b = b, .run = run, .number = number, .begun = bench_clock() };
	struct bench_outcome *o = calloc(1, sizeof(*o));
	int fd = open_device(run, writes(run)), err = fd < 0 ? fd : !o ? -ENOMEM : 0;
	enum xc ret;

	if (writes(run))
		assert_harmless(run);
	p.hits = json_object_new_array();
	ret = err ? tell_failure(run, err) : measure_open(&p, run, fd, o);
	ret = ret ? ret : p.ret;
	json_object_put(p.hits);
	json_object_put(p.places);
	if (o)
		bench_outcome_free(o);
	free(o);
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool have(const struct bench *b, const struct bench_plan_run *run)
{
	struct json_object *j = bench_result_find(b->runs, run->id);

	return j && (!run->rounds || bench_result_number(j, "rounds") > run->at);
}

enum xc bench_run_all(struct bench *b)
{
	enum xc ret = XC_OK, one;

	for (u32 i = 0; i < b->plan.nr && !bench_stopped && !b->cut_short; i++) {
		if (have(b, &b->plan.run[i]))
			continue;
		one = run_one(b, i);
		ret = ret ? ret : one;
		if (*b->state_path && !bench_stopped)
			b->cut_short = bench_state_save(b) != XC_OK;
	}
	progress_end();
	return ret;
}
