// SPDX-License-Identifier: GPL-2.0-only
/*
 * hint.c - the ranks of the blocks outlive a stop (struct xp_hint).
 *
 * At a stop they are written to XP_HINT_BLOCK and, as far as they do not fit, to free slots. The
 * next start takes them over if its journal ends with the block that was the newest at the stop.
 * Any life in between has written a block, with another number or incarnation.
 *
 * Nothing here can make the cache wrong. I1: a free slot may be written at any time; a power cut
 * leaves the same of a write whose record did not land. But a stop leaves none such, and older versions
 * are there for who accepts a loss: prove_all(), run_for(). What is read is ranks and hands, and any of
 * these are right for any block. So no error is one of the cache's: without a hint the ranks are
 * those that recovery gives.
 *
 * What it costs grows with the slots in use: half a byte of each is written and read, where a recovery
 * reads about 100 of the ring.
 */
#include "hint.h"
#include "journal.h"
#include "recovery.h"
#include "slot.h"

struct run {
	u32 first, nr;		/* slots; nr 0: none */
	bool round;		/* written: it lies before the hand, and those behind have had their turn */
};

/* -------------------------------------------------------------- writing ---- */

/* Slots whose ranks are worth a note: up to the last one that is mapped. */
static u32 slots_to_note(const struct xp *c)
{
	u32 n = c->nr_slots;

	while (n && c->entry[n - 1].state != SLOT_MAPPED)
		n--;
	return n;
}

/*
 * The blocks from the rank of slot @at on go to free slots behind @last, at most @most in one run. The first
 * are those that are handed out next, and round: what was superseded lately is left alone the longest, since
 * who accepts a loss may want it back (XP_ACCEPT_*).
 */
static struct run run_for(const struct xp *c, struct run last, u32 at, u32 slots, u32 most)
{
	u32 blocks = at < slots ? (slots - at + XP_HINT_RANKS - 1) / XP_HINT_RANKS : 0;
	u32 hand = c->alloc_hand % c->nr_slots, from = last.first + last.nr;
	struct run run = { .round = last.round };

	if (!run.round) {
		run.nr = slots_free_run(c, from, min(blocks, most), &run.first);
		if (run.nr)
			return run;
		run.round = true;
		from = 0;
	}
	if (from < hand) {
		run.nr = slots_free_run(c, from, min(blocks, most), &run.first);
		run.nr = run.first < hand ? min(run.nr, hand - run.first) : 0;
	}
	return run;
}

static u8 rank_to_note(const struct xp *c, u32 slot)
{
	const struct xp_entry *e = &c->entry[slot];

	return (u8)(e->state == SLOT_MAPPED ? entry_rank(e) : XP_RANK_RECOVERED);
}

static void fill(struct xp *c, struct xp_hint *h, u32 first, u32 slots, struct run next)
{
	u32 i, n = min(slots - first, XP_HINT_RANKS);

	memset(h, 0, sizeof(*h));
	memcpy(h->magic, XP_HINT_MAGIC, sizeof(h->magic));
	memcpy(h->uuid, c->journal.uuid, sizeof(h->uuid));
	h->incarnation = cpu_to_le64(c->journal.incarnation);
	h->seq = cpu_to_le64(c->journal.sealed_number);
	h->first = cpu_to_le32(first);
	h->count = cpu_to_le32(n);
	h->next = cpu_to_le32(next.nr ? next.first : 0);
	h->nr_next = cpu_to_le32(next.nr);
	h->alloc_hand = cpu_to_le32(c->alloc_hand);
	h->main_hand = cpu_to_le32(c->ranks.main_hand);
	h->new_hand = cpu_to_le32(c->ranks.new_hand);
	h->young_hand = cpu_to_le32(c->ranks.young_hand);
	for (i = 0; i < n; i++)
		h->rank[i / 2] |= (u8)(rank_to_note(c, first + i) << i % 2 * XP_RANK_BITS);
	h->checksum = cpu_to_le64(xp_xxh64(h, offsetof(struct xp_hint, checksum)));
}

struct buffer {
	struct xp_hint *block;
	u32 nr;
};

/*
 * Those of journal blocks, as many side by side as there are of no block. One may be open, with records that
 * were relocated ahead of need: this life may go on after all.
 */
static struct buffer find_buffer(const struct xp *c)
{
	struct buffer found = { NULL, 0 };
	u32 i, nr = 0;

	for (i = 0; i < XP_WINDOW; i++) {
		nr = c->journal.window[i].state == BLOCK_IDLE ? nr + 1 : 0;
		if (nr > found.nr)
			found = (struct buffer){ (struct xp_hint *)&c->journal.buffer[i + 1 - nr], nr };
	}
	return found;
}

/* The blocks behind the first one, which comes last: *@first is where it says that they are. */
static int write_to_slots(struct xp *c, const struct xp_media *m, u32 slots, struct buffer to, struct run *first)
{
	u32 at = XP_HINT_RANKS, i;
	struct run run, next;
	int err = 0;

	*first = run_for(c, (struct run){ .first = c->alloc_hand % c->nr_slots }, at, slots, to.nr);
	for (run = *first; run.nr && !err; run = next) {
		next = run_for(c, run, at + run.nr * XP_HINT_RANKS, slots, to.nr);
		for (i = 0; i < run.nr; i++, at += XP_HINT_RANKS)
			fill(c, &to.block[i], at, slots, i + 1 < run.nr ?
			     (struct run){ .first = run.first + i + 1, .nr = run.nr - i - 1 } : next);
		err = (m->write_plain ? m->write_plain : m->write)(m->ctx, c->data_start + run.first, run.nr, to.block);
	}
	return err;
}

static bool may_write(const struct xp *c)
{
	return c->running && !c->failed && c->pass == PASS_OFF && !c->opt.accept;
}

/*
 * Recovery may ask the slots of records above durable_seq, also those that a later one has superseded. So
 * before a free slot is written no record is above it.
 */
static int prove_all(struct xp *c, const struct xp_media *m, u32 slots)
{
	return slots > XP_HINT_RANKS ? recovery_seal_and_write(c, m) : 0;
}

int hint_write(struct xp *c, const struct xp_media *m)
{
	u32 slots = slots_to_note(c);
	struct buffer buffer;
	struct run first;
	int err;

	if (!slots || !may_write(c) || !journal_has_place(c))
		return 0;
	err = prove_all(c, m, slots);
	if (err)
		return err;
	buffer = find_buffer(c);
	if (!buffer.nr || write_to_slots(c, m, slots, buffer, &first))
		return 0;
	fill(c, buffer.block, 0, slots, first);
	(void)m->write(m->ctx, XP_HINT_BLOCK, 1, buffer.block);
	return 0;
}

/* -------------------------------------------------------------- reading ---- */

/* A block of the stop that the journal ends with. */
static bool is_of_stop(const struct recovery *r, const struct xp_hint *h)
{
	return !memcmp(h->magic, XP_HINT_MAGIC, sizeof(h->magic)) &&
	       !memcmp(h->uuid, r->c->journal.uuid, sizeof(h->uuid)) &&
	       le64_to_cpu(h->incarnation) == r->head.incarnation &&
	       le64_to_cpu(h->seq) == r->head.seq &&
	       le64_to_cpu(h->checksum) == xp_xxh64(h, offsetof(struct xp_hint, checksum));
}

/* It has the ranks of slots from @first on. Only a full one has more behind it. */
static bool is_valid(const struct recovery *r, const struct xp_hint *h, u32 first)
{
	u32 count = le32_to_cpu(h->count);

	return is_of_stop(r, h) && le32_to_cpu(h->first) == first &&
	       count && count <= XP_HINT_RANKS && count <= r->c->nr_slots - first &&
	       (count == XP_HINT_RANKS || !h->nr_next);
}

static void take_ranks(struct xp *c, const struct xp_hint *h)
{
	struct xp_entry *e = &c->entry[le32_to_cpu(h->first)];
	u32 i, nr = le32_to_cpu(h->count), restored = 0;

	for (i = 0; i < nr; i++, e++) {
		if (e->state != SLOT_MAPPED)
			continue;
		ranks_restore(c, e, h->rank[i / 2] >> i % 2 * XP_RANK_BITS & (XP_PIN - 1));
		restored++;
	}
	c->ranks.restored += restored;
}

/* Of @nr blocks that have been read. False: not of all. */
static bool take(const struct recovery *r, u32 nr, u32 *first)
{
	const struct xp_hint *h = (const struct xp_hint *)r->chunk;
	u32 i;

	for (i = 0; i < nr; i++, h++) {
		if (!is_valid(r, h, *first))
			return false;
		take_ranks(r->c, h);
		*first += le32_to_cpu(h->count);
	}
	return true;
}

/* Those behind @last, as many as are read at once; nr 0: it is the last, or not as it should be. */
static struct run run_behind(const struct xp *c, const struct xp_hint *last)
{
	struct run run = { .first = le32_to_cpu(last->next), .nr = min(le32_to_cpu(last->nr_next), XP_RECOVER_CHUNK) };

	if (run.first >= c->nr_slots || run.nr > c->nr_slots - run.first)
		run.nr = 0;
	return run;
}

/* False: they do not go on as the first one says. */
static bool take_slots(const struct recovery *r, u32 first)
{
	const struct xp_hint *h = (const struct xp_hint *)r->chunk;
	struct run run;

	for (run = run_behind(r->c, h); run.nr; run = run_behind(r->c, &h[run.nr - 1]))
		if (r->m->read(r->m->ctx, r->c->data_start + run.first, run.nr, r->chunk) || !take(r, run.nr, &first))
			return false;
	return true;
}

static bool take_hands(struct xp *c, const struct xp_hint *h)
{
	u32 alloc_hand = le32_to_cpu(h->alloc_hand);

	if (alloc_hand > c->nr_slots ||
	    !ranks_restore_hands(c, le32_to_cpu(h->main_hand), le32_to_cpu(h->new_hand), le32_to_cpu(h->young_hand)))
		return false;
	c->alloc_hand = alloc_hand;
	return true;
}

static void take_back(struct xp *c)
{
	u32 i;

	for (i = 0; i < c->nr_slots; i++)
		if (c->entry[i].state == SLOT_MAPPED)
			ranks_restore(c, &c->entry[i], XP_RANK_RECOVERED);
	ranks_restore_hands(c, 0, 0, 0);
	c->alloc_hand = 0;
	c->ranks.restored = 0;
}

void hint_read(struct recovery *r)
{
	const struct xp_hint *h = (const struct xp_hint *)r->chunk;
	struct xp *c = r->c;
	u32 first = 0;

	if (c->lost || c->opt.accept || r->m->read(r->m->ctx, XP_HINT_BLOCK, 1, r->chunk) || !take(r, 1, &first))
		return;
	if (!take_hands(c, h) || !take_slots(r, first))
		take_back(c);
}
