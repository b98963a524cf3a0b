// SPDX-License-Identifier: GPL-2.0-only
/*
 * ublkwords - preloaded to the daemon: the kernel's ublk driver knows one kind of numbers alone.
 *
 * UBLK_KNOWS=plain: as before Linux 6.4. UBLK_KNOWS=encoded: as one built without the plain ones.
 * A command of the other kind gets a number that nobody knows, on its way to the kernel.
 */
#include <dlfcn.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define NOBODYS	_IOWR('?', 0x7f, char)

static int plain;

static __attribute__((constructor)) void parse(void)
{
	const char *knows = getenv("UBLK_KNOWS");

	if (!knows || (strcmp(knows, "plain") != 0 && strcmp(knows, "encoded") != 0))
		abort();
	plain = !strcmp(knows, "plain");
}

static void change_all(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	int shift = !!(ring->flags & IORING_SETUP_SQE128);

	for (unsigned int i = sq->sqe_head; i != sq->sqe_tail; i++) {
		struct io_uring_sqe *sqe = &sq->sqes[(i & sq->ring_mask) << shift];

		if (sqe->opcode == IORING_OP_URING_CMD && plain == (_IOC_TYPE(sqe->cmd_op) == 'u'))
			sqe->cmd_op = NOBODYS;
	}
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned int wait)
{
	static int (*next)(struct io_uring *, unsigned int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit_and_wait");
	change_all(ring);
	return next(ring, wait);
}

int io_uring_submit(struct io_uring *ring)
{
	static int (*next)(struct io_uring *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit");
	change_all(ring);
	return next(ring);
}
