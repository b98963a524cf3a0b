/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timing.h - what a histogram of latencies says: for the target's own, and for bench.
 *
 * The histogram itself is the core's (core/histogram.h). Times are in ns. Nothing here
 * asks a device; nothing fails but timing_parse().
 */
#ifndef TIMING_H
#define TIMING_H

#include "core/class.h"
#include "platform.h"

#include <json-c/json.h>
#include <stdio.h>

struct json_object;
struct xp_histogram;

u64 timing_least(const struct xp_histogram *h);		/* 0 of none */
double timing_mean(const struct xp_histogram *h);	/* 0 of none */

/* The first name of a class with a new one, kept for one release; NULL: it has none. */
const char *timing_older_name(enum xp_class class);
/* By either name. -EPROTO: it is no class. */
int timing_class(const char *word, size_t len, enum xp_class *class);

/* One line of xp_histogram_print(), with or without its end. -EPROTO: it is none. */
int timing_parse(const char *line, enum xp_class *class, struct xp_histogram *h);

/* What came between two readings of the same histogram; nothing else is right. The shortest
 * and the longest of that are known to their bins only, unless they are those of all time. */
void timing_subtract(struct xp_histogram *later, const struct xp_histogram *earlier);

/* The time that the part @q (0 to 1) of all requests does not exceed: the first rank is the
 * shortest, the last the longest, within a bin they are taken to lie evenly. Where they
 * about do it is off by less than 0.8 %, at worst by the width of a bin, 1.6 %. 0 of none. */
double timing_quantile(const struct xp_histogram *h, double q);

/* Ten at least beyond it, or it is not worth printing: p99.9 needs 10,000. */
#define TIMING_BEYOND	10
/* How many times as many requests it would need; 1 or less: it is known. */
double timing_needs(const struct xp_histogram *h, double q);

/* Requests of up to @ns, and the time that they took: parts of all (0 to 1); 0 of none. */
double timing_part_below(const struct xp_histogram *h, double ns);
double timing_time_below(const struct xp_histogram *h, double ns);

/* The same requests in bins by the logarithm, a bin that lies across an edge split in
 * proportion. Bin i of the result begins at 10^(i / @per_decade) ns; the first takes in 0,
 * the last what is longer. */
#define TIMING_DECADES	12u
void timing_by_decade(const struct xp_histogram *h, u32 per_decade, double *n);
double timing_decade_edge(u32 per_decade, u32 i);

/* { "count", "sum_ns", "min_ns", "max_ns", "mean_ns", "percentiles": { "50": ns or null }, "bins":
 * [[from, to, count]] } - percentiles that are not known are null. */
extern const double timing_quantiles[];		/* 0.5 0.9 0.99 0.999 0.9999 0.99999 */
extern const char *const timing_quantile_name[];	/* "50" ... "99.999" */
#define TIMING_QUANTILES	6u
struct json_object *timing_json(const struct xp_histogram *h);
/* Of the same object, as it was: count, sum, min, max and bins. -EPROTO: it is none. */
int timing_from_json(struct json_object *o, struct xp_histogram *h);

/* "from_ns,to_ns,count,cumulative_percent", a line for each bin that holds any, without a
 * header; @prefix before each. */
void timing_csv(const struct xp_histogram *h, const char *prefix, FILE *f);
/* As HdrHistogram's percentile distribution, values in us; a line for the shortest, at 0 of
 * 100 %, and one for each bin that holds any. */
void timing_hgrm(const struct xp_histogram *h, FILE *f);

#endif /* TIMING_H */
