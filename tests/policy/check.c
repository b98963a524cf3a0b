// SPDX-License-Identifier: GPL-2.0-only
/* check.c - each scenario: its figure beside its bound, and whether that is as the table says. */
#include <stdio.h>
#include "scenario.h"

static const char *verdict(enum scenario_state state, bool kept)
{
	if (kept != (state == DUE))
		return "FAIL policy";
	return kept ? "PASS policy" : "owed";
}

/* The end of a line. False: a bound that is due is not kept, or one that is owed is. */
static bool end_line(enum scenario_state state, bool kept)
{
	printf("%s\n", kept && state == OWED ? ": is kept, and must become DUE" : "");
	fflush(stdout);
	return kept == (state == DUE);
}

static bool check(const struct scenario *s)
{
	double figure = scenario_worst(s);
	bool kept = figure <= s->bound;

	printf("%s %s: %.4f %s, bound %.4f", verdict(s->state, kept), s->name, figure, s->figure, s->bound);
	return end_line(s->state, kept);
}

static bool check_shifts(const struct scenario *s)
{
	struct scenario_shifts_figure at = scenario_at_shifts(s);
	bool kept = at.aligned <= s->bound && at.spread <= SHIFT_SPREAD;

	printf("%s %s, shifts: %.4f aligned, bound %.4f, differing by %.4f, bound %.4f", verdict(s->agreement, kept),
	       s->name, at.aligned, s->bound, at.spread, SHIFT_SPREAD);
	return end_line(s->agreement, kept);
}

int main(void)
{
	bool good = true;

	for (u32 i = 0; i < nr_scenarios; i++) {
		good &= check(&scenarios[i]);
		if (scenarios[i].agreement != NOT_ASKED)
			good &= check_shifts(&scenarios[i]);
	}
	return !good;
}
