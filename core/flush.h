/* SPDX-License-Identifier: GPL-2.0-only */
/* flush.h - the slow device's flush: whose turn it is, and who hears of what was lost. */
#ifndef XP_FLUSH_H
#define XP_FLUSH_H

#include "cache.h"

/* What the slow device was sent may not be there: a flush has failed, say. A caller's FLUSH is to hear of it. */
void flush_note_loss(struct xp *c);

/* What went around the cache may be gone, and no caller has heard of it. */
static inline bool flush_is_untold(const struct xp *c)
{
	return c->flush_told < c->flush_lost;
}

/* True: a flush may begin now; all that is durable when it ends well has ended by now. flush_turn_ends() follows. */
bool flush_takes_turn(struct xp *c);
/* With all that its end means noted: who has waited is answered or comes again, and the next has its turn. */
void flush_turn_ends(struct xp *c, struct xp_todo *todo);

/* The mark is written when its turn has come: todo->mark. Callers' FLUSHes wait for it then. */
void flush_wants_mark(struct xp *c, struct xp_todo *todo);

/* A FUA write around the cache has ended well, as the last of those counted. @failures: there were, when it began. */
enum xp_act flush_behind(struct xp *c, struct xp_req *req, u32 failures, struct xp_todo *todo);
/* It comes again: req->written. */
enum xp_act flush_behind_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);

#endif /* XP_FLUSH_H */
