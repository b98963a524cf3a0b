// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleep.c - prints how often a slow disk that sleeps is woken, with the real core and the times of a trace:
 * docs/TESTING.md says what is counted.
 *
 *	sleep [--csv] [--spin-down S] [--idle-ms MS] [--delay S]... TRACE...
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "load.h"
#include "progress.h"
#include "replay.h"

#define SHARES		3u
#define LEAST_SLOTS	64u	/* of less no real cache is made */
#define DELAYS_MAX	16u
#define TELL_EACH	4096u	/* requests */

static const u32 shares[SHARES] = { 5, 10, 20 };	/* % of the footprint */

static struct {
	u32 csv, spin_down, idle_ms, nr_delays;
	u32 delay[DELAYS_MAX];
} ask = { .spin_down = 600, .idle_ms = 5000 };	/* hdparm -S 120; the default of the cache */

/* Of one trace and one cache. */
struct figures {
	u32 share, slots, idle_ms, delay;
	double hours, standby;	/* standby: a part of them */
	u64 request_wakes, writeback_wakes;
	u64 written, dirty;	/* blocks: written back, and dirty at the end */
	u64 runs, clean_gaps;	/* of writeback: as in struct replay_counts */
};

static void replay_load(struct replay *r, const struct load *l)
{
	for (u32 i = 0; i < l->nr; i++) {
		const struct load_request *q = &l->request[i];

		replay_until(r, q->time_ns);
		replay_request(r, (enum xp_op)q->op, q->sector, q->nr_sectors, false);
		if (i % TELL_EACH == 0)
			progress_at(l->name, i, l->nr);
	}
	progress_step();
}

static struct figures measure(const struct load *l, u32 share, u32 idle_ms, u32 delay)
{
	u32 slots = max(l->stream.nr_ids * share / 100, LEAST_SLOTS);
	struct replay_setup setup = { .slots = slots, .exact = true, .writeback = REPLAY_ALL, .idle_ms = idle_ms,
				      .writeback_delay = delay, .spin_down = ask.spin_down,
				      .sectors = (l->end / XP_BLOCK_SECTORS + 1) * XP_BLOCK_SECTORS };
	struct replay *r = replay_start(&setup);
	struct replay_counts c;
	struct figures f;

	replay_load(r, l);
	c = replay_counts(r);
	f = (struct figures){ .share = share, .slots = slots, .idle_ms = idle_ms, .delay = delay,
			      .hours = (double)c.ns / 3600e9, .standby = c.ns ? (double)c.standby_ns / (double)c.ns : 0,
			      .request_wakes = c.request_wakes, .writeback_wakes = c.writeback_wakes,
			      .written = c.written_back, .dirty = replay_dirty(r),
			      .runs = c.runs, .clean_gaps = c.clean_gaps };
	replay_free(r);
	return f;
}

/* ------------------------------------------------------------------ output ---- */

static double per_hour(const struct figures *f, u64 wakes)
{
	return f->hours > 0 ? (double)wakes / f->hours : 0;
}

static void print_head(const struct load *l, const struct figures *f)
{
	printf("\n%s: %.1f hours; the disk sleeps after %u s\ncache of %u %%: %u blocks\n", l->name, f->hours,
	       ask.spin_down, f->share, f->slots);
	printf("%8s %7s %10s %11s %8s %9s %7s %7s %7s %6s\n", "idle ms", "delay", "requests/h", "writeback/h", "standby",
	       "written", "ratio", "dirty", "runs", "gaps");
}

static void print_row(const struct figures *f, const struct figures *never)
{
	printf("%8u %7u %10.2f %11.2f %6.1f %% %9llu ", f->idle_ms, f->delay, per_hour(f, f->request_wakes),
	       per_hour(f, f->writeback_wakes), 100 * f->standby, (unsigned long long)f->written);
	if (never->written)
		printf("%7.3f ", (double)f->written / (double)never->written);
	else
		printf("%7s ", "-");
	printf("%7llu %7llu ", (unsigned long long)f->dirty, (unsigned long long)f->runs);
	if (f->runs)
		printf("%4.1f %%\n", 100 * (double)f->clean_gaps / (double)f->runs);
	else
		printf("%6s\n", "-");
}

#define CSV_HEAD "trace,share_percent,cache_blocks,hours,spin_down,idle_ms,delay,request_wakes,writeback_wakes," \
		 "standby,written_back,dirty,runs,clean_gaps\n"

static void print_csv(const struct load *l, const struct figures *f)
{
	printf("\"%s\",%u,%u,%.3f,%u,%u,%u,%llu,%llu,%.4f,%llu,%llu,%llu,%llu\n", l->name, f->share, f->slots, f->hours,
	       ask.spin_down, f->idle_ms, f->delay, (unsigned long long)f->request_wakes,
	       (unsigned long long)f->writeback_wakes, f->standby, (unsigned long long)f->written,
	       (unsigned long long)f->dirty, (unsigned long long)f->runs, (unsigned long long)f->clean_gaps);
}

static void print(const struct load *l, const struct figures *f, const struct figures *never)
{
	progress_hide();
	if (ask.csv) {
		print_csv(l, f);
		return;
	}
	if (f == never)
		print_head(l, f);
	print_row(f, never);
}

/* ------------------------------------------------------------------- runs ---- */

/* First without the idle rule: the others are held against that. */
static void measure_at(const struct load *l, u32 share)
{
	struct figures never = measure(l, share, 0, 0);

	print(l, &never, &never);
	for (u32 i = 0; i < ask.nr_delays; i++) {
		struct figures f = measure(l, share, ask.idle_ms, ask.delay[i]);

		print(l, &f, &never);
	}
}

static bool measure_trace(const char *path)
{
	struct xp_message msg;
	struct load l;

	if (!load_trace(&l, path, &msg)) {
		progress_hide();
		fprintf(stderr, "%s\n", msg.text);
		return false;
	}
	for (u32 i = 0; i < SHARES; i++)
		measure_at(&l, shares[i]);
	load_free(&l);
	return true;
}

static void usage(void)
{
	fprintf(stderr, "usage: sleep [--csv] [--spin-down S] [--idle-ms MS] [--delay S]... TRACE...\n");
	exit(2);
}

static u32 number(const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || value > 0xffffffff)
		usage();
	return (u32)value;
}

static void take_delay(u32 delay)
{
	if (ask.nr_delays == DELAYS_MAX)
		usage();
	ask.delay[ask.nr_delays++] = delay;
}

static void take_options(int argc, char **argv)
{
	static const struct option options[] = { { "csv", no_argument, NULL, 'c' },
						 { "spin-down", required_argument, NULL, 's' },
						 { "idle-ms", required_argument, NULL, 'i' },
						 { "delay", required_argument, NULL, 'd' }, { 0 } };
	int which;

	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == 'c')
			ask.csv = true;
		else if (which == 's')
			ask.spin_down = number(optarg);
		else if (which == 'i')
			ask.idle_ms = number(optarg);
		else if (which == 'd')
			take_delay(number(optarg));
		else
			usage();
	}
	if (optind == argc)
		usage();
}

int main(int argc, char **argv)
{
	static const u32 delays[] = { 0, 600, 3600, 7200 };
	bool good = true;

	take_options(argc, argv);
	if (!ask.nr_delays)
		for (u32 i = 0; i < sizeof(delays) / sizeof(delays[0]); i++)
			take_delay(delays[i]);
	progress_begin((u32)(argc - optind) * SHARES * (1 + ask.nr_delays));
	if (ask.csv)
		printf(CSV_HEAD);
	for (int i = optind; i < argc; i++)
		good &= measure_trace(argv[i]);
	return !good;
}
