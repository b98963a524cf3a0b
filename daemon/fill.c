// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - a miss that the cache wants: read into the request's buffer, which nobody changes,
 * and written to the fast device from there, run by run, when the request has been answered.
 * What begins or ends within a block is read by whole blocks, into a buffer of its own.
 *
 * The reader never waits for the write. A fill is a favour: with too much of it under way the
 * part is read plainly.
 */
#include "daemon/fill.h"
#include "daemon/timing.h"
#include "core/accounting.h"
#include "core/checksum.h"
#include "core/options.h"
#include "core/verify.h"

#include <errno.h>
#include <string.h>

/* Blocks under way at once on a loop: 8 MiB. */
#define FILL_BLOCKS_MAX	2048u

static void fill_written(struct xd_op *op, int err)
{
	struct xd_fill *f = container_of(op, struct xd_fill, op);
	struct xd_loop *loop = op->loop;

	if (err)
		xd_fast_error(loop->cache, "fill", f->run.target, err);
	else
		xd_timed(loop, XP_CLASS_FAST_WRITE, f->sent);
	xp_fill_end(loop->cache->core, &f->run, err, &loop->todo);
	loop->fill_blocks -= f->run.nr_blocks;
	xd_buffer_put(f->buffer);
	xd_fill_put(loop, f);
}

static struct xd_buffer *buffer_of(struct xd_part *part)
{
	return part->merge ? part->merge : part->io->buffer;
}

/* Where what is read begins. */
static u8 *data_of(struct xd_part *part)
{
	return part->merge ? part->merge->data : xd_part_data(part);
}

/* The part's request has not ended yet: its buffer is there. */
static void write_run(struct xd_part *part, const struct xp_fill *run)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	struct xd_fill *f = xd_fill_get(loop);
	u64 first = xp_lba_n(run->lba) - part->req.sector / XP_BLOCK_SECTORS;

	if (!f) {
		loop->fill_blocks -= run->nr_blocks;
		xp_fill_end(cache->core, run, -ENOMEM, &loop->todo);
		return;
	}
	f->run = *run;
	f->buffer = buffer_of(part);
	xd_buffer_hold(f->buffer);
	f->op = (struct xd_op){ .kind = XD_WRITE, .registered = f->buffer->registered, .end = fill_written,
				.data = data_of(part) + (first << XP_BLOCK_SHIFT),
				.bytes = run->nr_blocks << XP_BLOCK_SHIFT,
				.offset = run->target << XP_SECTOR_SHIFT };
	for (u32 i = 0; cache->tunables->verify && i < run->nr_blocks; i++)
		xp_fill_hash(cache->core, run, i,
			     xp_checksum((const u8 *)f->op.data + ((size_t)i << XP_BLOCK_SHIFT), XP_BLOCK_SIZE));
	xd_count(cache->counts.fast_bytes_written, f->op.bytes);
	f->sent = xd_time(cache);
	xd_device_submit(cache->fast, loop, &f->op);
}

/* The caller's part of what was read. */
static void deliver(struct xd_part *part)
{
	u32 skip = (u32)(part->req.sector % XP_BLOCK_SECTORS) << XP_SECTOR_SHIFT;

	if (part->merge)
		memcpy(xd_part_data(part), part->merge->data + skip, (size_t)part->req.nr_sectors << XP_SECTOR_SHIFT);
}

/* But for the runs that are written from it. */
static void leave_buffer(struct xd_part *part)
{
	if (part->merge)
		xd_buffer_put(part->merge);
	part->merge = NULL;
}

static void read_failed(struct xd_part *part, int err)
{
	struct xd_loop *loop = part->io->loop;

	loop->fill_blocks -= part->req.fill.nr_blocks;
	leave_buffer(part);
	xd_overlay_put(part);
	if (xp_end(loop->cache->core, &part->req, err, &loop->todo) == XP_DONE)
		xd_part_done(part);
}

static void part_read(struct xd_part *part)
{
	struct xp_fill fill = part->req.fill, run;
	struct xd_loop *loop = part->io->loop;

	if (part->over)
		xd_overlay_lay(part, data_of(part));
	xd_overlay_put(part);
	deliver(part);
	xp_end(loop->cache->core, &part->req, 0, &loop->todo);
	while (xp_fill_run(loop->cache->core, &fill, &run))
		write_run(part, &run);
	leave_buffer(part);
	xd_part_done(part);
}

void xd_fill_read_ended(struct xd_part *part, int err)
{
	if (err && (!part->read_err || part->read_err == -ENOMEM))
		part->read_err = err;
	if (--part->reads)
		return;
	if (part->read_err)
		read_failed(part, part->read_err);
	else
		part_read(part);
}

static void slow_read(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xd_loop *loop = part->io->loop;

	if (err) {
		xd_slow_error(loop->cache, "read", part->req.sector, err);
	} else {
		xd_timed(loop, XP_CLASS_SLOW_READ, part->sent);
		xp_slow_took(loop->cache->core, &part->req, (u32)(op->bytes >> XP_SECTOR_SHIFT), xd_since(part->sent));
	}
	xd_fill_read_ended(part, err);
}

/*
 * Whole blocks, in a buffer that the fast device can be written from: before Linux 6.0 one with larger
 * sectors takes no address that is within one.
 */
static bool needs_no_buffer(const struct xd_part *part, u32 nr_sectors)
{
	return nr_sectors == part->req.nr_sectors &&
	       !(part->io->loop->cache->fast_whole && xp_is_partial(part->io->sector, 0));
}

/* False: no memory. */
static bool get_buffers(struct xd_part *part, u32 nr_sectors)
{
	if (!needs_no_buffer(part, nr_sectors)) {
		part->merge = xd_buffer_get(part->io->loop, nr_sectors << XP_SECTOR_SHIFT);
		if (!part->merge)
			return false;
	}
	if (!part->req.overlay || xd_overlay_get(part))
		return true;
	leave_buffer(part);
	return false;
}

static bool give_back(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;

	xp_fill_end(loop->cache->core, &part->req.fill, -ENOMEM, &loop->todo);
	part->req.fill.nr_blocks = 0;
	xp_not_filled(&part->req);
	return false;
}

bool xd_fill_read(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xp_req *req = &part->req;
	u32 nr_sectors;
	u64 sector;

	xp_fill_read(loop->cache->core, req, &sector, &nr_sectors);
	if (loop->fill_blocks + req->fill.nr_blocks > FILL_BLOCKS_MAX || !get_buffers(part, nr_sectors))
		return give_back(part);
	part->reads = 1;
	part->read_err = 0;
	if (req->overlay)
		xd_overlay_read(part);
	loop->fill_blocks += req->fill.nr_blocks;
	part->op.kind = XD_READ;
	part->op.bytes = nr_sectors << XP_SECTOR_SHIFT;
	part->op.offset = sector << XP_SECTOR_SHIFT;
	part->op.data = data_of(part);
	part->op.registered = buffer_of(part)->registered;
	part->op.end = slow_read;
	part->sent = xd_time(loop->cache);
	xd_device_submit(loop->cache->slow, loop, &part->op);
	return true;
}
