// SPDX-License-Identifier: GPL-2.0-only
/*
 * throttle.c - slows writers smoothly while dirty blocks approach their limit.
 *
 * Each write costs time, by the core's pace; it is let go when the time of those before it,
 * on all loops, has passed.
 */
#include "daemon/engine.h"
#include "core/accounting.h"
#include "core/pace.h"

static void let_go(struct xd_loop *loop)
{
	bool free = xd_get(loop->cache->suspending) || !xp_pressure(loop->cache->core);
	u64 now = xd_now();

	while (!xp_list_empty(&loop->throttled)) {
		struct xd_part *part = xd_part_of(loop->throttled.head);

		if (!free && part->release > now) {
			/* Not long at once: the pressure may go. */
			xd_timer_arm(loop, &loop->throttle, min(part->release - now, 20000000ull));
			return;
		}
		xp_list_add(&loop->again, xp_list_pop(&loop->throttled));
	}
}

void xd_throttle_release(struct xd_event *event, int res)
{
	struct xd_loop *loop = container_of(event, struct xd_loop, throttle.event);

	(void)res;
	loop->throttle.armed = false;
	let_go(loop);
}

static u64 release_time(struct xd_cache *cache, u64 now, u32 blocks)
{
	u64 release;

	pthread_mutex_lock(&cache->pace_lock);
	release = xp_pace(&cache->pace_next, now, blocks, xd_get(cache->block_ns),
			  xp_pressure(cache->core));
	pthread_mutex_unlock(&cache->pace_lock);
	return release;
}

bool xd_throttle(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	u64 now;

	if (xp_list_empty(&loop->throttled) &&
	    (!xp_pressure(cache->core) || xd_get(cache->suspending)))
		return false;
	now = xd_now();
	part->release = release_time(cache, now, (part->end - part->req.sector + XP_BLOCK_SECTORS - 1) /
						 XP_BLOCK_SECTORS);
	if (part->release - now <= XP_PACE_SLACK && xp_list_empty(&loop->throttled))
		return false;
	xp_held_back(&part->req);
	xp_list_add(&loop->throttled, &part->req.link);
	let_go(loop);
	return true;
}
