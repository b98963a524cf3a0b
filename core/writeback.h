/* SPDX-License-Identifier: GPL-2.0-only */
/* writeback.h - writeback, as the rest of the core sees it. */
#ifndef XP_WRITEBACK_H
#define XP_WRITEBACK_H

#include "cache.h"

/* A flush that xp_write_back_all() asked for arrives when nothing is dirty. */
void writeback_note_arrival(struct xp *c);
/* Of the batch that is being gathered: the block in this slot, which is dirty, if there is room. */
void writeback_take(struct xp *c, xp_slot_t slot);	/* not pinned yet */
/* I3: a block that a batch may have has a new record, which is to be durable before the batch's next run. */
void writeback_covers(struct xp *c, struct xp_todo *todo);
/* What was written to the slow device is not flushed. */
void writeback_owes_flush(struct xp *c);
/* What is dirty by now goes home, once round the disk. */
void writeback_settle(struct xp *c);
/* The batch that runs has no more runs. */
bool writeback_is_over(struct xp *c);
/* Called by progress_advance(). */
void writeback_progress(struct xp *c, struct xp_todo *todo);
/* Somebody gets an error because nothing goes home: whether that is still so is soon to be seen. */
static inline void writeback_soon(struct xp *c, struct xp_todo *todo)
{
	c->failing = min(c->failing, 1u);
	todo->work = true;
}

#endif /* XP_WRITEBACK_H */
