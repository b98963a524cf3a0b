// SPDX-License-Identifier: GPL-2.0-only
/*
 * store.c - a few bytes that the core stores into memory itself (xp_options.store), in the middle
 * of whatever it does: so a power cut may come in between, and a kill. The memory may refuse, too, when
 * some of it has landed.
 */
#include "sim.h"

static u64 rng;
static bool mortal;
static jmp_buf dead;

static void may_be_cut(void)
{
	if (chance(&rng, 1 + sim.geometry.check_one_in))
		crash_check(&rng);
}

static bool refused(void)
{
	const struct fault *f = &sim.fault;
	bool gone = f->on && !f->disk && f->ops & 1 << OP_WRITE && f->left == UINT32_MAX && !f->spot;

	return gone || chance(&rng, 16);
}

static struct write *begin(u64 at, const void *from, u32 bytes)
{
	u8 sectors[XP_BLOCK_SIZE];
	u32 skip = (u32)(at % SECTOR), nr = (skip + bytes + SECTOR - 1) / SECTOR;
	struct write *w;

	disk_read(&sim.fast, at / SECTOR, nr, sectors);
	memcpy(sectors + skip, from, bytes);
	w = disk_submit(&sim.fast, at / SECTOR, nr, sectors, false);
	w->thread = ++sim.next_thread;
	disk_narrow(w, skip, bytes);
	return w;
}

int store_now(void *ctx, u64 at, const void *from, u32 bytes)
{
	struct write *w;
	bool all, refuses = refused(), dies = !refuses && mortal && chance(&rng, 400);

	(void)ctx;
	if (unreadable(sim.fast.seen, true, at / SECTOR, 1)) {	/* known, and not to be touched but as a whole */
		figures.stores_refused++;
		return -EIO;
	}
	w = begin(at, from, bytes);
	sim.now++;
	figures.stores++;
	do {
		all = refuses && chance(&rng, 2);
		all = all || disk_store(&sim.fast, w, &rng);
		may_be_cut();
	} while (!all && !dies);
	if (dies) {
		trace("killed while it stores %u bytes at %llu", bytes, (unsigned long long)at);
		longjmp(dead, 1);
	}
	if (!refuses) {
		disk_write_back(w);
		may_be_cut();
		disk_fence(&sim.fast, w->thread);
	}
	disk_complete(&sim.fast, w);
	figures.stores_refused += refuses;
	return refuses ? -EIO : 0;
}

void store_new_run(void)
{
	mortal = false;
}

void store_in_step(void (*step)(u64 *rng), u64 *step_rng, void (*killed)(u64 *rng))
{
	rng = mix(*step_rng ^ 0x570e);
	mortal = true;
	if (!setjmp(dead)) {
		step(step_rng);
	} else {
		trace("--- killed in its midst");
		figures.kills_storing++;
		killed(&rng);
	}
	mortal = false;
}
