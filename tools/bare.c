// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fast device whose superblocks are both gone. Where the journal and the slots lie follows from its
 * size; of which cache they are the journal says, and the fingerprint.
 *
 * A ring may hold blocks of older caches as well. Each begins to write at place 1 and goes on upwards,
 * so what is before all others there is of the newest.
 */
#include "fingerprint.h"

/* What was read, as a device of one block: xp_follow() then judges this alone. */
struct one {
	u64 block;
	struct xp_jblock b;
};

static int read_one(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	const struct one *o = ctx;

	if (nr_blocks != 1 || block != o->block)
		return -EIO;
	memcpy(buf, &o->b, sizeof(o->b));
	return 0;
}

/* Of a valid journal block at this place; it goes to sb->uuid. */
static bool take_uuid(const struct xp_media *m, struct xp_sb *sb, u64 position)
{
	struct one o = { .block = le64_to_cpu(sb->journal_start) + position };
	const struct xp_media only = { .ctx = &o, .read = read_one };
	struct xp_jblock again;
	struct xp_end end;
	u64 seq;

	if (m->read(m->ctx, o.block, 1, &o.b))
		return false;
	seq = le64_to_cpu(o.b.head.seq);
	if (!seq || seq >= XP_MAX_SEQ || seq % le64_to_cpu(sb->journal_blocks) != position)
		return false;
	memcpy(sb->uuid, o.b.head.uuid, sizeof(sb->uuid));
	return !xp_follow(&only, sb, seq, &again, &end);
}

static bool take_noted_uuid(const struct xp_media *m, struct xp_sb *sb, u64 block)
{
	struct xp_fp fp[2];

	if (m->read(m->ctx, block, 1, &fp[0]))
		return false;
	memcpy(sb->uuid, fp[0].uuid, sizeof(sb->uuid));
	return xp_fp_read(m, sb->uuid, fp) >= 0;
}

int bare_superblock(const struct xp_media *m, u64 fast_blocks, struct xp_sb *sb)
{
	struct xp_message msg;
	int err;

	memset(sb, 0, sizeof(*sb));
	err = xp_sb_layout(sb, fast_blocks, &msg);
	if (err)
		return -ENOENT;
	if (take_uuid(m, sb, 1) || take_noted_uuid(m, sb, XP_FP_BLOCK_A) || take_noted_uuid(m, sb, XP_FP_BLOCK_B))
		return 0;
	for (u64 i = 2; i < le64_to_cpu(sb->journal_blocks); i++)
		if (take_uuid(m, sb, i))
			return 0;
	return take_uuid(m, sb, 0) ? 0 : -ENOENT;
}
