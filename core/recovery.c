// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery.c - from the journal on the medium to the map in memory.
 *
 *   1. scan    read the whole ring; which blocks are valid, and which places cannot be read
 *   2. pick    the newest block whose whole chain, from its own tail_seq to
 *              itself, is there
 *   3. replay  that chain in order. Records above its durable_seq that carry a
 *              checksum are compared with their slot; those that fail are left
 *              out, so that the older mapping holds (its slot is untouched, I1)
 *   4. erase   blocks newer than that: written before the cut, and beyond a gap.
 *              One of them would be taken up again if the block that is to take
 *              its place does not land, and a later one does, at a later cut. And
 *              what cannot be read: whatever it is, it may be readable by then
 *   5. restate say on the medium what step 3 decided, in blocks of a new
 *              incarnation, before the first request: a rejected record must
 *              not turn valid when its slot happens to receive the same bytes
 *   6. write back the last block of the slow device, if it is short, dirty, and an older version has cached it.
 *              And the superblock gets the present size of the slow device
 *
 * I10: a chain broken at or below its own durable_seq is not what a power cut
 * leaves. It is refused, not worked around.
 *
 * I2: a place that cannot be read is in nobody's way, but for two. One in the chain is missed;
 * one of those that follow the head may be the newest commit. Both are refused, unless the
 * user accepts it (XP_ACCEPT_LOSS): then the chain has a hole. What older blocks than the newest hole
 * say is replayed, and doubtful; and it is all said anew, behind the hole, before the first request.
 */
#include "journal.h"
#include "slot.h"

#define RECORDS_CHECKED_MAX	(2 * XP_WINDOW * XP_RECORDS)
#define DISPLACED_MAX		RECORDS_CHECKED_MAX

struct decided {
	u64 lba;
	u32 slot;
	u32 reserved;
	u64 passed_over;	/* the block of this record, if the user took the older version; 0: no */
};

/* The caller's scratch memory, and what the steps hand on. */
struct recovery {
	struct xp *c;
	const struct xp_media *m;
	struct xp_message *msg;
	const struct xp_witness *witness;	/* NULL: nobody looks on */
	u8 *chunk;			/* XP_RECOVER_CHUNK blocks */
	u8 *block;			/* one more */
	struct xp_ring_block *ring;
	struct decided *decided;	/* checked records above durable */
	u32 nr_decided;			/* and the short block, if it was clean */
	u64 *displaced;			/* lbas whose slots later records give to others, and that are yet to be said anew */
	u32 nr_displaced;
	struct xp_message conflict;	/* of the first */
	u32 nr_refused;			/* records, before a witness or where losses are accepted */
	struct xp_message first;	/* of them */
	struct xp_ring_block head;
	u64 nr_unreadable;		/* places of the ring */
	u64 hole;			/* the newest that the chain has been replayed over; 0: none */
	u64 leave;			/* no later recovery would get over this block; 0: none */
	bool took_back;		/* a bad place: the superblock is about to say so */
	u64 sectors, was;		/* of the slow device, as the superblock has it; and the most that records may speak of */
	xp_slot_t short_block;		/* dirty, and not whole (step 6) */
};

static bool accepts(const struct recovery *r, u32 what)
{
	return (r->c->opt.accept & what) || (what == XP_ACCEPT_LOSS && super_is_losing(r->c));
}

u64 xp_recover_memory(const struct xp_sb *sb)
{
	return (XP_RECOVER_CHUNK + 1) * XP_BLOCK_SIZE +
	       le64_to_cpu(sb->journal_blocks) * sizeof(struct xp_ring_block) +
	       (RECORDS_CHECKED_MAX + 1) * sizeof(struct decided) + DISPLACED_MAX * sizeof(u64);
}

static int refuse(struct recovery *r, const char *what, u64 seq, u64 detail)
{
	struct xp_journal *j = &r->c->journal;

	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal block %llu (at block %llu of the fast device): %s (%llu)",
		 (unsigned long long)seq,
		 (unsigned long long)(j->start + seq % j->blocks), what,
		 (unsigned long long)detail);
	return -EUCLEAN;
}

/* -------------------------------------------------------------- 1. scan ---- */

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

static enum xp_place judge_place(const struct xp *c, struct xp_jblock *b, u64 position)
{
	const struct xp_journal *j = &c->journal;

	if (le32_to_cpu(b->head.magic) != XP_JOURNAL_MAGIC)
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
	enum xp_place place = place_is_bad(r->c, position) ? XP_PLACE_BAD : judge_place(r->c, b, position);

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
		r->witness->place(r->witness->ctx, position, bad ? XP_PLACE_BAD : XP_PLACE_UNREADABLE, NULL);
	memset(&r->ring[position], 0, sizeof(r->ring[position]));
	r->ring[position].unreadable = !bad;
	r->nr_unreadable += !bad;
}

static struct xp_jblock *chunk_block(const struct recovery *r, u32 i)
{
	return (struct xp_jblock *)(r->chunk + i * XP_BLOCK_SIZE);
}

/* One that fails may be all that is bad of @nr: then each is read alone. */
static int read_place(struct recovery *r, u64 position, u32 i, bool together)
{
	return together ? 0 : r->m->read(r->m->ctx, r->c->journal.start + position + i, 1, chunk_block(r, i));
}

static void scan(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;
	u64 position = 0;

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

/* -------------------------------------------------------------- 2. pick ---- */

static const struct xp_ring_block *ring_at(const struct recovery *r, u64 seq)
{
	return &r->ring[seq % r->c->journal.blocks];
}

struct ends {
	u64 first, last;	/* 0: there are none */
};

/* Places that cannot be read, of those where the blocks after @head are written. */
static struct ends unreadable_after(const struct recovery *r, const struct xp_ring_block *head)
{
	struct ends e = { 0, 0 };
	u64 seq = head->seq;
	u32 i;

	for (i = 0; i < XP_WINDOW; i++) {
		seq = number_after(r->c, seq);
		if (!ring_at(r, seq)->unreadable || seq - head->tail >= r->c->journal.blocks)
			continue;
		e.first = e.first ? e.first : seq;
		e.last = seq;
	}
	return e;
}

/* The block @seq of the chain of @head is not there, and the user has said to go on without: it was
 * durable, or cannot be read, or newer ones, which cannot be read, had no need of it any more. Any other may
 * never have been written, and an older head has no need of it. */
static bool is_hole(const struct recovery *r, const struct xp_ring_block *head, u64 seq)
{
	return accepts(r, XP_ACCEPT_LOSS) && seq != head->seq &&
	       (seq <= head->durable || ring_at(r, seq)->unreadable ||
		(ring_at(r, seq)->seq != seq && unreadable_after(r, head).first));
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
 * there, either; nor is one that was refused, has landed all the same, and was given another place: the
 * block behind it, of a later incarnation, has followed another.
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

/* Where the chain breaks, or 0. What is of a later life is there, but is followed by none. */
static u64 chain_breaks_at(const struct recovery *r, const struct xp_ring_block *head)
{
	struct walk w = walk_from(head);
	u64 seq;

	while ((seq = next_missing(r, head, &w)))
		if (!is_hole(r, head, seq))
			return seq + (ring_at(r, seq)->seq == seq && ring_at(r, seq)->incarnation > w.incarnation);
	return 0;
}

/* How many records of it count. What came behind them may have been refused, and then been
 * placed in the next block: that one knows. Of the newest, and before a hole, all that there are:
 * they were acknowledged, or under way. */
static u32 records_of(const struct recovery *r, u64 seq)
{
	const struct xp_ring_block *b = ring_at(r, seq), *next = ring_at(r, number_after(r->c, seq));

	if (seq == r->head.seq || next->hole)
		return b->records;
	return next->before ? next->before : b->count;
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
	return refuse(r, "has a number that no cache comes to, or its incarnation is one",
		      head->seq, incarnation);
}

/* Blocks in flight at a cut bound how many candidates can fail. */
#define CANDIDATES_MAX	(4 * XP_WINDOW)

/* A block is stored first with the records that its checksum speaks of: none that follows has seen fewer. */
static int check_before(struct recovery *r, const struct xp_ring_block *head)
{
	u64 seq, next;

	for (seq = head->tail; seq < head->seq; seq = next) {
		const struct xp_ring_block *b = ring_at(r, seq), *after;

		next = number_after(r->c, seq);
		after = ring_at(r, next);
		if (!b->hole && !after->hole && after->before && after->before < b->count)
			return refuse(r, "says of the one before it that it had fewer records than it has",
				      next, after->before);
	}
	return 0;
}

/* Of the chain that is taken. */
static void note_holes(struct recovery *r)
{
	struct walk w = walk_from(&r->head);
	u64 seq;

	while ((seq = next_missing(r, &r->head, &w))) {
		r->ring[seq % r->c->journal.blocks].hole = true;
		r->leave = max(r->leave, seq);
		r->c->lost = r->leave;
	}
}

/* A start writes two blocks before the first request, which is acknowledged by a third. So
 * nothing was, since a rest, if one of the three reads, and is none. */
#define BLOCKS_OF_A_LIFE	3u

/* Did the cache rest with this head, and has it not been started since? Of a later life one block is proof,
 * though its chain may be broken: a recovery that was cut may have erased those before it. */
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
	       le64_to_cpu(fp->seq) == r->head.seq && le64_to_cpu(fp->incarnation) == r->head.incarnation;
}

static int refuse_loss(struct recovery *r, u64 seq, const char *what)
{
	const struct xp_journal *j = &r->c->journal;

	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal block %llu cannot be read (block %llu of the fast device): %s",
		 (unsigned long long)seq, (unsigned long long)(j->start + seq % j->blocks), what);
	return -EBADMSG;
}

/* One of them may have been the newest commit. */
static int check_end(struct recovery *r)
{
	struct ends e = unreadable_after(r, &r->head);

	if (!e.first || rested(r))
		return 0;
	if (!accepts(r, XP_ACCEPT_LOSS))
		return refuse_loss(r, e.first, "the last commit before the cut may be lost");
	r->c->lost = e.last;
	return 0;
}

static int check_head(struct recovery *r, const struct xp_ring_block *head)
{
	int err = check_numbers(r, head);

	note_holes(r);
	if (!err)
		err = check_before(r, head);
	return err ? err : check_end(r);
}

static int refuse_missed(struct recovery *r, u64 gap)
{
	return refuse_loss(r, gap, "what it said of up to 168 blocks is lost, and others build on it");
}

/* The block at the gap cannot be read; or one behind @head, and newer blocks that have no need of what is in the gap
 * let it be overwritten. 0: neither. */
static u64 missed_by(const struct recovery *r, const struct xp_ring_block *head, u64 gap)
{
	return ring_at(r, gap)->unreadable ? gap : unreadable_after(r, head).first;
}

static int pick(struct recovery *r)
{
	const struct xp_ring_block *head = NULL;
	u64 missed = 0;		/* what the newest heads had to do with, and cannot be read */
	u32 tries;

	for (tries = 0; tries < CANDIDATES_MAX; tries++) {
		u64 gap;

		head = next_candidate(r, head);
		if (!head)
			break;
		gap = chain_breaks_at(r, head);
		if (r->witness)
			r->witness->candidate(r->witness->ctx, head, gap);
		if (!gap) {
			r->head = *head;
			return check_head(r, head);
		}
		if (!missed)
			missed = missed_by(r, head, gap);
		if (gap > head->durable)
			continue;
		if (missed)
			return refuse_missed(r, missed);
		return refuse(r, "is damaged or missing, though a later one says it was durable; later one",
			      gap, head->seq);
	}
	if (missed)
		return refuse_missed(r, missed);
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal: no block from which the mapping can be rebuilt, in blocks %llu to %llu of the fast device; %llu of them cannot be read",
		 (unsigned long long)r->c->journal.start,
		 (unsigned long long)(r->c->journal.start + r->c->journal.blocks - 1),
		 (unsigned long long)r->nr_unreadable);
	return r->nr_unreadable ? -EIO : -EUCLEAN;
}

/* ------------------------------------------------------------ 3. replay ---- */

static u8 known_flags(const struct xp *c)
{
	return XP_REC_DIRTY | XP_REC_ZEROS | XP_REC_CHECKED | (c->may_sum ? XP_REC_SUMMED : 0);
}

static int parse(struct recovery *r, const struct xp_record *rec, u64 seq,
		 struct xp_said *p)
{
	u64 word = le64_to_cpu(rec->lba);

	p->lba = XP_LBA(word & (XP_MAX_LBAS - 1));
	p->kind = (u8)(word >> 40);
	p->flags = (u8)(word >> 48);
	p->slot = XP_SLOT(le32_to_cpu(rec->slot));
	p->sum = le32_to_cpu(rec->sum);
	p->hash = le64_to_cpu(rec->hash);
	p->seq = seq;
	p->verdict = XP_REPLAYED;
	if (word >> 56 || !p->sum != !(p->flags & XP_REC_SUMMED) || p->kind < XP_REC_MAP ||
	    p->kind > XP_REC_ZERO ||
	    p->flags & ~known_flags(r->c) || (p->sum && p->kind != XP_REC_MAP))
		return refuse(r, "holds a record of unknown kind", seq, word >> 40);
	if (xp_lba_n(p->lba) * XP_BLOCK_SECTORS >= r->was)
		return refuse(r, "names an lba past the slow device", seq,
			      xp_lba_n(p->lba));
	if (xp_slot_n(p->slot) >= r->c->nr_slots)
		return refuse(r, "names a slot past the data area", seq,
			      xp_slot_n(p->slot));
	return 0;
}

static void unmap(struct xp *c, xp_slot_t slot)
{
	journal_unlist(c, slot);
	slot_supersede(c, slot);
	entry_of(c, slot)->state = SLOT_FREE;
}

/* Of the block of the chain with its newest record. */
static u64 number_of(const struct recovery *r, xp_slot_t slot)
{
	u64 blocks = r->c->journal.blocks, position = journal_position_of(r->c, entry_of(r->c, slot));

	return r->head.tail + (position + blocks - r->head.tail % blocks) % blocks;
}

/*
 * A recovery has decided that what gave this block the slot was not valid: it could read what cannot be read now, or
 * the user took the older version, or has lost what came before. What it has said anew takes the slot away, and says of
 * this block, too, what holds instead.
 */
static int displace(struct recovery *r, const struct xp_said *p)
{
	int err = refuse(r, "maps a slot that holds another block; slot", p->seq, xp_slot_n(p->slot));

	if (r->nr_displaced == DISPLACED_MAX ||
	    ring_at(r, p->seq)->incarnation <= ring_at(r, number_of(r, p->slot))->incarnation)
		return err;
	if (!r->nr_displaced)
		r->conflict = *r->msg;
	r->msg->text[0] = '\0';
	r->displaced[r->nr_displaced++] = xp_lba_n(entry_lba(entry_of(r->c, p->slot)));
	return 0;
}

static void settle(struct recovery *r, xp_lba_t lba)
{
	u32 i = 0;

	while (i < r->nr_displaced)
		if (r->displaced[i] == xp_lba_n(lba))
			r->displaced[i] = r->displaced[--r->nr_displaced];
		else
			i++;
}

/* What such a block was before is lost. */
static int check_displaced(struct recovery *r)
{
	if (!r->nr_displaced)
		return 0;
	r->leave = r->head.seq;
	r->c->lost = r->head.seq + 1;
	if (accepts(r, XP_ACCEPT_LOSS))
		return 0;
	*r->msg = r->conflict;
	return -EUCLEAN;
}

static int replay_map(struct recovery *r, const struct xp_said *p)
{
	struct xp *c = r->c;
	struct xp_entry *e = entry_of(c, p->slot);
	xp_slot_t old = map_mapped(c, p->lba);

	if (e->state == SLOT_MAPPED &&
	    xp_lba_n(entry_lba(e)) != xp_lba_n(p->lba)) {
		int err = e->held || r->hole ? 0 : displace(r, p);

		if (err)
			return err;
		unmap(c, p->slot);
	}
	if (is_slot(old) && xp_slot_n(old) != xp_slot_n(p->slot))
		unmap(c, old);
	if (e->state != SLOT_MAPPED) {
		map_insert(c, p->slot, p->lba);
		slot_map(c, p->slot, p->flags & XP_REC_DIRTY);
	}
	slot_set_dirty(c, e, p->flags & XP_REC_DIRTY);
	e->zeros = !!(p->flags & XP_REC_ZEROS);
	e->held = 0;
	if (c->sum)
		c->sum[xp_slot_n(p->slot)] = p->sum;
	journal_list(c, p->slot, journal_position(c, p->seq));
	return 0;
}

/* Did the data that the record was sent beside land? What cannot be read may have: then the block
 * is an error until it is written anew, and not what it was before (I9). */
static enum xp_verdict landed(struct recovery *r, const struct xp_said *p)
{
	u64 block = r->c->data_start + xp_slot_n(p->slot);

	int err = r->m->read(r->m->ctx, block, 1, r->block);

	if (err)
		err = r->m->read(r->m->ctx, block, 1, r->block);
	if (err)
		return XP_UNREADABLE_DATA;
	return xp_checksum(r->block, XP_BLOCK_SIZE) == p->hash ? XP_REPLAYED : XP_NO_DATA;
}

/* The older mapping holds for now. If the record failed only because its slot
 * was reused, then so may the older slot have been, and what replaced both comes
 * later in the chain: until then the older slot may be taken away (held). */
static void fall_back(struct xp *c, xp_lba_t lba)
{
	xp_slot_t old = map_mapped(c, lba);

	if (is_slot(old))
		entry_of(c, old)->held = 1;
}

static int replay_checked(struct recovery *r, struct xp_said *p)
{
	struct decided *d = &r->decided[r->nr_decided];

	if (r->nr_decided == RECORDS_CHECKED_MAX)
		return refuse(r, "holds more unproven records than can be in flight",
			      p->seq, r->nr_decided);
	p->verdict = landed(r, p);
	d->lba = xp_lba_n(p->lba);
	d->slot = xp_slot_n(p->slot);
	d->passed_over = 0;
	r->nr_decided++;
	if (p->verdict == XP_REPLAYED ||
	    (p->verdict == XP_UNREADABLE_DATA && !accepts(r, XP_ACCEPT_OLDER)))
		return replay_map(r, p);
	if (p->verdict == XP_UNREADABLE_DATA)
		d->passed_over = p->seq;
	fall_back(r->c, p->lba);
	return 0;
}

/* CLEAN or ZERO of what is not the block's mapping: the record that made it so has failed, or is
 * in a hole. Then it tells what that said: that the slow device holds the newest, or zeros. (Or the write that
 * superseded it was sent beside its record, which came first: that mapping is no older than the hole.) */
static int replay_moot(struct recovery *r, struct xp_said *p)
{
	xp_slot_t mapped = map_mapped(r->c, p->lba);

	p->verdict = XP_MOOT;
	if (!r->hole || (is_slot(mapped) && number_of(r, mapped) >= r->hole))
		return 0;
	if (p->kind == XP_REC_CLEAN) {
		if (is_slot(mapped))
			unmap(r->c, mapped);
		return 0;
	}
	p->flags = XP_REC_DIRTY | XP_REC_ZEROS;
	r->leave = max(r->leave, p->seq);	/* without the hole it would be moot */
	return replay_map(r, p);
}

static int replay_record(struct recovery *r, struct xp_said *p)
{
	struct xp *c = r->c;
	struct xp_entry *e = entry_of(c, p->slot);

	if (p->kind != XP_REC_CLEAN)
		settle(r, p->lba);
	if (p->kind == XP_REC_MAP) {
		if (p->flags & XP_REC_CHECKED && p->seq > r->head.durable)
			return replay_checked(r, p);
		return replay_map(r, p);
	}
	if (p->kind == XP_REC_UNMAP) {
		xp_slot_t mapped = map_mapped(c, p->lba);

		if (is_slot(mapped))
			unmap(c, mapped);
		return 0;
	}
	if (xp_slot_n(map_mapped(c, p->lba)) != xp_slot_n(p->slot))
		return replay_moot(r, p);
	p->verdict = XP_REPLAYED;
	if (p->kind == XP_REC_CLEAN) {
		slot_set_dirty(c, e, false);
	} else {
		slot_set_dirty(c, e, true);
		e->zeros = 1;
	}
	return 0;
}

/* A witness hears of every record that is refused; without one the first ends it, unless losses are accepted. */
static int testify(struct recovery *r, struct xp_said *p, int err)
{
	const struct xp_witness *w = r->witness;

	if (err && err != -EUCLEAN)
		return err;
	if (err && !w && !accepts(r, XP_ACCEPT_LOSS))
		return err;
	if (err) {
		p->verdict = XP_REFUSED;
		if (!r->nr_refused++)
			r->first = *r->msg;
	}
	if (w)
		w->record(w->ctx, p, r->msg);
	return 0;
}

/* Its other records are as good as none, too: what it said of their blocks is not known. */
static int accept_refused(struct recovery *r)
{
	if (!r->nr_refused)
		return 0;
	if (accepts(r, XP_ACCEPT_LOSS)) {
		r->leave = r->head.seq;
		r->c->lost = r->head.seq + 1;
		r->msg->text[0] = '\0';
		return 0;
	}
	*r->msg = r->first;
	return -EUCLEAN;
}

static int replay_block(struct recovery *r, struct xp_jblock *b, u64 seq)
{
	u32 i, count = records_of(r, seq);

	if (place_is_bad(r->c, seq))
		return 0;
	if (ring_at(r, seq)->hole) {
		r->hole = seq;
		return 0;
	}
	if (judge_place(r->c, b, seq % r->c->journal.blocks) != XP_PLACE_VALID ||
	    le64_to_cpu(b->head.seq) != seq || xp_block_records(b) < count)
		return refuse(r, "changed while it was read", seq, 0);
	for (i = 0; i < count; i++) {
		struct xp_said p;
		int err = parse(r, &b->rec[i], seq, &p);

		p.index = i;
		if (!err)
			err = replay_record(r, &p);
		err = testify(r, &p, err);
		if (err)
			return err;
	}
	return 0;
}

static int replay(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;
	u64 seq = r->head.tail;

	while (seq <= r->head.seq) {
		u64 position = seq % j->blocks;
		u32 i, n = (u32)min(min(j->blocks - position, r->head.seq - seq + 1),
				    (u64)XP_RECOVER_CHUNK);
		bool together = !r->m->read(r->m->ctx, j->start + position, n, r->chunk);
		int err = 0;

		for (i = 0; i < n && !err; i++) {
			if (!ring_at(r, seq + i)->hole && !place_is_bad(r->c, seq + i) &&
			    read_place(r, position, i, together))
				return refuse_loss(r, seq + i, "it could be read just now");
			err = replay_block(r, chunk_block(r, i), seq + i);
		}
		if (err)
			return err;
		seq += n;
	}
	return 0;
}

static u32 alive_in(const struct xp *c, u64 seq)
{
	u32 i = c->journal.list[journal_position(c, seq)], n = 0;

	for (; i != XP_NIL; i = c->entry[i].list_next)
		n++;
	return n;
}

/*
 * The ring never fills, whatever comes (docs/ARCHITECTURE.md): that is so of every chain that a cache writes, and any
 * other is refused. The oldest k + 1 blocks are behind the tail when so many new ones are written as it takes
 * to carry what is alive in them, XP_RELOCATE_MAX records each; the last of these has a place if
 * the tail has passed k blocks by then. One comes at least: step 5's.
 */
static int check_room(struct recovery *r)
{
	u64 good = r->c->journal.blocks - r->c->super.nr_avoided, length = 0, k = 0, seq;
	u32 alive = 0;

	for (seq = r->head.tail; seq < r->head.seq; seq = number_after(r->c, seq))
		length++;
	for (seq = r->head.tail; seq <= r->head.seq; seq = number_after(r->c, seq), k++) {
		alive += alive_in(r->c, seq);
		if (length + max((alive + XP_RELOCATE_MAX - 1) / XP_RELOCATE_MAX, 1u) >= good + k)
			return refuse(r, "leaves no room in the ring for what is to be carried, as no cache does; records",
				      r->head.seq, alive);
	}
	return 0;
}

/*
 * What is lost may have given a slot to another block. Of a clean block the slow device has its own data, so it is
 * as if it were not cached; of a dirty one there is nothing better. All that is left is said anew: what was lost, or is
 * erased, may turn up again.
 */
static void doubt(struct recovery *r)
{
	struct xp *c = r->c;
	u32 i;

	if (super_is_losing(c))		/* what was lost then may be erased by now */
		c->lost = r->head.seq + 1;
	if (!c->lost)
		return;
	r->leave = max(r->leave, min(c->lost, r->head.seq));
	for (i = 0; i < c->nr_slots; i++) {
		const struct xp_entry *e = &c->entry[i];

		if (e->state == SLOT_MAPPED && !e->dirty && number_of(r, XP_SLOT(i)) < c->lost)
			unmap(c, XP_SLOT(i));
	}
}

/* The version that was passed over may have been durable, and the older one's slot another's since. So it is with
 * that as above; but only the block itself is in doubt. */
static void doubt_older(struct recovery *r)
{
	u32 i;

	for (i = 0; i < r->nr_decided; i++) {
		const struct decided *d = &r->decided[i];
		xp_slot_t old = map_mapped(r->c, XP_LBA(d->lba));

		if (d->passed_over && is_slot(old) && !entry_of(r->c, old)->dirty && number_of(r, old) < d->passed_over)
			unmap(r->c, old);
	}
}

/* ------------------------------------------------------- the slow device ---- */

/*
 * Only blocks are mapped that are whole on the slow device as it was and as it is. Behind the end of one that was short
 * its slot has zeros, and the slow device may have data by now. What lay past an end of it that was is not there any
 * more, or something else is.
 */
static u64 whole_blocks(const struct recovery *r)
{
	return min(r->sectors, r->c->slow_sectors) / XP_BLOCK_SECTORS;
}

/* Sector behind the block's last. */
static u64 end_of(const struct recovery *r, xp_slot_t slot)
{
	return min((xp_lba_n(entry_lba(entry_of(r->c, slot))) + 1) * XP_BLOCK_SECTORS, r->was);
}

static bool sticks_out(const struct recovery *r, xp_slot_t slot)
{
	const struct xp_entry *e = entry_of(r->c, slot);

	return e->state == SLOT_MAPPED && xp_lba_n(entry_lba(e)) >= whole_blocks(r);
}

static int refuse_shorter(struct recovery *r)
{
	u64 n = 0, first = ~0ull, end = 0;
	u32 i;

	for (i = 0; i < r->c->nr_slots; i++) {
		const struct xp_entry *e = &r->c->entry[i];

		if (!sticks_out(r, XP_SLOT(i)) || !e->dirty || end_of(r, XP_SLOT(i)) <= r->c->slow_sectors)
			continue;
		n++;
		first = min(first, xp_lba_n(entry_lba(e)) * XP_BLOCK_SECTORS);
		end = max(end, end_of(r, XP_SLOT(i)));
	}
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "the slow device has %llu sectors, and had %llu: %llu dirty blocks reach past its end, in sectors %llu to %llu",
		 (unsigned long long)r->c->slow_sectors, (unsigned long long)r->was, (unsigned long long)n,
		 (unsigned long long)first, (unsigned long long)end - 1);
	return -ENOSPC;
}

/* The short block by an UNMAP, as if replay had found it so; what is further on by leaving all records behind. */
static void drop_outside(struct recovery *r, xp_slot_t slot)
{
	u64 lba = xp_lba_n(entry_lba(entry_of(r->c, slot)));

	unmap(r->c, slot);
	if (lba == r->sectors / XP_BLOCK_SECTORS)
		r->decided[r->nr_decided++] = (struct decided){ .lba = lba, .slot = xp_slot_n(slot) };
}

/* Before anything is written. */
static int fit(struct recovery *r)
{
	struct xp *c = r->c;
	u32 i;

	for (i = 0; i < c->nr_slots; i++) {
		xp_slot_t slot = XP_SLOT(i);

		if (!sticks_out(r, slot))
			continue;
		if (c->entry[i].dirty && end_of(r, slot) > min(r->sectors, c->slow_sectors))
			return refuse_shorter(r);
		if (c->entry[i].dirty)
			r->short_block = slot;
		else
			drop_outside(r, slot);
	}
	if (c->slow_sectors < r->sectors || r->was > r->sectors)
		r->leave = r->head.seq;
	return 0;
}

/* Steps 1 to 3: nothing is written. */
static int rebuild(struct recovery *r)
{
	int err;

	scan(r);
	err = pick(r);
	if (!err)
		err = replay(r);
	if (!err)
		err = accept_refused(r);
	if (!err)
		err = check_displaced(r);
	if (err)
		return err;
	doubt(r);
	doubt_older(r);
	return check_room(r);
}

/* ------------------------------------------------------------- 4. erase ---- */

/*
 * What cannot be read may become readable, and be such a block. A hole would be of the chain.
 * Older ones are of no use, and do harm before a place that is not skipped any more, or was a hole: if the newest
 * could not be read one day, a chain would seem to break there, and one of those before it to be the head.
 */
static bool is_leftover(const struct recovery *r, u64 position)
{
	const struct xp_ring_block *b = &r->ring[position];

	return b->seq > r->head.seq || (b->unreadable && !b->hole) ||
	       (r->took_back && b->seq && b->seq < r->head.tail);
}

static int write_zeros(struct recovery *r, u64 position, bool read_back)
{
	u64 block = r->c->journal.start + position;
	int err;

	memset(r->block, 0, XP_BLOCK_SIZE);
	err = r->m->write(r->m->ctx, block, 1, r->block);
	if (!err && read_back)
		err = r->m->read(r->m->ctx, block, 1, r->block);
	return err;
}

/* A device that was away for a moment has made places look bad. Those that the chain skips stay so; and all
 * where a newer chain may come to light, of what cannot be read now. */
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
		err = write_zeros(r, position, true);
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
	int err = write_zeros(r, position, r->ring[position].unreadable);

	return error_of_place(err) && place_give_up(r->c, position) ? 0 : err;
}

/* I2: in the superblock before a number is skipped. */
static int note_given_up(struct recovery *r)
{
	struct xp_super *s = &r->c->super;

	return s->written == s->changes ? 0 : super_write_now(r->c, r->m, r->block);
}

static int erase_leftovers(struct recovery *r)
{
	int err = take_back_places(r);
	u64 i;

	for (i = 0; i < r->c->journal.blocks && !err; i++)
		if (is_leftover(r, i))
			err = erase(r, i);
	return err ? err : note_given_up(r);
}

/* A new block has the place of that one by now. */
static bool is_overwritten(const struct recovery *r, u64 seq)
{
	return seq + r->c->journal.blocks <= r->c->journal.sealed_number;
}

/* The chain has left the holes, and what is older (is_leftover). */
static int erase_holes(struct recovery *r)
{
	const struct xp_journal *j = &r->c->journal;
	u64 seq, i;
	int err = 0;

	for (seq = r->head.tail; seq <= r->head.seq && !err; seq++)
		if (ring_at(r, seq)->hole && !is_overwritten(r, seq))
			err = erase(r, seq % j->blocks);
	for (i = 0; i < j->blocks && !err; i++) {
		seq = r->ring[i].seq;
		if (seq && seq < j->tail_written && !is_overwritten(r, seq))
			err = erase(r, i);
	}
	return err ? err : note_given_up(r);
}

/* Redundancy that was lost is made again: a copy that is not as the newer one. If its place is bad
 * there is still that. */
static int mend_copy(struct recovery *r, u64 block, const void *as)
{
	const struct xp_media *m = r->m;
	int err = 0;

	if (m->read(m->ctx, block, 1, r->block) || memcmp(r->block, as, XP_BLOCK_SIZE))
		err = m->write(m->ctx, block, 1, as);
	return error_of_place(err) ? 0 : err;
}

static int mend_fingerprint(struct recovery *r)
{
	struct xp_fp *fp = (struct xp_fp *)r->chunk;
	int newest = xp_fp_read(r->m, r->c->journal.uuid, fp);

	return newest < 0 ? 0 : mend_copy(r, newest ? XP_FP_BLOCK_A : XP_FP_BLOCK_B, fp);
}

/* ----------------------------------------------------------- 5. restate ---- */

/* Writes what the todo holds, and what that adds. */
static int write_out(struct xp *c, const struct xp_media *m,
		     struct xp_todo *todo)
{
	while (todo->journal) {
		u32 i = (u32)__builtin_ctz(todo->journal);
		struct xp_journal_io io;
		int err;

		todo->journal &= ~(1u << i);
		xp_journal_io(c, i, &io);
		err = m->write(m->ctx, io.target / XP_BLOCK_SECTORS, 1, io.data);
		xp_journal_end(c, i, err, todo);
		if (c->failed)
			return c->failed;
	}
	return 0;
}

static int seal_and_write(struct xp *c, const struct xp_media *m)
{
	struct xp_todo todo;

	xp_todo_init(&todo);
	xp_lock(&c->lock);
	journal_seal_now(c, &todo);
	xp_unlock(&c->lock);
	return write_out(c, m, &todo);
}

static void restate_one(struct xp *c, const struct decided *d)
{
	xp_slot_t mapped = map_mapped(c, XP_LBA(d->lba));

	if (is_slot(mapped)) {
		const struct xp_entry *e = entry_of(c, mapped);

		journal_add(c, XP_REC_MAP, (e->dirty ? XP_REC_DIRTY : 0) |
			    (e->zeros ? XP_REC_ZEROS : 0), XP_LBA(d->lba), mapped, 0);
	} else {
		journal_add(c, XP_REC_UNMAP, 0, XP_LBA(d->lba), XP_SLOT(d->slot), 0);
	}
}

/*
 * Until the last of these blocks is durable their durable_seq stays what it
 * was, so that a cut in between decides the same again (no slot has changed).
 * One block more, with a durable_seq that covers them, ends it.
 */
static int restate(struct recovery *r)
{
	struct xp *c = r->c;
	struct xp_todo todo;
	u32 i;
	int err;

	c->journal.incarnation++;
	c->journal.stamp = r->head.durable;
	for (i = 0; i < r->nr_decided; i++) {
		bool room;

		/* I10: past a new end no record is left, and none may be written. */
		if (r->decided[i].lba * XP_BLOCK_SECTORS >= c->slow_sectors)
			continue;
		xp_todo_init(&todo);
		xp_lock(&c->lock);
		room = journal_room(c, 1, &todo);
		XP_ASSERT(room);	/* all before is written: the window is empty */
		restate_one(c, &r->decided[i]);
		xp_unlock(&c->lock);
		err = write_out(c, r->m, &todo);
		if (err)
			return err;
	}
	err = seal_and_write(c, r->m);
	for (c->journal.leave = r->leave; !err && c->journal.tail <= r->leave; )
		err = seal_and_write(c, r->m);
	if (!err && r->leave)
		err = erase_holes(r);
	c->journal.leave = 0;
	c->journal.stamp = 0;
	return err ? err : seal_and_write(c, r->m);
}

/* -------------------------------------------------------------- recover ---- */

static void begin_after(struct xp *c, const struct xp_ring_block *head)
{
	struct xp_journal *j = &c->journal;
	u32 i;

	j->sealed = j->written = j->durable = head->seq;
	j->sealed_number = j->written_number = j->durable_number = head->seq;
	j->reached = journal_end_of(head->seq);
	j->before = head->records > head->count ? head->records : 0;
	j->tail = j->tail_written = head->tail;
	for (i = 0; i < c->nr_slots; i++)
		c->entry[i].held = 0;
	slots_init_free(c);
}

static void set_scratch(struct recovery *r, void *scratch)
{
	r->msg->text[0] = '\0';
	r->chunk = scratch;
	r->block = r->chunk + XP_RECOVER_CHUNK * XP_BLOCK_SIZE;
	r->ring = (struct xp_ring_block *)(r->block + XP_BLOCK_SIZE);
	r->decided = (struct decided *)(r->ring + r->c->journal.blocks);
	r->displaced = (u64 *)(r->decided + RECORDS_CHECKED_MAX + 1);
	r->sectors = le64_to_cpu(r->c->super.sb->slow.sectors);
	r->was = max(r->sectors, le64_to_cpu(r->c->super.sb->slow_was));
	r->short_block = XP_SLOT(XP_NIL);
}

int xp_look(struct xp *c, const struct xp_media *m, void *scratch,
	    const struct xp_witness *witness, struct xp_message *msg)
{
	struct recovery r = { .c = c, .m = m, .msg = msg, .witness = witness };
	int err;

	set_scratch(&r, scratch);
	err = rebuild(&r);
	if (!err)
		begin_after(c, &r.head);
	return err;
}

/* ------------------------------------------------------- 6. short block ---- */

static int read_short(struct recovery *r)
{
	struct xp *c = r->c;
	u32 sum = c->sum ? c->sum[xp_slot_n(r->short_block)] : 0;
	int err;

	if (entry_of(c, r->short_block)->zeros) {
		memset(r->block, 0, XP_BLOCK_SIZE);
		return 0;
	}
	err = r->m->read(r->m->ctx, c->data_start + xp_slot_n(r->short_block), 1, r->block);
	return !err && sum && sum != xp_sum(xp_checksum(r->block, XP_BLOCK_SIZE)) ? -EIO : err;
}

static int drop_short(struct recovery *r)
{
	struct xp *c = r->c;
	struct xp_todo todo;
	bool room;
	int err;

	xp_todo_init(&todo);
	xp_lock(&c->lock);
	slot_set_dirty(c, entry_of(c, r->short_block), false);
	room = policy_unmap(c, r->short_block, &todo);
	XP_ASSERT(room);
	xp_unlock(&c->lock);
	err = write_out(c, r->m, &todo);
	return err ? err : seal_and_write(c, r->m);
}

static int refuse_short(struct recovery *r, u64 sector, const char *what, int err)
{
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "the last block of the slow device as it was, dirty, cannot be %s: sectors %llu to %llu", what,
		 (unsigned long long)sector, (unsigned long long)r->sectors - 1);
	return err;
}

/*
 * Its record is durable, and so it may be written back, as any; then it is not mapped any more. A cut in between writes
 * the same once more. What cannot be read stays: an error until it is overwritten, as any dirty block. But on a device that
 * has become longer its slot would speak for sectors that it has never had.
 */
static int write_back_short(struct recovery *r)
{
	u64 sector;
	int err;

	if (!is_slot(r->short_block) || !r->m->write_slow)
		return 0;
	sector = xp_lba_n(entry_lba(entry_of(r->c, r->short_block))) * XP_BLOCK_SECTORS;
	err = read_short(r);
	if (err)
		return r->c->slow_sectors == r->sectors ? 0 : refuse_short(r, sector, "read: make it as long as it was", err);
	err = r->m->write_slow(r->m->slow_ctx, sector, (u32)(r->sectors - sector), r->block);
	return err ? refuse_short(r, sector, "written back", err) : drop_short(r);
}

static bool is_dirty(struct xp *c, xp_lba_t lba)
{
	struct xp_mapping m;

	return xp_lookup(c, lba, &m) && m.dirty;
}

int xp_recover(struct xp *c, const struct xp_media *m, void *scratch,
	       bool restating, struct xp_message *msg)
{
	struct recovery r = { .c = c, .m = m, .msg = msg };
	int err;

	set_scratch(&r, scratch);
	err = rebuild(&r);
	if (!err && restating)
		err = fit(&r);
	if (err)
		return err;
	begin_after(c, &r.head);
	if (!restating)
		return 0;
	msg->text[0] = '\0';
	err = super_mend(c, m, r.block);
	if (!err)
		err = mend_fingerprint(&r);
	if (!err && c->slow_sectors < r.sectors)	/* I4: should it be longer again after a cut, that is not what it was */
		err = super_size(c, c->slow_sectors, r.was, m, r.block);
	if (!err && c->lost)	/* I9: durable before the first trace of the loss is erased */
		err = super_lose(c, true, m, r.block);
	if (!err)
		err = erase_leftovers(&r);
	if (!err)
		err = restate(&r);
	if (!err)
		err = write_back_short(&r);
	if (!err)	/* before a block beyond the old end is mapped */
		err = super_size(c, c->slow_sectors, 0, m, r.block);
	if (!err)
		err = super_lose(c, false, m, r.block);
	if (err && !msg->text[0])
		snprintf(msg->text, sizeof(msg->text),
			 "journal: cannot write to the fast device; %u of the %u places that may be bad are",
			 c->super.nr_avoided, c->super.spare_places);
	if (err)
		return err;
	c->tables_written = is_dirty(c, XP_LBA(0)) || is_dirty(c, XP_LBA(1));
	c->running = true;
	c->journal.grows = c->opt.store;
	c->lost = 0;	/* the user has accepted it */
	return 0;
}

int xp_close(struct xp *c, const struct xp_media *m)
{
	struct xp_todo todo;
	int err;

	xp_todo_init(&todo);
	xp_lock(&c->lock);
	journal_close(c, &todo);
	xp_unlock(&c->lock);
	if (c->failed)	/* what passed is on the slow device, as after a write around the cache */
		return c->pass == PASS_ON ? 0 : c->failed;
	err = write_out(c, m, &todo);
	if (c->pass == PASS_MARKING)	/* nobody is left to write the mark */
		c->pass = PASS_OFF;
	return err;
}
