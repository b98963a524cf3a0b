// SPDX-License-Identifier: GPL-2.0-only
/* watch_caches.c - what is remembered of each cache: the last looks, and an hour in columns. */
#include "daemon/watch/watch.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/latency/latency.h"
#include "lib/latency/pulse.h"
#include "lib/latency/timing.h"
#include "lib/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WEAR_SECONDS	600.0	/* between two questions to the drive */
#define VIEWED_SECONDS	4.0	/* after the page has asked it is still looked at */

struct watched *watch_find(const struct watch *w, const char *uuid)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->cache[i]->now.uuid, uuid))
			return w->cache[i];
	return NULL;
}

/* ------------------------------------------------------------- columns ---- */

/* Mean, median and p99, as far as there are requests enough for them. */
static void column_class(struct column *to, u32 i, const struct xp_histogram *h)
{
	to->class[i].n = xp_histogram_count(h);
	to->class[i].mean = to->class[i].n ? (float)timing_mean(h) : NAN;
	to->class[i].p50 = timing_needs(h, 0.5) > 1 ? NAN : (float)timing_quantile(h, 0.5);
	to->class[i].p99 = timing_needs(h, 0.99) > 1 ? NAN : (float)timing_quantile(h, 0.99);
}

static void column_heat(float *to, const struct latency *l, enum xp_class first, enum xp_class last)
{
	double n[WATCH_HEAT];
	struct xp_histogram h;

	latency_merge(l, first, last, &h);
	timing_by_decade(&h, WATCH_HEAT_PER_DECADE, n);
	for (u32 i = 0; i < WATCH_HEAT; i++)
		to[i] = (float)n[i];
}

/* @p: what came in it. */
static void column_fill(struct column *to, const struct pulse *p)
{
	memset(to, 0, sizeof(*to));
	to->time = (double)time(NULL);
	to->seconds = p->seconds;
	to->reads = p->reads;
	for (u32 i = 0; i < PULSE_RATIOS; i++)
		to->hits[i] = pulse_ratios[i].of(p);
	to->dirty = p->slots ? (double)p->dirty / (double)p->slots : NAN;
	for (u32 i = 0; i < XP_CLASSES && p->timed; i++)
		column_class(to, i, &p->latency.class[i]);
	if (p->timed) {
		column_heat(to->heat[0], &p->latency, LATENCY_READS);
		column_heat(to->heat[1], &p->latency, LATENCY_WRITES);
	}
}

/* Half an interval early is in time: the next look would be late by as much. */
static void column_end(struct watched *c, double interval)
{
	static struct pulse p;

	if (c->now.seconds - c->since.seconds < WATCH_COLUMN_SECONDS - interval / 2)
		return;
	p = c->now;
	if (pulse_subtract(&p, &c->since))
		column_fill(&c->column[c->columns++ % WATCH_COLUMNS], &p);
	c->since = c->now;
}

bool watched_latest(const struct watched *c, struct pulse *p)
{
	*p = c->now;
	return c->looks > 1 && pulse_subtract(p, &c->before);
}

/* ---------------------------------------------------------------- looks ---- */

static void tell(void *ctx, const struct event *e)
{
	(void)ctx;
	journal_tell(e);
}

static struct watched *add(struct watch *w, const struct pulse *p)
{
	struct watched *c;

	if (w->n == WATCH_CACHES) {
		if (!w->too_many)
			complain(XC_OK, p->name, "the others are", "not watched: more than %d caches",
				 WATCH_CACHES);
		w->too_many = true;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->now = *p;
	alarms_init(&c->alarms);
	w->cache[w->n++] = c;
	if (w->looked)
		alarms_presence(p, true, tell, NULL);
	return c;
}

static void keep(struct watch *w, struct watched *c, const struct pulse *p)
{
	c->before = c->now;
	c->now = *p;
	if (!c->looks++)
		c->since = *p;
	else
		column_end(c, w->interval);
}

/* The drive is asked seldom, whether it answers or not. */
static void look_at_wear(struct watched *c, const struct pulse *p)
{
	if (!p->fast || (c->wear_at > 0 && p->seconds - c->wear_at < WEAR_SECONDS))
		return;
	if (wear_read(p->fast, &c->wear))
		c->wear.known = false;
	c->wear_at = p->seconds;
}

void watch_note(struct watch *w, const struct pulse *p, bool timed)
{
	struct watched *c = watch_find(w, p->uuid);

	if (!c)
		c = add(w, p);
	if (!c)
		return;
	c->here = true;
	look_at_wear(c, p);
	alarms_judge(&c->alarms, p, &c->wear, &w->limits, tell, NULL);
	if (timed)
		keep(w, c, p);
}

static void forget_the_gone(struct watch *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct watched *c = w->cache[i];

		if (c->here) {
			w->cache[n++] = c;
			continue;
		}
		alarms_presence(&c->now, false, tell, NULL);
		free(c);
	}
	w->n = n;
}

static int look(struct watch *w, bool timed)
{
	int err;

	for (size_t i = 0; i < w->n; i++)
		w->cache[i]->here = false;
	err = watch_each(w, timed);
	if (err)
		return err;
	forget_the_gone(w);
	w->looked = true;
	if (timed)
		w->timed_at = seconds_now();
	return 0;
}

/* Looks do not come to the millisecond. */
static bool is_due(const struct watch *w, double seconds)
{
	return !w->looked || seconds_now() - w->timed_at > seconds - w->interval / 2;
}

int watch_look(struct watch *w)
{
	bool viewed = w->viewed_at > 0 && seconds_now() - w->viewed_at < VIEWED_SECONDS + w->interval;

	return look(w, viewed || is_due(w, WATCH_COLUMN_SECONDS));
}

int watch_refresh(struct watch *w)
{
	return is_due(w, w->interval) ? look(w, true) : 0;
}

void watch_free(struct watch *w)
{
	while (w->n)
		free(w->cache[--w->n]);
}
