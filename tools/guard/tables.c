// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - the partition tables of a slow device, by libblkid. Of a remote one they are copied to a file in memory first, for
 * who reads only files.
 */
#include "lib/partitions.h"
#include "tools/guard/tables.h"
#include "core/format.h"

#include <sys/mman.h>
#include <unistd.h>

#define GPT_SECTORS	34u	/* an MBR, header and 128 entries of 128 bytes */
#define TABLE_SECTORS	64u	/* both tables, with all entries */

/* From the block @lba on into the same place of a file. */
static bool copy_blocks(struct slow *s, int fd, u64 lba, u64 end)
{
	for (; lba < min(end, slow_blocks(s)); lba++) {
		u32 before = lba ? 0 : slow_at(s, 0);
		ssize_t len = XP_BLOCK_SIZE - before;

		if (slow_read(s, lba) ||
		    pwrite(fd, s->block + before, (size_t)len, (off_t)(slow_sector(s, lba) << XP_SECTOR_SHIFT)) != len)
			return false;
	}
	return true;
}

#define MBR_ENTRIES	446u
#define MBR_ENTRY	16u
#define MBR_TYPE	4u
#define MBR_FIRST	8u	/* sector */
#define LOGICAL_MAX	60u	/* as many as Linux shows */

/* Blocks of the first @sectors sectors. */
static u64 blocks_of(const struct slow *s, u64 sectors)
{
	return slow_lba(s, sectors - 1) + 1;
}

static bool is_mbr(const u8 *table)
{
	return table[510] == 0x55 && table[511] == 0xaa;
}

static u32 mbr_first(const u8 *table, u32 i)
{
	return le32_at(table + MBR_ENTRIES + MBR_ENTRY * i + MBR_FIRST);
}

static bool mbr_is_extended(const u8 *table, u32 i)
{
	u8 type = table[MBR_ENTRIES + MBR_ENTRY * i + MBR_TYPE];

	return type == 0x05 || type == 0x0f || type == 0x85;
}

void tables_logical(struct slow *s, u64 first, bool (*fn)(void *ctx, u64 lba), void *ctx)
{
	u64 sector = first;

	for (u32 i = 0; i < LOGICAL_MAX; i++) {
		const u8 *table = s->block + slow_at(s, sector);
		u64 lba = slow_lba(s, sector);

		if (lba >= slow_blocks(s) || !fn(ctx, lba) || slow_read(s, lba) || !is_mbr(table) || !mbr_first(table, 1))
			return;
		sector = first + mbr_first(table, 1);
	}
}

struct copying {
	struct slow *s;
	int fd;
	bool failed;
};

static bool copy_one(void *ctx, u64 lba)
{
	struct copying *k = ctx;

	k->failed |= !copy_blocks(k->s, k->fd, lba, lba + 1);
	return !k->failed;
}

static bool copy_logical(struct slow *s, int fd)
{
	struct copying k = { s, fd, false };
	u8 mbr[512];

	if (slow_read(s, 0))
		return false;
	memcpy(mbr, s->block + slow_at(s, 0), sizeof(mbr));
	for (u32 i = 0; i < 4 && is_mbr(mbr); i++)
		if (mbr_is_extended(mbr, i))
			tables_logical(s, mbr_first(mbr, i), copy_one, &k);
	return !k.failed;
}

/* Of a remote disk: its tables, in a file of its size, for who reads only files. -1: no memory, or they cannot be
 * read: what is not there would be zeros. */
static int copy_tables(struct slow *s)
{
	int fd = memfd_create("partition-tables", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, (off_t)s->bytes) || !copy_blocks(s, fd, 0, blocks_of(s, TABLE_SECTORS)) ||
			!copy_logical(s, fd))) {
		close(fd);
		return -1;
	}
	return fd;
}

void tables_read(struct tables *t, struct slow *s)
{
	int fd;

	t->copy = s->fd < 0 ? copy_tables(s) : -1;
	fd = s->fd < 0 ? t->copy : s->fd;
	t->probe = fd < 0 ? NULL : blkid_new_probe();
	t->list = NULL;
	slow_set_direct(s, false);
	if (t->probe && !blkid_probe_set_device(t->probe, fd, 0, 0) &&
	    !blkid_probe_enable_partitions(t->probe, 1))
		t->list = blkid_probe_get_partitions(t->probe);
	slow_set_direct(s, true);
}

void tables_free(struct tables *t)
{
	blkid_free_probe(t->probe);
	if (t->copy >= 0)
		close(t->copy);
}

/* Where superblocks of all that may be on a disk as a whole lie: behind its tables, and before its end. */
#define HEAD_SECTORS	544u
#define TAIL_BLOCKS	66u

static void keep_if_alone(struct tables *t, struct slow *s)
{
	u64 blocks = slow_blocks(s);
	bool alone;

	if (!t->list)
		return;
	slow_set_direct(s, false);
	alone = (t->copy < 0 || (copy_blocks(s, t->copy, blocks_of(s, TABLE_SECTORS), blocks_of(s, HEAD_SECTORS)) &&
				 copy_blocks(s, t->copy, blocks - min(blocks, (u64)TAIL_BLOCKS), blocks))) &&
		partitions_alone(t->probe) == 1;
	t->list = alone ? blkid_probe_get_partitions(t->probe) : NULL;
	slow_set_direct(s, true);
}

void tables_read_alone(struct tables *t, struct slow *s)
{
	tables_read(t, s);
	keep_if_alone(t, s);
}

/* By their sectors, and not by the largest one: two of 30 % that are aligned alike weigh more than one of 40 %. */
static u32 grid_of(blkid_partlist list)
{
	u64 sectors[XP_BLOCK_SECTORS] = { 0 };
	u32 most = 0;

	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);

		if (!blkid_partition_is_extended(part))
			sectors[blkid_partition_get_start(part) % XP_BLOCK_SECTORS] += (u64)blkid_partition_get_size(part);
	}
	for (u32 grid = 1; grid < XP_BLOCK_SECTORS; grid++)
		if (sectors[grid] > sectors[most])
			most = grid;
	return most;
}

u32 tables_grid(struct slow *s)
{
	struct tables t;
	u32 grid;

	tables_read_alone(&t, s);
	grid = t.list ? grid_of(t.list) : 0;
	tables_free(&t);
	return grid;
}

u64 tables_blocks(const struct slow *s)
{
	return blocks_of(s, GPT_SECTORS);
}
