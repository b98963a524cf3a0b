// SPDX-License-Identifier: GPL-2.0-only
/*
 * rest.c - a cache that does not run: where its journal ends, how it forgets, and how it takes a
 * fast device that has grown; and what happens to a mark.
 *
 * For the command line; the kernel's module has none of it.
 */
#include "badblocks.h"
#include "journal.h"
#include "layout.h"
#include "media.h"
#include "message.h"
#include "rest.h"
#include "super.h"
#include "superblock.h"

/* ------------------------------------------------------------- its end ---- */

static u64 block_at(const struct xp_sb *sb, u64 seq)
{
	return le64_to_cpu(sb->journal_start) + seq % le64_to_cpu(sb->journal_blocks);
}

static bool is_block(const struct xp_sb *sb, struct xp_jblock *b, u64 seq)
{
	return le32_to_cpu(b->head.magic) == xp_sb_journal_magic(sb) &&
	       le16_to_cpu(b->head.count) <= XP_RECORDS &&
	       le16_to_cpu(b->head.before) <= XP_RECORDS &&
	       le64_to_cpu(b->head.checksum) == jblock_checksum(b) &&
	       !memcmp(b->head.uuid, sb->uuid, sizeof(sb->uuid)) &&
	       le64_to_cpu(b->head.seq) == seq;
}

int xp_follow(const struct xp_media *m, const struct xp_sb *sb, u64 seq, void *block,
	      struct xp_end *end)
{
	u64 start = le64_to_cpu(sb->journal_start), blocks = le64_to_cpu(sb->journal_blocks);
	struct xp_jblock *b = block;
	u32 missing = 0;

	end->seq = end->incarnation = 0;
	for (; missing <= XP_WINDOW; seq++) {
		if (xp_sb_place_is_bad(sb, seq % blocks))
			continue;
		missing++;
		if (m->read(m->ctx, start + seq % blocks, 1, b))
			continue;
		if (is_block(sb, b, seq) && le64_to_cpu(b->head.incarnation) >= end->incarnation) {
			end->seq = seq;
			end->incarnation = le64_to_cpu(b->head.incarnation);
			missing = 0;
		}
		if (!end->seq)
			return -ENOENT;
	}
	return 0;
}

/*
 * I2, I10: the new block needs no other, so whoever recovers from it finds nothing mapped; it is
 * of a new incarnation, so nothing in the ring is newer. Until it is whole the cache is what
 * it was: it takes a place that no recovery needs, where the next start would have written.
 */
static int write_empty_as(const struct xp_media *m, struct xp_jblock *b, const struct xp_sb *sb,
			  const struct xp_end *at)
{
	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(xp_sb_journal_magic(sb));
	memcpy(b->head.uuid, sb->uuid, sizeof(b->head.uuid));
	b->head.incarnation = cpu_to_le64(at->incarnation);
	b->head.seq = b->head.tail_seq = b->head.durable_seq = cpu_to_le64(at->seq);
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
	return m->write(m->ctx, block_at(sb, at->seq), 1, b);
}

static u64 next_number(const struct xp_sb *sb, u64 number)
{
	do
		number++;
	while (xp_sb_place_is_bad(sb, number % le64_to_cpu(sb->journal_blocks)));
	return number;
}

struct xp_end xp_empty_after(const struct xp_sb *sb, const struct xp_end *end)
{
	return (struct xp_end){ next_number(sb, end->seq), end->incarnation + 1 };
}

static struct xp_end end_of(const struct xp *c)
{
	const struct xp_journal *j = &c->journal;

	return (struct xp_end){ .seq = j->sealed_number, .incarnation = j->incarnation };
}

/*
 * It is its own tail, so any number will do that a later look comes to: another where one cannot be
 * written.
 */
int xp_forget(struct xp *c, const struct xp_media *m, void *block)
{
	const struct xp_sb *sb = c->super.sb;
	const struct xp_end end = end_of(c);
	struct xp_end at = xp_empty_after(sb, &end);
	int err = write_empty_as(m, block, sb, &at);
	u32 i;

	for (i = 1; i < XP_WINDOW && error_of_place(err); i++) {
		at.seq = next_number(sb, at.seq);
		err = write_empty_as(m, block, sb, &at);
	}
	return err;
}

int xp_forget_after(const struct xp_sb *sb, const struct xp_end *end, const struct xp_media *m,
		    void *block)
{
	const struct xp_end at = xp_empty_after(sb, end);
	int err = write_empty_as(m, block, sb, &at);

	return error_of_place(err) ? write_empty_as(m, block, sb, &at) : err;
}

/* ------------------------------------- a fast device that has grown ---- */

struct growth {
	const struct xp_media *m;
	const struct xp_sb *was;	/* as it is on the medium */
	struct xp_sb sb;
	/* blocks that say by the old superblock that the cache is empty */
	u64 kept[2];
	u8 *zeros;
	u32 nr;
	struct xp_end *end;		/* the newest journal block */
};

/* Two: one may turn out not to be readable. As @sb says where the journal is. */
static int write_empty_twice(struct growth *g, const struct xp_sb *sb, u64 block[2])
{
	u32 i, tries;
	int err = 0;

	for (i = 0; i < 2 && !err; i++)
		for (tries = 0, err = -EIO; tries < XP_WINDOW && error_of_place(err); tries++) {
			g->end->seq = next_number(sb, g->end->seq);
			block[i] = block_at(sb, g->end->seq);
			if (sb == g->was || (block[i] != g->kept[0] && block[i] != g->kept[1]))
				err = write_empty_as(g->m, (struct xp_jblock *)g->zeros, sb,
						     g->end);
		}
	return err;
}

/* One that takes no write is given up. */
static int write_zero(struct growth *g, u64 block)
{
	int err = g->m->write(g->m->ctx, block, 1, g->zeros);

	return error_of_place(err) && xp_sb_add_bad(&g->sb, block) ? 0 : err;
}

static int write_zeros(struct growth *g, u64 block, u32 nr)
{
	int err = g->m->write(g->m->ctx, block, nr, g->zeros);

	if (!error_of_place(err))
		return err;
	for (err = 0; nr && !err; block++, nr--)
		err = write_zero(g, block);
	return err;
}

static bool is_kept(const struct growth *g, u64 block)
{
	return block == g->kept[0] || block == g->kept[1] ||
	       xp_sb_place_is_bad(&g->sb, block - le64_to_cpu(g->sb.journal_start));
}

/*
 * Whoever looks at a ring takes what is empty for erased up to some number: so the oldest numbers
 * go first.
 */
static int erase(struct growth *g, u64 from, u64 to)
{
	int err = 0;
	u32 n;

	memset(g->zeros, 0, (size_t)g->nr * XP_BLOCK_SIZE);
	for (; from < to && !err; from += n) {
		for (n = 0; n < g->nr && from + n < to && !is_kept(g, from + n); n++)
			;
		if (n)
			err = write_zeros(g, from, n);
		else
			n = 1;
	}
	return err;
}

static int erase_ring(struct growth *g)
{
	u64 start = le64_to_cpu(g->was->journal_start), newest = g->kept[1];
	int err = erase(g, newest, start + le64_to_cpu(g->was->journal_blocks));

	if (!err)
		err = erase(g, start, newest);
	return err ? err : erase(g, start + le64_to_cpu(g->was->journal_blocks),
				 start + le64_to_cpu(g->sb.journal_blocks));
}

/*
 * I4: first the cache as it is forgets, so nothing that lies where the journal will be is mapped
 * any more. That becomes zeros: cached data was there, and somebody may keep a copy of this very
 * fast device on the slow one. Then blocks that need no other lie where the journal as it will be
 * is looked for. So the cache is empty by either superblock, and the one write that changes over
 * may be cut.
 */
static int empty_both(struct growth *g)
{
	u64 block[2];
	int err = write_empty_twice(g, g->was, g->kept);

	if (!err)
		err = erase_ring(g);
	return err ? err : write_empty_twice(g, &g->sb, block);
}

/* Nothing depends on it, but whoever looks at the ring would take them for damage. */
static void erase_kept(struct growth *g)
{
	memset(g->zeros, 0, XP_BLOCK_SIZE);
	if (!g->m->write(g->m->ctx, g->kept[0], 1, g->zeros))
		g->m->write(g->m->ctx, g->kept[1], 1, g->zeros);
}

int xp_grow(struct xp *c, const struct xp_media *m, struct xp_sb *sb, u64 fast_blocks, void *zeros,
	    u32 nr, struct xp_end *end, struct xp_message *msg)
{
	struct xp_end now = end_of(c);
	struct growth g = { .m = m, .was = sb, .zeros = zeros, .nr = nr, .end = &now };
	bool stays;
	int err;

	now.incarnation++;
	if (c->nr_dirty)
		return -EBUSY;
	err = xp_sb_grow(&g.sb, sb, fast_blocks, msg);
	if (err)
		return err;
	err = super_both(c, m, zeros);
	if (err) {
		snprintf(msg->text, sizeof(msg->text),
			 "one of its two superblocks cannot be written, and both must be whole");
		return err;
	}
	stays = xp_sb_same_places(&g.sb, sb);
	g.sb.generation = c->super.sb->generation;
	err = stays ? 0 : empty_both(&g);
	if (!err) {
		*c->super.sb = g.sb;
		err = super_write_now(c, m, zeros);
	}
	if (err)
		return err;
	*sb = *c->super.io;
	if (!stays) {
		*end = now;
		erase_kept(&g);
	}
	return 0;
}

/* ------------------------------------------------------------- the mark ---- */

/* Passing began with nothing dirty (passthrough.c), and the cache has not run since. */
static bool dirty_before(struct xp *c, const struct xp_media *m, u64 seq, void *block)
{
	u32 i;

	for (i = 0; i < c->nr_slots; i++) {
		const struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED && e->dirty &&
		    record_number_of(c, m, block, XP_SLOT(i), c->journal.sealed_number, XP_RECORDS) <= seq)
			return true;
	}
	return false;
}

int xp_unmark(struct xp *c, const struct xp_media *fast, const struct xp_media *slow, u64 lba,
	      bool losing, void *block)
{
	const struct xp_mark *m = block;
	u64 incarnation = le64_to_cpu(m->incarnation), seq = le64_to_cpu(m->seq);
	int err;

	if (!losing && c->nr_dirty &&
	    (incarnation < c->journal.incarnation || dirty_before(c, fast, seq, block)))
		return -EUCLEAN;
	err = xp_forget(c, fast, block);
	if (err)
		return err;
	memset(block, 0, XP_BLOCK_SIZE);
	return slow->write(slow->ctx, lba, 1, block);
}
