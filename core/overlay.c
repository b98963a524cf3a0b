// SPDX-License-Identifier: GPL-2.0-only
/* overlay.c - the dirty blocks of a span, pinned from its answer to its end (overlay.h). */
#include "busy.h"
#include "overlay.h"
#include "request.h"
#include "slot.h"

/* None with sums, which nobody would compare; nor where writeback fails: the slow device may not answer for long. */
static struct xp_overlay *overlay_take(struct xp *c)
{
	u32 i;

	if (c->sum || c->failed || c->failing)
		return NULL;
	for (i = 0; i < XP_OVERLAYS_MAX; i++)
		if (!c->overlay[i].nr_blocks)
			return &c->overlay[i];
	return NULL;
}

/* As a reader, which is one of those that a block has at most (hit.c). */
static bool pin(struct xp_entry *e)
{
	union xp_word was = { .all = XP_READ_ONCE(e->word.all) }, now;

	do {
		if (word_pins(was) >= XP_HIT_PINS)
			return false;
		now = word_add(was, XP_PIN);
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
	return true;
}

/* An overwrite of a block that is pinned takes a slot, and gives none back before the slow device has answered. */
static bool slots_are_short(const struct xp *c)
{
	return c->nr_free <= c->overlaid;
}

/* The slot belongs to the last run. */
static bool goes_on(struct xp *c, const struct xp_overlay *o, xp_slot_t slot)
{
	const struct xp_overlay_run *run = o->nr_runs ? &o->run[o->nr_runs - 1] : NULL;

	return run && xp_slot_n(slot) == xp_slot_n(run->slot) + run->nr_blocks &&
	       run->zeros == slot_is_zeros(c, slot);
}

static void append(struct xp *c, struct xp_overlay *o, u32 at, xp_slot_t slot)
{
	if (!goes_on(c, o, slot))
		o->run[o->nr_runs++] = (struct xp_overlay_run){
			.slot = slot, .first = (u16)o->nr_blocks, .zeros = slot_is_zeros(c, slot),
		};
	o->run[o->nr_runs - 1].nr_blocks++;
	o->lacks[o->nr_blocks] = slot_lacks(c, slot);
	o->at[o->nr_blocks++] = (u8)at;
	c->overlaid++;
}

bool overlay_add(struct xp *c, struct xp_req *req, u32 at, xp_slot_t slot)
{
	struct xp_overlay *o = req->overlay ? req->overlay : overlay_take(c);

	if (!o || slots_are_short(c) || slot_is_unread(c, slot) || (o->nr_runs == XP_OVERLAY_RUNS_MAX && !goes_on(c, o, slot)) ||
	    !pin(entry_of(c, slot)))
		return false;
	append(c, o, at, slot);
	req->overlay = o;
	return true;
}

/* The last block: its slot is not pinned any more. */
static void drop_last(struct xp *c, struct xp_overlay *o)
{
	struct xp_overlay_run *run = &o->run[o->nr_runs - 1];
	xp_slot_t slot = slot_add(run->slot, --run->nr_blocks);

	if (!run->nr_blocks)
		o->nr_runs--;
	o->nr_blocks--;
	c->overlaid--;
	slot_unpin(c, slot);
}

void overlay_trim(struct xp *c, struct xp_req *req, u32 nr)
{
	struct xp_overlay *o = req->overlay;

	if (!o)
		return;
	while (o->nr_blocks && o->at[o->nr_blocks - 1] >= nr)
		drop_last(c, o);
	if (!o->nr_blocks)
		req->overlay = NULL;
}

void overlay_end(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	struct xp_overlay *o = req->overlay;

	if (!o)
		return;
	while (o->nr_blocks)
		drop_last(c, o);
	req->overlay = NULL;
	requests_wake(c, req_lba(req), req->nr_blocks, todo);
}
