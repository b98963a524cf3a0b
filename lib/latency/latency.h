/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h - how long requests of a running cache took: the target's own histograms.
 *
 *   latency.c         asking for them, differences, and what they say together
 *   latency_view.c    as a table, as bars, as JSON and CSV
 *   histogram.c       the verb
 */
#ifndef LATENCY_H
#define LATENCY_H

#include "lib/exit.h"
#include "core/histogram.h"

#include <stdio.h>

struct canvas;
struct json_object;
struct xp_histogram;

struct latency {
	bool recording;		/* now */
	char clock[16];		/* "tsc", "ktime" or "tsc-unstable" */
	u64 ns;			/* since the cache was started; or between two readings */
	struct xp_histogram class[XP_CLASSES];
};

/* --------------------------------------------------------- latency.c ---- */

/* What the target answers to "histogram". -EPROTO: this is no such answer. */
int latency_parse(const char *text, struct latency *l);
/* Negative errno: it does not run, or the module does not know the message. */
int latency_read(const char *name, struct latency *l);
/* The same, with a complaint. */
enum xc latency_take(const char *name, struct latency *l);
/* What came between two readings. False: the cache was started anew between them, and
 * @later stays as it is. */
bool latency_subtract(struct latency *later, const struct latency *earlier);

/* The classes from @first to @last as one. */
void latency_merge(const struct latency *l, enum xp_class first, enum xp_class last,
		   struct xp_histogram *to);

#define LATENCY_READS	XP_CLASS_READ_HIT, XP_CLASS_READ_BYPASS
#define LATENCY_MISSES	XP_CLASS_READ_MISS, XP_CLASS_READ_BYPASS
#define LATENCY_WRITES	XP_CLASS_WRITE, XP_CLASS_WRITE_STALLED

/* What of all reads, and of all the time that reads took, was hits: 0 to 1. NAN of none. */
double latency_hits(const struct latency *l);
double latency_hits_by_time(const struct latency *l);

/*
 * What going through the cache costs a hit, in ns: the median hit less the median read of
 * the fast device; NAN if one is not known. Not the means: the fast device is read for
 * writeback as well, in long runs, and one stall moves a mean by more than all that is
 * looked for. The median read is a hit's as long as hits are most of them: else NAN, too.
 */
double latency_own_cost(const struct latency *l);

/* ---------------------------------------------------- latency_view.c ---- */

enum latency_columns {
	LATENCY_TOTALS,		/* how many, and what part of all */
	LATENCY_RATES,		/* how many a second, and what part of the time */
};

/* A row for each class that holds anything: first requests, then what the devices took.
 * @only: this class alone; -1: all. */
void latency_table(const struct canvas *c, const struct latency *l,
		   enum latency_columns columns, int only);
/* "hits are 97.3 % of reads and 4.0 % of the time that reads took"; without reads: nothing. */
void latency_show_hits(const struct canvas *c, const struct latency *l);
/* "hit minus fast leg: ..."; nothing where it is not known. */
void latency_show_own_cost(const struct canvas *c, const struct latency *l);
/* What histogram shows of the cache @name: the table, and the bars of @only; -1: of all that
 * hold anything; with @brief of none. @since: as in "since it was started". */
struct latency_view {
	const char *name, *since;
	int only;
	bool brief;
};
void latency_show(const struct canvas *c, const struct latency *l, const struct latency_view *v);
/* One class by the logarithm, a bar a row. */
void latency_bars(const struct canvas *c, const struct latency *l, enum xp_class class);
/* Two lines of status: hits, misses and writes. */
void latency_summary(const struct canvas *c, const struct latency *l);

/* { class: { "count", "mean_ns", "p50", "p99", "p99.9", "max_ns" } }; null: not known. */
struct json_object *latency_json(const struct latency *l);
/* { class: timing_json() }; @only as above. */
struct json_object *latency_json_bins(const struct latency *l, int only);
/* timing_csv() of each, @prefix and the class before it. */
void latency_csv(const struct latency *l, int only, const char *prefix, FILE *f);
/* A ratio that may be NAN: null then. */
struct json_object *latency_json_ratio(double ratio);

#endif /* LATENCY_H */
