/* SPDX-License-Identifier: GPL-2.0-only */
/* fingerprint.h - what was noted of the slow device when the cache came to rest. */
#ifndef XP_FINGERPRINT_H
#define XP_FINGERPRINT_H

#include "format.h"
#include "platform.h"

struct xp_media;
struct xp_sb;

/*
 * Reads both copies. Which is the newer valid one of the cache @uuid, 0 or 1, then in *@fp;
 * -ENOENT: there is none, -EIO: ... and one cannot be read. @fp: 2 blocks for m->read(); the answer
 * is in the first.
 */
int xp_fp_read(const struct xp_media *m, const u8 uuid[16], struct xp_fp fp[2]);
/* The superblock's fast_blocks, as they were noted with it; 0: not known. */
u64 xp_fp_fast_blocks(const struct xp_fp *fp);
/*
 * Before a start: where the slow device may hold a mark, as is noted (*@lba, 0: nowhere). The
 * backend looks there, whatever options it has: who starts it may not have. -EIO: that cannot be
 * known, as no copy is whole and one cannot be read.
 */
int xp_mark_place(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp fp[2], u64 *lba);

#endif /* XP_FINGERPRINT_H */
