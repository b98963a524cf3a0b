/* SPDX-License-Identifier: GPL-2.0-only */
/* checksum.h - of journal blocks, and of the blocks of the cache. */
#ifndef XP_CHECKSUM_H
#define XP_CHECKSUM_H

#include "platform.h"

struct xp_record;

/* Of @bytes, a multiple of 8, at @data, aligned to 8. Takes no lock; any context. */
u64 xp_checksum(const void *data, u32 bytes);
/* Of record @i of a block that has grown, whose own checksum is @sum. */
u64 xp_tag(u64 sum, u32 i, const struct xp_record *r);

/*
 * Of a block's xp_checksum() what is kept: never 0, which says that none is known. No lock; any
 * context.
 */
u32 xp_sum(u64 checksum);

#endif /* XP_CHECKSUM_H */
