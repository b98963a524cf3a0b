/* SPDX-License-Identifier: GPL-2.0-only */
/* writeback.h - writeback, as the rest of the core sees it. */
#ifndef XP_WRITEBACK_H
#define XP_WRITEBACK_H

#include "cache.h"

/* A flush that xp_write_back_all() asked for arrives when nothing is dirty. */
void writeback_note_arrival(struct xp *c);
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
