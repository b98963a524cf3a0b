// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal.c - one self-compacting ring: placing records, sealing blocks, and
 * what becomes true when they are on the medium. progress.c goes on from there.
 *
 * Which invariant each part serves:
 *   I1  a slot is freed only by set_free(), when the record that
 *       supersedes it and all before that one are on the medium;
 *   I2  journal_commit() says which point of the journal a FLUSH must wait for;
 *   and the ring position of a block is written again only when the newest
 *   written block's tail has passed it (seal_possible).
 *
 * What lives in the oldest blocks is found without reading them (relocate.c). seal() relocates it
 * to the room that a new block has left, or journal_relocate_ahead() has done so, and the tail
 * moves on. Relocated is only what is live at that moment and cannot be superseded by an earlier
 * block: a slot that is not held.
 */
#include "badblocks.h"
#include "busy.h"
#include "checksum.h"
#include "flush.h"
#include "journal.h"
#include "slot.h"
#include "super.h"

static bool open_block(struct xp *c)
{
	struct xp_window *w = journal_window(c, journal_open(c));

	if (w->state == BLOCK_OPEN)
		return true;
	if (w->state != BLOCK_IDLE || c->failed)
		return false;
	w->state = BLOCK_OPEN;
	w->seq = journal_open(c);
	w->number = number_after(c, c->journal.sealed_number);
	w->position = journal_position(c, w->number);
	w->undone = w->refused = w->unmaps = false;
	w->tries = 0;
	w->nr = w->nr_relocated = w->nr_beyond = w->run_end = w->scanned = w->stored = 0;
	w->nr_freed = w->nr_freed_slots = 0;
	return true;
}

/* -------------------------------------------------------------- sealing ---- */

void journal_put_mapping(struct xp *c, xp_slot_t slot)
{
	const struct xp_entry *e = entry_of(c, slot);
	const struct xp_unread *u = e->apart ? unread_find(c, slot) : NULL;
	u8 flags = e->dirty ? XP_REC_DIRTY : 0;

	XP_ASSERT(!u || e->dirty);
	if (u)
		flags |= XP_REC_UNREAD | XP_REC_CHECKED;
	else if (slot_is_zeros(c, slot))
		flags |= XP_REC_ZEROS;
	journal_put(c, XP_REC_MAP, flags, entry_lba(e), slot, u ? u->hash : 0);
}

void journal_add_mapping(struct xp *c, xp_slot_t slot)
{
	journal_owe(c);
	journal_put_mapping(c, slot);
}

/* The newest record, if the block @lba in @slot may be one more of it. */
static struct xp_record *run_to(struct xp *c, struct xp_window *w, u64 word, xp_slot_t slot)
{
	struct xp_record *r;
	u32 blocks;

	if (!journal_runs(c) || !w->nr || w->run_end != w->nr || w->nr == w->stored)
		return NULL;
	r = &journal_buffer(c, w->seq)->rec[w->nr - 1];
	blocks = record_blocks(r);
	return blocks < XP_RUN_RECORD && le32_to_cpu(r->slot) + blocks == xp_slot_n(slot) &&
	       (le64_to_cpu(r->lba) & ~((u64)XP_REC_RUN << 48)) + blocks == word ? r : NULL;
}

void journal_add_next(struct xp *c, enum xp_kind kind, u8 flags, xp_lba_t lba, xp_slot_t slot)
{
	struct xp_window *w = journal_window(c, journal_open(c));
	struct xp_record *r = run_to(c, w, xp_lba_n(lba) | (u64)kind << 40 | (u64)flags << 48, slot);

	XP_ASSERT(window_has_room(w, 1));
	if (!r) {
		journal_add(c, kind, flags, lba, slot, 0);
		w->run_end = w->nr;
		return;
	}
	r->sum = cpu_to_le32(record_blocks(r));
	r->lba |= cpu_to_le64((u64)XP_REC_RUN << 48);
	w->nr_beyond++;
	if (kind == XP_REC_MAP)
		record_is_live(c, slot, w->position);
}

/*
 * A record that was relocated is true when it is placed; whatever happens to its slot until
 * the block is sealed has its own record behind it, in this block or a later one.
 */
void journal_relocate_ahead(struct xp *c)
{
	if (open_block(c))
		relocate(c);
}

/*
 * The last place of the window is for records that undo those of the oldest
 * block in it. That block cannot leave while its request has failed and that is
 * not recorded, and without it leaving there is no further place. One request is
 * all that a block has (records_parallel), and what undoes it fits the last place.
 */
static bool open_is_last(struct xp *c)
{
	return journal_window(c, journal_open(c) + 1)->state != BLOCK_IDLE;
}

/* No block that a recovery from any written one may need is overwritten. */
bool journal_has_place(const struct xp *c)
{
	return number_after(c, c->journal.sealed_number) <
	       c->journal.tail_written + c->journal.blocks;
}

/* One without a new record does not take the place that is for what undoes another. */
static bool seal_possible(struct xp *c)
{
	return !c->failed && !c->journal.rerouting && journal_has_place(c) &&
	       (journal_pending(c) || !open_is_last(c));
}

/* The block is about to be on the medium, with what it holds by now. */
static void head(struct xp *c, struct xp_window *w)
{
	struct xp_journal *j = &c->journal;
	struct xp_jheader *h = &journal_buffer(c, w->seq)->head;

	XP_ASSERT(journal_has_place(c));
	relocate(c);
	w->tail = j->tail;
	h->magic = cpu_to_le32(j->magic);
	memcpy(h->uuid, j->uuid, sizeof(h->uuid));
	h->incarnation = cpu_to_le64(j->incarnation);
	h->seq = cpu_to_le64(w->number);
	h->tail_seq = cpu_to_le64(w->tail);
	h->durable_seq = cpu_to_le64(j->stamp ? j->stamp : j->durable_number);
	h->count = cpu_to_le16((u16)w->nr);
	h->before = cpu_to_le16((u16)j->before);
	h->checksum = 0;
}

static void seal(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));

	head(c, w);
	w->state = BLOCK_SEALED;
	j->before = w->refused ? w->nr : 0;
	j->sealed++;
	j->sealed_number = w->number;
	j->seal_wanted = j->owes_flush = false;
	c->stats.journal_writes++;
	todo->journal |= 1u << (w->seq % XP_WINDOW);
}

void journal_seal_now(struct xp *c, struct xp_todo *todo)
{
	bool open = open_block(c);

	XP_ASSERT(open);
	seal(c, todo);
}

bool journal_retire(struct xp *c)
{
	struct xp_journal *j = &c->journal;
	u64 before = j->durable;

	while (j->durable < j->written) {
		struct xp_window *w = journal_window(c, j->durable + 1);

		if (w->undone)
			break;
		w->state = BLOCK_IDLE;
		j->durable++;
		j->durable_number = w->number;
	}
	return j->durable != before;
}

/* ------------------------------------------------------------- growing ---- */

/*
 * Where the medium takes a few bytes at once (xp_options.store), a block stays open when it is
 * there: header and first records are stored, whatever comes later is stored behind them, until it
 * holds as many new records as any block may. So a sync has a record to store, and no block to
 * make. All before it is on the medium, so what was stored is reached (I2): it waits for nobody,
 * and slots are free at once (I1).
 */
static noinline void unmapped_slots(struct xp *c, const struct xp_slots *freed, struct xp_todo *todo)
{
	u32 i;

	for (i = freed->first; i < freed->first + freed->nr; i++)
		if (c->entry[i].state == SLOT_UNMAPPING) {
			map_remove(c, XP_SLOT(i));
			requests_wake(c, entry_lba(&c->entry[i]), 1, todo);
		}
}

/* What supersedes them is on the medium, and all before it. */
static void set_free(struct xp *c, struct xp_window *w, struct xp_todo *todo)
{
	u32 i;

	for (i = 0; w->unmaps && i < w->nr_freed; i++)
		unmapped_slots(c, &w->freed[i], todo);
	w->unmaps = false;
	slots_release(c, w->freed, w->nr_freed);
	c->nr_pending_free -= w->nr_freed_slots;
	w->nr_freed = w->nr_freed_slots = 0;
}

/*
 * With all that was sealed written: so the journal has not failed. And the ring has a place: no
 * slot of such a medium is held (xp_options.fast_at_once), so relocate() has made one in time.
 */
static bool may_store(const struct xp *c)
{
	return c->journal.grows && c->journal.written == c->journal.sealed;
}

/* Of the open block: its first part, or what has come since. */
static int store_part(struct xp *c, struct xp_window *w)
{
	struct xp_jblock *b = journal_buffer(c, w->seq);
	u64 at = (c->journal.start + w->position) * XP_BLOCK_SIZE;
	u32 i;

	if (!w->stored) {
		head(c, w);
		b->head.checksum = cpu_to_le64(jblock_checksum(b));
		return c->opt.store(c->opt.store_ctx, at, b, jblock_bytes(b));
	}
	for (i = w->stored; i < w->nr; i++)
		b->rec[i].hash = cpu_to_le64(xp_tag(le64_to_cpu(b->head.checksum), i, &b->rec[i]));
	return c->opt.store(c->opt.store_ctx,
			    at + offsetof(struct xp_jblock, rec) + w->stored * sizeof(b->rec[0]),
			    &b->rec[w->stored], (w->nr - w->stored) * (u32)sizeof(b->rec[0]));
}

/*
 * The open block is on the medium, and takes no more. The next one says how many it has, for
 * its own header does not.
 */
static void close_grown(struct xp *c)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));

	if (w->state != BLOCK_OPEN || !w->stored)
		return;
	XP_ASSERT(w->stored == w->nr);
	w->state = BLOCK_WRITTEN;
	j->before = w->nr;
	j->sealed = j->written = w->seq;
	j->sealed_number = j->written_number = w->number;
	j->reached = journal_end_of(w->seq);
	journal_retire(c);
}

/*
 * What could not be stored behind the others goes to the next block, in order, with all that was
 * true of it. Where it may have landed the next block's count says that it does not belong there.
 */
static void move_on(struct xp *c, struct xp_window *w)
{
	struct xp_jblock *b = journal_buffer(c, w->seq);
	u32 i = w->stored, nr = w->nr;
	struct xp_window *next;
	bool open;

	w->nr = w->stored;
	close_grown(c);
	open = open_block(c);
	XP_ASSERT(open);
	next = journal_window(c, journal_open(c));
	for (; i < nr; i++) {
		struct xp_record *r = &b->rec[i];

		r->hash = 0;
		journal_buffer(c, next->seq)->rec[next->nr++] = *r;
		next->nr_beyond += record_blocks(r) - 1;
		journal_goes_along(c, r, next->position);
	}
	memcpy(next->freed, w->freed, w->nr_freed * sizeof(w->freed[0]));
	next->nr_freed = w->nr_freed;
	next->nr_freed_slots = w->nr_freed_slots;
	next->unmaps |= w->unmaps;
	w->nr_freed = w->nr_freed_slots = 0;
	if (c->cleaned > journal_point(w->seq, w->stored))
		c->cleaned = journal_here(c);
}

/* False: the medium would not, and the open block is to be sealed. */
static bool store(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));

	if (store_part(c, w)) {
		w->refused = true;
		if (w->stored)
			move_on(c, w);
		return false;
	}
	c->stats.journal_writes += !w->stored;	/* a block */
	j->seal_wanted = false;
	w->stored = w->nr;
	j->reached = journal_point(w->seq, w->nr);
	j->tail_written = w->tail;
	XP_WRITE_ONCE(c->owes, c->bypass_flushed < c->bypass_done || flush_is_untold(c));
	set_free(c, w, todo);
	return true;
}

/* The next block is one of its own. */
static void end_growth(struct xp *c, struct xp_todo *todo)
{
	struct xp_window *w = journal_window(c, journal_open(c));

	if (w->state == BLOCK_OPEN && w->stored && !window_rests(w))
		store(c, todo);
	close_grown(c);
}

/* True: stored. */
static inline bool store_or_seal(struct xp *c, struct xp_todo *todo)
{
	if (may_store(c) && store(c, todo))
		return true;
	c->journal.seal_wanted = true;
	if (seal_possible(c))
		seal(c, todo);
	return false;
}

void journal_seal_if_wanted(struct xp *c, struct xp_todo *todo)
{
	if (c->journal.seal_wanted && open_block(c))
		store_or_seal(c, todo);
}

u64 journal_commit(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;

	if (journal_pending(c)) {
		if (store_or_seal(c, todo))
			return j->reached;
		if (journal_pending(c))
			return journal_here(c);
	}
	return j->written == j->sealed ? j->reached : journal_end_of(j->sealed);
}

u64 journal_flush(struct xp *c, struct xp_todo *todo)
{
	u64 seq = journal_open(c);

	if (!c->journal.owes_flush || journal_pending(c))
		return journal_commit(c, todo);
	c->journal.seal_wanted = true;
	journal_seal_if_wanted(c, todo);
	return journal_end_of(seq);
}

void journal_close(struct xp *c, struct xp_todo *todo)
{
	journal_flush(c, todo);
	close_grown(c);
}

static bool room(struct xp *c, u32 n, struct xp_todo *todo)
{
	const struct xp_window *w = journal_window(c, journal_open(c));

	if (w->state == BLOCK_OPEN && !window_has_room(w, n)) {
		journal_commit(c, todo);
		close_grown(c);
	}
	if (!open_block(c) || !window_has_room(journal_window(c, journal_open(c)), n))
		return false;
	todo->tick |= !journal_pending(c);
	return true;
}

bool journal_make_room(struct xp *c, u32 n, struct xp_todo *todo)
{
	return room(c, n, todo) && !open_is_last(c);
}

/* The oldest block of the window may use the last place. */
bool journal_room_undo(struct xp *c, u64 undo, struct xp_todo *todo)
{
	return room(c, 1, todo) &&
	       (!open_is_last(c) || undo == c->journal.durable + 1);
}

/* ----------------------------------------------------------- on medium ---- */

/* The oldest block that was not known to be written is. */
static void window_written(struct xp *c, struct xp_window *w,
			   struct xp_todo *todo)
{
	c->journal.written = w->seq;
	c->journal.written_number = w->number;
	c->journal.reached = journal_end_of(w->seq);
	c->journal.tail_written = w->tail;
	set_free(c, w, todo);
}

void journal_data_done(struct xp *c, u64 seq)
{
	struct xp_window *w = journal_window(c, seq);

	XP_ASSERT(w->seq == seq && w->undone);
	w->undone = false;
}

void journal_note_written(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;

	while (j->written < j->sealed && !j->rerouting) {
		struct xp_window *w = journal_window(c, j->written + 1);

		if (w->state != BLOCK_WRITTEN)
			break;
		window_written(c, w, todo);
	}
	journal_retire(c);
}

u64 journal_probe(struct xp *c, struct xp_todo *todo)
{
	const struct xp_journal *j = &c->journal;

	c->fast_suspected = false;
	end_growth(c, todo);
	if (j->sealed == j->written && !open_is_last(c)) {
		journal_seal_now(c, todo);
		return journal_end_of(j->sealed);
	}
	c->fast_suspected = !c->failed;
	return journal_end_of(journal_open(c));
}

/* No lock: a sealed block is the caller's until xp_journal_end(). */
void xp_journal_io(struct xp *c, u32 i, struct xp_journal_io *io)
{
	struct xp_jblock *b = &c->journal.buffer[i];

	if (unlikely(i == XP_SUPERBLOCK)) {
		super_io(c, io);
		return;
	}
	XP_ASSERT(c->journal.window[i].state == BLOCK_SEALED);
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
	io->data = b;
	io->bytes = (jblock_bytes(b) + XP_LINE_SIZE - 1) & ~(XP_LINE_SIZE - 1);
	io->target = (c->journal.start +
		      journal_position(c, le64_to_cpu(b->head.seq))) * XP_BLOCK_SECTORS;
	io->flush_fua = c->opt.volatile_fast;
}
