// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_nbd.c - the third way to a device: an NBD server's, by libnbd, a connection for each
 * thread. One at a time by its blocking calls; more by those that return at once.
 */
#include "lib/nbd.h"
#include "tools/bench/bench_engine.h"
#include "platform.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS		1000000000u
#define SLICE_MS	100	/* who ends it waits no longer */

struct slot {
	struct queue *q;
	u64 began, due, place;
	bool write;
	u8 *buf;
	struct slot *next;	/* idle ones */
};

struct queue {
	struct bench_worker *w;
	struct nbd_handle *nbd;
	struct slot *slot, *idle;
	u32 under_way;
};

/* ------------------------------------------------------- one at a time ---- */

static int64_t transfer(struct queue *q, const struct slot *s)
{
	u32 size = q->w->job->size;
	int failed = s->write ? libnbd.pwrite(q->nbd, s->buf, size, s->place, 0) :
				libnbd.pread(q->nbd, s->buf, size, s->place, 0);

	return failed ? nbd_failure() : (int64_t)size;
}

static void begin_one(struct queue *q, struct slot *s)
{
	struct bench_worker *w = q->w;

	s->due = w->gap > 0 ? bench_due(w) : 0;
	s->place = bench_draw(w, &s->write, s->buf);
	s->began = bench_clock();
}

static void one_at_a_time(struct queue *q)
{
	struct bench_worker *w = q->w;
	struct slot *s = &q->slot[0];
	u64 now = bench_clock();
	int64_t result;

	while (bench_goes_on(w, now)) {
		if (w->gap > 0 && bench_due(w) > now) {
			bench_sleep_until(w, bench_due(w));
			if (bench_stops(w))
				return;
		}
		begin_one(q, s);
		result = transfer(q, s);
		now = bench_clock();
		bench_record(w, s->began, s->due, now, s->write, s->place, result);
	}
}

/* ------------------------------------------------------------- several ---- */

static int ended(void *user, int *error)
{
	struct slot *s = user;
	struct queue *q = s->q;
	int64_t result = *error ? -*error : (int64_t)q->w->job->size;

	bench_record(q->w, s->began, s->due, bench_clock(), s->write, s->place, result);
	s->next = q->idle;
	q->idle = s;
	q->under_way--;
	return 1;
}

static int send_one(struct queue *q)
{
	struct slot *s = q->idle;
	const nbd_completion_callback end = { .callback = ended, .user_data = s };
	u32 size = q->w->job->size;
	int64_t sent;

	q->idle = s->next;
	q->under_way++;
	begin_one(q, s);
	sent = s->write ? libnbd.aio_pwrite(q->nbd, s->buf, size, s->place, end, 0) :
			  libnbd.aio_pread(q->nbd, s->buf, size, s->place, end, 0);
	return sent < 0 ? nbd_failure() : 0;
}

/* Until one has ended or, open loop, the next is due. */
static int wait_for_some(struct queue *q, u64 now)
{
	struct bench_worker *w = q->w;
	u64 due = w->gap > 0 ? bench_due(w) : 0;
	int ms = SLICE_MS;

	if (due > now && (due - now) / 1000000 < SLICE_MS)
		ms = (int)((due - now) / 1000000);
	return libnbd.poll(q->nbd, ms) < 0 ? nbd_failure() : 0;
}

static int send_due(struct queue *q, u64 now)
{
	struct bench_worker *w = q->w;
	int err = 0;

	while (!err && q->idle && bench_goes_on(w, now) && (w->gap <= 0 || bench_due(w) <= now))
		err = send_one(q);
	return err;
}

static int several(struct queue *q)
{
	struct bench_worker *w = q->w;
	u64 now = bench_clock();
	int err = 0;

	for (;;) {
		if (!err)
			err = send_due(q, now);
		if (!err && q->under_way)
			err = wait_for_some(q, now);
		else if (err || !bench_goes_on(w, now))
			return err;
		else
			bench_sleep_until(w, bench_due(w));
		now = bench_clock();
	}
}

/* ------------------------------------------------------------- a thread ---- */

static int queue_open(struct queue *q, struct bench_worker *w)
{
	u32 depth = w->job->depth;
	int err = nbd_load();

	if (err)
		return err;
	*q = (struct queue){ .w = w, .nbd = libnbd.create(), .slot = calloc(depth, sizeof(*q->slot)) };
	if (!q->nbd || !q->slot)
		return -ENOMEM;
	for (u32 i = depth; i--;) {
		q->slot[i] = (struct slot){ .q = q, .buf = w->data + (size_t)i * w->job->size, .next = q->idle };
		q->idle = &q->slot[i];
	}
	return libnbd.connect_uri(q->nbd, w->job->uri) ? nbd_failure() : 0;
}

int bench_nbd(struct bench_worker *w)
{
	struct queue q = { .w = w };
	int err = queue_open(&q, w);

	if (!err && w->job->depth == 1)
		one_at_a_time(&q);
	else if (!err)
		err = several(&q);
	if (!err)
		libnbd.shutdown(q.nbd, 0);
	if (q.nbd)
		libnbd.close(q.nbd);	/* ends what is under way */
	free(q.slot);
	return err;
}
