// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_diff.c - two results beside each other: what changed, and what may be chance.
 *
 * The requests of one second have much in common, so a second is one observation. Of a mean
 * that is all: the 95 % interval is of the seconds' means. Of a percentile the interval is by
 * order statistics: how far the share of requests below it may be off, and what times have
 * ranks so far off. The share varies from second to second as it does, and at least as it
 * would if each request were drawn for itself (binomial). What changes from one session to
 * the next (other load, temperature, the disk's layout) is in neither.
 */
#include "bench.h"
#include "timing.h"

#include <math.h>

#define SIGMAS	1.96
#define MATTERS	0.02	/* less is within the histogram's bins */

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

/* The standard error of the mean of something of each second; NAN: too few seconds. */
static double error_of(struct json_object *seconds, double (*of)(struct json_object *, double), double arg)
{
	double sum = 0, squares = 0, k = 0;

	for (size_t i = 0; i < json_object_array_length(seconds); i++) {
		struct json_object *second = json_object_array_get_idx(seconds, i);
		double v;

		if (bench_result_number(second, "n") <= 0)
			continue;
		v = of(second, arg);
		k++;
		sum += v;
		squares += v * v;
	}
	return k < 3 ? NAN : sqrt(fmax(0, squares / k - sum * sum / (k * k)) / (k - 1));
}

/* The heat has edges below and above the quantile: what varies more counts. */
static struct estimate estimate_quantile(const struct xp_histogram *h, struct json_object *seconds, double q)
{
	double is = timing_quantile(h, q), bin = floor(log10(fmax(is, 1)) * BENCH_HEAT_PER_DECADE);
	double off = sqrt(q * (1 - q) / (double)xp_histogram_count(h));
	double down = error_of(seconds, share_below, bin), up = error_of(seconds, share_below, bin + 1);

	if (timing_needs(h, q) > 1)
		return (struct estimate){ NAN, NAN, NAN };
	if (isnan(down))
		return (struct estimate){ is, NAN, NAN };
	off = SIGMAS * fmax(off, fmax(down, up));
	return (struct estimate){
		is, timing_quantile(h, fmax(q - off, 0)), timing_quantile(h, fmin(q + off, 1)),
	};
}

static double mean_of(struct json_object *second, double unused)
{
	(void)unused;
	return bench_result_number(second, "mean_ns");
}

static struct estimate estimate_mean(const struct xp_histogram *h, struct json_object *seconds)
{
	double mean = timing_mean(h), off = SIGMAS * error_of(seconds, mean_of, 0);

	return (struct estimate){ mean, isnan(off) ? NAN : fmax(mean - off, mean / 10), mean + off };
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
			struct json_object *const run[2])
{
	struct json_object *a = bench_result_get(run[0], "per_second"), *b = bench_result_get(run[1], "per_second");

	c[0] = (struct change){ .of = "mean", .a = estimate_mean(&h[0], a), .b = estimate_mean(&h[1], b) };
	for (u32 i = 0; i < TIMING_QUANTILES; i++)
		c[1 + i] = (struct change){
			.of = timing_quantile_name[i],
			.a = estimate_quantile(&h[0], a, timing_quantiles[i]),
			.b = estimate_quantile(&h[1], b, timing_quantiles[i]),
		};
	for (u32 i = 0; i < CHANGES; i++)
		compare(&c[i]);
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

static void show_change(const struct change *c)
{
	if (isnan(c->is))
		return;
	printf("  %-8s %10s  %10s  %+7.1f %%", c->of, bench_text_time(c->a.is), bench_text_time(c->b.is),
	       100 * c->is);
	if (isfinite(c->low) && isfinite(c->high))
		printf("  %+7.1f to %+.1f %%%s", 100 * c->low, 100 * c->high,
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

	bench_result_add(o, "of", json_object_new_string(c->of));
	bench_result_add(o, "a_ns", number_or_null(c->a.is));
	bench_result_add(o, "b_ns", number_or_null(c->b.is));
	bench_result_add(o, "change", number_or_null(c->is));
	bench_result_add(o, "low", number_or_null(c->low));
	bench_result_add(o, "high", number_or_null(c->high));
	bench_result_add(o, "slower", json_object_new_boolean(slower(c)));
	bench_result_add(o, "faster", json_object_new_boolean(faster(c)));
	return o;
}

/* One kind of request of a run that both have. */
static bool diff_op(struct json_object *const run[2], const char *op, struct json_object *out, bool *worse)
{
	static struct xp_histogram h[2];
	struct json_object *o, *changes;
	struct change c[CHANGES];

	if (!bench_result_timing(run[0], op, &h[0]) || !bench_result_timing(run[1], op, &h[1]))
		return false;
	compare_all(c, h, run);
	for (u32 i = 0; i < CHANGES; i++)
		*worse |= slower(&c[i]);
	if (!out) {
		printf("%s, %s\n  %-8s %10s  %10s  %9s  95 %% between\n", bench_result_text(run[0], "id"), op, "",
		       "A", "B", "change");
		for (u32 i = 0; i < CHANGES; i++)
			show_change(&c[i]);
		return true;
	}
	o = json_object_new_object();
	changes = json_object_new_array();
	bench_result_add(o, "run", json_object_new_string(bench_result_text(run[0], "id")));
	bench_result_add(o, "op", json_object_new_string(op));
	for (u32 i = 0; i < CHANGES; i++)
		json_object_array_add(changes, json_change(&c[i]));
	bench_result_add(o, "changes", changes);
	json_object_array_add(out, o);
	return true;
}

/* How many they share; @out NULL: for people. */
static u32 diff_runs(struct json_object *a, struct json_object *b, struct json_object *out, bool *worse)
{
	struct json_object *runs = bench_result_get(a, "runs");
	u32 n = 0;

	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run[2] = { json_object_array_get_idx(runs, i) };

		run[1] = bench_result_find(bench_result_get(b, "runs"), bench_result_text(run[0], "id"));
		if (!run[1])
			continue;
		n += diff_op(run, "read", out, worse);
		n += diff_op(run, "write", out, worse);
	}
	return n;
}

static bool is_quick(struct json_object *result)
{
	return json_object_get_boolean(bench_result_get(result, "quick"));
}

static enum xc diff(struct json_object *a, struct json_object *b, const char *name, bool json)
{
	struct json_object *o = json ? json_object_new_object() : NULL, *runs = NULL;
	bool worse = false, quick = is_quick(a) || is_quick(b);
	u32 n;

	if (json)
		runs = json_object_new_array();
	n = diff_runs(a, b, runs, &worse);
	if (json) {
		bench_result_add(o, "xpcache_bench_diff", json_object_new_int(1));
		bench_result_add(o, "quick", json_object_new_boolean(quick));
		bench_result_add(o, "slower", json_object_new_boolean(worse));
		bench_result_add(o, "runs", runs);
		if (n)
			printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								      JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(o);
	} else if (n && quick) {
		printf("%s! QUICK: one of them is too short to be compared.%s\n", colour_bad(), colour_off());
	}
	if (!n)
		return complain(XC_USAGE, name, "give two results of the same tests", "they have no run in common");
	return worse ? XC_SLOWER : XC_OK;
}

enum xc bench_diff(const char *a, const char *b, bool json)
{
	struct json_object *one = NULL, *other = NULL;
	enum xc ret = bench_result_load(a, &one);

	if (!ret)
		ret = bench_result_load(b, &other);
	if (!ret)
		ret = diff(one, other, b, json);
	json_object_put(one);
	json_object_put(other);
	return ret;
}
