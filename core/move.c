// SPDX-License-Identifier: GPL-2.0-only
/*
 * move.c - an empty cache moves from one fast device to another. For the command line: not in the module.
 *
 * I1, I2: of two devices at most one is the cache, whatever a power cut leaves. The one moment is the last write of
 * xp_move_leave(): before it the second copy here verifies, and the superblock there is refused; after it both copies
 * here are refused for good. A copy that takes no write is met before that moment.
 */
#include "format.h"
#include "layout.h"
#include "media.h"
#include "move.h"
#include "superblock.h"

bool xp_move_is_away(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_AWAY;
}

bool xp_move_is_coming(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_COMING;
}

bool xp_move_says(const struct xp_sb *sb)
{
	return xp_move_is_away(sb) || xp_move_is_coming(sb);
}

bool xp_move_has_left(const struct xp_sb *here, const struct xp_sb *there)
{
	return xp_move_is_away(here) && !xp_move_is_away(there) && here->move == there->move &&
	       !memcmp(here->uuid, there->uuid, sizeof(here->uuid));
}

void xp_move_as(struct xp_sb *sb, const struct xp_sb *was)
{
	u64 same = XP_INCOMPAT_SUMS | XP_INCOMPAT_MODE;

	memcpy(sb->uuid, was->uuid, sizeof(sb->uuid));
	memcpy(sb->name, was->name, sizeof(sb->name));
	sb->created = was->created;
	sb->slow = was->slow;
	sb->mode = was->mode;
	xp_sb_set_grid(sb, was->grid);
	sb->incompat &= cpu_to_le64(~same);
	sb->incompat |= was->incompat & cpu_to_le64(same);
}

static void set_feature(struct xp_sb *sb, u64 bit)
{
	u64 others = le64_to_cpu(sb->incompat) & ~(XP_INCOMPAT_AWAY | XP_INCOMPAT_COMING);

	sb->incompat = cpu_to_le64(others | bit);
	sb->generation = cpu_to_le64(le64_to_cpu(sb->generation) + 1);
}

/*
 * The device may have been this cache's before, or a copy of it: no journal block, fingerprint or note of that time
 * may be taken for this one's.
 */
static int zero_metadata(const struct xp_media *m, u64 end, void *zeros, u32 nr)
{
	u64 at;
	int err = xp_sb_erase(m, zeros);

	memset(zeros, 0, (size_t)nr * XP_BLOCK_SIZE);
	for (at = 0; at < end && !err; at += nr)
		err = m->write(m->ctx, at, (u32)min(end - at, (u64)nr), zeros);
	return err;
}

int xp_move_announce(const struct xp_media *there, struct xp_sb *sb, u64 id, void *zeros, u32 nr)
{
	int err = zero_metadata(there, le64_to_cpu(sb->data_start), zeros, nr);

	set_feature(sb, XP_INCOMPAT_COMING);
	sb->move = cpu_to_le64(id);
	return err ? err : xp_format(there, sb, zeros);
}

int xp_move_leave(const struct xp_media *here, struct xp_sb *sb, u64 id)
{
	struct xp_sb was = *sb;
	int err;

	set_feature(sb, XP_INCOMPAT_AWAY);
	sb->move = cpu_to_le64(id);
	xp_sb_seal(sb);
	err = here->write(here->ctx, XP_SB_BLOCK_A, 1, sb);
	if (!err) {
		err = here->write(here->ctx, XP_SB_BLOCK_B, 1, sb);
		if (err) {	/* a copy that can be read is to say that it is here, as that one says it */
			xp_sb_seal(&was);	/* its words may have been made clean */
			here->write(here->ctx, XP_SB_BLOCK_A, 1, &was);
		}
	}
	return err;
}

enum copy { COPY_OTHER, COPY_ZERO, COPY_OURS };

/* Each by itself: whoever takes the device for something else may write over one of them alone. */
static int look_at_copy(const struct xp_media *m, u64 at, const struct xp_sb *sb, struct xp_sb *block, enum copy *is)
{
	static const struct xp_sb zeros;
	int err = m->read(m->ctx, at, 1, block);

	*is = COPY_OTHER;
	if (err)
		return err;
	if (!memcmp(block, &zeros, sizeof(zeros)))
		*is = COPY_ZERO;
	else if (!memcmp(block->magic, sb->magic, sizeof(sb->magic)) &&
		 le64_to_cpu(block->checksum) == xp_xxh64(block, offsetof(struct xp_sb, checksum)) &&
		 xp_move_is_away(block) && block->move == sb->move && !memcmp(block->uuid, sb->uuid, sizeof(sb->uuid)))
		*is = COPY_OURS;
	return 0;
}

/* The first copy was durable before the second was written; that may be torn. */
int xp_move_confirm(const struct xp_media *here, const struct xp_sb *sb, void *block)
{
	enum copy first;
	int err = look_at_copy(here, XP_SB_BLOCK_A, sb, block, &first);

	if (!err && first != COPY_OURS)
		err = -ESTALE;
	return err ? err : here->write(here->ctx, XP_SB_BLOCK_B, 1, block);
}

int xp_move_settle(const struct xp_media *there, struct xp_sb *sb)
{
	xp_sb_seal(sb);
	return there->write(there->ctx, XP_SB_BLOCK_B, 1, sb);
}

static int erase_copy(const struct xp_media *m, u64 at, void *block)
{
	memset(block, 0, XP_BLOCK_SIZE);
	return m->write(m->ctx, at, 1, block);
}

int xp_move_erase(const struct xp_media *here, const struct xp_sb *sb, void *block)
{
	enum copy first, second;
	int err = look_at_copy(here, XP_SB_BLOCK_A, sb, block, &first);

	if (!err && first == COPY_OTHER)
		err = -ESTALE;
	if (!err && first == COPY_OURS)
		err = erase_copy(here, XP_SB_BLOCK_A, block);
	if (!err)
		err = look_at_copy(here, XP_SB_BLOCK_B, sb, block, &second);
	return err || second != COPY_OURS ? err : erase_copy(here, XP_SB_BLOCK_B, block);
}

void xp_move_clear(struct xp_sb *sb)
{
	set_feature(sb, 0);
}

int xp_move_arrive(const struct xp_media *there, struct xp_sb *sb)
{
	xp_move_clear(sb);
	return xp_sb_write(there, sb);
}
