// SPDX-License-Identifier: GPL-2.0-only
/*
 * bypass.c - writes around the cache, straight to the slow device.
 *
 * I8: only where no mapping is, none is on its way in, and none whose end is
 * not durable. A small table holds those under way; the next FLUSH, a batch's
 * end or a fill waits for a flush of the slow device after them.
 */
#include "map.h"
#include "request.h"

bool bypass_holds(const struct xp *c, xp_lba_t lba)
{
	u32 i;

	for (i = 0; i < XP_BYPASS_MAX; i++) {
		const struct xp_bypass *b = &c->bypass[i];

		if (b->nr && xp_lba_n(lba) - b->lba < b->nr)
			return true;
	}
	return false;
}

/* I8: with no mapping, none on its way in, and none whose end is not durable. */
static bool may_bypass(const struct xp *c, const struct xp_found *f,
		       xp_lba_t lba)
{
	return !is_slot(f->mapped) && !is_slot(f->writing) &&
	       !is_slot(f->unmapping) && !bypass_overlaps(c, lba);
}

enum xp_act bypass_submit(struct xp *c, struct xp_req *req, u32 span)
{
	struct xp_found f;
	u32 i, n;

	if (c->bypass_running == XP_BYPASS_MAX)
		return req_wait(c, &c->busy, req);
	for (n = 0; n < span; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);

		map_find(c, lba, &f);
		if (c->pass == PASS_ON)
			pass_unmap(c, &f);
		if (!may_bypass(c, &f, lba))
			break;
		if (is_slot(f.filling))
			slot_doom(c, f.filling);
	}
	if (!n)
		return req_wait(c, &c->busy, req);
	for (i = 0; c->bypass[i].nr; i++)
		;
	if (req->op == XP_WRITE)
		xp_req_is(req, XP_CLASS_WRITE_THROUGH);
	c->bypass[i].lba = xp_lba_n(req_lba(req));
	c->bypass[i].nr = n;
	c->bypass_running++;
	req_trim(req, n);
	req->bypass = (u8)i;
	req->state = REQ_BYPASS;
	c->stats.write_bypass++;
	return XP_SLOW;
}

enum xp_act bypass_end(struct xp *c, struct xp_req *req, int err,
		       struct xp_todo *todo)
{
	c->bypass[req->bypass].nr = 0;
	c->bypass_running--;
	c->bypass_done++;	/* also after an error: part of it may be there */
	XP_WRITE_ONCE(c->owes, true);
	todo->work |= c->flushing || c->draining;
	xp_list_splice(&todo->ready, &c->busy);
	return req_finish(req, err);
}

/* --------------------------------------------------- their slow flush ---- */

/*
 * I2: what is ordered behind a FLUSH does not end well when that failed. A
 * journal's commit is one bio, a preflush with data, of which Linux's device
 * mapper makes two, and forgets the error of the first. So writes that may be the
 * second are refused until what the FLUSH was about has been flushed after all;
 * and until the second tick even then, as another's FLUSH may do that before the
 * write is here.
 */
void bypass_flush_failed(struct xp *c, u64 bypassed, struct xp_todo *todo)
{
	c->bypass_doubted = max(c->bypass_doubted, bypassed);
	c->doubt_ticks = 2;
	todo->tick = true;
}

void bypass_tick(struct xp *c, struct xp_todo *todo)
{
	bool doubted = c->bypass_flushed < c->bypass_doubted;

	if (c->failed && c->pass != PASS_ON)
		return;
	todo->tick |= bypass_in_doubt(c);
	if (c->doubt_ticks)
		c->doubt_ticks--;
	if (c->fills_held_up || doubted) {
		c->fills_held_up = false;
		c->slow_flush_wanted = true;
		todo->work = true;
	}
}
