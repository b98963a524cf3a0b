// SPDX-License-Identifier: GPL-2.0-only
/*
 * image.c - what both devices would hold after a cut, changed and changed back
 * sector by sector. The same image is looked at once, until less is allowed.
 */
#include <stdio.h>
#include "image.h"
#include "jblock.h"
#include "superblock.h"

struct image image;

struct undo {
	const struct content **cell, *was;
	u64 key;
};

static struct undo *undo;
static u32 nr_undo, max_undo;

static u64 cell_hash(u64 key, const struct content *k)
{
	return k == &content_zero ? 0 : mix(key * 0x9e3779b97f4a7c15ull ^ mix(k->stamp));
}

static u64 key_of(bool slow, u64 sector)
{
	return sector << 1 | slow;
}

void image_put(bool slow, u64 sector, const struct content *k)
{
	const struct content **cell = (slow ? image.slow : image.fast) + sector;
	u64 key = key_of(slow, sector);

	if (*cell == k)
		return;
	if (nr_undo == max_undo) {
		max_undo = max_undo ? 2 * max_undo : 1024;
		undo = realloc(undo, max_undo * sizeof(*undo));
	}
	undo[nr_undo++] = (struct undo){ cell, *cell, key };
	image.hash += cell_hash(key, k) - cell_hash(key, *cell);
	*cell = k;
}

u32 image_mark(void)
{
	return nr_undo;
}

void image_rewind(u32 mark)
{
	while (nr_undo > mark) {
		struct undo *u = &undo[--nr_undo];

		image.hash += cell_hash(u->key, u->was) - cell_hash(u->key, *u->cell);
		*u->cell = u->was;
	}
}

static void image_of(const struct content **fast, const struct content **slow)
{
	u64 i;

	memcpy(image.fast, fast, disk_all(&sim.fast) * sizeof(*image.fast));
	memcpy(image.slow, slow, disk_all(&sim.slow) * sizeof(*image.slow));
	image.hash = 0;
	for (i = 0; i < disk_all(&sim.fast); i++)
		image.hash += cell_hash(key_of(false, i), image.fast[i]);
	for (i = 0; i < disk_all(&sim.slow); i++)
		image.hash += cell_hash(key_of(true, i), image.slow[i]);
	nr_undo = 0;
}

void image_of_floor(void)
{
	image_of(sim.fast.floor, sim.slow.floor);
}

void image_of_seen(void)
{
	image_of(sim.fast.seen, sim.slow.seen);
}

/* ----------------------------------------------- images looked at before ---- */

#define SEEN_MAX (1u << 18)

static u64 seen[SEEN_MAX];
static u32 nr_seen;

void image_forget_seen(void)
{
	memset(seen, 0, sizeof(seen));
	nr_seen = 0;
}

bool image_seen_before(void)
{
	u64 key = mix(image.hash ^ mix(oracle_epoch()));
	u32 i;

	if (nr_seen > SEEN_MAX / 2)
		image_forget_seen();
	for (i = (u32)key % SEEN_MAX; seen[i]; i = (i + 1) % SEEN_MAX)
		if (seen[i] == key)
			return true;
	seen[i] = key;
	nr_seen++;
	return false;
}

void image_new_run(void)
{
	image.fast = arena_alloc(&sim.arena, disk_all(&sim.fast) * sizeof(*image.fast));
	memset(image.fast, 0, disk_all(&sim.fast) * sizeof(*image.fast));
	image.slow = arena_alloc(&sim.arena, disk_all(&sim.slow) * sizeof(*image.slow));
	nr_undo = 0;
	image_forget_seen();
}

/* ----------------------------------------------------------- the ring, told ---- */

static void dump_record(const struct xp_record *r)
{
	static const char * const kind[] = { "?", "map", "clean", "unmap", "zero" };
	u64 word = le64_to_cpu(r->lba);
	u32 k = word >> 40 & 0xff, flags = word >> 48 & 0xff;

	printf(" %s %llu>%u%s%s%s", k < 5 ? kind[k] : "?",
	       (unsigned long long)(word & (XP_MAX_LBAS - 1)), le32_to_cpu(r->slot),
	       flags & XP_REC_DIRTY ? "d" : "", flags & XP_REC_ZEROS ? "z" : "",
	       flags & XP_REC_CHECKED ? "c" : "");
	if (flags & XP_REC_RUN)
		printf("+%u", record_blocks(r) - 1);
}

void image_dump(void)
{
	struct xp_jblock b;
	u64 at, i;

	for (at = 0; image.fast && image.fast[0] && at < sim.geometry.ring; at++) {
		u64 s = (le64_to_cpu(sim.sb.journal_start) + at) * XP_BLOCK_SECTORS;

		for (i = 0; i < XP_BLOCK_SECTORS; i++)
			memcpy((u8 *)&b + i * SECTOR, image.fast[s + i]->bytes, SECTOR);
		if (unreadable(image.fast, true, s, 1))
			printf("  place %llu cannot be read\n", (unsigned long long)at);
		if (le32_to_cpu(b.head.magic) != xp_sb_journal_magic(&sim.sb))
			continue;
		printf("  ring %llu: seq %llu tail %llu durable %llu incarnation %llu:",
		       (unsigned long long)at, (unsigned long long)le64_to_cpu(b.head.seq),
		       (unsigned long long)le64_to_cpu(b.head.tail_seq),
		       (unsigned long long)le64_to_cpu(b.head.durable_seq),
		       (unsigned long long)le64_to_cpu(b.head.incarnation));
		for (i = 0; i < (le16_to_cpu(b.head.count) > XP_RECORDS ? 0 : xp_block_records(&b)); i++)
			dump_record(&b.rec[i]);
		putchar('\n');
	}
}
