// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_diff.c - two results beside each other: what changed, and what may be chance.
 *
 * The requests of one second have much in common, so a second is one observation, and of few
 * observations their own spread is a poor measure: Student's t. Of a mean that is all: the
 * interval is of the seconds' means. Of a percentile the interval is by order statistics: how
 * far the share of requests below it may be off, and what times have ranks so far off. The
 * share varies from second to second as it does, and at least as it would if each request
 * were drawn for itself (binomial). The intervals hold all at once: with many lines each is
 * so much wider that 95 times of 100 none of them errs. What changes from one session to the
 * next (other load, temperature, the disk's layout) is in neither.
 */
#include "lib/colour.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/latency/timing.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHANCE	0.05	/* that one line of all is outside its interval if nothing changed */
#define MATTERS	0.02	/* less is within the histogram's bins */

/* A comparison of two results. */
struct diff {
	struct json_object *a, *b;
	struct json_object *runs, *skipped;	/* NULL: for people */
	double outside;		/* of each line's interval */
	u32 pairs, lines;	/* compared; of those with an interval */
	bool slower;
};

struct estimate {
	double is, low, high;	/* ns; NAN: not known */
};

struct change {
	const char *of;		/* "mean", "50", ... */
	struct estimate a, b;
	double is, low, high;	/* 0.1: b takes 10 % longer */
};

/* -------------------------------------------------------- estimates ---- */

/* Of the requests of one second, the share that is in the first @bins of its heat. */
static double share_below(struct json_object *second, double bins)
{
	struct json_object *heat = bench_result_get(second, "heat");
	double below = 0;

	for (size_t i = 0; i < json_object_array_length(heat); i++) {
		struct json_object *pair = json_object_array_get_idx(heat, i);

		if (json_object_get_double(json_object_array_get_idx(pair, 0)) < bins)
			below += json_object_get_double(json_object_array_get_idx(pair, 1));
	}
	return below / bench_result_number(second, "n");
}

/* How far the mean of something of each second may be off: of so few as there are; NAN: too few. */
static double error_of(struct json_object *seconds, double (*of)(struct json_object *, double), double arg,
		       double outside)
{
	double sum = 0, squares = 0, k = 0;

	for (size_t i = 0; seconds && i < json_object_array_length(seconds); i++) {
		struct json_object *second = json_object_array_get_idx(seconds, i);
		double v;

		if (bench_result_number(second, "n") <= 0)
			continue;
		v = of(second, arg);
		k++;
		sum += v;
		squares += v * v;
	}
	return k < 3 ? NAN : bench_chance_t((u32)k - 1, outside) *
			     sqrt(fmax(0, squares / k - sum * sum / (k * k)) / (k - 1));
}

/* The heat has edges below and above the quantile: what varies more counts. */
static struct estimate estimate_quantile(const struct xp_histogram *h, struct json_object *seconds, double q,
					 double outside)
{
	double is = timing_quantile(h, q), bin = floor(log10(fmax(is, 1)) * BENCH_HEAT_PER_DECADE);
	double off = bench_chance_t(~0u, outside) * sqrt(q * (1 - q) / (double)xp_histogram_count(h));
	double down = error_of(seconds, share_below, bin, outside);
	double up = error_of(seconds, share_below, bin + 1, outside);

	if (timing_needs(h, q) > 1)
		return (struct estimate){ NAN, NAN, NAN };
	if (isnan(down))
		return (struct estimate){ is, NAN, NAN };
	off = fmax(off, fmax(down, up));
	return (struct estimate){
		is, timing_quantile(h, fmax(q - off, 0)), timing_quantile(h, fmin(q + off, 1)),
	};
}

static double mean_of(struct json_object *second, double unused)
{
	(void)unused;
	return bench_result_number(second, "mean_ns");
}

static struct estimate estimate_mean(const struct xp_histogram *h, struct json_object *seconds, double outside)
{
	double mean = timing_mean(h), off = error_of(seconds, mean_of, 0, outside);

	return (struct estimate){ mean, isnan(off) ? NAN : fmax(mean - off, 0), mean + off };
}

/* Of a ratio, by the logarithm: the two intervals are independent. */
static void compare(struct change *c)
{
	double down = hypot(log(c->a.high / c->a.is), log(c->b.is / c->b.low));
	double up = hypot(log(c->a.is / c->a.low), log(c->b.high / c->b.is));
	double ratio = log(c->b.is / c->a.is);

	c->is = expm1(ratio);
	c->low = expm1(ratio - down);
	c->high = expm1(ratio + up);
}

#define CHANGES	(1 + TIMING_QUANTILES)

static void compare_all(struct change c[CHANGES], const struct xp_histogram h[2],
			struct json_object *const seconds[2], double outside)
{
	c[0] = (struct change){
		.of = "mean",
		.a = estimate_mean(&h[0], seconds[0], outside), .b = estimate_mean(&h[1], seconds[1], outside),
	};
	for (u32 i = 0; i < TIMING_QUANTILES; i++)
		c[1 + i] = (struct change){
			.of = timing_quantile_name[i],
			.a = estimate_quantile(&h[0], seconds[0], timing_quantiles[i], outside),
			.b = estimate_quantile(&h[1], seconds[1], timing_quantiles[i], outside),
		};
	for (u32 i = 0; i < CHANGES; i++)
		compare(&c[i]);
}

static bool known(const struct change *c)
{
	return !isnan(c->low) && !isnan(c->high);
}

/* More than chance, and more than nothing. */
static bool slower(const struct change *c)
{
	return isfinite(c->low) && c->low > MATTERS;
}

static bool faster(const struct change *c)
{
	return isfinite(c->high) && c->high < -MATTERS;
}

/* ----------------------------------------------------------- output ---- */

/* An end that is not finite: there is none. */
static const char *percent(double part)
{
	static char text[4][32];
	static u32 next;
	char *s = text[next++ % 4];

	snprintf(s, sizeof(text[0]), isfinite(part) ? "%+.1f" : "any", 100 * part);
	return s;
}

static void show_change(const struct change *c)
{
	if (isnan(c->is))
		return;
	printf("  %-8s %10s  %10s  %+7.1f %%", c->of, bench_text_time(c->a.is), bench_text_time(c->b.is),
	       100 * c->is);
	if (known(c))
		printf("  %7s to %s %%%s", percent(c->low), percent(c->high),
		       slower(c) ? "  slower" : faster(c) ? "  faster" : "");
	putchar('\n');
}

static struct json_object *number_or_null(double n)
{
	return isfinite(n) ? json_object_new_double(n) : NULL;
}

static struct json_object *json_change(const struct change *c)
{
	struct json_object *o = json_object_new_object();

	bench_result_add(o, "of", json_words(c->of));
	bench_result_add(o, "a_ns", number_or_null(c->a.is));
	bench_result_add(o, "b_ns", number_or_null(c->b.is));
	bench_result_add(o, "change", number_or_null(c->is));
	bench_result_add(o, "low", number_or_null(c->low));
	bench_result_add(o, "high", number_or_null(c->high));
	bench_result_add(o, "slower", json_object_new_boolean(slower(c)));
	bench_result_add(o, "faster", json_object_new_boolean(faster(c)));
	return o;
}

static struct json_object *json_pair(struct json_object *const run[2], const char *op, const struct change c[CHANGES])
{
	struct json_object *o = json_object_new_object(), *changes = json_object_new_array();

	bench_result_add(o, "run", json_words(bench_result_text(run[0], "id")));
	bench_result_add(o, "op", json_words(op));
	for (u32 i = 0; i < CHANGES; i++)
		json_object_array_add(changes, json_change(&c[i]));
	bench_result_add(o, "changes", changes);
	return o;
}

static void show_pair(struct json_object *const run[2], const char *op, const struct change c[CHANGES])
{
	printf("%s, %s\n  %-8s %10s  %10s  %9s  95 %% between\n", bench_result_text(run[0], "id"), op, "",
	       "A", "B", "change");
	for (u32 i = 0; i < CHANGES; i++)
		show_change(&c[i]);
}

/* The seconds are those of service times, and of reads and writes together. */
static bool seconds_tell(struct json_object *run, const char *op)
{
	return strcmp(op, "intended") != 0 && strcmp(bench_result_text(run, "op"), "mixed") != 0;
}

/* One kind of request of a run that both have; only counted if there is no interval yet. */
static void diff_op(struct diff *d, struct json_object *const run[2], const char *op)
{
	static struct xp_histogram h[2];
	struct json_object *seconds[2] = { NULL };
	struct change c[CHANGES];

	if (!bench_result_timing(run[0], op, &h[0]) || !bench_result_timing(run[1], op, &h[1]))
		return;
	for (u32 i = 0; i < 2 && seconds_tell(run[i], op); i++)
		seconds[i] = bench_result_get(run[i], "per_second");
	compare_all(c, h, seconds, d->outside > 0 ? d->outside : CHANCE);
	if (d->outside <= 0) {
		d->pairs++;
		for (u32 i = 0; i < CHANGES; i++)
			d->lines += known(&c[i]);
		return;
	}
	for (u32 i = 0; i < CHANGES; i++)
		d->slower |= slower(&c[i]);
	if (d->runs)
		json_object_array_add(d->runs, json_pair(run, op, c));
	else
		show_pair(run, op, c);
}

/* What must be the same, or it is no change of the device. NULL: nothing differs. */
static const char *differs_in(struct json_object *const run[2])
{
	static const char *const same[] = { "size", "align", "depth", "threads", "rate", "engine", "direct", "pattern",
					    "repeats", "read_percent", "load" };
	struct json_object *range[2] = { bench_result_get(run[0], "range"), bench_result_get(run[1], "range") };

	for (u32 i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (!json_object_equal(bench_result_get(run[0], same[i]), bench_result_get(run[1], same[i])))
			return same[i];
	return json_object_equal(json_object_array_get_idx(range[0], 1), json_object_array_get_idx(range[1], 1)) ?
	       NULL : "range";
}

static void skip(struct diff *d, const char *id, const char *differs)
{
	struct json_object *o;

	if (d->outside <= 0)
		return;
	if (!d->skipped) {
		printf("%s is not compared: %s differs\n", id, differs);
		return;
	}
	o = json_object_new_object();
	bench_result_add(o, "run", json_words(id));
	bench_result_add(o, "differs", json_words(differs));
	json_object_array_add(d->skipped, o);
}

static void diff_runs(struct diff *d)
{
	struct json_object *runs = bench_result_get(d->a, "runs");

	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run[2] = { json_object_array_get_idx(runs, i) };
		const char *id = bench_result_text(run[0], "id"), *differs;

		run[1] = bench_result_find(bench_result_get(d->b, "runs"), id);
		if (!run[1])
			continue;
		differs = differs_in(run);
		if (differs) {
			skip(d, id, differs);
			continue;
		}
		diff_op(d, run, "read");
		diff_op(d, run, "write");
		diff_op(d, run, "intended");
	}
}

static bool is_quick(struct json_object *result)
{
	return json_object_get_boolean(bench_result_get(result, "quick"));
}

static struct json_object *json_of(const struct diff *d, bool quick)
{
	struct json_object *o = json_object_new_object();

	bench_result_add(o, "xpcache_bench_diff", json_object_new_int(1));
	bench_result_add(o, "quick", json_object_new_boolean(quick));
	bench_result_add(o, "slower", json_object_new_boolean(d->slower));
	bench_result_add(o, "runs", d->runs);
	bench_result_add(o, "skipped", d->skipped);
	return o;
}

/* Many lines, and chance finds one: each may be wrong so much less often (Bonferroni). */
static enum xc diff(struct diff *d, const char *name, bool json)
{
	bool quick = is_quick(d->a) || is_quick(d->b);

	diff_runs(d);
	d->outside = CHANCE / max(d->lines, 1u);
	if (!d->pairs)
		return complain(XC_USAGE, name, "give two results of the same tests, with the same options",
				"they have no run in common that can be compared");
	if (json) {
		struct json_object *o;

		d->runs = json_object_new_array();
		d->skipped = json_object_new_array();
		diff_runs(d);
		o = json_of(d, quick);
		printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(o);
	} else {
		diff_runs(d);
		if (quick)
			printf("%s! QUICK: one of them is too short to be compared.%s\n", colour_bad(), colour_off());
	}
	return d->slower ? XC_SLOWER : XC_OK;
}

enum xc bench_diff(const char *a, const char *b, bool json)
{
	struct diff d = { 0 };
	enum xc ret = bench_result_load(a, &d.a);

	if (!ret)
		ret = bench_result_load(b, &d.b);
	if (!ret)
		ret = diff(&d, b, json);
	json_object_put(d.a);
	json_object_put(d.b);
	return ret;
}
