/* SPDX-License-Identifier: GPL-2.0-only */
/* mark.h - the note on the slow device that writes pass the cache, as a backend makes it. */
#ifndef XP_MARK_H
#define XP_MARK_H

#include "platform.h"

struct xp;
struct xp_sb;
struct xp_todo;

/*
 * The fast device is gone, with nothing dirty on it; writes wait until that is noted on the slow
 * device (passthrough.c). After a todo with .mark set, once in a cache's life, the backend
 *  1. reads the block at slow sector xp_mark_sector();
 *  2. asks xp_mark_make(), which makes the mark of it; false: it is somebody's, -EEXIST;
 *  3. writes it there, and when that has ended flushes the slow device;
 *  4. says xp_mark_end(), with the first error. The answer is that, or -EIO: meanwhile the device
 *     has lost what it was sent.
 * It may allocate nothing for that, as somebody waits.
 */
u64 xp_mark_sector(const struct xp *c);
bool xp_mark_make(struct xp *c, void *block);
int xp_mark_end(struct xp *c, int err, struct xp_todo *todo);
/* Is it one, of this cache? Then it must not start before xp_unmark(). */
bool xp_mark_is(const struct xp_sb *sb, const void *block);

#endif /* XP_MARK_H */
