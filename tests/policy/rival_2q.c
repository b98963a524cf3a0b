// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_2q.c - 2Q, full version (Johnson and Shasha, 1994): what is new waits in a FIFO of a quarter of the cache;
 * what is used again while half a cache of those that left it is remembered goes to an LRU queue.
 */
#include <stdlib.h>
#include "rival.h"

enum { NONE, IN, OUT, MAIN };

struct policy {
	u32 capacity;
	struct queue in, out, main;
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
	queue_init(&p->in);
	queue_init(&p->out);
	queue_init(&p->main);
	if (queue_links_make(&p->links, nr_ids))
		return p;
	destroy(p);
	return NULL;
}

static void evict(struct policy *p)
{
	if (p->in.nr + p->main.nr < p->capacity)
		return;
	if (p->in.nr <= max(p->capacity / 4, 1u) && p->main.nr) {
		queue_pop(&p->main, &p->links);
		return;
	}
	queue_push(&p->out, &p->links, queue_pop(&p->in, &p->links), OUT);
	if (p->out.nr > max(p->capacity / 2, 1u))
		queue_pop(&p->out, &p->links);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	u8 was = p->links.where[id];

	(void)next;
	if (was == IN)
		return true;
	if (was == MAIN)
		queue_remove(&p->main, &p->links, id);
	else if (was == OUT)
		queue_remove(&p->out, &p->links, id);
	if (was != MAIN)
		evict(p);
	if (was == NONE)
		queue_push(&p->in, &p->links, id, IN);
	else
		queue_push(&p->main, &p->links, id, MAIN);
	return was == MAIN;
}

const struct rival rival_2q = { "2Q", make, access, destroy };
