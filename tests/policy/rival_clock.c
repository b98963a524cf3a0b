// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_clock.c - second chance: at the end of the queue, a block that was used goes to its head once more.
 */
#include "rival.h"

struct policy {
	struct rival_base base;	/* a mark: was used */
	struct queue queue;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	queue_init(&p->queue);
	return p;
}

static void evict(struct policy *p)
{
	for (;;) {
		u32 id = queue_pop(&p->queue, &p->base.links);

		if (!p->base.mark[id])
			return;
		p->base.mark[id] = 0;
		queue_push(&p->queue, &p->base.links, id, 1);
	}
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;

	(void)next;
	if (p->base.links.where[id]) {
		p->base.mark[id] = 1;
		return true;
	}
	if (p->queue.nr == p->base.capacity)
		evict(p);
	p->base.mark[id] = 0;
	queue_push(&p->queue, &p->base.links, id, 1);
	return false;
}

const struct rival rival_clock = { "CLOCK", make, access, rival_free };
