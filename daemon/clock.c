// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - what happens without a request: the records of acknowledged writes are committed,
 * and an idle cache writes its dirty blocks back; on the first loop.
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

static void watch_idle(struct xd_cache *cache)
{
	u32 idle_ms = xd_get(cache->idle_ms);
	bool idle;

	if (xd_get(cache->active)) {
		xd_set(cache->active, 0);
		cache->quiet_ms = 0;
	} else if (cache->quiet_ms < idle_ms) {
		cache->quiet_ms += tick_ms(cache);
	}
	idle = idle_ms && cache->quiet_ms >= idle_ms;
	if (idle != cache->idle) {
		cache->idle = idle;
		xp_drain(cache->core, idle);
		xd_writeback_kick(cache);
	}
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
	watch_idle(cache);
	xd_timer_arm(loop, &cache->tick, tick_ms(cache) * 1000000ull);
}

static void start(struct xd_call *call)
{
	struct xd_cache *cache = container_of(call, struct xd_cache, tick_start);

	cache->tick.event.end = tick;
	xd_timer_arm(call->loop, &cache->tick, tick_ms(cache) * 1000000ull);
	xd_writeback_kick(cache);
}

/* The next tick finds it: the time counts from now on. */
void xd_clock_idle_after(struct xd_cache *cache, u32 idle_ms)
{
	xd_set(cache->idle_ms, idle_ms);
	xd_set(cache->active, 1);
}

void xd_clock_start(struct xd_cache *cache)
{
	cache->tick_start.fn = start;
	xd_loop_call(xd_first_loop(cache), &cache->tick_start);
}
