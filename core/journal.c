// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal.c - one self-compacting ring: placing records, sealing blocks, and
 * what becomes true when they are on the medium.
 *
 * Which invariant each part serves:
 *   I1  a slot is freed only by window_written(), when the block that
 *       supersedes it and all before that one are on the medium;
 *   I2  journal_commit() says which block a FLUSH must wait for;
 *   and the ring position of a block is written again only when the newest
 *   written block's tail has passed it (seal_possible).
 *
 * A slot whose newest record lies in a block is on that block's list, so the
 * records that are still alive in the oldest block are found without reading
 * it. seal() carries them over into the room a new block has left, or
 * journal_carry_ahead() has done so, and the tail moves on. Carried is only what is
 * alive at that moment and cannot be superseded by an earlier block: a slot that is
 * not held.
 */
#include "journal.h"
#include "slot.h"

static bool open_block(struct xp *c)
{
	struct xp_window *w = journal_window(c, journal_open(c));

	if (w->state == BLOCK_OPEN)
		return true;
	if (w->state != BLOCK_IDLE || c->failed)
		return false;
	w->state = BLOCK_OPEN;
	w->seq = journal_open(c);
	w->position = journal_position(c, w->seq);
	w->undone = false;
	w->nr = w->nr_carried = 0;
	w->nr_freed = 0;
	return true;
}

/* -------------------------------------------------------------- sealing ---- */

/* Up to @room live records of the oldest block, into the open one. What is held stays,
 * but keeps no other from leaving. */
static u32 carry_oldest(struct xp *c, u32 room)
{
	u32 i = c->journal.list[journal_position(c, c->journal.tail)], next, carried = 0;

	for (; i != XP_NIL && carried < room; i = next) {
		struct xp_entry *e = &c->entry[i];

		/* A WRITING one's is in the window, half a ring from here. */
		XP_ASSERT(e->state == SLOT_MAPPED);
		next = e->list_next;
		if (e->held)
			continue;
		journal_put(c, XP_REC_MAP, (e->dirty ? XP_REC_DIRTY : 0) |
			    (e->zeros ? XP_REC_ZEROS : 0), entry_lba(e),
			    XP_SLOT(i), 0);
		carried++;
	}
	return carried;
}

/* Moves live records into the open block, and the tail on. Only as far as needed to
 * keep the ring half full: the fuller, the fewer of them are alive. And not more than
 * keeps it from filling, so that no sync has much more to carry than another. */
static void carry(struct xp *c)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));
	u32 room = XP_CARRY_MAX - w->nr_carried, carried = 0;

	while (j->tail < journal_open(c)) {
		if (j->list[journal_position(c, j->tail)] == XP_NIL) {
			j->tail++;
			continue;
		}
		if (carried == room || journal_open(c) - j->tail < j->blocks / 2)
			break;
		carried += carry_oldest(c, room - carried);
		if (j->list[journal_position(c, j->tail)] != XP_NIL)
			break;
	}
	w->nr_carried += carried;
	c->stats.carried += carried;
}

/* A record that was carried is true when it is placed; whatever happens to its slot until
 * the block is sealed has its own record behind it, in this block or a later one. */
void journal_carry_ahead(struct xp *c)
{
	if (open_block(c))
		carry(c);
}

/*
 * The last place of the window is for records that undo those of the oldest
 * block in it. That block cannot leave while its request has failed and that is
 * not recorded, and without it leaving there is no further place. One request is
 * all that a block has (records_beside), and what undoes it fits the last place.
 */
static bool open_is_last(struct xp *c)
{
	return journal_window(c, journal_open(c) + 1)->state != BLOCK_IDLE;
}

/* No block that a recovery from any written one may need is overwritten. */
static bool seal_possible(struct xp *c)
{
	const struct xp_journal *j = &c->journal;

	return !c->failed && journal_open(c) < j->tail_written + j->blocks;
}

static void seal(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;
	struct xp_window *w = journal_window(c, journal_open(c));
	struct xp_jheader *h = &journal_buffer(c, journal_open(c))->head;

	carry(c);
	w->tail = j->tail;
	w->state = BLOCK_SEALED;
	h->magic = cpu_to_le32(XP_JOURNAL_MAGIC);
	memcpy(h->uuid, j->uuid, sizeof(h->uuid));
	h->incarnation = cpu_to_le64(j->incarnation);
	h->seq = cpu_to_le64(w->seq);
	h->tail_seq = cpu_to_le64(w->tail);
	h->durable_seq = cpu_to_le64(j->stamp ? j->stamp : j->durable);
	h->count = cpu_to_le32(w->nr);
	h->checksum = 0;
	j->sealed++;
	j->seal_wanted = false;
	c->stats.journal_writes++;
	todo->journal |= 1u << (w->seq % XP_WINDOW);
}

void journal_seal_now(struct xp *c, struct xp_todo *todo)
{
	bool open = open_block(c);

	XP_ASSERT(open && seal_possible(c));
	seal(c, todo);
}

/* What is wanted holds a record (journal_commit), and loses none. */
static void seal_if_wanted(struct xp *c, struct xp_todo *todo)
{
	if (c->journal.seal_wanted && seal_possible(c))
		seal(c, todo);
}

u64 journal_commit(struct xp *c, struct xp_todo *todo)
{
	if (!journal_new(c))
		return c->journal.sealed;
	c->journal.seal_wanted = true;
	seal_if_wanted(c, todo);
	return journal_new(c) ? journal_open(c) : c->journal.sealed;
}

static bool room(struct xp *c, u32 n, struct xp_todo *todo)
{
	if (journal_new(c) + n > XP_NEW_MAX)
		journal_commit(c, todo);
	if (!open_block(c) || journal_new(c) + n > XP_NEW_MAX)
		return false;
	todo->tick |= !journal_new(c);
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

static u32 jblock_bytes(const struct xp_jblock *b)
{
	return (u32)(sizeof(b->head) + le32_to_cpu(b->head.count) * sizeof(b->rec[0]));
}

u64 jblock_checksum(struct xp_jblock *b)
{
	__le64 kept = b->head.checksum;
	u64 sum;

	b->head.checksum = 0;
	sum = xp_checksum(b, jblock_bytes(b));
	b->head.checksum = kept;
	return sum;
}

/* No lock: a sealed block is the caller's until xp_journal_end(). */
void xp_journal_io(struct xp *c, u32 i, struct xp_journal_io *io)
{
	struct xp_jblock *b = &c->journal.buffer[i];

	XP_ASSERT(c->journal.window[i].state == BLOCK_SEALED);
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
	io->data = b;
	io->bytes = (jblock_bytes(b) + XP_LINE_SIZE - 1) & ~(XP_LINE_SIZE - 1);
	io->target = (c->journal.start +
		      journal_position(c, le64_to_cpu(b->head.seq))) * XP_BLOCK_SECTORS;
	io->flush_fua = c->opt.volatile_fast;
}

/* ----------------------------------------------------------- on medium ---- */

static void freed_slot(struct xp *c, u32 i, struct xp_todo *todo)
{
	struct xp_entry *e = &c->entry[i];
	bool unmapping = e->state == SLOT_UNMAPPING;

	if (unmapping)
		map_remove(c, XP_SLOT(i));
	c->nr_limbo--;
	slot_release(c, XP_SLOT(i));
	if (unmapping)
		requests_wake(c, entry_lba(e), 1, todo);
}

/* The oldest block that was not known to be written is. */
static void window_written(struct xp *c, struct xp_window *w,
			   struct xp_todo *todo)
{
	u32 i;

	c->journal.written = w->seq;
	c->journal.tail_written = w->tail;
	for (i = 0; i < w->nr_freed; i++)
		freed_slot(c, w->freed[i], todo);
	w->nr_freed = 0;
}

/* Ends blocks of which nothing is outstanding; true if there was one. */
static bool retire(struct xp *c)
{
	struct xp_journal *j = &c->journal;
	u64 before = j->durable;

	while (j->durable < j->written) {
		struct xp_window *w = journal_window(c, j->durable + 1);

		if (w->undone)
			break;
		w->state = BLOCK_IDLE;
		j->durable++;
	}
	return j->durable != before;
}

void journal_data_done(struct xp *c, u64 seq)
{
	struct xp_window *w = journal_window(c, seq);

	XP_ASSERT(w->seq == seq && w->undone);
	w->undone = false;
}

void journal_advance(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;

	while (j->written < j->sealed) {
		struct xp_window *w = journal_window(c, j->written + 1);

		if (w->state != BLOCK_WRITTEN)
			break;
		window_written(c, w, todo);
	}
	retire(c);
	do {
		seal_if_wanted(c, todo);
		requests_progress(c, todo);
	} while (retire(c));
	if (c->fast_suspected)
		journal_probe(c, todo);
}

void xp_journal_end(struct xp *c, u32 i, int err, struct xp_todo *todo)
{
	xp_lock(&c->lock);
	XP_ASSERT(c->journal.window[i].state == BLOCK_SEALED);
	if (err && !c->failed) {
		c->failed = err;	/* I9: it acknowledges nothing from here on */
		pass_begin(c, todo);
	}
	if (!c->failed)
		c->journal.window[i].state = BLOCK_WRITTEN;
	if (c->failed)
		requests_progress(c, todo);
	else
		journal_advance(c, todo);
	xp_unlock(&c->lock);
}

u64 journal_probe(struct xp *c, struct xp_todo *todo)
{
	const struct xp_journal *j = &c->journal;

	c->fast_suspected = false;
	if (j->sealed == j->written && open_block(c) && !open_is_last(c) && seal_possible(c)) {
		seal(c, todo);
		return j->sealed;
	}
	c->fast_suspected = !c->failed;
	return journal_open(c);
}

void xp_tick(struct xp *c, struct xp_todo *todo)
{
	xp_lock(&c->lock);
	policy_evict_ahead(c, todo);
	if (c->fast_suspected)
		journal_probe(c, todo);
	journal_commit(c, todo);
	todo->tick |= c->fast_suspected;	/* there was no place for a block, or one is under way */
	bypass_tick(c, todo);
	todo->tick |= !xp_list_empty(&c->space);	/* whom no hit's end has seen */
	xp_unlock(&c->lock);
}
