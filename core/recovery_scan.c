// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_scan.c - step 1 of a recovery: the whole ring is read.
 */
#include "badblocks.h"
#include "recovery.h"
#include "super.h"

/* Nothing but zeros: the first byte is one, and each is like the one before. */
static bool blank(const struct xp_jblock *b)
{
	const u8 *byte = (const u8 *)b;

	return !byte[0] && !memcmp(byte, byte + 1, sizeof(*b) - 1);
}

static bool sensible(const struct xp_journal *j, const struct xp_jheader *h)
{
	u64 seq = le64_to_cpu(h->seq), tail = le64_to_cpu(h->tail_seq);

	return le64_to_cpu(h->incarnation) < XP_MAX_SEQ &&
	       seq && seq < XP_MAX_SEQ && tail && tail <= seq &&
	       seq - tail < j->blocks &&
	       h->durable_seq && le64_to_cpu(h->durable_seq) <= seq;
}

enum xp_place recovery_judge_place(const struct xp *c, struct xp_jblock *b, u64 position)
{
	const struct xp_journal *j = &c->journal;

	if (le32_to_cpu(b->head.magic) != j->magic)
		return blank(b) ? XP_PLACE_EMPTY : XP_PLACE_NOISE;
	if (le16_to_cpu(b->head.count) > XP_RECORDS || le16_to_cpu(b->head.before) > XP_RECORDS ||
	    le64_to_cpu(b->head.checksum) != jblock_checksum(b))
		return XP_PLACE_TORN;
	if (memcmp(b->head.uuid, j->uuid, sizeof(j->uuid)))
		return XP_PLACE_OTHER;
	if (le64_to_cpu(b->head.seq) % j->blocks != position)
		return XP_PLACE_MISPLACED;
	return sensible(j, &b->head) ? XP_PLACE_VALID : XP_PLACE_SENSELESS;
}

static void note_block(struct recovery *r, struct xp_jblock *b, u64 position)
{
	struct xp_ring_block *rb = &r->ring[position];
	enum xp_place place = place_is_bad(r->c, position) ? XP_PLACE_BAD :
			      recovery_judge_place(r->c, b, position);

	if (r->witness)
		r->witness->place(r->witness->ctx, position, place, b);
	memset(rb, 0, sizeof(*rb));
	if (place != XP_PLACE_VALID)
		return;
	rb->seq = le64_to_cpu(b->head.seq);
	rb->tail = le64_to_cpu(b->head.tail_seq);
	rb->durable = le64_to_cpu(b->head.durable_seq);
	rb->incarnation = le64_to_cpu(b->head.incarnation);
	rb->count = le16_to_cpu(b->head.count);
	rb->records = xp_block_records(b);
	rb->before = le16_to_cpu(b->head.before);
	r->c->journal.incarnation = max(r->c->journal.incarnation,
					rb->incarnation);
}

static void note_unreadable(struct recovery *r, u64 position)
{
	bool bad = place_is_bad(r->c, position);

	if (r->witness)
		r->witness->place(r->witness->ctx, position,
				  bad ? XP_PLACE_BAD : XP_PLACE_UNREADABLE, NULL);
	memset(&r->ring[position], 0, sizeof(r->ring[position]));
	r->ring[position].unreadable = !bad;
	r->nr_unreadable += !bad;
}

/* I9: what a recovery that goes on writes is newer than what the one that was cut has erased, or a later life would not count. */
static u64 noted_incarnation(const struct xp *c)
{
	return super_is_losing(c) ? le64_to_cpu(c->super.sb->loss.incarnation) : 0;
}

void recovery_scan(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;
	u64 position = 0;

	j->incarnation = noted_incarnation(r->c);
	while (position < j->blocks) {
		u32 i, n = (u32)min(j->blocks - position, (u64)XP_RECOVER_CHUNK);
		bool together = !r->m->read(r->m->ctx, j->start + position, n, r->chunk);

		for (i = 0; i < n; i++)
			if (read_place(r, position, i, together))
				note_unreadable(r, position + i);
			else
				note_block(r, chunk_block(r, i), position + i);
		position += n;
	}
}
