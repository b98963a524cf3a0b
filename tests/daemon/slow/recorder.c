// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder - preloaded to the daemon: what it asks of one file, and when that has ended.
 *
 * RECORD="FILE LOG": operations on files whose name ends with FILE, as lines of LOG, in order:
 *
 *	submit NUMBER write OFFSET BYTES [dsync]
 *	submit NUMBER read OFFSET BYTES
 *	submit NUMBER fsync
 *	end NUMBER RESULT
 *
 * The daemon's thread hands entries over and takes completions in two calls only; one thread.
 */
#include <dlfcn.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNDER_WAY_MAX	4096u

static char file[256];
static FILE *out;
static uint64_t under_way[UNDER_WAY_MAX];	/* user_data by place; 0: free */
static unsigned int number[UNDER_WAY_MAX], last;
static unsigned int reaped;	/* of the completion queue, all that is before has been told */

static __attribute__((constructor)) void parse(void)
{
	const char *words = getenv("RECORD");
	char path[512];

	if (!words || sscanf(words, "%255s %511s", file, path) != 2)
		abort();
	out = fopen(path, "w");
	if (!out)
		abort();
	setvbuf(out, NULL, _IOLBF, 0);
}

static int is_ours(int fd)
{
	char name[32], path[512];
	ssize_t n;
	size_t m = strlen(file);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return (size_t)n >= m && !strcmp(path + n - m, file);
}

static unsigned int begin(uint64_t user_data)
{
	unsigned int i = 0;

	while (i < UNDER_WAY_MAX && under_way[i])
		i++;
	if (i == UNDER_WAY_MAX)
		abort();
	under_way[i] = user_data;
	return number[i] = ++last;
}

static void tell(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_FSYNC:
		fprintf(out, "submit %u fsync\n", begin(sqe->user_data));
		break;
	case IORING_OP_WRITE:
	case IORING_OP_WRITE_FIXED:
		fprintf(out, "submit %u write %llu %u%s\n", begin(sqe->user_data), (unsigned long long)sqe->off, sqe->len,
			(uint32_t)sqe->rw_flags & RWF_DSYNC ? " dsync" : "");
		break;
	case IORING_OP_READ:
	case IORING_OP_READ_FIXED:
		fprintf(out, "submit %u read %llu %u\n", begin(sqe->user_data), (unsigned long long)sqe->off, sqe->len);
		break;
	}
}

static void tell_submitted(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;

	for (unsigned int i = sq->sqe_head; i != sq->sqe_tail; i++)
		if (is_ours(sq->sqes[i & sq->ring_mask].fd))
			tell(&sq->sqes[i & sq->ring_mask]);
}

static void tell_ended(struct io_uring *ring)
{
	unsigned int tail = io_uring_smp_load_acquire(ring->cq.ktail);

	for (; reaped != tail; reaped++) {
		const struct io_uring_cqe *cqe = &ring->cq.cqes[reaped & ring->cq.ring_mask];

		for (unsigned int i = 0; i < UNDER_WAY_MAX; i++)
			if (under_way[i] == cqe->user_data && cqe->user_data) {
				under_way[i] = 0;
				fprintf(out, "end %u %d\n", number[i], cqe->res);
				break;
			}
	}
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned int wait)
{
	static int (*next)(struct io_uring *, unsigned int);
	int n;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit_and_wait");
	tell_submitted(ring);
	n = next(ring, wait);
	tell_ended(ring);
	return n;
}

int io_uring_submit(struct io_uring *ring)
{
	static int (*next)(struct io_uring *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "io_uring_submit");
	tell_submitted(ring);
	return next(ring);
}
