/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * move.h - an empty cache moves from one fast device to another, which may be interrupted anywhere.
 *
 *	          here          there
 *	          the cache     -
 *	announce  the cache     COMING     here counts
 *	leave     AWAY          COMING     there counts, if both are seen
 *	arrive    AWAY          the cache  there counts
 *	(erase)   -             the cache
 *
 * Each step is durable before the next. Whoever sees one of the two alone, and it is AWAY or COMING, does nothing with
 * it: the other may have what nobody else has. No such device is read or written by anything but what is here, nor by
 * an older version, which does not know the bits.
 */
#ifndef XP_MOVE_H
#define XP_MOVE_H

#include "platform.h"

struct xp_media;
struct xp_sb;

bool xp_move_is_away(const struct xp_sb *sb);
bool xp_move_is_coming(const struct xp_sb *sb);
bool xp_move_says(const struct xp_sb *sb);	/* one of the two */
/*
 * Has the cache on @here left for @there, whether it has arrived or not? Of superblocks that xp_sb_read() has read, or
 * refused for their features.
 */
bool xp_move_has_left(const struct xp_sb *here, const struct xp_sb *there);
/* @sb, laid out for another device, is that of the cache whose superblock @was is. */
void xp_move_as(struct xp_sb *sb, const struct xp_sb *was);
/*
 * @sb, laid out for the device @there, and as the cache's is for the rest: all before the slots is zeroed, then it is
 * written, COMING by the move @id, which is not 0 and no other's. @zeros: memory of @nr blocks, used; aligned as
 * m->write() needs it. Negative errno of a write: no cache is there, or one that says COMING.
 */
int xp_move_announce(const struct xp_media *there, struct xp_sb *sb, u64 id, void *zeros, u32 nr);
/*
 * @sb is the superblock of the cache @here, which is at rest and maps nothing: it says AWAY now, by the move @id.
 * Negative errno of a write: it may say so, or not; xp_sb_read() tells.
 */
int xp_move_leave(const struct xp_media *here, struct xp_sb *sb, u64 id);
/*
 * @sb was read @here, and says AWAY. Whoever wrote it may have been killed, and what he wrote be lost by a power cut:
 * until this returns 0. Negative errno, and then nobody may go by it: of a read or a write; -ESTALE, the first copy is another.
 * @block: 4096 bytes, as below.
 */
int xp_move_confirm(const struct xp_media *here, const struct xp_sb *sb, void *block);
void xp_move_clear(struct xp_sb *sb);	/* has arrived: the number stays, and tells which device it left; not sealed */
/*
 * @sb is the superblock there, xp_move_has_left(), and that is durable: from now on it is the cache. Negative errno: once
 * more.
 */
int xp_move_arrive(const struct xp_media *there, struct xp_sb *sb);
/* Has arrived, and may have been killed then: it is durable when this returns 0. @sb was read there. */
int xp_move_settle(const struct xp_media *there, struct xp_sb *sb);
/*
 * What says AWAY as @sb does is erased, once it has arrived, durably. Where the first copy is something else but zeros the
 * device has another use by now: -ESTALE, and nothing is written. Else the error of a read or a write.
 */
int xp_move_erase(const struct xp_media *here, const struct xp_sb *sb, void *block);

#endif /* XP_MOVE_H */
