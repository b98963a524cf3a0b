// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_lru.c - least recently used goes.
 */
#include "rival.h"

struct policy {
	struct rival_base base;
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

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	bool hit = p->base.links.where[id];

	(void)next;
	if (hit)
		queue_remove(&p->queue, &p->base.links, id);
	else if (p->queue.nr == p->base.capacity)
		queue_pop(&p->queue, &p->base.links);
	queue_push(&p->queue, &p->base.links, id, 1);
	return hit;
}

const struct rival rival_lru = { "LRU", make, access, rival_free };
