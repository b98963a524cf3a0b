// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_erase.c - step 4 of a recovery: what no later one may take up is erased, and lost copies
 * are made again.
 */
#include "badblocks.h"
#include "fingerprint.h"
#include "recovery.h"
#include "super.h"

/*
 * What cannot be read may become readable, and be such a block. A hole would be of the chain.
 * Older ones are of no use, and do harm before a place that is not skipped any more, or was a hole:
 * if the newest could not be read one day, a chain would seem to break there, and one of those
 * before it to be the head.
 */
static bool is_leftover(const struct recovery *r, u64 position)
{
	const struct xp_ring_block *b = &r->ring[position];

	return b->seq > r->head.seq || (b->unreadable && !b->hole) ||
	       (r->took_back && b->seq && b->seq < r->head.tail);
}

/*
 * Not with zeros, as of a place that was never written: a later life may have begun there, and a start that reads the chain
 * alone has to know (scan_rested()).
 */
static int write_erased(struct recovery *r, u64 position, bool read_back)
{
	u64 block = r->c->journal.start + position;
	struct xp_jblock *b = (struct xp_jblock *)r->block;
	int err;

	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(r->c->opt.anew ? 0 : XP_ERASED_MAGIC);	/* `check` of an older version knows zeros alone */
	err = r->m->write(r->m->ctx, block, 1, r->block);
	if (!err && read_back)
		err = r->m->read(r->m->ctx, block, 1, r->block);
	return err;
}

/*
 * A device that was away for a moment has made places look bad. Those that the chain skips stay so;
 * and all where a newer chain may come to light, of what cannot be read now.
 */
static int take_back_places(struct recovery *r)
{
	struct xp_super *s = &r->c->super;
	u64 blocks = r->c->journal.blocks, head = r->head.seq;
	u32 i = r->nr_unreadable || r->c->lost ? 0 : s->nr_avoided;

	while (i--) {
		u64 position = le32_to_cpu(s->sb->bad.place[i]);
		u64 back = (head % blocks + blocks - position) % blocks;
		int err;

		if (back <= head - r->head.tail)
			continue;
		err = write_erased(r, position, true);
		if (!err) {
			place_take_back(r->c, i);
			r->took_back = true;
		} else if (!error_of_place(err)) {
			return err;
		}
	}
	return 0;
}

/* A place that cannot be written, or not read after that either, is given up. */
static int erase(struct recovery *r, u64 position)
{
	int err = write_erased(r, position, r->ring[position].unreadable);

	return error_of_place(err) && place_give_up(r->c, position) ? 0 : err;
}

/* I2: in the superblock before a number is skipped. */
static int note_given_up(struct recovery *r)
{
	struct xp_super *s = &r->c->super;

	return s->written == s->changes ? 0 : super_write_now(r->c, r->m, r->block);
}

/*
 * The @i-th place to go, from 1: those of the chain last, and of them the oldest first. A cut in between leaves no old chain
 * that is whole, with newer blocks gone.
 */
static u64 place_to_go(const struct recovery *r, u64 i)
{
	return (r->head.seq + i) % r->c->journal.blocks;
}

int recovery_erase_leftovers(struct recovery *r)
{
	int err = take_back_places(r);
	u64 i;

	for (i = 1; i <= r->c->journal.blocks && !err; i++)
		if (is_leftover(r, place_to_go(r, i)))
			err = erase(r, place_to_go(r, i));
	return err ? err : note_given_up(r);
}

/* A new block has the place of that one by now. */
static bool is_overwritten(const struct recovery *r, u64 seq)
{
	return seq + r->c->journal.blocks <= r->c->journal.sealed_number;
}

/* The number that has the @i-th place to go, of those up to the head: of a hole, so that there is one. */
static u64 number_to_go(const struct recovery *r, u64 i)
{
	XP_ASSERT(r->head.seq + i > r->c->journal.blocks);
	return r->head.seq + i - r->c->journal.blocks;
}

/* The chain has left it behind by now: a hole, or what is older (is_leftover). */
static bool is_left_behind(const struct recovery *r, u64 i)
{
	const struct xp_ring_block *b = &r->ring[place_to_go(r, i)];

	if (b->hole)
		return !is_overwritten(r, number_to_go(r, i));
	return b->seq && b->seq < r->c->journal.tail_written && !is_overwritten(r, b->seq);
}

int recovery_erase_holes(struct recovery *r)
{
	int err = 0;
	u64 i;

	XP_ASSERT(!r->chain_alone);
	for (i = 1; i <= r->c->journal.blocks && !err; i++)
		if (is_left_behind(r, i))
			err = erase(r, place_to_go(r, i));
	return err ? err : note_given_up(r);
}

/*
 * Redundancy that was lost is made again: a copy that is not as the newer one. If its place is bad
 * there is still that.
 */
static int mend_copy(struct recovery *r, u64 block, const void *as)
{
	const struct xp_media *m = r->m;
	int err = 0;

	if (m->read(m->ctx, block, 1, r->block) || memcmp(r->block, as, XP_BLOCK_SIZE))
		err = m->write(m->ctx, block, 1, as);
	return error_of_place(err) ? 0 : err;
}

int recovery_mend_fingerprint(struct recovery *r)
{
	struct xp_fp *fp = (struct xp_fp *)r->chunk;
	int newest = xp_fp_read(r->m, r->c->journal.uuid, fp);

	return newest < 0 ? 0 : mend_copy(r, newest ? XP_FP_BLOCK_A : XP_FP_BLOCK_B, fp);
}
