// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_sieve.c - SIEVE (Zhang and others, 2024): a FIFO in which nothing moves. A hand goes from its tail to its
 * head, clears the marks of what was used and evicts what has none, and goes on there the next time.
 */
#include <stdlib.h>
#include "rival.h"

struct policy {
	u32 capacity;
	u32 hand;		/* RIVAL_NEVER: at the tail */
	struct queue queue;
	struct queue_links links;
	u8 *used;
};

static void destroy(void *policy)
{
	struct policy *p = policy;

	queue_links_free(&p->links);
	free(p->used);
	free(p);
}

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->capacity = capacity;
	p->hand = RIVAL_NEVER;
	p->used = calloc(nr_ids, 1);
	queue_init(&p->queue);
	if (queue_links_make(&p->links, nr_ids) && p->used)
		return p;
	destroy(p);
	return NULL;
}

static void evict(struct policy *p)
{
	u32 id = p->hand == RIVAL_NEVER ? p->queue.tail : p->hand;

	while (p->used[id]) {
		p->used[id] = 0;
		id = p->links.prev[id] == RIVAL_NEVER ? p->queue.tail : p->links.prev[id];
	}
	p->hand = p->links.prev[id];
	queue_remove(&p->queue, &p->links, id);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;

	(void)next;
	if (p->links.where[id]) {
		p->used[id] = 1;
		return true;
	}
	if (p->queue.nr == p->capacity)
		evict(p);
	p->used[id] = 0;
	queue_push(&p->queue, &p->links, id, 1);
	return false;
}

const struct rival rival_sieve = { "SIEVE", make, access, destroy };
