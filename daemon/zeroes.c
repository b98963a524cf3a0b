// SPDX-License-Identifier: GPL-2.0-only
/* zeroes.c - zeroes for the slow device: by a way of its own, if it has one, or by writing them. */
#include "daemon/engine.h"

#include <errno.h>

/* Nobody writes to it. */
static const u8 zeros[64 << 10] __attribute__((aligned(4096)));

static void zeroes_end(struct xd_part *part, int err)
{
	struct xd_loop *loop = part->io->loop;

	if (err)
		xd_slow_error(loop->cache, "write zeroes", part->req.sector, err);
	if (xp_end(loop->cache->core, &part->req, err, &loop->todo) == XP_DONE)
		xd_part_done(part);
}

static void written(struct xd_op *op, int err);

static void write_on(struct xd_part *part)
{
	u64 bytes = (u64)part->req.nr_sectors << XP_SECTOR_SHIFT;
	struct xd_loop *loop = part->io->loop;
	struct xd_op *op = &part->op;

	op->kind = XD_WRITE;
	op->data = (u8 *)(uintptr_t)zeros;
	op->registered = -1;
	op->bytes = min(bytes - part->zeroed, (u64)sizeof(zeros));
	op->offset = (part->req.sector << XP_SECTOR_SHIFT) + part->zeroed;
	op->end = written;
	xd_device_submit(loop->cache->slow, loop, op);
}

static void written(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);

	part->zeroed += op->bytes;
	if (err || part->zeroed == (u64)part->req.nr_sectors << XP_SECTOR_SHIFT)
		zeroes_end(part, err);
	else
		write_on(part);
}

static void offloaded(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);

	if (err == -EOPNOTSUPP || err == -EINVAL)
		write_on(part);
	else
		zeroes_end(part, err);
}

void xd_zeroes_start(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	struct xd_op *op = &part->op;

	part->zeroed = 0;
	*op = (struct xd_op){ .kind = XD_ZERO, .registered = -1, .end = offloaded,
			      .bytes = part->req.nr_sectors << XP_SECTOR_SHIFT,
			      .offset = part->req.sector << XP_SECTOR_SHIFT };
	xd_device_submit(loop->cache->slow, loop, op);
}
