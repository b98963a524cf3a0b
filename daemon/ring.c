// SPDX-License-Identifier: GPL-2.0-only
/* ring.c - the choice of what does a loop's system calls, and the io_uring. */
#include "daemon/ring.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "lib/uring.h"
#include "lib/uring_abi.h"
#include "platform.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SQ_ENTRIES	256u
#define CQ_ENTRIES	4096u

/* ------------------------------------------------------------------- open ---- */

/* Kernels before 6.1 do not know the flags that make completions cheap. */
static int uring_init(struct io_uring *uring)
{
	static const u32 flags[] = {
#if HAVE_LIBURING_2_3
		IORING_SETUP_R_DISABLED | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_TASKRUN_FLAG,
#endif
		IORING_SETUP_R_DISABLED,
	};
	int err = -EINVAL;

	for (u32 i = 0; err == -EINVAL && i < sizeof(flags) / sizeof(*flags); i++) {
		struct io_uring_params p = {
			.flags = flags[i] | IORING_SETUP_CQSIZE, .cq_entries = CQ_ENTRIES,
		};

		err = io_uring_queue_init_params(SQ_ENTRIES, uring, &p);
	}
	return err;
}

static void tell(int err)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		xd_log_event("io_uring cannot be used: %s: threads read and write instead, which is slower", uring_why(err));
}

int xd_ring_open(struct xd_ring *ring, int wake_fd)
{
	int err = uring_usable();

	if (!err)
		err = uring_init(&ring->uring);
	if (!err)
		return 0;
	ring->uring.ring_fd = -1;
	tell(err);
	ring->plain = xd_plain_open(wake_fd);
	return ring->plain ? 0 : -ENOMEM;
}

void xd_ring_close(struct xd_ring *ring)
{
	if (ring->plain)
		xd_plain_close(ring->plain);
	if (ring->uring.ring_fd >= 0)
		io_uring_queue_exit(&ring->uring);
	ring->plain = NULL;
	ring->uring.ring_fd = -1;
}

/* liburing 2.3 declares io_uring_enable_rings(), and does not export it. */
void xd_ring_enable(struct xd_ring *ring)
{
	long err = ring->plain ? 0 : syscall(__NR_io_uring_register, ring->uring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);

	XP_ASSERT(!err);
}

bool xd_ring_register(struct xd_ring *ring, const struct iovec *memory)
{
	return !ring->plain && !io_uring_register_buffers(&ring->uring, memory, 1);
}

/* ---------------------------------------------------------------- entries ---- */

u32 xd_ring_unsent(const struct xd_ring *ring)
{
	return ring->plain ? xd_plain_unsent(ring->plain) : io_uring_sq_ready(&ring->uring);
}

void xd_ring_submit(struct xd_ring *ring)
{
	int n;

	if (ring->plain) {
		xd_plain_submit(ring->plain);
		return;
	}
	n = io_uring_submit(&ring->uring);
	XP_ASSERT(n >= 0 || n == -EINTR || n == -EAGAIN || n == -EBUSY);
}

void xd_ring_room(struct xd_ring *ring, u32 n)
{
	while (SQ_ENTRIES - xd_ring_unsent(ring) < n)
		xd_ring_submit(ring);
}

static struct io_uring_sqe *get(struct xd_ring *ring)
{
	return ring->plain ? xd_plain_sqe(ring->plain) : io_uring_get_sqe(&ring->uring);
}

struct io_uring_sqe *xd_ring_sqe(struct xd_ring *ring, struct xd_event *event)
{
	struct io_uring_sqe *sqe = get(ring);

	while (!sqe) {
		xd_ring_submit(ring);
		sqe = get(ring);
	}
	io_uring_sqe_set_data(sqe, event);
	return sqe;
}

/* As Linux 6.12 has it; the headers that we are built with may be older. The entry's addr3 lies where commands' words do. */
void xd_ring_prep_discard(struct io_uring_sqe *sqe, int fd, u64 offset, u64 bytes)
{
	io_uring_prep_rw(URING_OP_CMD, sqe, fd, (void *)(uintptr_t)offset, 0, XD_RING_DISCARD);
	memcpy(uring_words(sqe), &bytes, sizeof(bytes));
}

/* ------------------------------------------------------------------- ends ---- */

bool xd_ring_can_spin(const struct xd_ring *ring)
{
	return !ring->plain;
}

/* Or would have, if the kernel were entered. */
bool xd_ring_has_news(const struct xd_ring *ring)
{
	return io_uring_cq_ready(&ring->uring) || (xd_get(*ring->uring.sq.kflags) & URING_TASKRUN);
}

void xd_ring_wait(struct xd_ring *ring)
{
	int err;

	if (ring->plain) {
		xd_plain_wait(ring->plain);
		return;
	}
	err = io_uring_submit_and_wait(&ring->uring, 1);
	XP_ASSERT(err >= 0 || err == -EINTR || err == -EAGAIN || err == -EBUSY);
}

void xd_ring_reap(struct xd_ring *ring)
{
	struct io_uring_cqe *cqe;
	u32 head, n = 0;

	if (ring->plain) {
		xd_plain_reap(ring->plain);
		return;
	}
	io_uring_for_each_cqe(&ring->uring, head, cqe) {
		struct xd_event *event = io_uring_cqe_get_data(cqe);

		n++;
		if (event)
			event->end(event, cqe->res);
	}
	io_uring_cq_advance(&ring->uring, n);
}
