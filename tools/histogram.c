// SPDX-License-Identifier: GPL-2.0-only
/* histogram: how long the requests of a running cache took, and its devices' I/O. */
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/live.h"
#include "lib/latency/timing.h"
#include "lib/running.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <stdio.h>
#include <stdlib.h>

struct watch {
	const struct options *opt;
	const char *name;
	struct latency last, now;
	bool titled;		/* the CSV has its first line */
};

enum xc histogram_check(const struct options *opt)
{
	if (opt->json + opt->csv + opt->hgrm > 1)
		return complain(XC_USAGE, "histogram", "give one of them", "--json, --csv, --hgrm");
	if (opt->hgrm && opt->class < 0)
		return complain(XC_USAGE, "--hgrm", "give --class too, as --class read-hit",
				"its format is of one class");
	if (opt->hgrm && opt->interval > 0)
		return complain(XC_USAGE, "--hgrm", "give --csv or --json, or no --interval",
				"its format is of one look");
	if (!(opt->interval > 0) && (opt->count || opt->total))
		return complain(XC_USAGE, opt->count ? "--count" : "--total", "give --interval too",
				"one look only");
	return XC_OK;
}

/* ------------------------------------------------------------ one look ---- */

static void show_json(const struct watch *w, const struct latency *l, FILE *f)
{
	const int style = w->opt->interval > 0 ? JSON_C_TO_STRING_PLAIN : JSON_C_TO_STRING_PRETTY;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_words(w->name));
	json_object_object_add(o, "recording", json_object_new_boolean(l->recording));
	json_object_object_add(o, "clock", json_words(l->clock));
	json_object_object_add(o, "seconds", json_object_new_double((double)l->ns / 1e9));
	json_object_object_add(o, "hit_ratio", latency_json_ratio(latency_hits(l)));
	json_object_object_add(o, "hit_ratio_by_time", latency_json_ratio(latency_hits_by_time(l)));
	json_object_object_add(o, "own_cost_ns", latency_json_ratio(latency_own_cost(l)));
	json_object_object_add(o, "classes", latency_json_bins(l, w->opt->class));
	fprintf(f, "%s\n", json_object_to_json_string_ext(o, style));
	json_object_put(o);
}

/* @at: seconds since the cache was started, for each look its own. */
static void show_csv(struct watch *w, const struct latency *l, double at, FILE *f)
{
	bool live = w->opt->interval > 0;
	char prefix[32] = "";

	if (live)
		snprintf(prefix, sizeof(prefix), "%.3f,", at);
	if (!w->titled)
		fprintf(f, "%sclass,from_ns,to_ns,count,cumulative_percent\n", live ? "seconds," : "");
	w->titled = true;
	latency_csv(l, w->opt->class, prefix, f);
}

static void show_text(const struct watch *w, const struct latency *l, bool all, FILE *f)
{
	const struct canvas c = { .f = f, .utf8 = canvas_utf8() };
	struct latency_view v = {
		.name = w->name, .only = w->opt->class,
		.brief = w->opt->interval > 0 && w->opt->class < 0,
	};
	char since[64];

	if (all)
		snprintf(since, sizeof(since), "since it was started, %s ago",
			 text_duration(l->ns / 1000000000));
	else
		snprintf(since, sizeof(since), "in the last %.1f s", (double)l->ns / 1e9);
	v.since = since;
	latency_show(&c, l, &v);
}

/* @l: since the start if @all. */
static void show(struct watch *w, const struct latency *l, bool all, double at, FILE *f)
{
	if (w->opt->json)
		show_json(w, l, f);
	else if (w->opt->csv)
		show_csv(w, l, at, f);
	else if (w->opt->hgrm)
		timing_hgrm(&l->class[w->opt->class], f);
	else
		show_text(w, l, all, f);
}

/* ----------------------------------------------------------------- live ---- */

static enum xc look(void *ctx, FILE *f)
{
	static struct latency since;
	struct watch *w = ctx;
	bool all = w->opt->total;
	enum xc ret = latency_take(w->name, &w->now);

	if (ret)
		return ret;
	since = w->now;
	if (f && !all)
		all = !latency_subtract(&since, &w->last);
	if (f)
		show(w, &since, all, (double)w->now.ns / 1e9, f);
	w->last = w->now;
	return XC_OK;
}

enum xc histogram_run(struct options *opt)
{
	static struct watch w;
	static struct running r;
	const struct live live = {
		.interval = opt->interval, .count = opt->count,
		.lines = opt->json || opt->csv, .look = look, .ctx = &w,
	};
	enum xc ret = caches_find_running(opt->arg, &r);

	w.opt = opt;
	w.name = r.name;
	if (!ret && r.asleep)
		ret = say_asleep(r.name);
	if (!ret && opt->interval > 0)
		return live_run(&live);
	if (!ret)
		ret = latency_take(r.name, &w.now);
	if (!ret)
		show(&w, &w.now, true, (double)w.now.ns / 1e9, stdout);
	return ret;
}
