// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_restate.c - step 5 of a recovery: what was decided is on the medium before the first
 * request.
 */
#include "map.h"
#include "recovery.h"

/* Writes what the todo holds, and what that adds. */
int recovery_write_out(struct xp *c, const struct xp_media *m,
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

int recovery_seal_and_write(struct xp *c, const struct xp_media *m)
{
	struct xp_todo todo;

	xp_todo_init(&todo);
	xp_lock(&c->lock);
	journal_seal_now(c, &todo);
	xp_unlock(&c->lock);
	return recovery_write_out(c, m, &todo);
}

static void restate_one(struct xp *c, const struct decided *d)
{
	xp_slot_t mapped = map_mapped(c, XP_LBA(d->lba));

	if (is_slot(mapped))
		journal_add_mapping(c, mapped);
	else
		journal_add(c, XP_REC_UNMAP, 0, XP_LBA(d->lba), XP_SLOT(d->slot), 0);
}

/*
 * A chain may be longer, or more crowded at its tail, than one that this version writes: blocks that
 * hold nothing new, then, for which check_room() has found room. It is short enough before all places
 * have been written.
 */
static int make_room(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;
	u64 ask = 0, n;

	/* a smaller ring than any that is legal never is */
	for (n = 0; n < j->blocks; n++) {
		int err;

		if (j->tail >= ask && relocate_has_room(r->c, j->sealed_number, false))
			break;
		if (j->tail >= ask)	/* it is some work */
			ask = j->tail + j->blocks / 64 + 1;
		j->leave = max(j->leave, j->tail);
		err = recovery_seal_and_write(r->c, r->m);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Until the last of these blocks is durable their durable_seq stays what it
 * was, so that a cut in between decides the same again (no slot has changed).
 * One block more, with a durable_seq that covers them, ends it.
 */
int recovery_restate(struct recovery *r)
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
		err = recovery_write_out(c, r->m, &todo);
		if (err)
			return err;
	}
	err = recovery_seal_and_write(c, r->m);
	for (c->journal.leave = r->leave; !err && c->journal.tail <= r->leave; )
		err = recovery_seal_and_write(c, r->m);
	if (!err)
		err = make_room(r);
	if (!err && r->leave)
		err = recovery_erase_holes(r);
	c->journal.leave = 0;
	c->journal.stamp = 0;
	return err ? err : recovery_seal_and_write(c, r->m);
}
