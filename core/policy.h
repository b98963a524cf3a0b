/* SPDX-License-Identifier: GPL-2.0-only */
/* policy.h - what to admit, what to evict, and when to expect a FLUSH. */
#ifndef XP_POLICY_H
#define XP_POLICY_H

#include "cache.h"

/*
 * Of the @misses among @span blocks that are read at once, of a stream that passes if they @streams: how many
 * may take a slot.
 */
u32 policy_admit(struct xp *c, xp_lba_t first, u32 span, u32 misses, bool streams);
/*
 * The block, which is clean and not held, lives in no slot any more: a record, for which there is
 * room.
 */
void policy_drop(struct xp *c, xp_slot_t slot);
/* Clean, and in nobody's use. */
bool policy_evictable(const struct xp_entry *e);
/* Ends the mapping of a block that is so. False: no room in the journal. */
bool policy_unmap(struct xp *c, xp_slot_t slot, struct xp_todo *todo);
/*
 * Evicts up to @want clean blocks; they become free once durable. @awaited: somebody waits for a slot, and where calls find
 * none blocks that are worth more go as well.
 */
u32 policy_evict(struct xp *c, u32 want, bool awaited, struct xp_todo *todo);
/* Somebody waits for a slot: what is on its way to be free is committed. Where nothing is, c->low_free blocks are evicted first. */
void policy_free_soon(struct xp *c, struct xp_todo *todo);
void policy_evict_some(struct xp *c, struct xp_todo *todo);
/* Keeps c->low_free slots free or about to be. */
static inline void policy_evict_ahead(struct xp *c, struct xp_todo *todo)
{
	if (c->nr_free < c->low_free)
		policy_evict_some(c, todo);
}

/* So many FLUSHes, each after as many writes, before one is expected. */
#define XP_SYNC_STREAK	3u

void policy_flush(struct xp *c);
/* One that finds nothing to do is not seen otherwise. No lock. */
static inline void policy_see_flush(struct xp *c)
{
	if (!XP_READ_ONCE(c->flush_seen))
		XP_WRITE_ONCE(c->flush_seen, true);
}
/* xp_tick() */
void policy_tick(struct xp *c);
/* Does a write of a stream go around the cache, as far as nothing of it is there? */
bool policy_passes(const struct xp *c);
/*
 * Is a FLUSH expected after this write, the newest? Only a short one: to copy and hash
 * it must not take longer than the journal block that is saved.
 */
static inline bool policy_sync_follows(const struct xp *c, u32 nr_blocks)
{
	return c->sync_streak >= XP_SYNC_STREAK && nr_blocks == 1 &&
	       c->writes_unsynced == c->writes_a_sync;
}

/* Will it be, after one that has not begun? */
static inline bool policy_sync_is_next(const struct xp *c, u32 nr_blocks)
{
	return c->sync_streak >= XP_SYNC_STREAK && nr_blocks == 1 &&
	       c->writes_unsynced + 1 == c->writes_a_sync;
}

#endif /* XP_POLICY_H */
