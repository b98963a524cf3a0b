/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter.h - counters without a lock: one that many processors count up, and one of a single writer.
 *
 * xp_count() counts an event; it orders nothing. xp_local_*() are for a u64 that one processor or thread
 * changes and others may read.
 */
#ifndef XP_COUNTER_H
#define XP_COUNTER_H

#include "platform.h"

#ifdef __KERNEL__

#include <linux/cache.h>
#include <linux/smp.h>
#include <asm/local64.h>

/* A counter that many processors count up. */
struct xp_counter {
	atomic64_t n;
} ____cacheline_aligned;

#define xp_count(k)		atomic64_inc(&(k)->n)
#define xp_counted(k)		((u64)atomic64_read(&(k)->n))
#define xp_processor()		raw_smp_processor_id()

/* A u64 that one processor counts up, in interrupts too. The exchange orders nothing. */
static_assert(sizeof(local64_t) == sizeof(u64));

#define xp_local(l)		((local64_t *)(l))
#define xp_local_read(l)	((u64)local64_read(xp_local(l)))
#define xp_local_add(l, v)	local64_add(v, xp_local(l))

static inline bool xp_local_exchange(u64 *l, u64 *was, u64 now)
{
	u64 found = (u64)local64_cmpxchg(xp_local(l), *was, now), expected = *was;

	*was = found;
	return found == expected;
}

#else /* user space */

struct xp_counter {
	u64 n;
} __attribute__((aligned(64)));

#define xp_count(k)	((void)__atomic_fetch_add(&(k)->n, 1, __ATOMIC_RELAXED))
#define xp_counted(k)	XP_READ_ONCE((k)->n)
#define xp_processor()	0u

/* One thread counts it up, others may read. */
#define xp_local_read(l)	XP_READ_ONCE(*(l))
#define xp_local_add(l, v)	XP_WRITE_ONCE(*(l), *(l) + (v))

static inline bool xp_local_exchange(u64 *l, u64 *was, u64 now)
{
	(void)was;	/* nobody else writes */
	XP_WRITE_ONCE(*l, now);
	return true;
}

#endif /* __KERNEL__ */

#endif /* XP_COUNTER_H */
