// SPDX-License-Identifier: GPL-2.0-only
/*
 * writeback.c - brings dirty blocks home, a batch of the core's at a time; of the
 * simulator's backend.
 */
#include "backend.h"
#include "cache.h"
#include "checksum.h"
#include "life.h"
#include "look.h"
#include "options.h"
#include "run.h"
#include "verify.h"

#define BATCH_ERRORS 2u		/* end a batch early, as in the backends */
#define CHANCE_NS 17000000u	/* from one call of backend_writeback() to the next */

static struct {
	bool wanted, open, flushing;
	u32 runs, errors;
	u32 chances, ended;	/* calls of backend_writeback(); at the last one's end */
	u64 clock_ns;
} batch;

void writeback_new_life(void)
{
	batch.wanted = batch.open = batch.flushing = false;
	batch.runs = batch.errors = 0;
}

bool writeback_under_way(void)
{
	return batch.open;
}

/* The worker looks now or later, and begins some time after that. */
void writeback_kick(void)
{
	if (!batch.open && chance(step.rng, 4))
		batch.wanted |= xp_writeback_wanted(sim.c);
}

static u32 run_sectors(const struct xp_run *run)
{
	u64 first = xp_lba_n(run->lba) * XP_BLOCK_SECTORS;

	if (run->nr_sectors)
		return run->nr_sectors;
	return (u32)min((u64)run->nr_blocks * XP_BLOCK_SECTORS, sim.slow.sectors - first);
}

static void run_write(struct xp_run *run, const u8 *data)
{
	struct event *e = event_add(IO_RUN_WRITE, NULL);

	e->run = run;
	figures.parts_home += !!run->nr_sectors;
	start_write(e, &sim.slow, xp_lba_n(run->lba) * XP_BLOCK_SECTORS + run->skip, run_sectors(run),
		    data + run->skip * SECTOR, false);
	trace("writeback writes lba %llu+%u%s", (unsigned long long)xp_lba_n(run->lba),
	      run->nr_blocks, run->zeroes ? ", zeroes" : "");
}

static void run_start(const struct xp_run *drawn)
{
	struct xp_run *run = arena_alloc(&sim.arena, sizeof(*run));
	u8 *data;
	struct event *e;

	*run = *drawn;
	data = arena_alloc(&sim.arena, run->nr_blocks * XP_BLOCK_SIZE);
	batch.runs++;
	if (run->zeroes) {
		run_write(run, data);
		return;
	}
	e = event_add(IO_RUN_READ, NULL);
	e->run = run;
	e->data = data;
	e->disk = &sim.fast;
	e->op = OP_READ;
	e->sampled = true;	/* slot by slot, at the end: they are pinned */
}

static int read_slot(struct xp_run *run, u32 i, u8 *to)
{
	struct xp_rot rot;
	int err;

	do {
		disk_read(&sim.fast, xp_slot_sector(sim.c, run->slot[i]), XP_BLOCK_SECTORS, to);
		err = sim.verifies ? xp_writeback_checked(sim.c, run, i, xp_checksum(to, XP_BLOCK_SIZE), &rot) : 0;
	} while (err == -EAGAIN);
	figures.rot_written_back += !!err;
	return err;
}

void writeback_run_read(const struct event *e, struct xp_todo *todo)
{
	int err = 0;
	u32 i;

	for (i = 0; i < e->run->nr_blocks; i++)
		if (disk_unreadable(&sim.fast, xp_slot_sector(sim.c, e->run->slot[i]), XP_BLOCK_SECTORS)) {
			writeback_run_end(e->run, -EIO, todo);
			return;
		}
	for (i = 0; i < e->run->nr_blocks && !err; i++)
		err = read_slot(e->run, i, e->data + i * XP_BLOCK_SIZE);
	if (err)
		writeback_run_end(e->run, err, todo);
	else
		run_write(e->run, e->data);
}

void writeback_run_end(struct xp_run *run, int err, struct xp_todo *todo)
{
	run->err = err;
	batch.errors += !!err;
	xp_writeback_end(sim.c, run, todo);
	batch.runs--;
}

/* Somebody wants all of it home, or does not any more. */
static void ask_for_home(void)
{
	bool on = !chance(step.rng, 4);

	trace("--- %s wants all of it home", on ? "somebody" : "nobody");
	xp_write_back_all(sim.c, on);
}

/* After a batch that brought nothing home, for as long as the core says. */
static bool pauses(void)
{
	u32 pause = xp_writeback_pause(sim.c);

	if (pause && !sim.faulted && !rot_keeps_dirty())
		violation(P_LIVES, "writeback pauses for %u ms, and no device had an error", pause);
	if (batch.chances - batch.ended >= pause / 250)
		return false;
	figures.pauses++;
	return true;
}

/* Somebody changes the mode. From when on is the slow device alone enough? */
static void look_at_mode(u64 *rng)
{
	struct xp_tunables t = { .dirty_low = sim.geometry.dirty_low, .dirty_high = sim.geometry.dirty_high,
				 .idle_ms = sim.geometry.idle_ms, .stream_kib = sim.geometry.stream_kib };
	u64 own = mix(*rng ^ 0x30de6);

	if (own % 64 == 0) {
		t.mode = XP_MODE_WRITEBACK + own / 64 % 3;
		batch.wanted |= xp_set_limits(sim.c, &t) && !batch.open && xp_writeback_wanted(sim.c);
		sim.settled &= t.mode != XP_MODE_WRITEBACK;
		trace("--- mode %u", t.mode);
	}
	sim.settled |= sim.c->opt.mode != XP_MODE_WRITEBACK && xp_is_clean(sim.c);
}

/* Its runs are over. */
static void finish_batch(void)
{
	enum xp_flush flush = xp_writeback_flushes(sim.c);
	struct xp_todo todo;

	if (flush == XP_FLUSH_NOW) {
		start_flush(event_add(IO_BATCH_FLUSH, NULL), &sim.slow);
		batch.flushing = true;
	} else if (flush == XP_FLUSH_NONE) {
		xp_todo_init(&todo);
		writeback_batch_end(0, &todo);
		backend_perform(&todo);
	}
}

void backend_writeback(u64 *rng)
{
	static struct xp_run run;
	enum xp_next next = XP_NEXT_END;
	struct xp_todo todo;

	step.rng = rng;
	step.thread = ++sim.next_thread;
	batch.chances++;
	batch.clock_ns += CHANCE_NS;
	if (sim.geometry.modes)
		look_at_mode(rng);
	if (batch.chances % 16 == 0 && xp_writeback_watch(sim.c, batch.clock_ns))
		batch.wanted = true;
	if (chance(step.rng, 100)) {
		ask_for_home();
		return;
	}
	if (!batch.open && pauses())
		return;
	if (!batch.open && !batch.wanted) {
		batch.wanted = xp_writeback_wanted(sim.c);
		if (chance(step.rng, 2))	/* it begins later, when that may have changed */
			return;
	}
	if (!batch.open) {
		xp_todo_init(&todo);
		batch.open = batch.wanted && xp_writeback_begin(sim.c, &todo);
		batch.wanted = false;
		batch.errors = 0;
		backend_perform(&todo);
		return;
	}
	if (batch.flushing)
		return;
	if (batch.errors < BATCH_ERRORS && xp_writeback_turn(sim.c, batch.clock_ns))
		return;
	if (batch.runs < 3 && batch.errors < BATCH_ERRORS && below(step.rng, 20)) {
		next = xp_writeback_next(sim.c, &run);
		if (next == XP_NEXT_RUN)
			run_start(&run);
	}
	if (next != XP_NEXT_END || batch.runs)
		return;
	finish_batch();
}

void writeback_batch_end(int err, struct xp_todo *todo)
{
	xp_writeback_commit(sim.c, err, sim.now + 1, todo);
	batch.open = batch.flushing = false;
	batch.ended = batch.chances;
}
