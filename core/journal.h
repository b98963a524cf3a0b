/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * journal.h - placing records in the open block, inline.
 *
 * The caller has seen journal_room().
 */
#ifndef XP_JOURNAL_H
#define XP_JOURNAL_H

#include "part.h"
#include "relocate.h"

/* journal.c */
bool journal_make_room(struct xp *c, u32 n, struct xp_todo *todo);
/* ... for records that undo those of block @undo. */
bool journal_room_undo(struct xp *c, u64 undo, struct xp_todo *todo);
/*
 * Seals the open block if it holds a new record, now or as soon as it can be; or stores its new
 * records, and then slots may have become free. Returns the journal_point() of all records placed
 * so far.
 */
u64 journal_commit(struct xp *c, struct xp_todo *todo);
/*
 * The same, and what was written in place before is durable at that point, too: the block flushes the fast device, and
 * one of no record is sealed where there is no other.
 */
u64 journal_flush(struct xp *c, struct xp_todo *todo);
/*
 * The same, and what is placed later goes to another block: whatever comes to lie behind the
 * newest that is on the medium by then, it will be overwritten (xp_forget_after()).
 */
void journal_close(struct xp *c, struct xp_todo *todo);
/*
 * A new record, of one block: @kind is MAP or CLEAN, @flags 0 or XP_REC_DIRTY. Where it goes on from the newest one that
 * came by this, that speaks of both.
 */
void journal_add_next(struct xp *c, enum xp_kind kind, u8 flags, xp_lba_t lba, xp_slot_t slot);
/* Carries records into the open block before it is sealed: while a device works. */
void journal_relocate_ahead(struct xp *c);
/* What holds of a MAPPED slot, once more. */
void journal_put_mapping(struct xp *c, xp_slot_t slot);
/* The same, and new. */
void journal_add_mapping(struct xp *c, xp_slot_t slot);
/* For one more block: of a ring that is as long as it must be, always, sooner or later. */
bool journal_has_place(const struct xp *c);
/* Forces an empty block out (recovery). */
void journal_seal_now(struct xp *c, struct xp_todo *todo);
/* Data named by the records of block @seq is durable, or they are undone. */
void journal_data_done(struct xp *c, u64 seq);
/* Goes over blocks that are written by now, and frees what they have superseded. */
void journal_note_written(struct xp *c, struct xp_todo *todo);
/* Ends blocks of which nothing is outstanding; true if there was one. */
bool journal_retire(struct xp *c);
/* It was wanted, and could not be: by journal_commit(), which saw a record in it, or journal_flush(). */
void journal_seal_if_wanted(struct xp *c, struct xp_todo *todo);
/*
 * Has a journal block written that tells whether the fast device is there; its end's point. One
 * that is under way may have landed before the device went: then the next, as soon as there is a
 * place.
 */
u64 journal_probe(struct xp *c, struct xp_todo *todo);
/*
 * The fast device has failed something. If it is gone no journal block may be due for long:
 * the next tick writes one, and sees.
 */
static inline void journal_doubt(struct xp *c, struct xp_todo *todo)
{
	c->fast_suspected = true;
	todo->tick = true;
}

static inline struct xp_window *journal_window(struct xp *c, u64 seq)
{
	return &c->journal.window[seq % XP_WINDOW];
}

static inline struct xp_jblock *journal_buffer(struct xp *c, u64 seq)
{
	return &c->journal.buffer[seq % XP_WINDOW];
}

/* Number of the open block. */
static inline u64 journal_open(const struct xp *c)
{
	return c->journal.sealed + 1;
}

/*
 * A point in the journal: after record @nr of block @seq. Waited for by whoever needs it on the
 * medium.
 */
static inline u64 journal_point(u64 seq, u32 nr)
{
	return seq << 8 | nr;
}

static_assert(XP_MAX_SEQ <= 1ull << 56, "a point has room for any block's number");

static inline u64 journal_block_of(u64 point)
{
	return point >> 8;
}

/* After its last record, however many there are. */
static inline u64 journal_end_of(u64 seq)
{
	return journal_point(seq, 0xff);
}

static_assert(XP_RECORDS < 0xff, "no block has so many");

static inline bool journal_is_written(const struct xp *c, u64 point)
{
	return point <= c->journal.reached;
}

/* Place in the ring of the block with that number. */
static inline u32 journal_position(const struct xp *c, u64 number)
{
	return (u32)(number % c->journal.blocks);
}

/* Numbers, with those of bad places: no fewer than blocks. */
static inline u64 journal_used(const struct xp *c)
{
	return c->journal.sealed_number + 1 - c->journal.tail_written;
}

/*
 * Close to three quarters of the ring no record goes out before its data: such a write
 * holds the record it would supersede, and the tail with it. A window passes before those
 * under way have ended; the last quarter is for what is alive at the tail. Nor does one while
 * its block could not be sealed at once.
 */
static inline bool journal_tight(const struct xp *c)
{
	return c->journal.rerouting || journal_used(c) + XP_WINDOW + 1 > c->journal.usable / 4 * 3;
}

/* Of the newest block that is on the medium, or on its way; or that is open, and stored. */
static inline u64 journal_newest_number(struct xp *c)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	return w->state == BLOCK_OPEN && w->stored ? w->number : c->journal.sealed_number;
}

/* New records in the open block. */
static inline u32 journal_new(struct xp *c)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	return w->state == BLOCK_OPEN ? w->nr - w->nr_relocated : 0;
}

/* Slots that become free when the open block is durable. */
static inline u32 journal_frees(struct xp *c)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	return w->state == BLOCK_OPEN ? w->nr_freed_slots : 0;
}

/* Has an open block room for @n new records, each of a block? */
static inline bool window_has_room(const struct xp_window *w, u32 n)
{
	u32 has = w->nr - w->nr_relocated;

	return has + n <= XP_NEW_MAX && has + w->nr_beyond + n <= XP_NAMED_MAX;
}

/* After all records placed so far; there is one in the open block. */
static inline u64 journal_here(struct xp *c)
{
	return journal_point(journal_open(c), journal_window(c, journal_open(c))->nr);
}

/* Does it hold nothing that needs a commit? What it relocates alone needs none. */
static inline bool window_rests(const struct xp_window *w)
{
	return w->nr == max(w->nr_relocated, w->stored);
}

/* Is a record not on its way to the medium yet? */
static inline bool journal_pending(struct xp *c)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	return w->state == BLOCK_OPEN && !window_rests(w);
}

/* Room for @n records in the open block, sealing a full one if need be. */
static inline bool journal_room(struct xp *c, u32 n, struct xp_todo *todo)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	/* Mostly it is open, has room, and is not the last place. */
	if (w->state != BLOCK_OPEN || !window_has_room(w, n) ||
	    journal_window(c, journal_open(c) + 1)->state != BLOCK_IDLE)
		return journal_make_room(c, n, todo);
	todo->tick |= window_rests(w);
	return true;
}

/* May a record speak of several blocks? Not where each bears a sum. */
static inline bool journal_runs(const struct xp *c)
{
	return c->may_run && !c->sum;
}

/* Of @want blocks, which are a run, for the new records of how many is there room? */
static inline u32 journal_room_for(struct xp *c, u32 want, struct xp_todo *todo)
{
	const struct xp_window *w;
	u32 has;

	if (!journal_room(c, 1, todo))
		return 0;
	if (want == 1)
		return 1;
	w = journal_window(c, journal_open(c));
	has = w->nr - w->nr_relocated;
	return min(want, journal_runs(c) ? XP_NAMED_MAX - w->nr_beyond - has : XP_NEW_MAX - has);
}

/* Into the open block; where it lives is to be said. */
static inline void window_record(struct xp *c, struct xp_window *w, enum xp_kind kind, u8 flags, xp_lba_t lba,
				 xp_slot_t slot, u64 hash)
{
	struct xp_record *r = &c->journal.buffer[w->seq % XP_WINDOW].rec[w->nr++];
	/* however often it is said again */
	u32 sum = kind == XP_REC_MAP && c->sum ? c->sum[xp_slot_n(slot)] : 0;
	u8 lacks = kind == XP_REC_MAP ? slot_lacks(c, slot) : 0;

	if (sum)
		flags |= XP_REC_SUMMED;
	r->lba = cpu_to_le64(xp_lba_n(lba) | (u64)kind << 40 | (u64)flags << 48 | (u64)lacks << 56);
	r->slot = cpu_to_le32(xp_slot_n(slot));
	r->sum = cpu_to_le32(sum);
	r->hash = cpu_to_le64(hash);
}

/* One record of @nr blocks from @lba on, in as many slots: more than one. */
static inline void window_run(struct xp *c, struct xp_window *w, xp_lba_t lba, xp_slot_t slot, u32 nr)
{
	struct xp_record *r = &c->journal.buffer[w->seq % XP_WINDOW].rec[w->nr++];

	w->nr_beyond += nr - 1;
	XP_ASSERT(w->nr - w->nr_relocated + w->nr_beyond <= XP_NAMED_MAX);
	r->lba = cpu_to_le64(xp_lba_n(lba) | (u64)XP_REC_MAP << 40 | (u64)(XP_REC_DIRTY | XP_REC_RUN) << 48);
	r->slot = cpu_to_le32(xp_slot_n(slot));
	r->sum = cpu_to_le32(nr - 1);
	r->hash = 0;
}

static inline void journal_put(struct xp *c, enum xp_kind kind, u8 flags, xp_lba_t lba, xp_slot_t slot, u64 hash)
{
	struct xp_window *w = journal_window(c, journal_open(c));

	window_record(c, w, kind, flags, lba, slot, hash);
	if (kind == XP_REC_MAP)
		record_is_live(c, slot, w->position);
}

/* A record goes to the block at @position: so does its slot's newest, if that is alive. */
static inline void journal_goes_along(struct xp *c, const struct xp_record *r, u32 position)
{
	u32 slot = le32_to_cpu(r->slot), end = slot + record_blocks(r);

	for (; slot < end && record_kind(r) == XP_REC_MAP; slot++)
		if (record_lives(c, XP_SLOT(slot)))
			record_is_live(c, XP_SLOT(slot), position);
}

/* The record that comes next is new. */
static inline void journal_owe(struct xp *c)
{
	XP_ASSERT(journal_new(c) < XP_NEW_MAX);
	XP_WRITE_ONCE(c->owes, true);
}

/* A new record. A MAP is its slot's newest from now on. Returns the block's number. */
static inline u64 journal_add(struct xp *c, enum xp_kind kind, u8 flags, xp_lba_t lba,
			      xp_slot_t slot, u64 hash)
{
	journal_owe(c);
	journal_put(c, kind, flags, lba, slot, hash);
	return journal_open(c);
}

/* Slots, one at least, which are not in the hash, become free when the open block @w is durable. */
static inline void window_free_later(struct xp *c, struct xp_window *w, struct xp_slots slots)
{
	struct xp_slots *next = &w->freed[w->nr_freed];

	XP_ASSERT(w->state == BLOCK_OPEN && w->nr_freed_slots + slots.nr <= XP_NAMED_MAX);
	w->nr_freed_slots += slots.nr;
	if (w->nr_freed && next[-1].first + next[-1].nr == slots.first) {
		next[-1].nr += slots.nr;
	} else {
		*next = slots;
		w->nr_freed++;
	}
	c->nr_pending_free += slots.nr;
}

/* The same of any. */
static inline void journal_free_later(struct xp *c, xp_slot_t slot)
{
	struct xp_window *w = journal_window(c, journal_open(c));

	window_free_later(c, w, (struct xp_slots){ xp_slot_n(slot), 1 });
	w->unmaps |= entry_of(c, slot)->state == SLOT_UNMAPPING;
}

#endif /* XP_JOURNAL_H */
