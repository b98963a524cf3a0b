// SPDX-License-Identifier: GPL-2.0-only
/* latency_view.c - histograms of a cache: a table, bars, JSON, CSV. */
#include "lib/colour.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------- cells ---- */

/* Five columns at most: 99999, 123k, 1.23M. */
static const char *short_count(u64 n)
{
	static const char unit[] = "kMGTPE";
	static char text[24];
	double v = (double)n / 1000;
	u32 i = 0;

	if (n < 100000) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
		return text;
	}
	for (; v >= 999.5; i++)
		v /= 1000;
	snprintf(text, sizeof(text), "%.*f%c", v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, unit[i]);
	return text;
}

/* Neither all nor nothing, unless it is. */
static const char *short_part(double part)
{
	static char text[16];

	if (part <= 0)
		return "0%";
	if (part < 0.01)
		return "<1%";
	if (part > 0.99 && part < 1)
		return ">99%";
	snprintf(text, sizeof(text), "%.0f%%", 100 * part);
	return text;
}

static const char *rate(double n)
{
	static char text[24];

	if (n >= 99.5)
		return text_count((u64)(n + 0.5));
	snprintf(text, sizeof(text), "%.1f", n);
	return text;
}

/* What a row is about. */
struct row {
	const struct canvas *c;
	const struct xp_histogram *h;
	const struct xp_histogram *all;	/* of the table */
	u64 ns;				/* in which they came */
};

static const char *cell_count(const struct row *r)
{
	return short_count(xp_histogram_count(r->h));
}

static const char *cell_part(const struct row *r)
{
	return short_part((double)xp_histogram_count(r->h) / (double)xp_histogram_count(r->all));
}

static const char *cell_rate(const struct row *r)
{
	return r->ns ? rate((double)xp_histogram_count(r->h) * 1e9 / (double)r->ns) : "-";
}

static const char *cell_time(const struct row *r)
{
	return r->all->sum ? short_part((double)r->h->sum / (double)r->all->sum) : "-";
}

static const char *cell_mean(const struct row *r)
{
	return canvas_time(r->c, timing_mean(r->h));
}

static const char *cell_least(const struct row *r)
{
	return canvas_time(r->c, (double)timing_least(r->h));
}

static const char *cell_most(const struct row *r)
{
	return canvas_time(r->c, (double)r->h->most);
}

static const char *quantile(const struct row *r, double q)
{
	return timing_needs(r->h, q) > 1 ? "-" : canvas_time(r->c, timing_quantile(r->h, q));
}

static const char *cell_p50(const struct row *r)   { return quantile(r, 0.5); }
static const char *cell_p99(const struct row *r)   { return quantile(r, 0.99); }
static const char *cell_p999(const struct row *r)  { return quantile(r, 0.999); }
static const char *cell_p9999(const struct row *r) { return quantile(r, 0.9999); }

/* --------------------------------------------------------------- table ---- */

#define NAME_WIDTH	13	/* "write-through" */
#define TIME_WIDTH	8

struct column {
	const char *title;
	int width;
	const char *(*cell)(const struct row *r);
};

static const struct column totals[] = {
	{ "count", 6, cell_count },
	{ "part", 5, cell_part },
	{ "mean", TIME_WIDTH, cell_mean },
	{ "min", TIME_WIDTH, cell_least },
	{ "p50", TIME_WIDTH, cell_p50 },
	{ "p99", TIME_WIDTH, cell_p99 },
	{ "p99.9", TIME_WIDTH, cell_p999 },
	{ "p99.99", TIME_WIDTH, cell_p9999 },
	{ "max", TIME_WIDTH, cell_most },
	{ NULL, 0, NULL },
};

static const struct column rates[] = {
	{ "a second", 12, cell_rate },
	{ "time", 7, cell_time },
	{ "mean", TIME_WIDTH + 1, cell_mean },
	{ "p50", TIME_WIDTH + 1, cell_p50 },
	{ "p99", TIME_WIDTH + 1, cell_p99 },
	{ "p99.9", TIME_WIDTH + 1, cell_p999 },
	{ "max", TIME_WIDTH + 1, cell_most },
	{ NULL, 0, NULL },
};

static void show_titles(const struct canvas *c, const char *what, const struct column *column)
{
	fputs(colour_dim(), c->f);
	canvas_left(c, NAME_WIDTH, what);
	for (; column->title; column++)
		canvas_right(c, column->width, column->title);
	fprintf(c->f, "%s\n", colour_off());
}

static void show_row(const struct row *r, enum xp_class class, const struct column *column)
{
	canvas_left(r->c, NAME_WIDTH, xp_class_name[class]);
	for (; column->title; column++)
		canvas_right(r->c, column->width, column->cell(r));
	fputc('\n', r->c->f);
}

/* False: it holds nothing. @before: what there is before it if it does. */
static bool show_group(const struct canvas *c, const struct latency *l, const char *before,
		       const char *what, enum xp_class first, enum xp_class last,
		       const struct column *columns, int only)
{
	struct row r = { .c = c, .ns = l->ns };
	struct xp_histogram all;
	bool titles = false;

	latency_merge(l, first, last, &all);
	r.all = &all;
	for (u32 i = first; i <= (u32)last; i++) {
		r.h = &l->class[i];
		if ((only >= 0 && (u32)only != i) || !xp_histogram_count(r.h))
			continue;
		if (!titles) {
			fputs(before, c->f);
			show_titles(c, what, columns);
		}
		titles = true;
		show_row(&r, i, columns);
	}
	return titles;
}

void latency_table(const struct canvas *c, const struct latency *l,
		   enum latency_columns columns, int only)
{
	const struct column *v = columns == LATENCY_RATES ? rates : totals;
	bool any = show_group(c, l, "", "requests", 0, XP_REQUEST_CLASSES - 1, v, only);

	show_group(c, l, any && columns == LATENCY_TOTALS ? "\n" : "", "devices",
		   XP_REQUEST_CLASSES, XP_CLASSES - 1, v, only);
}

/* ----------------------------------------------------------- sentences ---- */

void latency_show_hits(const struct canvas *c, const struct latency *l)
{
	double by_count = latency_hits(l), by_time = latency_hits_by_time(l);

	if (isnan(by_count) || isnan(by_time))
		return;
	fprintf(c->f, "hits are %.1f %% of reads and %.1f %% of the time that reads took\n",
		100 * by_count, 100 * by_time);
}

void latency_show_own_cost(const struct canvas *c, const struct latency *l)
{
	double ns = latency_own_cost(l);

	if (!isnan(ns))
		fprintf(c->f, "hit minus fast leg: %+.2f %s is our own cost (of the medians)\n",
			ns / 1000, c->utf8 ? "µs" : "us");
}

static void show_medians(const struct canvas *c, const char *what, const struct xp_histogram *h)
{
	struct row r = { .c = c, .h = h };
	const char *p50 = quantile(&r, 0.5), *p99 = quantile(&r, 0.99);

	fprintf(c->f, "%s%s, %s", what, p50, p99);
}

void latency_summary(const struct canvas *c, const struct latency *l)
{
	struct xp_histogram misses, writes;

	latency_merge(l, LATENCY_MISSES, &misses);
	latency_merge(l, LATENCY_WRITES, &writes);
	show_medians(c, "  p50, p99  hits ", &l->class[XP_CLASS_READ_HIT]);
	show_medians(c, "; misses ", &misses);
	show_medians(c, "; writes ", &writes);
	fprintf(c->f, "%s\n  by time   ", l->recording ? "" : "; not recorded now");
	if (isnan(latency_hits_by_time(l)))
		fputs("no reads yet\n", c->f);
	else
		latency_show_hits(c, l);
}

/* ---------------------------------------------------------------- bars ---- */

#define ROWS_MOST	60	/* what one still looks at */
#define GAP_ROWS	4	/* so many empty ones are one line */
#define BAR_WIDTH	46

/* What a class looks like at a step: rows @first to @last hold something. */
struct bars {
	u32 per_decade, first, last;
	double n[TIMING_DECADES * 50];
	double most, all;
};

/* A sliver, cut off at an edge from the only request of a bin, is no row. */
static bool holds(const struct bars *b, u32 i)
{
	return b->n[i] >= 0.05;
}

/* Empty rows from @i on, before one that is not. */
static u32 gap_at(const struct bars *b, u32 i)
{
	u32 n = 0;

	while (i + n <= b->last && !holds(b, i + n))
		n++;
	return n;
}

static u32 lines(const struct bars *b)
{
	u32 n = 0;

	for (u32 i = b->first; i <= b->last; i++, n++) {
		u32 gap = gap_at(b, i);

		if (gap >= GAP_ROWS)
			i += gap - 1;
	}
	return n;
}

static void take_step(const struct xp_histogram *h, u32 per_decade, struct bars *b)
{
	u32 end = TIMING_DECADES * per_decade;

	b->per_decade = per_decade;
	timing_by_decade(h, per_decade, b->n);
	b->all = (double)xp_histogram_count(h);
	b->most = b->last = 0;
	b->first = end;
	for (u32 i = 0; i < end; i++) {
		if (!holds(b, i))
			continue;
		b->first = min(b->first, i);
		b->last = i;
		b->most = fmax(b->most, b->n[i]);
	}
}

/* The finest of which not too many lines are left, and not one for each request; the
 * coarsest has 60 rows in all. */
static void choose_step(const struct xp_histogram *h, struct bars *b)
{
	static const u32 steps[] = { 50, 25, 10, 5 };

	for (u32 i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		take_step(h, steps[i], b);
		if (lines(b) <= fmin(ROWS_MOST, b->all / 2))
			return;
	}
}

/* "p50", or "p50..p99" where a row is all of these; nothing where it is none. */
static void show_marks(const struct canvas *c, const struct xp_histogram *h, double from, double to)
{
	static const struct { const char *name; double q; } marks[] = {
		{ "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "p99.99", 0.9999 },
		{ "p99.999", 0.99999 }, { "max", 1 },
	};
	const char *first = NULL, *last = NULL;

	for (u32 i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		double ns = timing_quantile(h, marks[i].q);

		if ((marks[i].q < 1 && timing_needs(h, marks[i].q) > 1) || ns < from || ns >= to)
			continue;
		first = first ? first : marks[i].name;
		last = marks[i].name;
	}
	if (first)
		fprintf(c->f, "  %s%s%s", first, first == last ? "" : "..", first == last ? "" : last);
}

static void show_bar(const struct canvas *c, const struct xp_histogram *h, const struct bars *b,
		     u32 i)
{
	double from = i ? timing_decade_edge(b->per_decade, i) : 0;
	double to = i < TIMING_DECADES * b->per_decade - 1 ?
		    timing_decade_edge(b->per_decade, i + 1) : INFINITY;
	double part = b->n[i] / b->all;

	canvas_right(c, 9, canvas_time(c, from));
	if (holds(b, i)) {
		char text[16];

		snprintf(text, sizeof(text), part < 0.0005 ? "<0.1 %%" : "%.1f %%", 100 * part);
		fputs("  ", c->f);
		canvas_bar(c, BAR_WIDTH, b->n[i] / b->most);
		canvas_right(c, 8, text);
		show_marks(c, h, from, to);
	}
	fputc('\n', c->f);
}

void latency_bars(const struct canvas *c, const struct latency *l, enum xp_class class)
{
	const struct xp_histogram *h = &l->class[class];
	struct bars b;

	if (!xp_histogram_count(h))
		return;
	choose_step(h, &b);
	fprintf(c->f, "%s: %s, a row is 1/%u of a decade%s\n", xp_class_name[class],
		text_count(xp_histogram_count(h)), b.per_decade,
		b.per_decade == 50 ? "" : ", as 1/50 would be too many rows");
	for (u32 i = b.first; i <= b.last; i++) {
		u32 gap = gap_at(&b, i);

		if (gap < GAP_ROWS) {
			show_bar(c, h, &b, i);
			continue;
		}
		canvas_right(c, 9, c->utf8 ? "⋮" : ":");
		fputc('\n', c->f);
		i += gap - 1;
	}
}

/* --------------------------------------------------------- all of it ---- */

static bool holds_any(const struct latency *l, int only)
{
	for (u32 i = 0; i < XP_CLASSES; i++)
		if ((only < 0 || (u32)only == i) && xp_histogram_count(&l->class[i]))
			return true;
	return false;
}

void latency_show(const struct canvas *c, const struct latency *l, const struct latency_view *v)
{
	fprintf(c->f, "%s: latency %s%s\n", v->name, v->since,
		l->recording ? "" : "; not recorded now");
	if (!strcmp(l->clock, "tsc-unstable"))
		fputs("the processors' clocks do not agree: long times may be wrong\n", c->f);
	if (!holds_any(l, v->only)) {
		fputs("nothing was timed\n", c->f);
		return;
	}
	fputc('\n', c->f);
	latency_table(c, l, LATENCY_TOTALS, v->only);
	if (v->only < 0) {
		fputc('\n', c->f);
		latency_show_hits(c, l);
		latency_show_own_cost(c, l);
	}
	for (u32 i = 0; i < XP_CLASSES && !v->brief; i++) {
		if ((v->only >= 0 && (u32)v->only != i) || !xp_histogram_count(&l->class[i]))
			continue;
		fputc('\n', c->f);
		latency_bars(c, l, i);
	}
}

/* ---------------------------------------------------- JSON and CSV ---- */

static struct json_object *json_quantile(const struct xp_histogram *h, double q)
{
	return timing_needs(h, q) > 1 ? NULL : json_object_new_double(timing_quantile(h, q));
}

struct json_object *latency_json_ratio(double ratio)
{
	return isnan(ratio) ? NULL : json_object_new_double(ratio);
}

static struct json_object *json_class(const struct xp_histogram *h)
{
	struct json_object *o = json_object_new_object();
	u64 n = xp_histogram_count(h);

	json_object_object_add(o, "count", json_object_new_uint64(n));
	json_object_object_add(o, "mean_ns", n ? json_object_new_double(timing_mean(h)) : NULL);
	json_object_object_add(o, "p50", json_quantile(h, 0.5));
	json_object_object_add(o, "p99", json_quantile(h, 0.99));
	json_object_object_add(o, "p99.9", json_quantile(h, 0.999));
	json_object_object_add(o, "max_ns", n ? json_object_new_uint64(h->most) : NULL);
	return o;
}

/* By each name that the class has: @value is of the object then. */
static void add_class(struct json_object *o, enum xp_class class, struct json_object *value)
{
	const char *older = timing_older_name(class);

	json_object_object_add(o, xp_class_name[class], value);
	if (older)
		json_object_object_add(o, older, json_object_get(value));
}

struct json_object *latency_json(const struct latency *l)
{
	struct json_object *o = json_object_new_object();

	for (u32 i = 0; i < XP_CLASSES; i++)
		add_class(o, i, json_class(&l->class[i]));
	return o;
}

struct json_object *latency_json_bins(const struct latency *l, int only)
{
	struct json_object *o = json_object_new_object();

	for (u32 i = 0; i < XP_CLASSES; i++)
		if (only < 0 || (u32)only == i)
			add_class(o, i, timing_json(&l->class[i]));
	return o;
}

void latency_csv(const struct latency *l, int only, const char *prefix, FILE *f)
{
	char before[64];

	for (u32 i = 0; i < XP_CLASSES; i++) {
		if (only >= 0 && (u32)only != i)
			continue;
		snprintf(before, sizeof(before), "%s%s,", prefix, xp_class_name[i]);
		timing_csv(&l->class[i], before, f);
	}
}
