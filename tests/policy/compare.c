// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - prints what loads cost with the real core, and with each rival: docs/TESTING.md says what is counted.
 *
 *	compare [--csv] [TRACE...]
 *
 * Without a trace the loads are those of made.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "disk.h"
#include "load.h"
#include "progress.h"
#include "replay.h"

#define SHARES		3u
#define LEAST_SLOTS	64u	/* of less no real cache is made */
#define TELL_EACH	4096u	/* requests */

static const u32 shares[SHARES] = { 5, 10, 20 };	/* % of the footprint */

/* What one cache made of one load. */
struct cost {
	const char *name;
	u64 missed;		/* blocks read */
	bool has_fills;		/* the next three are known */
	u64 fills, evicted, fast_bytes;
	u64 slow_requests, slow_runs;	/* runs: those that begin elsewhere than the one before ended */
};

/* --------------------------------------------------------------- the core ---- */

static struct cost core_cost(const struct load *l, u32 slots)
{
	struct replay_setup setup = { .slots = slots, .exact = true, .writeback = REPLAY_ALL,
				      .sectors = (l->end + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS * XP_BLOCK_SECTORS };
	struct replay *r = replay_start(&setup);
	struct replay_counts counts;

	for (u32 i = 0; i < l->nr; i++) {
		const struct load_request *q = &l->request[i];

		replay_request(r, (enum xp_op)q->op, q->sector, q->nr_sectors, false);
		if (i % TELL_EACH == 0)
			progress_at("core", i, l->nr);
	}
	counts = replay_counts(r);
	replay_free(r);
	if (counts.read_blocks != l->read_blocks) {
		fprintf(stderr, "%s: the core was asked for %llu blocks, the rivals for %llu\n", l->name,
			(unsigned long long)counts.read_blocks, (unsigned long long)l->read_blocks);
		abort();
	}
	return (struct cost){ "core", counts.missed_blocks, true, counts.fills, counts.evicted, counts.fast_bytes,
			      counts.slow_requests, counts.slow_seeks };
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
	struct reader r = { .cost = { .name = rival->name, .has_fills = rival != &rival_min },
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
	cost->slow_runs = r.disk.seeks;
	cost->fills = cost->missed;
	cost->evicted -= min(capacity, l->stream.nr_ids);
	cost->fast_bytes = (cost->fills + l->written_blocks) * XP_BLOCK_SIZE;
	return *cost;
}

/* ------------------------------------------------------------------ output ---- */

static double ratio(const struct load *l, const struct cost *cost)
{
	return (double)cost->missed / (double)l->read_blocks;
}

/* False: there is no gap between LRU and MIN. */
static bool gap_closed(const struct cost *cost, const struct cost *lru, const struct cost *min, double *closed)
{
	if (lru->missed == min->missed)
		return false;
	*closed = ((double)lru->missed - (double)cost->missed) / (double)(lru->missed - min->missed);
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

static void print_head(u32 share, u32 capacity)
{
	printf("\ncache of %u %%: %u blocks\n", share, capacity);
	printf("%-10s %6s %7s %9s %9s %9s %9s %9s\n", "", "misses", "gap", "fills", "evicted", "fast MiB", "slow req",
	       "runs");
}

static void print_row(const struct load *l, const struct cost *cost, const struct cost *lru, const struct cost *min)
{
	double closed;

	printf("%-10s %6.4f ", cost->name, ratio(l, cost));
	if (gap_closed(cost, lru, min, &closed))
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

#define CSV_HEAD "load,share_percent,cache_blocks,policy,read_blocks,missed_blocks,gap_closed,fills,evicted," \
		 "fast_bytes,slow_requests,slow_runs\n"

/* What is not known is left empty. */
static void print_csv(const struct load *l, u32 share, u32 capacity, const struct cost *cost, const struct cost *lru,
		      const struct cost *min)
{
	double closed;

	printf("\"%s\",%u,%u,%s,%llu,%llu,", l->name, share, capacity, cost->name, (unsigned long long)l->read_blocks,
	       (unsigned long long)cost->missed);
	if (gap_closed(cost, lru, min, &closed))
		printf("%.4f", closed);
	if (cost->has_fills)
		printf(",%llu,%llu,%llu", (unsigned long long)cost->fills, (unsigned long long)cost->evicted,
		       (unsigned long long)cost->fast_bytes);
	else
		printf(",,,");
	printf(",%llu,%llu\n", (unsigned long long)cost->slow_requests, (unsigned long long)cost->slow_runs);
}

/* The core comes first, then the rivals in their order: LRU is the first of them, MIN the last. */
static void compare_at(const struct load *l, u32 share, bool csv)
{
	u32 capacity = max((u32)((u64)l->stream.nr_ids * share / 100), LEAST_SLOTS), i;
	struct cost cost[1 + RIVALS];

	for (i = 0; i <= RIVALS; i++) {
		cost[i] = i ? rival_cost(l, rivals[i - 1], capacity) : core_cost(l, capacity);
		progress_step();
	}
	progress_hide();
	if (!csv)
		print_head(share, capacity);
	for (i = 0; i <= RIVALS; i++) {
		if (csv)
			print_csv(l, share, capacity, &cost[i], &cost[1], &cost[RIVALS]);
		else
			print_row(l, &cost[i], &cost[1], &cost[RIVALS]);
	}
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

	if (!load_trace(&l, path, &msg)) {
		progress_hide();
		fprintf(stderr, "%s\n", msg.text);
		return false;
	}
	compare(&l, csv);
	load_free(&l);
	return true;
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

int main(int argc, char **argv)
{
	bool csv = argc > 1 && !strcmp(argv[1], "--csv"), good = true;
	int first = csv ? 2 : 1;
	u32 loads = first < argc ? (u32)(argc - first) : LOADS_MADE;

	progress_begin(loads * SHARES * (1 + RIVALS));
	if (csv)
		printf(CSV_HEAD);
	if (first == argc)
		compare_made(csv);
	for (int i = first; i < argc; i++)
		good &= compare_trace(argv[i], csv);
	return !good;
}
