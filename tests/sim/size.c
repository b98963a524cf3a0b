// SPDX-License-Identifier: GPL-2.0-only
/*
 * size.c - the slow device becomes longer or shorter: between two lives, between a recovery that was cut and
 * the next, and longer while the cache runs.
 *
 * What comes behind an end that it had is nobody's: it has what it had when it was made, or since it was cut off there
 * what somebody else has left. It is cut off where no dirty block is; else the core has to refuse, and write nothing.
 */
#include "cache.h"
#include "look.h"
#include "message.h"
#include "resize.h"
#include "image.h"
#include "backend.h"

static bool noting;	/* the superblock is to have the new size, and the users do not know it yet */
static bool older;	/* this life is that of a version that caches the last block, whole or not */

void size_new_run(void)
{
	sim.present = sim.slow.sectors = sim.geometry.first_sectors;
	noting = older = false;
}

void size_new_life(void)
{
	sim.slow.sectors = sim.present;
	noting = false;
}

void size_begun(void)
{
	older = sim.geometry.older && mix(sim.seed ^ 0x01de5 ^ sim.step << 16) % 2;
	if (older)
		sim.c->nr_whole = ~0ull;
}

/* Mostly about where it ends by now. */
static u64 draw_size(u64 *rng)
{
	u64 least = sim.geometry.slow_sectors - 4 * XP_BLOCK_SECTORS, most = sim.geometry.slow_sectors;
	u64 low = sim.present > least + XP_BLOCK_SECTORS ? sim.present - XP_BLOCK_SECTORS : least;
	u64 high = min(most, sim.present + XP_BLOCK_SECTORS);

	if (chance(rng, 2))
		return least + below(rng, (u32)(most - least + 1));
	return low + below(rng, (u32)(high - low + 1));
}

/* Of the image: does a dirty block reach past so many sectors? */
static bool dirty_reaches_past(u64 sectors)
{
	struct xp_mapping m;
	struct xp_message msg;
	u64 block;

	if (look_as(state_memory, &state_core, 0, false, NULL, &msg))
		return true;
	for (block = sectors / XP_BLOCK_SECTORS; block * XP_BLOCK_SECTORS < sim.present; block++)
		if (xp_lookup(state_core, XP_LBA(block), &m) && m.dirty &&
		    min((block + 1) * XP_BLOCK_SECTORS, sim.present) > sectors)
			return true;
	return false;
}

static void check_refused(u64 sectors)
{
	u64 was = sim.present;
	int err;

	if (sim.geometry.has_place)	/* a mark is taken back before */
		return;
	sim.present = sectors;
	err = refused_image_writes(state_memory);
	sim.present = was;
	figures.too_short++;
	if (err != -ENOSPC)
		violation(P_UNREADABLE, "a slow device of %llu sectors, of %llu, lacks dirty blocks, and recovery ended with %d",
			  (unsigned long long)sectors, (unsigned long long)was, err);
}

/* Not beyond @most. False: it stays as it is. */
static bool change(u64 most, u64 *rng)
{
	u64 to = draw_size(rng);

	if (to > most)
		return false;

	if (to > sim.present && rot_is_of(sim.present / XP_BLOCK_SECTORS))	/* the core refuses: test_size.c */
		return false;
	if (to < sim.present && dirty_reaches_past(to)) {
		check_refused(to);
		return false;
	}
	trace("--- the slow device has %llu sectors, and had %llu", (unsigned long long)to, (unsigned long long)sim.present);
	figures.grown += to > sim.present;
	figures.shrunk += to < sim.present;
	sim.present = sim.slow.sectors = to;
	return true;
}

static const struct content *somebody_elses(u64 sector)
{
	u8 bytes[SECTOR];
	const struct content *k;

	payload_fill(bytes, sector, ++sim.next_id);
	k = content_new(&sim.arena, bytes);
	oracle_replaced(sector, k->tag);
	return k;
}

void size_at_rest(u64 *rng)
{
	u64 was = sim.present, s;

	if (!sim.geometry.resizes || chance(rng, 3))
		return;
	sim.now++;
	disk_flush(&sim.slow, sim.now);
	image_of_seen();
	if (!change(UINT64_MAX, rng))
		return;
	for (s = sim.present; s < was; s++)
		sim.slow.floor[s] = sim.slow.seen[s] = somebody_elses(s);
}

/*
 * Where no start has come to note that it is shorter, it is longer again like one that somebody wrote to while no cache
 * ran: a size does not tell that, and a fingerprint may.
 */
void size_of_image(u64 *rng)
{
	u64 was = sim.present, s;

	if (!sim.geometry.resizes || chance(rng, 3) ||
	    !change(image_sectors() > sim.present ? sim.present : UINT64_MAX, rng))
		return;
	for (s = sim.present; s < was; s++)
		image_put(true, s, somebody_elses(s));
}

void size_turn(u64 *rng)
{
	u64 to = sim.present + 1 + below(rng, 2 * XP_BLOCK_SECTORS);
	struct xp_todo todo;
	int err;

	if (noting || older || to > sim.geometry.slow_sectors)
		return;
	trace("--- the slow device has grown to %llu sectors", (unsigned long long)to);
	sim.present = to;
	xp_todo_init(&todo);
	err = xp_resize(sim.c, to - sim.geometry.pad, &todo);
	noting = !err;
	if (err == -EBUSY)
		sim.present = sim.slow.sectors;
	if (err && err != -EIO && (err != -EBUSY || !rot_is_of(sim.slow.sectors / XP_BLOCK_SECTORS)))
		violation(P_ERRORS, "a slow device that has grown is refused: %d", err);
	backend_perform(&todo);
}

void size_step(void)
{
	int err = noting ? xp_resize_noted(sim.c) : -EAGAIN;

	if (err == -EAGAIN)
		return;
	noting = false;
	if (err)
		return;
	sim.slow.sectors = sim.present;
	xp_resize_end(sim.c);
	figures.grown_live++;
	trace("--- and the users know");
}
