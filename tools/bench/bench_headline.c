// SPDX-License-Identifier: GPL-2.0-only
/* bench_headline.c - what a cache hides. */
#include "tools/bench/bench_headline.h"
#include "lib/json.h"
#include "lib/latency/timing.h"
#include "core/histogram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------- hidden ---- */

/* The slow device is no slower than the fast one, as near as can be told. */
static bool is_about(double u, double r)
{
	return u <= r * 1.1;
}

static double hidden(double u, double c, double r)
{
	return is_about(u, r) ? NAN : (u - c) / (u - r);
}

static double hidden_at(const struct xp_histogram *u, const struct xp_histogram *c,
			const struct xp_histogram *r, double q)
{
	if (timing_needs(u, q) > 1 || timing_needs(c, q) > 1 || timing_needs(r, q) > 1)
		return NAN;
	return hidden(timing_quantile(u, q), timing_quantile(c, q), timing_quantile(r, q));
}

/* --------------------------------------------------------- boundary ---- */

#define FINE	20u	/* bins a decade: 12 % each */

/* The fullest bin of some, or the first of them if they are all empty. */
static u32 peak(const double *n, u32 from, u32 to)
{
	u32 best = from;

	for (u32 i = from; i < to; i++)
		if (n[i] > n[best])
			best = i;
	return best;
}

/* The middle of the longest run of the emptiest bins. */
static double valley(const double *n, u32 from, u32 to)
{
	u32 best = from, best_length = 0, length = 0;
	double least = INFINITY;

	for (u32 i = from; i < to; i++)
		least = fmin(least, n[i]);
	for (u32 i = from; i < to; i++) {
		length = n[i] <= least ? length + 1 : 0;
		if (length > best_length) {
			best_length = length;
			best = i;
		}
	}
	return timing_decade_edge(2 * FINE, 2 * best + 2 - best_length);
}

/*
 * The fast mode of C ends where there is least between what the two devices take, as long
 * as that is after its peak: hits may be far from what the raw device does. The peak is
 * looked for in the lower half, by the logarithm. Where the devices are too close to be
 * told apart, half way between them has to do.
 */
static double boundary(const struct xp_histogram *c, double fast, double slow)
{
	double n[TIMING_DECADES * FINE];
	u32 from = (u32)(log10(fmax(fast, 1)) * FINE), to = (u32)(log10(fmax(slow, 1)) * FINE);

	if (to < from + 5)
		return sqrt(fast * slow);
	timing_by_decade(c, FINE, n);
	return valley(n, peak(n, from, (from + to) / 2) + 1, to);
}

/* Of those up to @limit only. */
static double median_below(const struct xp_histogram *h, double limit)
{
	return timing_quantile(h, timing_part_below(h, limit) / 2);
}

/* ---------------------------------------------------------- verdict ---- */

static const char *verdict_of(const struct bench_headline *h, double u, double c, double r)
{
	double mean = h->hidden[BENCH_HIDDEN_MEAN];

	if (c > u * 1.05)
		return "Slower than no cache";
	if (c <= r * 1.25)
		return "As fast as the fast drive";
	if (mean >= 0.8)
		return "Mostly hidden";
	return mean >= 0.2 ? "Partly hidden" : "Not helping";
}

/* 99.97 % are not 100. */
static const char *percent(double part)
{
	static char text[32];

	if (part > 0.99 && part < 1)
		snprintf(text, sizeof(text), "%.1f", floor(part * 1000) / 10);
	else
		snprintf(text, sizeof(text), "%.0f", part * 100);
	return text;
}

static void say(struct bench_headline *h)
{
	double mean = h->hidden[BENCH_HIDDEN_MEAN];
	bool cold = h->hit_ratio < 0.5;
	size_t have;

	if (isnan(mean))
		snprintf(h->sentence, sizeof(h->sentence),
			 "There is no wait to hide: the slow device is as fast as the fast one.");
	else if (fabs(mean) < 0.005)
		snprintf(h->sentence, sizeof(h->sentence), "Your cache hides nothing of the disk's wait.");
	else if (mean < 0)
		snprintf(h->sentence, sizeof(h->sentence), "Your cache adds %s%% to the disk's wait.", percent(-mean));
	else
		snprintf(h->sentence, sizeof(h->sentence), "Your cache hides %s%% of the disk's wait.", percent(mean));
	have = strlen(h->sentence);
	if (cold)
		snprintf(h->sentence + have, sizeof(h->sentence) - have,
			 " It is cold: %s%% of these reads were not in it.", percent(1 - h->hit_ratio));
}

/* ------------------------------------------------------------ whole ---- */

#define HITS_KNOWN	20	/* a median of fewer is no figure */

void bench_headline_of(struct bench_headline *h, const struct xp_histogram *u,
		       const struct xp_histogram *c, const struct xp_histogram *r, double hit_ratio)
{
	double mu = timing_mean(u), mc = timing_mean(c), mr = timing_mean(r);

	memset(h, 0, sizeof(*h));
	h->hidden[BENCH_HIDDEN_MEAN] = hidden(mu, mc, mr);
	h->hidden[BENCH_HIDDEN_50] = hidden_at(u, c, r, 0.5);
	h->hidden[BENCH_HIDDEN_99] = hidden_at(u, c, r, 0.99);
	h->hidden[BENCH_HIDDEN_999] = hidden_at(u, c, r, 0.999);
	h->boundary_ns = boundary(c, timing_quantile(r, 0.5), timing_quantile(u, 0.5));
	h->cover = timing_part_below(c, h->boundary_ns);
	h->tax_ns = h->cover * (double)xp_histogram_count(c) >= HITS_KNOWN ? median_below(c, h->boundary_ns) - timing_quantile(r, 0.5) : NAN;
	h->waiting = 1 - timing_time_below(c, h->boundary_ns);
	h->hit_ratio = hit_ratio;
	h->faster = mu / mc;
	h->limit = mu / mr;
	h->verdict = verdict_of(h, mu, mc, mr);
	say(h);
}

/* Two points of a hundred, and what chance does to so few. */
bool bench_headline_agrees(const struct bench_headline *h, u64 requests)
{
	return isnan(h->hit_ratio) ||
	       fabs(h->cover - h->hit_ratio) <= 0.02 + 1 / sqrt((double)max(requests, 1));
}

static struct json_object *number_or_null(double n)
{
	return isfinite(n) ? json_object_new_double(n) : NULL;
}

struct json_object *bench_headline_json(const struct bench_headline *h)
{
	static const char *const at[BENCH_HIDDEN] = { "mean", "50", "99", "99.9" };
	struct json_object *o = json_object_new_object(), *hides = json_object_new_object();

	json_object_object_add(o, "u", json_words("headline/U"));
	json_object_object_add(o, "c", json_words("headline/C"));
	json_object_object_add(o, "r", json_words("headline/R"));
	for (u32 i = 0; i < BENCH_HIDDEN; i++)
		json_object_object_add(hides, at[i], number_or_null(h->hidden[i]));
	json_object_object_add(o, "hidden", hides);
	json_object_object_add(o, "tax_ns", number_or_null(h->tax_ns));
	json_object_object_add(o, "cover", json_object_new_double(h->cover));
	json_object_object_add(o, "boundary_ns", json_object_new_double(h->boundary_ns));
	json_object_object_add(o, "hit_ratio", number_or_null(h->hit_ratio));
	json_object_object_add(o, "time_waiting", json_object_new_double(h->waiting));
	json_object_object_add(o, "faster", json_object_new_double(h->faster));
	json_object_object_add(o, "limit", json_object_new_double(h->limit));
	json_object_object_add(o, "verdict", json_words(h->verdict));
	json_object_object_add(o, "sentence", json_words(h->sentence));
	return o;
}
