// SPDX-License-Identifier: GPL-2.0-only
/*
 * ublkwords - preloaded to the daemon: a ublk driver that does not know some commands.
 *
 * UBLK_REFUSES=encoded: their numbers as an ioctl's, as before Linux 6.4. =plain: the plain ones,
 * as of a kernel built without them. =all, =start, =fetch: START_DEV, FETCH_REQ, of either kind.
 * A command that is refused gets a number that nobody knows, on its way to the kernel.
 */
#include <dlfcn.h>
#include <liburing.h>
#include <linux/ublk_cmd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define NOBODYS	_IOWR('?', 0x7f, char)

static const char *refuses;

static __attribute__((constructor)) void parse(void)
{
	refuses = getenv("UBLK_REFUSES");
	if (!refuses)
		abort();
}

static int refused(unsigned int op)
{
	int encoded = _IOC_TYPE(op) == 'u';

	return (encoded && !strcmp(refuses, "encoded")) || (!encoded && !strcmp(refuses, "plain")) ||
	       !strcmp(refuses, "all") || (_IOC_NR(op) == UBLK_CMD_START_DEV && !strcmp(refuses, "start")) ||
	       (_IOC_NR(op) == UBLK_IO_FETCH_REQ && !strcmp(refuses, "fetch"));
}

static void change_all(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	int shift = !!(ring->flags & IORING_SETUP_SQE128);

	for (unsigned int i = sq->sqe_head; i != sq->sqe_tail; i++) {
		struct io_uring_sqe *sqe = &sq->sqes[(i & sq->ring_mask) << shift];

		if (sqe->opcode == IORING_OP_URING_CMD && refused(sqe->cmd_op))
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
