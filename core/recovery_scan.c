// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_scan.c - step 1 of a recovery: the ring is read. All of it, unless the cache rests: then
 * the fingerprint names the newest block, and its chain is all there is to know.
 */
#include "badblocks.h"
#include "fingerprint.h"
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

	if (le32_to_cpu(b->head.magic) == XP_ERASED_MAGIC)
		return XP_PLACE_ERASED;
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

/* Returns what is there. */
static enum xp_place note_block(struct recovery *r, struct xp_jblock *b, u64 position)
{
	struct xp_ring_block *rb = &r->ring[position];
	enum xp_place place = place_is_bad(r->c, position) ? XP_PLACE_BAD :
			      recovery_judge_place(r->c, b, position);

	if (r->witness)
		r->witness->place(r->witness->ctx, position, place, b);
	memset(rb, 0, sizeof(*rb));
	if (place != XP_PLACE_VALID)
		return place;
	rb->seq = le64_to_cpu(b->head.seq);
	rb->tail = le64_to_cpu(b->head.tail_seq);
	rb->durable = le64_to_cpu(b->head.durable_seq);
	rb->incarnation = le64_to_cpu(b->head.incarnation);
	rb->count = le16_to_cpu(b->head.count);
	rb->records = xp_block_records(b);
	rb->before = le16_to_cpu(b->head.before);
	r->c->journal.incarnation = max(r->c->journal.incarnation,
					rb->incarnation);
	return place;
}

static enum xp_place note_unreadable(struct recovery *r, u64 position)
{
	bool bad = place_is_bad(r->c, position);

	if (r->witness)
		r->witness->place(r->witness->ctx, position,
				  bad ? XP_PLACE_BAD : XP_PLACE_UNREADABLE, NULL);
	memset(&r->ring[position], 0, sizeof(r->ring[position]));
	r->ring[position].unreadable = !bad;
	r->nr_unreadable += !bad;
	return bad ? XP_PLACE_BAD : XP_PLACE_UNREADABLE;
}

#define PLACES(what)	(1u << (what))

/* Returns what there is in these @nr places: PLACES(). */
static u32 scan_places(struct recovery *r, u64 position, u64 nr)
{
	const struct xp_journal *j = &r->c->journal;
	u32 seen = 0;

	while (nr) {
		u32 i, n = (u32)min(nr, (u64)XP_RECOVER_CHUNK);
		bool together = !r->m->read(r->m->ctx, j->start + position, n, r->chunk);

		for (i = 0; i < n; i++)
			seen |= PLACES(read_place(r, position, i, together) ?
				       note_unreadable(r, position + i) :
				       note_block(r, chunk_block(r, i), position + i));
		position += n;
		nr -= n;
	}
	return seen;
}

/* From that of block @seq on, so many, which are no more than the ring has. */
static u32 scan_from(struct recovery *r, u64 seq, u64 nr)
{
	u64 blocks = r->c->journal.blocks, first = min(nr, blocks - seq % blocks);

	return scan_places(r, seq % blocks, first) | scan_places(r, 0, nr - first);
}

/* ------------------------------------------------------ a cache at rest ---- */

#define XP_REST_MORE	32u	/* blocks */

/*
 * Whoever looks on, or goes on without something, hears of all that there is. And whoever erases what the chain has left
 * behind erases all that is older: else one of those could be the newest some day.
 */
static bool asks_for_all(const struct recovery *r)
{
	return r->witness || r->c->opt.accept || super_is_losing(r->c) || r->c->super.nr_avoided || recovery_leaves_all(r);
}

static bool noted_end(struct recovery *r, u64 *seq, u64 *incarnation)
{
	struct xp_fp *fp = (struct xp_fp *)r->chunk;

	if (asks_for_all(r) || xp_fp_read(r->m, r->c->journal.uuid, fp) < 0)
		return false;
	*seq = le64_to_cpu(fp->seq);
	*incarnation = le64_to_cpu(fp->incarnation);
	return *seq && *seq < XP_MAX_SEQ;
}

/*
 * The newest block, and where a later life would have begun: nothing newer in as many places as can be under way, and for a
 * device that keeps less than it says, in some more. What is no block of ours lies where nothing was written yet.
 */
static bool is_end(struct recovery *r, u64 seq, u64 incarnation)
{
	u64 blocks = r->c->journal.blocks, i, nr = min(XP_WINDOW + XP_REST_MORE, blocks - 1);
	u32 none = seq + nr < blocks ? PLACES(XP_PLACE_EMPTY) | PLACES(XP_PLACE_NOISE) | PLACES(XP_PLACE_OTHER) : 0;

	if (scan_from(r, seq, 1 + nr) & ~(PLACES(XP_PLACE_VALID) | none))
		return false;
	for (i = 1; i <= nr; i++)
		if (ring_at(r, seq + i)->seq > seq)
			return false;
	return ring_at(r, seq)->seq == seq && ring_at(r, seq)->incarnation == incarnation;
}

static bool has_chain(struct recovery *r, const struct xp_ring_block *head)
{
	scan_from(r, head->tail, head->seq - head->tail);
	return !recovery_chain_breaks_at(r, head);
}

/*
 * Has the cache been stopped, and not been started since? Then no block is newer than the one that was noted, none was under
 * way, and the chain is all of the ring that is read: the ring is a fortieth of the fast device. The note may be of an earlier
 * stop: each start writes its first blocks right behind the noted one, of a new incarnation (I9), and so does whoever forgets.
 * They are there, or a recovery has erased them, and what it has left says so; or the ring has gone round, and the noted one
 * was the first to go. Where anything is not as a stop leaves it, all is read, and judged by what is there.
 */
static bool scan_rested(struct recovery *r)
{
	u64 seq, incarnation;

	if (!noted_end(r, &seq, &incarnation))
		return false;
	memset(r->ring, 0, r->c->journal.blocks * sizeof(*r->ring));
	return is_end(r, seq, incarnation) && has_chain(r, ring_at(r, seq));
}

/* I9: what a recovery that goes on writes is newer than what the one that was cut has erased, or a later life would not count. */
static u64 noted_incarnation(const struct xp *c)
{
	return super_is_losing(c) ? le64_to_cpu(c->super.sb->loss.incarnation) : 0;
}

void recovery_scan(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;

	r->chain_alone = scan_rested(r);
	if (r->chain_alone)
		return;
	j->incarnation = noted_incarnation(r->c);
	r->nr_unreadable = 0;
	scan_places(r, 0, j->blocks);
}
