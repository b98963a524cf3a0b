// SPDX-License-Identifier: GPL-2.0-only
/*
 * resize.c - the slow device is longer than it was, while the cache runs (core/resize.h).
 *
 * NBD has no word for it: who is connected goes on with the size that he was told, and whoever connects from now on
 * is told the new one.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "lib/device.h"
#include "core/resize.h"

#include <errno.h>
#include <unistd.h>

#define POLL_US		5000u
#define PATIENCE_US	4000000u	/* xpcache waits for an answer a little longer */

struct ask {
	struct xd_call call;
	u64 sectors;
	int err;
	sem_t done;
};

/* The loop performs what the core asks for. */
static void ask_core(struct xd_call *call)
{
	struct ask *a = container_of(call, struct ask, call);

	a->err = xp_resize(call->loop->cache->core, a->sectors, &call->loop->todo);
	sem_post(&a->done);
}

static int note(struct xd_cache *cache, u64 sectors)
{
	struct ask a = { .call.fn = ask_core, .sectors = sectors };
	u32 waited = 0;

	xd_loop_call_wait(xd_first_loop(cache), &a.call, &a.done);
	while (!a.err && (a.err = xp_resize_noted(cache->core)) == -EAGAIN && waited < PATIENCE_US) {
		a.err = 0;
		usleep(POLL_US);
		waited += POLL_US;
	}
	return a.err == -EAGAIN ? -ETIMEDOUT : a.err;
}

int xd_cache_resize(struct xd_cache *cache)
{
	u64 bytes, sectors;
	int err;

	if (cache->slow->remote)
		return -EOPNOTSUPP;
	err = device_bytes(cache->slow->dev.fd, &bytes);
	if (err)
		return err;
	sectors = bytes >> XP_SECTOR_SHIFT;
	if (sectors == cache->sectors)
		return 0;
	if (sectors < cache->sectors)
		return -ENOSPC;
	err = note(cache, sectors);
	if (err)
		return err;
	cache->slow->dev.sectors = sectors;
	xd_set(cache->sectors, sectors);
	xp_resize_end(cache->core);
	return 0;
}
