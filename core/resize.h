/* SPDX-License-Identifier: GPL-2.0-only */
/* resize.h - the slow device of a running cache is longer than it was. */
#ifndef XP_RESIZE_H
#define XP_RESIZE_H

#include "platform.h"

struct xp;
struct xp_todo;

/*
 * While the cache runs: the slow device is longer than it was. Three steps, so that the superblock
 * has the new size before a block beyond the old end is mapped, and the backend reads the last
 * block as it is now before it is cached:
 *	xp_resize()		asks for the superblock with @sectors. -EINVAL: that is less than
 *				now; -EBUSY: the last block is short and cached, as an older
 *				version did, and could not be read by the last start; -EIO: the
 *				cache has failed
 *	xp_resize_noted()	0: it is durable, in both copies; -EAGAIN: not yet; -EIO: it cannot
 *				be written, or the cache has failed: once more from the beginning,
 *				or not at all
 *	xp_resize_end()		then, once the backend takes the device to have @sectors: so does
 *				the core
 * One at a time.
 */
int xp_resize(struct xp *c, u64 sectors, struct xp_todo *todo);
int xp_resize_noted(struct xp *c);
void xp_resize_end(struct xp *c);

#endif /* XP_RESIZE_H */
