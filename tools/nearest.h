/* SPDX-License-Identifier: GPL-2.0-only */
/* nearest.h - which of some words was meant by one that is none of them. */
#ifndef XP_TOOLS_NEAREST_H
#define XP_TOOLS_NEAREST_H

struct nearest {
	const char *word;	/* that was typed */
	const char *before;	/* what all of them begin with, and @word is without; NULL: nothing */
	const char *best;	/* NULL: none is near */
	unsigned int steps;	/* from the one to the other */
};

/* One of the words that it could have been. The first of those that are as near stays. */
void nearest_try(struct nearest *n, const char *other);
/* "did you mean status? ", or nothing: it goes before what else helps. Lives until the next call. */
const char *nearest_text(const struct nearest *n);

#endif
