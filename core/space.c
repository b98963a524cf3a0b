// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - requests that wait for a free slot.
 */
#include "journal.h"
#include "policy.h"
#include "space.h"

/* Somebody waits for a slot: hand on what is free, or make some. */
void requests_hand_out(struct xp *c, struct xp_todo *todo)
{
	u32 n;

	if (!c->nr_free)
		policy_free_soon(c, todo);
	todo->work |= !c->nr_free && c->nr_dirty;
	/*
	 * No more than slots: whoever is let go and takes none ends or
	 * waits for one that will end, and that comes back here.
	 */
	for (n = c->nr_free; n && !xp_list_empty(&c->space); n--)
		xp_list_add(&todo->ready, xp_list_pop(&c->space));
}
