// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - what happens without a request: the records of acknowledged writes are committed,
 * and the core sees whether the cache is idle, and begins to write back (core/rate.h); on the first loop.
 */
#include "daemon/device.h"
#include "daemon/engine.h"

#define TICK_MS		1000u

/* A short idle time needs a finer clock. */
static u32 tick_ms(const struct xd_cache *cache)
{
	u32 idle_ms = xd_get(cache->idle_ms);

	return idle_ms ? min(max(idle_ms / 4, 10u), TICK_MS) : TICK_MS;
}

static void tick(struct xd_event *event, int res)
{
	struct xd_cache *cache = container_of(event, struct xd_cache, tick.event);
	struct xd_loop *loop = xd_first_loop(cache);

	(void)res;
	cache->tick.armed = false;
	xp_tick(cache->core, &loop->todo);
	xd_device_watch(cache->fast);
	xd_device_watch(cache->slow);
	if (xp_writeback_watch(cache->core, xd_now()))
		xd_writeback_kick(cache);
	xd_timer_arm(loop, &cache->tick, tick_ms(cache) * 1000000ull);
}

static void start(struct xd_call *call)
{
	struct xd_cache *cache = container_of(call, struct xd_cache, tick_start);

	cache->tick.event.end = tick;
	xd_timer_arm(call->loop, &cache->tick, tick_ms(cache) * 1000000ull);
	xd_writeback_kick(cache);
}

void xd_clock_start(struct xd_cache *cache)
{
	cache->tick_start.fn = start;
	xd_loop_call(xd_first_loop(cache), &cache->tick_start);
}
