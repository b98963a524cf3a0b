// SPDX-License-Identifier: GPL-2.0-only
/*
 * recover.c - the core's recovery: of the fast device itself, or of an image,
 * where the power may go again and a read may fail.
 */
#include "image.h"

/* ---------------------------------------------------------------- media ---- */

/* The fast device itself. Its errors are those of sim.fault. */
static int live_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	if (fault_hits(0, OP_READ, true))
		return -EIO;
	disk_read(&sim.fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS, buf);
	return 0;
}

static int live_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	if (fault_hits(0, OP_WRITE, true))
		return -EIO;
	sim.now++;
	disk_flush(&sim.fast, sim.now);
	disk_complete(&sim.fast, disk_submit(&sim.fast, block * XP_BLOCK_SECTORS,
					     nr * XP_BLOCK_SECTORS, buf, true));
	return 0;
}

const struct xp_media live_media = { NULL, live_read, live_write };

static int medium_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct medium *m = ctx;
	u64 s = block * XP_BLOCK_SECTORS;
	u32 i;

	m->reads++;
	if (!m->reads_left--)
		return -EIO;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		memcpy((u8 *)buf + i * SECTOR, image.fast[s + i]->bytes, SECTOR);
	return 0;
}

static int medium_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct medium *m = ctx;
	u64 s = block * XP_BLOCK_SECTORS;
	bool torn = !m->writes_left--;
	u32 i;

	m->writes++;
	for (i = 0; i < nr * XP_BLOCK_SECTORS; i++)
		if (!torn || chance(m->rng, 2))
			image_put(false, s + i, content_new(m->arena, (const u8 *)buf + i * SECTOR));
	return torn ? -ENODEV : 0;
}

/* ------------------------------------------------------------ recovering ---- */

struct xp *state_core;
void *state_memory;

void recover_new_run(void)
{
	size_t memory = (xp_memory(&sim.sb) + 4095) / 4096 * 4096;
	uintptr_t at = (uintptr_t)arena_alloc(&sim.arena, 2 * memory + 4096);

	at = (at + 4095) / 4096 * 4096;
	sim.memory = (void *)at;
	state_memory = (void *)(at + memory);
	sim.scratch = arena_alloc(&sim.arena, xp_recover_memory(&sim.sb));
}

int recover(const struct xp_media *media, void *memory, struct xp **c, bool restating,
	    struct xp_message *msg)
{
	const struct geometry *g = &sim.geometry;
	struct xp_options opt = {
		.volatile_fast = g->fast_volatile, .slow_discards = g->slow_discards,
		.dirty_low = g->dirty_low, .dirty_high = g->dirty_high,
	};

	memset(memory, 0, xp_memory(&sim.sb));
	msg->text[0] = '\0';
	*c = xp_init(memory, &sim.sb, &opt);
	figures.recoveries++;
	return xp_recover(*c, media, sim.scratch, restating, msg);
}

struct medium recover_image(struct arena *arena, void *memory, struct xp **c, u32 cuts,
			    u32 first_cut, u64 *rng)
{
	struct xp_message msg;

	for (;;) {
		struct medium m = { arena, cuts ? first_cut : UINT32_MAX, UINT32_MAX, rng, 0, 0 };
		struct xp_media media = { &m, medium_read, medium_write };
		int err = recover(&media, memory, c, true, &msg);

		if (!err)
			return m;
		if (err != -ENODEV) {
			violation(P_ALLOWED, "recovery refused: %s", msg.text);
			run_abandon();
		}
		figures.recovery_cuts++;
		cuts--;
		first_cut = below(rng, 3);
	}
}

void look_at_image(u32 failing_read)
{
	struct medium m = { &sim.state, UINT32_MAX, failing_read, NULL, 0, 0 };
	struct xp_media media = { &m, medium_read, medium_write };
	bool fails = failing_read != UINT32_MAX;
	struct xp_message msg;
	int err = recover(&media, state_memory, &state_core, fails, &msg);

	figures.failed_starts += fails;
	if (m.writes)
		violation(P_ERRORS, "a recovery that %s wrote", fails ? "could not read" : "looks only");
	if (err != (fails ? -EIO : 0) || !msg.text[0] != !fails)
		violation(P_ERRORS, "a recovery of which %s ended with %d: %s",
			  fails ? "a read failed" : "none failed", err, msg.text);
}
