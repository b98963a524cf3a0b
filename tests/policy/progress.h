/* SPDX-License-Identifier: GPL-2.0-only */
/* progress.h - one line on a terminal that says how far a long run is and when it ends; nothing elsewhere. */
#ifndef POLICY_PROGRESS_H
#define POLICY_PROGRESS_H

/* @steps of about the same length come. */
void progress_begin(unsigned int steps);
/* @done of @all of the present step; @what it is. Costs little: call it often. Shown from two seconds on. */
void progress_at(const char *what, unsigned int done, unsigned int all);
void progress_step(void);
/* Takes the line away, before anything is printed. */
void progress_hide(void);

#endif
