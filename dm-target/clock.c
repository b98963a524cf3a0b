// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - what happens without a request: the records of acknowledged writes
 * are committed at the next tick, and an idle cache brings its dirty blocks
 * home. The clock stands still when neither is due, so that an idle machine
 * sleeps.
 */
#include <linux/jiffies.h>

#include "backend.h"

#define TICK_MS		1000u

/* A short idle time needs a finer clock. */
static u32 tick_ms(const struct xs_cache *cache)
{
	u32 idle_ms = cache->options.idle_ms;

	return idle_ms ? clamp(idle_ms / 4, 10u, TICK_MS) : TICK_MS;
}

/* Unless it runs already, or was stopped: what the last tick began may still end
 * while the cache is on its way out. */
static void clock_wind(struct xs_cache *cache)
{
	struct xs_clock *k = &cache->clock;
	unsigned long flags;

	spin_lock_irqsave(&k->lock, flags);
	/* clock_tick() ends running without the lock; it asks for a tick itself after that. */
	if (!READ_ONCE(k->running) && !k->stopped) {
		WRITE_ONCE(k->running, true);
		queue_delayed_work(cache->wq, &k->work, msecs_to_jiffies(tick_ms(cache)));
	}
	spin_unlock_irqrestore(&k->lock, flags);
}

void xs_clock_stir(struct xs_cache *cache, bool *reason)
{
	struct xs_clock *k = &cache->clock;

	if (!READ_ONCE(*reason)) {
		WRITE_ONCE(*reason, true);
		smp_mb();	/* with smp_store_mb() in clock_tick(): one sees the other */
	}
	if (!READ_ONCE(k->running))
		clock_wind(cache);
}

void xs_clock_records(struct xs_cache *cache)
{
	xs_clock_stir(cache, &cache->clock.due);
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

	/* Full barrier: whoever gives a reason from here on sees that we stand. */
	smp_store_mb(k->running, false);
	if (clock_needed(cache))
		clock_wind(cache);
}

/* Stopped until xs_clock_start(). */
void xs_clock_setup(struct xs_cache *cache)
{
	spin_lock_init(&cache->clock.lock);
	INIT_DELAYED_WORK(&cache->clock.work, clock_tick);
	cache->clock.stopped = true;
}

static void set_stopped(struct xs_clock *k, bool stopped)
{
	spin_lock_irq(&k->lock);
	k->stopped = stopped;
	spin_unlock_irq(&k->lock);
}

void xs_clock_start(struct xs_cache *cache)
{
	set_stopped(&cache->clock, false);
	xs_clock_request(cache);
}

void xs_clock_stop(struct xs_cache *cache)
{
	set_stopped(&cache->clock, true);
	cancel_delayed_work_sync(&cache->clock.work);
	WRITE_ONCE(cache->clock.running, false);
	cache->clock.quiet_ms = 0;
	xs_writeback_idle(cache, false);
}
