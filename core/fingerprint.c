// SPDX-License-Identifier: GPL-2.0-only
/*
 * fingerprint.c - reads what was noted of the slow device when the cache came to rest.
 *
 * The command line writes it (tools/guard/fingerprint.c). Recovery asks where the journal ended
 * then, and a backend where a mark may be.
 */
#include "fingerprint.h"
#include "media.h"

static bool is_valid(const struct xp_fp *fp, const u8 uuid[16])
{
	return !memcmp(fp->magic, XP_FP_MAGIC, sizeof(fp->magic)) &&
	       !memcmp(fp->uuid, uuid, sizeof(fp->uuid)) &&
	       le32_to_cpu(fp->count) <= XP_FP_BLOCKS &&
	       le64_to_cpu(fp->checksum) == xp_xxh64(fp, offsetof(struct xp_fp, checksum));
}

int xp_fp_read(const struct xp_media *m, const u8 uuid[16], struct xp_fp fp[2])
{
	static const u64 place[2] = { XP_FP_BLOCK_A, XP_FP_BLOCK_B };
	bool valid[2] = { false, false }, unread = false;
	u32 i;

	for (i = 0; i < 2; i++) {
		bool read = !m->read(m->ctx, place[i], 1, &fp[i]);

		valid[i] = read && is_valid(&fp[i], uuid);
		unread |= !read;
	}
	if (!valid[0] && !valid[1])
		return unread ? -EIO : -ENOENT;
	if (valid[0] && (!valid[1] || le64_to_cpu(fp[0].serial) >= le64_to_cpu(fp[1].serial)))
		return 0;
	fp[0] = fp[1];
	return 1;
}

u64 xp_fp_fast_blocks(const struct xp_fp *fp)
{
	return le32_to_cpu(fp->count) < XP_FP_BLOCKS ?
	       le64_to_cpu(fp->block[XP_FP_BLOCKS - 1].lba) : 0;
}

int xp_mark_place(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp fp[2], u64 *lba)
{
	int newest;

	*lba = 0;
	if (!(le64_to_cpu(sb->incompat) & XP_INCOMPAT_MARK))
		return 0;
	newest = xp_fp_read(m, sb->uuid, fp);
	if (newest >= 0)
		*lba = le64_to_cpu(fp->mark);
	return newest == -EIO ? newest : 0;
}
