// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_lru.c - least recently used goes.
 */
#include <stdlib.h>
#include "rival.h"

struct policy {
	u32 capacity;
	struct queue queue;
	struct queue_links links;
};

static void destroy(void *policy)
{
	struct policy *p = policy;

	queue_links_free(&p->links);
	free(p);
}

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->capacity = capacity;
	queue_init(&p->queue);
	if (queue_links_make(&p->links, nr_ids))
		return p;
	destroy(p);
	return NULL;
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	bool hit = p->links.where[id];

	(void)next;
	if (hit)
		queue_remove(&p->queue, &p->links, id);
	else if (p->queue.nr == p->capacity)
		queue_pop(&p->queue, &p->links);
	queue_push(&p->queue, &p->links, id, 1);
	return hit;
}

const struct rival rival_lru = { "LRU", make, access, destroy };
