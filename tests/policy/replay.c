// SPDX-License-Identifier: GPL-2.0-only
/* replay.c - a backend for the core that answers without doing; see replay.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "accounting.h"
#include "disk.h"
#include "format.h"
#include "layout.h"
#include "life.h"
#include "look.h"
#include "media.h"
#include "message.h"
#include "options.h"
#include "replay.h"
#include "run.h"
#include "statistics.h"
#include "superblock.h"

#define SECTORS_DEFAULT	(1ull << 34)
#define REQUESTS_A_TICK	500u	/* "a second" */
#define CREDIT_MAX	4096u	/* blocks that may be written back at once */
#define STUCK		1000u	/* rounds without an answer */
#define SECOND		1000000000ull

/* A request as it was given. */
struct whole {
	u32 parts;
	bool is_read, missed;
};

/* A part of one, or the fill that came of it. */
struct part {
	struct xp_req req;
	struct xp_link queued;
	struct whole *whole;
	u64 end;		/* sector where the request ends */
	bool is_fill;
	struct xp_fill fill;
};

/* All 0 without one. */
struct clock {
	u64 now;		/* begins at a second: to the core 0 is never */
	u64 from;		/* what it was told to begin at */
	u64 tick;		/* when the next one is due */
	u64 rest_over;		/* when writeback goes on; 0: it does not rest */
	u64 used;		/* when the slow device was, last */
};

struct replay {
	struct replay_setup setup;
	struct replay_counts counts, before;
	struct disk disk;
	struct clock clock;
	struct xp *core;
	void *memory;
	u8 *fast;		/* what was never touched takes no memory */
	u64 fast_blocks;
	struct xp_sb sb;
	struct xp_media media;
	struct xp_todo todo;
	struct xp_list outstanding;
	u32 nr_outstanding, nr_unanswered;	/* parts; requests with a part that waits for the core */
	u64 requests, credit;
	bool has_batch;
	u64 run_end;		/* block behind the last run of the batch; 0: it is the first */
};

void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static void give_up(const char *why)
{
	fprintf(stderr, "replay: %s\n", why);
	abort();
}

static int media_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct replay *r = ctx;

	memcpy(buf, r->fast + block * XP_BLOCK_SIZE, (u64)nr * XP_BLOCK_SIZE);
	return 0;
}

static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct replay *r = ctx;

	memcpy(r->fast + block * XP_BLOCK_SIZE, buf, (u64)nr * XP_BLOCK_SIZE);
	return 0;
}

/* -------------------------------------------------- what the core asks for ---- */

static void write_journal(struct replay *r)
{
	while (r->todo.journal) {
		u32 i = (u32)__builtin_ctz(r->todo.journal);
		struct xp_journal_io io;

		r->todo.journal &= ~(1u << i);
		xp_journal_io(r->core, i, &io);
		memcpy(r->fast + io.target * 512, io.data, io.bytes);
		r->counts.fast_bytes += XP_BLOCK_SIZE;
		r->counts.journal_blocks++;
		xp_journal_end(r->core, i, 0, &r->todo);
	}
}

/* ns for which the slow device has been in standby. */
static u64 standby(const struct replay *r)
{
	u64 alone = r->clock.now - r->clock.used, spin_down = r->setup.spin_down * SECOND;

	return alone > spin_down ? alone - spin_down : 0;
}

/* @wakes: of who uses it. */
static void use_slow(struct replay *r, u64 *wakes)
{
	u64 ns = standby(r);

	*wakes += ns > 0;
	r->counts.standby_ns += ns;
	r->clock.used = r->clock.now;
}

/* Begins one if that is wanted. */
static bool has_batch(struct replay *r)
{
	if (!r->has_batch)
		r->has_batch = xp_writeback_wanted(r->core) && xp_writeback_begin(r->core, &r->todo);
	write_journal(r);
	return r->has_batch;
}

static bool rests(struct replay *r)
{
	u64 ns = r->clock.now ? xp_writeback_turn(r->core, r->clock.now) : 0;

	r->clock.rest_over = ns ? r->clock.now + ns : 0;
	return ns;
}

static bool is_clean_gap(struct replay *r, u64 from, u64 to)
{
	struct xp_mapping m;

	if (!from || to <= from || to - from > REPLAY_GAP)
		return false;
	for (; from < to; from++)
		if (!xp_lookup(r->core, XP_LBA(from), &m) || m.dirty)
			return false;
	return true;
}

static void count_run(struct replay *r, const struct xp_run *run)
{
	r->counts.written_back += run->nr_blocks;
	r->counts.runs++;
	r->counts.clean_gaps += is_clean_gap(r, r->run_end, xp_lba_n(run->lba));
	r->run_end = xp_lba_n(run->lba) + run->nr_blocks;
}

static bool write_run(struct replay *r)
{
	static struct xp_run run;

	if (xp_writeback_next(r->core, &run) != XP_NEXT_RUN)
		return false;
	use_slow(r, &r->counts.writeback_wakes);
	count_run(r, &run);
	r->credit -= min(r->credit, (u64)run.nr_blocks);
	run.err = 0;
	xp_writeback_end(r->core, &run, &r->todo);
	return true;
}

/* One batch, of as many blocks as there is credit for; false: none is wanted or can be, or it rests. */
static bool write_back(struct replay *r)
{
	bool unlimited = r->setup.writeback == REPLAY_ALL;

	if ((!unlimited && !r->credit) || !has_batch(r))
		return false;
	do {
		if (rests(r))
			return false;
	} while ((unlimited || r->credit) && write_run(r));
	use_slow(r, &r->counts.writeback_wakes);	/* the flush */
	r->has_batch = false;
	r->run_end = 0;
	xp_writeback_commit(r->core, 0, 1, &r->todo);
	return true;
}

static void submit(struct replay *r, struct part *part);
static void part_done(struct replay *r, struct part *part);

static void perform(struct replay *r)
{
	struct xp_link *link;

	for (;;) {
		if (r->todo.journal) {
			write_journal(r);
		} else if ((link = xp_list_pop(&r->todo.ready))) {
			submit(r, container_of(link, struct part, req.link));
		} else if ((link = xp_list_pop(&r->todo.done))) {
			part_done(r, container_of(link, struct part, req.link));
		} else if (r->todo.work) {
			r->todo.work = write_back(r);
		} else {
			return;
		}
	}
}

/* ------------------------------------------------------------- requests ---- */

static void start(struct replay *r, struct part *part)
{
	xp_list_add(&r->outstanding, &part->queued);
	r->nr_outstanding++;
}

static struct part *part_new(struct whole *whole, const struct xp_req *of, u64 sector, u64 end)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		give_up("no memory");
	part->whole = whole;
	part->end = end;
	part->req.op = of->op;
	part->req.fua = part->req.ordered = of->fua;
	part->req.sector = sector;
	part->req.nr_sectors = (u32)(end - sector);
	return part;
}

static void count_slow(struct replay *r, const struct part *part)
{
	u64 seeks = r->disk.seeks, ns;

	if (part->req.op != XP_READ && part->req.op != XP_WRITE)
		return;
	r->counts.slow_requests++;
	r->counts.slow_blocks += part->req.nr_blocks;
	ns = disk_ns(&r->disk, part->req.sector, part->req.nr_sectors);
	r->counts.slow_ns += ns;
	if (part->req.op == XP_READ)
		xp_slow_took(r->core, &part->req, part->req.nr_sectors, ns);
	r->counts.slow_seeks += r->disk.seeks - seeks;
}

/* Of the blocks of a part that the slow device is read for: a hit may be read with them. */
static u32 missed_blocks(const struct replay *r, const struct part *part)
{
	struct xp_mapping m;
	u32 hits = 0, i;

	for (i = 0; i < part->req.nr_blocks; i++)
		hits += xp_lookup(r->core, XP_LBA(part->req.sector / XP_BLOCK_SECTORS + i), &m);
	return part->req.nr_blocks - hits;
}

/* The blocks at its ends are misses, and may be asked for in part. */
static u32 missed_sectors(const struct replay *r, const struct part *part)
{
	return part->req.nr_sectors - (part->req.nr_blocks - missed_blocks(r, part)) * XP_BLOCK_SECTORS;
}

static void count(struct replay *r, struct part *part, enum xp_act act)
{
	bool slow = act == XP_SLOW || act == XP_SLOW_FILL || act == XP_MIXED;

	if (slow) {
		count_slow(r, part);
		use_slow(r, &r->counts.request_wakes);
	}
	if (part->req.op == XP_READ) {
		r->counts.read_blocks += part->req.nr_blocks;
		r->counts.missed_blocks += slow ? missed_blocks(r, part) : 0;
		r->counts.missed_sectors += slow ? missed_sectors(r, part) : 0;
		part->whole->missed |= slow;
	} else if (part->req.op == XP_WRITE) {
		r->counts.write_blocks += part->req.nr_blocks;
		r->counts.bypass_blocks += slow ? part->req.nr_blocks : 0;
	}
	if (act == XP_COPY || (act == XP_FAST && part->req.op != XP_READ))
		r->counts.fast_bytes += (u64)part->req.nr_blocks * XP_BLOCK_SIZE;
}

/* The last answer to a part of it has been given. */
static void whole_ended(struct replay *r, struct whole *whole)
{
	if (--whole->parts)
		return;
	r->nr_unanswered--;
	r->counts.reads += whole->is_read;
	r->counts.read_misses += whole->is_read && whole->missed;
	free(whole);
}

/* It waited, to be answered or to end. */
static void part_done(struct replay *r, struct part *part)
{
	if (part->whole)
		whole_ended(r, part->whole);
	free(part);
}

static void submit(struct replay *r, struct part *part)
{
	enum xp_act act = xp_submit(r->core, &part->req, &r->todo);
	struct whole *whole = part->whole;
	u64 hash[XP_COPY_MAX] = { 1 }, next;

	if (act == XP_WAIT)
		return;
	if (act == XP_CHECK)
		give_up("an answer that is not for this backend");
	count(r, part, act);
	next = part->req.sector + part->req.nr_sectors;
	if (next < part->end) {
		struct part *rest = part_new(whole, &part->req, next, part->end);

		/* Behind what waits already: as a backend, that submits the rest after the first part. */
		whole->parts++;
		xp_list_add(&r->todo.ready, &rest->req.link);
	}
	whole_ended(r, whole);
	part->whole = NULL;
	if (act == XP_COPY && part->req.copy.hashed)
		xp_copied(r->core, &part->req, hash, &r->todo);
	if (act == XP_DONE || act == XP_ZERO)
		free(part);
	else
		start(r, part);
}

static void end_fill(struct replay *r, struct part *part)
{
	r->counts.fast_bytes += (u64)part->fill.nr_blocks * XP_BLOCK_SIZE;
	xp_fill_end(r->core, &part->fill, 0, &r->todo);
	free(part);
}

/* The oldest of what is outstanding ends; a fill takes its place. */
static void end_one(struct replay *r)
{
	struct part *part = container_of(xp_list_pop(&r->outstanding), struct part, queued);

	r->nr_outstanding--;
	if (part->is_fill) {
		end_fill(r, part);
		return;
	}
	if (xp_end(r->core, &part->req, 0, &r->todo) != XP_DONE)
		return;		/* it comes back in the todo */
	part->fill = part->req.fill;
	part->is_fill = part->req.op == XP_READ && part->fill.nr_blocks;
	if (part->is_fill)
		start(r, part);
	else
		free(part);
}

/* As the daemon's: a short idle time needs a finer clock. */
static u64 tick_ns(const struct replay *r)
{
	u64 fourth = r->setup.idle_ms * 1000000ull / 4;

	return fourth ? min(max(fourth, SECOND / 100), SECOND) : SECOND;
}

static void tick(struct replay *r)
{
	xp_tick(r->core, &r->todo);
	if (r->clock.now) {
		r->todo.work |= xp_writeback_watch(r->core, r->clock.now);
		r->clock.tick = r->clock.now + tick_ns(r);
	}
	perform(r);
}

/* The next thing that is due: a tick, or the end of a rest. */
static u64 clock_next(const struct clock *c)
{
	return c->rest_over ? min(c->rest_over, c->tick) : c->tick;
}

/* Without a clock: a tick. */
static void clock_step(struct replay *r)
{
	struct clock *c = &r->clock;

	c->now = clock_next(c);
	if (c->now == c->tick) {
		tick(r);
		return;
	}
	c->rest_over = 0;
	r->todo.work = true;
	perform(r);
}

/* What waits for something other than an I/O gets it: room by writeback, or a tick. */
static void pass_time(struct replay *r)
{
	r->credit = CREDIT_MAX;
	r->todo.work = true;
	perform(r);
	clock_step(r);
}

static void end_outstanding(struct replay *r, u32 but)
{
	while (r->nr_outstanding > but) {
		end_one(r);
		perform(r);
	}
}

static void clock_begin(struct replay *r, u64 ns)
{
	r->clock = (struct clock){ .now = SECOND, .from = ns, .used = SECOND };
	r->before.ns = SECOND;
	tick(r);
}

void replay_until(struct replay *r, u64 ns)
{
	struct clock *c = &r->clock;
	u64 until;

	if (!c->now)
		clock_begin(r, ns);
	until = SECOND + max(ns, c->from) - c->from;
	end_outstanding(r, 0);
	while (clock_next(c) <= until)
		clock_step(r);
	c->now = max(c->now, until);
}

void replay_settle(struct replay *r)
{
	u32 tries;

	end_outstanding(r, 0);
	for (tries = 0; r->nr_unanswered; tries++) {
		if (tries == STUCK)
			give_up("a request waits for ever");
		pass_time(r);
		end_outstanding(r, 0);
	}
}

void replay_request(struct replay *r, enum xp_op op, u64 sector, u32 nr_sectors, bool fua)
{
	struct xp_req like = { .op = (u8)op, .fua = fua && op == XP_WRITE };
	struct whole *whole = calloc(1, sizeof(*whole));
	u32 depth = max(r->setup.depth, 1u);

	if (!whole)
		give_up("no memory");
	whole->parts = 1;
	r->nr_unanswered++;
	whole->is_read = op == XP_READ;
	r->counts.writes += op == XP_WRITE;
	if (r->setup.writeback != REPLAY_ALL)
		r->credit = min(r->credit + r->setup.writeback, (u64)CREDIT_MAX);
	xp_list_add(&r->todo.ready, &part_new(whole, &like, sector, sector + nr_sectors)->req.link);
	r->todo.work = true;
	perform(r);
	end_outstanding(r, depth - 1);
	if (r->nr_unanswered > depth)
		replay_settle(r);
	if (!r->clock.now && ++r->requests % REQUESTS_A_TICK == 0)
		tick(r);
}

/* --------------------------------------------------------------- its life ---- */

static void start_core(struct replay *r)
{
	const struct xp_options options = { .slow_discards = true, .slow_fua = true, .dirty_low = XP_DEFAULT_DIRTY_LOW,
					    .dirty_high = XP_DEFAULT_DIRTY_HIGH,
					    .stream_kib = XP_DEFAULT_STREAM_KIB, .idle_ms = r->setup.idle_ms,
					    .writeback_delay = r->setup.writeback_delay };
	u64 size = (xp_memory(&r->sb, false) + 4095) / 4096 * 4096;
	void *scratch = malloc(xp_recover_memory(&r->sb));
	struct xp_message msg;

	free(r->memory);
	r->memory = aligned_alloc(4096, size);
	if (!scratch || !r->memory)
		give_up("no memory");
	memset(r->memory, 0, size);
	r->core = xp_init(r->memory, &r->sb, &options);
	xp_todo_init(&r->todo);
	if (xp_recover(r->core, &r->media, scratch, true, &msg))
		give_up(msg.text);
	free(scratch);
}

/* The smallest fast device with that many slots. */
static void lay_out(struct replay *r)
{
	u64 blocks = max(xp_sb_least_blocks(), (u64)r->setup.slots), slots = 0;
	struct xp_message msg;

	for (; slots < r->setup.slots; blocks += r->setup.slots - min(slots, (u64)r->setup.slots)) {
		struct xp_sb sb = { 0 };

		memset(sb.uuid, 0xab, sizeof(sb.uuid));
		sb.slow.sectors = cpu_to_le64(r->setup.sectors);
		if (xp_sb_layout(&sb, blocks, &msg))
			give_up(msg.text);
		r->sb = sb;
		r->fast_blocks = blocks;
		slots = le64_to_cpu(sb.nr_slots);
	}
	if (r->setup.exact)
		r->sb.nr_slots = cpu_to_le64(r->setup.slots);
}

struct replay *replay_start(const struct replay_setup *setup)
{
	struct replay *r = calloc(1, sizeof(*r));
	u8 block[XP_BLOCK_SIZE];

	if (!r)
		give_up("no memory");
	r->setup = *setup;
	if (!r->setup.sectors)
		r->setup.sectors = SECTORS_DEFAULT;
	r->disk.sectors = r->setup.sectors;
	xp_list_init(&r->outstanding);
	lay_out(r);
	r->fast = mmap(NULL, r->fast_blocks * XP_BLOCK_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->fast == MAP_FAILED)
		give_up("no memory");
	r->media = (struct xp_media){ .ctx = r, .read = media_read, .write = media_write };
	if (xp_format(&r->media, &r->sb, block))
		give_up("the fast device could not be formatted");
	start_core(r);
	return r;
}

void replay_restart(struct replay *r)
{
	struct xp_message msg;

	replay_settle(r);
	if (xp_close(r->core, &r->media) || xp_sb_read(&r->media, r->fast_blocks, &r->sb, &msg))
		give_up("the cache does not stop");
	start_core(r);
	replay_reset(r);
}

void replay_free(struct replay *r)
{
	replay_settle(r);
	munmap(r->fast, r->fast_blocks * XP_BLOCK_SIZE);
	free(r->memory);
	free(r);
}

struct replay_counts replay_counts(struct replay *r)
{
	struct replay_counts counts;
	struct xp_stats stats;

	replay_settle(r);
	xp_get_stats(r->core, &stats);
	counts = r->counts;
	counts.fills = stats.fills - r->before.fills;
	counts.evicted = stats.evicted - r->before.evicted;
	counts.flushes_slow = stats.flushes_slow - r->before.flushes_slow;
	counts.standby_ns += standby(r) - r->before.standby_ns;
	counts.ns = r->clock.now - r->before.ns;
	return counts;
}

void replay_reset(struct replay *r)
{
	struct xp_stats stats;

	replay_settle(r);
	xp_get_stats(r->core, &stats);
	r->counts = (struct replay_counts){ 0 };
	r->before.fills = stats.fills;
	r->before.evicted = stats.evicted;
	r->before.flushes_slow = stats.flushes_slow;
	r->before.ns = r->clock.now;
	r->before.standby_ns = standby(r);
}

u32 replay_slots(const struct replay *r)
{
	return (u32)le64_to_cpu(r->sb.nr_slots);
}

u64 replay_dirty(struct replay *r)
{
	struct xp_stats stats;

	replay_settle(r);
	xp_get_stats(r->core, &stats);
	return stats.dirty;
}

double replay_memory(const struct replay *r)
{
	return (double)xp_memory(&r->sb, false) / replay_slots(r);
}

u64 replay_raw_ns(const struct replay *r, u64 sector, u32 nr_sectors)
{
	struct disk disk = { .sectors = r->disk.sectors, .at = r->disk.at };

	return disk_ns(&disk, sector, nr_sectors);
}
