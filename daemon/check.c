// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - XP_CHECK: a read of blocks whose sums are known.
 *
 *	xd_check_begin --> [read] --> compared, by the core --> the request, or once more, or elsewhere
 *
 * Whole blocks are read to where the request wants them: nobody else changes its buffer. Of a part
 * of a block all is read, into a buffer of copy.c's; and what the fast device cannot be asked to put there.
 */
#include "daemon/device.h"
#include "daemon/timing.h"
#include "core/checksum.h"
#include "core/verify.h"

#include <string.h>

void xd_rot_tell(struct xd_cache *cache, const struct xp_rot *rot)
{
	if (!rot->nr)
		return;
	xd_log("%s: fast device: slot %u does not hold what was written to it: sector %llu of the slow device, %s%s",
	       cache->fast->dev.path, xp_slot_n(rot->slot), (unsigned long long)(xp_lba_n(rot->lba) * XP_BLOCK_SECTORS - cache->pad),
	       rot->dirty ? "dirty, its newest contents are lost" : "clean, read from there",
	       rot->nr > 1 ? "; and others" : "");
}

static u8 *place(const struct xd_part *part)
{
	return part->merge ? part->merge->data : xd_part_data(part);
}

void xd_hash_blocks(const u8 *data, u32 nr, u64 *hash)
{
	for (u32 i = 0; i < nr; i++)
		hash[i] = xp_checksum(data + ((size_t)i << XP_BLOCK_SHIFT), XP_BLOCK_SIZE);
}

static void deliver(struct xd_part *part, const struct xd_buffer *from)
{
	const struct xp_req *req = &part->req;

	if (from && !req->err)
		memcpy(xd_part_data(part), from->data + req->copy.offset, (size_t)req->nr_sectors << XP_SECTOR_SHIFT);
}

static void check_read(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	struct xd_buffer *from = part->merge;
	struct xp_rot rot = { .nr = 0 };
	enum xp_act act;

	if (err) {
		xd_fast_error(cache, "read", part->req.target, err);
		act = xp_end(cache->core, &part->req, err, &loop->todo);
	} else {
		xd_timed(loop, XP_CLASS_FAST_READ, part->sent);
		if (xp_has_sums(cache->core, &part->req))
			xd_hash_blocks(place(part), part->req.nr_blocks, part->hash);
		act = xp_checked(cache->core, &part->req, part->hash, &rot, &loop->todo);
	}
	xd_rot_tell(cache, &rot);
	if (act == XP_CHECK) {
		xd_check_begin(part);
		return;
	}
	part->merge = NULL;
	if (act == XP_DONE) {
		deliver(part, from);
		xd_part_done(part);
	}
	xd_merge_put(loop, from);
	xd_copies_retry(loop);
}

void xd_check_begin(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_op *op = &part->op;

	op->kind = XD_READ;
	op->fua = op->preflush = false;
	op->bytes = part->req.nr_blocks << XP_BLOCK_SHIFT;
	op->offset = part->req.target << XP_SECTOR_SHIFT;
	op->data = place(part);
	op->registered = part->merge ? part->merge->registered : part->io->buffer->registered;
	op->end = check_read;
	part->sent = xd_time(loop->cache);
	xd_device_submit(loop->cache->fast, loop, op);
}
