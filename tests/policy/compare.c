// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - prints what loads cost with the real core, and with each rival: docs/TESTING.md says what is counted.
 *
 *	compare [--csv] [TRACE...]
 *
 * Without a trace the loads are those of made.c, and in the table for people the scenarios follow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "disk.h"
#include "load.h"
#include "progress.h"
#include "replay.h"
#include "scenario.h"

#define SHARES		3u
#define LEAST_SLOTS	64u	/* of less no real cache is made */
#define TELL_EACH	4096u	/* requests */

static const u32 shares[SHARES] = { 5, 10, 20 };	/* % of the footprint */

#define SHIFTS		4u

/* Sectors that the core's requests are moved up, and what that is called. */
static const struct shift {
	u32 sectors;
	const char *name;
} aligned = { 0, "core" }, shifts[SHIFTS] = { { 1, "core+1" }, { 5, "core+5" }, { 7, "core+7" }, { 63, "core+63" } };

/* What one cache made of one load. */
struct cost {
	const char *name;
	u64 read, missed;	/* blocks */
	u64 missed_sectors;	/* the core's: of those asked for */
	bool has_fills;		/* the next three are known */
	u64 fills, evicted, fast_bytes;
	u64 slow_requests, slow_runs;	/* runs: those that begin elsewhere than the one before ended */
};

/* --------------------------------------------------------------- the core ---- */

static struct cost core_cost(const struct load *l, u32 slots, const struct shift *shift)
{
	u64 blocks = (l->end + shift->sectors + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
	struct replay_setup setup = { .slots = slots, .exact = true, .writeback = REPLAY_ALL,
				      .sectors = blocks * XP_BLOCK_SECTORS };
	struct replay *r = replay_start(&setup);
	struct replay_counts counts;

	for (u32 i = 0; i < l->nr; i++) {
		const struct load_request *q = &l->request[i];
		u64 sector = q->op == XP_FLUSH ? 0 : q->sector + shift->sectors;

		replay_request(r, (enum xp_op)q->op, sector, q->nr_sectors, false);
		if (i % TELL_EACH == 0)
			progress_at(shift->name, i, l->nr);
	}
	counts = replay_counts(r);
	replay_free(r);
	if (!shift->sectors && counts.read_blocks != l->read_blocks) {
		fprintf(stderr, "%s: the core was asked for %llu blocks, the rivals for %llu\n", l->name,
			(unsigned long long)counts.read_blocks, (unsigned long long)l->read_blocks);
		abort();
	}
	progress_step();
	return (struct cost){ .name = shift->name, .read = counts.read_blocks, .missed = counts.missed_blocks,
			      .missed_sectors = counts.missed_sectors, .has_fills = true, .fills = counts.fills,
			      .evicted = counts.evicted, .fast_bytes = counts.fast_bytes,
			      .slow_requests = counts.slow_requests, .slow_runs = counts.slow_seeks };
}

/* -------------------------------------------------------------- the rivals ---- */

/* What a rival has cost so far, and what it reads at present. */
struct reader {
	struct cost cost;
	struct disk disk;
	u64 from, to;		/* blocks that miss side by side in a request; none if the same */
};

static void read_slow(struct reader *r)
{
	if (r->from == r->to)
		return;
	disk_ns(&r->disk, r->from * XP_BLOCK_SECTORS, (r->to - r->from) * XP_BLOCK_SECTORS);
	r->cost.slow_requests++;
	r->from = r->to;
}

static void read_block(struct reader *r, u64 lba, bool hit)
{
	if (hit) {
		read_slow(r);
		return;
	}
	r->cost.missed++;
	if (r->from == r->to)
		r->from = lba;
	r->to = lba + 1;
}

/* The accesses of one request, from @a on: how many. */
static u32 request_cost(struct reader *r, const struct rival *rival, void *policy, const struct load_request *q,
			const struct access *a)
{
	u64 lba = q->sector / XP_BLOCK_SECTORS, last = (q->sector + q->nr_sectors - 1) / XP_BLOCK_SECTORS;
	u32 nr = 0;

	for (; lba <= last; lba++, nr++) {
		bool hit = rival->access(policy, a[nr].id, a[nr].next);

		r->cost.evicted += !hit;	/* from which is taken, in the end, what is still cached */
		if (q->op == XP_READ)
			read_block(r, lba, hit);
	}
	read_slow(r);
	return nr;
}

static struct cost rival_cost(const struct load *l, const struct rival *rival, u32 capacity)
{
	struct reader r = { .cost = { .name = rival->name, .read = l->read_blocks, .has_fills = rival != &rival_min },
			    .disk = { .sectors = l->end } };
	void *policy = rival->make(capacity, l->stream.nr_ids);
	const struct access *a = l->stream.access;
	struct cost *cost = &r.cost;

	if (!policy)
		abort();
	for (u32 i = 0; i < l->nr; i++) {
		if (l->request[i].op != XP_FLUSH)
			a += request_cost(&r, rival, policy, &l->request[i], a);
		if (i % TELL_EACH == 0)
			progress_at(rival->name, i, l->nr);
	}
	rival->free(policy);
	progress_step();
	cost->slow_runs = r.disk.seeks;
	cost->fills = cost->missed;
	cost->evicted -= min(capacity, l->stream.nr_ids);
	cost->fast_bytes = (cost->fills + l->written_blocks) * XP_BLOCK_SIZE;
	return *cost;
}

/* ------------------------------------------------------------------ output ---- */

/* All that is known of one load in caches of one size. */
struct costs {
	u32 share, capacity;
	struct cost of[1 + RIVALS];	/* the core, then the rivals: LRU is the first of them, MIN the last */
	struct cost shifted[SHIFTS];	/* the core */
};

/* False: there is no gap between LRU and MIN. */
static bool gap_closed(const struct costs *c, u32 i, double *closed)
{
	const struct cost *lru = &c->of[1], *min = &c->of[RIVALS];

	if (lru->missed == min->missed)
		return false;
	*closed = ((double)lru->missed - (double)c->of[i].missed) / (double)(lru->missed - min->missed);
	return true;
}

static void print_load(const struct load *l)
{
	printf("\n%s: %u requests, footprint %u blocks, %.0f MiB\n", l->name, l->nr, l->stream.nr_ids,
	       l->stream.nr_ids * (XP_BLOCK_SIZE / 1048576.0));
	printf("  %llu blocks read, %llu written", (unsigned long long)l->read_blocks,
	       (unsigned long long)l->written_blocks);
	if (l->left_out)
		printf("; left out: %u discards and write zeroes", l->left_out);
	printf("\n");
}

static void print_row(const struct costs *c, u32 i)
{
	const struct cost *cost = &c->of[i];
	double closed;

	printf("%-10s %6.4f ", cost->name, (double)cost->missed / (double)cost->read);
	if (gap_closed(c, i, &closed))
		printf("%5.1f %% ", 100 * closed);
	else
		printf("%7s ", "-");
	if (cost->has_fills)
		printf("%9llu %9llu %9.1f ", (unsigned long long)cost->fills, (unsigned long long)cost->evicted,
		       (double)cost->fast_bytes / 1048576);
	else
		printf("%9s %9s %9s ", "-", "-", "-");
	printf("%9llu %9llu\n", (unsigned long long)cost->slow_requests, (unsigned long long)cost->slow_runs);
}

static void print_table(const struct load *l, const struct costs *c)
{
	double sectors = (double)l->read_sectors;

	printf("\ncache of %u %%: %u blocks\n", c->share, c->capacity);
	printf("%-10s %6s %7s %9s %9s %9s %9s %9s\n", "", "misses", "gap", "fills", "evicted", "fast MiB", "slow req",
	       "runs");
	for (u32 i = 0; i <= RIVALS; i++)
		print_row(c, i);
	printf("core, by sectors: %.4f; at shifts of 1, 5, 7, 63:", (double)c->of[0].missed_sectors / sectors);
	for (u32 i = 0; i < SHIFTS; i++)
		printf(" %.4f", (double)c->shifted[i].missed_sectors / sectors);
	printf("\n");
}

#define CSV_HEAD "load,share_percent,cache_blocks,policy,read_blocks,missed_blocks,read_sectors,missed_sectors," \
		 "gap_closed,fills,evicted,fast_bytes,slow_requests,slow_runs\n"

static void print_csv_row(const struct load *l, const struct costs *c, const struct cost *cost, bool is_core,
			  const char *closed)
{
	printf("\"%s\",%u,%u,%s,%llu,%llu,%llu,", l->name, c->share, c->capacity, cost->name,
	       (unsigned long long)cost->read, (unsigned long long)cost->missed, (unsigned long long)l->read_sectors);
	if (is_core)
		printf("%llu", (unsigned long long)cost->missed_sectors);
	printf(",%s,", closed);
	if (cost->has_fills)
		printf("%llu,%llu,%llu", (unsigned long long)cost->fills, (unsigned long long)cost->evicted,
		       (unsigned long long)cost->fast_bytes);
	else
		printf(",,");
	printf(",%llu,%llu\n", (unsigned long long)cost->slow_requests, (unsigned long long)cost->slow_runs);
}

/* What is not known is left empty. */
static void print_csv(const struct load *l, const struct costs *c)
{
	for (u32 i = 0; i <= RIVALS; i++) {
		char text[32] = "";
		double closed;

		if (gap_closed(c, i, &closed))
			snprintf(text, sizeof(text), "%.4f", closed);
		print_csv_row(l, c, &c->of[i], !i, text);
	}
	for (u32 i = 0; i < SHIFTS; i++)
		print_csv_row(l, c, &c->shifted[i], true, "");
}

/* ------------------------------------------------------------- comparisons ---- */

static void compare_at(const struct load *l, u32 share, bool csv)
{
	struct costs c = { .share = share };

	c.capacity = max((u32)((u64)l->stream.nr_ids * share / 100), LEAST_SLOTS);
	c.of[0] = core_cost(l, c.capacity, &aligned);
	for (u32 i = 0; i < RIVALS; i++)
		c.of[1 + i] = rival_cost(l, rivals[i], c.capacity);
	for (u32 i = 0; i < SHIFTS; i++)
		c.shifted[i] = core_cost(l, c.capacity, &shifts[i]);
	progress_hide();
	if (csv)
		print_csv(l, &c);
	else
		print_table(l, &c);
	fflush(stdout);
}

static void compare(const struct load *l, bool csv)
{
	if (!csv)
		print_load(l);
	for (u32 i = 0; i < SHARES; i++)
		compare_at(l, shares[i], csv);
}

static bool compare_trace(const char *path, bool csv)
{
	struct xp_message msg;
	struct load l;
	bool reads;

	if (!load_trace(&l, path, &msg)) {
		progress_hide();
		fprintf(stderr, "%s\n", msg.text);
		return false;
	}
	reads = l.read_blocks;
	if (reads)
		compare(&l, csv);
	else
		fprintf(stderr, "%s: reads nothing\n", path);
	load_free(&l);
	return reads;
}

static void compare_made(bool csv)
{
	for (u32 i = 0; i < LOADS_MADE; i++) {
		struct load l;

		load_make(&l, i);
		compare(&l, csv);
		load_free(&l);
	}
}

/* .97, or 1.0: three columns. */
static void print_part(double part)
{
	char text[16];

	snprintf(text, sizeof(text), "%.2f", part);
	printf(" %.3s", *text == '0' ? text + 1 : text);
}

static void compare_scenarios(void)
{
	printf("\nscenarios: the part of the reads that count of which some block missed\n%-32s", "");
	for (u32 i = 0; i <= RIVALS; i++)
		printf(" %3.3s", i ? rivals[i - 1]->name : "core");
	printf("\n");
	for (u32 i = 0; i < nr_scenarios; i++) {
		double misses[1 + RIVALS];

		progress_at(scenarios[i].name, 0, 1);
		scenario_misses(&scenarios[i], misses);
		progress_step();
		progress_hide();
		printf("%-32s", scenarios[i].name);
		for (u32 k = 0; k <= RIVALS; k++)
			print_part(misses[k]);
		printf("\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	bool csv = argc > 1 && !strcmp(argv[1], "--csv"), good = true;
	int first = csv ? 2 : 1;
	u32 loads = first < argc ? (u32)(argc - first) : LOADS_MADE;
	bool with_scenarios = first == argc && !csv;

	progress_begin(loads * SHARES * (1 + RIVALS + SHIFTS) + (with_scenarios ? nr_scenarios : 0));
	if (csv)
		printf(CSV_HEAD);
	if (first == argc)
		compare_made(csv);
	if (with_scenarios)
		compare_scenarios();
	for (int i = first; i < argc; i++)
		good &= compare_trace(argv[i], csv);
	return !good;
}
