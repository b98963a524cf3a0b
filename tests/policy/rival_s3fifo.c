// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_s3fifo.c - S3-FIFO (Yang and others, 2023): a small FIFO of a tenth of the cache, a main one, and a ghost as
 * long as the main one. At the end of the small one, what was used more than once goes to the main one.
 */
#include "rival.h"

enum { NONE, SMALL, MAIN, GHOST };

struct policy {
	struct rival_base base;	/* a mark: how often it was used, at most 3 */
	u32 small_size;
	struct queue small, main, ghost;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	p->small_size = max(capacity / 10, 1u);
	queue_init(&p->small);
	queue_init(&p->main);
	queue_init(&p->ghost);
	return p;
}

/* Does one of the two make room? */
static bool evict_small(struct policy *p)
{
	u32 id = queue_pop(&p->small, &p->base.links);

	if (p->base.mark[id] > 1) {
		p->base.mark[id] = 0;
		queue_push(&p->main, &p->base.links, id, MAIN);
		return false;
	}
	queue_push(&p->ghost, &p->base.links, id, GHOST);
	if (p->ghost.nr > p->base.capacity - p->small_size)
		queue_pop(&p->ghost, &p->base.links);
	return true;
}

static void evict_main(struct policy *p)
{
	for (;;) {
		u32 id = queue_pop(&p->main, &p->base.links);

		if (!p->base.mark[id])
			return;
		p->base.mark[id]--;
		queue_push(&p->main, &p->base.links, id, MAIN);
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
	u8 was = p->base.links.where[id];

	(void)next;
	if (was == SMALL || was == MAIN) {
		p->base.mark[id] = (u8)min(p->base.mark[id] + 1, 3);
		return true;
	}
	if (was == GHOST)
		queue_remove(&p->ghost, &p->base.links, id);
	if (p->small.nr + p->main.nr == p->base.capacity)
		evict(p);
	p->base.mark[id] = 0;
	if (was == GHOST)
		queue_push(&p->main, &p->base.links, id, MAIN);
	else
		queue_push(&p->small, &p->base.links, id, SMALL);
	return false;
}

const struct rival rival_s3fifo = { "S3-FIFO", make, access, rival_free };
