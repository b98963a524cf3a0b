// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_2q.c - 2Q, full version (Johnson and Shasha, 1994): what is new waits in a FIFO of a quarter of the cache;
 * what is used again while half a cache of those that left it is remembered goes to an LRU queue.
 */
#include "rival.h"

enum { NONE, IN, OUT, MAIN };

struct policy {
	struct rival_base base;
	struct queue in, out, main;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	queue_init(&p->in);
	queue_init(&p->out);
	queue_init(&p->main);
	return p;
}

static void evict(struct policy *p)
{
	if (p->in.nr + p->main.nr < p->base.capacity)
		return;
	if (p->in.nr <= max(p->base.capacity / 4, 1u) && p->main.nr) {
		queue_pop(&p->main, &p->base.links);
		return;
	}
	queue_push(&p->out, &p->base.links, queue_pop(&p->in, &p->base.links), OUT);
	if (p->out.nr > max(p->base.capacity / 2, 1u))
		queue_pop(&p->out, &p->base.links);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	u8 was = p->base.links.where[id];

	(void)next;
	if (was == IN)
		return true;
	if (was == MAIN)
		queue_remove(&p->main, &p->base.links, id);
	else if (was == OUT)
		queue_remove(&p->out, &p->base.links, id);
	if (was != MAIN)
		evict(p);
	if (was == NONE)
		queue_push(&p->in, &p->base.links, id, IN);
	else
		queue_push(&p->main, &p->base.links, id, MAIN);
	return was == MAIN;
}

const struct rival rival_2q = { "2Q", make, access, rival_free };
