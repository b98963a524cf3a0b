// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_wtinylfu.c - W-TinyLFU (Einziger and others, 2017): an LRU window of a hundredth of the cache; what leaves it
 * takes the place of the main part's victim only if it was used more often. The main part is a segmented LRU, four
 * fifths protected. Uses are counted up to 15 and halved after ten times the cache: here each block's own count, where
 * a cache would have a sketch. How often they are halved matters most where habits change: of one trace .80 of the
 * reads miss with a halving after five caches, .85 after ten, .86 after sixteen.
 */
#include "rival.h"

enum { NONE, WINDOW, PROBATION, PROTECTED };

struct policy {
	struct rival_base base;	/* a mark: how often it was used */
	u32 nr_ids, window_size, protected_size, since_halved;
	struct queue window, probation, protected;
};

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = rival_make(sizeof(*p), capacity, nr_ids);

	if (!p)
		return NULL;
	p->nr_ids = nr_ids;
	p->window_size = max(capacity / 100, 1u);
	p->protected_size = (capacity - p->window_size) / 5 * 4;
	queue_init(&p->window);
	queue_init(&p->probation);
	queue_init(&p->protected);
	return p;
}

static void count(struct policy *p, u32 id)
{
	u32 i;

	p->base.mark[id] = (u8)min(p->base.mark[id] + 1, 15);
	if (++p->since_halved < 10 * p->base.capacity)
		return;
	p->since_halved /= 2;
	for (i = 0; i < p->nr_ids; i++)
		p->base.mark[i] /= 2;
}

static void leave_window(struct policy *p)
{
	u32 id = queue_pop(&p->window, &p->base.links), victim;
	struct queue *from = p->probation.nr ? &p->probation : &p->protected;

	if (p->probation.nr + p->protected.nr >= p->base.capacity - p->window_size) {
		if (!from->nr)
			return;
		victim = from->tail;
		if (p->base.mark[id] <= p->base.mark[victim])
			return;
		queue_remove(from, &p->base.links, victim);
	}
	queue_push(&p->probation, &p->base.links, id, PROBATION);
}

static void protect(struct policy *p, u32 id)
{
	queue_push(&p->protected, &p->base.links, id, PROTECTED);
	if (p->protected.nr > p->protected_size)
		queue_push(&p->probation, &p->base.links, queue_pop(&p->protected, &p->base.links), PROBATION);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	u8 was = p->base.links.where[id];

	(void)next;
	count(p, id);
	if (was == PROBATION || was == PROTECTED) {
		queue_remove(was == PROBATION ? &p->probation : &p->protected, &p->base.links, id);
		protect(p, id);
		return true;
	}
	if (was == WINDOW)
		queue_remove(&p->window, &p->base.links, id);
	else if (p->window.nr == p->window_size)
		leave_window(p);
	queue_push(&p->window, &p->base.links, id, WINDOW);
	return was == WINDOW;
}

const struct rival rival_wtinylfu = { "W-TinyLFU", make, access, rival_free };
