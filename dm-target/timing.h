/* SPDX-License-Identifier: GPL-2.0-only */
/* timing.h - how many requests there are, how long they take, and the operations of devices. */
#ifndef XS_TIMING_H
#define XS_TIMING_H

#include "backend.h"
#include "accounting.h"

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

/* Records that an operation of a device of class @leg has succeeded after @ticks. Any context. */
void xs_record(struct xs_cache *cache, enum xp_class leg, u64 ticks);

static inline void xs_timed(struct xs_cache *cache, enum xp_class leg, u64 ticks)
{
	if (ticks)
		xs_record(cache, leg, ticks);
}

/* A read of the slow device has succeeded after @ticks, or 0: the core is told. Any context. */
void xs_slow_took(struct xs_cache *cache, const struct xp_req *req, u32 nr_sectors, u64 ticks);

/*
 * Counts a request that has ended, once; and records its time, unless that is 0 or it has failed.
 * Any context.
 */
void xs_count(struct xs_cache *cache, enum xp_class class, bool failed, u64 ticks);
/* The same of one that has not failed, and the time of its operation. Neither is 0. */
void xs_count_both(struct xs_cache *cache, enum xp_class class, u64 ticks, enum xp_class leg,
		   u64 leg_ticks);

/* A read of so many blocks that was one hit, with its time and the device's. Neither is 0. */
void xs_count_hit(struct xs_cache *cache, u32 nr_blocks, u64 ticks, u64 leg_ticks);
/* The blocks alone. */
void xs_count_hit_blocks(struct xs_cache *cache, u32 nr_blocks);
/* A part of a request is counted as one. */
void xs_count_split(struct xs_cache *cache);

/* @io has ended for good. It is a request, or a part of one. */
static inline void xs_io_ended(struct xs_cache *cache, const struct xs_io *io, enum xp_class class,
			       bool failed)
{
	if (io->whole)
		xs_whole_ended(cache, io->whole, class, failed);
	else
		xs_count(cache, class, failed, xs_since(io->begun));
}

/* The same, and its last operation, if that took any time. */
static inline void xs_io_count(struct xs_cache *cache, const struct xs_io *io, enum xp_class leg,
			       u64 leg_ticks)
{
	u64 ticks = xs_since(io->begun);

	if (likely(ticks && leg_ticks && !io->req.err)) {
		xs_count_both(cache, io->req.class, ticks, leg, leg_ticks);
		return;
	}
	xs_timed(cache, leg, leg_ticks);
	if (!io->own)
		xs_io_ended(cache, io, io->req.class, io->req.err);
}

/* Sums of all processors. */
struct xp_requests xs_requests(const struct xs_cache *cache);

int xs_timing_alloc(struct xs_cache *cache);
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
