/* SPDX-License-Identifier: GPL-2.0-only */
/* tables.h - the partition tables of a slow device, here or remote. */
#ifndef GUARD_TABLES_H
#define GUARD_TABLES_H

#include "lib/slow.h"

#include <blkid/blkid.h>
#include <string.h>

struct tables {
	int copy;
	blkid_probe probe;
	blkid_partlist list;	/* NULL: none */
};

/* Reads other blocks, as all of these; to be freed. */
void tables_read(struct tables *t, struct slow *s);
/* The same; none, if the disk is something else as a whole: on a file system, or half of a mirror, one may be old or
 * another device's, and what it leaves free is theirs. */
void tables_read_alone(struct tables *t, struct slow *s);
void tables_free(struct tables *t);
/*
 * Each logical partition of an MBR has a table of its own, whose second entry says where the next one is. From that at
 * sector @first on: the block of each, until @fn says no.
 */
void tables_logical(struct slow *s, u64 first, bool (*fn)(void *ctx, u64 lba), void *ctx);
/* How many sectors behind a boundary of 4 KiB its partitions begin, weighed by their sizes; 0 as well if there is none, or
 * the disk is something else. */
u32 tables_grid(struct slow *s);
/* Blocks at its beginning that a table may take, or a superblock: they are never free. */
u64 tables_blocks(const struct slow *s);

static inline u32 le16_at(const u8 *b)
{
	return b[0] | (u32)b[1] << 8;
}

static inline u32 le32_at(const u8 *b)
{
	return le16_at(b) | le16_at(b + 2) << 16;
}


static inline u64 le64_at(const u8 *b)
{
	__le64 field;

	memcpy(&field, b, sizeof(field));
	return le64_to_cpu(field);
}

#endif
