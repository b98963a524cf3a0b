/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unordered.h - what orders hits and the lock's holder, taken away, for a test_hit that
 * ThreadSanitizer must find fault with: PLAIN_EXCHANGE, or NO_BARRIER.
 */
#ifndef TEST_UNORDERED_H
#define TEST_UNORDERED_H

#include "platform.h"

#ifdef PLAIN_EXCHANGE
static inline bool plain_exchange(u32 *p, u32 *was, u32 now)
{
	if (XP_READ_ONCE(*p) != *was) {
		*was = XP_READ_ONCE(*p);
		return false;
	}
	XP_WRITE_ONCE(*p, now);
	return true;
}

#define xp_try_exchange(p, was, now)	plain_exchange(p, was, now)
#endif

#ifdef NO_BARRIER
#define xp_barrier()	((void)0)
#define xp_stores_depend()	((void)0)
#endif

#endif
