// SPDX-License-Identifier: GPL-2.0-only
/*
 * relocate.c - the ring cleans itself: live records of its oldest part are repeated in new blocks,
 * and the tail moves on.
 *
 * A part is an eighth of the ring, from the tail on. A hand goes over all slots and repeats what
 * lives in the part; when it has been everywhere nothing lives there, and the tail is behind it. A
 * slot is repeated once at most for a part, whatever happens meanwhile. So it costs no list of the
 * records of a block (I12), and slots side by side are looked at, four at once.
 *
 * A part is emptied before half of the ring is in use, and each block has its share of that. With
 * more in use each block repeats XP_RELOCATE_MAX records, or the hand goes on by as much as keeps
 * the ring from filling (docs/ARCHITECTURE.md, "The ring never fills").
 */
#include "badblocks.h"
#include "journal.h"
#include "media.h"

#define PART		8u	/* of the ring */
#define HURRIED		64u	/* slots for each that the ring has blocks */
#define SPARE		(XP_WINDOW + 8)	/* blocks */
#define AT_REST		(1u << 20)	/* slots: a millisecond or two */

static_assert(XP_SEGMENTS_MAX / PART < 0x7ff0u, "pass_over() asks of half of what 16 bits tell apart");

static u32 segment_at(const struct xp *c, u64 number)
{
	return journal_position(c, number) >> c->journal.segment_shift;
}

/* The first block of the next segment. */
static u64 segment_end(const struct xp *c, u64 number)
{
	const struct xp_journal *j = &c->journal;
	u64 position = journal_position(c, number);
	u64 end = ((position >> j->segment_shift) + 1) << j->segment_shift;

	return number + min(end, j->blocks) - position;
}

/* Over what has no live record. True: it has moved. */
static bool advance_tail(struct xp *c, u64 end)
{
	struct xp_journal *j = &c->journal;
	u64 was = j->tail;

	while (j->tail < end && !j->live[segment_at(c, j->tail)])
		j->tail = min(number_after(c, segment_end(c, j->tail) - 1), end);
	return j->tail != was;
}

static u64 part_length(const struct xp_journal *j)
{
	return max(j->usable / PART, (u64)1);
}

/* So many blocks in use: from then on the hand is in a hurry. */
static u64 hurry_from(const struct xp_journal *j)
{
	return j->usable / 2 - min(j->usable / 4, (u64)SPARE);
}

/* So many: a part is begun that would be empty by then. */
static u64 begin_from(const struct xp_journal *j)
{
	return hurry_from(j) - j->usable / PART;
}

static bool is_due(const struct xp_journal *j, u64 number)
{
	return number - j->tail >= begin_from(j) || (j->tail <= j->leave && j->tail < number);
}

/* Records that live in @nr segments from @first on. */
static u32 live_in(const struct xp_journal *j, u32 first, u32 nr)
{
	u32 i, live = 0;

	for (i = first; i < first + nr; i++)
		live += j->live[i];
	return live;
}

/* A part is emptied while as many blocks are written as it has; less, if it begins late. */
static u64 blocks_for(const struct xp_journal *j, u64 length, u64 number)
{
	u64 used = number - j->tail, due = begin_from(j);
	u64 late = used > due ? used - due : 0;

	return length - min(late, length) / 2;
}

/*
 * From block @from on. It ends where the ring does, and before the segment of block @number, that
 * is written now. False: there is nothing between them.
 */
static bool choose_part(struct xp *c, u64 from, u64 number)
{
	struct xp_journal *j = &c->journal;
	u32 first = segment_at(c, from), head = segment_at(c, number), end;

	end = (u32)min((journal_position(c, from) + part_length(j) - 1) >> j->segment_shift,
		       (u64)j->nr_segments - 1) + 1;
	if (head >= first && head < end)
		end = head;
	j->empty_from = first;
	j->nr_empty = end - first;
	j->empty_end = from - journal_position(c, from) + min((u64)end << j->segment_shift, j->blocks);
	j->hand = 0;
	j->to_repeat = live_in(j, first, j->nr_empty);
	j->empty_by = number + blocks_for(j, j->empty_end - from, number);
	return j->nr_empty;
}

/*
 * Before block @number. A part that is emptied but for what is held is not gone through again: the
 * next one has its turn. False: the ring is empty enough.
 */
static bool has_part(struct xp *c, u64 number)
{
	struct xp_journal *j = &c->journal;

	if (j->nr_empty)
		return true;
	if (!is_due(j, number))
		return false;
	/* a slot that is being written has a record in the window, and is passed over */
	if (j->emptied > j->tail && j->emptied + part_length(j) + XP_WINDOW < number &&
	    choose_part(c, j->emptied, number))
		return true;
	return choose_part(c, j->tail, number);
}

/* A held one's record dies when its write has ended: it is superseded, or said anew. */
static bool lives_in_part(const struct xp *c, u32 slot)
{
	const struct xp_journal *j = &c->journal;
	const struct xp_entry *e = &c->entry[slot];

	return c->segment[slot] - j->empty_from < j->nr_empty &&
	       e->state == SLOT_MAPPED && !e->held;
}

#define OF_FOUR(n)	((n) * 0x0001000100010001ull)
#define TOP_OF_FOUR	OF_FOUR(0x8000u)

/*
 * Slots from @slot on of which none lives in the part are passed over, to @end: four at once.
 *
 * Four numbers of 16 bits in a word. A segment less the first of the part is less than their
 * number if it is of the part; and one is, if there is a number whose top bit the difference to
 * that turns on. What is borrowed may make it seem so of its neighbour, too.
 */
static u32 pass_over(const struct xp *c, u32 slot, u32 end)
{
	const struct xp_journal *j = &c->journal;
	u64 first = OF_FOUR((u64)j->empty_from), nr = OF_FOUR((u64)j->nr_empty), behind, four;

	for (; slot < end; slot += 4) {
		memcpy(&four, &c->segment[slot], sizeof(four));
		if (four == OF_FOUR((u64)NO_SEGMENT))
			continue;
		behind = ((four | TOP_OF_FOUR) - (first & ~TOP_OF_FOUR)) ^ ((four ^ ~first) & TOP_OF_FOUR);
		if ((behind - nr) & ~behind & TOP_OF_FOUR)
			break;
	}
	return slot;
}

/* Of the four at the hand. Returns how many records. */
static u32 repeat_four(struct xp *c, u32 room)
{
	u32 slot = c->journal.hand, end = min(slot + 4, c->nr_slots), n = 0;

	for (; slot < end && n < room; slot++)
		if (lives_in_part(c, slot)) {
			journal_put_mapping(c, XP_SLOT(slot));
			n++;
		}
	return n;
}

/* From the hand on, of some @budget slots. Returns how many records. */
static u32 repeat(struct xp *c, u32 room, u32 budget)
{
	struct xp_journal *j = &c->journal;
	u32 end = j->hand + min(budget, c->nr_slots - j->hand), n = 0;

	while (n < room && (j->hand = pass_over(c, j->hand, end)) < end) {
		n += repeat_four(c, room - n);
		if (n < room)	/* else some of them may be left */
			j->hand += 4;
	}
	return n;
}

/* In which the part is to be emptied, this one too. None: the hand is in a hurry. */
static u64 blocks_left(const struct xp_journal *j, u64 number)
{
	u64 used = number - j->tail, from = hurry_from(j);

	if (used >= from)
		return 0;
	return min(from - used, j->empty_by > number ? j->empty_by - number : 1);
}

/* Slots that a block's turn is about. Nobody waits for a recovery's, but the lock is held for it. */
static u32 pace(const struct xp *c, const struct xp_window *w)
{
	const struct xp_journal *j = &c->journal;
	u64 hurried = (u64)c->nr_slots * HURRIED / j->usable + 1, blocks = blocks_left(j, w->number);

	if (!c->running)
		return (u32)max(hurried, (u64)AT_REST);
	if (!blocks)
		return (u32)hurried;
	return (u32)min((c->nr_slots - j->hand + w->scanned) / blocks + 1, hurried);
}

/*
 * Slots that were written together lie together: the hand finds many at once, then none. A block
 * has its share of them, or half of the most, so that no sync has much more to do than another.
 */
static u32 room_of(const struct xp *c, const struct xp_window *w)
{
	const struct xp_journal *j = &c->journal;
	u64 blocks = blocks_left(j, w->number), most = XP_RELOCATE_MAX;

	if (!c->running)
		return XP_PUT_MAX - w->nr;
	if (blocks)
		most = min(max((j->to_repeat + w->nr_relocated) / blocks + 1, most / 2), most);
	return (u32)(most - min(most, (u64)w->nr_relocated));
}

void relocate(struct xp *c)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));
	bool moved = true;

	advance_tail(c, w->number);
	while (moved && has_part(c, w->number)) {
		u32 from = j->hand, room = room_of(c, w), slots = pace(c, w), n;

		if (!room || slots <= w->scanned)
			break;
		n = repeat(c, room, slots - w->scanned);
		w->nr_relocated += n;
		j->to_repeat -= min(n, j->to_repeat);
		w->scanned += j->hand - from;
		c->stats.relocated += n;
		if (j->hand < c->nr_slots)
			break;
		j->nr_empty = 0;
		j->emptied = j->empty_end;
		moved = advance_tail(c, w->number);
	}
}

/* --------------------------------------------------------------- room ---- */

/* Behind the part that begins there. */
static u64 part_end(const struct xp *c, u64 first)
{
	u64 left = c->journal.blocks - journal_position(c, first);

	return first + min(part_length(&c->journal), left);
}

/* Of these blocks, of one turn of the ring, those that are good. */
static u64 good_places(const struct xp *c, u64 first, u64 last)
{
	u64 blocks = c->journal.blocks, n = last - first + 1;
	u32 i;

	for (i = 0; i < c->super.nr_avoided; i++) {
		u64 position = le32_to_cpu(c->super.sb->bad.place[i]);

		n -= (position + blocks - first % blocks) % blocks <= last - first;
	}
	return n;
}

/*
 * Part by part: blocks are written while it is emptied, and then it is free. What lies behind the
 * chain by then is not of this count: all that lives, in the worst case, and that has room.
 */
bool relocate_has_room(const struct xp *c, u64 head, bool whole)
{
	const struct xp_journal *j = &c->journal;
	u32 each = whole ? XP_PUT_MAX : XP_RELOCATE_MAX;
	u64 lost = whole ? c->nr_slots / AT_REST : j->usable / HURRIED + 1, spare = whole ? 0 : XP_WINDOW + 1;
	u64 limit = whole ? j->blocks - c->super.nr_avoided : j->usable;
	u64 used = good_places(c, j->tail, head) - 1, at = j->tail;

	while (at <= head) {
		u64 next = min(part_end(c, at), head + 1);
		u32 first = segment_at(c, at), live = live_in(j, first, segment_at(c, next - 1) - first + 1);

		used += max((live + each - 1) / each, 1u) + lost;
		if (used + spare >= limit)
			return false;
		used -= min(good_places(c, at, next - 1), used);
		at = next;
	}
	return true;
}

/* ------------------------------------------------------- where one is ---- */

u64 record_first_of(const struct xp *c, xp_slot_t slot, u64 newest, u32 *nr)
{
	const struct xp_journal *j = &c->journal;
	u64 position = (u64)c->segment[xp_slot_n(slot)] << j->segment_shift;
	u64 back = (newest % j->blocks + j->blocks - position) % j->blocks;

	*nr = (u32)min(min(1ull << j->segment_shift, j->blocks - position), back + 1);
	return newest - back;
}

/* Of its first @nr records one gives the block the slot. */
static bool has_record_of(const struct xp_jblock *b, u32 nr, xp_lba_t lba, xp_slot_t slot)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct xp_record *r = &b->rec[i];
		u64 behind = xp_lba_n(lba) - (le64_to_cpu(r->lba) & (XP_MAX_LBAS - 1));

		if (record_kind(r) == XP_REC_MAP && behind < record_blocks(r) &&
		    behind == (u64)xp_slot_n(slot) - le32_to_cpu(r->slot))
			return true;
	}
	return false;
}

static bool block_has_record_of(struct xp *c, const struct xp_media *m, void *block, xp_slot_t slot,
				u64 number, u32 before)
{
	const struct xp_journal *j = &c->journal;
	const struct xp_jblock *b = block;

	return !m->read(m->ctx, j->start + journal_position(c, number), 1, block) &&
	       le64_to_cpu(b->head.seq) == number &&
	       has_record_of(b, min(before, xp_block_records(b)), entry_lba(entry_of(c, slot)), slot);
}

u64 record_number_of(struct xp *c, const struct xp_media *m, void *block, xp_slot_t slot,
		     u64 newest, u32 before)
{
	u32 nr;
	u64 first = record_first_of(c, slot, newest, &nr);

	while (--nr && !block_has_record_of(c, m, block, slot, first + nr, first + nr == newest ? before : XP_RECORDS))
		;
	return first + nr;
}
