/* SPDX-License-Identifier: GPL-2.0-only */
/* progress.h - the progress bar. */
#ifndef XP_LIB_PROGRESS_H
#define XP_LIB_PROGRESS_H

#include "platform.h"

struct progress {
	u64 total;		/* most blocks seen left */
	u64 last_left;
	double start, last;	/* seconds */
	double rate;		/* blocks a second, smoothed */
	bool tty;
};

void progress_begin(struct progress *p, u64 left);
void progress_show(struct progress *p, u64 left);
void progress_end(void);
/* The same of anything; @part from 0 to 1. */
void progress_say(double part, const char *words);
double seconds_now(void);

#endif
