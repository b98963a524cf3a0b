// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks of the slow device tell that somebody used it without the cache.
 *
 * Whoever mounts a file system for writing changes its superblock: ext4, XFS, FAT and the others in
 * the first 4 KiB, btrfs at 64 KiB; NTFS the first records of its file table. LVM's metadata are in
 * the first two blocks. A partition editor writes the table, and GPT's copy at the end.
 */
#include "lib/slow.h"
#include "tools/guard/fingerprint.h"
#include "tools/guard/tables.h"

#include <blkid/blkid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define SPREAD		64u	/* over all of the device */
#define BTRFS		(65536u >> XP_BLOCK_SHIFT)
#define NTFS_RECORDS	4u	/* blocks: 16 records of 1 KiB, the system's own */

static void add(struct places *p, const struct slow *s, u64 lba)
{
	if (p->n < XP_FP_NOTED && lba < slow_blocks(s))
		p->lba[p->n++] = lba;
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
		u64 lba = slow_lba(s, sector + (inner[i] >> XP_SECTOR_SHIFT));

		if (inner[i] >> XP_SECTOR_SHIFT >= sectors)
			break;
		add(p, s, lba);
		add(p, s, lba + BTRFS);
	}
}

/* What begins at a sector may not be aligned to our blocks. */
static void add_region(struct places *p, struct slow *s, u64 sector, u64 sectors)
{
	u64 first = slow_lba(s, sector), table;

	add(p, s, first);
	add(p, s, first + 1);
	add(p, s, first + BTRFS);
	if (slow_at(s, sector))
		add(p, s, first + 1 + BTRFS);
	if (sectors)
		add(p, s, slow_lba(s, sector + sectors - 1));
	if (slow_read(s, first))
		return;
	table = ntfs_table(s->block + slow_at(s, sector));
	for (u32 i = 0; table && i < NTFS_RECORDS; i++)
		add(p, s, slow_lba(s, sector + (table >> XP_SECTOR_SHIFT)) + i);
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

struct adding {
	struct places *p;
	const struct slow *s;
};

static bool add_one(void *ctx, u64 lba)
{
	const struct adding *k = ctx;

	add(k->p, k->s, lba);
	return true;
}

static void add_partitions(struct places *p, struct slow *s)
{
	struct adding k = { p, s };
	struct tables t;

	tables_read(&t, s);
	for (int i = 0; t.list && i < blkid_partlist_numof_partitions(t.list); i++) {
		blkid_partition part = blkid_partlist_get_partition(t.list, i);

		if (blkid_partition_is_extended(part))
			tables_logical(s, (u64)blkid_partition_get_start(part), add_one, &k);
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
			is = begins_at(s, slow_lba(s, (u64)blkid_partition_get_start(part)), lba);
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

/* Narrows [*first, *end) sectors down to what GPT's tables leave, wherever they are. Not to the
 * first that a partition may have: it is where most tools align the first one to. */
static void gpt_leaves(struct slow *s, u64 *first, u64 *end)
{
	static const u32 sectors[] = { 1, XP_BLOCK_SECTORS };	/* a logical one has; the header is the second */

	for (size_t i = 0; i < sizeof(sectors) / sizeof(*sectors); i++) {
		const u8 *h = s->block + slow_at(s, sectors[i]);

		if (slow_read(s, slow_lba(s, sectors[i])) || memcmp(h, GPT_MAGIC, strlen(GPT_MAGIC)) != 0)
			continue;
		*first = le64_at(h + GPT_ENTRIES) * sectors[i] +
			 (((u64)le32_at(h + GPT_COUNT) * le32_at(h + GPT_SIZE) + 511) >> XP_SECTOR_SHIFT);
		*end = (le64_at(h + GPT_LAST) + 1) * sectors[i];
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

u32 fingerprint_gaps(struct slow *s, u64 lba[2])
{
	u64 blocks = slow_lba(s, s->bytes >> XP_SECTOR_SHIFT), first, end, from, to, place[2];
	struct tables t;
	u32 n = 0;

	tables_read_alone(&t, s);
	if (table_leaves(s, t.list, &from, &to)) {
		extent_of(t.list, &first, &end);
		place[0] = slow_lba(s, first) > BOOT_BLOCKS ? slow_lba(s, first) - 1 : 0;
		place[1] = blocks > COPY_BLOCKS && slow_sector(s, blocks - COPY_BLOCKS - 1) >= end ? blocks - COPY_BLOCKS - 1 : 0;
		for (u32 i = 0; i < 2; i++)
			if (place[i] && slow_sector(s, place[i]) >= from && slow_sector(s, place[i] + 1) <= to)
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
		l->range[l->n].from = from + l->before;
		l->range[l->n++].to = to + l->before;
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
	l->before = s->pad << XP_SECTOR_SHIFT;
	tables_read_alone(&t, s);
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
	for (u64 i = 0; i < min(blocks, tables_blocks(s)); i++) {
		add(p, s, i);
		add(p, s, blocks - 1 - i);
	}
	add_spread(p, s, uuid);
	add_region(p, s, 0, 0);
	add_inner(p, s, 0, blocks * XP_BLOCK_SECTORS);
	add_partitions(p, s);
	sort(p);
}
