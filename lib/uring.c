// SPDX-License-Identifier: GPL-2.0-only
/* Is there an io_uring for us? Containers and administrators refuse it, and old kernels count it as locked memory. */
#include "lib/uring.h"
#include "lib/uring_abi.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISABLED	"/proc/sys/kernel/io_uring_disabled"

/* Each of its three system calls may be filtered apart. */
static int try_ring(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	int n;

	if (!probe)
		return -EPERM;
	io_uring_free_probe(probe);
	io_uring_prep_nop(sqe);
	n = io_uring_submit_and_wait(ring, 1);
	return n < 0 ? n : 0;
}

static int usable;

static void look(void)
{
	struct io_uring ring;

	usable = io_uring_queue_init(2, &ring, 0);
	if (usable)
		return;
	usable = try_ring(&ring);
	io_uring_queue_exit(&ring);
}

/* Neither a filter nor a limit goes away from a process that has it. */
int uring_usable(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
	return usable;
}

static bool is_disabled(void)
{
	FILE *f = fopen(DISABLED, "re");
	int level = 0;

	if (f && fscanf(f, "%d", &level) != 1)
		level = 0;
	if (f)
		fclose(f);
	return level == 2 || (level == 1 && geteuid() != 0);
}

const char *uring_why(int err)
{
	static __thread char text[160];

	if (err == -EPERM && is_disabled())
		snprintf(text, sizeof(text), "%s (the sysctl kernel.io_uring_disabled forbids it)", strerror(-err));
	else if (err == -EPERM || err == -EACCES)
		snprintf(text, sizeof(text), "%s (a filter of system calls, as containers have, forbids it)", strerror(-err));
	else if (err == -ENOSYS)
		snprintf(text, sizeof(text), "%s (the kernel, or the container, has none)", strerror(-err));
	else if (err == -ENOMEM)
		snprintf(text, sizeof(text), "%s (too little memory may be locked: ulimit -l)", strerror(-err));
	else
		snprintf(text, sizeof(text), "%s", strerror(-err));
	return text;
}
