// SPDX-License-Identifier: GPL-2.0-only
/*
 * turn.c - what hibernate --begin and --end do with a device to lead it elsewhere: its suspend and
 * its resume, in memory that is there; and what is left in /run of one that has begun.
 */
#include "tools/hibernate/turn.h"
#include "lib/begun.h"
#include "lib/kernel.h"
#include "lib/running.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SUSPEND_SECONDS	10	/* for requests that are under way; the target's own flush has 5 more */
#define RESERVE		(1u << 20)

/* ---------------------------------------------------------------- memory ---- */

/* What is called while a device is suspended finds its memory here. */
int memory_stay(void)
{
	char stack[RESERVE / 4];
	void *heap;

	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0))
		return -errno;
	mallopt(M_TRIM_THRESHOLD, 64 * RESERVE);
	mallopt(M_MMAP_THRESHOLD, 64 * RESERVE);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -errno;
	explicit_bzero(stack, sizeof(stack));
	heap = malloc(RESERVE);
	if (!heap)
		return -ENOMEM;
	explicit_bzero(heap, RESERVE);
	free(heap);
	return 0;
}

void memory_leave(void)
{
	munlockall();
	prctl(PR_SET_IO_FLUSHER, 0, 0, 0, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A disk that does not answer is not waited for: then it is as it was. */
int turn_suspend(const char *name)
{
	const struct sigaction act = { .sa_handler = on_alarm };
	struct sigaction was;
	int err;

	sigaction(SIGALRM, &act, &was);
	alarm(SUSPEND_SECONDS);
	err = kernel_suspend(name);
	alarm(0);
	sigaction(SIGALRM, &was, NULL);
	return err;
}

/* ----------------------------------------------------------------- steps ---- */

/* With no other table loaded for it; -errno: it stays suspended. */
int turn_resume_as_it_is(const char *name)
{
	struct running r;
	int err = kernel_clear(name);

	if (!err)
		err = kernel_find(name, NULL, &r) == 1 && !r.reloads ? 0 : -EBUSY;
	return err ? err : kernel_resume(name);
}

/* Whoever finds it suspended from now on leaves it to whom did that. */
void turn_is_over(const struct running *r)
{
	struct running now;

	if (kernel_find(r->name, NULL, &now) == 1 && !now.suspended && !now.reloads)
		begun_turned(r);
}

/* A kernel that cannot has dropped that table. */
int turn_resume_alone(const struct running *r)
{
	int err = -EIO;

	for (u32 i = 0; i < 3 && err; i++) {
		err = kernel_load_linear(r);
		if (!err)
			err = kernel_resume(r->name);
	}
	return err;
}
