// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring_plain.c - what an io_uring would do, without one.
 *
 * Whatever waits for a descriptor or a time is a list that the loop's thread polls. Reads, writes and flushes of devices
 * block, so threads do them: a pool for each device, since a slow one that takes all of its threads must not keep hits
 * waiting. What they have done goes to a list, and an eventfd ends the poll. As of an io_uring, operations that are under
 * way together are done in any order.
 */
#include "daemon/loop.h"
#include "daemon/ring.h"
#include "lib/uring_abi.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES		256u	/* as of the io_uring: see xd_ring_room() */
#define POOLS		2u	/* fast, slow */
#define THREADS		8u	/* of each: requests that are at a device together */
#define STACK_BYTES	(256u << 10)
#define NEVER		(~0ull)

struct job {
	struct io_uring_sqe sqe;
	int res;
	u64 until;		/* xd_now(); a wait ends then, */
	int too_late;		/* with this */
	struct job *next;
};

struct list {
	struct job *first, *last;
};

struct pool {
	struct xd_plain *plain;
	int fd;			/* -1: nobody's yet */
	pthread_t thread[THREADS];
	u32 nr_threads;
	pthread_mutex_t lock;	/* the next two */
	struct list jobs;
	bool quit;
	pthread_cond_t wanted;
};

struct xd_plain {
	struct io_uring_sqe sqe[ENTRIES];
	u32 unsent;
	int wake_fd, done_fd;
	struct job *waits;	/* for a descriptor or a time */
	u32 nr_waits;
	struct list ended;	/* to be reaped */
	struct pollfd *poll;
	u32 poll_room;
	struct pool pool[POOLS];

	pthread_mutex_t lock;	/* the next one */
	struct list done;	/* by the pools */
};

/* ------------------------------------------------------------------- lists ---- */

static void list_init(struct list *l)
{
	l->first = l->last = NULL;
}

static void list_add(struct list *l, struct job *j)
{
	j->next = NULL;
	if (l->last)
		l->last->next = j;
	else
		l->first = j;
	l->last = j;
}

static struct job *list_take(struct list *l)
{
	struct job *j = l->first;

	if (!j)
		return NULL;
	l->first = j->next;
	if (!l->first)
		l->last = NULL;
	return j;
}

static void list_splice(struct list *to, struct list *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	list_init(from);
}

static void list_free(struct list *l)
{
	struct job *j;

	while ((j = list_take(l)))
		free(j);
}

static struct job *job_new(const struct io_uring_sqe *sqe)
{
	struct job *j = calloc(1, sizeof(*j));

	XP_ASSERT(j);	/* a crash, which recovery knows, in place of an operation that never ends */
	j->sqe = *sqe;
	j->until = NEVER;
	return j;
}

/* ------------------------------------------------------------------- pools ---- */

static int write_synced(const struct io_uring_sqe *sqe, const struct iovec *v)
{
	ssize_t n = pwritev2(sqe->fd, v, 1, (off_t)sqe->off, sqe->rw_flags);

	if (n < 0 && errno == EOPNOTSUPP) {
		n = pwrite(sqe->fd, v->iov_base, v->iov_len, (off_t)sqe->off);
		if (n >= 0 && fdatasync(sqe->fd))
			n = -1;
	}
	return n < 0 ? -errno : (int)n;
}

static int perform(const struct io_uring_sqe *sqe)
{
	struct iovec v = { (void *)(uintptr_t)sqe->addr, sqe->len };
	ssize_t n;

	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READ_FIXED:
		n = pread(sqe->fd, v.iov_base, v.iov_len, (off_t)sqe->off);
		break;
	case IORING_OP_WRITE:
	case IORING_OP_WRITE_FIXED:
		if (sqe->rw_flags)
			return write_synced(sqe, &v);
		n = pwrite(sqe->fd, v.iov_base, v.iov_len, (off_t)sqe->off);
		break;
	case IORING_OP_FSYNC:
		n = fdatasync(sqe->fd);
		break;
	case URING_OP_CMD:
		n = ioctl(sqe->fd, BLKDISCARD, (u64[]){ sqe->addr, *(const u64 *)uring_words(sqe) });
		break;
	default:
		n = fallocate(sqe->fd, (int)sqe->len, (off_t)sqe->off, (off_t)sqe->addr);
	}
	return n < 0 ? -errno : (int)n;
}

static void done(struct xd_plain *p, struct job *j)
{
	const u64 one = 1;
	bool first;

	pthread_mutex_lock(&p->lock);
	first = !p->done.first;
	list_add(&p->done, j);
	pthread_mutex_unlock(&p->lock);
	if (first && write(p->done_fd, &one, sizeof(one)) < 0)
		XP_ASSERT(errno == EAGAIN);	/* it cannot be full */
}

static void *pool_main(void *arg)
{
	struct pool *pool = arg;
	struct job *j;

	for (;;) {
		pthread_mutex_lock(&pool->lock);
		while (!(j = list_take(&pool->jobs)) && !pool->quit)
			pthread_cond_wait(&pool->wanted, &pool->lock);
		pthread_mutex_unlock(&pool->lock);
		if (!j)
			return NULL;
		j->res = perform(&j->sqe);
		done(pool->plain, j);
	}
}

static void pool_start(struct pool *pool, int fd)
{
	pthread_attr_t attr;

	pool->fd = fd;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (pool->nr_threads < THREADS &&
	       !pthread_create(&pool->thread[pool->nr_threads], &attr, pool_main, pool))
		pool->nr_threads++;
	pthread_attr_destroy(&attr);
}

static struct pool *pool_of(struct xd_plain *p, int fd)
{
	struct pool *pool = p->pool;

	while (pool->fd != fd && pool->fd >= 0 && pool + 1 < p->pool + POOLS)
		pool++;
	if (pool->fd < 0)
		pool_start(pool, fd);
	return pool;
}

static void to_pool(struct xd_plain *p, struct job *j)
{
	struct pool *pool = pool_of(p, j->sqe.fd);

	if (!pool->nr_threads) {	/* no thread is to be had: we are the one */
		j->res = perform(&j->sqe);
		list_add(&p->ended, j);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	list_add(&pool->jobs, j);
	pthread_cond_signal(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
}

static void pool_stop(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
	while (pool->nr_threads)
		pthread_join(pool->thread[--pool->nr_threads], NULL);
	list_free(&pool->jobs);
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
}

/* ------------------------------------------------------------------- waits ---- */

static u64 time_of(const struct io_uring_sqe *sqe)
{
	const struct __kernel_timespec *t = (void *)(uintptr_t)sqe->addr;

	return xd_now() + (u64)t->tv_sec * 1000000000u + (u64)t->tv_nsec;
}

/* What it waits for a descriptor to be; 0: for a time. */
static short events_of(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_TIMEOUT ? 0 :
	       sqe->opcode == IORING_OP_POLL_ADD ? (short)sqe->poll_events : POLLIN;
}

/* -EAGAIN: not yet. */
static int try_wait(const struct io_uring_sqe *sqe, short revents)
{
	void *to = (void *)(uintptr_t)sqe->addr;
	ssize_t n;

	switch (sqe->opcode) {
	case IORING_OP_RECV:
		n = recv(sqe->fd, to, sqe->len, MSG_DONTWAIT);
		break;
	case IORING_OP_ACCEPT:
		n = accept4(sqe->fd, NULL, NULL, (int)sqe->accept_flags);
		break;
	case IORING_OP_READ:
		n = read(sqe->fd, to, sqe->len);
		break;
	default:
		return revents;
	}
	return n < 0 ? -errno : (int)n;
}

static void add_wait(struct xd_plain *p, struct job *j)
{
	j->next = p->waits;
	p->waits = j;
	p->nr_waits++;
}

static void end_wait(struct xd_plain *p, struct job **at, int res)
{
	struct job *j = *at;

	*at = j->next;
	p->nr_waits--;
	j->res = res;
	list_add(&p->ended, j);
}

/* Of what has ended meanwhile there is nothing to be cancelled. */
static int cancel(struct xd_plain *p, u64 whose)
{
	for (struct job **at = &p->waits; *at; at = &(*at)->next)
		if ((*at)->sqe.user_data == whose) {
			end_wait(p, at, -ECANCELED);
			return 0;
		}
	return -ENOENT;
}

/* ------------------------------------------------------------------ submit ---- */

struct io_uring_sqe *xd_plain_sqe(struct xd_plain *p)
{
	struct io_uring_sqe *sqe = p->unsent < ENTRIES ? &p->sqe[p->unsent++] : NULL;

	if (sqe)
		memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

u32 xd_plain_unsent(const struct xd_plain *p)
{
	return p->unsent;
}

static bool is_of_device(const struct xd_plain *p, const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READ_FIXED:
	case IORING_OP_WRITE:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_FSYNC:
	case IORING_OP_FALLOCATE:
	case URING_OP_CMD:
		return sqe->fd != p->wake_fd;
	default:
		return false;
	}
}

/* The wait that an IORING_OP_LINK_TIMEOUT after it is about; NULL: none, or it has ended already. */
static struct job *begin(struct xd_plain *p, const struct io_uring_sqe *sqe)
{
	struct job *j = job_new(sqe);

	if (is_of_device(p, sqe)) {
		to_pool(p, j);
	} else if (sqe->opcode == IORING_OP_ASYNC_CANCEL) {
		j->res = cancel(p, sqe->addr);
		list_add(&p->ended, j);
	} else {
		XP_ASSERT(sqe->opcode == IORING_OP_RECV || sqe->opcode == IORING_OP_ACCEPT || sqe->opcode == IORING_OP_READ ||
			  sqe->opcode == IORING_OP_POLL_ADD || sqe->opcode == IORING_OP_TIMEOUT);
		if (sqe->opcode == IORING_OP_TIMEOUT) {
			j->until = time_of(sqe);
			j->too_late = -ETIME;
		}
		add_wait(p, j);
		return sqe->flags & IOSQE_IO_LINK ? j : NULL;
	}
	return NULL;
}

void xd_plain_submit(struct xd_plain *p)
{
	struct job *linked = NULL;

	for (u32 i = 0; i < p->unsent; i++) {
		const struct io_uring_sqe *sqe = &p->sqe[i];

		if (sqe->opcode != IORING_OP_LINK_TIMEOUT) {
			linked = begin(p, sqe);
		} else if (linked) {
			linked->until = time_of(sqe);
			linked->too_late = -ECANCELED;
		}
	}
	p->unsent = 0;
}

/* -------------------------------------------------------------------- wait ---- */

static void take_done(struct xd_plain *p)
{
	u64 n;

	if (read(p->done_fd, &n, sizeof(n)) < 0)
		XP_ASSERT(errno == EAGAIN || errno == EINTR);
	pthread_mutex_lock(&p->lock);
	list_splice(&p->ended, &p->done);
	pthread_mutex_unlock(&p->lock);
}

/* [0]: the pools; then the waits, in their order. Until when. */
static u64 fill_poll(struct xd_plain *p)
{
	u64 until = p->ended.first ? 0 : NEVER;
	u32 n = 1;

	if (p->nr_waits + 1 > p->poll_room) {
		struct pollfd *more;

		p->poll_room = 2 * (p->nr_waits + 1);
		more = realloc(p->poll, p->poll_room * sizeof(*p->poll));
		XP_ASSERT(more);
		p->poll = more;
	}
	p->poll[0] = (struct pollfd){ .fd = p->done_fd, .events = POLLIN };
	for (struct job *j = p->waits; j; j = j->next) {
		p->poll[n++] = (struct pollfd){ .fd = events_of(&j->sqe) ? j->sqe.fd : -1, .events = events_of(&j->sqe) };
		until = min(until, j->until);
	}
	return until;
}

static void look_at_waits(struct xd_plain *p)
{
	struct job **at = &p->waits;
	u64 now = xd_now();

	for (u32 i = 1; *at; i++) {
		struct job *j = *at;
		int res = p->poll[i].revents ? try_wait(&j->sqe, p->poll[i].revents) : -EAGAIN;

		if (res == -EAGAIN && j->until <= now)
			res = j->too_late;
		if (res == -EAGAIN || res == -EINTR)
			at = &j->next;
		else
			end_wait(p, at, res);
	}
}

void xd_plain_wait(struct xd_plain *p)
{
	struct timespec pause;
	u64 until, now, ns;

	xd_plain_submit(p);
	until = fill_poll(p);
	now = xd_now();
	ns = until > now ? until - now : 0;
	pause = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	if (ppoll(p->poll, p->nr_waits + 1, until == NEVER ? NULL : &pause, NULL) < 0) {
		XP_ASSERT(errno == EINTR || errno == ENOMEM);
		return;
	}
	if (p->poll[0].revents)
		take_done(p);
	look_at_waits(p);
}

/* What the ends of these end in turn is the next round's. */
void xd_plain_reap(struct xd_plain *p)
{
	struct list now;
	struct job *j;

	list_init(&now);
	list_splice(&now, &p->ended);
	while ((j = list_take(&now))) {
		struct xd_event *event = (void *)(uintptr_t)j->sqe.user_data;
		int res = j->res;

		free(j);
		if (event)
			event->end(event, res);
	}
}

/* ---------------------------------------------------------- open and close ---- */

struct xd_plain *xd_plain_open(int wake_fd)
{
	struct xd_plain *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->wake_fd = wake_fd;
	p->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->done_fd < 0) {
		free(p);
		return NULL;
	}
	list_init(&p->ended);
	list_init(&p->done);
	pthread_mutex_init(&p->lock, NULL);
	for (u32 i = 0; i < POOLS; i++) {
		p->pool[i].plain = p;
		p->pool[i].fd = -1;
		list_init(&p->pool[i].jobs);
		pthread_mutex_init(&p->pool[i].lock, NULL);
		pthread_cond_init(&p->pool[i].wanted, NULL);
	}
	return p;
}

void xd_plain_close(struct xd_plain *p)
{
	struct job *j;

	for (u32 i = 0; i < POOLS; i++)
		pool_stop(&p->pool[i]);
	list_free(&p->done);
	list_free(&p->ended);
	while ((j = p->waits)) {
		p->waits = j->next;
		free(j);
	}
	pthread_mutex_destroy(&p->lock);
	close(p->done_fd);
	free(p->poll);
	free(p);
}
