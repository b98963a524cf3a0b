// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlay.c - dirty blocks in a read of the slow device: read from the fast one at any moment until it ends, and laid
 * over what the slow one returned.
 */
#include "overlay.h"
#include "run.h"
#include "backend.h"

void overlay_read(struct part *p, u32 i)
{
	const struct xp_overlay_run *run = &p->req.overlay->run[i];

	start_read(event_add(IO_OVERLAY, p), &sim.fast, xp_slot_sector(sim.c, run->slot), run->nr_blocks * XP_BLOCK_SECTORS,
		   p->over + run->first * XP_BLOCK_SIZE);
}

/* Long enough for a slot to be used again, if it may. */
static void read_later(struct part *p, u32 i)
{
	struct event *e = event_add(OVERLAY_WAITS, p);

	e->index = i;
	e->held = sim.now + below(step.rng, 400);
}

void overlay_begin(struct part *p)
{
	const struct xp_overlay *o = p->req.overlay;
	u32 i;

	p->laid_over = o->nr_blocks;
	p->over = arena_alloc(&sim.arena, o->nr_blocks * XP_BLOCK_SIZE);
	p->reads = 1;
	p->read_error = 0;
	for (i = 0; i < o->nr_runs; i++) {
		figures.laid_over++;
		if (o->run[i].zeros) {
			memset(p->over + o->run[i].first * XP_BLOCK_SIZE, 0, o->run[i].nr_blocks * XP_BLOCK_SIZE);
			continue;
		}
		p->reads++;
		if (chance(step.rng, 2))
			read_later(p, i);
		else
			overlay_read(p, i);
	}
}

static void lay_over(struct part *p)
{
	const struct xp_overlay *o = p->req.overlay;
	u32 i;

	for (i = 0; i < o->nr_blocks * XP_BLOCK_SECTORS; i++) {
		u32 block = i / XP_BLOCK_SECTORS, at = i % XP_BLOCK_SECTORS;

		if (!(o->lacks[block] >> at & 1))
			memcpy(p->fill + (o->at[block] * XP_BLOCK_SECTORS + at) * SECTOR, p->over + i * SECTOR, SECTOR);
	}
}

bool overlay_goes_on(struct part *p, int *err)
{
	if (*err && (!p->read_error || p->read_error == -ENOMEM))
		p->read_error = *err;
	if (--p->reads)
		return true;
	*err = p->read_error;
	if (!*err)
		lay_over(p);
	return false;
}
