// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_clock.c - second chance: at the end of the queue, a block that was used goes to its head once more.
 */
#include <stdlib.h>
#include "rival.h"

struct policy {
	u32 capacity;
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
	p->used = calloc(nr_ids, 1);
	queue_init(&p->queue);
	if (queue_links_make(&p->links, nr_ids) && p->used)
		return p;
	destroy(p);
	return NULL;
}

static void evict(struct policy *p)
{
	for (;;) {
		u32 id = queue_pop(&p->queue, &p->links);

		if (!p->used[id])
			return;
		p->used[id] = 0;
		queue_push(&p->queue, &p->links, id, 1);
	}
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

const struct rival rival_clock = { "CLOCK", make, access, destroy };
