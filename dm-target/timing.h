/* SPDX-License-Identifier: GPL-2.0-only */
/* timing.h - how long requests and the operations of the devices take. */
#ifndef XS_TIMING_H
#define XS_TIMING_H

#include "backend.h"
#include "class.h"

#define XS_TICK_SHIFT	22
DECLARE_STATIC_KEY_FALSE(xs_tsc);
void xs_timing_init(void);

static inline u64 xs_ticks(void)
{
	return static_branch_likely(&xs_tsc) ? get_cycles() : ktime_get_ns();
}

/* The time, or 0 while latencies are not recorded: no function records a time since 0. */
static inline u64 xs_time(const struct xs_cache *cache)
{
	/* with xs_timing_switch() */
	return smp_load_acquire(&cache->timed) ? xs_ticks() : 0;
}

/* The counters of two processors may differ a little. */
static inline u64 xs_between(u64 begun, u64 now)
{
	return likely((s64)(now - begun) > 0) ? now - begun : 1;
}

static inline u64 xs_since(u64 begun)
{
	return begun ? xs_between(begun, xs_ticks()) : 0;
}

/* Records that an operation of @class has succeeded after @ticks. Any context. */
void xs_record(struct xs_cache *cache, enum xp_class class, u64 ticks);
void xs_record_both(struct xs_cache *cache, enum xp_class a, u64 ticks_a, enum xp_class b,
		    u64 ticks_b);

static inline void xs_timed(struct xs_cache *cache, enum xp_class class, u64 ticks)
{
	if (ticks)
		xs_record(cache, class, ticks);
}

static inline void xs_timed_both(struct xs_cache *cache, enum xp_class a, u64 ticks_a,
				 enum xp_class b, u64 ticks_b)
{
	if (ticks_a && ticks_b) {
		xs_record_both(cache, a, ticks_a, b, ticks_b);
		return;
	}
	xs_timed(cache, a, ticks_a);
	xs_timed(cache, b, ticks_b);
}

/* Turns recording on or off; may sleep. -ENOMEM: it stays off. */
int xs_timing_switch(struct xs_cache *cache, bool on);
void xs_timing_free(struct xs_cache *cache);
u64 xs_timing_bytes(const struct xs_cache *cache);
/*
 * The answer to the message "histogram": a line about the recording, and one of
 * xp_histogram_print() for each class. What does not fit is cut. May sleep; -ENOMEM.
 */
int xs_timing_print(struct xs_cache *cache, char *text, u32 room);

#endif /* XS_TIMING_H */
