/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doubt.h - writes of which nobody knows whether they were done, or will be yet.
 *
 * The connection that took them broke before their answers came. A server that is slow over what it
 * has received may do them after a newer write of the same place, which came by a new connection: it
 * acknowledges that, flushes it, and has the older data in the end. NBD has no word to end an old
 * connection's requests. So what would write over such a place waits until they are as good as done:
 * as NVMe over fabrics does it, by time.
 */
#ifndef XD_DOUBT_H
#define XD_DOUBT_H

#include "platform.h"

#include <pthread.h>

#define XD_DOUBT_NS	30000000000ull	/* since the break: a disk tries a bad sector for so long */
#define XD_DOUBTS	64u

struct xd_doubt {
	pthread_mutex_t lock;		/* of all below */
	u64 until;			/* xd_now(): of none is there any doubt */
	u32 n;
	struct {
		u64 from, to;		/* bytes */
	} range[XD_DOUBTS];		/* of the last, when there are more: all from the first to the last of those */
};

/* Any thread; neither sleeps. @now: xd_now(), as the break is noticed. */
void xd_doubt_add(struct xd_doubt *d, u64 from, u64 bytes, u64 now);
/* How many ns a write there has to wait; 0: none. */
u64 xd_doubt_left(struct xd_doubt *d, u64 from, u64 bytes, u64 now);

#endif /* XD_DOUBT_H */
