// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fast device whose superblocks are both gone. Where the journal and the slots lie follows from how much of it the
 * cache has; of which cache they are the journal says, and the fingerprint.
 *
 * I10: by a wrong size other slots would be read, and written home. So the size is what the user or the fingerprint says,
 * or all of the device if the journal has gone round, and so shows its length; and a journal that contradicts is believed.
 *
 * A ring may hold blocks of older caches as well. Each begins to write at place 1 and goes on upwards,
 * so what is before all others there is of the newest.
 */
#include "tools/check/bare.h"
#include "core/bounds.h"
#include "core/fingerprint.h"
#include "core/layout.h"
#include "core/media.h"
#include "core/message.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <string.h>

/* What was read, as a device that has nothing else: xp_follow() then judges this alone. */
static int read_same(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	(void)block;
	(void)nr_blocks;
	memcpy(buf, ctx, sizeof(struct xp_jblock));
	return 0;
}

/* The number of the valid journal block at this place, of whatever cache: its uuid and grid go to @sb. 0: there is none. */
static u64 number_at(const struct xp_media *m, struct xp_sb *sb, u64 position)
{
	struct xp_sb whose = *sb;
	struct xp_jblock b, again;
	const struct xp_media only = { .ctx = &b, .read = read_same };
	struct xp_end end;
	u64 seq;

	if (m->read(m->ctx, le64_to_cpu(sb->journal_start) + position, 1, &b))
		return 0;
	seq = le64_to_cpu(b.head.seq);
	if (!seq || seq >= XP_MAX_SEQ)
		return 0;
	memcpy(whose.uuid, b.head.uuid, sizeof(whose.uuid));
	xp_sb_set_grid(&whose, (le32_to_cpu(b.head.magic) - XP_JOURNAL_MAGIC) % XP_BLOCK_SECTORS);
	if (xp_follow(&only, &whose, seq, &again, &end))
		return 0;
	*sb = whose;
	return seq;
}

static bool is_in_place(const struct xp_sb *sb, u64 seq, u64 position)
{
	return seq % le64_to_cpu(sb->journal_blocks) == position;
}

/* Of a valid journal block at this place; it goes to sb->uuid. */
static bool take_uuid(const struct xp_media *m, struct xp_sb *sb, u64 position)
{
	u64 seq = number_at(m, sb, position);

	return seq && is_in_place(sb, seq, position);
}

/* The grid that the cache's journal blocks tell. */
static void take_grid(const struct xp_media *m, struct xp_sb *sb)
{
	struct xp_sb whose = *sb;

	for (u64 i = 0; i < le64_to_cpu(sb->journal_blocks); i++)
		if (number_at(m, &whose, i) && !memcmp(whose.uuid, sb->uuid, sizeof(whose.uuid))) {
			xp_sb_set_grid(sb, whose.grid);
			return;
		}
}

static bool take_noted_uuid(const struct xp_media *m, struct xp_sb *sb, u64 block)
{
	struct xp_fp fp[2];

	if (m->read(m->ctx, block, 1, &fp[0]))
		return false;
	memcpy(sb->uuid, fp[0].uuid, sizeof(sb->uuid));
	if (xp_fp_read(m, sb->uuid, fp) < 0)
		return false;
	take_grid(m, sb);
	return true;
}

static int lay_out(const struct xp_media *m, u64 blocks, struct xp_sb *sb)
{
	struct xp_message msg;
	int err;

	memset(sb, 0, sizeof(*sb));
	err = xp_sb_layout(sb, blocks, &msg);
	if (err)
		return -ENOENT;
	sb->incompat |= cpu_to_le64(XP_INCOMPAT_SUMS);	/* there may be some */
	if (take_uuid(m, sb, 1) || take_noted_uuid(m, sb, XP_FP_BLOCK_A) || take_noted_uuid(m, sb, XP_FP_BLOCK_B))
		return 0;
	for (u64 i = 2; i < le64_to_cpu(sb->journal_blocks); i++)
		if (take_uuid(m, sb, i))
			return 0;
	if (take_uuid(m, sb, 0))
		return 0;
	for (u64 i = 1; i < le64_to_cpu(sb->journal_blocks); i++)	/* in no place of such a ring: prove() */
		if (number_at(m, sb, i))
			return 0;
	return -ENOENT;
}

/* ---------------------------------------------------- how much it has ---- */

enum proof { PROVES_NOTHING, FITS, CONTRADICTS };

/* What the last places of a ring that has gone round may lack: what recoveries erase, and bad places. */
#define RAGGED	(2 * XP_WINDOW + XP_BAD_PLACES)

static u64 own_number_at(const struct xp_media *m, const struct xp_sb *sb, u64 position)
{
	struct xp_sb whose = *sb;
	u64 seq = number_at(m, &whose, position);

	return memcmp(whose.uuid, sb->uuid, sizeof(whose.uuid)) ? 0 : seq;
}

/* The first place from @position on, or @back from it, that has a number of the cache; @end: none before that has. */
static u64 numbered(const struct xp_media *m, const struct xp_sb *sb, u64 position, u64 end, bool back, u64 *seq)
{
	for (*seq = 0; position != end; position += back ? -1 : 1) {
		*seq = own_number_at(m, sb, position);
		if (*seq)
			break;
	}
	return position;
}

/* In the first lap each number lies at the place of that number, however long the ring. Later both ends tell. */
static enum proof prove(const struct xp_media *m, const struct xp_sb *sb)
{
	u64 ring = le64_to_cpu(sb->journal_blocks), first, last, seq;

	first = numbered(m, sb, 1, ring, false, &seq);
	if (!seq || seq == first)
		return PROVES_NOTHING;
	if (!is_in_place(sb, seq, first))
		return CONTRADICTS;
	last = numbered(m, sb, ring - 1, first, true, &seq);
	if (last > first && !is_in_place(sb, seq, last))
		return CONTRADICTS;
	return last > first && ring - last <= RAGGED ? FITS : PROVES_NOTHING;
}

static u64 noted_blocks(const struct xp_media *m, const struct xp_sb *sb)
{
	struct xp_fp fp[2];

	return xp_fp_read(m, sb->uuid, fp) < 0 ? 0 : xp_fp_fast_blocks(fp);
}

/* Is what is noted true, as far as can be told? */
static bool is_so(const struct xp_media *m, u64 noted, u64 fast_blocks)
{
	struct xp_sb sb;

	return noted <= fast_blocks && !lay_out(m, noted, &sb) && prove(m, &sb) != CONTRADICTS;
}

/* @told: by the user. */
static int superblock_told(const struct xp_media *m, u64 fast_blocks, u64 told, u64 *noted, struct xp_sb *sb)
{
	int err = lay_out(m, told, sb);

	*noted = err ? 0 : noted_blocks(m, sb);
	if (*noted && *noted != told && is_so(m, *noted, fast_blocks))
		return -EEXIST;
	if (err)
		return err;
	return prove(m, sb) == CONTRADICTS || told > fast_blocks ? -ESTALE : 0;
}

/* By what is noted; if nothing is, all of the device has to fit. */
static int superblock_noted(const struct xp_media *m, u64 fast_blocks, u64 *noted, struct xp_sb *sb)
{
	int err = lay_out(m, fast_blocks, sb);

	*noted = err ? 0 : noted_blocks(m, sb);
	if (*noted && *noted != fast_blocks)
		err = lay_out(m, *noted, sb);
	if (err)
		return err;
	if (*noted)
		return prove(m, sb) == CONTRADICTS || *noted > fast_blocks ? -ESTALE : 0;
	return prove(m, sb) == FITS ? 0 : -ENODATA;
}

int bare_superblock(const struct xp_media *m, u64 fast_blocks, u64 told, u64 *noted, struct xp_sb *sb)
{
	return told ? superblock_told(m, fast_blocks, told, noted, sb) : superblock_noted(m, fast_blocks, noted, sb);
}
