// SPDX-License-Identifier: GPL-2.0-only
/* top: all running caches at work, one look after another. */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/live.h"
#include "lib/latency/pulse.h"
#include "lib/running.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL	2.0	/* seconds, if none is given */

struct top {
	bool json;
	struct pulse *last;	/* of each cache that was seen */
	size_t n;
};

static const struct pulse *find(const struct top *t, const char *uuid)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->last[i].uuid, uuid))
			return &t->last[i];
	return NULL;
}

static size_t read_all(const struct top *t, const struct running *r, size_t n, struct pulse *now)
{
	size_t have = 0;

	for (size_t i = 0; i < n; i++) {
		const struct pulse *last = find(t, r[i].uuid);

		if (!pulse_read(&now[have], &r[i], last && last->older))
			have++;
	}
	return have;
}

/* A block a cache, of those that were there before. */
static void show_all(const struct top *t, const struct pulse *now, size_t n, FILE *f)
{
	const struct canvas c = { .f = f, .utf8 = canvas_utf8() };
	struct json_object *array = json_object_new_array(), *o = json_object_new_object();
	struct pulse *p = malloc(sizeof(*p));
	size_t shown = 0;

	for (size_t i = 0; i < n && p; i++) {
		const struct pulse *last = find(t, now[i].uuid);

		*p = now[i];
		if (!last || !pulse_subtract(p, last))
			continue;
		if (shown++ && !t->json)
			fputc('\n', f);
		if (t->json)
			json_object_array_add(array, pulse_json(p));
		else
			pulse_show(&c, p);
	}
	json_object_object_add(o, "caches", array);
	if (t->json)
		fprintf(f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	else if (!shown)
		fputs("no cache is running\n", f);
	json_object_put(o);
	free(p);
}

static enum xc look(void *ctx, FILE *f)
{
	struct top *t = ctx;
	struct running *r;
	struct pulse *now;
	size_t n;
	int err = running_list(&r, &n);

	if (err && err != -ENODEV)	/* without a device mapper nothing runs */
		return complain_errno(err, NULL, "cannot ask the device mapper");
	now = calloc(n + 1, sizeof(*now));
	if (!now) {
		free(r);
		return complain_errno(ENOMEM, NULL, "cannot look");
	}
	n = read_all(t, r, n, now);
	free(r);
	if (f)
		show_all(t, now, n, f);
	free(t->last);
	t->last = now;
	t->n = n;
	return XC_OK;
}

enum xc top_run(struct options *opt)
{
	struct top t = { .json = opt->json };
	const struct live live = {
		.interval = opt->interval > 0 ? opt->interval : INTERVAL, .count = opt->count,
		.lines = opt->json, .look = look, .ctx = &t,
	};
	enum xc ret = live_run(&live);

	free(t.last);
	return ret;
}
