// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_io.c - the two ways to a device: pread() and pwrite(), and io_uring.
 *
 * A request begins just before the system call that takes it to the kernel, and has ended
 * when it is seen to have. Of io_uring the requests that go or come together share one
 * look at the clock.
 */
#include "lib/uring_abi.h"
#include "tools/bench/bench_engine.h"
#include "platform.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#define NS	1000000000u

/* Timers are late by this many ns if nothing is said: 50,000. */
static void exact_timers(void)
{
	prctl(PR_SET_TIMERSLACK, 1ul);
}

void bench_sleep_until(const struct bench_worker *w, u64 due)
{
	for (u64 now = bench_clock(); now < due && !bench_stops(w); now = bench_clock()) {
		u64 to = min(due, now + NS / 10);
		struct timespec t = { .tv_sec = (time_t)(to / NS), .tv_nsec = (long)(to % NS) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

/* ----------------------------------------------------------- psync ---- */

static int64_t transfer(const struct bench_worker *w, bool write, u64 place)
{
	ssize_t n = write ? pwrite(w->job->fd, w->data, w->job->size, (off_t)place) :
			    pread(w->job->fd, w->data, w->job->size, (off_t)place);

	return n < 0 ? -errno : n;
}

int bench_psync(struct bench_worker *w)
{
	u64 began, now = bench_clock();
	int64_t result;

	exact_timers();
	while (bench_goes_on(w, now)) {
		u64 due = w->gap > 0 ? bench_due(w) : 0, place;
		bool write;

		if (due > now) {
			bench_sleep_until(w, due);
			if (bench_stops(w))
				break;
		}
		place = bench_draw(w, &write, w->data);
		began = bench_clock();
		result = transfer(w, write, place);
		now = bench_clock();
		bench_record(w, began, due, now, write, place, result);
	}
	return 0;
}

/* -------------------------------------------------------- io_uring ---- */

struct request {
	u64 began, due, place;
	bool write;
};

struct queue {
	struct bench_worker *w;
	struct io_uring ring;
	struct request *request;	/* depth of them; a request's buffer has its number */
	u32 *idle;			/* stack of those not under way */
	u32 nr_idle;
	u32 *fresh, nr_fresh;		/* prepared, not yet submitted */
};

/* What one thread submits and reaps needs no interrupts: as fio asks for it. */
static int ring_open(struct io_uring *ring, u32 depth)
{
	int err = -EINVAL;

#if HAVE_LIBURING_2_3
	err = io_uring_queue_init(depth, ring, IORING_SETUP_SINGLE_ISSUER |
				  IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN);
#endif
	return err == -EINVAL ? io_uring_queue_init(depth, ring, 0) : err;
}

static int queue_open(struct queue *q, struct bench_worker *w)
{
	u32 depth = w->job->depth;
	int err = ring_open(&q->ring, depth);

	if (err)
		return err;
	q->w = w;
	q->request = calloc(depth, sizeof(*q->request));
	q->idle = calloc(2 * (size_t)depth, sizeof(*q->idle));
	if (!q->request || !q->idle)
		return -ENOMEM;
	q->fresh = q->idle + depth;
	for (q->nr_idle = 0; q->nr_idle < depth; q->nr_idle++)
		q->idle[q->nr_idle] = q->nr_idle;
	return 0;
}

static void queue_close(struct queue *q)
{
	if (q->w)
		io_uring_queue_exit(&q->ring);
	free(q->request);
	free(q->idle);
}

static void prepare(struct queue *q)
{
	struct bench_worker *w = q->w;
	u32 number = q->idle[--q->nr_idle], size = w->job->size;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&q->ring);
	struct request *r = &q->request[number];
	u8 *buf = w->data + (size_t)number * size;

	r->due = w->gap > 0 ? bench_due(w) : 0;
	r->place = bench_draw(w, &r->write, buf);
	if (r->write)
		io_uring_prep_write(sqe, w->job->fd, buf, size, r->place);
	else
		io_uring_prep_read(sqe, w->job->fd, buf, size, r->place);
	sqe->user_data = number;
	q->fresh[q->nr_fresh++] = number;
}

static void prepare_all(struct queue *q, u64 now)
{
	while (q->nr_idle && bench_goes_on(q->w, now) && (q->w->gap <= 0 || bench_due(q->w) <= now))
		prepare(q);
}

static int submit_and_wait_until(struct queue *q, struct __kernel_timespec *t)
{
	struct io_uring_cqe *cqe;
#if HAVE_LIBURING_2_3
	return io_uring_submit_and_wait_timeout(&q->ring, &cqe, 1, t, NULL);
#else
	int ret = io_uring_submit(&q->ring);

	return ret < 0 ? ret : io_uring_wait_cqe_timeout(&q->ring, &cqe, t);
#endif
}

/* Returns when one has ended at least or, open loop, when the next is due. */
static int submit_and_wait(struct queue *q, u64 now)
{
	struct bench_worker *w = q->w;
	int ret;

	if (w->gap > 0 && q->nr_idle && bench_goes_on(w, now)) {
		u64 due = bench_due(w), wait = due > now ? due - now : 0;
		struct __kernel_timespec t = { .tv_sec = (long long)(wait / NS),
					       .tv_nsec = (long long)(wait % NS) };

		ret = submit_and_wait_until(q, &t);
	} else {
		ret = io_uring_submit_and_wait(&q->ring, 1);
	}
	return ret >= 0 || ret == -ETIME || ret == -EINTR || ret == -EAGAIN || ret == -EBUSY ? 0 : ret;
}

static void reap(struct queue *q, u64 now)
{
	struct io_uring_cqe *cqe;
	u32 head, n = 0;

	io_uring_for_each_cqe(&q->ring, head, cqe) {
		u32 number = (u32)cqe->user_data;
		struct request *r = &q->request[number];

		bench_record(q->w, r->began, r->due, now, r->write, r->place, cqe->res);
		q->idle[q->nr_idle++] = number;
		n++;
	}
	io_uring_cq_advance(&q->ring, n);
}

static int turn(struct queue *q, u64 *now)
{
	int err;

	*now = bench_clock();
	while (q->nr_fresh)
		q->request[q->fresh[--q->nr_fresh]].began = *now;
	err = submit_and_wait(q, *now);
	*now = bench_clock();
	reap(q, *now);
	return err;
}

int bench_io_uring(struct bench_worker *w)
{
	struct queue q = { 0 };
	int err = queue_open(&q, w);
	u64 now = bench_clock();

	exact_timers();
	while (!err) {
		prepare_all(&q, now);
		if (q.nr_idle < w->job->depth) {
			err = turn(&q, &now);
			continue;
		}
		if (!bench_goes_on(w, now))
			break;
		bench_sleep_until(w, bench_due(w));
		now = bench_clock();
	}
	queue_close(&q);
	return err;
}
