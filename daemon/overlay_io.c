// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlay_io.c - dirty blocks in a read of the slow device: they are read from the fast one beside it, into a buffer of
 * their own, and copied over what the slow one returned.
 */
#include "daemon/fill.h"
#include "daemon/timing.h"
#include "core/overlay.h"

#include <errno.h>
#include <string.h>

static u8 *bytes_of(const struct xd_part *part, u32 i)
{
	return part->over->data + ((size_t)i << XP_BLOCK_SHIFT);
}

static void run_read(struct xd_op *op, int err)
{
	struct xd_fill *f = container_of(op, struct xd_fill, op);
	struct xd_loop *loop = op->loop;
	struct xd_part *part = op->owner;

	if (err)
		xd_fast_error(loop->cache, "read", op->offset >> XP_SECTOR_SHIFT, err);
	else
		xd_timed(loop, XP_CLASS_FAST_READ, f->sent);
	xd_fill_put(loop, f);
	xd_fill_read_ended(part, err ? -ENOMEM : 0);	/* XP_MIXED: no error of the slow device */
}

static void read_run(struct xd_part *part, const struct xp_overlay_run *run)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_fill *f = xd_fill_get(loop);

	part->reads++;
	if (!f) {
		xd_fill_read_ended(part, -ENOMEM);
		return;
	}
	f->op = (struct xd_op){ .kind = XD_READ, .registered = part->over->registered, .end = run_read, .owner = part,
				.data = bytes_of(part, run->first), .bytes = (u32)run->nr_blocks << XP_BLOCK_SHIFT,
				.offset = xp_slot_sector(loop->cache->core, run->slot) << XP_SECTOR_SHIFT };
	f->sent = xd_time(loop->cache);
	xd_device_submit(loop->cache->fast, loop, &f->op);
}

bool xd_overlay_get(struct xd_part *part)
{
	part->over = xd_buffer_get(part->io->loop, part->req.overlay->nr_blocks << XP_BLOCK_SHIFT);
	return part->over;
}

void xd_overlay_read(struct xd_part *part)
{
	const struct xp_overlay *o = part->req.overlay;

	for (u32 i = 0; i < o->nr_runs; i++) {
		if (o->run[i].zeros)
			memset(bytes_of(part, o->run[i].first), 0, (size_t)o->run[i].nr_blocks << XP_BLOCK_SHIFT);
		else
			read_run(part, &o->run[i]);
	}
}

static void lay(u8 *to, const u8 *from, u32 lacks)
{
	for (u32 at = 0, n; (n = xp_part_next(~lacks, &at)); at += n)
		memcpy(to + (at << XP_SECTOR_SHIFT), from + (at << XP_SECTOR_SHIFT), n << XP_SECTOR_SHIFT);
}

void xd_overlay_lay(const struct xd_part *part, u8 *data)
{
	const struct xp_overlay *o = part->req.overlay;

	for (u32 i = 0; i < o->nr_blocks; i++)
		lay(data + ((size_t)o->at[i] << XP_BLOCK_SHIFT), bytes_of(part, i), o->lacks[i]);
}

void xd_overlay_put(struct xd_part *part)
{
	if (part->over)
		xd_buffer_put(part->over);
	part->over = NULL;
}
