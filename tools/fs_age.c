// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of two states of a file system is the later one, by what its superblock counts.
 *
 * Any sector of a block may begin a superblock: old partitions are aligned to nothing.
 */
#include "fingerprint.h"

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

/* Its superblock is 1 KiB, and what counts in the first half: s_magic 0x38, s_uuid 0x68,
 * s_kbytes_written 0x178. Not s_wtime: the clock of an old machine may begin in 1970 again. */
static bool is_ext(const u8 *b)
{
	return le_at(b + 0x38, 2) == 0xef53 && le_at(b + 0x4c, 4) <= 1 && le_at(b + 0x18, 4) <= 6;
}

static bool ext_newer(const u8 *ours, const u8 *other)
{
	return !memcmp(ours + 0x68, other + 0x68, 16) &&
	       le_at(other + 0x178, 8) > le_at(ours + 0x178, 8);
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

/* fsid 0x20, magic 0x40, generation 0x48. */
static bool is_btrfs(const u8 *b)
{
	return !memcmp(b + 0x40, "_BHRfS_M", 8);
}

static bool btrfs_newer(const u8 *ours, const u8 *other)
{
	return !memcmp(ours + 0x20, other + 0x20, 16) && le_at(other + 0x48, 8) > le_at(ours + 0x48, 8);
}

static const struct kind {
	const char *name;
	bool (*is)(const u8 *b);
	bool (*newer)(const u8 *ours, const u8 *other);
} kinds[] = {
	{ "ext4", is_ext, ext_newer },
	{ "XFS", is_xfs, xfs_newer },
	{ "btrfs", is_btrfs, btrfs_newer },
};

bool fs_newer(const u8 ours[XP_BLOCK_SIZE], const u8 other[XP_BLOCK_SIZE], const char **what)
{
	for (u32 at = 0; at < XP_BLOCK_SIZE; at += SECTOR)
		for (u32 i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			const struct kind *k = &kinds[i];

			if (k->is(ours + at) && k->is(other + at) && k->newer(ours + at, other + at)) {
				*what = k->name;
				return true;
			}
		}
	return false;
}
