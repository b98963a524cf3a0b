/* SPDX-License-Identifier: GPL-2.0-only */
/* race.h - XP_RACE_WINDOW() for test_hit.c: now and then the others go a long way first. */
#ifndef TEST_RACE_H
#define TEST_RACE_H

#include <time.h>

static inline void race_window(void)
{
	static _Thread_local unsigned int n = 1;

	n = n * 1664525 + 1013904223;
	if (n >> 30 == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

#define XP_RACE_WINDOW()	race_window()

#endif
