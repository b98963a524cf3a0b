// SPDX-License-Identifier: GPL-2.0-only
/*
 * rest.c - a cache that does not run: where its journal ends, how it forgets, and how it takes a
 * fast device that has grown; and what happens to a mark.
 *
 * For the command line; the kernel's module has none of it.
 */
#include "journal.h"

/* ------------------------------------------------------------- its end ---- */

static u64 block_at(const struct xp_sb *sb, u64 seq)
{
	return le64_to_cpu(sb->journal_start) + seq % le64_to_cpu(sb->journal_blocks);
}

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
	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(XP_JOURNAL_MAGIC);
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

/* It is its own tail, so any number will do that a later look comes to: another where one cannot be written. */
static int write_empty(const struct xp_media *m, struct xp_jblock *b, const struct xp_sb *sb,
		       const struct xp_end *end, struct xp_end *at)
{
	int err;
	u32 i;

	*at = xp_empty_after(sb, end);
	err = write_empty_as(m, b, sb, at);
	for (i = 1; i < XP_WINDOW && error_of_place(err); i++) {
		at->seq = next_number(sb, at->seq);
		err = write_empty_as(m, b, sb, at);
	}
	return err;
}

static struct xp_end end_of(const struct xp *c)
{
	const struct xp_journal *j = &c->journal;

	return (struct xp_end){ .seq = j->sealed_number, .incarnation = j->incarnation };
}

int xp_forget(struct xp *c, const struct xp_media *m, void *block)
{
	const struct xp_end end = end_of(c);
	struct xp_end at;

	return write_empty(m, block, c->super.sb, &end, &at);
}

int xp_forget_after(const struct xp_sb *sb, const struct xp_end *end, const struct xp_media *m, void *block)
{
	const struct xp_end at = xp_empty_after(sb, end);
	int err = write_empty_as(m, block, sb, &at);

	return error_of_place(err) ? write_empty_as(m, block, sb, &at) : err;
}

/* ------------------------------------- a fast device that has grown ---- */

/* Of this cache, and not older than what says that it is empty? */
static bool is_newer(const struct xp_sb *sb, const struct xp_jblock *b, const struct xp_end *end)
{
	return le32_to_cpu(b->head.magic) == XP_JOURNAL_MAGIC && !memcmp(b->head.uuid, sb->uuid, sizeof(sb->uuid)) &&
	       le64_to_cpu(b->head.incarnation) >= end->incarnation;
}

/*
 * Where the journal will be, cached data was, and somebody may keep a copy of this very fast device on the slow one: what
 * was a block of its journal there would be one again. What cannot be read stays; recovery knows such places.
 */
static int erase_copies(const struct xp_media *m, const struct xp_sb *sb, u64 kept, struct xp_jblock *chunk,
			const struct xp_end *end)
{
	u64 at = le64_to_cpu(sb->journal_start), last = at + le64_to_cpu(sb->journal_blocks);
	int err = 0;
	u32 i, n;

	for (; at < last && !err; at += n) {
		n = (u32)min(last - at, (u64)XP_RECOVER_CHUNK);
		if (m->read(m->ctx, at, n, chunk))
			n = 1;
		if (n == 1 && m->read(m->ctx, at, n, chunk))
			continue;
		for (i = 0; i < n && !err; i++)
			if (at + i != kept && is_newer(sb, &chunk[i], end)) {
				memset(&chunk[i], 0, sizeof(chunk[i]));
				err = m->write(m->ctx, at + i, 1, &chunk[i]);
			}
	}
	return err;
}

/*
 * I4: first the cache as it is forgets, so nothing that lies where the journal will be is mapped any more. Then a block
 * that needs no other lies where the journal as it will be is looked for; all else there is of an older incarnation, or
 * no block of it. So it is empty by either superblock, and the one write that changes over may be cut.
 */
static int empty_for(const struct xp_media *m, const struct xp_sb *sb, const struct xp_sb *was, void *scratch,
		     const struct xp_end *now, struct xp_end *end)
{
	int err = write_empty(m, scratch, was, now, end);

	if (!err)
		err = erase_copies(m, sb, block_at(was, end->seq), scratch, end);
	return err ? err : write_empty(m, scratch, sb, now, end);
}

int xp_grow(struct xp *c, const struct xp_media *m, struct xp_sb *sb, u64 fast_blocks, void *scratch,
	    struct xp_end *end, struct xp_message *msg)
{
	const struct xp_end now = end_of(c);
	struct xp_sb grown;
	int err;

	if (c->nr_dirty)
		return -EBUSY;
	err = xp_sb_grow(&grown, sb, fast_blocks, msg);
	if (!err && !xp_sb_same_places(&grown, sb))
		err = empty_for(m, &grown, sb, scratch, &now, end);
	if (!err)
		err = xp_sb_write(m, &grown);
	if (!err)
		*sb = grown;
	return err;
}

/* ------------------------------------------------------------- the mark ---- */

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
