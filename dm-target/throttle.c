// SPDX-License-Identifier: GPL-2.0-only
/*
 * throttle.c - slows writers smoothly while dirty blocks approach their limit.
 *
 * Each write has a cost in time, which the core sets (xp_pace()). It is submitted
 * when the time of the writes before it has passed. Without pressure this is one
 * test in the caller.
 */
#include <linux/delay.h>
#include <linux/ktime.h>

#include "backend.h"
#include "accounting.h"

bool xs_throttle(struct xs_cache *cache, struct xs_io *io)
{
	struct xs_throttle *t = &cache->throttle;
	u32 blocks = DIV_ROUND_UP(io->iter.bi_size, XP_BLOCK_SIZE);
	bool kept = false;
	u64 now;

	if (!xs_throttles(cache) || READ_ONCE(cache->suspending))
		return false;

	spin_lock(&t->lock);
	now = ktime_get_ns();
	io->release = xp_pace(&t->next, now, blocks, READ_ONCE(cache->writeback.block_ns),
			      xp_pressure(cache->core));
	if (io->release - now > XP_PACE_SLACK || !xp_list_empty(&t->queue)) {
		xp_held_back(&io->req);
		xp_list_add(&t->queue, &io->req.link);
		kept = true;
	}
	spin_unlock(&t->lock);
	if (kept)
		queue_work(cache->writeback.wq, &t->work);
	return kept;
}

/*
 * The first of the queue, if it is due. Else NULL, and in @wait the time until it is; 0
 * if the queue is empty.
 */
static struct xs_io *next_due(struct xs_cache *cache, u64 *wait)
{
	struct xs_throttle *t = &cache->throttle;
	bool free = READ_ONCE(cache->suspending) || !xp_pressure(cache->core);
	struct xs_io *io = NULL;
	u64 now = ktime_get_ns();

	*wait = 0;
	spin_lock(&t->lock);
	if (!xp_list_empty(&t->queue)) {
		struct xs_io *first = xs_io_of(t->queue.head);

		if (free || first->release <= now) {
			xp_list_pop(&t->queue);
			io = first;
		} else {
			*wait = first->release - now;
		}
	}
	spin_unlock(&t->lock);
	return io;
}

static void throttle_work(struct work_struct *work)
{
	struct xs_cache *cache = container_of(work, struct xs_cache, throttle.work);

	for (;;) {
		u64 wait, us;
		struct xs_io *io = next_due(cache, &wait);

		if (io) {
			xs_queue_io(cache, &cache->todo.ready, io);
			continue;
		}
		if (!wait)
			return;
		/* A short sleep: the pressure may end. */
		us = clamp_t(u64, wait / NSEC_PER_USEC, 50, 20000);
		usleep_range(us, us + us / 8);
	}
}

void xs_throttle_setup(struct xs_cache *cache)
{
	spin_lock_init(&cache->throttle.lock);
	xp_list_init(&cache->throttle.queue);
	INIT_WORK(&cache->throttle.work, throttle_work);
}
