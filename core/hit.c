// SPDX-License-Identifier: GPL-2.0-only
/*
 * hit.c - a read of what is mapped, without the lock.
 *
 * A hit pins its slots until it ends: they are not reused under it (I1). To pin
 * is to exchange the word of the entry that says: MAPPED, of this lba, not zeros.
 * What then turns the slot over to somebody else finds the pin: slot_release()
 * says DEAD first and looks for pins after it, and whoever takes the last pin
 * away sees DEAD in the same exchange.
 *
 * The way through the hash may be wrong while others change it: it leads to an
 * entry that is not the lba's, or nowhere. Then the lock's way is tried.
 */
#include "map.h"
#include "request.h"

/* A chain that is being changed might go round. */
#ifndef XP_HIT_STEPS	/* the simulator gives up soon */
#define XP_HIT_STEPS	32u
#endif

static __always_inline bool pin_mapped(struct xp_entry *e, xp_lba_t lba)
{
	union xp_word was = { .all = XP_READ_ONCE(e->word.all) }, now;

	do {
		if (was.state != SLOT_MAPPED || was.zeros || was.pins >= XP_HIT_PINS ||
		    was.lba_high != (u8)(xp_lba_n(lba) >> 32))
			return false;
		now = was;
		now.pins++;
		now.referenced = 1;
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
	return true;
}

/* True: the lock's holder has something to do about it. Also after a slot has had
 * about as many readers as it may, two of whom need not have been readers. */
static __always_inline bool unpin(struct xp_entry *e)
{
	union xp_word was = pins_change(e, -1);
	u32 pins = was.pins;

	return (pins == 1 && was.state == SLOT_DEAD) || pins + 2 >= XP_HIT_PINS;
}

/* What is left to do when the pins of such slots have gone. By now they may be of
 * other lbas; whoever made them that has woken those who waited. */
static noinline void bury_all(struct xp *c, xp_slot_t slot, u32 nr, struct xp_todo *todo)
{
	u32 i;

	xp_lock(&c->lock);
	for (i = 0; i < nr; i++) {
		xp_slot_t s = slot_add(slot, i);

		slot_bury(c, s);
		requests_wake(c, entry_lba(entry_of(c, s)), 1, todo);
	}
	if (!c->failed)
		requests_relieve(c, todo);
	xp_unlock(&c->lock);
}

static bool says(const struct xp_entry *e, xp_lba_t lba)
{
	return XP_READ_ONCE(e->lba_low) == (u32)xp_lba_n(lba);
}

/* A pinned slot stays its lba's. Until then it may have become another's, and look
 * the same but for the lba: not while the lock is held. */
static __always_inline bool pin_lba(struct xp *c, u32 i, xp_lba_t lba,
				    struct xp_todo *todo)
{
	struct xp_entry *e = &c->entry[i];

	if (!says(e, lba) || !pin_mapped(e, lba))
		return false;
	if (says(e, lba))
		return true;
	if (unpin(e))
		bury_all(c, XP_SLOT(i), 1, todo);
	return false;
}

/* Those behind slot @i that hold what is behind @lba. Returns how many there are,
 * with the first. */
static noinline u32 pin_more(struct xp *c, u32 i, xp_lba_t lba, struct xp_req *req,
			     struct xp_todo *todo)
{
	u32 span = min(req_span(req), XP_RUN_MAX), n;

	for (n = 1; n < span && i + n < c->nr_slots; n++)
		if (!pin_lba(c, i + n, lba_add(lba, n), todo))
			break;
	return n;
}

static __always_inline void hit_pinned(struct xp *c, u32 i, struct xp_req *req,
				       struct xp_todo *todo)
{
	req->nr_blocks = 1;
	if (req_offset(req) + req->nr_sectors > XP_BLOCK_SECTORS)
		req_trim(req, pin_more(c, i, req_lba(req), req, todo));
	req->slot = XP_SLOT(i);
	req->target = slot_sector(c, req->slot) + req_offset(req);
	req->state = REQ_HIT;
	xp_count(&c->hits[xp_processor() % XP_HIT_COUNTERS]);
}

bool hit_slot(struct xp *c, xp_slot_t slot, struct xp_req *req, struct xp_todo *todo)
{
	if (!pin_lba(c, xp_slot_n(slot), req_lba(req), todo))
		return false;
	hit_pinned(c, xp_slot_n(slot), req, todo);
	return true;
}

bool xp_hit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	xp_lba_t lba = req_lba(req);
	u32 i = map_peek(c, lba), steps;

	for (steps = 0; ; steps++) {
		if (i == XP_NIL || steps == XP_HIT_STEPS)
			return false;
		if (pin_lba(c, i, lba, todo))
			break;
		i = XP_READ_ONCE(c->entry[i].hash_next);
	}
	hit_pinned(c, i, req, todo);
	return true;
}

/* Who waits for a slot may be waiting for one without readers. It may also begin to
 * just now, unseen from here: xp_tick() looks after that. */
void xp_hit_end(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	struct xp_entry *e = entry_of(c, req->slot), *end = e + req->nr_blocks;
	bool more = XP_READ_ONCE(c->space.head);

	for (; e < end; e++)
		more |= unpin(e);
	if (more)
		bury_all(c, req->slot, req->nr_blocks, todo);
}
