// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop.c - a thread with a ring: an io_uring, mostly.
 *
 * A round: whatever the core has added to the todo is performed, what was put off to the end
 * of the round is done, all of it is submitted, and the next completion is waited for: awake, while
 * that pays (spin.c), asleep otherwise. Other threads post to the mailbox and wake the loop by an
 * eventfd.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/ring.h"
#include "daemon/spin.h"
#include "lib/uring_abi.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static __thread struct xd_loop *self;	/* that runs this thread; NULL: none does */

u64 xd_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

void xd_loop_room(struct xd_loop *loop, u32 n)
{
	xd_ring_room(&loop->ring, n);
}

struct io_uring_sqe *xd_loop_sqe(struct xd_loop *loop, struct xd_event *event)
{
	return xd_ring_sqe(&loop->ring, event);
}

void xd_timer_arm(struct xd_loop *loop, struct xd_timer *timer, u64 ns)
{
	struct io_uring_sqe *sqe;

	if (timer->armed)
		return;
	timer->armed = true;
	timer->at.tv_sec = ns / 1000000000u;
	timer->at.tv_nsec = ns % 1000000000u;
	sqe = xd_loop_sqe(loop, &timer->event);
	io_uring_prep_timeout(sqe, &timer->at, 0, 0);
}

/* -------------------------------------------------------------- mailbox ---- */

static void wake_arm(struct xd_loop *loop)
{
	io_uring_prep_read(xd_loop_sqe(loop, &loop->wake), loop->wake_fd, &loop->wake_count,
			   sizeof(loop->wake_count), 0);
}

static void woken(struct xd_event *event, int res)
{
	(void)res;
	wake_arm(container_of(event, struct xd_loop, wake));
}

/* With the lock held, after something was posted. */
static void wake(struct xd_loop *loop)
{
	const u64 one = 1;

	if (loop->posted)
		return;
	xd_set(loop->posted, true);
	if (loop != self && write(loop->wake_fd, &one, sizeof(one)) < 0)
		XP_ASSERT(errno == EAGAIN);	/* it cannot be full */
}

void xd_loop_wake(struct xd_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
}

void xd_loop_call(struct xd_loop *loop, struct xd_call *call)
{
	call->next = NULL;
	call->loop = loop;
	pthread_mutex_lock(&loop->lock);
	*loop->calls_tail = call;
	loop->calls_tail = &call->next;
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
}

void xd_loop_call_wait(struct xd_loop *loop, struct xd_call *call, sem_t *done)
{
	sem_init(done, 0, 0);
	xd_loop_call(loop, call);
	while (sem_wait(done) && errno == EINTR)
		;
	sem_destroy(done);
}

void xd_loop_post(struct xd_loop *loop, struct xp_req *req, bool done)
{
	pthread_mutex_lock(&loop->lock);
	xp_list_add(done ? &loop->posted_done : &loop->posted_ready, &req->link);
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
}

/* Takes the mailbox whole. */
static void take_posted(struct xd_loop *loop)
{
	struct xd_call *call, *next;

	if (!xd_get(loop->posted))
		return;
	pthread_mutex_lock(&loop->lock);
	xd_set(loop->posted, false);
	xp_list_splice(&loop->todo.done, &loop->posted_done);
	xp_list_splice(&loop->todo.ready, &loop->posted_ready);
	call = loop->calls;
	loop->calls = NULL;
	loop->calls_tail = &loop->calls;
	pthread_mutex_unlock(&loop->lock);
	for (; call; call = next) {
		next = call->next;
		call->fn(call);
	}
}

/* ------------------------------------------------------------------ round ---- */

void xd_loop_op(struct xd_loop *loop, struct xd_op *op)
{
	op->next = NULL;
	*loop->ended_tail = op;
	loop->ended_tail = &op->next;
}

/* Of operations whose ends could not be told at once: .done is their errno. */
static void end_ops(struct xd_loop *loop)
{
	struct xd_op *op = loop->ended, *next;

	loop->ended = NULL;
	loop->ended_tail = &loop->ended;
	for (; op; op = next) {
		next = op->next;
		if (op->dev->ops->ended)
			op->dev->ops->ended(op, -(int)op->done);
		else
			xd_op_end(op, -(int)op->done);
	}
}

void xd_loop_later(struct xd_loop *loop, struct xd_call *call)
{
	call->next = loop->later;
	call->loop = loop;
	loop->later = call;
}

void xd_loop_submitted(struct xd_loop *loop, struct xd_call *call)
{
	call->next = loop->submitted;
	call->loop = loop;
	loop->submitted = call;
}

static void do_calls(struct xd_call **list)
{
	struct xd_call *call = *list, *next;

	*list = NULL;
	for (; call; call = next) {
		next = call->next;
		call->fn(call);
	}
}

/* ----------------------------------------------------------------- wait ---- */

/* Whoever else wants this processor gets it: it may be the client that we wait for. */
static bool spin(struct xd_loop *loop)
{
	u64 until = xd_now() + XD_SPIN_NS;

	while (!xd_ring_has_news(&loop->ring)) {
		if (xd_now() >= until)
			return false;
		sched_yield();
	}
	return true;
}

static void submit_and_wait(struct xd_loop *loop)
{
	if (xd_ring_can_spin(&loop->ring) && xd_spin_due(&loop->spin)) {
		if (xd_ring_unsent(&loop->ring))
			xd_ring_submit(&loop->ring);
		xd_spin_ended(&loop->spin, spin(loop));
	}
	xd_ring_wait(&loop->ring);
}

/* --------------------------------------------------------------- thread ---- */

static bool round_has_work(const struct xd_loop *loop)
{
	return !xp_todo_empty(&loop->todo) || !xp_list_empty(&loop->again) || loop->later ||
	       loop->ended || xd_get(loop->posted);
}

static void do_round(struct xd_loop *loop)
{
	do {
		take_posted(loop);
		end_ops(loop);
		xd_perform(loop);
		if (loop == xd_first_loop(loop->cache))
			xd_writeback_run(loop->cache);
		xd_perform(loop);
		do_calls(&loop->later);
	} while (round_has_work(loop));
}

static bool loop_over(struct xd_loop *loop)
{
	return xd_get(loop->quit) && !loop->ios && !loop->ops && !xd_get(loop->posted) &&
	       (loop != xd_first_loop(loop->cache) || xd_writeback_at_rest(loop->cache));
}

static void *loop_main(void *arg)
{
	struct xd_loop *loop = arg;

	xd_ring_enable(&loop->ring);
	self = loop;
	wake_arm(loop);
	for (;;) {
		do_round(loop);
		if (loop_over(loop))
			return NULL;
		submit_and_wait(loop);
		if (!xd_ring_unsent(&loop->ring))
			do_calls(&loop->submitted);
		xd_ring_reap(&loop->ring);
	}
}

/* -------------------------------------------------------- start and stop ---- */

int xd_loop_init(struct xd_loop *loop, struct xd_cache *cache, u32 index)
{
	int err;

	loop->cache = cache;
	loop->index = index;
	xp_todo_init(&loop->todo);
	xp_list_init(&loop->again);
	xp_list_init(&loop->unbuffered);
	xp_list_init(&loop->throttled);
	xp_list_init(&loop->posted_done);
	xp_list_init(&loop->posted_ready);
	loop->calls_tail = &loop->calls;
	loop->ended_tail = &loop->ended;
	loop->wake.end = woken;
	loop->throttle.event.end = xd_throttle_release;
	pthread_mutex_init(&loop->lock, NULL);
	loop->ring.uring.ring_fd = -1;
	loop->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (loop->wake_fd < 0)
		return -errno;
	err = xd_ring_open(&loop->ring, loop->wake_fd);
	return err ? err : xd_buffers_init(loop);
}

void xd_loop_free(struct xd_loop *loop)
{
	if (!loop->cache)
		return;
	xd_ring_close(&loop->ring);
	if (loop->wake_fd >= 0)
		close(loop->wake_fd);
	xd_buffers_free(loop);
	pthread_mutex_destroy(&loop->lock);
}

int xd_loop_start(struct xd_loop *loop)
{
	int err = pthread_create(&loop->thread, NULL, loop_main, loop);

	loop->running = !err;
	return -err;
}

void xd_loop_stop(struct xd_loop *loop)
{
	if (!loop->running)
		return;
	pthread_mutex_lock(&loop->lock);
	xd_set(loop->quit, true);
	wake(loop);
	pthread_mutex_unlock(&loop->lock);
	pthread_join(loop->thread, NULL);
	loop->running = false;
}
