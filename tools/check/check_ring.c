// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal ring: every place of it, what recovery takes of it, and why.
 *
 * Which blocks form the chain, and what its records mean, the core has decided.
 * Here it is put into words, and what lies outside the chain is compared with
 * what must lie there. The place of a number is written again only one lap later:
 * behind the tail it still holds the last number that belongs there. But for
 * those next after the head, where a cut may have caught writes; and for numbers
 * that a cut kept from landing, though the one after them, which needs none of
 * them, did. A later block of the same incarnation with a durable_seq that
 * reaches a number says that it had landed. If it is gone then, a write was lost
 * or the medium forgets, even if recovery does without it. But a recovery that leaves a
 * hole or longer slow device behind erases all that is older than its chain.
 */
#include "lib/figures.h"
#include "lib/findings.h"
#include "lib/journal_ring.h"
#include "tools/check/check.h"
#include "core/bounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A place, seen from the chain. */
enum part {
	PART_CHAIN,
	PART_OLDER,		/* left behind by the tail */
	PART_BEYOND,		/* valid, beyond a gap: written just before a cut */
	PART_TORN,		/* a write that a cut caught */
	PART_UNWRITTEN,		/* this cache has written nothing there, or erased it */
	PART_DAMAGED,
	PART_UNREADABLE,	/* not of the chain */
	PARTS,
};

/* The last number up to the head's that belongs to @position; 0: none. */
static u64 last_number(const struct ring *r, u64 position)
{
	u64 back = (r->head.seq % r->blocks + r->blocks - position) % r->blocks;

	return r->head.seq > back ? r->head.seq - back : 0;
}

/* How far after the head; a cut catches at most a window of writes there. */
static bool in_flight(const struct ring *r, u64 position)
{
	u64 ahead = (position + r->blocks - r->head.seq % r->blocks) % r->blocks;

	return ahead && ahead <= XP_WINDOW;
}

/* The oldest block that is where the last number of its place belongs. */
static u64 oldest_left(const struct ring *r)
{
	u64 oldest = r->head.tail, position;

	for (position = 0; position < r->blocks; position++)
		if (r->block[position].seq && r->block[position].seq == last_number(r, position))
			oldest = min(oldest, r->block[position].seq);
	return oldest;
}

/* Never written, or erased. */
static bool is_bare(enum xp_place place)
{
	return place == XP_PLACE_EMPTY || place == XP_PLACE_ERASED;
}

/* A place that lacks the number that was its last. As judge(). */
static enum part judge_missing(const struct ring *r, u64 position, u64 proven, u64 oldest)
{
	enum xp_place place = r->place[position];
	u64 last = last_number(r, position);

	if (in_flight(r, position))
		return place == XP_PLACE_TORN || (place == XP_PLACE_NOISE && last) ?
		       PART_TORN : PART_UNWRITTEN;
	if (last > r->head.durable)
		return PART_TORN;
	if (is_bare(place) && last < oldest)
		return PART_UNWRITTEN;
	return last && last <= proven ? PART_DAMAGED : PART_UNWRITTEN;
}

/* @proven: up to there all of the incarnation had landed. @oldest: what was older may have been erased. */
static enum part judge(const struct ring *r, u64 position, u64 proven, u64 oldest)
{
	enum xp_place place = r->place[position];
	u64 seq = r->block[position].seq, last = last_number(r, position);

	if (last >= r->head.tail)
		return PART_CHAIN;
	if (place == XP_PLACE_UNREADABLE)
		return PART_UNREADABLE;
	if (place == XP_PLACE_MISPLACED || place == XP_PLACE_SENSELESS)
		return PART_DAMAGED;	/* no half of a write has a right checksum */
	if (seq > r->head.seq)
		return PART_BEYOND;
	if (seq && seq == last)
		return PART_OLDER;
	return judge_missing(r, position, proven, oldest);
}

/* From the head back, so that what proves a number is known before it. */
static void judge_all(const struct ring *r, u64 count[PARTS])
{
	u64 incarnation = r->head.incarnation, proven = r->head.durable, oldest = oldest_left(r);

	for (u64 back = 0; back < r->blocks; back++) {
		u64 position = (r->head.seq % r->blocks + r->blocks - back) % r->blocks;
		const struct xp_ring_block *b = &r->block[position];

		if (b->seq && b->seq == last_number(r, position)) {
			if (b->incarnation != incarnation)
				proven = 0;
			incarnation = b->incarnation;
			proven = max(proven, b->durable);
		}
		r->part[position] = judge(r, position, proven, oldest);
		count[r->part[position]]++;
	}
}

/* ------------------------------------------------------------- damage ---- */

static void tell_damaged(struct check *k, u64 first, u64 n)
{
	const struct ring *r = &k->ring;
	u64 start = r->start + first, number = last_number(r, first);
	const char *what = ring_place_text(r->place[first]);

	if (r->part[first] == PART_UNREADABLE)
		finding_note(&k->found, "%s of the journal, from block %" PRIu64 " of the fast device on, cannot be read: "
			     "nothing needs what was there, and the next start writes it anew", text_blocks(n), start);
	else if (n > 1)
		finding_problem(&k->found, "blocks %" PRIu64 " to %" PRIu64 " of the journal hold %s: no power cut "
				"leaves that there, though nothing needs them now", start, start + n - 1, what);
	else if (number)
		finding_problem(&k->found, "journal block %" PRIu64 " (at block %" PRIu64 " of the fast device) is gone, "
				"there is %s: no power cut does that, though nothing needs it now",
				number, start, what);
	else
		finding_problem(&k->found, "block %" PRIu64 " of the journal holds %s: no power cut leaves that "
				"there, though nothing needs it now", start, what);
}

/* Neighbours of a kind are told at once. */
static void tell_all_damaged(struct check *k)
{
	const struct ring *r = &k->ring;
	u64 i = 0, n;

	while (i < r->blocks) {
		n = 0;
		while (i + n < r->blocks && r->part[i + n] >= PART_DAMAGED &&
		       r->place[i + n] == r->place[i])
			n++;
		if (n)
			tell_damaged(k, i, n);
		i += max(n, (u64)1);
	}
}

/*
 * Neither falls along a chain: what was durable, or needless, stays so. But where an incarnation begins: of blocks that
 * were refused the first may lie behind the others' old places, if they have landed all the same. It says what it said
 * at its own old place, and is as true as there.
 */
static void tell_contradictions(struct check *k)
{
	const struct ring *r = &k->ring;

	for (u64 seq = r->head.tail + 1; seq <= r->head.seq; seq++) {
		const struct xp_ring_block *b = &r->block[seq % r->blocks];
		const struct xp_ring_block *before = &r->block[(seq - 1) % r->blocks];

		if (b->incarnation != before->incarnation)
			continue;
		if (b->tail < before->tail)
			finding_problem(&k->found, "journal block %" PRIu64 " needs blocks from %" PRIu64 " on, the one "
					"before it only from %" PRIu64, seq, b->tail, before->tail);
		if (b->durable < before->durable)
			finding_problem(&k->found, "journal block %" PRIu64 " says that %" PRIu64 " was durable, the one "
					"before it says %" PRIu64, seq, b->durable, before->durable);
	}
}

/* ---------------------------------------------------------- what is taken ---- */

static void tell_chain(struct check *k)
{
	const struct ring *r = &k->ring;
	const struct xp_ring_block *h = &r->head;
	u64 records = r->said[XP_REPLAYED] + r->said[XP_NO_DATA] + r->said[XP_MOOT] + r->said[XP_UNREADABLE_DATA];
	u64 first = r->block[h->tail % r->blocks].incarnation;
	char since[48] = "";

	if (first != h->incarnation)
		snprintf(since, sizeof(since), "%" PRIu64 " to ", first);
	finding_sound(&k->found, "recovery takes journal blocks %" PRIu64 " to %" PRIu64 ", incarnation %s%" PRIu64
		      ", with %s records", h->tail, h->seq, since, h->incarnation, text_count(records));
	finding_number(&k->found, "journal", "first_seq", h->tail);
	finding_number(&k->found, "journal", "last_seq", h->seq);
	finding_number(&k->found, "journal", "durable_seq", h->durable);
	finding_number(&k->found, "journal", "first_incarnation", first);
	finding_number(&k->found, "journal", "last_incarnation", h->incarnation);
	finding_number(&k->found, "journal", "records", records);
}

static void tell_parts(struct check *k, const u64 part[PARTS])
{
	const struct ring *r = &k->ring;
	static const char *const name[PARTS] = {
		"chain", "older", "beyond_gap", "torn", "never_written", "damaged", "unreadable",
	};
	char unreadable[40] = "";

	for (int i = 0; i < PARTS; i++)
		finding_number(&k->found, "journal", name[i], part[i]);
	if (part[PART_UNREADABLE])
		snprintf(unreadable, sizeof(unreadable), ", %" PRIu64 " unreadable", part[PART_UNREADABLE]);
	finding_note(&k->found, "journal of %s blocks, %" PRIu64 " to %" PRIu64 ": %s in use, %s older, %s not written, "
		     "%s beyond a gap, %s torn, %s damaged%s", text_count(r->blocks), r->start,
		     r->start + r->blocks - 1, text_count(part[PART_CHAIN]), text_count(part[PART_OLDER]),
		     text_count(part[PART_UNWRITTEN]), text_count(part[PART_BEYOND]),
		     text_count(part[PART_TORN]), text_count(part[PART_DAMAGED]), unreadable);
}

/* What the last writes before the end came to. I2: none of them was covered by a
 * FLUSH that ended, or the chain would not break above its durable_seq. */
static void tell_end(struct check *k, const u64 part[PARTS])
{
	const struct ring *r = &k->ring;
	u64 lost = r->said[XP_NO_DATA], landed = r->unproven - lost;
	bool unclean = part[PART_BEYOND] || part[PART_TORN] || lost;

	finding_truth(&k->found, "journal", "unclean", unclean);
	finding_number(&k->found, "journal", "landed", landed);
	finding_number(&k->found, "journal", "without_data", lost);
	if (!unclean) {
		finding_sound(&k->found, "end: nothing was under way when it was stopped or the power went");
		return;
	}
	finding_note(&k->found, "end: unclean, a power cut or a crash caught writes under way; "
		     "nothing that a FLUSH covered is missing");
	if (part[PART_BEYOND])
		finding_note(&k->found, "end: %s beyond a gap at journal block %" PRIu64 ", which did not land; "
			     "the next start erases them", text_count(part[PART_BEYOND]),
			     r->broken_at ? r->broken_at : r->head.seq + 1);
	if (part[PART_TORN])
		finding_note(&k->found, "end: %s did not land whole, next to block %" PRIu64 "; nothing needs them",
			     text_count(part[PART_TORN]), r->head.seq);
	if (lost)
		finding_note(&k->found, "end: %s of %s records sent beside their data came without it; the older "
			     "versions hold", text_count(lost), text_count(r->unproven));
}

/* ------------------------------------------------------------- refused ---- */

static void tell_refused(struct check *k)
{
	const struct ring *r = &k->ring;
	const char *words = k->o.message.text;

	if (r->said[XP_REFUSED])
		finding_note(&k->found, "recovery refuses %s of the records of blocks %" PRIu64 " to %" PRIu64,
			     text_count(r->said[XP_REFUSED]), r->head.tail, r->head.seq);
	else if (r->broken_at && !r->head.seq && strstr(words, "journal block") &&
		 r->place[r->broken_at % r->blocks] != XP_PLACE_UNREADABLE)
		finding_problem(&k->found, "%s; there is %s", words,
				ring_place_text(r->place[r->broken_at % r->blocks]));
	else
		finding_problem(&k->found, "%s", words);
}

static void tell_places(struct check *k)
{
	static const char *const name[XP_PLACES] = {
		[XP_PLACE_VALID] = "valid", [XP_PLACE_EMPTY] = "zeros", [XP_PLACE_ERASED] = "erased", [XP_PLACE_NOISE] = "no_block",
		[XP_PLACE_TORN] = "wrong_checksum", [XP_PLACE_OTHER] = "other_cache",
		[XP_PLACE_MISPLACED] = "misplaced", [XP_PLACE_SENSELESS] = "senseless",
		[XP_PLACE_UNREADABLE] = "unreadable", [XP_PLACE_BAD] = "given_up",
	};
	const struct ring *r = &k->ring;

	finding_number(&k->found, "places", "first_block", r->start);
	finding_number(&k->found, "places", "blocks", r->blocks);
	for (int i = 0; i < XP_PLACES; i++)
		finding_number(&k->found, "places", name[i], r->count[i]);
}

void check_ring(struct check *k, bool refused)
{
	u64 part[PARTS] = { 0 };

	tell_places(k);
	if (refused) {
		const struct ring *r = &k->ring;

		finding_note(&k->found, "journal of %s blocks, %" PRIu64 " to %" PRIu64 ": %s valid, numbers %" PRIu64 " to %"
			     PRIu64 ", %s with a wrong checksum", text_count(r->blocks), r->start,
			     r->start + r->blocks - 1, text_count(r->count[XP_PLACE_VALID]), r->oldest,
			     r->newest, text_count(r->count[XP_PLACE_TORN]));
		tell_refused(k);
		return;
	}
	tell_chain(k);
	judge_all(&k->ring, part);
	tell_parts(k, part);
	tell_end(k, part);
	tell_contradictions(k);
	tell_all_damaged(k);
}
