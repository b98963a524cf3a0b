// SPDX-License-Identifier: GPL-2.0-only
#include "tools/nearest.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX	32u

/* A word of n letters may have so many mistakes: one in three letters, two at most. */
static unsigned int steps_allowed(size_t n)
{
	return n < 3 ? 0 : n < 6 ? 1 : 2;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Letters that are wrong, missing or too many, and neighbours that have changed places: each is a step.
 * row[i % 3][j]: from the first i letters of @a to the first j of @b.
 */
static unsigned int steps_between(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b), i, j;

	for (i = 0; i <= na; i++)
		for (j = 0; j <= nb; j++) {
			unsigned int *now = row[i % 3];
			const unsigned int *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];

			now[j] = i && j ? least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1])) :
				 (unsigned int)(i + j);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	return row[na % 3][nb];
}

void nearest_try(struct nearest *n, const char *other)
{
	unsigned int steps;

	if (strlen(n->word) > WORD_MAX || strlen(other) > WORD_MAX)
		return;
	steps = steps_between(n->word, other);
	if (steps > steps_allowed(strlen(n->word)) || (n->best && steps >= n->steps))
		return;
	n->best = other;
	n->steps = steps;
}

const char *nearest_text(const struct nearest *n)
{
	static char text[WORD_MAX + 32];

	*text = '\0';
	if (n->best)
		snprintf(text, sizeof(text), "did you mean %s%s? ", n->before ? n->before : "", n->best);
	return text;
}
