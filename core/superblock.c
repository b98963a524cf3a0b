// SPDX-License-Identifier: GPL-2.0-only
/*
 * superblock.c - verifying, reading and writing the superblock.
 *
 * I10: what does not verify is refused with what and where.
 */
#include "cache.h"
#include "media.h"
#include "message.h"
#include "options.h"
#include "superblock.h"

#define RING_SHARE	4u	/* a full map fills a quarter of the ring */
#define RING_WINDOWS	12u	/* at least: a quarter of it holds three */

u64 xp_sb_ring_needed(u64 slots)
{
	return max((slots * RING_SHARE + XP_RECORDS - 1) / XP_RECORDS,
		   (u64)RING_WINDOWS * XP_WINDOW);
}

u32 xp_sb_spare_places(const struct xp_sb *sb)
{
	u64 ring = le64_to_cpu(sb->journal_blocks);
	u64 needed = xp_sb_ring_needed(le64_to_cpu(sb->nr_slots));

	return ring > needed ? (u32)min(ring - needed, (u64)XP_BAD_PLACES) : 0;
}

bool xp_sb_same_places(const struct xp_sb *a, const struct xp_sb *b)
{
	return a->journal_start == b->journal_start && a->journal_blocks == b->journal_blocks &&
	       a->data_start == b->data_start;
}

/* ----------------------------------------------------------- verifying ---- */

void xp_sb_seal(struct xp_sb *sb)
{
	sb->checksum = cpu_to_le64(xp_xxh64(sb, offsetof(struct xp_sb, checksum)));
}

static int bad(struct xp_message *msg, int err, const char *what, u64 have)
{
	snprintf(msg->text, sizeof(msg->text), "superblock: %s (%llu)", what,
		 (unsigned long long)have);
	return err;
}

static int bad_number(struct xp_message *msg, const char *what, u64 have)
{
	return bad(msg, -EUCLEAN, what, have);
}

/* move.h: what has these says nothing that anybody is to go by. */
static int verify_move(u64 has, struct xp_message *msg)
{
	if (has & XP_INCOMPAT_AWAY)
		snprintf(msg->text, sizeof(msg->text), "superblock: the cache has moved from this device to another");
	else if (has & XP_INCOMPAT_COMING)
		snprintf(msg->text, sizeof(msg->text), "superblock: the cache has not moved to this device yet, and may still be on the other");
	else
		return 0;
	return -ENOTSUP;
}

static int verify_features(const struct xp_sb *sb, struct xp_message *msg)
{
	u64 has = le64_to_cpu(sb->incompat), unknown = has & ~(XP_INCOMPAT_KNOWN | XP_INCOMPAT_AWAY | XP_INCOMPAT_COMING);

	if (le32_to_cpu(sb->version) != XP_SB_VERSION)
		return bad(msg, -ENOTSUP, "version unknown to this xpcache, use a newer one",
			   le32_to_cpu(sb->version));
	if (sb->grid >= XP_BLOCK_SECTORS || !sb->grid == !!(has & XP_INCOMPAT_GRID))
		return bad(msg, -ENOTSUP, "grid unknown to this xpcache, use a newer one", sb->grid);
	if (le64_to_cpu(sb->incompat) & XP_INCOMPAT_MODE && (sb->mode <= XP_MODE_WRITEBACK || sb->mode >= XP_MODES))
		return bad(msg, -ENOTSUP, "mode unknown to this xpcache, use a newer one", sb->mode);
	if (unknown) {
		snprintf(msg->text, sizeof(msg->text),
			 "superblock: incompat features unknown to this xpcache, use a newer one (bits 0x%llx)",
			 (unsigned long long)unknown);
		return -ENOTSUP;
	}
	return verify_move(has, msg);
}

static int verify_slots(const struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg)
{
	u64 blocks = le64_to_cpu(sb->fast_blocks);
	u64 data = le64_to_cpu(sb->data_start);
	u64 slots = le64_to_cpu(sb->nr_slots);

	if (blocks > fast_blocks)
		return bad(msg, -EUCLEAN, "fast device shrank, blocks recorded", blocks);
	if (slots < XP_MIN_SLOTS || slots >= XP_MAX_SLOTS)
		return bad(msg, -EUCLEAN, "number of slots out of range", slots);
	if (data > blocks || slots > blocks - data)
		return bad(msg, -EUCLEAN, "slots reach past the fast device", slots);
	return 0;
}

u32 xp_sb_pad(const struct xp_sb *sb)
{
	return (XP_BLOCK_SECTORS - sb->grid) % XP_BLOCK_SECTORS;
}

void xp_sb_set_grid(struct xp_sb *sb, u32 grid)
{
	u64 others = le64_to_cpu(sb->incompat) & ~XP_INCOMPAT_GRID;

	sb->grid = (u8)grid;
	sb->incompat = cpu_to_le64(others | (grid ? XP_INCOMPAT_GRID : 0));
}

u32 xp_sb_journal_magic(const struct xp_sb *sb)
{
	return XP_JOURNAL_MAGIC + sb->grid;
}

/* The slots are verified. */
static int verify_areas(const struct xp_sb *sb, struct xp_message *msg)
{
	u64 journal = le64_to_cpu(sb->journal_start);
	u64 ring = le64_to_cpu(sb->journal_blocks);
	u64 data = le64_to_cpu(sb->data_start);
	u64 scratch = le64_to_cpu(sb->scratch_start);
	u64 scratch_blocks = le64_to_cpu(sb->scratch_blocks);

	if (ring < xp_sb_ring_needed(le64_to_cpu(sb->nr_slots)) || ring > XP_MAX_RING)
		return bad(msg, -EUCLEAN, "journal size out of range", ring);
	if (journal <= XP_SB_BLOCK_B || journal > data || ring > data - journal)
		return bad(msg, -EUCLEAN, "journal overlaps something, block", journal);
	if (scratch_blocks && (scratch <= XP_SB_BLOCK_B || scratch > journal ||
			       scratch_blocks > journal - scratch))
		return bad(msg, -EUCLEAN, "scratch area overlaps something, block", scratch);
	return 0;
}

static int verify_slow(const struct xp_sb *sb, struct xp_message *msg)
{
	u64 sectors = le64_to_cpu(sb->slow.sectors), was = le64_to_cpu(sb->slow_was);

	if (!sectors || sectors > XP_MAX_LBAS * XP_BLOCK_SECTORS - xp_sb_pad(sb))
		return bad(msg, -EUCLEAN, "slow device size out of range, sectors", sectors);
	if (was > XP_MAX_LBAS * XP_BLOCK_SECTORS - xp_sb_pad(sb))
		return bad(msg, -EUCLEAN, "former slow device size out of range, sectors", was);
	return 0;
}

static int verify_geometry(const struct xp_sb *sb, u64 fast_blocks,
			   struct xp_message *msg)
{
	int err = verify_slots(sb, fast_blocks, msg);

	if (!err)
		err = verify_areas(sb, msg);
	return err ? err : verify_slow(sb, msg);
}

static int verify_bad(const struct xp_sb *sb, struct xp_message *msg)
{
	const struct xp_sb_bad *bad = &sb->bad;
	u32 places = le32_to_cpu(bad->nr_places), slots = le32_to_cpu(bad->nr_slots), i;

	if (!(le64_to_cpu(sb->incompat) & XP_INCOMPAT_BAD))
		return 0;
	if (places > xp_sb_spare_places(sb))
		return bad_number(msg, "more bad places of the journal than it has to spare",
				  places);
	if (slots > XP_BAD_SLOTS)
		return bad_number(msg, "more bad slots than there is room for", slots);
	if (le32_to_cpu(bad->losing) > 1)
		return bad_number(msg, "a recovery that has not ended in a way that this xpcache does not know", le32_to_cpu(bad->losing));
	for (i = 0; i < places; i++)
		if (le32_to_cpu(bad->place[i]) >= le64_to_cpu(sb->journal_blocks))
			return bad_number(msg, "a bad place past the journal",
					  le32_to_cpu(bad->place[i]));
	for (i = 0; i < slots; i++)
		if (le32_to_cpu(bad->slot[i]) >= le64_to_cpu(sb->nr_slots))
			return bad_number(msg, "a bad slot past the data area",
					  le32_to_cpu(bad->slot[i]));
	return 0;
}

int xp_sb_verify(const struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg)
{
	u64 sum = xp_xxh64(sb, offsetof(struct xp_sb, checksum));
	int err;

	if (memcmp(sb->magic, XP_SB_MAGIC, sizeof(sb->magic)))
		return bad(msg, -ENOENT, "no xpcache superblock here", 0);
	if (le64_to_cpu(sb->checksum) != sum)
		return bad(msg, -EUCLEAN, "checksum is wrong", le64_to_cpu(sb->checksum));
	err = verify_features(sb, msg);
	if (!err)
		err = verify_geometry(sb, fast_blocks, msg);
	return err ? err : verify_bad(sb, msg);
}

static int read_copy(const struct xp_media *m, u64 fast_blocks, u64 block,
		     struct xp_sb *sb, struct xp_message *msg)
{
	int err = block < fast_blocks ? m->read(m->ctx, block, 1, sb) : -ENOENT;

	/* the other copy may be older, or torn: not given up lightly */
	if (err && err != -ENOENT)
		err = m->read(m->ctx, block, 1, sb);
	if (err) {
		snprintf(msg->text, sizeof(msg->text),
			 "superblock: cannot read block %llu",
			 (unsigned long long)block);
		return err;
	}
	err = xp_sb_verify(sb, fast_blocks, msg);
	xp_sb_clean(sb);
	return err;
}

/*
 * Words that no create has written are no reason to refuse: what is dirty must be able to go home.
 */
int xp_sb_read(const struct xp_media *m, u64 fast_blocks, struct xp_sb *sb,
	       struct xp_message *msg)
{
	struct xp_message msg_b;
	u64 generation = 0;
	int err_a, err_b;

	err_a = read_copy(m, fast_blocks, XP_SB_BLOCK_A, sb, msg);
	if (!err_a)
		generation = le64_to_cpu(sb->generation);
	err_b = read_copy(m, fast_blocks, XP_SB_BLOCK_B, sb, &msg_b);
	/* whole, and of a newer version: cut before the other copy was written */
	if (err_b == -ENOTSUP) {
		*msg = msg_b;
		return err_b;
	}
	if (!err_b && (err_a || le64_to_cpu(sb->generation) >= generation))
		return 0;
	if (!err_a || err_a == -ENOTSUP)	/* @sb is the other one by now */
		return read_copy(m, fast_blocks, XP_SB_BLOCK_A, sb, msg);
	if (err_a == -ENOENT && err_b != -ENOENT) {
		*msg = msg_b;	/* the other copy is the one with something to say */
		return err_b;
	}
	return err_a;
}

int xp_sb_write(const struct xp_media *m, struct xp_sb *sb)
{
	int err;

	xp_sb_seal(sb);
	err = m->write(m->ctx, XP_SB_BLOCK_B, 1, sb);
	return err ? err : m->write(m->ctx, XP_SB_BLOCK_A, 1, sb);
}

static int write_bits(const struct xp_media *m, struct xp_sb *sb, u64 bits)
{
	if (le64_to_cpu(sb->incompat) == bits)
		return 0;
	sb->incompat = cpu_to_le64(bits);
	sb->generation = cpu_to_le64(le64_to_cpu(sb->generation) + 1);
	return xp_sb_write(m, sb);
}

int xp_sb_allow(const struct xp_media *m, struct xp_sb *sb, u64 bits)
{
	return write_bits(m, sb, le64_to_cpu(sb->incompat) | bits);
}

int xp_sb_forbid(const struct xp_media *m, struct xp_sb *sb, u64 bits)
{
	return write_bits(m, sb, le64_to_cpu(sb->incompat) & ~bits);
}

u32 xp_sb_format(const struct xp_sb *sb)
{
	return (le64_to_cpu(sb->incompat) & XP_INCOMPAT_NEW) == XP_INCOMPAT_NEW ? XP_FORMAT : 1;
}
