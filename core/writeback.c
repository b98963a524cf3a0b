// SPDX-License-Identifier: GPL-2.0-only
/*
 * writeback.c - which dirty blocks go home next, and when they are clean.
 *
 * A batch is the dirty blocks with the smallest lbas from the cursor on, found
 * by one pass over the slots with a bounded heap: lba order without any memory
 * a slot. Its slots are pinned, so none is reused under a running read.
 *
 * I4, I7: one batch at a time, an lba once in it, and the next begins after
 * this one's slow flush: an older version never overtakes a newer one, and a
 * CLEAN record is placed only behind that flush.
 *
 * A block dirtied after the batch was gathered is not in it, so the barrier of
 * xp_writeback_begin() covers every record the batch's slots rest on, but for two:
 * a block that turned to zeros since is left to the next batch (gather()), and the
 * record of a slot that has got more sectors since moves the barrier (writeback_covers()).
 */
#include "bypass.h"
#include "flush.h"
#include "journal.h"
#include "overwrite.h"
#include "run.h"
#include "ranks.h"
#include "slot.h"
#include "space.h"
#include "through.h"
#include "writeback.h"

#define SCAN_CHUNK	128u	/* slots looked at while the lock is held */

static void fails_no_more(struct xp *c)
{
	c->failing = 0;
	c->failing_since = 0;
}

void writeback_note_arrival(struct xp *c)
{
	if (!cache_is_clean(c))
		return;
	fails_no_more(c);	/* also by a caller's FLUSH: nothing is left that could fail */
	c->settling.on = false;
	rate_has_drained(c);
	if (!c->flushing)
		return;
	c->flushing = false;
	c->stats.flushes_completed++;
}

static bool drains(const struct xp *c)
{
	return c->rate.drains || c->flushing;
}

/* Dirty blocks are to be written back, and not only a flush is due. */
static bool blocks_are_due(struct xp *c)
{
	return c->nr_dirty > c->nr_unread && (rate_wants(c) || c->flushing || c->settling.on || rate_starves(c));
}

bool xp_writeback_wanted(struct xp *c)
{
	bool wanted = false;

	xp_lock(&c->lock);
	writeback_note_arrival(c);
	if (c->batch.state == BATCH_NONE && (!c->failed || c->pass == PASS_ON)) {
		wanted = blocks_are_due(c) || through_is_awaited(c);
		if (c->bypass_flushed < c->bypass_done)
			wanted |= drains(c) || c->slow_flush_wanted;
		if (!wanted)
			c->futile = 0;	/* a pause: what was tried then says little */
	}
	xp_unlock(&c->lock);
	return wanted;
}

void xp_write_back_all(struct xp *c, bool on)
{
	xp_lock(&c->lock);
	c->flushing = on;
	if (on)
		c->failing = 0;
	xp_unlock(&c->lock);
}

/* ------------------------------------------------------------ the heap ---- */

static u64 heap_lba(struct xp *c, u32 i)
{
	return xp_lba_n(entry_lba(&c->entry[c->batch.entry[i].slot]));
}

static void heap_swap(struct xp *c, u32 i, u32 k)
{
	struct xp_batch_entry kept = c->batch.entry[i];

	c->batch.entry[i] = c->batch.entry[k];
	c->batch.entry[k] = kept;
}

static void heap_up(struct xp *c, u32 i)
{
	while (i && heap_lba(c, i) > heap_lba(c, (i - 1) / 2)) {
		heap_swap(c, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void heap_down(struct xp *c, u32 i, u32 nr)
{
	for (;;) {
		u32 k = 2 * i + 1;

		if (k >= nr)
			return;
		if (k + 1 < nr && heap_lba(c, k + 1) > heap_lba(c, k))
			k++;
		if (heap_lba(c, i) >= heap_lba(c, k))
			return;
		heap_swap(c, i, k);
		i = k;
	}
}

static void heap_sort(struct xp *c)
{
	u32 nr;

	for (nr = c->batch.nr; nr > 1; nr--) {
		heap_swap(c, 0, nr - 1);
		heap_down(c, 0, nr - 1);
	}
}

/* ----------------------------------------------------------- the batch ---- */

/* What is home is not written again. */
static struct xp_batch_entry entry_for(const struct xp *c, u32 i)
{
	return (struct xp_batch_entry){ .slot = i, .zeros = slot_is_zeros(c, XP_SLOT(i)),
					.written_back = c->entry[i].home && !c->homes_lost };
}

void writeback_take(struct xp *c, xp_slot_t slot)
{
	struct xp_batch *b = &c->batch;

	if (b->nr == b->limit)
		return;
	b->entry[b->nr] = entry_for(c, xp_slot_n(slot));
	heap_up(c, b->nr++);
}

/* Sorted, of what writes wait for: two may wait for one block. No block is pinned twice. */
static void pin_each_once(struct xp *c)
{
	struct xp_batch *b = &c->batch;
	u32 i, nr = 0;

	for (i = 0; i < b->nr; i++) {
		if (nr && b->entry[nr - 1].slot == b->entry[i].slot)
			continue;
		slot_pin(c, XP_SLOT(b->entry[i].slot));
		b->entry[nr++] = b->entry[i];
	}
	b->nr = nr;
}

static void consider(struct xp *c, u32 i)
{
	struct xp_batch *b = &c->batch;
	struct xp_entry *e = &c->entry[i];

	if (e->state != SLOT_MAPPED || !e->dirty || slot_is_unread(c, XP_SLOT(i)))
		return;
	if (b->forgets_homes)
		e->home = 0;
	if (xp_lba_n(entry_lba(e)) < b->cursor)
		return;
	if (b->nr < b->limit) {
		writeback_take(c, XP_SLOT(i));
		slot_pin(c, XP_SLOT(i));
	} else if (xp_lba_n(entry_lba(e)) < heap_lba(c, 0)) {
		slot_unpin(c, XP_SLOT(b->entry[0].slot));
		b->entry[0] = entry_for(c, i);
		slot_pin(c, XP_SLOT(i));
		heap_down(c, 0, b->nr);
	}
}

void writeback_covers(struct xp *c, struct xp_todo *todo)
{
	if (c->batch.state == BATCH_RUNNING)
		c->batch.barrier = journal_commit(c, todo);
}

/* Takes and leaves the lock, so that requests are not held up by the pass. */
static void scan(struct xp *c)
{
	u32 i = 0;

	while (i < c->nr_slots) {
		u32 end = min(i + SCAN_CHUNK, c->nr_slots);

		xp_lock(&c->lock);
		for (; i < end; i++)
			consider(c, i);
		xp_unlock(&c->lock);
	}
}

static void collect(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	scan(c);
	if (!b->nr) {
		b->wrapped = true;
		xp_lock(&c->lock);
		b->cursor = 0;
		xp_unlock(&c->lock);
		scan(c);
	}
}

/* Of a batch that is sorted: whether it holds all that was dirty, and where the next begins. */
static void note_extent(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	b->to_the_end = b->nr < b->limit;
	b->has_all = b->to_the_end && b->cursor <= c->alone.first;
	b->cursor = b->to_the_end ? 0 : heap_lba(c, b->nr - 1) + 1;
}

/* In turns with all else that is due: what is home becomes clean, too. What fails comes seldom. */
static bool goes_through(struct xp *c)
{
	const struct xp_batch *b = &c->batch;
	u32 turns = c->failing && !c->homes_lost ? XP_THROUGH_TURNS_FAILING : XP_THROUGH_TURNS;

	return through_is_awaited(c) && (b->in_a_row < turns || !blocks_are_due(c));
}

/* Returns whether what is dirty is to be looked for. */
static bool begin_empty(struct xp *c)
{
	struct xp_batch *b = &c->batch;
	bool gathers;

	XP_ASSERT(b->state == BATCH_NONE);
	b->state = BATCH_BUILDING;
	b->through = goes_through(c);
	b->in_a_row = b->through ? b->in_a_row + 1 : 0;
	b->flush_failures = c->flush_failures;
	b->flushes = true;
	b->unflushed = false;
	b->has_turn = false;
	b->nr = b->next = b->from = 0;
	b->nr_written_back = b->nr_failed = 0;
	b->wrapped = b->to_the_end = false;
	b->split = b->has_all = b->ends = false;
	b->since = 0;
	b->limit = min(b->max, b->through ? XP_THROUGH_BATCH : rate_excess(c));
	gathers = !b->through && blocks_are_due(c);
	b->settles = gathers && c->settling.on;
	if (b->settles && !c->settling.begun)
		c->settling = (struct xp_settling){ .on = true, .begun = true, .from = b->cursor };
	b->forgets_homes = gathers && c->homes_lost;
	c->homes_lost &= !gathers;
	return gathers;
}

static void gather_awaited(struct xp *c, struct xp_todo *todo)
{
	through_gather(c, todo);
	heap_sort(c);
	pin_each_once(c);
}

bool xp_writeback_begin(struct xp *c, struct xp_todo *todo)
{
	struct xp_batch *b = &c->batch;
	bool flush_owed, gathers;

	xp_lock(&c->lock);
	gathers = begin_empty(c);
	xp_unlock(&c->lock);

	if (gathers)
		collect(c);

	xp_lock(&c->lock);
	if (b->through)
		gather_awaited(c, todo);
	else
		heap_sort(c);
	b->bypassed = c->bypass_done;
	flush_owed = c->bypass_flushed < c->bypass_done;
	b->flush_asked = c->slow_flush_wanted;
	c->slow_flush_wanted = false;
	if (gathers)
		note_extent(c);
	b->state = b->nr || flush_owed ? BATCH_RUNNING : BATCH_NONE;
	b->barrier = b->nr ? journal_commit(c, todo) : 0;
	requests_hand_on(c, todo);
	xp_unlock(&c->lock);
	return b->state == BATCH_RUNNING;
}

/*
 * Is the block still as it was when the batch was gathered? Its slot is pinned:
 * not reused, and not evicted; and nobody but this batch makes it clean.
 */
static bool unchanged(struct xp *c, const struct xp_batch_entry *be)
{
	const struct xp_entry *e = &c->entry[be->slot];

	return e->state == SLOT_MAPPED && slot_is_zeros(c, XP_SLOT(be->slot)) == be->zeros;
}

static bool is_to_go(struct xp *c, const struct xp_batch_entry *be)
{
	return unchanged(c, be) && !be->written_back;
}

/* Where a run has failed one block of it may be all that is bad. */
static bool goes_alone(const struct xp *c, xp_lba_t lba)
{
	return xp_lba_n(lba) - c->alone.first < c->alone.nr;
}

/* Sectors side by side of a block that its slot has a part of. True: there are others behind them. */
static bool gather_part(struct xp *c, struct xp_run *run, struct xp_batch_entry *be)
{
	struct xp_batch *b = &c->batch;
	u8 lacks = slot_lacks(c, XP_SLOT(be->slot));
	u32 at = b->from;

	if (!b->from)
		be->runs = part_runs(lacks);
	run->nr_sectors = (u8)xp_part_next((u8)~lacks, &at);
	run->skip = (u8)at;
	b->from = run->skip + run->nr_sectors;
	if ((u32)(u8)~lacks >> b->from)
		return true;
	b->from = 0;
	return false;
}

static void begin_run(struct xp *c, struct xp_run *run, const struct xp_batch_entry *be)
{
	run->lba = entry_lba(&c->entry[be->slot]);
	run->zeroes = be->zeros;
	run->batch_index = c->batch.next;
}

/* What a batch has nothing to do with any more. */
static void skip_settled(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	while (b->next < b->nr && !is_to_go(c, &b->entry[b->next])) {
		b->from = 0;
		b->next++;
	}
}

/* One that has begun. */
static bool joins_run(struct xp *c, const struct xp_run *run, const struct xp_batch_entry *be)
{
	xp_lba_t lba = entry_lba(&c->entry[be->slot]);

	return is_to_go(c, be) && be->zeros == run->zeroes && !slot_is_part(c, XP_SLOT(be->slot)) && !goes_alone(c, lba) &&
	       xp_lba_n(lba) == xp_lba_n(run->lba) + run->nr_blocks;
}

/* Blocks of a run that has its first one. */
static u32 run_most(const struct xp *c, const struct xp_run *run)
{
	return goes_alone(c, run->lba) || slot_is_part(c, run->slot[0]) ? 1 : XP_RUN_MAX;
}

static bool may_join(struct xp *c, const struct xp_run *run, const struct xp_batch_entry *be)
{
	if (run->nr_blocks && (run->nr_blocks >= run_most(c, run) || !joins_run(c, run, be)))
		return false;
	return !overwrite_is_awaited(c, entry_lba(&c->entry[be->slot]));
}

static void gather(struct xp *c, struct xp_run *run)
{
	struct xp_batch *b = &c->batch;

	run->nr_blocks = 0;
	run->skip = run->nr_sectors = 0;
	run->doubted = 0;
	run->err = 0;
	run->took = 0;
	skip_settled(c);
	for (; b->next < b->nr && may_join(c, run, &b->entry[b->next]); b->next++) {
		struct xp_batch_entry *be = &b->entry[b->next];
		xp_slot_t slot = XP_SLOT(be->slot);

		if (!run->nr_blocks)
			begin_run(c, run, be);
		run->slot[run->nr_blocks++] = slot;
		if (slot_is_part(c, slot) && gather_part(c, run, be))
			break;
	}
	run->more = b->next < b->nr;
	c->run_serial += !!run->nr_blocks;
	run->serial = c->run_serial;
}

/*
 * Somebody waits for what comes with the end of the batch, and this one may still be long; or nobody wants it any more.
 */
static bool ends_early(struct xp *c)
{
	u32 soon = max(XP_BATCH_SOON, c->nr_slots / XP_SOON_SHARE);

	if (c->batch.through)
		return c->slow_flush_wanted;
	return c->slow_flush_wanted || (through_is_awaited(c) && c->batch.nr_written_back) || (rate_starves(c) && c->batch.nr_written_back >= soon) ||
	       rate_has_been_long(c) || !blocks_are_due(c);
}

bool writeback_is_over(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	b->ends |= ends_early(c);
	return b->ends || b->next == b->nr;
}

/* I4: the flush that comes next covers the bypass writes that have ended by now. */
static void note_end(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	b->flush_asked |= c->slow_flush_wanted;		/* more than one worker may come here */
	b->flushes = !b->through || b->flush_asked || through_wants_flush(c) || rate_starves(c);
	b->bypassed = c->bypass_done;
	c->slow_flush_wanted = false;
}

/*
 * I3: half a writeback write must never be what a power cut leaves of a block.
 * The cache still holds it, if the record that says so is durable first.
 */
enum xp_next xp_writeback_next(struct xp *c, struct xp_run *run)
{
	enum xp_next next = XP_NEXT_END;

	xp_lock(&c->lock);
	if (c->failed) {
		run->nr_blocks = 0;
	} else if (!journal_is_written(c, c->batch.barrier)) {
		next = XP_NEXT_WAIT;
	} else if (!writeback_is_over(c)) {
		gather(c, run);
		if (run->nr_blocks)
			next = XP_NEXT_RUN;
		else if (run->more)
			next = XP_NEXT_WAIT;	/* for a write in place */
	}
	if (next == XP_NEXT_RUN) {
		disk_run_begins(c);
		rate_run_begins(c);
	}
	if (next == XP_NEXT_END)
		note_end(c);
	xp_unlock(&c->lock);
	return next;
}

static void note_failed(struct xp_batch *b, const struct xp_run *run)
{
	u64 first = xp_lba_n(run->lba), end = first + run->nr_blocks;

	if (b->nr_failed) {
		first = min(first, b->failed.first);
		end = max(end, b->failed.first + b->failed.nr);
	}
	b->failed = (struct xp_lbas){ first, end - first };
	b->split |= run->nr_blocks > 1;
	b->nr_failed += run->nr_blocks;
}

void writeback_owes_flush(struct xp *c)
{
	c->bypass_done++;
	XP_WRITE_ONCE(c->owes, true);
}

void xp_slow_lost(struct xp *c)
{
	xp_lock(&c->lock);
	flush_note_loss(c);
	xp_unlock(&c->lock);
}

void writeback_settle(struct xp *c)
{
	c->settling = (struct xp_settling){ .on = true };
}

/* Has the batch come to where the first began? Once more round the disk if something of it is not home. */
static void note_settled(struct xp *c, bool lost)
{
	const struct xp_batch *b = &c->batch;
	struct xp_settling *s = &c->settling;

	if (!b->settles)
		return;
	if (lost || b->nr_failed) {
		writeback_settle(c);
		return;
	}
	s->rounds += b->wrapped + (b->to_the_end && b->next == b->nr);
	if (s->rounds && (s->rounds > 1 || b->cursor >= s->from))
		s->on = false;
}

#define PART_FAILED	0x80	/* .runs never comes to 0 */

/* Those sectors of a block. False: there is more to come of it, or nothing. */
static bool part_ends(struct xp_batch_entry *be, int err)
{
	be->runs = err ? PART_FAILED : (u8)(be->runs - 1);
	return err || !be->runs;
}

void xp_writeback_end(struct xp *c, struct xp_run *run, struct xp_todo *todo)
{
	u32 i;

	xp_lock(&c->lock);
	disk_run_ends(c);
	rate_run_ends(c, run);
	if (run->nr_sectors && !part_ends(&c->batch.entry[run->batch_index], run->err)) {
		xp_unlock(&c->lock);
		return;
	}
	for (i = 0; i < run->nr_blocks; i++)
		c->batch.entry[run->batch_index + i].written_back = !run->err;
	if (run->err) {
		c->fast_suspected = true;	/* one of the two has failed it */
		note_failed(&c->batch, run);
	} else {
		c->batch.nr_written_back += run->nr_blocks;
		c->stats.written_back += run->nr_blocks;
	}
	through_sent(c, run, todo);
	xp_unlock(&c->lock);
}

/* --------------------------------------------------------------- clean ---- */

/*
 * A block of zeros that is home needs no slot to say so; nor does one that would have been evicted
 * had it been clean.
 */
static bool unmap_instead(struct xp *c, const struct xp_entry *e)
{
	if (e->apart)
		return true;
	return entry_pins(e) == 1 && !e->held &&
	       ranks_is_over(e, c->nr_free + c->nr_pending_free < c->low_free);
}

static bool clean_one(struct xp *c, const struct xp_batch_entry *be,
		      struct xp_todo *todo)
{
	struct xp_entry *e = &c->entry[be->slot];
	xp_slot_t slot = XP_SLOT(be->slot);

	if (!be->written_back || !unchanged(c, be))
		return true;
	if (e->apart && e->held)
		return true;	/* UNMAP ends whatever mapping: not before that write */
	if (!journal_room(c, 1, todo))
		return false;
	if (unmap_instead(c, e)) {
		journal_add(c, XP_REC_UNMAP, 0, entry_lba(e), slot, 0);
		record_is_dead(c, slot);
		slot_unmap(c, slot);
		journal_free_later(c, slot);
		if (!e->apart)
			ranks_evicted(c, e);
	} else {
		journal_add_next(c, XP_REC_CLEAN, 0, entry_lba(e), slot);
		slot_set_dirty(c, e, false);
		ranks_cleaned(c, e);
	}
	c->cleaned = journal_here(c);
	return true;
}

/* Goes on where room in the journal ended. */
void writeback_progress(struct xp *c, struct xp_todo *todo)
{
	struct xp_batch *b = &c->batch;

	if (b->state == BATCH_RUNNING && b->barrier &&
	    journal_is_written(c, b->barrier)) {
		b->barrier = 0;
		todo->work = true;
	}
	if (b->state != BATCH_CLEANING)
		return;
	for (; b->next < b->nr; b->next++) {
		if (!clean_one(c, &b->entry[b->next], todo))
			return;
		slot_unpin(c, XP_SLOT(b->entry[b->next].slot));
	}
	b->state = BATCH_NONE;
	writeback_note_arrival(c);
	todo->work = true;
	if (!xp_list_empty(&c->space))
		journal_commit(c, todo);
}

/* I4: it covers the bypass writes that have ended by now. */
enum xp_flush xp_writeback_flushes(struct xp *c)
{
	struct xp_batch *b = &c->batch;
	enum xp_flush flush = XP_FLUSH_NONE;

	xp_lock(&c->lock);
	b->unflushed = !b->flushes;
	if (b->flushes) {
		b->has_turn = flush_takes_turn(c);
		c->turn.batch_waits = !b->has_turn;
		b->bypassed = c->bypass_done;
		flush = b->has_turn ? XP_FLUSH_NOW : XP_FLUSH_LATER;
	}
	xp_unlock(&c->lock);
	return flush;
}

/* The slow device was sent it, and the flush is owed. */
static void leave_at_home(struct xp *c, struct xp_todo *todo)
{
	struct xp_batch *b = &c->batch;
	bool any = false;

	for (b->next = 0; b->next < b->nr; b->next++) {
		const struct xp_batch_entry *be = &b->entry[b->next];

		if (be->written_back && unchanged(c, be)) {
			c->entry[be->slot].home = 1;
			any = true;
		}
		slot_unpin(c, XP_SLOT(be->slot));
	}
	if (any)
		writeback_owes_flush(c);
	b->state = BATCH_NONE;
	todo->work = true;
}

static void abandon(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	for (b->next = 0; b->next < b->nr; b->next++)
		slot_unpin(c, XP_SLOT(b->entry[b->next].slot));
	b->state = BATCH_NONE;
}

/*
 * Where a run has failed its blocks go alone next, before another batch's failures are what is
 * remembered. And the backend may have ended it early, after so many errors: the next begins there,
 * or what comes behind that many bad blocks would never have its turn.
 */
static void look_back(struct xp *c)
{
	struct xp_batch *b = &c->batch;

	if (b->nr_failed)
		c->alone = b->failed;
	else if (b->through)
		return;
	else if (b->has_all && b->next == b->nr)
		c->alone.nr = 0;	/* whatever was bad there is not dirty any more */
	if (b->through)
		return;
	if (b->split)
		b->cursor = b->failed.first;
	else if (b->next < b->nr)
		b->cursor = heap_lba(c, b->next);
}

/* Batches in a row that gained nothing. */
static void judge_futile(struct xp *c, int err)
{
	const struct xp_batch *b = &c->batch;

	if (!err && b->nr_written_back)
		c->futile = 0;
	else if (err || b->nr_failed)
		c->futile = min(c->futile + 1, XP_FUTILE_MAX);
}

/* Nothing was left to be written back: the batch was for its flush, and that went well. */
static bool had_nothing_to_do(const struct xp *c)
{
	return !c->batch.nr && c->nr_dirty == c->nr_unread;
}

/* A batch that was cut short tells nothing about the slow device. */
static void judge_slow(struct xp *c, int err, u64 now)
{
	const struct xp_batch *b = &c->batch;

	if (err || (b->nr_failed && !b->nr_written_back))
		c->failing = min(c->failing + 1, XP_PAUSES_MAX);
	else if (b->nr_failed)
		c->failing = 1;
	else if (b->nr_written_back || had_nothing_to_do(c))
		fails_no_more(c);
	if (cache_is_clean(c))
		fails_no_more(c);	/* a caller's FLUSH was faster */
	else if (c->failing && !c->failing_since)
		c->failing_since = now;
}

static void judge(struct xp *c, int err, u64 now, struct xp_todo *todo)
{
	judge_futile(c, err);
	if (err || !c->batch.through)	/* else its writes were told */
		judge_slow(c, err, now);
	if (c->futile == XP_FUTILE_MAX)
		xp_list_splice(&todo->ready, &c->space);
}

u32 xp_writeback_pause(struct xp *c)
{
	u32 failing;

	xp_lock(&c->lock);
	failing = c->failing;
	if (!xp_list_empty(&c->space))	/* a writer; it is let go after XP_FUTILE_MAX */
		failing = min(failing, 1u);
	if (through_is_awaited(c))	/* they are told by the batch itself */
		failing = 0;
	xp_unlock(&c->lock);
	return failing ? min(XP_PAUSE_MS << (failing - 1), XP_PAUSE_MS_MAX) : 0;
}

/*
 * True: the batch's flush has failed, or a caller's FLUSH while it ran: a device tells that once, and a flush that goes
 * well then does not say that what was sent before is there. Writes that have ended are told by the next FLUSH.
 */
static bool note_flush(struct xp *c, int err, struct xp_todo *todo)
{
	const struct xp_batch *b = &c->batch;
	bool lost = err || b->flush_failures != c->flush_failures;

	if (err)
		flush_note_loss(c);
	if (err || !b->unflushed)
		through_flushed(c, err, todo);	/* who was sent before another's failed knows (through_lost()) */
	note_settled(c, lost);
	return lost;
}

static void give_turn(struct xp *c, struct xp_todo *todo)
{
	if (c->batch.has_turn)
		flush_turn_ends(c, todo);
	c->batch.has_turn = false;
}

void xp_writeback_commit(struct xp *c, int err, u64 now, struct xp_todo *todo)
{
	struct xp_batch *b = &c->batch;
	bool lost;

	xp_lock(&c->lock);
	XP_ASSERT(b->state == BATCH_RUNNING);
	judge(c, err, now, todo);
	c->rate.rounds += b->wrapped + (b->to_the_end && b->next == b->nr);
	look_back(c);
	rate_batch_ends(c);
	todo->tick |= c->fast_suspected;
	if (!err && !b->unflushed && (!c->failed || c->pass == PASS_ON))
		bypass_note_flushed(c, b->bypassed);
	lost = note_flush(c, err, todo);
	if (lost || c->failed) {
		abandon(c);
	} else if (b->unflushed) {
		leave_at_home(c, todo);
	} else {
		b->state = BATCH_CLEANING;
		b->next = 0;
		writeback_progress(c, todo);
	}
	give_turn(c, todo);
	if (!c->failed)
		requests_relieve(c, todo);	/* unpinned slots */
	xp_unlock(&c->lock);
}
