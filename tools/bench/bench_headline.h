/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_headline.h - what a cache hides: arithmetic on three histograms, nothing else.
 *
 * U: reads of the slow device. C: the same through the cache. R: of the raw fast device.
 * A figure that cannot be told is NAN: U within 10 % of R, or too few requests.
 */
#ifndef BENCH_HEADLINE_H
#define BENCH_HEADLINE_H

#include "platform.h"

#include <json-c/json.h>

struct json_object;
struct xp_histogram;

enum { BENCH_HIDDEN_MEAN, BENCH_HIDDEN_50, BENCH_HIDDEN_99, BENCH_HIDDEN_999, BENCH_HIDDEN };

struct bench_headline {
	double hidden[BENCH_HIDDEN];	/* (U - C) / (U - R) */
	double boundary_ns;	/* between the fast mode of C and the slow one */
	double tax_ns;		/* median of C's fast mode - median of R */
	double cover;		/* part of C's requests that are in its fast mode */
	double hit_ratio;	/* what the target counted meanwhile; NAN */
	double waiting;		/* part of C's time that is spent beyond the boundary */
	double faster, limit;	/* U / C and U / R, of the means */
	const char *verdict;
	char sentence[160];
};
/* All three hold requests. */
void bench_headline_of(struct bench_headline *h, const struct xp_histogram *u,
		       const struct xp_histogram *c, const struct xp_histogram *r, double hit_ratio);
/* The target's count and the histogram of the callers tell the same? */
bool bench_headline_agrees(const struct bench_headline *h, u64 requests);
/* The schema's HEADLINE. */
struct json_object *bench_headline_json(const struct bench_headline *h);

#endif /* BENCH_HEADLINE_H */
