/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layout.h - laying out a fast device, anew or because it has grown; and erasing what makes it a
 * cache's.
 */
#ifndef XP_LAYOUT_H
#define XP_LAYOUT_H

#include "platform.h"

struct xp_media;
struct xp_message;
struct xp_sb;

/*
 * Lays out a superblock for a fast device of @fast_blocks; the caller has set
 * uuid, name, created and slow. -ENOSPC: too small. No I/O.
 */
int xp_sb_layout(struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg);
/* Blocks of the smallest fast device. */
u64 xp_sb_least_blocks(void);
/* Would a fast device of @fast_blocks have more slots than the superblock says? */
bool xp_sb_can_grow(const struct xp_sb *sb, u64 fast_blocks);
/*
 * *@sb is @was, laid out for @fast_blocks: xp_sb_can_grow(). -ENOSPC, and why: bad blocks are in
 * the way. No I/O.
 */
int xp_sb_grow(struct xp_sb *sb, const struct xp_sb *was, u64 fast_blocks, struct xp_message *msg);
/*
 * The block takes no write: it goes to its list, if it is of the journal or of a slot. False: no
 * more may be bad.
 */
bool xp_sb_add_bad(struct xp_sb *sb, u64 block);
/* Erases both, A first: after that there is no cache. @block: 4096 bytes. */
int xp_sb_erase(const struct xp_media *m, void *block);
/*
 * First journal block, then the superblocks: there is a cache only at the end.
 * @sb and @block (4096 bytes) are given to m->write(): aligned as it needs.
 */
int xp_format(const struct xp_media *m, struct xp_sb *sb, void *block);

#endif /* XP_LAYOUT_H */
