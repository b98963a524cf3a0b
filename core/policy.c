// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - what is admitted and what is evicted. Nothing here can make the
 * cache wrong, only slow.
 *
 * A write before a FLUSH: a parallel commit, if the FLUSH is sure to come.
 * Admit on a read miss; evict clean blocks by their rank (rank.h).
 */
#include "bypass.h"
#include "ghost.h"
#include "journal.h"
#include "policy.h"
#include "ranks.h"
#include "slot.h"

/* Slots looked at for one to evict, and in one call: the lock is held. */
#define EVICT_STEPS_EACH	64u
#define EVICT_STEPS_MAX		2048u

/*
 * Of the free slots that eviction aims at, a fill leaves a quarter to writes. A commit for the sake of
 * eviction frees a third of them, and the rest is for fills until it is durable: a long one has one record, and
 * fills no block of the journal. A few at least, half of them in a small cache: a commit is a write.
 */
#define COMMIT_SMALL	32u

static u32 reserve(const struct xp *c)
{
	return c->low_free / 4;
}

static u32 commit_batch(const struct xp *c)
{
	return max(c->low_free / 3, min(c->low_free / 2, COMMIT_SMALL));
}

/* Longer requests are not filled where streams are not told. */
#define ADMIT_MAX_BLOCKS	64u	/* 256 KiB */

/*
 * A fill of what was streamed is worth its write if one block in 32 is asked for again. The sample that tells is one
 * MiB of eight, everywhere on the disk: there a stream passes in any case.
 */
#define STREAM_AGAIN	((1u << 16) / 32)

static bool is_sample(xp_lba_t first)
{
	return (u32)(xp_lba_n(first) >> 8) * 0x9e3779b1u >> 29 == 0;
}

/* By a 64th towards what this read of the sample says. */
static void learn_again(struct xp *c, u32 known, u32 misses)
{
	c->reads.again -= c->reads.again / 64;
	c->reads.again += (known << 16) / misses / 64;
}

/* What was streamed before is kept this time; else that it was. */
static bool is_streamed_again(struct xp *c, xp_lba_t first, u32 span, u32 misses)
{
	bool sample = is_sample(first);
	u32 known = 0, i;

	if (c->reads.again >= STREAM_AGAIN && !sample)
		return true;
	for (i = 0; i < span; i++)
		known += !map_holds(c, lba_add(first, i)) && ghost_knows(c, lba_add(first, i), XP_GHOST_EVER);
	if (sample)
		learn_again(c, known, misses);
	if (2 * known >= misses)
		return true;
	for (i = 0; i < span; i++)
		if (!map_holds(c, lba_add(first, i)))
			ghost_put_last(c, lba_add(first, i));
	c->stats.stream_bypass_blocks += misses;
	return false;
}

u32 policy_admit(struct xp *c, xp_lba_t first, u32 span, u32 misses, bool streams)
{
	if (!c->opt.stream_kib && misses > ADMIT_MAX_BLOCKS)
		return 0;
	if (c->nr_free <= reserve(c) + 1 || (streams && !is_streamed_again(c, first, span, misses)))
		return 0;
	return min(misses, c->nr_free - reserve(c) - 1);
}

/*
 * A program that syncs does so after the same number of writes each time. The last of
 * them may take its record along, and those of the others: one journal block, as the
 * FLUSH would have written, but while the data is written and not after it.
 */
void policy_flush(struct xp *c)
{
	policy_see_flush(c);
	if (c->writes_unsynced == c->writes_a_sync && c->writes_unsynced)
		c->sync_streak++;
	else
		c->sync_streak = 0;
	c->writes_a_sync = c->writes_unsynced;
	c->writes_unsynced = 0;
}

void policy_tick(struct xp *c)
{
	c->flush_before = XP_READ_ONCE(c->flush_seen);
	XP_WRITE_ONCE(c->flush_seen, false);
}

/*
 * Each write around the cache has the next FLUSH, whoever sends it, go to the slow device: milliseconds instead of
 * microseconds. So none does for the sake of a stream while somebody syncs, before dirty blocks are so many that
 * writes are slowed. Nor while the slow device fails what is sent there.
 */
bool policy_passes(const struct xp *c)
{
	if (c->nr_dirty <= c->dirty_pass || c->failing || bypass_in_doubt(c))
		return false;
	return c->nr_dirty > c->dirty_soft || !(XP_READ_ONCE(c->flush_seen) || c->flush_before);
}

bool policy_evictable(const struct xp_entry *e)
{
	return e->state == SLOT_MAPPED && !e->dirty && !entry_pins(e) && !e->held;
}

void policy_drop(struct xp *c, xp_slot_t slot)
{
	journal_add(c, XP_REC_UNMAP, 0, entry_lba(entry_of(c, slot)), slot, 0);
	record_is_dead(c, slot);
	slot_unmap(c, slot);
	journal_free_later(c, slot);
}

bool policy_unmap(struct xp *c, xp_slot_t slot, struct xp_todo *todo)
{
	if (!journal_room(c, 1, todo))
		return false;
	policy_drop(c, slot);
	return true;
}

u32 policy_evict(struct xp *c, u32 want, bool awaited, struct xp_todo *todo)
{
	u32 steps = min(want * EVICT_STEPS_EACH, EVICT_STEPS_MAX), done = 0;
	bool in_vain = false;

	while (done < want && c->nr_clean) {
		xp_slot_t slot = ranks_victim(c, &steps);

		in_vain = !is_slot(slot);
		if (in_vain || !policy_unmap(c, slot, todo))
			break;
		ranks_evicted(c, entry_of(c, slot));
		done++;
	}
	if (done || !in_vain)
		ranks_found(c, true);
	else if (awaited)
		ranks_found(c, false);
	c->stats.evicted += done;
	return done;
}

void policy_free_soon(struct xp *c, struct xp_todo *todo)
{
	if (!c->nr_pending_free)
		policy_evict(c, c->low_free, true, todo);
	journal_commit(c, todo);
}

void policy_evict_some(struct xp *c, struct xp_todo *todo)
{
	u32 coming = c->nr_free + c->nr_pending_free;

	if (coming < c->low_free)
		policy_evict(c, min(c->low_free - coming, 32u), false, todo);
	if (journal_frees(c) >= commit_batch(c) || (c->nr_pending_free && c->nr_free < reserve(c)))
		journal_commit(c, todo);
}
