// SPDX-License-Identifier: GPL-2.0-only
/*
 * writeback.c - writes dirty blocks back, a batch of the core's at a time; on the first loop.
 *
 *	rest --> gathering --> batch: workers take runs --none left--> flush --commit--> rest
 *	  ^          `--nothing--> rest                                   `--error--> back off
 *
 * A worker takes a run, reads its slots into its own memory, writes that to the slow device in
 * one piece, and takes the next.
 */
#include "daemon/device.h"
#include "daemon/timing.h"
#include "daemon/verbs.h"
#include "core/checksum.h"
#include "core/options.h"
#include "core/pace.h"
#include "core/verify.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BACK_OFF_NS	1000000000u		/* a step of a pause after errors */
#define ERRORS_MAX	8u			/* of a batch: then the device, not a sector, is bad */

/* Until one has been measured: a guess at the time to write a block back. */
#define BLOCK_NS_ROTATIONAL	2000000u
#define BLOCK_NS_FLASH		50000u

static struct xd_worker *worker_of(struct xd_op *op)
{
	return op->owner;
}

/* ----------------------------------------------------------------- a run ---- */

static void run_end(struct xd_worker *h, int err)
{
	struct xd_cache *cache = h->cache;

	h->works = false;
	h->run.err = err;
	if (err)
		cache->writeback.errors++;
	xp_writeback_end(cache->core, &h->run, &xd_first_loop(cache)->todo);
	cache->writeback.busy--;
	xd_writeback_kick(cache);	/* it takes the next, or was the last */
}

static u64 run_sector(const struct xd_worker *h)
{
	return xp_lba_n(h->run.lba) * XP_BLOCK_SECTORS + h->run.skip;
}

static void written(struct xd_op *op, int err)
{
	struct xd_worker *h = worker_of(op);

	if (err)
		xd_slow_error(h->cache, "write of dirty blocks", run_sector(h), err);
	else
		xd_timed(op->loop, XP_CLASS_SLOW_WRITE, h->sent);
	h->run.took = xd_now() - h->written;
	run_end(h, err);
}

static void slow_operation(struct xd_worker *h, enum xd_kind kind, void (*end)(struct xd_op *, int))
{
	struct xd_cache *cache = h->cache;
	struct xd_op *op = &h->op[0];

	*op = (struct xd_op){ .kind = kind, .registered = -1, .end = end, .owner = h,
			      .data = kind == XD_WRITE ? h->data + ((size_t)h->run.skip << XP_SECTOR_SHIFT) : NULL,
			      .bytes = h->run.nr_sectors ? (u32)h->run.nr_sectors << XP_SECTOR_SHIFT :
				       xd_slow_bytes(cache, run_sector(h), h->run.nr_blocks),
			      .offset = run_sector(h) << XP_SECTOR_SHIFT };
	h->sent = xd_time(cache);
	h->written = xd_now();
	xd_device_submit(cache->slow, xd_first_loop(cache), op);
}

static void zeroed(struct xd_op *op, int err)
{
	struct xd_worker *h = worker_of(op);

	if (!err) {
		run_end(h, 0);
		return;
	}
	memset(h->data, 0, (size_t)h->run.nr_blocks << XP_BLOCK_SHIFT);
	slow_operation(h, XD_WRITE, written);
}

static void slot_read_again(struct xd_op *op, int err);

/* One slot, of which what was read is doubted. */
static void read_again(struct xd_worker *h)
{
	struct xd_cache *cache = h->cache;

	h->op[0] = (struct xd_op){
		.kind = XD_READ, .registered = -1, .end = slot_read_again, .owner = h,
		.data = h->data + ((size_t)h->checked << XP_BLOCK_SHIFT), .bytes = XP_BLOCK_SIZE,
		.offset = xp_slot_sector(cache->core, h->run.slot[h->checked]) << XP_SECTOR_SHIFT,
	};
	xd_device_submit(cache->fast, xd_first_loop(cache), &h->op[0]);
}

/* Of the run's slots, which have been read: those not compared yet. Milliseconds for a long run at most. */
static void compare(struct xd_worker *h)
{
	struct xd_cache *cache = h->cache;
	struct xp_rot rot = { .nr = 0 };
	int err = 0;

	for (; cache->tunables->verify && h->checked < h->run.nr_blocks; h->checked++) {
		u8 *data = h->data + ((size_t)h->checked << XP_BLOCK_SHIFT);

		err = xp_writeback_checked(cache->core, &h->run, h->checked, xp_checksum(data, XP_BLOCK_SIZE), &rot);
		if (err)
			break;
	}
	xd_rot_tell(cache, &rot);
	if (err == -EAGAIN)
		read_again(h);
	else if (err)
		run_end(h, err);
	else
		slow_operation(h, XD_WRITE, written);
}

static void slot_read_again(struct xd_op *op, int err)
{
	struct xd_worker *h = worker_of(op);

	if (!err) {
		compare(h);
		return;
	}
	xd_fast_error(h->cache, "read of dirty blocks", op->offset >> XP_SECTOR_SHIFT, err);
	run_end(h, err);
}

static void slot_read(struct xd_op *op, int err)
{
	struct xd_worker *h = worker_of(op);
	struct xd_cache *cache = h->cache;

	if (err) {
		xd_fast_error(cache, "read of dirty blocks", op->offset >> XP_SECTOR_SHIFT, err);
		h->run.err = h->run.err ? h->run.err : err;
	} else {
		xd_timed(op->loop, XP_CLASS_FAST_READ, h->sent);
	}
	if (--h->left)
		return;
	if (h->run.err)
		run_end(h, h->run.err);
	else
		compare(h);
}

/* How many of the run's slots, from @i on, lie side by side. */
static u32 side_by_side(const struct xp_run *run, u32 i)
{
	u32 n = 1;

	while (i + n < run->nr_blocks &&
	       xp_slot_n(run->slot[i + n]) == xp_slot_n(run->slot[i]) + n)
		n++;
	return n;
}

static u32 prepare_reads(struct xd_worker *h)
{
	u32 nr = 0;

	for (u32 i = 0, n; i < h->run.nr_blocks; i += n) {
		n = side_by_side(&h->run, i);
		h->op[nr++] = (struct xd_op){
			.kind = XD_READ, .registered = -1, .end = slot_read, .owner = h,
			.data = h->data + ((size_t)i << XP_BLOCK_SHIFT), .bytes = n << XP_BLOCK_SHIFT,
			.offset = xp_slot_sector(h->cache->core, h->run.slot[i]) << XP_SECTOR_SHIFT,
		};
	}
	if (h->run.nr_sectors && !h->cache->fast_whole) {	/* what the slot lacks may be unreadable */
		h->op[0].data = h->data + ((size_t)h->run.skip << XP_SECTOR_SHIFT);
		h->op[0].bytes = (u32)h->run.nr_sectors << XP_SECTOR_SHIFT;
		h->op[0].offset += (u64)h->run.skip << XP_SECTOR_SHIFT;
	}
	return nr;
}

static void write_back(struct xd_worker *h)
{
	struct xd_cache *cache = h->cache;
	u32 nr;

	h->works = true;
	h->run.err = 0;
	h->checked = 0;
	if (h->run.zeroes) {
		slow_operation(h, XD_ZERO, zeroed);
		return;
	}
	nr = h->left = prepare_reads(h);
	h->sent = xd_time(cache);
	for (u32 i = 0; i < nr; i++)	/* the last one may end all of it at once */
		xd_device_submit(cache->fast, xd_first_loop(cache), &h->op[i]);
}

/* --------------------------------------------------------------- a batch ---- */

static enum xp_next next_run(struct xd_worker *h)
{
	struct xd_writeback *d = &h->cache->writeback;

	if (d->errors >= ERRORS_MAX || xd_get(d->stopping))
		return XP_NEXT_END;
	return xp_writeback_next(h->cache->core, &h->run);
}

static void rest_ends(struct xd_writeback *d, u64 now)
{
	if (d->rests_since)
		d->rested_ns += now - d->rests_since;
	d->rests_since = 0;
}

/* As long as the core says: callers use the slow device, too. */
static bool rests(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;
	u64 now = xd_now(), ns = xd_get(d->stopping) ? 0 : xp_writeback_turn(cache->core, now);

	if (ns && !d->busy)	/* else the end of a run kicks */
		xd_timer_arm(xd_first_loop(cache), &d->rest, ns);
	if (ns && !d->busy && !d->rests_since)
		d->rests_since = now;
	if (!ns)
		rest_ends(d, now);
	return ns;
}

static void rest_over(struct xd_event *event, int res)
{
	struct xd_cache *cache = container_of(event, struct xd_cache, writeback.rest.event);

	(void)res;
	cache->writeback.rest.armed = false;
	xd_writeback_kick(cache);
}

static void take_run(struct xd_worker *h)
{
	struct xd_cache *cache = h->cache;
	struct xd_writeback *d = &cache->writeback;

	if (d->errors < ERRORS_MAX && rests(cache)) {
		d->waiting = true;
		return;
	}
	switch (next_run(h)) {
	case XP_NEXT_WAIT:
		d->waiting = true;
		return;
	case XP_NEXT_END:
		return;
	case XP_NEXT_RUN:
		break;
	}
	d->busy++;
	d->taken += h->run.nr_blocks;
	write_back(h);
}

/* A running mean, so that one slow run does not stop writers for long. */
static void measure(struct xd_cache *cache)
{
	const struct xd_writeback *d = &cache->writeback;

	if (d->taken)
		xd_set(cache->block_ns,
		       (xd_get(cache->block_ns) * 3 + (xd_now() - d->begun - d->rested_ns) / d->taken) / 4);
}

/* Step by step: somebody may come who cannot wait. */
static void back_off(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;
	u64 pause_ns = xp_writeback_pause(cache->core) * 1000000ull;

	if (xd_now() < d->ended + pause_ns && !xd_get(d->stopping)) {
		d->state = XD_BACK_OFF;
		xd_timer_arm(xd_first_loop(cache), &d->back_off, BACK_OFF_NS);
		return;
	}
	d->state = XD_REST;
	xd_writeback_kick(cache);
}

static void back_off_over(struct xd_event *event, int res)
{
	struct xd_cache *cache = container_of(event, struct xd_cache, writeback.back_off.event);

	(void)res;
	cache->writeback.back_off.armed = false;
	if (cache->writeback.state == XD_BACK_OFF)
		back_off(cache);
}

static void commit_batch(struct xd_cache *cache, int err)
{
	struct xd_writeback *d = &cache->writeback;

	xp_writeback_commit(cache->core, err, (u64)time(NULL), &xd_first_loop(cache)->todo);
	measure(cache);
	d->ended = xd_now();
	back_off(cache);
}

static void flushed(struct xd_op *op, int err)
{
	struct xd_cache *cache = op->owner;

	if (err)
		xd_slow_error(cache, "flush of dirty blocks", 0, err);
	else
		xd_timed(op->loop, XP_CLASS_SLOW_FLUSH, cache->writeback.sent);
	commit_batch(cache, err);
}

/* With all runs of the batch over: the flush, if it needs one, and what follows from it. */
static void finish_batch(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;

	switch (xp_writeback_flushes(cache->core)) {
	case XP_FLUSH_NONE:
		commit_batch(cache, 0);
		return;
	case XP_FLUSH_LATER:
		d->rests_since = d->rests_since ? d->rests_since : xd_now();
		d->state = XD_TURN;	/* a client's ends with a kick */
		return;
	case XP_FLUSH_NOW:
		break;
	}
	rest_ends(d, xd_now());
	d->state = XD_FLUSHING;
	xd_count(cache->counts.writeback_flushes, 1);
	d->op = (struct xd_op){ .kind = XD_FLUSH, .registered = -1,
				.end = flushed, .owner = cache };
	d->sent = xd_time(cache);
	xd_device_submit(cache->slow, xd_first_loop(cache), &d->op);
}

static void *gather_batches(void *arg)
{
	struct xd_cache *cache = arg;
	struct xd_gatherer *g = &cache->writeback.gatherer;

	privileges_give_up(CAP_SYS_ADMIN);	/* it may be there yet, for a block device (ublk_queue.c) */
	for (;;) {
		while (sem_wait(&g->wanted))
			;	/* EINTR */
		if (g->quit)
			return NULL;
		g->begun = xp_writeback_begin(cache->core, &g->todo);
		xd_loop_call(xd_first_loop(cache), &g->gathered);
	}
}

static void gathered(struct xd_call *call)
{
	struct xd_cache *cache = call->loop->cache;
	struct xd_writeback *d = &cache->writeback;
	struct xd_gatherer *g = &d->gatherer;

	xp_todo_splice(&call->loop->todo, &g->todo);
	d->state = g->begun ? XD_BATCH : XD_REST;
	d->errors = d->taken = 0;
	d->rested_ns = d->rests_since = 0;
	d->begun = xd_now();
	if (g->begun || g->kicked)
		xd_writeback_kick(cache);
}

static void begin_batch(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;

	if (xd_get(d->stopping))
		return;
	if (!xp_writeback_wanted(cache->core))
		return;
	d->state = XD_GATHERING;
	d->gatherer.kicked = false;
	sem_post(&d->gatherer.wanted);
}

static void go_on(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;

	d->waiting = false;
	for (u32 i = 0; i < XD_WORKERS; i++)
		if (!d->worker[i]->works)
			take_run(d->worker[i]);
	if (!d->busy && (!d->waiting || xd_get(d->stopping)))
		finish_batch(cache);
}

void xd_writeback_run(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;

	if (!xd_get(cache->kicked) || !__atomic_exchange_n(&cache->kicked, 0, __ATOMIC_SEQ_CST))
		return;
	d->gatherer.kicked = true;
	if (d->state == XD_BACK_OFF && !xp_writeback_pause(cache->core))
		d->state = XD_REST;	/* somebody has come who cannot wait */
	if (d->state == XD_REST)
		begin_batch(cache);
	if (d->state == XD_BATCH)
		go_on(cache);
	else if (d->state == XD_TURN)
		finish_batch(cache);
}

void xd_writeback_kick(struct xd_cache *cache)
{
	if (!__atomic_exchange_n(&cache->kicked, 1, __ATOMIC_SEQ_CST))
		xd_loop_wake(xd_first_loop(cache));
}

bool xd_writeback_at_rest(const struct xd_cache *cache)
{
	return cache->writeback.state == XD_REST || cache->writeback.state == XD_BACK_OFF;
}

/* --------------------------------------------------------- start and stop ---- */

static struct xd_worker *worker_new(struct xd_cache *cache)
{
	struct xd_worker *h = calloc(1, sizeof(*h));
	void *data;

	if (!h)
		return NULL;
	h->cache = cache;
	if (posix_memalign(&data, XP_BLOCK_SIZE, (size_t)XP_RUN_MAX << XP_BLOCK_SHIFT)) {
		free(h);
		return NULL;
	}
	h->data = data;
	return h;
}

static int gatherer_start(struct xd_cache *cache)
{
	struct xd_gatherer *g = &cache->writeback.gatherer;
	int err;

	g->gathered.fn = gathered;
	xp_todo_init(&g->todo);
	sem_init(&g->wanted, 0, 0);
	err = pthread_create(&g->thread, NULL, gather_batches, cache);
	g->running = !err;
	return -err;
}

static void gatherer_stop(struct xd_gatherer *g)
{
	if (!g->running)
		return;
	g->quit = true;
	sem_post(&g->wanted);
	pthread_join(g->thread, NULL);
	sem_destroy(&g->wanted);
}

int xd_writeback_setup(struct xd_cache *cache)
{
	struct xd_writeback *d = &cache->writeback;

	cache->block_ns = cache->slow->rotational ? BLOCK_NS_ROTATIONAL : BLOCK_NS_FLASH;
	d->back_off.event.end = back_off_over;
	d->rest.event.end = rest_over;
	for (u32 i = 0; i < XD_WORKERS; i++) {
		d->worker[i] = worker_new(cache);
		if (!d->worker[i])
			return -ENOMEM;
	}
	return gatherer_start(cache);
}

void xd_writeback_free(struct xd_cache *cache)
{
	gatherer_stop(&cache->writeback.gatherer);
	for (u32 i = 0; i < XD_WORKERS; i++) {
		struct xd_worker *h = cache->writeback.worker[i];

		if (h)
			free(h->data);
		free(h);
		cache->writeback.worker[i] = NULL;
	}
}

u64 xd_writeback_bytes(void)
{
	return XD_WORKERS * (sizeof(struct xd_worker) + ((u64)XP_RUN_MAX << XP_BLOCK_SHIFT));
}
