// SPDX-License-Identifier: GPL-2.0-only
/*
 * shrink.c - which steps does the failure need? Leaves out ever smaller pieces
 * of the list, as long as the same property still breaks.
 */
#include <time.h>
#include "sim.h"

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool fails_without(u64 seed, const u32 *steps, u32 nr, u32 at, u32 len,
			  enum property p, u32 *left)
{
	struct result r;

	memcpy(left, steps, at * sizeof(*left));
	memcpy(left + at, steps + at + len, (nr - at - len) * sizeof(*left));
	r = run(seed, left, nr - len, false);
	return r.failed && r.property == p;
}

u32 shrink(u64 seed, u32 *steps, u32 nr_steps, enum property p, double seconds)
{
	double end = seconds_now() + seconds;
	u32 *left = malloc((nr_steps + 1) * sizeof(*left)), len, at;

	for (len = nr_steps / 2; len; len = len > 1 ? len / 2 : 0) {
		for (at = 0; at + len <= nr_steps;) {
			if (seconds_now() > end)
				goto out;
			if (fails_without(seed, steps, nr_steps, at, len, p, left)) {
				nr_steps -= len;
				memcpy(steps, left, nr_steps * sizeof(*steps));
			} else {
				at += len;
			}
		}
	}
out:
	free(left);
	return nr_steps;
}
