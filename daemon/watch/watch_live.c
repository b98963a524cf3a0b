// SPDX-License-Identifier: GPL-2.0-only
/* watch_live.c - what the page is drawn from, as JSON. docs/xpcached.8 tells the schema. */
#include "daemon/watch/watch.h"
#include "lib/json.h"
#include "lib/latency/latency.h"
#include "lib/latency/pulse.h"
#include "lib/version.h"
#include "core/block.h"

#include <math.h>
#include <time.h>

#define LIVE_VERSION	1

static void add(struct json_object *o, const char *name, struct json_object *value)
{
	json_object_object_add(o, name, value);
}

static void add_number(struct json_object *o, const char *name, double n)
{
	add(o, name, latency_json_ratio(n));	/* null of NAN */
}

static void add_count(struct json_object *o, const char *name, u64 n)
{
	add(o, name, json_object_new_uint64(n));
}

/* ---------------------------------------------------------------- caches ---- */

static struct json_object *json_wear(const struct watched *c)
{
	struct json_object *o;

	if (!c->wear.known)
		return NULL;
	o = json_object_new_object();
	add_count(o, "used_percent", c->wear.used);
	add_count(o, "spare_percent", c->wear.spare);
	add_count(o, "critical_warning", c->wear.warning);
	add_number(o, "written_bytes", c->wear.written);
	add_number(o, "years_left", c->alarms.years);
	return o;
}

static struct json_object *json_alarms(const struct alarms *a)
{
	struct json_object *all = json_object_new_array();

	for (u32 i = 0; i < EVENT_KINDS; i++)
		if (a->on[i])
			json_object_array_add(all, json_words(event_name[i].word));
	return all;
}

static struct json_object *json_cache(const struct watched *c)
{
	struct json_object *o = json_object_new_object();
	static struct pulse p;

	add(o, "name", json_words(c->now.name));
	add(o, "uuid", json_words(c->now.uuid));
	add(o, "state", json_words(c->now.state));
	add_count(o, "bytes", c->now.slots << XP_BLOCK_SHIFT);
	add_count(o, "fast_errors", c->now.fast_errors);
	add_count(o, "slow_errors", c->now.slow_errors);
	add_count(o, "fast_bytes_written", c->now.fast_bytes_written);
	add(o, "counts", c->now.counted ? pulse_json_counts(&c->now) : NULL);
	for (u32 i = 0; i < PULSE_QUOTIENTS; i++)
		add_number(o, pulse_quotients[i].name, pulse_quotients[i].of(&c->now));
	add(o, "alarms", json_alarms(&c->alarms));
	add(o, "wear", json_wear(c));
	add(o, "now", watched_latest(c, &p) ? pulse_json(&p) : NULL);
	return o;
}

/* --------------------------------------------------------------- columns ---- */

/* What holds nothing is left out. */
static struct json_object *json_classes(const struct column *k)
{
	struct json_object *o = json_object_new_object();

	for (u32 i = 0; i < XP_CLASSES; i++) {
		struct json_object *class;

		if (!k->class[i].n)
			continue;
		class = json_object_new_object();
		add_count(class, "count", k->class[i].n);
		add_number(class, "mean", k->class[i].mean);
		add_number(class, "p50", k->class[i].p50);
		add_number(class, "p99", k->class[i].p99);
		add(o, xp_class_name[i], class);
	}
	return o;
}

static struct json_object *json_heat(const float *heat)
{
	struct json_object *all = json_object_new_array();

	for (u32 i = 0; i < WATCH_HEAT; i++) {
		struct json_object *bin;

		if (heat[i] <= 0)
			continue;
		bin = json_object_new_array();
		json_object_array_add(bin, json_object_new_uint64(i));
		json_object_array_add(bin, json_object_new_double(round((double)heat[i] * 100) / 100));
		json_object_array_add(all, bin);
	}
	return all;
}

static struct json_object *json_column(const struct column *k)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "time", k->time);
	add_number(o, "seconds", k->seconds);
	add_count(o, "reads", k->reads);
	for (u32 i = 0; i < PULSE_RATIOS; i++)
		add_number(o, pulse_ratios[i].name, k->hits[i]);
	add_number(o, "dirty_ratio", k->dirty);
	add(o, "classes", json_classes(k));
	add(o, "read_heat", json_heat(k->heat[0]));
	add(o, "write_heat", json_heat(k->heat[1]));
	return o;
}

static struct json_object *json_history(const struct watched *c, double since)
{
	u64 first = c->columns > WATCH_COLUMNS ? c->columns - WATCH_COLUMNS : 0;
	struct json_object *o = json_object_new_object(), *all = json_object_new_array();

	for (u64 i = first; i < c->columns; i++)
		if (c->column[i % WATCH_COLUMNS].time > since)
			json_object_array_add(all, json_column(&c->column[i % WATCH_COLUMNS]));
	add(o, "uuid", json_words(c->now.uuid));
	add(o, "columns", all);
	return o;
}

struct json_object *live_json(const struct watch *w, const char *uuid, double since)
{
	struct json_object *o = json_object_new_object(), *caches = json_object_new_array();
	const struct watched *c = uuid ? watch_find(w, uuid) : NULL;

	add_count(o, "xpcache_watch", LIVE_VERSION);
	add(o, "version", json_words(XPCACHE_VERSION));
	add_number(o, "time", (double)time(NULL));
	add_number(o, "interval_seconds", w->interval);
	add_count(o, "column_seconds", WATCH_COLUMN_SECONDS);
	for (size_t i = 0; i < w->n; i++)
		if (w->cache[i]->looks)
			json_object_array_add(caches, json_cache(w->cache[i]));
	add(o, "caches", caches);
	add(o, "history", c ? json_history(c, since) : NULL);
	return o;
}
