// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_pick.c - step 2 of a recovery: the newest block whose chain is there.
 */
#include "badblocks.h"
#include "fingerprint.h"
#include "recovery.h"
#include "super.h"

struct ends {
	u64 first, last;	/* 0: there are none */
	u32 nr;
};

/*
 * Places that cannot be read, of those where the blocks after @head are written: up to a window, which begins at the first
 * that can be, and is none.
 */
static struct ends unreadable_after(const struct recovery *r, const struct xp_ring_block *head)
{
	struct ends e = { 0, 0, 0 };
	u64 seq = number_after(r->c, head->seq);
	u32 window = 0;

	for (; window < XP_WINDOW && seq - head->tail < r->c->journal.blocks; seq = number_after(r->c, seq)) {
		bool unreadable = ring_at(r, seq)->unreadable;

		window += window || !unreadable;
		if (!unreadable)
			continue;
		e.first = e.first ? e.first : seq;
		e.last = seq;
		e.nr++;
	}
	return e;
}

/* Down a chain, from its head to its tail. */
struct walk {
	u64 seq, incarnation;	/* the next block; what it has at most */
	u32 least;		/* records that the one behind it has seen in it */
};

static struct walk walk_from(const struct xp_ring_block *head)
{
	return (struct walk){ head->seq, head->incarnation, 0 };
}

/*
 * The next one that is not there, or 0. Incarnations never fall along a chain: a second line behind
 * the erasing, for a device that did not keep it. A block that has lost what it has grown by is not
 * there, either; nor is one that was refused, has landed all the same, and was given another place:
 * the block behind it, of a later incarnation, has followed another.
 */
static u64 next_missing(const struct recovery *r, const struct xp_ring_block *head, struct walk *w)
{
	while (w->seq >= head->tail) {
		u64 seq = w->seq--;
		const struct xp_ring_block *b = ring_at(r, seq);

		if (place_is_bad(r->c, seq))
			continue;
		if (b->seq != seq || b->records < w->least || b->incarnation > w->incarnation ||
		    (w->least && b->count > w->least && b->incarnation < w->incarnation)) {
			w->least = 0;
			return seq;
		}
		w->incarnation = b->incarnation;
		w->least = b->before;
	}
	return 0;
}

/* By the user, who is asked now; of another loss: take_noted(). */
static bool loss_is_accepted(const struct recovery *r)
{
	return r->c->opt.accept & XP_ACCEPT_LOSS;
}

/*
 * The block @seq of the chain of @head is not there, and the user has said to go on without: it was durable, or cannot be
 * read. Any other may never have been written, and an older head has no need of it (pick()); if there is one.
 */
static bool is_hole(const struct recovery *r, const struct xp_ring_block *head, u64 seq)
{
	return loss_is_accepted(r) &&
	       (seq <= head->durable || ring_at(r, seq)->unreadable || (r->any_may_be_missing && ring_at(r, seq)->seq != seq));
}

/* What is of a later life is there, but is followed by none. */
u64 recovery_chain_breaks_at(const struct recovery *r, const struct xp_ring_block *head)
{
	struct walk w = walk_from(head);
	u64 seq;

	while ((seq = next_missing(r, head, &w)))
		if (!is_hole(r, head, seq))
			return seq + (ring_at(r, seq)->seq == seq &&
				      ring_at(r, seq)->incarnation > w.incarnation);
	return 0;
}

static bool newer(const struct xp_ring_block *a, const struct xp_ring_block *b)
{
	return a->incarnation > b->incarnation ||
	       (a->incarnation == b->incarnation && a->seq > b->seq);
}

/* The newest valid block older than @than. */
static const struct xp_ring_block *next_candidate(const struct recovery *r,
					       const struct xp_ring_block *than)
{
	const struct xp_ring_block *best = NULL;
	u64 i;

	for (i = 0; i < r->c->journal.blocks; i++) {
		const struct xp_ring_block *b = &r->ring[i];

		if (b->seq && (!than || newer(than, b)) &&
		    (!best || newer(b, best)))
			best = b;
	}
	return best;
}

/* What is numbered from here on stays far below XP_MAX_SEQ, and is found again. */
static int check_numbers(struct recovery *r, const struct xp_ring_block *head)
{
	u64 incarnation = r->c->journal.incarnation;

	if (head->seq < XP_MAX_SEQ / 2 && incarnation < XP_MAX_SEQ / 2)
		return 0;
	return recovery_refuse(r, "has a number that no cache comes to, or its incarnation is one",
		      head->seq, incarnation);
}

/* Blocks in flight at a cut bound how many candidates can fail. */
#define CANDIDATES_MAX	(4 * XP_WINDOW)

/*
 * A block is stored first with the records that its checksum speaks of: none that follows has seen
 * fewer.
 */
static int check_before(struct recovery *r, const struct xp_ring_block *head)
{
	u64 seq, next;

	for (seq = head->tail; seq < head->seq; seq = next) {
		const struct xp_ring_block *b = ring_at(r, seq), *after;

		next = number_after(r->c, seq);
		after = ring_at(r, next);
		if (!b->hole && !after->hole && after->before && after->before < b->count)
			return recovery_refuse(r, "says of the one before it that it had fewer records than it has",
				      next, after->before);
	}
	return 0;
}

/* By a recovery that was cut, and had the user's consent. */
static bool was_accepted(const struct recovery *r, u64 seq)
{
	const struct xp_sb_loss *l = &r->c->super.sb->loss;
	u32 i;

	for (i = 0; super_is_losing(r->c) && i < XP_LOSS_HOLES; i++)
		if (le64_to_cpu(l->hole[i]) == seq)
			return true;
	return false;
}

/* So many had no room in the note: they are older than those that it names. */
static u32 accepted_unnamed(const struct recovery *r)
{
	u32 holes = super_is_losing(r->c) ? le32_to_cpu(r->c->super.sb->loss.nr_holes) : 0;

	return holes - min(holes, XP_LOSS_HOLES);
}

static u32 lost_before(const struct recovery *r)
{
	return super_is_losing(r->c) ? le32_to_cpu(r->c->super.sb->loss.lost) : 0;
}

/* Of the chain that is taken. Returns how many were not accepted before, as far as is noted; *@newest: of these, or 0. */
static u32 note_holes(struct recovery *r, u64 *newest)
{
	struct walk w = walk_from(&r->head);
	u32 holes = 0, more = 0, unnamed = accepted_unnamed(r);
	u64 oldest = le64_to_cpu(r->c->super.sb->loss.hole[XP_LOSS_HOLES - 1]), seq;

	memset(&r->loss, 0, sizeof(r->loss));
	r->leave = r->c->lost = 0;
	seq = r->c->journal.blocks;
	do
		r->ring[--seq].hole = false;
	while (seq);
	for (*newest = 0; (seq = next_missing(r, &r->head, &w)); holes++) {
		r->ring[seq % r->c->journal.blocks].hole = true;
		r->leave = max(r->leave, seq);
		r->c->lost = r->leave;
		if (holes < XP_LOSS_HOLES)
			r->loss.hole[holes] = cpu_to_le64(seq);
		if (was_accepted(r, seq))
			continue;
		if (seq < oldest && unnamed) {
			unnamed--;
			continue;
		}
		*newest = *newest ? *newest : seq;
		more++;
	}
	r->loss.nr_holes = cpu_to_le32(holes);
	return more;
}

/*
 * A start writes two blocks before the first request, which is acknowledged by a third. So
 * nothing was, since a rest, if one of the three reads, and is none. But for what was written in place, by
 * sectors: that is where the mappings of the rest find it (overwrite.c).
 */
#define BLOCKS_OF_A_LIFE	3u

/*
 * Did the cache rest with this head, and has it not been started since? Of a later life one block
 * is proof, though its chain may be broken: a recovery that was cut may have erased those before
 * it.
 */
static bool rested(struct recovery *r)
{
	struct xp_fp *fp = (struct xp_fp *)r->chunk;
	u64 seq = r->head.seq;
	u32 i;

	for (i = 1; i <= BLOCKS_OF_A_LIFE; i++) {
		seq = number_after(r->c, seq);
		if (!ring_at(r, seq)->unreadable)
			break;
	}
	return i <= BLOCKS_OF_A_LIFE && r->c->journal.incarnation == r->head.incarnation &&
	       xp_fp_read(r->m, r->c->journal.uuid, fp) >= 0 &&
	       le64_to_cpu(fp->seq) == r->head.seq &&
	       le64_to_cpu(fp->incarnation) == r->head.incarnation;
}

/* One of them may have been the newest commit. @behind: so many the user has accepted before. */
static int check_end(struct recovery *r, u32 behind)
{
	struct ends e = unreadable_after(r, &r->head);

	if (!e.first || rested(r))
		return 0;
	if (!loss_is_accepted(r) && e.nr > behind)
		return recovery_refuse_loss(r, e.first,
					    "the last commit before the cut may be lost");
	r->c->lost = e.last;
	r->loss.behind = cpu_to_le32(e.nr);
	r->loss.lost = cpu_to_le32(le32_to_cpu(r->loss.lost) + e.nr - min(e.nr, behind));
	return 0;
}

static int check_head(struct recovery *r, const struct xp_ring_block *head)
{
	int err = check_numbers(r, head);
	u64 newest;

	r->loss.lost = cpu_to_le32(note_holes(r, &newest) + lost_before(r));
	if (!err)
		err = check_before(r, head);
	return err ? err : check_end(r, 0);
}

static int refuse_missed(struct recovery *r, u64 gap)
{
	static_assert(XP_SPOKEN_OF == 348, "as it says");
	return recovery_refuse_loss(r, gap, "what it said of up to 348 blocks is lost, and others build on it");
}

/*
 * The block at the gap cannot be read; or one behind @head, and newer blocks that have no need of
 * what is in the gap let it be overwritten. 0: neither.
 */
static u64 missed_by(const struct recovery *r, const struct xp_ring_block *head, u64 gap)
{
	return ring_at(r, gap)->unreadable ? gap : unreadable_after(r, head).first;
}

/* What the heads say that are newer, and not taken. */
struct passed_over {
	u64 missed;		/* they had to do with it, and it cannot be read; 0: with nothing of that kind */
	u64 durable, later;	/* the newest block that was; and who says so */
};

static void pass_over(const struct recovery *r, const struct xp_ring_block *head, u64 gap, struct passed_over *p)
{
	if (!p->missed)
		p->missed = missed_by(r, head, gap);
	if (head->durable <= p->durable)
		return;
	p->durable = head->durable;
	p->later = head->seq;
}

static int refuse_gap(struct recovery *r, const struct passed_over *p, u64 gap, u64 later)
{
	if (p->missed)
		return refuse_missed(r, p->missed);
	return recovery_refuse(r, "is damaged or missing, though a later one says it was durable; later one", gap, later);
}

static int refuse_ring(struct recovery *r)
{
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal: no block from which the mapping can be rebuilt, in blocks %llu to %llu of the fast device; %llu of them cannot be read",
		 (unsigned long long)r->c->journal.start,
		 (unsigned long long)(r->c->journal.start + r->c->journal.blocks - 1),
		 (unsigned long long)r->nr_unreadable);
	return r->nr_unreadable ? -EIO : -EUCLEAN;
}

/* The first one behind @head that is not there; what cannot be read may be. In its own place @head is. */
static u64 first_absent(const struct recovery *r, const struct xp_ring_block *head)
{
	u64 seq = number_after(r->c, head->seq);

	while (ring_at(r, seq)->unreadable)
		seq = number_after(r->c, seq);
	return seq;
}

static int pick(struct recovery *r)
{
	const struct xp_ring_block *head = NULL;
	struct passed_over p = { 0, 0, 0 };
	u32 tries;

	for (tries = 0; tries < CANDIDATES_MAX && (head = next_candidate(r, head)); tries++) {
		u64 gap = first_absent(r, head);

		if (gap <= p.durable)
			return refuse_gap(r, &p, gap, p.later);
		gap = recovery_chain_breaks_at(r, head);
		if (r->witness)
			r->witness->candidate(r->witness->ctx, head, gap);
		if (!gap) {
			r->head = *head;
			return check_head(r, head);
		}
		pass_over(r, head, gap, &p);
		if (gap <= head->durable)
			return refuse_gap(r, &p, gap, head->seq);
	}
	return p.missed ? refuse_missed(r, p.missed) : refuse_ring(r);
}

/* A recovery writes one block at a time: of those behind the gap each has moved further than the one before. */
static bool has_just_moved(const struct recovery *r, const struct xp_ring_block *head, u64 gap)
{
	u64 seq, incarnation = 0;

	for (seq = gap + 1; seq <= head->seq; seq++) {
		if (place_is_bad(r->c, seq) || ring_at(r, seq)->seq != seq)
			continue;
		if (ring_at(r, seq)->incarnation <= incarnation)
			return false;
		incarnation = ring_at(r, seq)->incarnation;
	}
	return true;
}

/*
 * Of the blocks that a cut recovery has written behind @began: does one lack one before it, as that took another number when
 * its place was refused, and the superblock did not come to say so? The incarnation rises there (badblocks.c). Else it is lost.
 */
static bool was_rerouted(const struct recovery *r, const struct xp_ring_block *head, const struct xp_sb_loss *l)
{
	struct walk w = walk_from(head);
	u64 seq;

	while ((seq = next_missing(r, head, &w)) > le64_to_cpu(l->head)) {
		const struct xp_ring_block *below = ring_at(r, seq - 1);
		u64 under = below->seq == seq - 1 ? below->incarnation : 0;

		if (!ring_at(r, seq)->unreadable && w.incarnation > max(under, le64_to_cpu(l->incarnation) + 1) &&
		    has_just_moved(r, head, seq))
			return true;
	}
	return false;
}

/* Its last block says that those before it are durable, which no other of its own says (recovery_restate()). */
static bool has_ended(const struct xp_ring_block *head, const struct xp_sb_loss *l)
{
	return head->durable > le64_to_cpu(l->head);
}

/* The newest block that it has written. NULL: it had written none. */
static const struct xp_ring_block *newest_own(const struct recovery *r, const struct xp_sb_loss *l)
{
	const struct xp_ring_block *b = NULL;
	u32 tries;

	for (tries = 0; tries < CANDIDATES_MAX && (b = next_candidate(r, b)) && b->incarnation > le64_to_cpu(l->incarnation); tries++)
		if (has_ended(b, l) || !was_rerouted(r, b, l))
			return b;
	return NULL;
}

static int refuse_without(struct recovery *r, u64 began)
{
	if (ring_at(r, began)->unreadable)
		return recovery_refuse_loss(r, began, "a recovery that has been cut began with it");
	return recovery_refuse(r, "is damaged or missing: a recovery that has been cut began with it", began, 0);
}

/*
 * I9: a recovery that was cut has the consent of the user for the head that it began with, and what that lacked; by now it
 * may have erased what told so. It has written its own blocks one after the other: the newest of these is the head, or that
 * one. 0, and *@head NULL: there was none, or it has ended. -EUCLEAN: neither is there.
 */
static int noted_head(struct recovery *r, const struct xp_ring_block **head)
{
	const struct xp_sb_loss *l = &r->c->super.sb->loss;
	const struct xp_ring_block *own;
	u64 began = le64_to_cpu(l->head);

	*head = NULL;
	if (!super_is_losing(r->c) || !began)
		return 0;
	own = newest_own(r, l);
	if (own) {
		*head = has_ended(own, l) ? NULL : own;
		return 0;
	}
	*head = ring_at(r, began)->seq == began ? ring_at(r, began) : NULL;
	return *head || loss_is_accepted(r) ? 0 : refuse_without(r, began);
}

static int refuse_more(struct recovery *r, u64 seq)
{
	if (ring_at(r, seq)->unreadable)
		return recovery_refuse_loss(r, seq, "more is lost than was accepted for a recovery that has been cut");
	return recovery_refuse(r, "is damaged or missing: more is lost than was accepted for a recovery that has been cut; its head",
			       seq, r->head.seq);
}

/* What it lacks was accepted, but for what is lost since. */
static int take_noted(struct recovery *r, const struct xp_ring_block *head)
{
	const struct xp_sb_loss *l = &r->c->super.sb->loss;
	u32 more;
	u64 newest;
	int err;

	r->head = *head;
	if (r->witness)
		r->witness->candidate(r->witness->ctx, head, 0);
	err = check_numbers(r, head);
	more = note_holes(r, &newest);
	r->loss.lost = cpu_to_le32(lost_before(r) + more);
	if (!err)
		err = check_end(r, head->seq == le64_to_cpu(l->head) ? le32_to_cpu(l->behind) : 0);
	if (!err && more && !loss_is_accepted(r))
		err = refuse_more(r, newest);
	return err ? err : check_before(r, head);
}

/*
 * Where a loss is accepted, and no chain is whole but for what was durable and what cannot be read, any block of the newest
 * may be missing: newer ones, which cannot be read, had no need of it any more, and it was overwritten.
 */
int recovery_pick(struct recovery *r)
{
	const struct xp_ring_block *noted;
	int err = noted_head(r, &noted);

	if (noted)
		return take_noted(r, noted);
	if (!err)
		err = pick(r);
	if (!err || !loss_is_accepted(r))
		return err;
	r->any_may_be_missing = true;
	return pick(r);
}
