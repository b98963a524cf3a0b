// SPDX-License-Identifier: GPL-2.0-only
/* The progress bar. */
#include "lib/progress.h"
#include "lib/figures.h"
#include "core/block.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Where there is a bar: the initramfs keeps complaints in a file, and its console is stdout. */
static FILE *terminal(void)
{
	return isatty(STDERR_FILENO) ? stderr : isatty(STDOUT_FILENO) ? stdout : NULL;
}

static FILE *bar_shown;	/* a progress bar is on the line where a complaint would go */

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, u64 left)
{
	memset(p, 0, sizeof(*p));
	p->total = p->last_left = left;
	p->start = p->last = seconds_now();
	p->tty = terminal();
}

/* The rate is smoothed over some seconds: a disk's pace jumps. */
static void progress_measure(struct progress *p, u64 left)
{
	double now = seconds_now(), dt = now - p->last;

	if (left > p->total)
		p->total = left;
	if (dt < 0.1)
		return;
	double rate = ((double)p->last_left - (double)left) / dt;
	double weight = p->last == p->start ? 1 : min(dt / 5, 1);

	p->rate += weight * (rate - p->rate);
	p->last = now;
	p->last_left = left;
}

void progress_show(struct progress *p, u64 left)
{
	enum { WIDTH = 30 };
	FILE *out = p->tty ? terminal() : NULL;
	char bar[WIDTH + 1];
	u64 done;

	progress_measure(p, left);
	if (!out)
		return;
	done = p->total ? (p->total - left) * WIDTH / p->total : WIDTH;
	memset(bar, '.', WIDTH);
	memset(bar, '#', done);
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s] %s left", bar,
		text_bytes(left << XP_BLOCK_SHIFT));
	if (p->rate >= 1)
		fprintf(out, ", %s/s, ETA %s",
			text_bytes((u64)p->rate << XP_BLOCK_SHIFT),
			text_duration((u64)(left / p->rate) + 1));
	fprintf(out, "\033[K");
	fflush(out);
	bar_shown = out;
}

void progress_say(double part, const char *words)
{
	enum { WIDTH = 30 };
	FILE *out = terminal();
	char bar[WIDTH + 1];

	if (!out)
		return;
	memset(bar, '.', WIDTH);
	memset(bar, '#', (size_t)(min(max(part, 0), 1) * WIDTH));
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s] %s\033[K", bar, words);
	fflush(out);
	bar_shown = out;
}

void progress_end(void)
{
	if (bar_shown) {
		fprintf(bar_shown, "\r\033[K");
		fflush(bar_shown);
	}
	bar_shown = NULL;
}
