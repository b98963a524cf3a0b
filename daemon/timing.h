/* SPDX-License-Identifier: GPL-2.0-only */
/* timing.h - how many requests there are, how long they and the devices take; by each loop for itself. */
#ifndef XD_TIMING_H
#define XD_TIMING_H

#include "daemon/engine.h"
#include "core/accounting.h"

int xd_timing_alloc(struct xd_cache *cache);
void xd_timing_free(struct xd_cache *cache);
void xd_record(struct xd_loop *loop, enum xp_class class, u64 ns);
u64 xd_timing_bytes(const struct xd_cache *cache);
/* Of all loops. */
struct xp_requests xd_requests(const struct xd_cache *cache);
/* The answer to "histogram"; malloc()ed; NULL: no memory. */
char *xd_timing_print(struct xd_cache *cache);

static inline u64 xd_time(const struct xd_cache *cache)
{
	return xd_get(cache->timed) ? xd_now() : 0;
}

/* Nanoseconds since xd_time() said @begun; 0 if it said 0. */
static inline u64 xd_since(u64 begun)
{
	return begun ? max(xd_now() - begun, 1ull) : 0;
}

static inline void xd_timed(struct xd_loop *loop, enum xp_class class, u64 begun)
{
	if (begun)
		xd_record(loop, class, xd_since(begun));
}

#endif /* XD_TIMING_H */
