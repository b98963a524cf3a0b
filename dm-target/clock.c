// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - what happens without a request: the records of acknowledged writes
 * are committed at the next tick, and an idle cache brings its dirty blocks
 * home. The clock stands still when neither is due, so that an idle machine
 * sleeps.
 */
#include <linux/jiffies.h>

#include "shell.h"

#define TICK_MS		1000u

/* A short idle time needs a finer clock. */
static u32 tick_ms(const struct xs_cache *cache)
{
	u32 idle_ms = cache->options.idle_ms;

	return idle_ms ? clamp(idle_ms / 4, 10u, TICK_MS) : TICK_MS;
}

static void clock_wind(struct xs_cache *cache)
{
	queue_delayed_work(cache->wq, &cache->clock.work,
			   msecs_to_jiffies(tick_ms(cache)));
}

static void stir(struct xs_cache *cache, bool *reason)
{
	struct xs_clock *k = &cache->clock;

	if (!READ_ONCE(*reason)) {
		WRITE_ONCE(*reason, true);
		smp_mb();	/* with smp_store_mb() in clock_tick(): one sees the other */
	}
	if (!READ_ONCE(k->running) && !cmpxchg(&k->running, 0, 1))
		clock_wind(cache);
}

void xs_clock_request(struct xs_cache *cache)
{
	stir(cache, &cache->clock.active);
}

void xs_clock_records(struct xs_cache *cache)
{
	stir(cache, &cache->clock.due);
}

static void watch_idle(struct xs_cache *cache)
{
	struct xs_clock *k = &cache->clock;

	if (READ_ONCE(k->active)) {
		WRITE_ONCE(k->active, false);
		k->quiet_ms = 0;
	} else if (k->quiet_ms < cache->options.idle_ms) {
		k->quiet_ms += tick_ms(cache);
	}
	xs_writeback_idle(cache, cache->options.idle_ms &&
			  k->quiet_ms >= cache->options.idle_ms);
}

/* Is there any reason to look again? */
static bool clock_needed(struct xs_cache *cache)
{
	const struct xs_clock *k = &cache->clock;

	return READ_ONCE(k->due) || READ_ONCE(k->active) ||
	       (cache->options.idle_ms && !xp_is_clean(cache->core));
}

static void clock_tick(struct work_struct *work)
{
	struct xs_cache *cache = container_of(to_delayed_work(work), struct xs_cache,
					      clock.work);
	struct xs_clock *k = &cache->clock;
	struct xp_todo todo;

	/* Before the core's lock is taken: whoever placed records and found it set
	 * did so before that, and they are committed now. */
	WRITE_ONCE(k->due, false);
	xp_todo_init(&todo);
	xp_tick(cache->core, &todo);
	xs_perform(cache, &todo);
	watch_idle(cache);

	if (clock_needed(cache)) {
		clock_wind(cache);
		return;
	}
	/* Full barrier: stopped is seen before we look again. */
	smp_store_mb(k->running, 0);
	/* Stirred after we looked, and before it could see that we stopped? */
	if (clock_needed(cache) && !cmpxchg(&k->running, 0, 1))
		clock_wind(cache);
}

void xs_clock_setup(struct xs_cache *cache)
{
	INIT_DELAYED_WORK(&cache->clock.work, clock_tick);
}

/* With nothing left that stirs it. */
void xs_clock_stop(struct xs_cache *cache)
{
	cancel_delayed_work_sync(&cache->clock.work);
	cache->clock.running = 0;
	cache->clock.quiet_ms = 0;
	WRITE_ONCE(cache->writeback.idle, false);
}
