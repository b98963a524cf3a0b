// SPDX-License-Identifier: GPL-2.0-only
/*
 * copy.c - XP_COPY: a write from bytes that nobody else changes; and buffers for that, and for check.c.
 *
 *	xd_copy_start --> [read the base] --> merge --> hash, [write] --> written
 *
 * A front-end's buffer is such bytes already: a write of whole blocks goes out of it. Only a
 * part of a block, zeroes, and what a fast device that takes whole blocks would find within one, need a buffer of their own. When none can be had they wait for
 * the reserve, of which each loop has one, big enough for any.
 */
#include "daemon/timing.h"
#include "core/accounting.h"
#include "core/checksum.h"
#include "core/verify.h"

#include <string.h>

static struct xd_buffer *merge_get(struct xd_loop *loop, u32 bytes)
{
	struct xd_buffer *b = xd_buffer_get(loop, bytes);

	if (!b) {
		b = loop->reserve;
		loop->reserve = NULL;
	}
	return b;
}

void xd_merge_put(struct xd_loop *loop, struct xd_buffer *b)
{
	if (!b)
		return;
	if (!loop->reserve && b->bytes >= XP_COPY_MAX * XP_BLOCK_SIZE)
		loop->reserve = b;
	else
		xd_buffer_put(b);
}

typedef enum xp_act copy_end_fn(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);

static void copy_end(struct xd_part *part, copy_end_fn *end, int err)
{
	struct xd_loop *loop = part->io->loop;

	xd_merge_put(loop, part->merge);
	part->merge = NULL;
	if (end(loop->cache->core, &part->req, err, &loop->todo) == XP_DONE)
		xd_part_done(part);
	xd_copies_retry(loop);
}

static void written(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xd_loop *loop = part->io->loop;

	if (err)
		xd_fast_error(loop->cache, "write", part->req.target, err);
	else
		xd_timed(loop, XP_CLASS_FAST_WRITE, part->sent);
	copy_end(part, xp_end, err);
}

static void copy_write(struct xd_part *part, u8 *data, int registered)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	struct xp_req *req = &part->req;

	part->op.kind = XD_WRITE;
	part->op.fua = req->copy.parallel;
	part->op.preflush = false;
	part->op.data = data;
	part->op.registered = registered;
	part->op.bytes = req->nr_blocks << XP_BLOCK_SHIFT;
	part->op.offset = req->target << XP_SECTOR_SHIFT;
	part->op.end = written;
	if (req->copy.hashed) {
		xd_hash_blocks(data, req->nr_blocks, part->hash);
		xp_copied(cache->core, req, part->hash, &loop->todo);
	}
	xd_count(cache->counts.fast_bytes_written, part->op.bytes);
	part->sent = xd_time(cache);
	xd_device_submit(cache->fast, loop, &part->op);
}

static void merge(struct xd_part *part)
{
	const struct xp_req *req = &part->req;
	u8 *to = part->merge->data + req->copy.offset;
	size_t bytes = (size_t)req->nr_sectors << XP_SECTOR_SHIFT;

	if (req->op == XP_ZEROES)
		memset(to, 0, bytes);
	else
		memcpy(to, xd_part_data(part), bytes);
	copy_write(part, part->merge->data, part->merge->registered);
}

static void read_base(struct xd_part *part);

/* Is it what it should be? */
static void base_there(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xp_rot rot = { .nr = 0 };
	enum xp_act act = XP_COPY;
	struct xd_buffer *b = part->merge;

	if (part->req.copy.check)
		act = xp_base_checked(loop->cache->core, &part->req, xp_checksum(b->data, XP_BLOCK_SIZE), &rot,
				      &loop->todo);
	xd_rot_tell(loop->cache, &rot);
	if (act == XP_COPY) {
		merge(part);
		return;
	}
	if (act == XP_CHECK) {
		read_base(part);
		return;
	}
	part->merge = NULL;
	xd_merge_put(loop, b);
	if (act == XP_DONE)
		xd_part_done(part);
	xd_copies_retry(loop);
}

static void base_read(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	bool slow = part->req.copy.base == XP_BASE_SLOW;
	struct xd_loop *loop = part->io->loop;

	if (!err) {
		xd_timed(loop, slow ? XP_CLASS_SLOW_READ : XP_CLASS_FAST_READ, part->sent);
		base_there(part);
		return;
	}
	if (slow)
		xd_slow_error(loop->cache, "read", part->req.copy.from, err);
	else
		xd_fast_error(loop->cache, "read", part->req.copy.from, err);
	copy_end(part, xp_base_failed, err);
}

static void read_base(struct xd_part *part)
{
	const struct xp_copy *c = &part->req.copy;
	struct xd_cache *cache = part->io->loop->cache;
	bool slow = c->base == XP_BASE_SLOW;
	struct xd_op *op = &part->op;

	op->kind = XD_READ;
	op->bytes = slow ? xd_slow_bytes(cache, c->from, 1) : XP_BLOCK_SIZE;
	op->offset = c->from << XP_SECTOR_SHIFT;
	op->data = part->merge->data;
	op->registered = part->merge->registered;
	op->end = base_read;
	memset(op->data + op->bytes, 0, XP_BLOCK_SIZE - op->bytes);
	part->sent = xd_time(cache);
	xd_device_submit(slow ? cache->slow : cache->fast, part->io->loop, op);
}

static void copy_begin(struct xd_part *part)
{
	if (part->act == XP_CHECK) {
		xd_check_begin(part);
		return;
	}
	switch (part->req.copy.base) {
	case XP_BASE_FAST:
	case XP_BASE_SLOW:
		read_base(part);
		return;
	case XP_BASE_ZERO:
		memset(part->merge->data, 0, XP_BLOCK_SIZE);
		break;
	case XP_BASE_NONE:
		break;
	}
	merge(part);
}

/* Whole blocks, which the fast device may read into the caller's buffer. */
static bool needs_no_buffer_to_check(const struct xd_part *part)
{
	const struct xp_req *req = &part->req;

	return part->act == XP_CHECK && !req->private && req->nr_sectors == req->nr_blocks * XP_BLOCK_SECTORS;
}

/* Nothing is to be read around it, and the fast device may see the caller's buffer. */
static bool needs_no_buffer_to_write(const struct xd_part *part)
{
	const struct xp_req *req = &part->req;

	return part->act == XP_COPY && req->copy.base == XP_BASE_NONE && req->op == XP_WRITE && !req->private;
}

void xd_copy_start(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	const struct xp_req *req = &part->req;

	if (needs_no_buffer_to_check(part)) {
		xd_check_begin(part);
		return;
	}
	if (needs_no_buffer_to_write(part)) {
		copy_write(part, xd_part_data(part), part->io->buffer->registered);
		return;
	}
	if (xp_list_empty(&loop->unbuffered))
		part->merge = merge_get(loop, req->nr_blocks << XP_BLOCK_SHIFT);
	if (part->merge) {
		copy_begin(part);
		return;
	}
	if (part->act == XP_COPY)
		xp_held_back(&part->req);
	xp_list_add(&loop->unbuffered, &part->req.link);
}

void xd_copies_retry(struct xd_loop *loop)
{
	while (!xp_list_empty(&loop->unbuffered)) {
		struct xd_buffer *b = merge_get(loop, XP_COPY_MAX * XP_BLOCK_SIZE);
		struct xd_part *part;

		if (!b)
			return;
		part = xd_part_of(xp_list_pop(&loop->unbuffered));
		part->merge = b;
		copy_begin(part);
	}
}
