// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - as a machine that hibernates does it: with nothing dirty the cache is closed and forgets
 * all, without its map. Then it is written past, or the old life goes on after all, or the power goes.
 */
#include "image.h"
#include "payload.h"
#include "life.h"
#include "rest.h"
#include "statistics.h"
#include "xpcache.h"

/* Then it does not sleep. As it goes on it finds that out by itself, and gives the place up. */
static bool takes_no_write(const struct xp_sb *sb, u64 number)
{
	return sim.refuses &&
	       sim.refuses[le64_to_cpu(sb->journal_start) + number % le64_to_cpu(sb->journal_blocks)];
}

/* False: its journal's end cannot be read, or takes no write. */
static bool close_and_forget(u64 *rng)
{
	struct xp_stats s;
	struct xp_end end, closed, empty;
	u8 block[XP_BLOCK_SIZE];
	struct xp_sb sb;
	int err = recover_close(rng);

	xp_get_stats(sim.c, &s);
	superblock_read(&live_media, &sb);
	if (!err)
		err = xp_follow(&live_media, &sb, s.seq, block, &end);
	closed = (struct xp_end){ s.seq, s.incarnation };
	empty = xp_empty_after(&sb, &closed);
	if (!err && end.seq == empty.seq && end.incarnation == empty.incarnation)
		return true;	/* it forgot before, went on, and has written no journal block since */
	if (err && s.failed)
		return false;	/* all is durable, and the block that a hint needs found no place */
	if (err == -ENOENT && sim.faulted)
		return false;
	if (err || end.seq != s.seq || end.incarnation != s.incarnation)
		violation(P_ERRORS, "closed with nothing wrong, and its journal does not end there (%d)", err);
	crash_check(rng);
	err = xp_forget_after(&sb, &end, &live_media, block);
	if (err && takes_no_write(&sb, empty.seq)) {
		trace("--- and its end takes no write");
		return false;
	}
	if (err)
		violation(P_ERRORS, "nothing is wrong, and it cannot forget");
	sim.forgot = true;
	crash_check(rng);
	return true;
}

/* Acknowledged when it is durable. */
static void write_past(u64 *rng)
{
	struct user *u = arena_alloc(&sim.arena, sizeof(*u));
	u64 left;
	u32 i;

	*u = (struct user){ .op = XP_WRITE, .fua = true, .submitted = ++sim.now, .id = ++sim.next_id };
	u->sector = below(rng, (u32)sim.slow.sectors);
	left = sim.slow.sectors - u->sector;
	u->nr = 1 + below(rng, (u32)min(left, 4 * (u64)XP_BLOCK_SECTORS));
	user_on_disk(u);
	u->buf = arena_alloc(&sim.arena, u->nr * SECTOR);
	for (i = 0; i < u->nr; i++)
		payload_fill(u->buf + i * SECTOR, u->sector + i, u->id);
	trace("past the cache: write %llu+%u id %llu", (unsigned long long)u->sector, u->nr,
	      (unsigned long long)u->id);
	oracle_begin(u);
	sim.now++;
	disk_complete(&sim.slow, disk_submit(&sim.slow, u->sector, u->nr, u->buf, true));
	sim.now++;
	oracle_end(u);
}

void fall_asleep(u64 *rng)
{
	u32 n = 1 + below(rng, 6);

	trace("--- asleep");
	if (!close_and_forget(rng) || chance(rng, 2)) {
		trace("--- it goes on");
		sim.forgot = sim.faulted = false;
		return;
	}
	while (n--)
		write_past(rng);
	crash_check(rng);
	if (chance(rng, 2))
		life_start();
	else
		life_cut(rng);
}
