// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_arc.c - ARC (Megiddo and Modha, 2003): a queue of what was used once and one of what was used more often,
 * each with the blocks that left it last; a use of one of those moves the border between the two.
 */
#include "rival.h"

enum { NONE, ONCE, OFTEN, GHOST_ONCE, GHOST_OFTEN };

struct policy {
	struct rival_base base;
	double target;		/* of the queue of once; the paper moves it by a quotient, so it is no whole number */
	struct queue once, often, ghost_once, ghost_often;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	queue_init(&p->once);
	queue_init(&p->often);
	queue_init(&p->ghost_once);
	queue_init(&p->ghost_often);
	return p;
}

static void replace(struct policy *p, bool from_often)
{
	if (p->once.nr && (p->once.nr > p->target || (from_often && p->once.nr == p->target) || !p->often.nr))
		queue_push(&p->ghost_once, &p->base.links, queue_pop(&p->once, &p->base.links), GHOST_ONCE);
	else
		queue_push(&p->ghost_often, &p->base.links, queue_pop(&p->often, &p->base.links), GHOST_OFTEN);
}

static void miss(struct policy *p)
{
	u32 all = p->once.nr + p->often.nr + p->ghost_once.nr + p->ghost_often.nr;

	if (p->once.nr + p->ghost_once.nr == p->base.capacity) {
		if (p->once.nr == p->base.capacity) {
			queue_pop(&p->once, &p->base.links);
			return;
		}
		queue_pop(&p->ghost_once, &p->base.links);
		replace(p, false);
	} else if (all >= p->base.capacity) {
		if (all == 2 * p->base.capacity)
			queue_pop(&p->ghost_often, &p->base.links);
		replace(p, false);
	}
}

static void ghost_hit(struct policy *p, u32 id, bool from_often)
{
	double one = max(p->ghost_once.nr, 1u), two = max(p->ghost_often.nr, 1u), capacity = p->base.capacity;

	if (from_often)
		p->target -= min(p->target, max(one / two, 1.0));
	else
		p->target = min(capacity, p->target + max(two / one, 1.0));
	replace(p, from_often);
	queue_remove(from_often ? &p->ghost_often : &p->ghost_once, &p->base.links, id);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	u8 was = p->base.links.where[id];

	(void)next;
	if (was == NONE) {
		miss(p);
		queue_push(&p->once, &p->base.links, id, ONCE);
		return false;
	}
	if (was == ONCE || was == OFTEN)
		queue_remove(was == ONCE ? &p->once : &p->often, &p->base.links, id);
	else
		ghost_hit(p, id, was == GHOST_OFTEN);
	queue_push(&p->often, &p->base.links, id, OFTEN);
	return was == ONCE || was == OFTEN;
}

const struct rival rival_arc = { "ARC", make, access, rival_free };
