// SPDX-License-Identifier: GPL-2.0-only
/* bench_curves.c - what is read off several runs, or off one run's seconds. */
#include "lib/json.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct json_object *at(struct json_object *array, size_t i)
{
	return json_object_array_get_idx(array, i);
}

static void put_double(struct json_object *o, const char *name, double n)
{
	bench_result_add(o, name, isfinite(n) ? json_object_new_double(n) : NULL);
}

static void put_text(struct json_object *o, const char *name, const char *text)
{
	bench_result_add(o, name, json_words(text));
}

/* None ended in it: it was no fast one. */
static double second_mean(struct json_object *second)
{
	return bench_result_number(second, "n") > 0 ? bench_result_number(second, "mean_ns") : NAN;
}

/* Of one second only its heat is known: to a tenth of a decade, shared out within. */
static double second_p99(struct json_object *second)
{
	struct json_object *heat = bench_result_get(second, "heat");
	double left = 0.99 * bench_result_number(second, "n");

	for (size_t i = 0; i < json_object_array_length(heat); i++) {
		double bin = json_object_get_double(at(at(heat, i), 0));
		double count = json_object_get_double(at(at(heat, i), 1));

		if (left <= count)
			return pow(10, (bin + left / count) / BENCH_HEAT_PER_DECADE);
		left -= count;
	}
	return NAN;
}

static struct json_object *writes_of(struct json_object *run)
{
	struct json_object *o = json_object_new_object(), *points = json_object_new_array();
	struct json_object *seconds = bench_result_get(run, "per_second");
	double bytes = 0;

	put_text(o, "run", bench_result_text(run, "id"));
	for (size_t i = 0; i < json_object_array_length(seconds); i++) {
		struct json_object *point = json_object_new_object();

		bytes += bench_result_number(at(seconds, i), "bytes");
		put_double(point, "gb", bytes / 1e9);
		put_double(point, "mean_ns", second_mean(at(seconds, i)));
		put_double(point, "p99_ns", second_p99(at(seconds, i)));
		json_object_array_add(points, point);
	}
	bench_result_add(o, "points", points);
	return o;
}

static double read_mean(struct json_object *run)
{
	return bench_result_number(bench_result_get(run, "read"), "mean_ns");
}

/* When so much was hidden as 90 % of what could be; legs U and R of the headline tell that. */
static double hidden90(struct json_object *runs, struct json_object *seconds)
{
	double u = read_mean(bench_result_find(runs, "headline/U"));
	double r = read_mean(bench_result_find(runs, "headline/R"));

	for (size_t i = 0; u > r * 1.1 && i < json_object_array_length(seconds); i++)
		if (bench_result_number(at(seconds, i), "n") > 0 &&
		    u - bench_result_number(at(seconds, i), "mean_ns") >= 0.9 * (u - r))
			return (double)i + 1;
	return NAN;
}

static struct json_object *warmup_of(struct json_object *runs, struct json_object *run)
{
	struct json_object *o = json_object_new_object(), *points = json_object_new_array();
	struct json_object *seconds = bench_result_get(run, "per_second");
	struct json_object *hits = bench_result_get(run, "hit_ratio_per_second");

	put_text(o, "run", bench_result_text(run, "id"));
	bench_result_add(o, "held_before", json_object_get(bench_result_get(run, "held_before")));
	bench_result_add(o, "slots", json_object_get(bench_result_get(run, "slots")));
	for (size_t i = 0; i < json_object_array_length(seconds); i++) {
		struct json_object *point = json_object_new_object();

		put_double(point, "seconds", (double)i + 1);
		bench_result_add(point, "hit_ratio", i < json_object_array_length(hits) ?
				 json_object_get(at(hits, i)) : NULL);
		put_double(point, "mean_ns", second_mean(at(seconds, i)));
		json_object_array_add(points, point);
	}
	bench_result_add(o, "points", points);
	put_double(o, "hidden90_seconds", hidden90(runs, seconds));
	return o;
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcmp(text + a - b, end);
}

/* How much of its warming was done before the time for that was up. */
static double warmed(struct json_object *runs, struct json_object *run)
{
	struct json_object *warming;
	char id[128];

	snprintf(id, sizeof(id), "%s-warming", bench_result_text(run, "id"));
	warming = bench_result_find(runs, id);
	return bench_result_number(bench_result_get(warming, "read"), "count") /
	       fmax(1, bench_result_number(warming, "requests"));
}

/* What is not warm says nothing of a set in use. */
static struct json_object *set_of(struct json_object *runs, struct json_object *run)
{
	struct json_object *o = json_object_new_object();
	double hits = bench_result_number(run, "hits"), misses = bench_result_number(run, "misses");
	double warm = warmed(runs, run);

	put_double(o, "ratio", bench_result_number(run, "at"));
	put_text(o, "distribution", strcmp(bench_result_text(run, "pattern"), "zipf") ? "uniform" : "zipf");
	put_double(o, "warmed", warm);
	put_double(o, "hit_ratio", warm >= BENCH_WARM && hits + misses > 0 ? hits / (hits + misses) : NAN);
	put_double(o, "mean_ns", warm >= BENCH_WARM ? read_mean(run) : NAN);
	put_text(o, "run", bench_result_text(run, "id"));
	return o;
}

static struct json_object *fill_of(struct json_object *run)
{
	struct json_object *o = json_object_new_object();

	put_double(o, "full", bench_result_number(run, "at"));
	put_text(o, "run", bench_result_text(run, "id"));
	return o;
}

static void append(struct json_object *result, const char *name, struct json_object *value)
{
	struct json_object *array = bench_result_get(result, name);

	if (!array) {
		array = json_object_new_array();
		bench_result_add(result, name, array);
	}
	json_object_array_add(array, value);
}

void bench_curves(struct json_object *result)
{
	static const char *const curve[] = { "writes", "warmup", "working_set", "fill" };
	struct json_object *runs = bench_result_get(result, "runs");

	for (size_t i = 0; i < sizeof(curve) / sizeof(*curve); i++)
		bench_result_add(result, curve[i], NULL);
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = at(runs, i);
		const char *test = bench_result_text(run, "test"), *id = bench_result_text(run, "id");

		if (!strcmp(test, "writes"))
			append(result, "writes", writes_of(run));
		else if (!strcmp(test, "warmup"))
			bench_result_add(result, "warmup", warmup_of(runs, run));
		else if (!strcmp(test, "working-set") && !ends_with(id, "-warming"))
			append(result, "working_set", set_of(runs, run));
		else if (!strcmp(test, "fill") && !strcmp(bench_result_text(run, "op"), "read"))
			append(result, "fill", fill_of(run));
	}
}
