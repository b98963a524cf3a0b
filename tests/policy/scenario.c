// SPDX-License-Identifier: GPL-2.0-only
/* scenario.c - the loads, and the table of their bounds. */
#include <math.h>
#include <stdlib.h>
#include "scenario.h"

#define SLOTS		16384u		/* 64 MiB */
#define SMALL_SLOTS	1000u		/* laid out as 1,512 */
#define SEED		88172645463325252ull

/* Places on the slow device, in blocks, far apart. */
#define AT_BOOT		0ull
#define AT_SCAN		(1ull << 25)
#define AT_ONCE		(1ull << 27)
#define AT_COPY		(1ull << 28)
#define AT_PREFILL	(1ull << 29)
#define AT_ELSEWHERE	(1ull << 30)

/* ----------------------------------------------------------- parts of loads ---- */

static void request(struct place *p, enum xp_op op, u64 sector, u32 nr_sectors)
{
	replay_request(p->r, op, sector + p->shift, nr_sectors, false);
	if (p->record)
		load_add(p->record, op, sector + p->shift, nr_sectors);
}

static void count_from_here(struct place *p)
{
	replay_reset(p->r);
	if (p->record) {
		p->from = p->record->nr;
		p->from_access = p->record->stream.nr;
	}
}

static void block(struct place *p, enum xp_op op, u64 lba)
{
	request(p, op, lba * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS);
}

/* Reads of a block each that take @slots: one off the grid takes two. */
static u32 reads_of(const struct place *p, u32 slots)
{
	return p->shift % XP_BLOCK_SECTORS ? slots / 2 : slots;
}

/* A quarter of the cache, single blocks everywhere on 16 million. */
static void boot(struct place *p)
{
	for (u64 i = 0; i < reads_of(p, p->slots / 4); i++)
		block(p, XP_READ, AT_BOOT + i * 2654435761ull % (1ull << 22) * 4);
}

static double boot_misses(struct place *p)
{
	struct replay_counts counts;

	count_from_here(p);
	boot(p);
	counts = replay_counts(p->r);
	return (double)counts.read_misses / (double)counts.reads;
}

static void boots(struct place *p)
{
	for (int i = 0; i < 4; i++)
		boot(p);
}

/* @caches times the cache's size, from @lba on, in requests of the scenario's size. */
static void scan(struct place *p, enum xp_op op, u64 lba, u32 caches)
{
	u64 sectors = (u64)caches * p->slots * XP_BLOCK_SECTORS, at;

	for (at = 0; at < sectors; at += p->sectors)
		request(p, op, lba * XP_BLOCK_SECTORS + at, p->sectors);
}

/* Twice twice its size of single blocks: a cache that has evicted for long. */
static void prefill(struct place *p)
{
	for (u32 i = 0; i < 4 * p->slots; i++)
		block(p, XP_READ, AT_PREFILL + random_next(&p->seed) % (2 * p->slots) * 64);
}

/* ---------------------------------------------------------------- scenarios ---- */

static double boot_after_scan(struct place *p)
{
	boots(p);
	scan(p, XP_READ, AT_SCAN, 20);
	return boot_misses(p);
}

/* An eighth of the cache has blocks of what is scanned: 72 of 512. */
static double boot_after_known_scan(struct place *p)
{
	boots(p);
	for (u64 i = 0; i < p->slots / 8; i++)
		block(p, XP_READ, AT_SCAN + i / 72 * 512 + i % 72);
	boots(p);
	scan(p, XP_READ, AT_SCAN, 20);
	return boot_misses(p);
}

static double boot_after_restart_and_scan(struct place *p)
{
	boots(p);
	replay_restart(p->r);
	scan(p, XP_READ, AT_SCAN, 20);
	return boot_misses(p);
}

static double boot_after_once_only(struct place *p)
{
	boots(p);
	for (u64 i = 0; i < 20ull * p->slots; i++)
		block(p, XP_READ, AT_ONCE + i * 64);
	return boot_misses(p);
}

/* Each block twice, at once: what a program asks for again in the same moment, as a log does that grows. */
static double boot_after_twice(struct place *p, enum xp_op op)
{
	boots(p);
	for (u64 i = 0; i < 10ull * p->slots; i++) {
		block(p, op, AT_ONCE + i * 64);
		block(p, op, AT_ONCE + i * 64);
	}
	return boot_misses(p);
}

static double boot_after_read_twice(struct place *p)
{
	return boot_after_twice(p, XP_READ);
}

static double boot_after_written_twice(struct place *p)
{
	return boot_after_twice(p, XP_WRITE);
}

static void copy(struct place *p)
{
	u64 sectors = 3ull * p->slots * XP_BLOCK_SECTORS, at;

	for (at = 0; at < sectors; at += p->sectors) {
		request(p, XP_READ, AT_SCAN * XP_BLOCK_SECTORS + at, p->sectors);
		request(p, XP_WRITE, AT_COPY * XP_BLOCK_SECTORS + at, p->sectors);
	}
}

static double boot_after_copy(struct place *p)
{
	boots(p);
	copy(p);
	return boot_misses(p);
}

/* With a quarter of the cache dirty from the beginning, and nothing written back but where a write waits for it. */
static double copy_fast_bytes(struct place *p)
{
	struct replay_counts counts;

	for (u32 i = 0; i < p->slots / 4; i++)
		block(p, XP_WRITE, AT_ONCE + i * 64);
	count_from_here(p);
	copy(p);
	counts = replay_counts(p->r);
	return (double)counts.fast_bytes / (2.0 * 3 * p->slots * XP_BLOCK_SIZE);
}

/*
 * Of a program that syncs each of its writes, beside a copy that begins with a quarter of the cache dirty, as above, and ends
 * before writes are slowed.
 */
static double copy_slows_flushes(struct place *p)
{
	u64 flushes, sectors = (u64)p->slots / 8 * XP_BLOCK_SECTORS, at, i = 0;

	for (; i < p->slots / 4; i++)
		block(p, XP_WRITE, AT_ONCE + i * 64);
	block(p, XP_WRITE, AT_BOOT);
	request(p, XP_FLUSH, 0, 0);
	flushes = replay_counts(p->r).flushes_slow;
	for (at = 0; at < sectors; at += p->sectors) {
		request(p, XP_READ, AT_SCAN * XP_BLOCK_SECTORS + at, p->sectors);
		request(p, XP_WRITE, AT_COPY * XP_BLOCK_SECTORS + at, p->sectors);
		block(p, XP_WRITE, AT_BOOT + at / p->sectors % 8);
		request(p, XP_FLUSH, 0, 0);
	}
	return (double)(replay_counts(p->r).flushes_slow - flushes);
}

/* Misses of a desktop, with a stream beside it or without: all of the stream's own miss. */
static double desktop(struct place *p, const struct zipf *z, bool streams)
{
	u32 nr = 6 * p->slots, i;
	struct replay_counts counts;
	u64 passed = 0;

	for (i = 0; i < nr; i++)
		block(p, XP_READ, zipf_next(z, &p->seed) * 2654435761ull % (1ull << 24));
	count_from_here(p);
	for (i = 0; i < nr; i++) {
		block(p, XP_READ, zipf_next(z, &p->seed) * 2654435761ull % (1ull << 24));
		if (streams && i % 8 == 0)
			request(p, XP_READ, AT_SCAN * XP_BLOCK_SECTORS + passed++ * p->sectors, p->sectors);
	}
	counts = replay_counts(p->r);
	return (double)(counts.read_misses - passed) / nr;
}

static double desktop_beside_stream(struct place *p)
{
	struct replay_setup setup = { .slots = p->slots, .depth = p->depth, .writeback = REPLAY_ALL };
	struct place other = *p;
	struct zipf z;
	double with;

	zipf_init(&z, 3 * p->slots, .9);
	with = desktop(p, &z, true);
	other.r = replay_start(&setup);
	other.record = NULL;
	if (p->full) {
		other.seed = SEED;
		prefill(&other);
	}
	with -= desktop(&other, &z, false);
	replay_free(other.r);
	zipf_free(&z);
	return with;
}

/*
 * Of the second half of single reads of @lba: how much of the way from the misses of MIN to those of LRU is left, both
 * with as many slots.
 */
static double gap_left(struct place *p, const u64 *lba, u32 nr)
{
	double misses, lru, least;
	struct stream s;

	stream_init(&s);
	for (u32 i = 0; i < nr; i++) {
		if (i == nr / 2)
			count_from_here(p);
		block(p, XP_READ, lba[i]);
		stream_add(&s, lba[i], i >= nr / 2);
	}
	stream_end(&s);
	misses = (double)replay_counts(p->r).read_misses / (nr - nr / 2);
	lru = stream_misses(&s, &rival_lru, replay_slots(p->r));
	least = stream_misses(&s, &rival_min, replay_slots(p->r));
	stream_free(&s);
	return (misses - least) / (lru - least);
}

#define GAP_READS	(12 * SLOTS)

static double zipf_gap(struct place *p)
{
	static u64 lba[GAP_READS];
	struct zipf z;

	zipf_init(&z, 3 * p->slots, .9);
	for (u32 i = 0; i < GAP_READS; i++)
		lba[i] = zipf_next(&z, &p->seed) * 2654435761ull % (1ull << 24);
	zipf_free(&z);
	return gap_left(p, lba, GAP_READS);
}

/* A tenth larger than the cache, in no order that could be read ahead. */
static double loop_gap(struct place *p)
{
	static u64 lba[GAP_READS];

	for (u32 i = 0; i < GAP_READS; i++)
		lba[i] = i % (p->slots + p->slots / 10) * 2654435761ull % (1ull << 24);
	return gap_left(p, lba, GAP_READS);
}

/*
 * As a partition that begins at sector 63 has them, or requests of less than a block. A cache that is full of what is
 * asked for has a 20th for what was read once.
 */
static double second_pass(struct place *p)
{
	u32 nr = p->full ? reads_of(p, p->slots / 25) : 1500;
	struct replay_counts counts;

	for (int pass = 0; pass < 2; pass++) {
		count_from_here(p);
		for (u64 i = 0; i < nr; i++)
			request(p, XP_READ, i * 7919 % 100000 * XP_BLOCK_SECTORS, p->sectors);
	}
	counts = replay_counts(p->r);
	return (double)counts.read_misses / nr;
}

/* Time of the slow device for 1 MiB of which every second block is cached, by @op, over that of the whole. */
static double every_second(struct place *p, enum xp_op op)
{
	struct replay_counts counts;
	u64 raw;

	for (u64 i = 0; i < 256; i += 2)
		block(p, op, AT_SCAN + i);
	block(p, XP_READ, AT_ELSEWHERE);
	count_from_here(p);
	raw = replay_raw_ns(p->r, AT_SCAN * XP_BLOCK_SECTORS + p->shift, 2048);
	request(p, XP_READ, AT_SCAN * XP_BLOCK_SECTORS, 2048);
	counts = replay_counts(p->r);
	return counts.slow_requests <= 1 ? 1 : (double)counts.slow_ns / (double)raw;
}

static double mixed(struct place *p)
{
	return every_second(p, XP_READ);
}

/* In a full cache the slots that become free lie apart. */
static double mixed_dirty(struct place *p)
{
	return every_second(p, XP_WRITE);
}

#define SINGLE_MISSES	20000u

static struct replay_counts single_misses(struct place *p)
{
	count_from_here(p);
	for (u32 i = 0; i < SINGLE_MISSES; i++)
		block(p, XP_READ, AT_ONCE + i * 2654435761ull % (1ull << 22) * 4);
	return replay_counts(p->r);
}

static double not_filled(struct place *p)
{
	return 1 - (double)single_misses(p).fills / SINGLE_MISSES;
}

static double journal_blocks_a_miss(struct place *p)
{
	return (double)single_misses(p).journal_blocks / SINGLE_MISSES;
}

/* -------------------------------------------------------------------- table ---- */

#define KIB(n)		((n) * 2u)
#define MISSES		"misses of the boot"
#define GAP		"of the gap from LRU to MIN left"
#define SCAN(name, run, size, shifts, state) \
	{ name, MISSES, run, SLOTS, REPLAY_ALL, size, shifts, .01, state, (shifts) == ALIGNED ? DUE : NOT_ASKED }

const struct scenario scenarios[] = {
	SCAN("boot-after-scan-16K", boot_after_scan, KIB(16), ALIGNED, DUE),
	SCAN("boot-after-scan-64K", boot_after_scan, KIB(64), ALIGNED, DUE),
	SCAN("boot-after-scan-128K", boot_after_scan, KIB(128), ALIGNED, DUE),
	SCAN("boot-after-scan-256K", boot_after_scan, KIB(256), ALIGNED, DUE),
	SCAN("boot-after-scan-1M", boot_after_scan, KIB(1024), ALIGNED, DUE),
	SCAN("boot-after-scan-8M", boot_after_scan, KIB(8192), ALIGNED, DUE),
	SCAN("boot-after-scan-16K-shifted", boot_after_scan, KIB(16), SHIFTED, DUE),
	SCAN("boot-after-scan-128K-shifted", boot_after_scan, KIB(128), SHIFTED, DUE),
	SCAN("boot-after-scan-1M-shifted", boot_after_scan, KIB(1024), SHIFTED, DUE),
	SCAN("boot-after-known-scan-128K", boot_after_known_scan, KIB(128), ALIGNED, DUE),
	SCAN("boot-after-known-scan-1M", boot_after_known_scan, KIB(1024), ALIGNED, DUE),
	SCAN("boot-after-restart-and-scan-128K", boot_after_restart_and_scan, KIB(128), ALIGNED, DUE),
	SCAN("boot-after-copy-128K", boot_after_copy, KIB(128), ALIGNED, DUE),
	SCAN("boot-after-copy-1M", boot_after_copy, KIB(1024), ALIGNED, DUE),
	{ "copy-over-dirty-mark-128K", "bytes to the fast device a byte moved", copy_fast_bytes, SLOTS, 0, KIB(128),
	  ALIGNED, .05, DUE, NOT_ASKED },
	{ "copy-beside-syncs-128K", "FLUSHes that went to the slow device", copy_slows_flushes, SLOTS, 0, KIB(128),
	  ALIGNED, 0, DUE, NOT_ASKED },
	{ "boot-after-once-only", MISSES, boot_after_once_only, SLOTS, REPLAY_ALL, 8, ALIGNED, 0, DUE, DUE },
	{ "boot-after-read-twice", MISSES, boot_after_read_twice, SLOTS, REPLAY_ALL, 8, ALIGNED, .01, DUE, DUE },
	{ "boot-after-written-twice", MISSES, boot_after_written_twice, SLOTS, REPLAY_ALL, 8, ALIGNED, .01, DUE, DUE },
	{ "desktop-beside-stream-128K", "misses more than without", desktop_beside_stream, SLOTS, REPLAY_ALL, KIB(128),
	  ALIGNED, .003, DUE, DUE },
	{ "zipf-3-caches", GAP, zipf_gap, SLOTS, REPLAY_ALL, 8, ALIGNED, .83, OWED, NOT_ASKED },
	{ "loop-larger-than-cache", GAP, loop_gap, SLOTS, REPLAY_ALL, 8, ALIGNED, .83, DUE, NOT_ASKED },
	{ "second-pass-4K", "misses", second_pass, SLOTS, REPLAY_ALL, 8, ALIGNED, 0, DUE, DUE },
	{ "second-pass-4K-shifted", "misses", second_pass, SLOTS, REPLAY_ALL, 8, SHIFTED, 0, DUE, NOT_ASKED },
	{ "second-pass-1K", "misses", second_pass, SLOTS, REPLAY_ALL, 2, ALIGNED, 0, DUE, DUE },
	{ "second-pass-512B", "misses", second_pass, SLOTS, REPLAY_ALL, 1, SHIFTED, 0, DUE, NOT_ASKED },
	{ "mixed-1M", "time over that of one read", mixed, SLOTS, REPLAY_ALL, 8, ALIGNED, 1.1, DUE, NOT_ASKED },
	{ "mixed-dirty-1M", "time over that of one read", mixed_dirty, SLOTS, 0, 8, ALIGNED, 1.1, DUE, NOT_ASKED },
	{ "small-cache-fills", "single misses not filled", not_filled, SMALL_SLOTS, REPLAY_ALL, 8, ALIGNED, .01, DUE,
	  NOT_ASKED },
	{ "small-cache-journal", "journal blocks a miss", journal_blocks_a_miss, SMALL_SLOTS, REPLAY_ALL, 8, ALIGNED,
	  .1, DUE, NOT_ASKED },
};
const u32 nr_scenarios = sizeof(scenarios) / sizeof(scenarios[0]);

static double run_at(const struct scenario *s, u32 shift, u32 depth, bool full)
{
	struct replay_setup setup = { .slots = s->slots, .depth = depth, .writeback = s->writeback };
	struct place p = { .r = replay_start(&setup), .slots = s->slots, .shift = shift, .depth = depth, .full = full,
			   .sectors = s->sectors, .seed = SEED };
	double figure;

	if (full)
		prefill(&p);
	figure = s->run(&p);
	replay_free(p.r);
	return figure;
}

double scenario_worst(const struct scenario *s)
{
	bool shifted = s->shifts == SHIFTED;

	return max(run_at(s, shifted ? 1 : 0, 1, false), run_at(s, shifted ? 63 : 0, 8, true));
}

struct scenario_shifts_figure scenario_at_shifts(const struct scenario *s)
{
	static const u32 shifts[] = { 1, 5, 7, 63 };
	struct scenario_shifts_figure at = { .aligned = run_at(s, 0, 1, false) };

	for (u32 i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		at.spread = fmax(at.spread, fabs(run_at(s, shifts[i], 1, false) - at.aligned));
	return at;
}

/* ------------------------------------------------------------------- rivals ---- */

static double rival_misses(const struct place *p, const struct rival *rival)
{
	const struct load *l = p->record;
	const struct access *a = l->stream.access;
	void *policy = rival->make(replay_slots(p->r), l->stream.nr_ids);
	u32 reads = 0, misses = 0;

	if (!policy)
		abort();
	for (u32 i = 0; i < l->nr; i++) {
		u32 hits = 0, blocks = load_blocks(&l->request[i]), k;

		for (k = 0; k < blocks; k++, a++)
			hits += rival->access(policy, a->id, a->next);
		if (i >= p->from && l->request[i].op == XP_READ) {
			reads++;
			misses += hits < blocks;
		}
	}
	rival->free(policy);
	return (double)misses / reads;
}

void scenario_misses(const struct scenario *s, double misses[1 + RIVALS])
{
	struct replay_setup setup = { .slots = s->slots, .depth = 1, .writeback = s->writeback };
	struct load record;
	struct place p = { .r = replay_start(&setup), .slots = s->slots, .depth = 1, .sectors = s->sectors,
			   .shift = s->shifts == SHIFTED, .seed = SEED, .record = &record };
	struct replay_counts counts;

	load_init(&record, s->name);
	s->run(&p);
	for (u32 i = 0; i < p.from_access; i++)
		record.stream.access[i].counts = false;
	load_end(&record);
	counts = replay_counts(p.r);
	misses[0] = (double)counts.read_misses / (double)counts.reads;
	for (u32 i = 0; i < RIVALS; i++)
		misses[1 + i] = rival_misses(&p, rivals[i]);
	replay_free(p.r);
	load_free(&record);
}
