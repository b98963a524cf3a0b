// SPDX-License-Identifier: GPL-2.0-only
/*
 * hit.c - a read of what is mapped, without the lock.
 *
 * A hit pins its slots until it ends: they are not reused under it (I1). To pin
 * is to exchange the word of the entry that says: MAPPED, of this lba, read from its slot.
 * What then turns the slot over to somebody else finds the pin: slots_release()
 * says RELEASED first and looks for pins after it, and whoever takes the last pin
 * away sees RELEASED in the same exchange.
 *
 * The way through the hash may be wrong while others change it: it leads to an
 * entry that is not the lba's, or nowhere. Then the lock's way is tried.
 */
#include "busy.h"
#include "request.h"
#include "slot.h"
#include "space.h"

/* A chain that is being changed might go round. */
#ifndef XP_HIT_STEPS	/* the simulator gives up soon */
#define XP_HIT_STEPS	32u
#endif

static __always_inline bool pin_mapped(struct xp_entry *e, xp_lba_t lba)
{
	union xp_word was = { .all = XP_READ_ONCE(e->word.all) }, now;

	do {
		if (was.state != SLOT_MAPPED || was.apart || word_pins(was) >= XP_HIT_PINS ||
		    was.lba_high != (u8)(xp_lba_n(lba) >> 32))
			return false;
		now = word_add(was, XP_PIN + rank_hit(word_use(was)));
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
	return true;
}

/*
 * True: the lock's holder has something to do about it. Also after a slot has had
 * about as many readers as it may, two of whom need not have been readers.
 */
static __always_inline bool unpin(struct xp_entry *e)
{
	union xp_word was = pins_change(e, -1);
	u32 pins = word_pins(was);

	return (pins == 1 && was.state == SLOT_RELEASED) || pins + 2 >= XP_HIT_PINS;
}

/* What is left to do when the pins of such slots have gone. */
static void owe(struct xp_req *req, xp_slot_t slot, u32 nr)
{
	req->base_slot = slot;
	req->progress = nr;
}

/* By now they may be of other lbas; whoever made them that has woken those who waited. */
void xp_hit_free(struct xp *c, const struct xp_req *req, struct xp_todo *todo)
{
	u32 i;

	xp_lock(&c->lock);
	for (i = 0; i < req->progress; i++) {
		xp_slot_t s = slot_add(req->base_slot, i);

		slot_free(c, s);
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

/*
 * A pinned slot stays its lba's. Until then it may have become another's, and look
 * the same but for the lba: not while the lock is held. XP_HIT, or 0 or XP_HIT_OWES.
 */
static __always_inline u32 pin_lba(struct xp *c, u32 i, xp_lba_t lba, struct xp_req *req)
{
	struct xp_entry *e = &c->entry[i];

	if (!says(e, lba))
		return 0;
	XP_RACE_WINDOW();
	if (!pin_mapped(e, lba))
		return 0;
	XP_RACE_WINDOW();
	if (likely(says(e, lba)))
		return XP_HIT;
	if (!unpin(e))
		return 0;
	owe(req, XP_SLOT(i), 1);
	return XP_HIT_OWES;
}

/* It may be so, and not be so any more: for advice. */
static bool seems_cached(const struct xp_entry *e, xp_lba_t lba)
{
	union xp_word word = { .all = XP_READ_ONCE(e->word.all) };

	return says(e, lba) && word.state == SLOT_MAPPED && word.lba_high == (u8)(xp_lba_n(lba) >> 32);
}

static bool is_cached_somewhere(const struct xp *c, xp_lba_t lba)
{
	u32 i = map_peek(c, lba), steps;

	for (steps = 0; i != XP_NIL && steps < XP_HIT_STEPS; steps++) {
		if (seems_cached(&c->entry[i], lba))
			return true;
		i = XP_READ_ONCE(c->entry[i].hash_next);
	}
	return false;
}

/* The run of slots from @i on ends before a miss. */
static bool ends_in_a_miss(const struct xp *c, u32 i, xp_lba_t lba, u32 span)
{
	u32 n = 1;

	while (n < span && i + n < c->nr_slots && seems_cached(&c->entry[i + n], lba_add(lba, n)))
		n++;
	return n < span && !is_cached_somewhere(c, lba_add(lba, n));
}

/* The first one is not read after all. 0 or XP_HIT_OWES. */
static u32 give_back(struct xp *c, u32 i, struct xp_req *req)
{
	bool more = XP_READ_ONCE(c->space.head);

	more |= unpin(&c->entry[i]);
	if (more)
		owe(req, XP_SLOT(i), 1);
	return more ? XP_HIT_OWES : 0;
}

/*
 * Those behind slot @i that hold what is behind @lba, too. Without the lock: if only a part of the request is
 * cached and the slow device's head is about there, who has the lock decides (read.c). The first has been asked for
 * twice then.
 */
static noinline u32 pin_more(struct xp *c, u32 i, xp_lba_t lba, struct xp_req *req, bool locked)
{
	u32 span = min(req_span(req), XP_RUN_MAX), n, pinned = XP_HIT;

	if (!locked && disk_goes_on(c, lba) && ends_in_a_miss(c, i, lba, span))
		return give_back(c, i, req);
	for (n = 1; n < span && i + n < c->nr_slots; n++) {
		pinned = pin_lba(c, i + n, lba_add(lba, n), req);
		if (pinned != XP_HIT)
			break;
	}
	req_trim(req, n);
	return XP_HIT | pinned;
}

static __always_inline u32 hit_pinned(struct xp *c, u32 i, struct xp_req *req, bool locked)
{
	u32 pinned = XP_HIT;

	req->nr_blocks = 1;
	if (req_offset(req) + req->nr_sectors > XP_BLOCK_SECTORS)
		pinned = pin_more(c, i, req_lba(req), req, locked);
	req->slot = XP_SLOT(i);
	req->target = slot_sector(c, req->slot) + req_offset(req);
	req->state = REQ_HIT;
	return pinned;
}

void hold_sectors(struct xp *c, xp_slot_t slot, struct xp_req *req, enum xp_req_state state)
{
	slot_pin(c, slot);
	ranks_hit(entry_of(c, slot));
	req->slot = slot;
	req->target = slot_sector(c, slot) + req_offset(req);
	req->state = state;
}

bool hit_slot(struct xp *c, xp_slot_t slot, struct xp_req *req)
{
	if (pin_lba(c, xp_slot_n(slot), req_lba(req), req) != XP_HIT)
		return false;
	hit_pinned(c, xp_slot_n(slot), req, true);	/* owes nothing: the lock is held */
	return true;
}

u32 xp_hit(struct xp *c, struct xp_req *req)
{
	xp_lba_t lba = req_lba(req);
	u32 i = map_peek(c, lba), steps;

	for (steps = 0; ; steps++) {
		u32 pinned;

		if (i == XP_NIL || steps == XP_HIT_STEPS)
			return 0;
		pinned = pin_lba(c, i, lba, req);
		if (pinned == XP_HIT)
			return hit_pinned(c, i, req, false);
		if (unlikely(pinned))
			return pinned;
		i = XP_READ_ONCE(c->entry[i].hash_next);
	}
}

/*
 * Who waits for a slot may be waiting for one without readers. It may also begin to
 * just now, unseen from here: xp_tick() looks after that.
 */
bool xp_hit_end(struct xp *c, struct xp_req *req)
{
	struct xp_entry *e = entry_of(c, req->slot), *end = e + req->nr_blocks;
	bool more = XP_READ_ONCE(c->space.head);

	for (; e < end; e++)
		more |= unpin(e);
	if (unlikely(more))
		owe(req, req->slot, req->nr_blocks);
	return more;
}
