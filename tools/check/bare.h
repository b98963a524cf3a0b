/* SPDX-License-Identifier: GPL-2.0-only */
/* bare.h - a fast device whose superblocks are both gone. */
#ifndef XP_TOOLS_CHECK_BARE_H
#define XP_TOOLS_CHECK_BARE_H

#include "platform.h"

struct xp_media;
struct xp_sb;

/*
 * A fast device of @fast_blocks without a superblock: @sb as it would be laid out today, of the cache whose journal
 * is there. What is said of the slow device, and the name, are missing. @told: blocks of it that are the cache's, or 0.
 * -ENOENT: there is no such journal. -ENODATA: nothing tells how many they are. -ESTALE: the journal says that they are not so
 * many. -EEXIST: @told is not what the fingerprint has noted (*@noted; 0: nothing), which the journal does not contradict.
 */
int bare_superblock(const struct xp_media *m, u64 fast_blocks, u64 told, u64 *noted, struct xp_sb *sb);

#endif
