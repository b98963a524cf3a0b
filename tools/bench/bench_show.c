// SPDX-License-Identifier: GPL-2.0-only
/* bench_show.c - a result, for people. */
#include "lib/colour.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/timing.h"
#include "tools/bench/bench_places.h"
#include "tools/bench/bench_result.h"
#include "core/histogram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ words ---- */

static bool unicode(void)
{
	static int can = -1;

	if (can < 0)
		can = canvas_utf8();
	return can;
}

/* Three figures that count, but none that mean nothing. */
const char *bench_text_time(double ns)
{
	static char text[8][32];
	static u32 next;
	char *s = text[next++ % 8];
	double v = fabs(ns) < 100e3 ? ns / 1e3 : fabs(ns) < 1e9 ? ns / 1e6 : ns / 1e9;
	const char *unit = fabs(ns) < 100e3 ? unicode() ? "\xc2\xb5s" : "us" : fabs(ns) < 1e9 ? "ms" : "s";

	snprintf(s, sizeof(text[0]), "%.*f %s", fabs(v) < 0.1 ? 3 : fabs(v) < 10 ? 2 : fabs(v) < 100 ? 1 : 0, v, unit);
	return s;
}

const char *bench_pattern_name(enum bench_pattern p)
{
	static const char *const name[] = { "random", "random", "zipf", "sequential", "backward" };

	return name[p];
}

static void print_column(const char *text, int width)
{
	canvas_right(&(struct canvas){ .f = stdout }, width, text);
}

/* ------------------------------------------------------------ table ---- */

static const char *percentile(const struct xp_histogram *h, double q)
{
	return timing_needs(h, q) > 1 ? "-" : bench_text_time(timing_quantile(h, q));
}

/* @op: where the id alone does not say it. */
static void show_row(struct json_object *run, const char *op, const struct xp_histogram *h)
{
	static const double shown[] = { 0.5, 0.99, 0.999, 0.9999, 0.99999 };
	char name[128];

	snprintf(name, sizeof(name), "%s%s", bench_result_text(run, "id"),
		 !strcmp(bench_result_text(run, "op"), "mixed") || strstr(op, "due") ? op : "");
	printf("%-30s %10s %9.1f", name, text_count((u64)(bench_result_number(run, "iops") + 0.5)),
	       bench_result_number(run, "bytes_per_second") / 1e6);
	print_column(bench_text_time(timing_mean(h)), 10);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		print_column(percentile(h, shown[i]), 10);
	print_column(bench_text_time((double)h->most), 10);
	putchar('\n');
}

static void show_run(struct json_object *run)
{
	static struct xp_histogram h;

	if (bench_result_timing(run, "read", &h))
		show_row(run, " reads", &h);
	if (bench_result_timing(run, "write", &h))
		show_row(run, " writes", &h);
	if (bench_result_timing(run, "intended", &h))
		show_row(run, " when due", &h);
	if (bench_result_number(run, "errors") > 0)
		printf("%s%30s %s requests failed%s\n", colour_bad(), "",
		       text_count((u64)bench_result_number(run, "errors")), colour_off());
}

/* Iometer's, the coarse predecessor of all this; upper edges in us, as it has them. */
static void show_iometer(struct json_object *run)
{
	static const double edge[] = { 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 20e3, 30e3, 50e3, 100e3,
				       200e3, 500e3, 1e6, 2e6, 4.7e6, 5e6, 10e6 };
	static struct xp_histogram h;
	double before = 0;

	if (!bench_result_timing(run, "read", &h))
		return;
	printf("\n%s, in Iometer's bins\n", bench_result_text(run, "id"));
	for (size_t i = 0; i <= sizeof(edge) / sizeof(*edge); i++) {
		bool last = i == sizeof(edge) / sizeof(*edge);
		double part = last ? 1 : timing_part_below(&h, edge[i] * 1e3);

		if (part - before > 0) {
			print_column(last ? "longer" : bench_text_time(edge[i] * 1e3), 10);
			printf(" %10.4f %%\n", 100 * (part - before));
		}
		before = part;
	}
}

/* With a headline its runs have been shown. */
static bool in_table(struct json_object *run, bool headline)
{
	return !headline || strcmp(bench_result_text(run, "test"), "headline") != 0;
}

static void show_table(struct json_object *runs, bool headline)
{
	size_t n = 0;

	for (size_t i = 0; i < json_object_array_length(runs); i++)
		n += in_table(json_object_array_get_idx(runs, i), headline);
	if (!n)
		return;
	printf("%-30s %10s %9s%10s%10s%10s%10s%10s%10s%10s\n", "", "IOPS", "MB/s", "mean", "median", "p99",
	       "p99.9", "p99.99", "p99.999", "longest");
	for (size_t i = 0; i < json_object_array_length(runs); i++)
		if (in_table(json_object_array_get_idx(runs, i), headline))
			show_run(json_object_array_get_idx(runs, i));
	for (size_t i = 0; i < json_object_array_length(runs); i++)
		if (!strcmp(bench_result_text(json_object_array_get_idx(runs, i), "test"), "distribution"))
			show_iometer(json_object_array_get_idx(runs, i));
}

/* --------------------------------------------------------- headline ---- */

#define BAR	28

static void print_bar(double part)
{
	int blocks = part > 0 ? max((int)(part * BAR + 0.5), part > 0.005) : 0;

	for (int i = 0; i < BAR; i++)
		fputs(i >= blocks ? " " : unicode() ? "\xe2\x96\x88" : "#", stdout);
}

/* All three in one unit, that of the longest. */
static void print_mean(double ns, double longest)
{
	double unit = longest < 100e3 ? 1e3 : longest < 1e9 ? 1e6 : 1e9, v = ns / unit;
	const char *name = longest < 100e3 ? unicode() ? "\xc2\xb5s" : "us" : longest < 1e9 ? "ms" : "s";

	printf("%8.*f %s  ", v < 0.1 ? 3 : v < 100 ? 2 : 0, v, name);
}

static void show_bar(const char *label, double ns, double longest, const char *word, double times)
{
	printf("  %-14s", label);
	print_mean(ns, longest);
	print_bar(ns / longest);
	if (word && !strcmp(word, "limit"))
		printf("  limit %.*fx", times < 10 ? 1 : 0, times < 10 ? times : floor(times));
	else if (word && times < 1.05)
		printf("  no faster");
	else if (word)
		printf("  %.*fx %s", times < 10 ? 1 : 0, times < 10 ? times : floor(times), word);
	putchar('\n');
}

static void show_bars(struct json_object *headline, const double mean[3])
{
	double longest = fmax(mean[0], fmax(mean[1], mean[2]));

	show_bar("Without cache", mean[0], longest, NULL, 0);
	show_bar("With xpcache", mean[1], longest, "faster", bench_result_number(headline, "faster"));
	show_bar("Fast drive", mean[2], longest, "limit", bench_result_number(headline, "limit"));
}

static void show_left(struct json_object *headline)
{
	double slow = 1 - bench_result_number(headline, "cover");
	double waiting = bench_result_number(headline, "time_waiting");

	if (slow <= 0)
		printf("No read waited for the disk.\n");
	else if (bench_result_number(headline, "hit_ratio") >= 1)
		printf("No read waited for the disk, but 1 in %.0f took as long.\n", 1 / slow);
	else if (slow < 0.4)
		printf("1 in %.0f reads still waits for the disk; those are %.0f%% of the waiting left.\n",
		       1 / slow, 100 * waiting);
	else
		printf("%.0f%% of the reads still wait for the disk; those are %.0f%% of the waiting left.\n",
		       100 * slow, 100 * waiting);
	if (bench_result_get(headline, "tax_ns")) {
		double tax = bench_result_number(headline, "tax_ns");

		printf("Going through the cache costs %s%s per hit.\n", tax < 0 ? "" : "+", bench_text_time(tax));
	}
}

/* What is not known says how much longer it would take, once; no time helps where the places ran out. */
static void show_percentiles(const char *label, struct json_object *run, const struct xp_histogram *h)
{
	static const double shown[] = { 0.5, 0.99, 0.999, 0.9999, 0.99999 };
	u64 n = xp_histogram_count(h);

	printf("  %-14s", label);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		double needs = timing_needs(h, shown[i]);

		if (needs > 1 && !strcmp(bench_result_text(run, "ended_by"), "places")) {
			printf("  - the range is too small (%s samples)", text_count(n));
			break;
		}
		if (needs > 1) {
			printf("  - needs %.0fx longer (%s samples)", ceil(needs), text_count(n));
			break;
		}
		print_column(bench_text_time(timing_quantile(h, shown[i])), 10);
	}
	putchar('\n');
}

static void show_hidden(struct json_object *headline)
{
	static const char *const at[] = { "50", "99", "99.9" };
	struct json_object *hidden = bench_result_get(headline, "hidden");

	printf("  %-14s", "Hidden");
	for (size_t i = 0; i < 3; i++) {
		char text[32] = "-";

		if (bench_result_get(hidden, at[i]))
			snprintf(text, sizeof(text), "%.0f%%", floor(100 * bench_result_number(hidden, at[i])));
		print_column(text, 10);
	}
	putchar('\n');
}

/* "4K random read, one at a time" */
static const char *workload(struct json_object *run)
{
	static char text[96];
	double size = bench_result_number(run, "size"), rate = bench_result_number(run, "rate");
	double many = bench_result_number(run, "depth") * bench_result_number(run, "threads");
	char how[48] = "one at a time";

	if (rate > 0)
		snprintf(how, sizeof(how), "%g a second", rate);
	else if (many > 1)
		snprintf(how, sizeof(how), "%.0f at a time", many);
	if (fmod(size, 1024) != 0)
		snprintf(text, sizeof(text), "%.0fB %s read, %s", size, bench_result_text(run, "pattern"), how);
	else
		snprintf(text, sizeof(text), "%.0fK %s read, %s", size / 1024, bench_result_text(run, "pattern"), how);
	return text;
}

static void show_headline(struct json_object *headline, struct json_object *runs)
{
	static const char *const label[] = { "Without", "With", "Fast drive" };
	static const char *const leg[] = { "u", "c", "r" };
	static struct xp_histogram h[3];
	struct json_object *run[3];
	double mean[3];

	for (u32 i = 0; i < 3; i++) {
		run[i] = bench_result_find(runs, bench_result_text(headline, leg[i]));
		if (!bench_result_timing(run[i], "read", &h[i]))
			return;
		mean[i] = timing_mean(&h[i]);
	}
	printf("%s%s.%s %s   %s\n",
	       bench_result_number(headline, "faster") >= 1.05 ? colour_good() : colour_bad(),
	       bench_result_text(headline, "verdict"), colour_off(), bench_result_text(headline, "sentence"),
	       workload(run[1]));
	show_bars(headline, mean);
	show_left(headline);
	printf("  %-14s%10s%10s%10s%10s%10s\n", "", "median", "p99", "p99.9", "p99.99", "p99.999");
	for (u32 i = 0; i < 3; i++)
		show_percentiles(label[i], run[i], &h[i]);
	show_hidden(headline);
}

/* ------------------------------------------------------------ whole ---- */

static void show_warnings(struct json_object *warnings)
{
	for (size_t i = 0; i < json_object_array_length(warnings); i++)
		printf("%s! %s%s\n", colour_bad(),
		       bench_result_text(json_object_array_get_idx(warnings, i), "text"), colour_off());
}

void bench_show(struct json_object *result)
{
	struct json_object *runs = bench_result_get(result, "runs");

	struct json_object *headline = bench_result_get(result, "headline");

	if (headline)
		show_headline(headline, runs);
	show_table(runs, headline);
	show_warnings(bench_result_get(result, "warnings"));
}
