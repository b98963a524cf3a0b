// SPDX-License-Identifier: GPL-2.0-only
/* refuse.c - preloaded: io_uring is refused, as by kernel.io_uring_disabled or in a container. */
#include <errno.h>

struct io_uring;

int io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);
int io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags)
{
	(void)entries;
	(void)ring;
	(void)flags;
	return -EPERM;
}
