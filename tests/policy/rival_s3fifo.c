// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_s3fifo.c - S3-FIFO (Yang and others, 2023): a small FIFO of a tenth of the cache, a main one, and a ghost as
 * long as the main one. At the end of the small one, what was used more than once goes to the main one.
 */
#include <stdlib.h>
#include "rival.h"

enum { NONE, SMALL, MAIN, GHOST };

struct policy {
	u32 capacity;
	u32 small_size;
	struct queue small, main, ghost;
	struct queue_links links;
	u8 *freq;		/* at most 3 */
};

static void destroy(void *policy)
{
	struct policy *p = policy;

	queue_links_free(&p->links);
	free(p->freq);
	free(p);
}

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->capacity = capacity;
	p->small_size = max(capacity / 10, 1u);
	p->freq = calloc(nr_ids, 1);
	queue_init(&p->small);
	queue_init(&p->main);
	queue_init(&p->ghost);
	if (queue_links_make(&p->links, nr_ids) && p->freq)
		return p;
	destroy(p);
	return NULL;
}

/* Does one of the two make room? */
static bool evict_small(struct policy *p)
{
	u32 id = queue_pop(&p->small, &p->links);

	if (p->freq[id] > 1) {
		p->freq[id] = 0;
		queue_push(&p->main, &p->links, id, MAIN);
		return false;
	}
	queue_push(&p->ghost, &p->links, id, GHOST);
	if (p->ghost.nr > p->capacity - p->small_size)
		queue_pop(&p->ghost, &p->links);
	return true;
}

static void evict_main(struct policy *p)
{
	for (;;) {
		u32 id = queue_pop(&p->main, &p->links);

		if (!p->freq[id])
			return;
		p->freq[id]--;
		queue_push(&p->main, &p->links, id, MAIN);
	}
}

static void evict(struct policy *p)
{
	bool done = false;

	while (!done) {
		if (p->small.nr >= p->small_size || !p->main.nr) {
			done = evict_small(p);
		} else {
			evict_main(p);
			done = true;
		}
	}
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	u8 was = p->links.where[id];

	(void)next;
	if (was == SMALL || was == MAIN) {
		p->freq[id] = (u8)min(p->freq[id] + 1, 3);
		return true;
	}
	if (was == GHOST)
		queue_remove(&p->ghost, &p->links, id);
	if (p->small.nr + p->main.nr == p->capacity)
		evict(p);
	p->freq[id] = 0;
	if (was == GHOST)
		queue_push(&p->main, &p->links, id, MAIN);
	else
		queue_push(&p->small, &p->links, id, SMALL);
	return false;
}

const struct rival rival_s3fifo = { "S3-FIFO", make, access, destroy };
