// SPDX-License-Identifier: GPL-2.0-only
/*
 * resize.c - the slow device of a running cache is longer than it was. Not in the module, where a
 * new table says so.
 */
#include "map.h"
#include "resize.h"
#include "super.h"

int xp_resize(struct xp *c, u64 sectors, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;
	int err = 0;

	xp_lock(&c->lock);
	if (c->failed)
		err = -EIO;
	else if (sectors + c->pad < c->slow_sectors || sectors > XP_MAX_LBAS * XP_BLOCK_SECTORS - c->pad)
		err = -EINVAL;
	else if (c->slow_sectors % XP_BLOCK_SECTORS && is_slot(map_mapped(c, XP_LBA(c->nr_whole))))
		err = -EBUSY;
	if (!err) {
		s->sb->slow.sectors = cpu_to_le64(sectors);
		s->resized = ++s->changes;
		super_write(c, todo);
	}
	xp_unlock(&c->lock);
	return err;
}

int xp_resize_noted(struct xp *c)
{
	const struct xp_super *s = &c->super;
	int err = 0;

	xp_lock(&c->lock);
	if (c->failed)
		err = -EIO;
	else if (s->written < s->resized)
		err = s->state == SUPER_REST ? -EIO : -EAGAIN;
	xp_unlock(&c->lock);
	return err;
}

void xp_resize_end(struct xp *c)
{
	xp_lock(&c->lock);
	c->slow_sectors = le64_to_cpu(c->super.sb->slow.sectors) + c->pad;
	XP_WRITE_ONCE(c->nr_whole, c->slow_sectors / XP_BLOCK_SECTORS);	/* xp_fill_read() */
	xp_unlock(&c->lock);
}
