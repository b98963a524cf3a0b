// SPDX-License-Identifier: GPL-2.0-only
/*
 * layout.c - laying out a fast device, anew or because it has grown; and erasing what makes it a
 * cache's. For the command line: not in the module.
 */
#include "jblock.h"
#include "layout.h"
#include "media.h"
#include "message.h"
#include "superblock.h"

#define RING_SLACK	XP_BAD_PLACES	/* so many places may turn out to be bad */

static u64 align_up(u64 n, u64 to)
{
	return (n + to - 1) / to * to;
}

struct places {
	u64 ring, data, slots;
};

/* Of a fast device of so many blocks. False: it is too small. */
static bool find_places(u64 fast_blocks, struct places *p)
{
	u64 start = XP_SCRATCH_START + XP_SCRATCH_BLOCKS;
	u64 limit = min(fast_blocks, (u64)XP_MAX_SLOTS);

	p->ring = xp_sb_ring_needed(limit) + RING_SLACK;
	p->data = align_up(start + p->ring, XP_DATA_ALIGN);
	p->slots = limit - min(limit, p->data);
	return p->slots >= XP_MIN_SLOTS;
}

u64 xp_sb_least_blocks(void)
{
	struct places p;

	find_places(0, &p);
	return p.data + XP_MIN_SLOTS;
}

int xp_sb_layout(struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg)
{
	struct places p;

	if (!find_places(fast_blocks, &p)) {
		snprintf(msg->text, sizeof(msg->text),
			 "fast device of %llu KiB is too small: at least %llu KiB are needed",
			 (unsigned long long)fast_blocks * 4,
			 (unsigned long long)xp_sb_least_blocks() * 4);
		return -ENOSPC;
	}
	memcpy(sb->magic, XP_SB_MAGIC, sizeof(sb->magic));
	sb->version = cpu_to_le32(XP_SB_VERSION);
	sb->incompat = cpu_to_le64(XP_INCOMPAT_NEW);
	sb->fast_blocks = cpu_to_le64(fast_blocks);
	sb->scratch_start = cpu_to_le64(XP_SCRATCH_START);
	sb->scratch_blocks = cpu_to_le64(XP_SCRATCH_BLOCKS);
	sb->journal_start = cpu_to_le64(XP_SCRATCH_START + XP_SCRATCH_BLOCKS);
	sb->journal_blocks = cpu_to_le64(p.ring);
	sb->data_start = cpu_to_le64(p.data);
	sb->nr_slots = cpu_to_le64(p.slots);
	return 0;
}

/* ------------------------------------- a fast device that has grown ---- */

static bool add_bad(__le32 *list, __le32 *nr, u32 room, u64 what)
{
	u32 n = le32_to_cpu(*nr);

	if (n == room)
		return false;
	list[n] = cpu_to_le32((u32)what);
	*nr = cpu_to_le32(n + 1);
	return true;
}

bool xp_sb_add_bad(struct xp_sb *sb, u64 block)
{
	u64 journal = le64_to_cpu(sb->journal_start), data = le64_to_cpu(sb->data_start);
	struct xp_sb_bad *bad = &sb->bad;

	sb->incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	if (block >= journal && block < journal + le64_to_cpu(sb->journal_blocks))
		return add_bad(bad->place, &bad->nr_places, xp_sb_spare_places(sb),
			       block - journal);
	if (block >= data && block < data + le64_to_cpu(sb->nr_slots))
		return add_bad(bad->slot, &bad->nr_slots, XP_BAD_SLOTS, block - data);
	return true;
}

/* The same blocks, by the numbers that they have now. False: too many. */
static bool bad_again(struct xp_sb *sb, const struct xp_sb *was)
{
	bool fit = true;
	u32 i;

	memset(&sb->bad, 0, sizeof(sb->bad));
	for (i = 0; fit && i < le32_to_cpu(was->bad.nr_places); i++)
		fit = xp_sb_add_bad(sb, le64_to_cpu(was->journal_start) +
				    le32_to_cpu(was->bad.place[i]));
	for (i = 0; fit && i < le32_to_cpu(was->bad.nr_slots); i++)
		fit = xp_sb_add_bad(sb,
				    le64_to_cpu(was->data_start) + le32_to_cpu(was->bad.slot[i]));
	return fit;
}

/* A few blocks more may cost a longer journal more slots than they are. */
bool xp_sb_can_grow(const struct xp_sb *sb, u64 fast_blocks)
{
	struct places p;

	return find_places(fast_blocks, &p) && p.slots > le64_to_cpu(sb->nr_slots) &&
	       le64_to_cpu(sb->journal_start) == XP_SCRATCH_START + XP_SCRATCH_BLOCKS;
}

/*
 * As create would lay it out: what both superblocks once said can be told from the device's size,
 * if they are lost.
 */
int xp_sb_grow(struct xp_sb *sb, const struct xp_sb *was, u64 fast_blocks, struct xp_message *msg)
{
	int err;

	*sb = *was;
	err = xp_sb_layout(sb, fast_blocks, msg);
	sb->incompat = was->incompat;
	if (err || xp_sb_same_places(sb, was) || bad_again(sb, was))
		return err;
	snprintf(msg->text, sizeof(msg->text),
		 "more bad blocks lie where its journal would be than that has to spare");
	return -ENOSPC;
}

/* ------------------------------------------------- a cache, or none ---- */

int xp_sb_erase(const struct xp_media *m, void *block)
{
	int err;

	memset(block, 0, XP_BLOCK_SIZE);
	err = m->write(m->ctx, XP_SB_BLOCK_A, 1, block);
	return err ? err : m->write(m->ctx, XP_SB_BLOCK_B, 1, block);
}

/* The ring's other blocks need no erasing: they bear another cache's UUID. */
int xp_format(const struct xp_media *m, struct xp_sb *sb, void *block)
{
	struct xp_jblock *b = block;
	u64 first = 1;
	int err;

	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(xp_sb_journal_magic(sb));
	memcpy(b->head.uuid, sb->uuid, sizeof(sb->uuid));
	b->head.incarnation = cpu_to_le64(1);
	b->head.seq = cpu_to_le64(first);
	b->head.tail_seq = cpu_to_le64(first);
	b->head.durable_seq = cpu_to_le64(first);
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
	err = m->write(m->ctx, le64_to_cpu(sb->journal_start) +
		       first % le64_to_cpu(sb->journal_blocks), 1, b);
	return err ? err : xp_sb_write(m, sb);
}
