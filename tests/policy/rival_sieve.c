// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_sieve.c - SIEVE (Zhang and others, 2024): a FIFO in which nothing moves. A hand goes from its tail to its
 * head, clears the marks of what was used and evicts what has none, and goes on there the next time.
 */
#include "rival.h"

struct policy {
	struct rival_base base;	/* a mark: was used */
	u32 hand;		/* RIVAL_NEVER: at the tail */
	struct queue queue;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	p->hand = RIVAL_NEVER;
	queue_init(&p->queue);
	return p;
}

static void evict(struct policy *p)
{
	u32 id = p->hand == RIVAL_NEVER ? p->queue.tail : p->hand;

	while (p->base.mark[id]) {
		p->base.mark[id] = 0;
		id = p->base.links.prev[id] == RIVAL_NEVER ? p->queue.tail : p->base.links.prev[id];
	}
	p->hand = p->base.links.prev[id];
	queue_remove(&p->queue, &p->base.links, id);
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

const struct rival rival_sieve = { "SIEVE", make, access, rival_free };
