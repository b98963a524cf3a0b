/* SPDX-License-Identifier: GPL-2.0-only */
/* jblock.h - a journal block by itself: its length, its checksum, and the records that it has. */
#ifndef XP_JBLOCK_H
#define XP_JBLOCK_H

#include "bounds.h"
#include "format.h"
#include "platform.h"

/* Records put into a journal block: all it has room for; the simulator tries few. */
#ifndef XP_PUT_MAX
#define XP_PUT_MAX	XP_RECORDS
#endif

/*
 * Records that are new in a block; the rest of it is for relocated ones. With a
 * ring of which a full map fills a quarter, that keeps the head from ever
 * reaching the tail (docs/ARCHITECTURE.md, "The ring never fills"): 76, where 78 would be too many.
 */
#define XP_NEW_MAX	(XP_PUT_MAX * 19 / 42)
#define XP_RELOCATE_MAX	(XP_PUT_MAX - XP_NEW_MAX)
/*
 * Blocks that the new ones speak of: one request's. A run of them is one record, but each that still lives is relocated by
 * itself, so the same page counts blocks. With more the bound that tests/unit/test_ring.c computes does not hold.
 */
#define XP_NAMED_MAX	XP_RUN_MAX

static_assert(XP_NEW_MAX < XP_NAMED_MAX && XP_NAMED_MAX <= XP_RUN_RECORD, "records of a block each, or one of all");
static_assert(XP_NAMED_MAX + XP_RELOCATE_MAX <= XP_SPOKEN_OF, "who loses a block is told of how many");

/* How many records a block has, what has grown included. Its header must be valid. */
u32 xp_block_records(const struct xp_jblock *b);

static inline u8 record_kind(const struct xp_record *r)
{
	return (u8)(le64_to_cpu(r->lba) >> 40);
}

static inline u8 record_flags(const struct xp_record *r)
{
	return (u8)(le64_to_cpu(r->lba) >> 48);
}

/* So many blocks it speaks of: one, if it is no RUN that makes sense. */
static inline u32 record_blocks(const struct xp_record *r)
{
	u32 more = record_flags(r) & XP_REC_RUN ? le32_to_cpu(r->sum) : 0;

	return more < XP_RUN_RECORD ? more + 1 : 1;
}

u32 jblock_bytes(const struct xp_jblock *b);
u64 jblock_checksum(struct xp_jblock *b);

#endif /* XP_JBLOCK_H */
