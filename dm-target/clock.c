// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - a tick once a second. It commits the records of acknowledged writes,
 * and the core sees whether the cache is idle, and begins to write back (core/rate.h). The clock
 * stops when neither is due, so that an idle machine sleeps; with a writeback_delay it goes on while blocks are dirty.
 */
#include <linux/jiffies.h>

#include "backend.h"
#include "statistics.h"

#define TICK_MS		1000u

/* A short idle time needs a finer clock. */
static u32 tick_ms(const struct xs_cache *cache)
{
	u32 idle_ms = READ_ONCE(cache->clock.idle_ms);

	return idle_ms ? clamp(idle_ms / 4, 10u, TICK_MS) : TICK_MS;
}

/*
 * Starts the clock, unless it runs or is stopped: work of the last tick may end while
 * the cache is being suspended.
 */
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

void xs_clock_stir(struct xs_cache *cache, u32 *reason)
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

/*
 * Whether another tick is needed after this one. @busy: requests have come before it; a write among them may
 * map its block yet, and its record need not wait for a tick.
 */
static bool clock_needed(const struct xs_cache *cache, bool busy, bool clean)
{
	const struct xs_clock *k = &cache->clock;

	return READ_ONCE(k->due) || READ_ONCE(k->active) || (READ_ONCE(k->idle_ms) && (busy || !clean));
}

static void clock_tick(struct work_struct *work)
{
	struct xs_cache *cache = container_of(to_delayed_work(work), struct xs_cache,
					      clock.work);
	struct xs_clock *k = &cache->clock;
	struct xp_todo todo;
	bool busy, clean;

	/*
	 * Before xp_tick() takes the core's lock: a record whose writer found .due set
	 * was placed before that, and is committed now.
	 */
	WRITE_ONCE(k->due, false);
	xp_todo_init(&todo);
	xp_tick(cache->core, &todo);
	xs_perform(cache, &todo);
	busy = xchg(&k->active, false);
	clean = xp_is_clean(cache->core);	/* before the core looks: the clock does not stop before it has seen that */
	if (xp_writeback_watch(cache->core, ktime_get_ns()))
		xs_writeback_kick(cache);

	/* Full barrier, with xs_clock_stir(): a later reason finds the clock stopped. */
	smp_store_mb(k->running, false);
	if (clock_needed(cache, busy, clean))
		clock_wind(cache);
}

/* A tick comes at once, and then as often as that needs. */
void xs_clock_idle_after(struct xs_cache *cache, u32 idle_ms)
{
	struct xs_clock *k = &cache->clock;
	unsigned long flags;

	WRITE_ONCE(k->idle_ms, idle_ms);
	WRITE_ONCE(k->active, true);
	spin_lock_irqsave(&k->lock, flags);
	if (!k->stopped) {
		WRITE_ONCE(k->running, true);
		mod_delayed_work(cache->wq, &k->work, 0);
	}
	spin_unlock_irqrestore(&k->lock, flags);
}

/* The clock is stopped until xs_clock_start(). */
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
}
