// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_engine.c - the threads of a job, and what is recorded of a request.
 *
 * The clock is CLOCK_MONOTONIC: by the vDSO it costs as much as CLOCK_MONOTONIC_RAW (18 ns
 * where the TSC is good), and timers know it. That NTP may slew it by 1/2000 is less than
 * a bin of the histogram.
 */
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NS		1000000000.0
#define TOO_MANY_ERRORS	1000u	/* the device is gone: no use in going on */

struct thread {
	pthread_t id;
	struct bench_worker w;
	struct bench_outcome out;	/* its own */
	struct bench_running *of;
};

struct bench_running {
	struct bench_job job;
	u32 nr, started;
	struct thread *thread;
	struct bench_second *second;	/* of all of them, */
	u8 *data;			/* and their buffers */
	bool halt;			/* atomic, as is */
	u64 errors;			/* of all of them */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	u32 over;			/* threads that have ended; written under lock */
};

/* ------------------------------------------------------- a request ---- */

bool bench_stops(const struct bench_worker *w)
{
	return __atomic_load_n(w->halt, __ATOMIC_RELAXED) ||
	       (w->job->stop && __atomic_load_n(w->job->stop, __ATOMIC_RELAXED)) ||
	       __atomic_load_n(w->errors, __ATOMIC_RELAXED) >= TOO_MANY_ERRORS;
}

/* A machine may be so busy that a thread comes too late: one request it does all the same,
 * if it was due in time. */
bool bench_goes_on(const struct bench_worker *w, u64 now)
{
	return (now < w->ends || !w->drawn) && (w->gap <= 0 || bench_due(w) < w->ends) &&
	       (!w->limit || w->drawn < w->limit) && !bench_stops(w);
}

/* The buffer is random already. Another word over all of it, and no device finds anything
 * that it has seen before, in this buffer or in another. Less than all of it would be faster
 * (62 us a MiB), and what compresses more than one block at once would find the rest again. */
static void change(u8 *buf, u32 size, u64 word)
{
	for (u32 at = 0; at < size; at += sizeof(word)) {
		u64 data;

		memcpy(&data, buf + at, sizeof(data));
		data ^= word;
		memcpy(buf + at, &data, sizeof(data));
	}
}

u64 bench_draw(struct bench_worker *w, bool *write, u8 *buf)
{
	const struct bench_job *job = w->job;
	u64 i = w->next;

	w->next += w->step;
	XP_WRITE_ONCE(w->drawn, w->drawn + 1);	/* who shows the progress reads it */
	*write = job->read_percent < 100 &&
		 bench_below(bench_mix(w->seed, i), 100) >= job->read_percent;
	if (*write)
		change(buf, job->size, bench_mix(w->seed + i, w->drawn));
	return bench_place(&w->places, i);
}

u64 bench_due(const struct bench_worker *w)
{
	return w->begun + w->phase + (u64)((double)w->drawn * w->gap);
}

static u8 heat_of[XP_BINS];
static pthread_once_t heat_once = PTHREAD_ONCE_INIT;

static void heat_init(void)
{
	for (u32 i = 0; i < XP_BINS; i++) {
		double middle = ((double)xp_bin_low(i) + (double)xp_bin_low(i + 1)) / 2;

		heat_of[i] = (u8)(middle > 1 ? log10(middle) * BENCH_HEAT_PER_DECADE : 0);
	}
}

/* Latecomers count in the last second. */
static struct bench_second *second_at(struct bench_worker *w, u64 ended)
{
	while (ended >= w->second_ends && w->current < w->room - 1) {
		w->second_ends += (u64)NS;
		__atomic_store_n(&w->current, w->current + 1, __ATOMIC_RELEASE);
	}
	return &w->second[w->current];
}

static void record_second(struct bench_second *s, u64 ns, u32 bytes)
{
	s->lo = s->n && s->lo < ns ? s->lo : ns;
	s->hi = max(s->hi, ns);
	s->n++;
	s->bytes += bytes;
	s->sum += ns;
	s->squares += (double)ns * (double)ns;
	s->heat[heat_of[xp_bin(ns)]]++;
}

static void record_error(struct bench_worker *w, u64 place, int64_t result)
{
	struct bench_outcome *o = w->out;

	__atomic_fetch_add(w->errors, 1, __ATOMIC_RELAXED);
	if (!o->errors++) {
		o->first_error = result < 0 ? (int)result : -EIO;
		o->first_place = place;
	}
}

void bench_record(struct bench_worker *w, u64 began, u64 due, u64 ended, bool write, u64 place,
		  int64_t result)
{
	struct bench_outcome *o = w->out;
	u64 ns = ended - began;

	if (result != (int64_t)w->job->size) {
		record_error(w, place, result);
		return;
	}
	if (ended < w->records)
		return;
	w->last = ended;
	o->bytes += w->job->size;
	xp_histogram_add(write ? &o->write : &o->read, ns);
	if (due)
		xp_histogram_add(&o->intended, ended - due);
	record_second(second_at(w, ended), ns, w->job->size);
}

/* ------------------------------------------------------ never begun ---- */

/* Of @n times, @first and on in steps of @gap, those below @ns. */
static u64 steps_below(u64 first, double gap, u64 n, u64 ns)
{
	return ns <= first ? 0 : (u64)fmin(ceil((double)(ns - first) / gap), (double)n);
}

/* A sum that does not fit is all that fits. */
static void add_steps(struct xp_histogram *h, u64 first, double gap, u64 n)
{
	double sum = (double)h->sum + (double)n * ((double)first + gap * (double)(n - 1) / 2);
	u64 below = 0;

	for (u32 i = 0; i < XP_BINS; i++) {
		u64 upto = i == XP_BINS - 1 ? n : steps_below(first, gap, n, xp_bin_low(i + 1));

		h->bin[i] += upto - below;
		below = upto;
	}
	h->sum = sum > (double)(~0ull >> 1) ? ~0ull >> 1 : (u64)sum;
	h->most = max(h->most, first + (u64)(gap * (double)(n - 1)));
	h->least = max(h->least, ~first);
}

/*
 * Requests that were due while others kept the device, and had not begun when the time was
 * up, have waited: so long at least. Left out, a device too slow for the rate would look
 * the better the slower it is.
 */
static void count_never_begun(struct bench_worker *w, u64 now)
{
	u64 due = bench_due(w), n;

	if (w->gap <= 0 || w->limit || bench_stops(w) || due >= w->ends)
		return;
	n = (u64)ceil((double)(w->ends - due) / w->gap);
	now = max(now, w->ends);
	add_steps(&w->out->intended, now - due - (u64)(w->gap * (double)(n - 1)), w->gap, n);
	w->out->never_begun = n;
}

/* --------------------------------------------------------- threads ---- */

static void thread_ends(struct bench_running *r)
{
	pthread_mutex_lock(&r->lock);
	__atomic_store_n(&r->over, r->over + 1, __ATOMIC_RELEASE);
	pthread_cond_signal(&r->ended);
	pthread_mutex_unlock(&r->lock);
}

static void *thread_main(void *ctx)
{
	static int (*const way[])(struct bench_worker *w) = {
		[BENCH_IO_URING] = bench_io_uring, [BENCH_PSYNC] = bench_psync, [BENCH_NBD] = bench_nbd,
	};
	struct thread *t = ctx;

	t->w.err = way[t->w.job->engine](&t->w);
	if (!t->w.err)
		count_never_begun(&t->w, bench_clock());
	thread_ends(t->of);
	return NULL;
}

/* Each thread's begins on a page. */
static size_t data_bytes(const struct bench_job *job)
{
	return ((size_t)job->size * (job->engine == BENCH_PSYNC ? 1 : job->depth) + 4095) & ~(size_t)4095;
}

#define SECONDS_LISTED	3600u	/* where it is not known how many there will be */

/* Those that are listed; after the last of them there may be a part of one, and latecomers. */
static u32 seconds_whole(const struct bench_job *job)
{
	return job->seconds > 0 ? (u32)(job->seconds + 1e-9) : SECONDS_LISTED;
}

static u32 seconds_room(const struct bench_job *job)
{
	return max(1u, job->seconds > 0 ? (u32)ceil(job->seconds - 1e-9) : SECONDS_LISTED + 1);
}

static void set_places(struct bench_worker *w, u32 k, u32 nr)
{
	const struct bench_job *job = w->job;

	w->places = job->places;
	w->next = job->begin + k;
	w->step = nr;
	if (!job->own_region || w->places.n < nr)
		return;
	w->places.n /= nr;
	w->places.from += k * w->places.n * w->places.align;
	w->next = job->begin;
	w->step = 1;
}

static void worker_init(struct thread *t, u32 k)
{
	struct bench_running *r = t->of;
	const struct bench_job *job = &r->job;
	struct bench_worker *w = &t->w;

	w->job = job;
	w->out = &t->out;
	w->halt = &r->halt;
	w->errors = &r->errors;
	w->seed = bench_mix(job->places.seed, k + 100);
	w->limit = job->requests ? (job->requests + r->nr - 1 - k) / r->nr : 0;
	if (job->rate > 0) {
		w->gap = NS * r->nr / job->rate;
		w->phase = (u64)(w->gap * k / r->nr);
	}
	set_places(w, k, r->nr);
	w->room = seconds_room(job);
	w->second = r->second + (size_t)k * w->room;
	w->data = r->data + k * data_bytes(job);
	for (size_t i = 0; i < data_bytes(job); i += sizeof(u64)) {
		u64 word = bench_mix(w->seed, i);

		memcpy(w->data + i, &word, sizeof(word));
	}
}

/* All see the same clock from now on. */
static void worker_clock(struct bench_worker *w, u64 now)
{
	w->begun = now;
	w->records = w->last = now + (u64)(w->job->dropped * NS);
	w->ends = w->job->seconds > 0 ? w->records + (u64)(w->job->seconds * NS) : ~0ull;
	w->second_ends = w->records + (u64)NS;
}

static void running_free(struct bench_running *r)
{
	free(r->thread);
	free(r->second);
	free(r->data);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->ended);
	free(r);
}

static void locks_init(struct bench_running *r)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->ended, &attr);
	pthread_condattr_destroy(&attr);
}

static struct bench_running *running_new(const struct bench_job *job)
{
	struct bench_running *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	locks_init(r);
	r->job = *job;
	r->nr = job->threads * (job->engine == BENCH_PSYNC ? job->depth : 1);
	r->thread = calloc(r->nr, sizeof(*r->thread));
	r->second = calloc((size_t)r->nr * seconds_room(job), sizeof(*r->second));
	r->data = aligned_alloc(4096, r->nr * data_bytes(job));
	if (r->thread && r->second && r->data)
		return r;
	running_free(r);
	return NULL;
}

/* Signals are for who waits for the threads. */
static int threads_start(struct bench_running *r)
{
	sigset_t all, was;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	for (; r->started < r->nr && !err; r->started += !err)
		err = pthread_create(&r->thread[r->started].id, NULL, thread_main,
				     &r->thread[r->started]);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -err;
}

int bench_begin(const struct bench_job *job, struct bench_running **out)
{
	struct bench_running *r;
	u64 now;
	int err;

	pthread_once(&heat_once, heat_init);
	if (!job->places.n)
		return -ENOSPC;
	r = running_new(job);
	if (!r)
		return -ENOMEM;
	for (u32 k = 0; k < r->nr; k++) {
		r->thread[k].of = r;
		worker_init(&r->thread[k], k);
	}
	now = bench_clock();
	for (u32 k = 0; k < r->nr; k++)
		worker_clock(&r->thread[k].w, now);
	err = threads_start(r);
	if (err) {
		bench_halt(r);
		bench_end(r, NULL);
		return err;
	}
	*out = r;
	return 0;
}

void bench_halt(struct bench_running *r)
{
	__atomic_store_n(&r->halt, true, __ATOMIC_RELAXED);
}

bool bench_over(const struct bench_running *r)
{
	return __atomic_load_n(&r->over, __ATOMIC_ACQUIRE) == r->started;
}

u32 bench_seconds(const struct bench_running *r)
{
	u32 least = ~0u;

	for (u32 k = 0; k < r->nr; k++) {
		u32 at = __atomic_load_n(&r->thread[k].w.current, __ATOMIC_ACQUIRE);

		least = min(least, at);
	}
	return least;
}

/* --------------------------------------------------------- the sum ---- */

static void second_add(struct bench_second *to, const struct bench_second *from)
{
	if (from->n)
		to->lo = to->n ? min(to->lo, from->lo) : from->lo;
	to->hi = max(to->hi, from->hi);
	to->n += from->n;
	to->bytes += from->bytes;
	to->sum += from->sum;
	to->squares += from->squares;
	for (u32 i = 0; i < BENCH_HEAT; i++)
		to->heat[i] += from->heat[i];
}

void bench_second_of(const struct bench_running *r, u32 second, struct bench_second *out)
{
	memset(out, 0, sizeof(*out));
	for (u32 k = 0; k < r->nr; k++)
		second_add(out, &r->thread[k].w.second[second]);
}

static void sum_errors(struct bench_outcome *out, const struct bench_outcome *of)
{
	if (!out->errors && of->errors) {
		out->first_error = of->first_error;
		out->first_place = of->first_place;
	}
	out->errors += of->errors;
}

static void sum_worker(struct bench_outcome *out, const struct bench_worker *w)
{
	xp_histogram_merge(&out->read, &w->out->read);
	xp_histogram_merge(&out->write, &w->out->write);
	xp_histogram_merge(&out->intended, &w->out->intended);
	out->bytes += w->out->bytes;
	out->never_begun += w->out->never_begun;
	out->used_up |= w->limit && w->drawn >= w->limit;
	out->drawn = max(out->drawn, w->next);
	out->seconds = fmax(out->seconds, (double)(w->last - w->records) / NS);
	sum_errors(out, w->out);
}

/* A second cut short is none. */
static int sum_seconds(struct bench_outcome *out, const struct bench_running *r)
{
	out->nr_seconds = min(seconds_whole(&r->job), (u32)(out->seconds + 0.05));
	out->second = calloc(out->nr_seconds + 1, sizeof(*out->second));
	if (!out->second)
		return -ENOMEM;
	for (u32 i = 0; i < out->nr_seconds; i++)
		bench_second_of(r, i, &out->second[i]);
	return 0;
}

int bench_end(struct bench_running *r, struct bench_outcome *out)
{
	int err = 0;

	if (out)
		memset(out, 0, sizeof(*out));
	for (u32 k = 0; k < r->started; k++) {
		pthread_join(r->thread[k].id, NULL);
		err = err ? err : r->thread[k].w.err;
		if (out)
			sum_worker(out, &r->thread[k].w);
	}
	if (out && !err)
		err = sum_seconds(out, r);
	running_free(r);
	return err;
}

static void wait_a_little(struct bench_running *r)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 100000000;
	if (t.tv_nsec >= (long)NS) {
		t.tv_sec++;
		t.tv_nsec -= (long)NS;
	}
	pthread_mutex_lock(&r->lock);
	if (r->over < r->started)
		pthread_cond_timedwait(&r->ended, &r->lock, &t);
	pthread_mutex_unlock(&r->lock);
}

/* Of its time or of its requests, whichever is nearer to its end. */
static double part_done(const struct bench_running *r, u64 since)
{
	const struct bench_job *job = &r->job;
	double part = job->seconds > 0 ? (double)since / ((job->dropped + job->seconds) * NS) : 0;
	u64 drawn = 0;

	for (u32 k = 0; k < r->nr && job->requests; k++)
		drawn += XP_READ_ONCE(r->thread[k].w.drawn);
	return fmin(1, job->requests ? fmax(part, (double)drawn / (double)job->requests) : part);
}

int bench_run(const struct bench_job *job, struct bench_outcome *out)
{
	struct bench_running *r;
	u64 begun = bench_clock();
	int err = bench_begin(job, &r);

	if (err)
		return err;
	do {
		wait_a_little(r);
		if (job->tick)
			job->tick(job->ctx, r, part_done(r, bench_clock() - begun));
	} while (!bench_over(r));
	return bench_end(r, out);
}

void bench_outcome_free(struct bench_outcome *o)
{
	free(o->second);
	o->second = NULL;
	o->nr_seconds = 0;
}

double bench_second_mean(const struct bench_second *s)
{
	return s->n ? (double)s->sum / (double)s->n : 0;
}

double bench_second_deviation(const struct bench_second *s)
{
	double mean = bench_second_mean(s);

	return s->n ? sqrt(fmax(0, s->squares / (double)s->n - mean * mean)) : 0;
}
