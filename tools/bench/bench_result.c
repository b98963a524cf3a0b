// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_result.c - the result as JSON: made, read back, written.
 *
 * The names are described in docs/MEASURING.md. What is not known is null.
 */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/latency/timing.h"
#include "lib/version.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_places.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_result_add(struct json_object *o, const char *name, struct json_object *value)
{
	json_object_object_add(o, name, value);
}

static void add_text(struct json_object *o, const char *name, const char *text)
{
	bench_result_add(o, name, text ? json_words(text) : NULL);
}

static void add_u64(struct json_object *o, const char *name, u64 n)
{
	bench_result_add(o, name, json_object_new_uint64(n));
}

static void add_double(struct json_object *o, const char *name, double n)
{
	bench_result_add(o, name, json_object_new_double(n));
}

struct json_object *bench_result_get(struct json_object *o, const char *name)
{
	struct json_object *value;

	return o && json_object_is_type(o, json_type_object) &&
	       json_object_object_get_ex(o, name, &value) ? value : NULL;
}

double bench_result_number(struct json_object *o, const char *name)
{
	return json_object_get_double(bench_result_get(o, name));
}

const char *bench_result_text(struct json_object *o, const char *name)
{
	struct json_object *value = bench_result_get(o, name);

	return value ? json_object_get_string(value) : "";
}

bool bench_result_timing(struct json_object *run, const char *member, struct xp_histogram *h)
{
	struct json_object *timing = bench_result_get(run, member);

	return timing && !timing_from_json(timing, h);
}

/* ----------------------------------------------------------- a run ---- */

static struct json_object *json_timing(const struct xp_histogram *h)
{
	return xp_histogram_count(h) ? timing_json(h) : NULL;
}

static struct json_object *json_pair(u64 a, u64 b)
{
	struct json_object *pair = json_object_new_array();

	json_object_array_add(pair, json_object_new_uint64(a));
	json_object_array_add(pair, json_object_new_uint64(b));
	return pair;
}

static struct json_object *json_second(const struct bench_second *s)
{
	struct json_object *o = json_object_new_object(), *heat = json_object_new_array();

	add_u64(o, "n", s->n);
	add_u64(o, "bytes", s->bytes);
	bench_result_add(o, "mean_ns", s->n ? json_object_new_double(bench_second_mean(s)) : NULL);
	bench_result_add(o, "lo_ns", s->n ? json_object_new_uint64(s->lo) : NULL);
	bench_result_add(o, "hi_ns", s->n ? json_object_new_uint64(s->hi) : NULL);
	bench_result_add(o, "stddev_ns", s->n ? json_object_new_double(bench_second_deviation(s)) : NULL);
	for (u32 i = 0; i < BENCH_HEAT; i++)
		if (s->heat[i])
			json_object_array_add(heat, json_pair(i, s->heat[i]));
	bench_result_add(o, "heat", heat);
	return o;
}

static void add_job(struct json_object *o, const struct bench_plan_run *run)
{
	static const char *const name[] = { "io_uring", "psync", "nbd" };
	static const char *const leg[] = { NULL, "U", "C", "R" };
	const struct bench_target *t = run->target;

	add_text(o, "id", run->id);
	add_text(o, "test", run->test);
	add_text(o, "leg", leg[t->leg]);
	add_text(o, "device", t->dev.path);
	add_text(o, "label", t->label);
	add_text(o, "op", run->read_percent == 100 ? "read" : run->read_percent ? "mixed" : "write");
	add_text(o, "pattern", bench_pattern_name(run->pattern));
	bench_result_add(o, "repeats", json_object_new_boolean(run->pattern == BENCH_UNIFORM ||
							       run->pattern == BENCH_ZIPF));
	add_u64(o, "size", run->size);
	add_u64(o, "align", run->align);
	add_u64(o, "depth", run->depth);
	add_u64(o, "threads", run->threads);
	bench_result_add(o, "range", json_pair(t->from + run->from, run->bytes ? run->bytes : t->bytes));
	add_text(o, "engine", name[run->target->dev.remote ? BENCH_NBD : run->engine]);
	bench_result_add(o, "direct", json_object_new_boolean(!run->buffered));
	bench_result_add(o, "rate", run->rate > 0 ? json_object_new_double(run->rate) : NULL);
	add_double(o, "dropped_seconds", run->dropped);
	bench_result_add(o, "requests", run->requests ? json_object_new_uint64(run->requests) : NULL);
	add_u64(o, "read_percent", run->read_percent);
	bench_result_add(o, "load", run->load ?
			 json_words(run->load_read_percent ? "reads" : "writes") : NULL);
	bench_result_add(o, "load_bytes_per_second", NULL);
	add_double(o, "at", run->at);
}

static void add_rates(struct json_object *o, double seconds, u64 n, u64 bytes)
{
	add_double(o, "seconds", seconds);
	add_double(o, "iops", seconds > 0 ? (double)n / seconds : 0);
	add_double(o, "bytes_per_second", seconds > 0 ? (double)bytes / seconds : 0);
}

struct json_object *bench_result_run(const struct bench_plan_run *run, const struct bench_outcome *o)
{
	struct json_object *j = json_object_new_object(), *seconds = json_object_new_array();

	add_job(j, run);
	add_u64(j, "rounds", 1);
	add_rates(j, o->seconds, xp_histogram_count(&o->read) + xp_histogram_count(&o->write), o->bytes);
	add_u64(j, "never_begun", o->never_begun);
	add_u64(j, "errors", o->errors);
	bench_result_add(j, "read", json_timing(&o->read));
	bench_result_add(j, "write", json_timing(&o->write));
	bench_result_add(j, "intended", json_timing(&o->intended));
	bench_result_add(j, "classes", NULL);
	for (u32 i = 0; i < o->nr_seconds; i++)
		json_object_array_add(seconds, json_second(&o->second[i]));
	bench_result_add(j, "per_second", seconds);
	return j;
}

/* ---------------------------------------------------------- rounds ---- */

static void merge_timing(struct json_object *to, struct json_object *from, const char *name)
{
	static struct xp_histogram sum, more;

	if (!bench_result_timing(from, name, &more))
		return;
	if (bench_result_timing(to, name, &sum))
		xp_histogram_merge(&sum, &more);
	else
		sum = more;
	bench_result_add(to, name, timing_json(&sum));
}

static void merge_classes(struct json_object *to, struct json_object *from)
{
	struct json_object *more = bench_result_get(from, "classes"), *have = bench_result_get(to, "classes");

	if (!more)
		return;
	if (!have) {
		bench_result_add(to, "classes", json_object_get(more));
		return;
	}
	for (u32 i = 0; i < XP_CLASSES; i++)
		merge_timing(have, more, xp_class_name[i]);
}

static void merge_sum(struct json_object *to, struct json_object *from, const char *name)
{
	if (bench_result_get(from, name))
		add_u64(to, name, (u64)(bench_result_number(to, name) + bench_result_number(from, name)));
}

/* As many as there are seconds of both, whatever is known of them. */
static void merge_hits(struct json_object *to, struct json_object *from)
{
	struct json_object *have = bench_result_get(to, "hit_ratio_per_second");
	struct json_object *more = bench_result_get(from, "hit_ratio_per_second");

	for (size_t i = 0; have && more && i < json_object_array_length(more); i++)
		json_object_array_add(have, json_object_get(json_object_array_get_idx(more, i)));
}

/* The rounds of a leg lie one after another in the draw. */
static void merge_places(struct json_object *to, struct json_object *from)
{
	struct json_object *have = bench_result_get(to, "places"), *more = bench_result_get(from, "places");

	if (have && more)
		json_object_array_put_idx(have, 1, json_object_get(json_object_array_get_idx(more, 1)));
}

static void merge_round(struct json_object *to, struct json_object *from)
{
	double a = bench_result_number(to, "seconds"), b = bench_result_number(from, "seconds");
	double n = bench_result_number(to, "iops") * a + bench_result_number(from, "iops") * b;
	double bytes = bench_result_number(to, "bytes_per_second") * a +
		       bench_result_number(from, "bytes_per_second") * b;
	struct json_object *seconds = bench_result_get(to, "per_second");
	struct json_object *more = bench_result_get(from, "per_second");

	add_rates(to, a + b, (u64)(n + 0.5), (u64)(bytes + 0.5));
	add_double(to, "dropped_seconds", bench_result_number(to, "dropped_seconds") +
					  bench_result_number(from, "dropped_seconds"));
	merge_sum(to, from, "never_begun");
	merge_sum(to, from, "errors");
	merge_sum(to, from, "rounds");
	merge_sum(to, from, "hits");
	merge_sum(to, from, "misses");
	merge_timing(to, from, "read");
	merge_timing(to, from, "write");
	merge_timing(to, from, "intended");
	merge_classes(to, from);
	merge_places(to, from);
	merge_hits(to, from);
	if (!strcmp(bench_result_text(from, "ended_by"), "places"))
		add_text(to, "ended_by", "places");
	for (size_t i = 0; i < json_object_array_length(more); i++)
		json_object_array_add(seconds, json_object_get(json_object_array_get_idx(more, i)));
}

void bench_result_hits(struct json_object *hits, u32 seconds, double ratio)
{
	if (json_object_array_length(hits) >= seconds)
		return;
	while (json_object_array_length(hits) + 1 < seconds)
		json_object_array_add(hits, NULL);
	json_object_array_add(hits, ratio < 0 ? NULL : json_object_new_double(ratio));
}

struct json_object *bench_result_find(struct json_object *runs, const char *id)
{
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		if (!strcmp(bench_result_text(run, "id"), id))
			return run;
	}
	return NULL;
}

void bench_result_take(struct json_object *runs, struct json_object *run)
{
	struct json_object *have = bench_result_find(runs, bench_result_text(run, "id"));

	if (!have) {
		json_object_array_add(runs, run);
		return;
	}
	merge_round(have, run);
	json_object_put(run);
}

/* ----------------------------------------------------------- whole ---- */

void bench_result_warn(struct json_object *result, const char *code, const char *text, ...)
{
	struct json_object *o = json_object_new_object();
	char words[512];
	va_list args;

	va_start(args, text);
	vsnprintf(words, sizeof(words), text, args);
	va_end(args);
	add_text(o, "code", code);
	add_text(o, "text", words);
	json_object_array_add(bench_result_get(result, "warnings"), o);
}

static void add_command(struct json_object *o, int argc, char **argv)
{
	struct json_object *words = json_object_new_array();
	char line[2048] = "xpcache";

	for (int i = 0; i < argc; i++) {
		size_t have = strlen(line);

		snprintf(line + have, sizeof(line) - have, " %s", argv[i]);
		json_object_array_add(words, json_words(argv[i]));
	}
	add_text(o, "command", line);
	bench_result_add(o, "words", words);
}

static struct json_object *json_target(const struct bench *b)
{
	struct json_object *o = json_object_new_object(), *devices = json_object_new_array();

	add_text(o, "kind", b->cache ? "cache" : "devices");
	bench_result_add(o, "name", NULL);
	for (u32 i = 0; i < b->nr_targets; i++)
		if (!b->target[i].scratch)
			json_object_array_add(devices, bench_device_json(&b->target[i]));
	bench_result_add(o, "devices", devices);
	bench_result_add(o, "cache", NULL);
	return o;
}

struct json_object *bench_result_new(const struct bench *b, int argc, char **argv)
{
	static const char *const later[] = { "headline", "warmup", "working_set", "writes", "fill" };
	struct json_object *o = json_object_new_object();
	time_t now = time(NULL);
	char date[32];
	struct tm tm;

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	add_u64(o, "xpcache_bench", 1);
	add_text(o, "version", XPCACHE_VERSION);
	add_text(o, "date", date);
	add_command(o, argc, argv);
	bench_result_add(o, "quick", json_object_new_boolean(b->setup.quick));
	add_u64(o, "seed", b->setup.seed);
	bench_result_add(o, "host", bench_host_json());
	bench_result_add(o, "target", json_target(b));
	bench_result_add(o, "warnings", json_object_new_array());
	bench_result_add(o, "runs", json_object_new_array());
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		bench_result_add(o, later[i], NULL);
	return o;
}

static bool is_pair(struct json_object *pair)
{
	return json_object_is_type(pair, json_type_array) && json_object_array_length(pair) == 2;
}

static bool is_second(struct json_object *second)
{
	struct json_object *heat = bench_result_get(second, "heat");

	if (!json_object_is_type(heat, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(heat); i++)
		if (!is_pair(json_object_array_get_idx(heat, i)))
			return false;
	return true;
}

/* As far as it is read without another look. */
static bool is_run(struct json_object *run)
{
	struct json_object *seconds = bench_result_get(run, "per_second"), *places = bench_result_get(run, "places");

	if (!json_object_is_type(bench_result_get(run, "id"), json_type_string) ||
	    !json_object_is_type(seconds, json_type_array) || !is_pair(bench_result_get(run, "range")) ||
	    (places && !is_pair(places)))
		return false;
	for (size_t i = 0; i < json_object_array_length(seconds); i++)
		if (!is_second(json_object_array_get_idx(seconds, i)))
			return false;
	return true;
}

static bool is_result(struct json_object *result)
{
	struct json_object *version = bench_result_get(result, "xpcache_bench");
	struct json_object *runs = bench_result_get(result, "runs");

	if (!version || json_object_get_int(version) != 1 || !json_object_is_type(runs, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(runs); i++)
		if (!is_run(json_object_array_get_idx(runs, i)))
			return false;
	return true;
}

enum xc bench_result_load(const char *path, struct json_object **result)
{
	*result = json_load(path);
	if (!*result && errno)
		return complain_errno(errno, path, "cannot read the result");
	if (!*result)
		return complain(XC_USAGE, path, "give a result of xpcache bench --json", "not JSON");
	if (is_result(*result))
		return XC_OK;
	json_object_put(*result);
	*result = NULL;
	return complain(XC_USAGE, path, "give one made by this version of xpcache bench",
			"not a result of xpcache bench, version 1");
}

/* ---------------------------------------------------------- output ---- */

static void write_csv(struct json_object *runs, FILE *f)
{
	static const char *const op[] = { "read", "write", "intended" };
	static struct xp_histogram h;

	fprintf(f, "run,op,from_ns,to_ns,count,cumulative_percent\n");
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		for (u32 k = 0; k < 3; k++) {
			char prefix[128];

			snprintf(prefix, sizeof(prefix), "%s,%s,", bench_result_text(run, "id"), op[k]);
			if (bench_result_timing(run, op[k], &h))
				timing_csv(&h, prefix, f);
		}
	}
}

/* One histogram after another, each under a line of comment, which its readers skip. */
static void write_hgrm(struct json_object *runs, FILE *f)
{
	static const char *const op[] = { "read", "write", "intended" };
	static struct xp_histogram h;

	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		for (u32 k = 0; k < 3; k++) {
			if (!bench_result_timing(run, op[k], &h))
				continue;
			fprintf(f, "#[%s %s, us]\n", bench_result_text(run, "id"), op[k]);
			timing_hgrm(&h, f);
		}
	}
}

int bench_result_print(struct json_object *result, enum bench_form form, FILE *f)
{
	struct json_object *runs = bench_result_get(result, "runs");

	errno = 0;
	if (form == BENCH_CSV)
		write_csv(runs, f);
	else if (form == BENCH_HGRM)
		write_hgrm(runs, f);
	else
		fprintf(f, "%s\n", json_object_to_json_string_ext(result, JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	return fflush(f) || ferror(f) ? -(errno ? errno : EIO) : 0;
}
