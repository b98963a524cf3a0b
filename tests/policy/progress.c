// SPDX-License-Identifier: GPL-2.0-only
/* progress.c - how far a run is; see progress.h. */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"

#define QUIET	2.0	/* s that a run may take without a word */
#define EACH	.2	/* s between two lines */

static struct {
	unsigned int steps, done;
	double began, last;
	bool on, shown;
} progress;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(unsigned int steps)
{
	progress.steps = steps;
	progress.began = progress.last = now();
	progress.on = isatty(STDERR_FILENO);
}

void progress_at(const char *what, unsigned int done, unsigned int all)
{
	double time, part = (progress.done + (double)done / all) / progress.steps;

	if (!progress.on)
		return;
	time = now();
	if (time - progress.began < QUIET || time - progress.last < EACH || part <= 0)
		return;
	progress.last = time;
	progress.shown = true;
	fprintf(stderr, "\r%3.0f %%, %.0f s to go: %-40.40s", 100 * part, (time - progress.began) * (1 - part) / part,
		what);
}

void progress_step(void)
{
	progress.done++;
}

void progress_hide(void)
{
	if (progress.shown)
		fprintf(stderr, "\r%-70s\r", "");
	progress.shown = false;
}
