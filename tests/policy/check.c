// SPDX-License-Identifier: GPL-2.0-only
/* check.c - each scenario: its figure beside its bound, and whether that is as the table says. */
#include <stdio.h>
#include "scenario.h"

/* False: a bound that is due is not kept, or one that is owed is. */
static bool check(const struct scenario *s)
{
	double figure = scenario_worst(s);
	bool kept = figure <= s->bound;
	const char *verdict = "PASS policy";

	if (s->state == OWED)
		verdict = kept ? "FAIL policy" : "owed";
	else if (!kept)
		verdict = "FAIL policy";
	printf("%s %s: %.4f %s, bound %.4f%s\n", verdict, s->name, figure, s->figure, s->bound,
	       kept && s->state == OWED ? ": is kept, and its row must become DUE" : "");
	fflush(stdout);
	return kept == (s->state == DUE);
}

int main(void)
{
	bool good = true;

	for (u32 i = 0; i < nr_scenarios; i++)
		good &= check(&scenarios[i]);
	return !good;
}
