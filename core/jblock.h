/* SPDX-License-Identifier: GPL-2.0-only */
/* jblock.h - a journal block by itself: its length, its checksum, and the records that it has. */
#ifndef XP_JBLOCK_H
#define XP_JBLOCK_H

#include "format.h"
#include "platform.h"

/* Records put into a journal block: all it has room for; the simulator tries few. */
#ifndef XP_PUT_MAX
#define XP_PUT_MAX	XP_RECORDS
#endif

/* How many records a block has, what has grown included. Its header must be valid. */
u32 xp_block_records(const struct xp_jblock *b);

u32 jblock_bytes(const struct xp_jblock *b);
u64 jblock_checksum(struct xp_jblock *b);

#endif /* XP_JBLOCK_H */
