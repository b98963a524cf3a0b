// SPDX-License-Identifier: GPL-2.0-only
/*
 * recover.c - the core's recovery: of the fast device itself, or of an image,
 * where the power may go again and a read may fail.
 */
#include "accounting.h"
#include "cache.h"
#include "image.h"
#include "life.h"
#include "look.h"
#include "mark.h"
#include "message.h"
#include "options.h"
#include "rest.h"
#include "../no_witness.h"

/* ---------------------------------------------------------------- media ---- */

static struct {
	u64 *rng;		/* NULL: nothing befalls it */
	u32 writes_left;	/* until it is killed */
	u64 *closing;		/* NULL: no stop is under way */
} fire;

void recover_under_fire(u64 *rng)
{
	fire.rng = rng;
	fire.writes_left = rng ? below(rng, 6) : 0;
}

static void may_be_cut(void)
{
	if (fire.rng && chance(fire.rng, 2))
		crash_check(fire.rng);
}

/* A stop: the hint is its last, and the only writes that nothing depends on. */
static void note_hint(u64 block)
{
	u64 data = le64_to_cpu(sim.sb.data_start);

	if (block == XP_HINT_BLOCK) {
		sim.hint_incarnation = sim.c->journal.incarnation;
		sim.hint_life = figures.lives;
	}
	if (!fire.closing || (block != XP_HINT_BLOCK && block < data))
		return;
	figures.hint_writes++;
	if (chance(fire.closing, 4))
		crash_check(fire.closing);
}

int recover_close(u64 *rng)
{
	u64 own = mix(*rng ^ 0x41e7);
	bool faults = sim.fault.on;
	int err;

	fire.closing = &own;
	err = xp_close(sim.c, &live_media);
	fire.closing = NULL;
	/* Whoever stops it is told. */
	sim.told_at_stop = err == -EIO && !(faults && sim.faulted) && oracle_doubts() && (!sim.c->failed || sim.c->pass == PASS_ON);
	return sim.told_at_stop ? 0 : err;
}

/* The fast device itself. Its errors are those of sim.fault. */
static int live_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	if (fault_hits(0, OP_READ, true)) {
		sim.slot_failed |= block >= le64_to_cpu(sim.sb.data_start);
		return -EIO;
	}
	if (disk_unreadable(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS))
		return -EIO;
	if (sim.fast.memory)
		disk_write_back_all(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS);
	disk_read(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf);
	return 0;
}

static int live_store(u64 block, u32 nr, const void *buf)
{
	struct write *w = disk_submit(&sim.fast, block * XP_BLOCK_SECTORS,
				      nr * XP_BLOCK_SECTORS, buf, false);
	bool killed = fire.rng && !fire.writes_left--, all;

	note_hint(block);
	w->thread = ++sim.next_thread;
	do {
		all = disk_store(&sim.fast, w, fire.rng);
		may_be_cut();
	} while (!all && !killed);
	if (!killed) {
		disk_write_back(w);
		disk_fence(&sim.fast, w->thread);
	}
	disk_complete(&sim.fast, w);
	return killed ? -ENODEV : 0;
}

static int put_live(u64 block, u32 nr, const void *buf, bool durably)
{
	struct write *w;

	if (fault_hits(0, OP_WRITE, true) || fault_bad_place(block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS))
		return -EIO;
	sim.now++;
	if (sim.fast.memory)
		return live_store(block, nr, buf);
	if (durably)
		disk_flush(&sim.fast, sim.now);
	w = disk_submit(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf, durably);
	note_hint(block);
	disk_complete(&sim.fast, w);
	return 0;
}

static int live_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	return put_live(block, nr, buf, true);
}

static int live_write_plain(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	return put_live(block, nr, buf, false);
}

/* Blocking, and durable. */
static int live_write_slow(void *ctx, u64 sector, u32 nr, const void *buf)
{
	(void)ctx;
	if (fault_hits(1, OP_WRITE, false))
		return -EIO;
	sim.now++;
	disk_complete(&sim.slow, disk_submit(&sim.slow, sector + sim.geometry.pad, nr, buf, true));
	figures.short_homes++;
	return 0;
}

const struct xp_media live_media = { .read = live_read, .write = live_write, .write_plain = live_write_plain,
				     .write_slow = live_write_slow };

/* Of the slow one only the block that may hold the mark is asked for. */
static int live_slow_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	disk_read(&sim.slow, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf);
	return 0;
}

static int live_slow_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	sim.now++;
	disk_complete(&sim.slow, disk_submit(&sim.slow, block * XP_BLOCK_SECTORS,
					     nr * XP_BLOCK_SECTORS, buf, true));
	return 0;
}

const struct xp_media live_slow = { .read = live_slow_read, .write = live_slow_write };

static int medium_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct medium *m = ctx;
	u64 s = block * XP_BLOCK_SECTORS;
	u32 i;

	m->reads++;
	if (!m->reads_left-- || (!m->truth && unreadable(image.fast, true, s, nr * XP_BLOCK_SECTORS)))
		return -EIO;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		sector_copy((u8 *)buf + i * SECTOR, image.fast[s + i]->bytes);
	return 0;
}

static int medium_slow_read(void *ctx, u64 block, u32 nr, void *buf)
{
	u64 s = block * XP_BLOCK_SECTORS;
	u32 i;

	(void)ctx;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		sector_copy((u8 *)buf + i * SECTOR, image.slow[s + i]->bytes);
	return 0;
}

static void put_sector(struct medium *m, bool slow, u64 s, const u8 *bytes, bool torn)
{
	const struct content *k = content_new(m->arena, bytes);

	if (torn && !slow && sim.fast.memory && chance(m->rng, 2))
		k = content_mix(m->arena, image.fast[s], k, draw(m->rng));
	if ((slow ? image.slow : image.fast)[s]->stays)
		k = content_unreadable(m->arena, k, true);
	image_put(slow, s, k);
}

static int put_sectors(struct medium *m, bool slow, u64 s, u32 nr, const void *buf)
{
	bool torn = !m->writes_left--;
	u32 i;

	m->writes++;
	for (i = 0; i < nr; i++)
		if (!torn || chance(m->rng, 2))
			put_sector(m, slow, s + i, (const u8 *)buf + i * SECTOR, torn);
	return torn ? -ENODEV : 0;
}

static int put(struct medium *m, bool slow, u64 block, u32 nr, const void *buf)
{
	return put_sectors(m, slow, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf);
}

static int medium_write_slow(void *ctx, u64 sector, u32 nr, const void *buf)
{
	figures.short_homes++;
	return put_sectors(ctx, true, sector + sim.geometry.pad, nr, buf);
}

static int medium_slow_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	return put(ctx, true, block, nr, buf);
}

static int medium_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	if (fault_bad_place(block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS))
		return -EIO;
	return put(ctx, false, block, nr, buf);
}

static struct xp_media medium_fast(struct medium *m)
{
	return (struct xp_media){ .ctx = m, .read = medium_read, .write = medium_write, .slow_ctx = m,
				  .write_slow = medium_write_slow };
}

/* ------------------------------------------------------------ recovering ---- */

struct xp *state_core;
void *state_memory;
static void *state_scratch;

void recover_new_run(void)
{
	size_t memory = (xp_memory(&sim.sb, true) + 4095) / 4096 * 4096;
	uintptr_t at = (uintptr_t)arena_alloc(&sim.arena, 2 * memory + 4096);

	at = (at + 4095) / 4096 * 4096;
	sim.memory = (void *)at;
	state_memory = (void *)(at + memory);
	sim.scratch = arena_alloc(&sim.arena, xp_recover_memory(&sim.sb));
	state_scratch = arena_alloc(&sim.arena, xp_recover_memory(&sim.sb));
	recover_under_fire(NULL);
}

static u64 place(void)
{
	return (sim.geometry.slow_sectors + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
}

/* The newer of two whole copies; the device's geometry is not that of a legal one (xp_sb_read()). */
void superblock_read(const struct xp_media *fast, struct xp_sb *sb)
{
	static const u64 place_of[2] = { XP_SB_BLOCK_A, XP_SB_BLOCK_B };
	struct xp_sb copy;
	bool found = false;

	*sb = sim.sb;
	for (u32 i = 0; i < 2; i++) {
		if ((fast->read(fast->ctx, place_of[i], 1, &copy) &&
		     fast->read(fast->ctx, place_of[i], 1, &copy)) ||
		    memcmp(copy.magic, XP_SB_MAGIC, sizeof(copy.magic)) ||
		    le64_to_cpu(copy.checksum) != xp_xxh64(&copy, offsetof(struct xp_sb, checksum)))
			continue;
		if (!found || le64_to_cpu(copy.generation) > le64_to_cpu(sb->generation))
			*sb = copy;
		found = true;
	}
	if (!found && sim.geometry.bad)	/* that is not recovery's to mend */
		run_abandon();
	if (!found && !sim.fault.on)
		violation(P_HOST, "neither copy of the superblock is whole");
}

static struct xp *core_new(void *memory, const struct xp_media *fast, u32 accept)
{
	const struct geometry *g = &sim.geometry;
	struct xp_options opt = {
		.volatile_fast = g->fast_volatile, .slow_discards = g->slow_discards, .slow_fua = g->slow_fua,
		.fast_at_once = g->at_once, .fast_sectors = !g->memory && !g->whole, .fast_whole = g->whole,
		.store = g->grows && memory == sim.memory ? store_now : NULL,
		.dirty_low = g->dirty_low, .dirty_high = g->dirty_high, .stream_kib = g->stream_kib,
		.idle_ms = g->idle_ms,
		.mode = memory == sim.memory ? sim.mode : XP_MODE_KEPT,
		.mark_lba = g->has_place ? place() : 0,
		.slow_sectors = sim.present - g->pad,
		.verify = sim.verifies,
		.accept = accept,
	};
	struct xp_sb sb;
	struct xp *c;

	superblock_read(fast, &sb);
	memset(memory, 0, xp_memory(&sb, true));
	c = xp_init(memory, &sb, &opt);
	if (!g->seeks_cost)
		xp_slow_took(c, NULL, 1, 1);
	return c;
}

/* An image may be recovered while the device itself is. */
static void *scratch_of(const void *memory)
{
	return memory == state_memory ? state_scratch : sim.scratch;
}

/* What `xpcache start` does first. */
static int unmark(const struct xp_media *fast, const struct xp_media *slow, void *memory,
		  struct xp_message *msg)
{
	u8 block[XP_BLOCK_SIZE] __attribute__((aligned(8)));
	struct xp *c;
	int err;

	if (!sim.geometry.has_place)
		return 0;
	err = slow->read(slow->ctx, place(), 1, block);
	if (err || !xp_mark_is(&sim.sb, block))
		return err;
	figures.unmarked++;
	c = core_new(memory, fast, 0);
	err = xp_look(c, fast, scratch_of(memory), NULL, msg);
	if (!err)
		err = xp_unmark(c, fast, slow, place(), false, block);
	if (err && !msg->text[0])
		snprintf(msg->text, sizeof(msg->text), err == -EUCLEAN ? "dirty blocks, and a mark" :
			 "the mark cannot be taken back");
	return err;
}

/*
 * Ranks are of the life that has ended just before this one, or of none: each life writes journal blocks of an
 * incarnation of its own before it does anything else. Or of this life, which has been stopped and goes on:
 * what it has written since may not be there after a cut.
 */
static void check_hint(struct xp *c)
{
	u64 incarnation = c->journal.incarnation - c->stats.reroutes;
	bool resumed = c != sim.c && sim.hint_life == figures.lives;

	if (!c->ranks.restored)
		return;
	figures.hints++;
	if (incarnation != sim.hint_incarnation + 1 && !resumed && !sim.geometry.bad && !sim.refuses)
		violation(P_ALLOWED, "ranks are those of incarnation %llu, and the journal goes on with %llu",
			  (unsigned long long)sim.hint_incarnation, (unsigned long long)incarnation);
}

int recover(const struct xp_media *fast, const struct xp_media *slow, void *memory, struct xp **c,
	    bool restating, u32 accept, struct xp_message *msg)
{
	int err;

	msg->text[0] = '\0';
	figures.recoveries++;
	err = restating ? unmark(fast, slow, memory, msg) : 0;
	*c = core_new(memory, fast, accept);
	if (!err)
		err = xp_recover(*c, fast, scratch_of(memory), restating, msg);
	if (!err)
		check_hint(*c);
	return err;
}

static bool is_marked(void)
{
	u8 block[XP_BLOCK_SIZE] __attribute__((aligned(8)));

	if (!sim.geometry.has_place)
		return false;
	medium_slow_read(NULL, place(), 1, block);
	return xp_mark_is(&sim.sb, block);
}

struct medium recover_image(struct arena *arena, void *memory, struct xp **c, u32 cuts,
			    u32 first_cut, u64 *rng)
{
	struct xp_message msg;

	for (;;) {
		struct medium m = { arena, cuts ? first_cut : UINT32_MAX, UINT32_MAX, rng, 0, 0, false };
		struct xp_media fast = medium_fast(&m);
		struct xp_media slow = { .ctx = &m, .read = medium_slow_read, .write = medium_slow_write };
		u32 accept = ask(memory);
		int err = recover(&fast, &slow, memory, c, true, accept, &msg);

		if (!err)
			return m;
		if (err == -EIO && (sim.refuses || sim.geometry.bad) && strstr(msg.text, "places that may be bad")) {
			figures.no_place_left++;
			run_abandon();
		}
		if (err != -ENODEV) {
			violation(P_ALLOWED, "recovery refused: %s", msg.text);
			run_abandon();
		}
		figures.recovery_cuts++;
		if (arena == &sim.arena)
			size_of_image(rng);
		cuts--;
		first_cut = below(rng, 3);
	}
}

int look_as(void *memory, struct xp **c, u32 accept, bool truth, const struct xp_witness *w,
	    struct xp_message *msg)
{
	struct medium m = { &sim.state, UINT32_MAX, UINT32_MAX, NULL, 0, 0, truth };
	struct xp_media fast = medium_fast(&m);
	int err;

	*c = core_new(memory, &fast, accept);
	err = xp_look(*c, &fast, scratch_of(memory), w, msg);
	if (m.writes)
		violation(P_UNREADABLE, "a recovery that looks only wrote");
	return err;
}

/* What replay has made of the slots, from the table of their segments on to the end; their entries but the ranks. */
static size_t slots_of(const struct xp *c, u8 *to)
{
	const u8 *end = (u8 *)state_memory + xp_memory(c->super.sb, true), *from = (const u8 *)c->segment;
	size_t tables = (size_t)(end - from);
	struct xp_entry *e = (struct xp_entry *)(to + tables);

	memcpy(to, from, tables);
	memcpy(e, c->entry, c->nr_slots * sizeof(*e));
	for (u32 i = 0; i < c->nr_slots; i++)
		e[i].use = 0;
	return tables + c->nr_slots * sizeof(*e);
}

/* A witness only looks on. Records are replayed one by one for it, and not by the shorter way (replay_plain()). */
void look_twice(u32 accept)
{
	struct arena_mark mark = arena_mark(&sim.state);
	u32 dirty, clean, unoccupied;
	struct xp_message msg;
	u8 *alone, *watched;
	size_t size;
	int err = look_as(state_memory, &state_core, accept, false, NULL, &msg);

	alone = arena_alloc(&sim.state, xp_memory(state_core->super.sb, true));
	watched = arena_alloc(&sim.state, xp_memory(state_core->super.sb, true));
	size = slots_of(state_core, alone);
	dirty = state_core->nr_dirty;
	clean = state_core->nr_clean;
	unoccupied = state_core->nr_free;
	if (!look_as(state_memory, &state_core, accept, false, &no_witness, &msg) != !err)
		violation(P_STAYS, "a recovery is refused only with a witness, or without: %s", msg.text);
	else if (!err && (slots_of(state_core, watched) != size || memcmp(alone, watched, size) || dirty != state_core->nr_dirty ||
			  clean != state_core->nr_clean || unoccupied != state_core->nr_free))
		violation(P_STAYS, "a recovery finds something else where somebody looks on");
	arena_rewind(&sim.state, mark);
}

static struct xp_sb superblock_of_image(void)
{
	struct medium m = { &sim.state, UINT32_MAX, UINT32_MAX, NULL, 0, 0, false };
	struct xp_media fast = medium_fast(&m);
	struct xp_sb sb;

	superblock_read(&fast, &sb);
	return sb;
}

bool image_is_losing(void)
{
	return superblock_of_image().bad.losing;
}

bool image_has_unread(void)
{
	return le64_to_cpu(superblock_of_image().incompat) & XP_INCOMPAT_UNREAD;
}

u64 image_sectors(void)
{
	return le64_to_cpu(superblock_of_image().slow.sectors) + sim.geometry.pad;
}

int refused_image_writes(void *memory)
{
	struct medium m = { &sim.state, UINT32_MAX, UINT32_MAX, NULL, 0, 0, false };
	struct xp_media fast = medium_fast(&m);
	struct xp_media slow = { .ctx = &m, .read = medium_slow_read, .write = medium_slow_write };
	struct xp_message msg;
	struct xp *c;
	int err = recover(&fast, &slow, memory, &c, true, 0, &msg);

	if (m.writes)
		violation(P_UNREADABLE, "a recovery that refuses wrote: %s", msg.text);
	return err;
}

void look_at_image(u32 failing_read)
{
	struct medium m = { &sim.state, UINT32_MAX, failing_read, NULL, 0, 0, false };
	struct xp_media fast = medium_fast(&m);
	struct xp_media slow = { .ctx = &m, .read = medium_slow_read, .write = medium_slow_write };
	bool fails = failing_read != UINT32_MAX;
	struct xp_message msg;
	int err;

	if (fails && is_marked())	/* what it has taken back before is no harm */
		return;
	err = recover(&fast, &slow, state_memory, &state_core, false, 0, &msg);
	if (m.writes)
		violation(P_ERRORS, "a recovery that looks only wrote");
	if (err || msg.text[0])	/* one that failed once is read again */
		violation(P_ERRORS, "a recovery of which %s ended with %d: %s",
			  fails ? "a read failed" : "none failed", err, msg.text);
}
