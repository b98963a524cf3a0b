/* SPDX-License-Identifier: GPL-2.0-only */
/* rest.h - of a cache that does not run, for the command line. */
#ifndef XP_REST_H
#define XP_REST_H

#include "platform.h"

struct xp;
struct xp_media;
struct xp_message;
struct xp_sb;

/* Where a journal ends: its newest block. */
struct xp_end {
	u64 seq, incarnation;
};

/*
 * From the journal block @seq on, to the newest: valid ones, of this cache, with no gap that a
 * life in order would not leave; what cannot be read is a gap. -ENOENT: @seq is not there.
 * @block: 4096 bytes.
 */
int xp_follow(const struct xp_media *m, const struct xp_sb *sb, u64 seq, void *block,
	      struct xp_end *end);

/*
 * After xp_look(), which found nothing dirty or what may be lost: the cache maps nothing any more.
 * One write of one block: before it, and torn, the cache is as it was. @c is of no more use.
 */
int xp_forget(struct xp *c, const struct xp_media *m, void *block);
/*
 * The same of one that was closed just now with nothing dirty, by who has no memory for its map:
 * @end is from xp_follow(). It ends at xp_empty_after() then, and nowhere else.
 */
struct xp_end xp_empty_after(const struct xp_sb *sb, const struct xp_end *end);
int xp_forget_after(const struct xp_sb *sb, const struct xp_end *end, const struct xp_media *m,
		    void *block);

/*
 * After xp_look(), which found nothing dirty: the fast device has @fast_blocks now, which is more,
 * and the cache is laid out for that. *@sb: as xp_look() had it, but for what the larger one says
 * besides; then as it is. With xp_sb_same_places() what is clean stays, and *@end is not touched;
 * else nothing is mapped any more, and the journal ends at *@end. Each write leaves a cache that
 * starts, and never one that maps what is not there. @zeros: memory of @nr blocks, which are
 * written at once where the journal will be.
 * -EBUSY: something is dirty. -ENOSPC, and why: too much is bad. Else the device's -errno: once
 * more may help. @c is of no more use.
 */
int xp_grow(struct xp *c, const struct xp_media *m, struct xp_sb *sb, u64 fast_blocks, void *zeros,
	    u32 nr, struct xp_end *end, struct xp_message *msg);

/*
 * After xp_look(): @block is what the slow device holds at @lba, and xp_mark_is(). The cache
 * forgets all it has, then the mark is erased; after a crash in between it is done once more.
 * @slow: blocking access to that device, as to the other. -EUCLEAN, unless @losing: dirty blocks
 * that were acknowledged; nothing was changed. @c is of no more use.
 */
int xp_unmark(struct xp *c, const struct xp_media *fast, const struct xp_media *slow, u64 lba,
	      bool losing, void *block);

#endif /* XP_REST_H */
