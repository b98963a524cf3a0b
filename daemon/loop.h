/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loop.h - what a loop does for others: operations and calls, timers, entries of its ring. engine.h has what it is.
 */
#ifndef XD_LOOP_H
#define XD_LOOP_H

#include "daemon/op.h"
#include "lib/uring_abi.h"
#include "platform.h"

#include <semaphore.h>

struct xd_cache;
struct xp_req;

struct xd_timer {
	struct xd_event event;
	struct __kernel_timespec at;
	bool armed;
};

int xd_loop_init(struct xd_loop *loop, struct xd_cache *cache, u32 index);
void xd_loop_free(struct xd_loop *loop);
int xd_loop_start(struct xd_loop *loop);
/* Any thread. The call is over, as far as the loop cares, when fn begins. */
void xd_loop_call(struct xd_loop *loop, struct xd_call *call);
/* The same from a thread that is no loop's; waits until the call, or what it has begun, posts @done. */
void xd_loop_call_wait(struct xd_loop *loop, struct xd_call *call, sem_t *done);
/* The same, of a part that the core has let go: to be ended, or submitted. */
void xd_loop_post(struct xd_loop *loop, struct xp_req *req, bool done);
/* Any thread: another round. */
void xd_loop_wake(struct xd_loop *loop);
/* The loop's own thread: the operation ends, soon; op->done is its errno, not negative. */
void xd_loop_op(struct xd_loop *loop, struct xd_op *op);
/* The loop's own thread: at the end of this round, before it waits. */
void xd_loop_later(struct xd_loop *loop, struct xd_call *call);
/* The loop's own thread: when the kernel has taken all that is in the submission queue now. */
void xd_loop_submitted(struct xd_loop *loop, struct xd_call *call);
/* Any thread: it ends when nothing is under way. Joins it. */
void xd_loop_stop(struct xd_loop *loop);
/* The next @n places are handed over together: what is linked stays so. */
void xd_loop_room(struct xd_loop *loop, u32 n);
/* A place in the submission queue, of @event; there always is one. */
struct io_uring_sqe *xd_loop_sqe(struct xd_loop *loop, struct xd_event *event);
/* timer->event.end is called once, after @ns or more; not if it is armed already. */
void xd_timer_arm(struct xd_loop *loop, struct xd_timer *timer, u64 ns);

/* CLOCK_MONOTONIC, ns. */
u64 xd_now(void);

/* Words that several loops share. */
#define xd_count(counter, n)	((void)__atomic_fetch_add(&(counter), n, __ATOMIC_RELAXED))
#define xd_get(word)		__atomic_load_n(&(word), __ATOMIC_RELAXED)
#define xd_set(word, value)	__atomic_store_n(&(word), value, __ATOMIC_RELAXED)

#endif /* XD_LOOP_H */
