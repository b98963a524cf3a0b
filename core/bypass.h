/* SPDX-License-Identifier: GPL-2.0-only */
/* bypass.h - writes around the cache. */
#ifndef XP_BYPASS_H
#define XP_BYPASS_H

#include "cache.h"

struct xp_found;

bool bypass_holds(const struct xp *c, xp_lba_t lba);
/* Of @most blocks from @lba on, so many come before the first that a write around the cache has. */
u32 bypass_gap(const struct xp *c, xp_lba_t lba, u32 most);
/* Does a write around the cache to @lba run? */
static inline bool bypass_overlaps(const struct xp *c, xp_lba_t lba)
{
	return c->bypass_running && bypass_holds(c, lba);
}
/* Of @most blocks from @lba on, so many @may be written around the cache, or may not. */
u32 bypass_run(struct xp *c, xp_lba_t lba, u32 most, bool may);
/* Sends the first of the @span blocks of a write around the cache, as far as they may. */
enum xp_act bypass_submit(struct xp *c, struct xp_req *req, u32 span);
/* The place that @req holds, or a free one, which it holds from now on; NULL: there is none. */
struct xp_bypass *bypass_place(struct xp *c, struct xp_req *req);
/* Until one is free, and its turn. */
enum xp_act bypass_queue(struct xp *c, struct xp_req *req);
/* Sends the first @nr blocks; it holds @b. */
enum xp_act bypass_begin(struct xp *c, struct xp_bypass *b, struct xp_req *req, u32 nr);
/* It has a place, and does not go there: the next one may have it. */
void bypass_give_up(struct xp *c, const struct xp_req *req, struct xp_todo *todo);
/* It comes again. Has it looked at blocks before? */
bool bypass_resume(struct xp *c, const struct xp_req *req);
void bypass_settle_held(struct xp *c, const struct xp_req *req, struct xp_todo *todo);
/* What has become of @req needs no place, but where it waits for the journal with one. */
static inline void bypass_settle(struct xp *c, const struct xp_req *req, struct xp_todo *todo)
{
	if (unlikely(c->bypass_held))
		bypass_settle_held(c, req, todo);
}
/* The cache has failed: nobody waits for a place. */
void bypass_fail(struct xp *c, struct xp_todo *todo);
/* Of a FLUSH about the first @bypassed of them. */
void bypass_flush_failed(struct xp *c, u64 bypassed, struct xp_todo *todo);
/* True: that was so, and no write that is ordered behind it may end well. */
static inline bool bypass_in_doubt(const struct xp *c)
{
	return c->doubt_ticks || c->bypass_flushed < c->bypass_doubted;
}
enum xp_act bypass_end(struct xp *c, struct xp_req *req, int err,
		       struct xp_todo *todo);

/*
 * What the slow device is about to get the fast one does not hold any more, if it ever comes
 * to be asked. An end of a mapping that the journal had yet to take is in the mark.
 */
void bypass_unmap(struct xp *c, struct xp_found *f);

/* A flush of the slow device that was issued when so many had ended has succeeded. */
void bypass_note_flushed(struct xp *c, u64 bypassed);
/* Has their slow flush made when it is due. */
void bypass_tick(struct xp *c, struct xp_todo *todo);

#endif /* XP_BYPASS_H */
