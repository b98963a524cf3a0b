/* SPDX-License-Identifier: GPL-2.0-only */
/* through.h - writes that end when the slow device has them, too. */
#ifndef XP_THROUGH_H
#define XP_THROUGH_H

#include "cache.h"

struct xp_run;

/* Blocks of a part of such a write. */
#ifndef XP_THROUGH_MAX	/* the simulator tries a few */
#define XP_THROUGH_MAX	64u
#endif

/* Does what is written wait for the slow device? */
static inline bool through_is_on(const struct xp *c)
{
	return c->opt.mode > XP_MODE_WRITEBACK;
}

/* Blocks that one answer about a write is for, at most. */
static inline u32 through_part(const struct xp *c)
{
	return through_is_on(c) ? XP_THROUGH_MAX : XP_RUN_MAX;
}

/* Somebody waits for a batch. */
static inline bool through_is_awaited(const struct xp *c)
{
	return !xp_list_empty(&c->through);
}

/* The first req->nr_blocks of @req are dirty, in the cache: it ends when they are on the slow device. */
enum xp_act through_wait(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* A batch of what is waited for. */
void through_gather(struct xp *c, struct xp_todo *todo);
/* It has ended: run->err. */
void through_sent(struct xp *c, const struct xp_run *run, struct xp_todo *todo);
/* Who waits for a flush, too? */
bool through_wants_flush(const struct xp *c);
/* What was sent may not be there: of writes that go on waiting it is sent again, and who waits for a flush alone fails. */
void through_lost(struct xp *c);
/* All that was sent is durable on the slow device; or @err. */
void through_flushed(struct xp *c, int err, struct xp_todo *todo);

#endif /* XP_THROUGH_H */
