// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - one run: a tiny cache, drawn from the seed, and some hundred steps. In
 * each step one thing happens: a request, the end of some I/O, a bit of writeback,
 * an error that begins or ends, a stop, a kill, a power cut. After each, crash_check().
 */
#include "cache.h"
#include "checksum.h"
#include "layout.h"
#include "request.h"
#include "run.h"
#include "image.h"
#include "superblock.h"
#include "../rank_audit.h"
#include "../record_audit.h"
#include "../region_audit.h"

/* ------------------------------------------------------------- geometry ---- */

#define FAST_HEAD 32u		/* blocks before the ring: superblocks and the rest */

/* Many images of few events, or many events. */
static u32 check_one_in(u64 seed)
{
	static const u32 one_in[] = { 1, 4, 16, 64 };

	return one_in[mix(seed ^ 0xc4ec) % 4];
}

/* Some runs are about one thing: what is rare elsewhere happens all the time. */

static void short_lives(struct geometry *g, u64 *rng)
{
	g->cut_one_in = 5 + below(rng, 40);
}

/* Many FUA writes at once, and short lives or not. */
static void fua_at_once(struct geometry *g, u64 *rng)
{
	g->fua = 100;
	g->users = 8 + below(rng, 40);
	g->ops[XP_READ] = 5;
	g->ops[XP_WRITE] = 85;
	g->ops[XP_FLUSH] = 4;
	g->cut_one_in = 20 + below(rng, chance(rng, 2) ? 40 : 400);
	g->fault_one_in = chance(rng, 2) ? 10 + below(rng, 40) : 0;
}

/* Writes go around the cache. */
static void all_dirty(struct geometry *g, u64 *rng)
{
	g->dirty_low = 99;
	g->dirty_high = 100;
	g->writeback = below(rng, 3);
	g->hot = 63;
}

/* One FUA write after another. */
static void a_log(struct geometry *g, u64 *rng)
{
	g->fua = 100;
	g->users = 2 + below(rng, 4);
	g->ops[XP_READ] = g->ops[XP_DISCARD] = g->ops[XP_ZEROES] = 2;
	g->ops[XP_FLUSH] = 1;
	g->ops[XP_WRITE] = 93;
	g->sequential = true;
	g->hot = 24 + below(rng, 6);
	g->slow_sectors = 64 * XP_BLOCK_SECTORS;
	g->slots = 40;
	g->completing = 1;
}

/* So regular that a FLUSH is expected. */
static void synced_in_turn(struct geometry *g, u64 *rng)
{
	g->sync_each = 2 + below(rng, 3);
	g->users = 1 + below(rng, 3);
	g->ops[XP_READ] = g->ops[XP_DISCARD] = g->ops[XP_FLUSH] = 0;
	g->ops[XP_ZEROES] = below(rng, 3);
	g->ops[XP_WRITE] = 100 - g->ops[XP_ZEROES];
	g->fua = 0;
	g->preflush = 0;
	g->cut_one_in = 20 + below(rng, 200);
}

static void always_being_written_back(struct geometry *g, u64 *rng)
{
	g->dirty_low = 0;
	g->writeback = 15 + below(rng, 20);
	g->slots = 8;
}

/* Smaller than any that is legal: it fills. */
static void short_ring(struct geometry *g, u64 *rng)
{
	g->slots = 8;
	g->short_ring = true;
	g->fua = 0;
	g->users = 16 + below(rng, 16);
	g->stragglers = 4 + below(rng, 12);
	g->ops[XP_FLUSH] = 30;
	g->ops[XP_READ] = 10;
	g->ops[XP_WRITE] = 58;
	g->ops[XP_DISCARD] = g->ops[XP_ZEROES] = 1;
}

/* While some write beside its record takes its time. */
static void slots_used_again(struct geometry *g, u64 *rng)
{
	g->fua = 20 + below(rng, chance(rng, 3) ? 80 : 30);
	g->users = 2 + below(rng, chance(rng, 3) ? 12 : 4);
	g->ops[XP_READ] = g->ops[XP_ZEROES] = 5;
	g->ops[XP_DISCARD] = 0;
	g->ops[XP_FLUSH] = below(rng, 6);
	g->ops[XP_WRITE] = 90 - g->ops[XP_FLUSH];
	g->slots = 8;
	g->ticks = 1;
	g->slow_sectors = (6 + below(rng, 2)) * XP_BLOCK_SECTORS;
	g->dirty_low = 0;
	g->writeback = 20 + below(rng, 30);
	g->stragglers = 2 + below(rng, 6);
	g->fault_one_in = chance(rng, 3) ? 10 + below(rng, 40) : 0;
}

/* More than a word of the free map has bits. */
static void many_slots(struct geometry *g, u64 *rng)
{
	g->slots = 64 + below(rng, 8);
	g->slow_sectors = 100 * XP_BLOCK_SECTORS;
	g->hot = 90;
}

/* They go around the cache, and hold up fills; evictions. */
static void zeroes_around(struct geometry *g, u64 *rng)
{
	g->ops[XP_READ] = 45;
	g->ops[XP_WRITE] = 20;
	g->ops[XP_FLUSH] = 2;
	g->ops[XP_DISCARD] = 8;
	g->ops[XP_ZEROES] = 25;
	g->fua = chance(rng, 2) ? 0 : 50;	/* journal blocks that no flush of theirs waits for */
	g->preflush = 0;
	g->ticks = 5 + below(rng, 20);
	g->writeback = 2 + below(rng, 6);
	g->cut_one_in = 20 + below(rng, 60);
	g->slots = 8;
	g->hot = 16;
}

/* The flush that fills wait for may be another's, before a batch for it begins. */
static void nothing_dirty(struct geometry *g, u64 *rng)
{
	zeroes_around(g, rng);
	g->ops[XP_READ] = 60;
	g->ops[XP_WRITE] = 0;
	g->ops[XP_FLUSH] = 20;
	g->ops[XP_DISCARD] = 10;
	g->ops[XP_ZEROES] = 10;
	g->writeback = 1;
	g->slow_sectors = 64 * XP_BLOCK_SECTORS;
	g->hot = 48;
	if (chance(rng, 2))
		return;
	/* Ranges stay, and their table is full. */
	g->ops[XP_FLUSH] = 1;
	g->ops[XP_DISCARD] = 15;
	g->ops[XP_ZEROES] = 24;
}

/* The fast device is gone, again and again, and mostly nothing is dirty. */
static void fast_goes(struct geometry *g, u64 *rng)
{
	g->fast_goes = g->has_place = true;
	g->fault_one_in = 5 + below(rng, 40);
	g->cut_one_in = 30 + below(rng, 150);
	g->dirty_low = 0;
	g->writeback = 15 + below(rng, 25);
	g->users = 1 + below(rng, 4);
	g->ops[XP_READ] = 20 + below(rng, 50);
	g->ops[XP_WRITE] = 75 - g->ops[XP_READ];
	g->ops[XP_DISCARD] = below(rng, 3);
	g->ops[XP_ZEROES] = below(rng, 3);
	g->ops[XP_FLUSH] = 20;
	g->fua = chance(rng, 2) ? 0 : below(rng, 70);
	g->ticks = 5 + below(rng, 20);
	g->hot = 6 + below(rng, 8);
}

static void specialise(u64 *rng)
{
	static void (* const about[])(struct geometry *, u64 *) = {
		short_lives,
		fua_at_once,
		all_dirty,
		a_log,
		synced_in_turn,
		always_being_written_back,
		short_ring,
		slots_used_again,
		slots_used_again,
		many_slots,
		zeroes_around,
		zeroes_around,
		nothing_dirty,
		slots_used_again,
		fast_goes,
		fast_goes,
		NULL,			/* nothing in particular */
	};
	u32 n = below(rng, sizeof(about) / sizeof(*about));

	if (about[n])
		about[n](&sim.geometry, rng);
}

enum fast fast_is;

/* Not drawn in turn with the rest: a seed is otherwise the same run on either. */
static bool is_memory(u64 seed)
{
	return fast_is == FAST_DRAWN ? mix(seed ^ 0x93e3) % 3 == 0 : fast_is == FAST_MEMORY;
}

/* Nor is this: the other runs are what they are without. No mark then, and the fast device is not gone:
 * whether a loss is accepted, or what a marked cache has is given up, would be two questions at once. */
static void draw_bad(struct geometry *g)
{
	u64 dice = mix(sim.seed ^ 0xbadb);

	g->bad = dice % 4 == 0;
	if (!g->bad)
		return;
	g->bad_stays = dice / 4 % 3 == 0;
	g->bad_returns = dice / 16 % 2;
	g->bad_one_in = 8 + (u32)(dice / 64 % 120);
	g->has_place = g->fast_goes = false;
}

/* Likewise. */
static void draw_sizes(struct geometry *g)
{
	u64 dice = mix(sim.seed ^ 0x517e5), less = 1 + dice / 16 % (3 * XP_BLOCK_SECTORS);

	g->first_sectors = g->slow_sectors;
	g->resizes = dice % 4 == 0 && !g->bad && g->slow_sectors > 6 * XP_BLOCK_SECTORS;
	if (!g->resizes)
		return;
	g->first_sectors -= less;
	g->older = dice / 4 % 2;
}

/* Likewise. Written streams go around the cache: nearly any two writes are one, and few blocks are many dirty ones. */
static void draw_streams(struct geometry *g)
{
	u64 dice = mix(sim.seed ^ 0x57e4a);

	if (dice % 6)
		return;
	g->stream_kib = 4;
	g->dirty_low = 0;
	g->dirty_high = 20 + (u32)(dice / 8 % 80);
	g->writeback = (u32)(dice / 1024 % 8);
	g->hot = 63;
}

/* Likewise: what the devices are, and which requests there are more of. */
static void draw_kinds(struct geometry *g)
{
	g->slow_fua = mix(sim.seed ^ 0xf0a) % 2;
	g->pad = mix(sim.seed ^ 0x961d) % 3 ? 0 : 1 + mix(sim.seed ^ 0x961e) % (XP_BLOCK_SECTORS - 1);
	g->parts = mix(sim.seed ^ 0x9a75) % 3;
	g->runs = mix(sim.seed ^ 0x9a76) % 4;
	g->small = mix(sim.seed ^ 0x5ec70) % 3 == 0;
	g->whole = !g->memory && mix(sim.seed ^ 0x4096) % 4 == 0;
	g->refuses = mix(sim.seed ^ 0xbadd) % 3 ? 0 : 1 + mix(sim.seed ^ 0xbadc) % 3;
	g->verifies = mix(sim.seed ^ 0x5e51f) % 3 == 0;
	g->modes = mix(sim.seed ^ 0x30de5) % 3 == 0;
	g->forgets = mix(sim.seed ^ 0xf0f9e7) % 4 == 0;
	if (g->forgets && mix(sim.seed ^ 0xf0f9e8) % 2) {	/* of writes around the cache, beside FLUSHes */
		g->modes = true;
		g->fault_one_in = 40;
		g->ops[XP_READ] = 5;
		g->ops[XP_DISCARD] = 0;
		g->ops[XP_FLUSH] = 30;
		g->ops[XP_ZEROES] = 10;
		g->ops[XP_WRITE] = 55;
	}
}

static void draw_geometry(u64 *rng)
{
	static const u32 depth[] = { 0, 0, 0, 0, 0, 0, 0, 1, 1, 2 };
	static const u32 dirty_low[] = { 0, 10, 20, 50, 90, 99 };
	struct geometry *g = &sim.geometry;
	u32 reads;

	memset(g, 0, sizeof(*g));
	g->slots = 8 + below(rng, chance(rng, 3) ? 24 : 8);
	g->ring = below(rng, 33);
	g->slow_sectors = (8 + below(rng, chance(rng, 3) ? 56 : 16)) * XP_BLOCK_SECTORS;
	if (chance(rng, 2))
		g->slow_sectors -= below(rng, XP_BLOCK_SECTORS);
	g->fast_volatile = chance(rng, 2);
	g->slow_discards = chance(rng, 2);
	g->dirty_low = dirty_low[below(rng, 6)];
	g->dirty_high = g->dirty_low + 1 + below(rng, 100 - g->dirty_low);
	g->stream_kib = chance(rng, 2) ? 0 : 4 * (1 + below(rng, 8));
	g->seeks_cost = !chance(rng, 3);
	g->idle_ms = g->seeks_cost ? 500 : 0;
	g->writeback = below(rng, 12);
	g->users = 1 + below(rng, chance(rng, 3) ? 20 : 6);
	g->hot = 1 + below(rng, 16);
	reads = 10 + below(rng, 40);
	g->ops[XP_READ] = reads;
	g->ops[XP_FLUSH] = 2 + below(rng, 25);
	g->ops[XP_DISCARD] = below(rng, 8);
	g->ops[XP_ZEROES] = below(rng, 8);
	g->ops[XP_WRITE] = 100 - reads - g->ops[XP_FLUSH] - g->ops[XP_DISCARD] -
			   g->ops[XP_ZEROES];
	g->fua = chance(rng, 3) ? 0 : below(rng, 70);
	g->preflush = chance(rng, 2) ? 0 : below(rng, 20);
	g->cut_one_in = 40 + below(rng, 400);
	g->fault_one_in = chance(rng, 2) ? 10 + below(rng, 150) : 0;
	g->ticks = chance(rng, 3) ? 1 + below(rng, 30) : 1;
	g->check_one_in = check_one_in(sim.seed);
	g->completing = below(rng, 3);
	g->depth = depth[below(rng, 10)];
	g->has_place = !chance(rng, 4);
	specialise(rng);
	draw_bad(g);
	draw_sizes(g);
	draw_streams(g);
	g->memory = is_memory(sim.seed);
	g->at_once = g->memory && mix(sim.seed ^ 0x5a1d) % 4;
	g->grows = g->at_once && mix(sim.seed ^ 0x6707) % 4;
	g->fast_volatile &= !g->memory;
	draw_kinds(g);
	if (g->verifies && mix(sim.seed ^ 0x2073e) % 2 && !g->bad)
		g->rot_one_in = 10 + (u32)(mix(sim.seed ^ 0x2073f) % 200);
	/* A quarter holds a full map and three windows, as xp_sb_verify() has it. */
	if (g->short_ring)
		g->ring = max(XP_WINDOW - 2, 2 * ((g->slots * 4 + XP_PUT_MAX - 1) / XP_PUT_MAX)) +
			  below(rng, 3);
	else
		g->ring += max(4 * 3 * XP_WINDOW, (g->slots * 4 + XP_PUT_MAX - 1) / XP_PUT_MAX);
}

static void make_superblock(void)
{
	const struct geometry *g = &sim.geometry;
	struct xp_sb *sb = &sim.sb;

	memset(sb, 0, sizeof(*sb));
	memcpy(sb->magic, XP_SB_MAGIC, sizeof(sb->magic));
	memset(sb->uuid, 0x5a, sizeof(sb->uuid));
	sb->version = cpu_to_le32(XP_SB_VERSION);
	sb->incompat = cpu_to_le64(XP_INCOMPAT_KNOWN & ~(XP_INCOMPAT_MODE | XP_INCOMPAT_UNREAD | (g->parts ? 0 : XP_INCOMPAT_PARTS) |
							 (g->runs ? 0 : XP_INCOMPAT_RUNS)));
	xp_sb_set_grid(sb, (XP_BLOCK_SECTORS - g->pad) % XP_BLOCK_SECTORS);
	sb->fast_blocks = cpu_to_le64(FAST_HEAD + g->ring + g->slots);
	sb->journal_start = cpu_to_le64(FAST_HEAD);
	sb->journal_blocks = cpu_to_le64(g->ring);
	sb->data_start = cpu_to_le64(FAST_HEAD + g->ring);
	sb->nr_slots = cpu_to_le64(g->slots);
	sb->slow.sectors = cpu_to_le64(g->first_sectors - g->pad);
}

/* Another cache was there: its ring is not erased, only known by its UUID. */
static void make_leftovers(void)
{
	u64 start = le64_to_cpu(sim.sb.journal_start), i;
	struct xp_jblock b;

	for (i = 0; i < sim.geometry.ring; i++) {
		memset(&b, 0, sizeof(b));
		b.head.magic = cpu_to_le32(xp_sb_journal_magic(&sim.sb));
		b.head.incarnation = cpu_to_le64(9);
		b.head.seq = cpu_to_le64(sim.geometry.ring + i);
		b.head.tail_seq = b.head.durable_seq = b.head.seq;
		b.head.count = cpu_to_le16(1);
		b.rec[0].lba = cpu_to_le64((u64)XP_REC_MAP << 40 | (u64)XP_REC_DIRTY << 48);
		b.head.checksum = cpu_to_le64(xp_checksum(&b, sizeof(b.head) + sizeof(b.rec[0])));
		live_media.write(NULL, start + i, 1, &b);
	}
}

static void format(u64 *rng)
{
	u8 block[XP_BLOCK_SIZE];

	if (chance(rng, 8)) {
		sim.fault = (struct fault){ .on = true, .ops = 1 << OP_WRITE, .left = 1,
					    .after = below(rng, 3) };
		if (!xp_format(&live_media, &sim.sb, block))
			violation(P_ERRORS, "format ended well, and its device had failed it");
	}
	if (xp_format(&live_media, &sim.sb, block))
		violation(P_ERRORS, "format failed, and no device did");
}

/* The slow disk is full of what was there before any cache. */
static void make_disks(u64 *rng)
{
	u8 bytes[SECTOR];
	u64 s;

	disk_init(&sim.fast, "fast", le64_to_cpu(sim.sb.fast_blocks) * XP_BLOCK_SECTORS, 0,
		  sim.geometry.fast_volatile);
	sim.fast.memory = sim.geometry.memory;
	sim.fast.whole = sim.geometry.whole;
	disk_init(&sim.slow, "slow", sim.geometry.slow_sectors, 2 * XP_BLOCK_SECTORS, true);
	for (s = 0; s < sim.slow.sectors; s++) {
		payload_fill(bytes, s, ++sim.next_id);
		sim.slow.floor[s] = sim.slow.seen[s] = content_new(&sim.arena, bytes);
	}
	if (chance(rng, 2))
		make_leftovers();
	format(rng);
}

/* ---------------------------------------------------------------- steps ---- */

static bool core_failed(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.failed;
}

static bool core_passes(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.passthrough;
}

static bool writeback_fails(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.writeback_failing_since;
}

/* A journal block was refused, and those from it on are given other places: a moment that is short, and rare. */
static bool core_reroutes(void)
{
	return sim.c->journal.rerouting;
}

static bool ring_tight(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.journal_used + XP_WINDOW + 1 > s.journal_blocks / 4 * 3;	/* journal_tight() */
}

static void power_cut(u64 *rng)
{
	trace("--- power cut");
	life_cut(rng);
}

static void kill_it(u64 *rng)
{
	trace("--- killed");
	life_kill(rng);
}

/* 10: with no error any more, everything ends, and dirty goes to zero. A cache
 * whose journal failed needs a new life for the latter. */
static bool is_clean(void)
{
	u64 stuck[SECTORS_MAX / 8];
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return xp_is_clean(sim.c) || (s.dirty && s.dirty == bad_stuck(stuck, SECTORS_MAX / 8));
}

static bool settle_down(u64 *rng, bool clean)
{
	u32 i;

	sim.fault.on = false;
	for (i = 0; !backend_idle() || (clean && !core_failed() && !is_clean()); i++) {
		if (i > 20000)
			violation(P_LIVES, "%u requests and %u events do not come to an end",
				  backend_users(), backend_ios());
		if (i > 20001)
			run_abandon();
		if (backend_ios() && below(rng, 4))
			backend_complete(rng);
		else
			backend_writeback(rng);
		if (clean && i % 64 == 0)	/* whatever somebody else has asked for meanwhile */
			xp_write_back_all(sim.c, true);
		if (i % 64 == 63)
			backend_tick(rng);
	}
	xp_write_back_all(sim.c, false);
	return !core_failed();
}

/* A FLUSH that failed is held against what may be ordered behind it for two ticks;
 * the core asks for them. From then on no error has a cause. */
static void healed(u64 *rng)
{
	u32 i;

	for (i = 0; i < 4 && backend_tick(rng); i++)
		while (backend_ios())
			backend_complete(rng);
	if (i == 4)
		violation(P_LIVES, "the clock of an idle cache does not come to rest");
	xp_writeback_wanted(sim.c);	/* what could not be brought home may be gone: it has no cause either */
	sim.faulted = false;
}

/* 13: what is stuck in unreadable slots comes home when it is written anew; maybe not at once, where
 * the next slot is no better. */
static bool bring_home(u64 *rng)
{
	u64 stuck[SECTORS_MAX / 8];
	u32 n, i, tries;

	for (tries = 0; tries < 8; tries++) {
		if (!settle_down(rng, true))
			return false;
		n = bad_stuck(stuck, SECTORS_MAX / 8);
		if (!n)
			return true;
		for (i = 0; i < n; i++) {
			u64 s = stuck[i] * XP_BLOCK_SECTORS;

			trace("--- written anew, as it cannot be read");
			figures.rewritten++;
			backend_write(rng, s, (u32)min((u64)XP_BLOCK_SECTORS, sim.slow.sectors - s));
		}
	}
	return settle_down(rng, true) && xp_is_clean(sim.c);
}

static void drain(u64 *rng)
{
	trace("--- drain");
	rot_heal();
	if (bring_home(rng)) {
		rot_forget();
		oracle_check_slow(sim.now);
		if (writeback_fails())
			violation(P_ERRORS, "all is home, and blocks are said to fail to go there");
		healed(rng);
		if (chance(rng, 2))
			fall_asleep(rng);
	} else {
		power_cut(rng);
	}
}

/* A stop and a start: nothing acknowledged is only in memory after the close. */
static void restart(u64 *rng)
{
	struct fault fault = sim.fault;
	int err;

	trace("--- stop and start");
	if (!settle_down(rng, false)) {
		if (recover_close(rng)) {
			power_cut(rng);
			return;
		}
		if (!core_passes())
			violation(P_ERRORS, "closed well, with a journal that failed");
		life_start();
		return;
	}
	sim.fault = fault;
	sim.faulted = false;
	if (sim.geometry.fault_one_in && chance(rng, 4))
		sim.fault = (struct fault){ .on = true, .ops = 1 << OP_WRITE,
					    .left = chance(rng, 2) ? 1 : UINT32_MAX };
	err = recover_close(rng);
	if (err && !sim.faulted)
		violation(P_ERRORS, "close ended with %d, and no device had an error", err);
	if (!err && core_failed())
		violation(P_ERRORS, "closed well, with a journal that failed");
	if (err) {
		figures.failed_closes++;
		power_cut(rng);
		return;
	}
	if (mix(sim.seed ^ sim.step) % 4)
		bad_note_rest();
	if (sim.geometry.bad)
		crash_check(rng);
	size_at_rest(rng);
	life_start();
}

/* A write in place has put its sectors in the slot, and its record waits for room in the journal. */
static bool record_waits(void)
{
	struct xp_link *link = sim.c->parked.head;

	while (link && req_of(link)->state != REQ_OVERWRITE_PARKED)
		link = link->next;
	return link;
}

static void happen(u64 *rng)
{
	const struct geometry *g = &sim.geometry;
	u32 dice;

	if (chance(rng, g->cut_one_in)) {
		dice = below(rng, 6);
		if (dice == 0)
			drain(rng);
		else if (dice == 1)
			restart(rng);
		else if (g->memory && dice < 4)
			kill_it(rng);
		else
			power_cut(rng);
		return;
	}
	if (g->fault_one_in && record_waits() && chance(rng, 8)) {
		fault_fast_goes();
		return;
	}
	if (g->fault_one_in && chance(rng, g->fault_one_in)) {
		fault_turn(rng);
		return;
	}
	if (g->rot_one_in && chance(rng, g->rot_one_in)) {
		rot_turn(rng);
		return;
	}
	if (g->resizes && chance(rng, 60)) {
		size_turn(rng);
		return;
	}
	if (below(rng, 100) < (core_failed() && !core_passes() ? 50 : g->ticks)) {
		backend_tick(rng);
		return;
	}
	figures.tight += ring_tight();
	dice = below(rng, 100);
	if (dice < 45 && backend_users() < g->users)
		backend_new_request(rng);
	else if (dice >= 45 && dice < 45 + g->writeback)
		backend_writeback(rng);
	else
		backend_complete(rng);
}

static u64 flushes_completed(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.flushes_completed;
}

/* Between two steps nobody is in the core. */
static void check_counts(void)
{
	const char *wrong = rank_audit(sim.c);

	if (!wrong)
		wrong = record_audit(sim.c);
	if (!wrong)
		wrong = region_audit(sim.c);
	if (wrong)
		violation(P_HOST, "%s", wrong);
}

/* I6: who has asked for a flush is told that all is home: it is, as far as it was acknowledged before. */
static void step(u64 *rng)
{
	u64 before = flushes_completed(), begun = sim.now, own = mix(*rng ^ 0xbad7);

	if (sim.geometry.bad && chance(&own, sim.geometry.bad_one_in))
		bad_turn(&own);
	happen(rng);
	check_counts();
	size_step();
	if (flushes_completed() <= before)	/* less: it is another life */
		return;
	trace("--- all of it is home");
	figures.flushes_completed++;
	oracle_check_slow(begun);
}

/* ------------------------------------------------------------------ runs ---- */

u32 run_steps(u64 seed)
{
	u64 dice = mix(seed ^ 0x57e9);

	if (dice % 3 == 0)
		return 20 + (u32)(dice / 4 % 200);
	return 100 + (u32)(dice / 4 % (check_one_in(seed) > 4 ? 6000 : 1000));
}

static void begin(u64 seed, bool tracing)
{
	u64 rng = mix(seed);

	arena_free(&sim.arena);
	arena_free(&sim.state);
	memset(&sim, 0, sizeof(sim));
	memset(&verdict, 0, sizeof(verdict));
	sim.seed = seed;
	sim.tracing = tracing;
	sim.now = 2;
	sim.next_stamp = 16;
	recover_under_fire(NULL);	/* the run before may have been left in one */
	draw_geometry(&rng);
	make_superblock();
	store_new_run();
	make_disks(&rng);
	fault_new_run();
	crash_new_run();
	rot_new_run();
	oracle_new_run();
	size_new_run();
	life_start();
	figures.runs++;
	figures.memory_runs += sim.geometry.memory;
	figures.bad_runs += sim.geometry.bad;
	figures.verifying += sim.geometry.verifies;
	figures.whole_runs += sim.geometry.whole;
	figures.resizing += sim.geometry.resizes;
}

static void all_steps(const u32 *steps, u32 nr)
{
	u64 last;
	u32 i;

	for (i = 0; i < nr; i++) {
		u64 rng;

		sim.step = steps ? steps[i] : i;
		rng = mix(sim.seed * 0x9e3779b97f4a7c15ull + sim.step + 1);
		store_in_step(step, &rng, life_kill);
		figures.steps++;
		if (chance(&rng, sim.geometry.check_one_in) || core_reroutes())
			crash_check(&rng);
	}
	sim.step = UINT32_MAX;
	last = mix(sim.seed ^ 0xe0d);
	drain(&last);
}

struct result run(u64 seed, const u32 *steps, u32 nr_steps, bool tracing)
{
	if (!setjmp(verdict_leave)) {
		begin(seed, tracing);
		all_steps(steps, steps ? nr_steps : run_steps(seed));
	}
	return verdict;
}
