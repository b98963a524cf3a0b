// SPDX-License-Identifier: GPL-2.0-only
/* fault.c - which operation of which device ends in an error. */
#include "sim.h"
#include "statistics.h"
#include "superblock.h"

bool fault_hits(u32 disk, enum disk_op op, bool journal)
{
	struct fault *f = &sim.fault;
	enum fault_kind kind = f->left != UINT32_MAX ? FAULT_ONCE :
			       f->ops == 7 ? FAULT_GONE : FAULT_ON;

	if (!f->on || disk != f->disk || !(f->ops & 1 << op) || (journal && f->spot))
		return false;
	if (f->after) {
		f->after--;
		return false;
	}
	if (f->left != UINT32_MAX && !--f->left)
		f->on = false;
	sim.faulted = true;
	figures.faults[disk][op][kind]++;
	return true;
}

/* Places of the ring and slots that take no write, in all lives of the run: so many blocks that
 * the ring can spare them, and slots are left. What they hold stays. */
bool fault_bad_place(u64 sector, u32 nr)
{
	u64 block = sector / XP_BLOCK_SECTORS, end = (sector + nr + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;

	for (; sim.refuses && block < end; block++)
		if (sim.refuses[block]) {
			sim.faulted = true;
			figures.refused++;
			return true;
		}
	return false;
}

static void choose_bad(u64 first, u64 nr, u64 most)
{
	u64 i;

	for (i = 0; i < nr && most; i++)
		if (mix(sim.seed ^ (first + i) << 20) % 16 < sim.geometry.refuses) {
			sim.refuses[first + i] = true;
			most--;
		}
}

void fault_new_run(void)
{
	const struct geometry *g = &sim.geometry;

	sim.refuses = NULL;
	if (!g->refuses)
		return;
	sim.refuses = arena_alloc(&sim.arena, le64_to_cpu(sim.sb.fast_blocks));
	choose_bad(le64_to_cpu(sim.sb.journal_start), g->ring, xp_sb_spare_places(&sim.sb));
	choose_bad(le64_to_cpu(sim.sb.data_start), g->slots, g->slots / 8);
}

/* Of the fast device, and all of it, until healed. */
static const struct fault fast_is_gone = { .on = true, .ops = 1 << OP_READ | 1 << OP_WRITE | 1 << OP_FLUSH, .left = UINT32_MAX };

void fault_fast_goes(void)
{
	sim.fault = fast_is_gone;
	trace("--- the fast device goes");
}

void fault_turn(u64 *rng)
{
	static const u8 ops[] = { 1 << OP_READ, 1 << OP_WRITE, 1 << OP_FLUSH,
				  1 << OP_READ | 1 << OP_WRITE | 1 << OP_FLUSH };
	struct fault *f = &sim.fault;

	if (f->on) {
		trace("--- no more errors");
		f->on = false;
		return;
	}
	/* Mostly when there is nothing to lose. */
	if (sim.geometry.fast_goes && !xp_is_clean(sim.c) && !chance(rng, 6))
		return;
	f->on = true;
	f->disk = (u8)below(rng, 2);
	f->ops = ops[below(rng, 4)];
	f->left = chance(rng, 2) ? 1 : UINT32_MAX;
	if (sim.geometry.fast_goes && !chance(rng, 8))
		*f = fast_is_gone;
	if (sim.geometry.forgets && !chance(rng, 4)) {
		f->disk = 1;
		f->ops = 1 << OP_FLUSH;
		f->left = 1;
	}
	f->after = 0;
	f->spot = !f->disk && !sim.geometry.fast_goes && chance(rng, 4);
	trace("--- errors of the %s device%s: ops %u, %s", f->disk ? "slow" : "fast",
	      f->spot ? ", not of its journal" : "", f->ops, f->left == 1 ? "one" : "until healed");
}
