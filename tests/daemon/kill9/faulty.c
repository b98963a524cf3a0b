// SPDX-License-Identifier: GPL-2.0-only
/*
 * faulty - preloaded to the daemon: its devices fail, and transfer less than they were asked.
 *
 * FAULTY="DISK OPS ONE_IN FLAG": of the operations OPS (1 reads, 2 writes, 4 flushes, 8 writes
 * of data that are synced, or a sum)
 * on files whose name ends with DISK one in ONE_IN fails, while the file FLAG exists. One in 8
 * transfers is cut short, always. It is done to the entries of the submission queue, on the way
 * to the kernel: one without a file descriptor fails, and nothing is done.
 */
#include <dlfcn.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK	4096u
#define METADATA	(4u << 20)	/* a journal is not longer in our tests */

static struct {
	char disk[64], flag[256];
	unsigned int ops, one_in;
} fault;

static __attribute__((constructor)) void parse(void)
{
	const char *words = getenv("FAULTY");

	if (!words || sscanf(words, "%63s %u %u %255s", fault.disk, &fault.ops, &fault.one_in,
			     fault.flag) != 4)
		abort();
	srandom((unsigned int)getpid());
}

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Is it of the device that fails? */
static int fails(int fd)
{
	char name[32], path[512];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return ends_with(path, fault.disk);
}

static unsigned int op_of(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READ_FIXED:
		return sqe->off == (uint64_t)-1 ? 0 : 1;
	case IORING_OP_WRITE:
	case IORING_OP_WRITE_FIXED:
		return (sqe->rw_flags & RWF_DSYNC) && sqe->off >= METADATA ? 2 | 8 : 2;
	case IORING_OP_FALLOCATE:
		return 2;
	case IORING_OP_FSYNC:
		return 4;
	default:
		return 0;
	}
}

/* At the end of a block: a slow disk keeps these whole, and a write around the cache counts on it. */
static void cut_short(struct io_uring_sqe *sqe)
{
	uint64_t first = sqe->off / BLOCK, last = (sqe->off + sqe->len - 1) / BLOCK;

	if (first < last)
		sqe->len = (uint32_t)((first + 1 + (uint64_t)random() % (last - first)) * BLOCK - sqe->off);
}

static void spoil(struct io_uring_sqe *sqe, int on)
{
	unsigned int op = op_of(sqe);

	if (on && (op & fault.ops) && random() % fault.one_in == 0 && fails(sqe->fd))
		sqe->fd = -1;
	else if ((op & 3) && sqe->opcode != IORING_OP_FALLOCATE && random() % 8 == 0)
		cut_short(sqe);
}

static void spoil_all(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	int on = !access(fault.flag, F_OK);

	for (unsigned int i = sq->sqe_head; i != sq->sqe_tail; i++)
		spoil(&sq->sqes[i & sq->ring_mask], on);
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned int wait)
{
	static int (*next)(struct io_uring *, unsigned int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit_and_wait");
	spoil_all(ring);
	return next(ring, wait);
}

int io_uring_submit(struct io_uring *ring)
{
	static int (*next)(struct io_uring *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit");
	spoil_all(ring);
	return next(ring);
}
