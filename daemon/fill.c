// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - a miss that the cache wants: read into the request's buffer, which nobody changes,
 * and written to the fast device from there, run by run, when the request has been answered.
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

/* The part's request has not ended yet: its buffer is there. */
static void write_run(struct xd_part *part, const struct xp_fill *run)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	struct xd_fill *f = xd_fill_get(loop);
	u64 first = xp_lba_n(run->lba) * XP_BLOCK_SECTORS;

	if (!f) {
		loop->fill_blocks -= run->nr_blocks;
		xp_fill_end(cache->core, run, -ENOMEM, &loop->todo);
		return;
	}
	f->run = *run;
	f->buffer = part->io->buffer;
	xd_buffer_hold(f->buffer);
	f->op = (struct xd_op){ .kind = XD_WRITE, .registered = f->buffer->registered, .end = fill_written,
				.data = f->buffer->data + ((first - part->io->sector) << XP_SECTOR_SHIFT),
				.bytes = run->nr_blocks << XP_BLOCK_SHIFT,
				.offset = run->target << XP_SECTOR_SHIFT };
	for (u32 i = 0; cache->tunables->verify && i < run->nr_blocks; i++)
		xp_fill_hash(cache->core, run, i,
			     xp_checksum((const u8 *)f->op.data + ((size_t)i << XP_BLOCK_SHIFT), XP_BLOCK_SIZE));
	xd_count(cache->counts.fast_bytes_written, f->op.bytes);
	f->sent = xd_time(cache);
	xd_device_submit(cache->fast, loop, &f->op);
}

static void fill_read(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xp_fill fill = part->req.fill, run;
	struct xd_loop *loop = part->io->loop;

	xd_slow_read_end(loop->cache);
	if (err) {
		xd_slow_error(loop->cache, "read", part->req.sector, err);
		loop->fill_blocks -= fill.nr_blocks;
	} else {
		xd_timed(loop, XP_CLASS_SLOW_READ, part->sent);
	}
	xp_end(loop->cache->core, &part->req, err, &loop->todo);
	while (!err && xp_fill_run(loop->cache->core, &fill, &run))
		write_run(part, &run);
	xd_part_done(part);
}

bool xd_fill_read(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xp_req *req = &part->req;

	/* Before Linux 6.0 a device with larger sectors writes from no address that is within one. */
	if (loop->fill_blocks + req->fill.nr_blocks > FILL_BLOCKS_MAX ||
	    (loop->cache->fast_whole && xp_is_partial(part->io->sector, 0))) {
		xp_fill_end(loop->cache->core, &req->fill, -ENOMEM, &loop->todo);
		req->fill.nr_blocks = 0;
		xp_not_filled(req);
		return false;
	}
	loop->fill_blocks += req->fill.nr_blocks;
	part->op.kind = XD_READ;
	part->op.bytes = req->nr_sectors << XP_SECTOR_SHIFT;
	part->op.offset = req->sector << XP_SECTOR_SHIFT;
	part->op.data = xd_part_data(part);
	part->op.registered = part->io->buffer->registered;
	part->op.end = fill_read;
	xd_slow_read_begin(loop->cache);
	part->sent = xd_time(loop->cache);
	xd_device_submit(loop->cache->slow, loop, &part->op);
	return true;
}
