/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_engine.h - requests to a device, each timed from submission to completion.
 *
 * A job is run by threads that share nothing; each has its own histogram, and they are
 * merged at the end. With io_uring a thread keeps @depth requests at the device; with
 * psync (pread and pwrite) a request is a thread, so there are @depth times as many.
 *
 *   bench_engine.c   threads, and what is recorded of a request
 *   bench_io.c       two ways to the device; bench_nbd.c: the third
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "tools/bench/bench_places.h"
#include "core/histogram.h"

#include <signal.h>
#include <stdbool.h>
#include <time.h>

struct timespec;

enum bench_engine { BENCH_IO_URING, BENCH_PSYNC, BENCH_NBD };

struct bench_running;	/* a job under way */

struct bench_job {
	int fd;				/* opened as wanted: O_DIRECT or not */
	const char *uri;		/* BENCH_NBD's, instead */
	enum bench_engine engine;
	struct bench_places places;
	u32 size;			/* bytes a request; a multiple of 512 with O_DIRECT */
	u32 read_percent;		/* 100: reads only; 0: writes only */
	u32 depth, threads;
	/* Each thread in its own part of the places; else all over them all. */
	bool own_region;
	/* Open loop: requests a second, of all threads together, begun when they are due
	 * and not when there is room. 0: closed loop, the next when one has ended. */
	double rate;
	double seconds;			/* after those dropped; 0: until the requests are done */
	double dropped;			/* the first are not recorded */
	u64 requests;			/* if not 0: ends after so many (dropped ones too) */
	u64 begin;			/* the first place drawn is the so manieth */
	const volatile sig_atomic_t *stop;
	/* Called some times a second by bench_run(), and a last time, with the part
	 * of it that is done; may be NULL. */
	void (*tick)(void *ctx, const struct bench_running *r, double part);
	void *ctx;
};

#define BENCH_HEAT_PER_DECADE	10u
#define BENCH_HEAT		120u	/* 10^0 to 10^12 ns */

struct bench_second {
	u64 n, bytes;
	u64 sum, lo, hi;		/* ns */
	double squares;			/* ns^2 */
	u32 heat[BENCH_HEAT];
};

struct bench_outcome {
	struct xp_histogram read, write;
	struct xp_histogram intended;	/* open loop: from when the request was due */
	bool used_up;			/* it ended with its requests, and not with its time */
	u64 never_begun;		/* due, and in @intended, but time was up */
	u64 bytes;
	double seconds;			/* recorded: to the last completion */
	u64 errors;
	int first_error;		/* -errno; 0 none */
	u64 first_place;		/* of it */
	u64 drawn;			/* places used; where another may go on (begin) */
	u32 nr_seconds;
	struct bench_second *second;	/* those complete; the last has the latecomers too */
};

/* For those that run two jobs at once. -errno: it could not begin. Each began job must be ended, which frees it. */
int bench_begin(const struct bench_job *job, struct bench_running **out);
void bench_halt(struct bench_running *r);	/* ends it before its time */
bool bench_over(const struct bench_running *r);
/* The seconds that all threads have behind them may be read while it runs. */
u32 bench_seconds(const struct bench_running *r);
void bench_second_of(const struct bench_running *r, u32 second, struct bench_second *out);
/* Waits. Errors of requests are in @out; -errno: the engine itself failed. */
int bench_end(struct bench_running *r, struct bench_outcome *out);
/* Begin, tick, end. */
int bench_run(const struct bench_job *job, struct bench_outcome *out);
void bench_outcome_free(struct bench_outcome *o);

double bench_second_mean(const struct bench_second *s);
double bench_second_deviation(const struct bench_second *s);

/* ----------------------- bench_engine.c to bench_io.c, bench_nbd.c ---- */

struct bench_worker {
	const struct bench_job *job;
	struct bench_places places;
	u64 next, step;			/* of the places */
	u64 drawn, limit;		/* requests begun; at most, or 0 */
	u64 begun, records, ends;	/* ns: of the clock */
	double gap;			/* open loop: ns between requests, or 0; */
	u64 phase;			/* when the first */
	u64 seed;
	u64 last;			/* the last completion recorded */
	u64 second_ends;		/* of the one that is written now */
	u32 current, room;
	struct bench_second *second;	/* room of them; nobody moves it while others read */
	struct bench_outcome *out;
	const bool *halt;		/* of all threads; atomic, as is */
	u64 *errors;			/* what all have seen */
	u8 *data;			/* depth buffers of size */
	int err;			/* of the engine */
};

static inline u64 bench_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Was it ended from outside, or has too much gone wrong? */
bool bench_stops(const struct bench_worker *w);
/* Does another request begin? */
bool bench_goes_on(const struct bench_worker *w, u64 now);
/* The next request's place; *@write what it is; with data in @buf that nothing can squeeze. */
u64 bench_draw(struct bench_worker *w, bool *write, u8 *buf);
/* When the next is due, open loop. */
u64 bench_due(const struct bench_worker *w);
/* One has ended; @due 0: closed loop. @result as of pread(), or -errno. */
void bench_record(struct bench_worker *w, u64 began, u64 due, u64 ended, bool write, u64 place,
		  int64_t result);

/* In slices: who ends it does not wait for the next request, which may be due in a minute. */
void bench_sleep_until(const struct bench_worker *w, u64 due);
int bench_psync(struct bench_worker *w);
int bench_nbd(struct bench_worker *w);
int bench_io_uring(struct bench_worker *w);

#endif /* BENCH_ENGINE_H */
