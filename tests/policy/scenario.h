/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scenario.h - loads that a policy must stand, each with a figure and its bound. A figure is the worse of two: in a new
 * cache with one I/O outstanding, and in a full one with eight.
 */
#ifndef POLICY_SCENARIO_H
#define POLICY_SCENARIO_H

#include "load.h"
#include "replay.h"

/* Where it runs. */
struct place {
	struct replay *r;
	u32 slots;		/* of the cache */
	u32 shift;		/* sectors, added to each request */
	u32 depth;
	bool full;
	u32 sectors;		/* a request of the scenario's own load */
	u64 seed;
	struct load *record;	/* of the requests, or NULL */
	u32 from, from_access;	/* of those, the first that counts */
};

enum scenario_shifts { ALIGNED, SHIFTED };	/* by 0; by 1 sector in the new cache, 63 in the full one */
enum scenario_state {
	NOT_ASKED,
	DUE,			/* asserted */
	OWED,			/* the core does not keep it yet. When it does, the row must become DUE */
};

struct scenario {
	const char *name, *figure;	/* and what the figure is */
	double (*run)(struct place *p);
	u32 slots, writeback, sectors;
	enum scenario_shifts shifts;
	double bound;		/* the figure is at most that */
	enum scenario_state state;
	enum scenario_state agreement;	/* SHIFT_SPREAD, asked of misses only */
};

#define SHIFT_SPREAD	.02

extern const struct scenario scenarios[];
extern const u32 nr_scenarios;

double scenario_worst(const struct scenario *s);
/*
 * In a new cache, the figure aligned, and the most by which it is another when all is shifted by 1, 5, 7 or 63 sectors.
 * Where data lies on the disk must not matter: the shifts agree if the bound is kept aligned, and the spread is at most
 * SHIFT_SPREAD.
 */
struct scenario_shifts_figure {
	double aligned, spread;
};

struct scenario_shifts_figure scenario_at_shifts(const struct scenario *s);

/*
 * In a new cache, of the reads from which on the scenario counts, the part of which some block missed: by the core,
 * then by each rival with as many slots.
 */
void scenario_misses(const struct scenario *s, double misses[1 + RIVALS]);

#endif
