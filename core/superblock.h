/* SPDX-License-Identifier: GPL-2.0-only */
/* superblock.h - verifying, reading and writing the superblock. */
#ifndef XP_SUPERBLOCK_H
#define XP_SUPERBLOCK_H

#include "platform.h"

struct xp_media;
struct xp_message;
struct xp_sb;

/* How many blocks the ring of so many slots has, at least. */
u64 xp_sb_ring_needed(u64 slots);
/*
 * How many places of the ring may be bad: what it has beyond what its slots need, at most
 * XP_BAD_PLACES.
 */
u32 xp_sb_spare_places(const struct xp_sb *sb);
/* Is the place, counted from the ring's first block, one of them? */
bool xp_sb_place_is_bad(const struct xp_sb *sb, u64 position);
/* How many sectors of block 0 lie before the slow device. */
u32 xp_sb_pad(const struct xp_sb *sb);
/* Of a new one: so many sectors of the slow device, 0 to 7, are before the first whole block. */
void xp_sb_set_grid(struct xp_sb *sb, u32 grid);
/* Of its journal blocks: those of another grid are none. */
u32 xp_sb_journal_magic(const struct xp_sb *sb);
/* Do the journal and slot 0 lie where they do there? Then what is mapped there is mapped here. */
bool xp_sb_same_places(const struct xp_sb *a, const struct xp_sb *b);
void xp_sb_seal(struct xp_sb *sb);		/* sets the checksum */
/* 0, -ENOENT (no magic: not a cache), -EUCLEAN (damaged), -ENOTSUP (features). */
int xp_sb_verify(const struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg);
/*
 * Reads both copies, the newer valid one into @sb, its words clean (xp_sb_clean()). Same errors, or
 * the read's. While a cache runs its superblock is its own: the core writes it.
 */
int xp_sb_read(const struct xp_media *m, u64 fast_blocks, struct xp_sb *sb,
	       struct xp_message *msg);
/* Writes both copies, B before A, so that an interruption leaves one valid. */
int xp_sb_write(const struct xp_media *m, struct xp_sb *sb);
/* The same, if it has to be, with these XP_INCOMPAT bits as well; or without them. Not while the cache runs. */
int xp_sb_allow(const struct xp_media *m, struct xp_sb *sb, u64 bits);
int xp_sb_forbid(const struct xp_media *m, struct xp_sb *sb, u64 bits);
/*
 * What a version has to know to read a cache that does nothing out of the ordinary: 2, that slots may lack sectors
 * (XP_INCOMPAT_NEW); or 1, that they never do.
 */
#define XP_FORMAT	2u
u32 xp_sb_format(const struct xp_sb *sb);
/*
 * The words of a superblock. A name that no cache may have gets a '_' for each byte that is wrong.
 * True: there was one, or a word that was not clean (words.h).
 */
bool xp_sb_clean(struct xp_sb *sb);

#endif /* XP_SUPERBLOCK_H */
