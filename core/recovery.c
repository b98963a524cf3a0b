// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery.c - from the journal on the medium to the map in memory.
 *
 * recovery_<step>.c has the steps:
 *
 *   1. scan    read the ring, or after a stop the chain alone; which blocks are valid, and which places cannot be
 *              read
 *   2. pick    the newest block whose whole chain, from its own tail_seq to
 *              itself, is there
 *   3. replay  that chain in order. Records above its durable_seq that carry a
 *              checksum are compared with their slot; those that fail are left
 *              out, so that the older mapping holds (its slot is untouched, I1)
 *      hint    if the journal ends where the life before has stopped, the ranks that the
 *              blocks had then are taken over (hint.c)
 *   4. erase   blocks newer than that: written before the cut, and beyond a gap.
 *              One of them would be taken up again if the block that is to take
 *              its place does not land, and a later one does, at a later cut. And
 *              what cannot be read: whatever it is, it may be readable by then
 *   5. restate say on the medium what step 3 decided, in blocks of a new
 *              incarnation, before the first request: a rejected record must
 *              not turn valid when its slot happens to receive the same bytes
 *   6. write back the last block of the slow device, if it is short, dirty, and an older version
 *              has cached it. And the superblock gets the present size of the slow device
 *
 * I10: a chain broken at or below its own durable_seq is not what a power cut
 * leaves. It is refused, not worked around.
 *
 * I2: a place that cannot be read is in nobody's way, but for two. One in the chain is missed;
 * one of those that follow the head may be the newest commit. Both are refused, unless the
 * user accepts it (XP_ACCEPT_LOSS): then the chain has a hole. What older blocks than the newest
 * hole say is replayed, and doubtful; and it is all said anew, behind the hole, before the first
 * request.
 */

#include "badblocks.h"
#include "flush.h"
#include "hint.h"
#include "mode.h"
#include "recovery.h"
#include "slot.h"
#include "super.h"

bool recovery_accepts(const struct recovery *r, u32 what)
{
	return (r->c->opt.accept & what) || (what == XP_ACCEPT_LOSS && super_is_losing(r->c));
}

u64 xp_recover_memory(const struct xp_sb *sb)
{
	return (XP_RECOVER_CHUNK + 1) * XP_BLOCK_SIZE +
	       le64_to_cpu(sb->journal_blocks) * sizeof(struct xp_ring_block) +
	       DECIDED_MAX * sizeof(struct decided) + DISPLACED_MAX * sizeof(u64);
}

int recovery_refuse(struct recovery *r, const char *what, u64 seq, u64 detail)
{
	struct xp_journal *j = &r->c->journal;

	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal block %llu (at block %llu of the fast device): %s (%llu)",
		 (unsigned long long)seq,
		 (unsigned long long)(j->start + seq % j->blocks), what,
		 (unsigned long long)detail);
	return -EUCLEAN;
}

int recovery_refuse_loss(struct recovery *r, u64 seq, const char *what)
{
	const struct xp_journal *j = &r->c->journal;

	snprintf(r->msg->text, sizeof(r->msg->text),
		 "journal block %llu cannot be read (block %llu of the fast device): %s",
		 (unsigned long long)seq, (unsigned long long)(j->start + seq % j->blocks), what);
	return -EBADMSG;
}

void recovery_unmap(struct xp *c, xp_slot_t slot)
{
	record_is_dead(c, slot);
	slot_supersede(c, slot);
	slot_is_no_part(c, slot);
	entry_of(c, slot)->state = SLOT_FREE;
}

/* -------------------------------------------------------------- recover ---- */

void recovery_begin_after(struct xp *c, const struct xp_ring_block *head)
{
	struct xp_journal *j = &c->journal;

	j->sealed = j->written = j->durable = head->seq;
	j->sealed_number = j->written_number = j->durable_number = head->seq;
	j->reached = journal_end_of(head->seq);
	j->before = head->records > head->count ? head->records : 0;
	j->tail = j->tail_written = head->tail;
	slots_init_free(c);
}

static void set_scratch(struct recovery *r, void *scratch)
{
	r->msg->text[0] = '\0';
	r->chunk = scratch;
	r->block = r->chunk + XP_RECOVER_CHUNK * XP_BLOCK_SIZE;
	r->ring = (struct xp_ring_block *)(r->block + XP_BLOCK_SIZE);
	r->decided = (struct decided *)(r->ring + r->c->journal.blocks);
	r->displaced = (u64 *)(r->decided + DECIDED_MAX);
	r->sectors = le64_to_cpu(r->c->super.sb->slow.sectors) + r->c->pad;
	r->was = max(r->sectors, le64_to_cpu(r->c->super.sb->slow_was) + r->c->pad);
	r->whole = recovery_whole_blocks(r);
	r->short_block = XP_SLOT(XP_NIL);
}

int recovery_rebuild(struct recovery *r, void *scratch)
{
	int err;

	set_scratch(r, scratch);
	recovery_scan(r);
	err = recovery_pick(r);
	return err ? err : recovery_replay(r);
}

static bool is_dirty(struct xp *c, xp_lba_t lba)
{
	xp_slot_t slot = map_mapped(c, lba);

	return is_slot(slot) && entry_of(c, slot)->dirty;
}

/* The first sectors of the slow device. */
static bool has_new_tables(struct xp *c)
{
	u64 lba;

	for (lba = 0; lba * XP_BLOCK_SECTORS < XP_TABLE_SECTORS + c->pad; lba++)
		if (is_dirty(c, XP_LBA(lba)))
			return true;
	return false;
}

static int mend(struct recovery *r)
{
	int err = super_mend(r->c, r->m, r->block);

	return err ? err : recovery_mend_fingerprint(r);
}

/* I4: should it be longer again after a cut, that is not what it was. */
static int note_shorter(struct recovery *r)
{
	struct xp *c = r->c;

	return c->slow_sectors < r->sectors ?
	       super_size(c, c->slow_sectors, r->was, r->m, r->block) : 0;
}

/* I9: durable before the first trace of the loss is erased. */
static int note_loss(struct recovery *r)
{
	r->loss.head = cpu_to_le64(r->head.seq);
	r->loss.incarnation = cpu_to_le64(r->c->journal.incarnation);
	return r->c->lost ? super_lose(r->c, &r->loss, r->m, r->block) : 0;
}

/* Before a block beyond the old end is mapped. */
static int note_size(struct recovery *r)
{
	return super_size(r->c, r->c->slow_sectors, 0, r->m, r->block);
}

/*
 * Before the first such record is written; an older version can look at what has none. Where a copy of the superblock takes
 * no write, it says as before what that does: it refuses the records themselves.
 */
static int note_unread(struct recovery *r)
{
	bool any = r->has_unread || r->c->nr_unread;
	int err = super_feature(r->c, XP_INCOMPAT_UNREAD, any, r->m, r->block);

	return error_of_place(err) ? 0 : err;
}

static int loss_is_over(struct recovery *r)
{
	return super_lose(r->c, NULL, r->m, r->block);
}

static int note_mode(struct recovery *r)
{
	return mode_begin(r->c, r->m, r->block);
}

/* In this order; the first error ends it. */
static int write_decisions(struct recovery *r)
{
	static int (*const step[])(struct recovery *r) = {
		mend, note_shorter, note_loss, recovery_erase_leftovers, note_unread, recovery_restate,
		recovery_write_back_short, note_size, loss_is_over, note_mode, NULL,
	};
	int err = 0;
	u32 i;

	for (i = 0; !err && step[i]; i++)
		err = step[i](r);
	return err;
}

int xp_recover(struct xp *c, const struct xp_media *m, void *scratch,
	       bool restating, struct xp_message *msg)
{
	struct recovery r = { .c = c, .m = m, .msg = msg };
	int err;

	err = recovery_rebuild(&r, scratch);
	if (!err && restating)
		err = recovery_fit(&r);
	if (err)
		return err;
	recovery_begin_after(c, &r.head);
	if (!restating)
		return 0;
	hint_read(&r);
	msg->text[0] = '\0';
	err = write_decisions(&r);
	if (err && !msg->text[0])
		snprintf(msg->text, sizeof(msg->text),
			 "journal: cannot write to the fast device; %u of the %u places that may be bad are",
			 c->super.nr_avoided, c->super.spare_places);
	if (err)
		return err;
	c->tables_written = has_new_tables(c);
	rate_start(c);
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
	mode_note(c, true, &todo);
	journal_close(c, &todo);
	xp_unlock(&c->lock);
	if (c->failed && c->pass != PASS_ON)
		return c->failed;
	err = c->failed ? 0 : recovery_write_out(c, m, &todo);
	if (!err && !c->failed)
		err = hint_write(c, m);
	if (c->pass == PASS_MARKING)	/* nobody is left to write the mark */
		c->pass = PASS_OFF;
	return err ? err : flush_is_untold(c) ? -EIO : 0;
}
