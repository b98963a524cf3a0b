// SPDX-License-Identifier: GPL-2.0-only
/*
 * jblock.c - a journal block by itself: its length, its checksum, and the records that it has.
 */
#include "checksum.h"
#include "jblock.h"

u32 jblock_bytes(const struct xp_jblock *b)
{
	return (u32)(sizeof(b->head) + le16_to_cpu(b->head.count) * sizeof(b->rec[0]));
}

u64 jblock_checksum(struct xp_jblock *b)
{
	__le64 kept = b->head.checksum;
	u64 sum;

	b->head.checksum = 0;
	sum = xp_checksum(b, jblock_bytes(b));
	b->head.checksum = kept;
	return sum;
}

u32 xp_block_records(const struct xp_jblock *b)
{
	u64 sum = le64_to_cpu(b->head.checksum);
	u32 i = le16_to_cpu(b->head.count);

	while (i < XP_RECORDS && le64_to_cpu(b->rec[i].hash) == xp_tag(sum, i, &b->rec[i]))
		i++;
	return i;
}
