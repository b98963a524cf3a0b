// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - what is under way: I/O of both devices, and what waits for a thread. One event
 * after another ends, in any order.
 */
#include "backend.h"

#define EVENTS_MAX 512u

struct step step;

static struct event event[EVENTS_MAX];
static u32 nr_events;

u32 backend_ios(void)
{
	return nr_events;
}

void events_new_life(void)
{
	nr_events = 0;
}

static bool straggles(enum event_kind kind)
{
	return kind == (sim.geometry.short_ring ? IO_JOURNAL : IO_COPY) &&
	       chance(step.rng, sim.geometry.stragglers);
}

struct event *event_add(enum event_kind kind, struct part *p)
{
	struct event *e = &event[nr_events++];

	if (nr_events == EVENTS_MAX)
		violation(P_HOST, "more than %u events", EVENTS_MAX);
	*e = (struct event){ .kind = kind, .part = p, .thread = step.thread };
	if (sim.geometry.stragglers)
		e->held = straggles(kind) ? sim.now + below(step.rng, 3000) : 0;
	else if (chance(step.rng, 16))
		e->held = sim.now + below(step.rng, 400);
	return e;
}

/* What a device with logical sectors of 4 KiB would refuse; and what there is not. */
static void check_grid(const struct disk *d, u64 sector, u32 nr)
{
	if (d->whole && (sector | nr) % XP_BLOCK_SECTORS)
		violation(P_HOST, "%s: sectors %llu+%u, and it takes whole blocks alone", d->name, (unsigned long long)sector, nr);
	if (d == &sim.slow && sector < sim.geometry.pad)
		violation(P_HOST, "slow: sector %llu is before its first", (unsigned long long)sector);
}

void start_write(struct event *e, struct disk *d, u64 sector, u32 nr, const u8 *bytes, bool fua)
{
	sim.now++;
	e->disk = d;
	e->op = OP_WRITE;
	e->sector = sector;
	e->nr = nr;
	check_grid(d, sector, nr);
	e->w = disk_submit(d, sector, nr, bytes, fua);
	e->w->thread = e->thread;
}

void start_flush(struct event *e, struct disk *d)
{
	e->disk = d;
	e->op = OP_FLUSH;
	e->flush = ++sim.now;
}

/* A read may look at any moment between its submission and its end. */
void start_read(struct event *e, struct disk *d, u64 sector, u32 nr, u8 *data)
{
	e->disk = d;
	e->op = OP_READ;
	e->sector = sector;
	e->nr = nr;
	e->data = data;
	check_grid(d, sector, nr);
	e->sampled = chance(step.rng, 2);
	if (!e->sampled)
		return;
	e->failed = disk_unreadable(d, sector, nr);
	disk_read(d, sector, nr, data);
}

/* What is not a read may be done otherwise yet: it is hit if it ends so. */
static void note_hit(struct part *p)
{
	struct user *u = p->u;
	u64 end = p->req.sector + p->req.nr_sectors;

	if (p->req.op != XP_READ) {
		p->hit = true;
		return;
	}
	u->hit_first = u->hit ? min(u->hit_first, p->req.sector) : p->req.sector;
	u->hit_end = u->hit ? max(u->hit_end, end) : end;
	u->hit = true;
}

static void note_error(const struct event *e)
{
	if (e->part && e->kind != IO_BASE)
		note_hit(e->part);
	trace("error of the %s device, event %d, sector %llu of id %llu", e->disk->name, e->kind,
	      e->part ? (unsigned long long)e->part->req.sector : 0,
	      e->part ? (unsigned long long)e->part->u->id : 0);
}

static bool error_hits(const struct event *e)
{
	bool fast_write = e->disk == &sim.fast && e->op == OP_WRITE;

	if (!fault_hits(e->disk == &sim.slow, e->op,
			e->kind == IO_JOURNAL || e->kind == IO_JOURNAL_FLUSH) &&
	    !(fast_write && fault_bad_place(e->sector, e->nr)) &&
	    !(fast_write && e->w->in_place && sim.geometry.bad && chance(step.rng, 16)))
		return false;
	note_error(e);
	return true;
}

/* (Of a run its slots are read in writeback_run_read().) */
static bool cannot_be_read(const struct event *e)
{
	if (e->op != OP_READ || e->run)
		return false;
	if (e->sampled ? !e->failed : !disk_unreadable(e->disk, e->sector, e->nr))
		return false;
	note_error(e);
	return true;
}

static bool in_memory(const struct event *e)
{
	return e->disk && e->disk->memory && e->op == OP_WRITE;
}

/* As the real backends: data and journal are stored and flushed, then a fence; only then is
 * the core told. (A store that goes past the cache is a store and its flush.) Where a device
 * refuses the access some may have been stored before. True: that was all. */
static bool memory_step(struct event *e)
{
	switch (e->stage) {
	case BEGINS:
		e->failed = error_hits(e);
		e->stage = STORES;
		return e->failed;
	case STORES:
		if (disk_store(e->disk, e->w, step.rng))
			e->stage = FLUSHES;
		return false;
	case FLUSHES:
		disk_write_back(e->w);
		e->stage = FENCES;
		return false;
	case FENCES:
		disk_fence(e->disk, e->thread);
		break;
	}
	return true;
}

/* Other threads come in between, and cuts. */
static bool memory_goes_on(struct event *e)
{
	do {
		if (memory_step(e))
			return true;
	} while (below(step.rng, 4));
	return false;
}

static int finish_io(struct event *e)
{
	if (in_memory(e) ? e->failed : error_hits(e) || cannot_be_read(e)) {
		if (e->op == OP_WRITE)
			disk_fail(e->disk, e->w, step.rng);
		if (e->op == OP_FLUSH)
			disk_flush_fails(e->disk, step.rng);
		if (e->op == OP_READ)
			memset(e->data, 0xee, e->nr * SECTOR);
		return -EIO;
	}
	if (e->op == OP_READ && !e->sampled)
		disk_read(e->disk, e->sector, e->nr, e->data);
	if (e->op == OP_WRITE)
		disk_complete(e->disk, e->w);
	if (e->op == OP_FLUSH)
		disk_flush(e->disk, e->flush);
	return 0;
}

static u32 draw_any_event(void)
{
	if (chance(step.rng, 8) || sim.geometry.completing == 0)
		return below(step.rng, nr_events);
	if (sim.geometry.completing == 1)
		return 0;
	return nr_events - 1;
}

/* One that is slow is waited for only when there is little else. */
static u32 draw_event(void)
{
	u32 i = draw_any_event(), tries = 0, most = sim.geometry.stragglers ? 32 : 4;

	while (event[i].held > sim.now && tries++ < most)
		i = below(step.rng, nr_events);
	return i;
}

/* What the slow device does is seen in another order than it does it. */
static bool is_on_its_way(struct event *e)
{
	if (e->disk != &sim.slow || e->op == OP_READ || e->decided || !chance(step.rng, 4))
		return false;
	e->err = finish_io(e);
	e->decided = true;
	return true;
}

bool event_next(struct event *e, int *err)
{
	u32 i;

	if (!nr_events)
		return false;
	i = draw_event();
	sim.now++;
	if (in_memory(&event[i]) && !memory_goes_on(&event[i]))
		return false;
	if (is_on_its_way(&event[i]))
		return false;
	*e = event[i];
	memmove(&event[i], &event[i + 1], (--nr_events - i) * sizeof(*e));
	/* A run's slots are read one by one, in writeback_run_read(). */
	if (e->decided)
		*err = e->err;
	else
		*err = e->disk ? finish_io(e) : 0;
	if (*err && e->disk == &sim.slow && e->op == OP_FLUSH)
		oracle_doubt();
	return true;
}
