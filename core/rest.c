// SPDX-License-Identifier: GPL-2.0-only
/*
 * rest.c - a cache that does not run: where its journal ends, and how it forgets; and what
 * happens to a mark.
 *
 * For the command line; the kernel's module has none of it.
 */
#include "journal.h"

static bool is_block(const struct xp_sb *sb, struct xp_jblock *b, u64 seq)
{
	return le32_to_cpu(b->head.magic) == XP_JOURNAL_MAGIC &&
	       le16_to_cpu(b->head.count) <= XP_RECORDS && le16_to_cpu(b->head.before) <= XP_RECORDS &&
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
	u64 blocks = le64_to_cpu(sb->journal_blocks);

	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(XP_JOURNAL_MAGIC);
	memcpy(b->head.uuid, sb->uuid, sizeof(b->head.uuid));
	b->head.incarnation = cpu_to_le64(at->incarnation);
	b->head.seq = b->head.tail_seq = b->head.durable_seq = cpu_to_le64(at->seq);
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
	return m->write(m->ctx, le64_to_cpu(sb->journal_start) + at->seq % blocks, 1, b);
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

/* It is its own tail, so any number will do that a later look comes to: another where one cannot be written. */
static int write_empty(const struct xp_media *m, struct xp_jblock *b, const struct xp_sb *sb,
		       const struct xp_end *end)
{
	struct xp_end at = xp_empty_after(sb, end);
	int err = write_empty_as(m, b, sb, &at);
	u32 i;

	for (i = 1; i < XP_WINDOW && error_of_place(err); i++) {
		at.seq = next_number(sb, at.seq);
		err = write_empty_as(m, b, sb, &at);
	}
	return err;
}

int xp_forget(struct xp *c, const struct xp_media *m, void *block)
{
	const struct xp_journal *j = &c->journal;
	const struct xp_end end = { .seq = j->sealed_number, .incarnation = j->incarnation };

	return write_empty(m, block, c->super.sb, &end);
}

int xp_forget_after(const struct xp_sb *sb, const struct xp_end *end, const struct xp_media *m, void *block)
{
	const struct xp_end at = xp_empty_after(sb, end);
	int err = write_empty_as(m, block, sb, &at);

	return error_of_place(err) ? write_empty_as(m, block, sb, &at) : err;
}

/* Passing began with nothing dirty (passing.c), and the cache has not run since. */
static bool dirty_before(struct xp *c, u64 seq)
{
	u32 i;

	for (i = 0; i < c->nr_slots; i++) {
		const struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED && e->dirty && journal_number_of(c, e) <= seq)
			return true;
	}
	return false;
}

int xp_unmark(struct xp *c, const struct xp_media *fast, const struct xp_media *slow, u64 lba,
	      bool losing, void *block)
{
	const struct xp_mark *m = block;
	int err;

	if (!losing && c->nr_dirty &&
	    (le64_to_cpu(m->incarnation) < c->journal.incarnation || dirty_before(c, le64_to_cpu(m->seq))))
		return -EUCLEAN;
	err = xp_forget(c, fast, block);
	if (err)
		return err;
	memset(block, 0, XP_BLOCK_SIZE);
	return slow->write(slow->ctx, lba, 1, block);
}
