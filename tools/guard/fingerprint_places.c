// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks of the slow device tell that somebody used it without the cache.
 *
 * Whoever mounts a file system for writing changes its superblock: ext4, XFS, FAT and the others in
 * the first 4 KiB, btrfs at 64 KiB; NTFS the first records of its file table. LVM's metadata are in
 * the first two blocks. A partition editor writes the table, and GPT's copy at the end.
 */
#include "lib/partitions.h"
#include "lib/slow.h"
#include "tools/guard/fingerprint.h"

#include <blkid/blkid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define GPT_BLOCKS	5u	/* header and 128 entries of 128 bytes */
#define TABLE_BLOCKS	8u	/* both tables, with all entries */
#define SPREAD		64u	/* over all of the device */
#define BTRFS		(65536u >> XP_BLOCK_SHIFT)
#define NTFS_RECORDS	4u	/* blocks: 16 records of 1 KiB, the system's own */

static void add(struct places *p, const struct slow *s, u64 lba)
{
	if (p->n < XP_FP_NOTED && lba < slow_blocks(s))
		p->lba[p->n++] = lba;
}

static u32 le16_at(const u8 *b)
{
	return b[0] | (u32)b[1] << 8;
}

static u32 le32_at(const u8 *b)
{
	return le16_at(b) | le16_at(b + 2) << 16;
}

/* Where NTFS's file table begins, in bytes; 0: this is none. */
static u64 ntfs_table(const u8 *boot)
{
	u64 cluster, sectors;

	memcpy(&cluster, boot + 0x30, sizeof(cluster));
	if (memcmp(boot + 3, "NTFS    ", 8) != 0)
		return 0;
	sectors = boot[0x0d] <= 128 ? boot[0x0d] : 1ull << (256 - boot[0x0d]) % 32;
	return le64_to_cpu((__le64)cluster) * sectors * le16_at(boot + 0x0b);
}

/* Where a volume's own contents may begin, bytes from its start. */
static const u32 inner[] = { 1u << 20, 2u << 20, 3u << 20, 16u << 20, 17u << 20 };

static void add_inner(struct places *p, struct slow *s, u64 sector, u64 sectors)
{
	for (u32 i = 0; i < sizeof(inner) / sizeof(*inner); i++) {
		u64 lba = ((sector << XP_SECTOR_SHIFT) + inner[i]) / XP_BLOCK_SIZE;

		if (inner[i] >> XP_SECTOR_SHIFT >= sectors)
			break;
		add(p, s, lba);
		add(p, s, lba + BTRFS);
	}
}

/* What begins at a sector may not be aligned to our blocks. */
static void add_region(struct places *p, struct slow *s, u64 sector, u64 sectors)
{
	u64 first = sector / XP_BLOCK_SECTORS, table;

	add(p, s, first);
	add(p, s, first + 1);
	add(p, s, first + BTRFS);
	if (sector % XP_BLOCK_SECTORS)
		add(p, s, first + 1 + BTRFS);
	if (sectors)
		add(p, s, (sector + sectors - 1) / XP_BLOCK_SECTORS);
	if (slow_read(s, first))
		return;
	table = ntfs_table(s->block + (sector % XP_BLOCK_SECTORS << XP_SECTOR_SHIFT));
	for (u32 i = 0; table && i < NTFS_RECORDS; i++)
		add(p, s, ((sector << XP_SECTOR_SHIFT) + table) / XP_BLOCK_SIZE + i);
}

static void each_partition(struct places *p, struct slow *s, blkid_partlist list,
			   void (*fn)(struct places *p, struct slow *s, u64 sector, u64 sectors))
{
	for (int i = 0; list && i < blkid_partlist_numof_partitions(list); i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);

		if (!blkid_partition_is_extended(part))
			fn(p, s, (u64)blkid_partition_get_start(part), (u64)blkid_partition_get_size(part));
	}
}

/* From the block @lba on into the same place of a file. */
static bool copy_blocks(struct slow *s, int fd, u64 lba, u64 end)
{
	for (; lba < min(end, slow_blocks(s)); lba++)
		if (slow_read(s, lba) ||
		    pwrite(fd, s->block, XP_BLOCK_SIZE, (off_t)(lba * XP_BLOCK_SIZE)) != XP_BLOCK_SIZE)
			return false;
	return true;
}

/* Of a remote disk: its tables, in a file of its size, for who reads only files. -1: no memory, or they cannot be
 * read: what is not there would be zeros. */
static int copy_tables(struct slow *s)
{
	int fd = memfd_create("partition-tables", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, (off_t)s->bytes) || !copy_blocks(s, fd, 0, TABLE_BLOCKS))) {
		close(fd);
		return -1;
	}
	return fd;
}

struct tables {
	int copy;
	blkid_probe probe;
	blkid_partlist list;	/* NULL: none */
};

static void tables_read(struct tables *t, struct slow *s)
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

static void tables_free(struct tables *t)
{
	blkid_free_probe(t->probe);
	if (t->copy >= 0)
		close(t->copy);
}

#define MBR_ENTRIES	446u
#define MBR_LINK	(MBR_ENTRIES + 16u + 8u)	/* the first sector of the second entry */
#define LOGICAL_MAX	60u	/* as many as Linux shows */

/* Each logical partition of an MBR has a table of its own, which says where the next one is. */
static void add_chain(struct places *p, struct slow *s, u64 first)
{
	u64 sector = first;
	u32 next;

	for (u32 i = 0; i < LOGICAL_MAX; i++) {
		const u8 *table = s->block + (sector % XP_BLOCK_SECTORS << XP_SECTOR_SHIFT);

		add(p, s, sector / XP_BLOCK_SECTORS);
		if (sector / XP_BLOCK_SECTORS >= slow_blocks(s) || slow_read(s, sector / XP_BLOCK_SECTORS))
			return;
		next = le32_at(table + MBR_LINK);
		if (table[510] != 0x55 || table[511] != 0xaa || !next)
			return;
		sector = first + next;
	}
}

static void add_partitions(struct places *p, struct slow *s)
{
	struct tables t;

	tables_read(&t, s);
	for (int i = 0; t.list && i < blkid_partlist_numof_partitions(t.list); i++) {
		blkid_partition part = blkid_partlist_get_partition(t.list, i);

		if (blkid_partition_is_extended(part))
			add_chain(p, s, (u64)blkid_partition_get_start(part));
	}
	each_partition(p, s, t.list, add_region);
	each_partition(p, s, t.list, add_inner);
	tables_free(&t);
}

/* btrfs leaves the beginning to others. */
static bool begins_at(struct slow *s, u64 first, u64 lba)
{
	return lba == first || (lba == first + BTRFS && !slow_read(s, first) && slow_is_all(s, 0));
}

bool fingerprint_begins(struct slow *s, u64 lba)
{
	struct tables t;
	bool is = false;

	tables_read(&t, s);
	for (int i = 0; t.list && i < blkid_partlist_numof_partitions(t.list) && !is; i++) {
		blkid_partition part = blkid_partlist_get_partition(t.list, i);

		if (!blkid_partition_is_extended(part))
			is = begins_at(s, (u64)blkid_partition_get_start(part) / XP_BLOCK_SECTORS, lba);
	}
	tables_free(&t);
	return is;
}

/* From the first sector of a partition to the end of the last. */
static void extent_of(blkid_partlist list, u64 *first, u64 *end)
{
	*first = UINT64_MAX;
	*end = 0;
	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);
		u64 start = (u64)blkid_partition_get_start(part);

		*first = min(*first, start);
		*end = max(*end, start + (u64)blkid_partition_get_size(part));
	}
}

#define GPT_MAGIC	"EFI PART"
#define GPT_LAST	48u	/* of the header: the last sector that is not GPT's own, */
#define GPT_ENTRIES	72u	/* the first of the partitions' entries, and how many of what size */
#define GPT_COUNT	80u
#define GPT_SIZE	84u
#define LDM		0x42	/* a Windows dynamic disk keeps its database behind the last partition */

static u64 le64_at(const u8 *b)
{
	__le64 field;

	memcpy(&field, b, sizeof(field));
	return le64_to_cpu(field);
}

/* Narrows [*first, *end) sectors down to what GPT's tables leave, wherever they are. Not to the
 * first that a partition may have: it is where most tools align the first one to. */
static void gpt_leaves(struct slow *s, u64 *first, u64 *end)
{
	static const struct { u64 lba; u32 at, sectors; } header[] = {
		{ 0, 512, 1 }, { 1, 0, XP_BLOCK_SECTORS },
	};

	for (size_t i = 0; i < sizeof(header) / sizeof(*header); i++) {
		const u8 *h = s->block + header[i].at;

		if (slow_read(s, header[i].lba) || memcmp(h, GPT_MAGIC, strlen(GPT_MAGIC)) != 0)
			continue;
		*first = le64_at(h + GPT_ENTRIES) * header[i].sectors +
			 (((u64)le32_at(h + GPT_COUNT) * le32_at(h + GPT_SIZE) + 511) >> XP_SECTOR_SHIFT);
		*end = (le64_at(h + GPT_LAST) + 1) * header[i].sectors;
		return;
	}
	*end = 0;
}

static bool has_ldm(blkid_partlist list)
{
	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++)
		if (blkid_partition_get_type(blkid_partlist_get_partition(list, i)) == LDM)
			return true;
	return false;
}

/* What a boot loader lies in before the first partition, and GPT's copy at the end with room for
 * its entries: so many blocks are never free. */
#define BOOT_BLOCKS	128u
#define COPY_BLOCKS	16u

/* Sectors that the kind of table leaves to partitions; false: no table that we know. */
static bool table_leaves(struct slow *s, blkid_partlist list, u64 *first, u64 *end)
{
	blkid_parttable table = list ? blkid_partlist_get_table(list) : NULL;
	const char *type = table ? blkid_parttable_get_type(table) : NULL;

	if (!type || !blkid_partlist_numof_partitions(list))
		return false;
	*first = 0;
	*end = s->bytes >> XP_SECTOR_SHIFT;
	if (!strcmp(type, "gpt"))
		gpt_leaves(s, first, end);
	else if (strcmp(type, "dos") != 0 || has_ldm(list))
		return false;
	return true;
}

/* Where superblocks of all that may be on a disk as a whole lie: behind its tables, and before its end. */
#define HEAD_BLOCKS	68u
#define TAIL_BLOCKS	66u

/* No table is left if the disk is something else as a whole: on a file system, or half of a mirror, one may be old
 * or another device's, and what it leaves free is theirs. */
static void table_alone(struct tables *t, struct slow *s)
{
	u64 blocks = slow_blocks(s);
	bool alone;

	if (!t->list)
		return;
	slow_set_direct(s, false);
	alone = (t->copy < 0 || (copy_blocks(s, t->copy, TABLE_BLOCKS, HEAD_BLOCKS) &&
				 copy_blocks(s, t->copy, blocks - min(blocks, (u64)TAIL_BLOCKS), blocks))) &&
		partitions_alone(t->probe) == 1;
	t->list = alone ? blkid_probe_get_partitions(t->probe) : NULL;
	slow_set_direct(s, true);
}

u32 fingerprint_gaps(struct slow *s, u64 lba[2])
{
	u64 blocks = s->bytes / XP_BLOCK_SIZE, first, end, from, to, place[2];
	struct tables t;
	u32 n = 0;

	tables_read(&t, s);
	table_alone(&t, s);
	if (table_leaves(s, t.list, &from, &to)) {
		extent_of(t.list, &first, &end);
		place[0] = first / XP_BLOCK_SECTORS > BOOT_BLOCKS ? first / XP_BLOCK_SECTORS - 1 : 0;
		place[1] = blocks > COPY_BLOCKS && (blocks - COPY_BLOCKS - 1) * XP_BLOCK_SECTORS >= end ?
			   blocks - COPY_BLOCKS - 1 : 0;
		for (u32 i = 0; i < 2; i++)
			if (place[i] && place[i] * XP_BLOCK_SECTORS >= from && (place[i] + 1) * XP_BLOCK_SECTORS <= to)
				lba[n++] = place[i];
	}
	tables_free(&t);
	return n;
}

/* GPT's kind of partition for a loader on a machine whose firmware knows no GPT. */
#define BIOS_BOOT	"21686148-6449-6e6f-744e-656564454649"
#define BIOS_BOOT_MAX	(4u << 20)	/* a larger one is no loader's */
#define MBR_CODE	440u	/* bytes; then the disk's number and the table */
#define MBR_GAP_MAX	(1u << 20)	/* no loader goes further, however far the first partition is */

static void add_range(struct loader *l, u64 from, u64 to)
{
	if (l->n < LOADER_MAX && from < to) {
		l->range[l->n].from = from;
		l->range[l->n++].to = to;
	}
}

static void add_bios_boot(struct loader *l, blkid_partition part)
{
	const char *type = blkid_partition_get_type_string(part);
	u64 from = (u64)blkid_partition_get_start(part) << XP_SECTOR_SHIFT,
	    bytes = (u64)blkid_partition_get_size(part) << XP_SECTOR_SHIFT;

	if (type && !strcasecmp(type, BIOS_BOOT) && bytes <= BIOS_BOOT_MAX)
		add_range(l, from, from + bytes);
}

static void add_loader(struct loader *l, blkid_partlist list)
{
	u64 first, end;

	add_range(l, 0, MBR_CODE);
	extent_of(list, &first, &end);
	if (!strcmp(blkid_parttable_get_type(blkid_partlist_get_table(list)), "dos"))
		add_range(l, 1u << XP_SECTOR_SHIFT, min(first << XP_SECTOR_SHIFT, (u64)MBR_GAP_MAX));
	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++)
		add_bios_boot(l, blkid_partlist_get_partition(list, i));
}

void fingerprint_loader(struct loader *l, struct slow *s)
{
	u32 bad = s->bad;
	struct tables t;
	u64 from, to;

	l->n = 0;
	tables_read(&t, s);
	table_alone(&t, s);
	if (table_leaves(s, t.list, &from, &to))
		add_loader(l, t.list);
	tables_free(&t);
	s->bad = bad;
}

void loader_leave_out(const struct loader *l, u64 lba, u8 block[XP_BLOCK_SIZE])
{
	u64 begin = lba << XP_BLOCK_SHIFT;

	for (u32 i = 0; i < l->n; i++) {
		u64 from = max(l->range[i].from, begin), to = min(l->range[i].to, begin + XP_BLOCK_SIZE);

		if (from < to)
			memset(block + (from - begin), 0, to - from);
	}
}

static void add_spread(struct places *p, const struct slow *s, const u8 uuid[16])
{
	u64 step = max(slow_blocks(s) / SPREAD, (u64)1);

	for (u64 i = 0; i < SPREAD && p->n < XP_FP_NOTED; i++) {
		u8 seed[24];

		memcpy(seed, uuid, 16);
		memcpy(seed + 16, &i, sizeof(i));
		add(p, s, i * step + xp_xxh64(seed, sizeof(seed)) % step);
	}
}

static int by_lba(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void sort(struct places *p)
{
	u32 n = 0;

	qsort(p->lba, p->n, sizeof(*p->lba), by_lba);
	for (u32 i = 0; i < p->n; i++)
		if (!n || p->lba[n - 1] != p->lba[i])
			p->lba[n++] = p->lba[i];
	p->n = n;
}

void fingerprint_places(struct places *p, struct slow *s, const u8 uuid[16])
{
	u64 blocks = slow_blocks(s);

	p->n = 0;
	for (u64 i = 0; i < min(blocks, (u64)GPT_BLOCKS); i++) {
		add(p, s, i);
		add(p, s, blocks - 1 - i);
	}
	add_spread(p, s, uuid);
	add_region(p, s, 0, 0);
	add_inner(p, s, 0, blocks * XP_BLOCK_SECTORS);
	add_partitions(p, s);
	sort(p);
}
