// SPDX-License-Identifier: GPL-2.0-only
/*
 * checked.c - with xp_options.verify: what was read is compared, and what follows when it differs.
 *
 * I9: a device that gives something else and no error is as good as one that fails, once it has
 * done so twice: callers get what the slow device holds (I7), or an error. I3: it is never brought
 * home.
 */
#include "checksum.h"
#include "policy.h"
#include "request.h"
#include "run.h"
#include "space.h"
#include "verify.h"

/* Of a pinned slot, as long as nothing is known to the contrary. */
static bool holds(const struct xp *c, xp_slot_t slot, u64 hash)
{
	u32 sum = c->sum ? c->sum[xp_slot_n(slot)] : 0;

	return !sum || sum == xp_sum(hash);
}

/* ----------------------------------------------------------------- rot ---- */

static void note(struct xp *c, xp_slot_t slot, struct xp_rot *rot)
{
	const struct xp_entry *e = entry_of(c, slot);

	c->stats.sum_errors++;
	if (rot->nr++)
		return;
	rot->lba = entry_lba(e);
	rot->slot = slot;
	rot->dirty = e->dirty;
}

/*
 * Whoever comes next shall not find it. If that cannot be recorded now he will, and see the same.
 */
static void drop(struct xp *c, xp_slot_t slot, struct xp_todo *todo)
{
	if (!c->failed && !entry_of(c, slot)->held && journal_room(c, 1, todo))
		policy_drop(c, slot);
}

/* Pinned. What was superseded meanwhile, or became zeros, is nobody's loss. */
static void found_rotten(struct xp *c, xp_slot_t slot, bool lost, struct xp_rot *rot,
			 struct xp_todo *todo)
{
	const struct xp_entry *e = entry_of(c, slot);

	if (e->state != SLOT_MAPPED || e->apart || (e->dirty && !lost))
		return;
	note(c, slot, rot);
	if (!e->dirty)
		drop(c, slot, todo);
}

/* --------------------------------------------------------------- reads ---- */

/*
 * As of a hit that the device has failed: only if all of it is dirty it is lost; else what is
 * lost of it comes again alone.
 */
static enum xp_act read_rotten(struct xp *c, struct xp_req *req, const u64 *hash,
			       struct xp_rot *rot, struct xp_todo *todo)
{
	enum xp_act act;
	bool lost;
	u32 i;

	xp_lock(&c->lock);
	lost = read_is_lost(c, req);
	for (i = 0; i < req->nr_blocks; i++) {
		xp_slot_t slot = slot_add(req->slot, i);

		if (!holds(c, slot, hash[i]))
			found_rotten(c, slot, lost, rot, todo);
	}
	act = read_elsewhere_or(c, req, -EIO, todo);
	if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
	return act;
}

enum xp_act xp_checked(struct xp *c, struct xp_req *req, const u64 *hash, struct xp_rot *rot,
		       struct xp_todo *todo)
{
	u32 i;

	rot->nr = 0;
	for (i = 0; i < req->nr_blocks; i++)
		if (!holds(c, slot_add(req->slot, i), hash[i]))
			break;
	if (likely(i == req->nr_blocks))
		return xp_end(c, req, 0, todo);
	if (req->doubted)
		return read_rotten(c, req, hash, rot, todo);
	req->doubted = true;
	return XP_CHECK;
}

/* --------------------------------------------------- writes, writeback ---- */

enum xp_act xp_base_checked(struct xp *c, struct xp_req *req, u64 hash, struct xp_rot *rot,
			    struct xp_todo *todo)
{
	rot->nr = 0;
	if (likely(holds(c, req->base_slot, hash)))
		return XP_COPY;
	if (!req->doubted) {
		req->doubted = true;
		return XP_CHECK;
	}
	xp_lock(&c->lock);
	found_rotten(c, req->base_slot, true, rot, todo);
	xp_unlock(&c->lock);
	return xp_base_failed(c, req, -EIO, todo);
}

int xp_writeback_checked(struct xp *c, struct xp_run *run, u32 i, u64 hash, struct xp_rot *rot)
{
	rot->nr = 0;
	if (likely(holds(c, run->slot[i], hash)))
		return 0;
	if (run->doubted != i + 1) {
		run->doubted = i + 1;
		return -EAGAIN;
	}
	xp_lock(&c->lock);
	note(c, run->slot[i], rot);
	xp_unlock(&c->lock);
	return -EIO;
}
