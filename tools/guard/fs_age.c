// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is one state of a file system an earlier one of another, by what its superblock counts? If its count
 * is higher it is not. And if it has been used elsewhere since, from an earlier state on, its count may
 * be any: then it says of one mount, or of one transaction, what the other does not.
 *
 * Any sector of a block may begin a superblock: old partitions are aligned to nothing.
 */
#include "tools/guard/fs_age.h"

#include <string.h>

#define SECTOR	512u

static u64 le_at(const u8 *b, u32 bytes)
{
	u64 n = 0;

	while (bytes--)
		n = n << 8 | b[bytes];
	return n;
}

static u64 be_at(const u8 *b)
{
	u64 n = 0;

	for (u32 i = 0; i < 8; i++)
		n = n << 8 | b[i];
	return n;
}

/* Its superblock is 1 KiB, and what counts in the first half: s_mtime 0x2c, s_mnt_count 0x34, s_magic 0x38,
 * s_lastcheck 0x40, s_uuid 0x68, s_kbytes_written 0x178. No time is later than another: the clock of an old
 * machine may begin in 1970 again. */
static bool is_ext(const u8 *b)
{
	return le_at(b + 0x38, 2) == 0xef53 && le_at(b + 0x4c, 4) <= 1 && le_at(b + 0x18, 4) <= 6;
}

/* Mounts are counted from one check on, and the time of each is noted together with its number. A count that
 * is far below has begun anew: tune2fs does that, and a check whose clock is not to be believed. */
#define EXT_MOUNTS	8u

static bool ext_mounted(const u8 *ours, const u8 *other)
{
	u64 was = le_at(ours + 0x34, 2), is = le_at(other + 0x34, 2);

	return le_at(ours + 0x40, 4) == le_at(other + 0x40, 4) && le_at(ours + 0x2c, 4) != le_at(other + 0x2c, 4) &&
	       is >= was && is - was <= EXT_MOUNTS;
}

static bool ext_newer(const u8 *ours, const u8 *other)
{
	return !memcmp(ours + 0x68, other + 0x68, 16) &&
	       (le_at(other + 0x178, 8) > le_at(ours + 0x178, 8) || ext_mounted(ours, other));
}

/* sb_uuid 32, sb_lsn 240: of the last transaction that wrote it; repair only raises it. */
static bool is_xfs(const u8 *b)
{
	return !memcmp(b, "XFSB", 4) && (b[101] & 0xf) == 5;	/* sb_versionnum: with checksums */
}

static bool xfs_newer(const u8 *ours, const u8 *other)
{
	return !memcmp(ours + 32, other + 32, 16) && be_at(other + 240) > be_at(ours + 240);
}

/* fsid 0x20, magic 0x40, generation 0x48; and from 0xb2b on, in 168 bytes each, of the last four generations where
 * their trees begin: the root's place first, and its generation. */
#define BTRFS_LAST	0xb2b
#define BTRFS_LAST_SIZE	168
#define BTRFS_LASTS	4
#define BTRFS_SIZE	(BTRFS_LAST + BTRFS_LASTS * BTRFS_LAST_SIZE)
static bool is_btrfs(const u8 *b)
{
	return !memcmp(b + 0x40, "_BHRfS_M", 8);
}

static bool btrfs_newer(const u8 *ours, const u8 *other)
{
	return !memcmp(ours + 0x20, other + 0x20, 16) && le_at(other + 0x48, 8) > le_at(ours + 0x48, 8);
}

/* A generation that both have, with other trees. */
static bool btrfs_branched(const u8 *ours, const u8 *other)
{
	if (memcmp(ours + 0x20, other + 0x20, 16) != 0)
		return false;
	for (u32 i = 0; i < BTRFS_LASTS; i++)
		for (u32 j = 0; j < BTRFS_LASTS; j++) {
			const u8 *a = ours + BTRFS_LAST + i * BTRFS_LAST_SIZE;
			const u8 *b = other + BTRFS_LAST + j * BTRFS_LAST_SIZE;

			if (le_at(a, 8) && le_at(a + 8, 8) == le_at(b + 8, 8) && memcmp(a, b, BTRFS_LAST_SIZE) != 0)
				return true;
		}
	return false;
}

static const struct kind {
	const char *name;
	bool (*is)(const u8 *b);
	bool (*newer)(const u8 *ours, const u8 *other);
	u32 bytes;		/* of which they are read */
} kinds[] = {
	{ "ext4", is_ext, ext_newer, SECTOR },
	{ "XFS", is_xfs, xfs_newer, SECTOR },
	{ "btrfs", is_btrfs, btrfs_newer, SECTOR },
	{ "btrfs", is_btrfs, btrfs_branched, BTRFS_SIZE },
};

bool fs_newer(const u8 ours[XP_BLOCK_SIZE], const u8 other[XP_BLOCK_SIZE], const char **what)
{
	for (u32 at = 0; at < XP_BLOCK_SIZE; at += SECTOR)
		for (u32 i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			const struct kind *k = &kinds[i];

			if (at + k->bytes <= XP_BLOCK_SIZE && k->is(ours + at) && k->is(other + at) &&
			    k->newer(ours + at, other + at)) {
				*what = k->name;
				return true;
			}
		}
	return false;
}
