// SPDX-License-Identifier: GPL-2.0-only
/*
 * rival_min.c - MIN (Belady, 1966), of the misses that count: of the cached blocks and the one that is used, the block
 * goes whose next use is the latest. Keeping a block until its next access saves a miss only if a miss of that access
 * counts, so what is written next is as good as never used again. No policy has fewer misses that count, whether it
 * admits every block or not. A heap has the cached blocks; its stale places are left behind.
 */
#include <stdlib.h>
#include "rival.h"

struct place {
	u32 next, id;
};

struct policy {
	u32 capacity;
	u32 nr_cached;
	struct place *heap;
	u32 nr, room;
	u32 *next;		/* access, of each cached block */
	u8 *cached;
};

static void destroy(void *policy)
{
	struct policy *p = policy;

	free(p->heap);
	free(p->next);
	free(p->cached);
	free(p);
}

static void *make(u32 capacity, u32 nr_ids)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->capacity = capacity;
	p->next = calloc(nr_ids, sizeof(*p->next));
	p->cached = calloc(nr_ids, 1);
	p->room = 1024;
	p->heap = malloc(p->room * sizeof(*p->heap));
	if (p->next && p->cached && p->heap)
		return p;
	destroy(p);
	return NULL;
}

static void push(struct policy *p, struct place place)
{
	u32 i = p->nr++;

	if (p->nr > p->room) {
		p->room *= 2;
		p->heap = realloc(p->heap, p->room * sizeof(*p->heap));
		if (!p->heap)
			abort();
	}
	for (; i && p->heap[(i - 1) / 2].next < place.next; i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = place;
}

static struct place pop(struct policy *p)
{
	struct place top = p->heap[0], last = p->heap[--p->nr];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < p->nr) {
		child += child + 1 < p->nr && p->heap[child + 1].next > p->heap[child].next;
		if (p->heap[child].next <= last.next)
			break;
		p->heap[i] = p->heap[child];
		i = child;
	}
	p->heap[i] = last;
	return top;
}

static void leave(struct policy *p, u32 id)
{
	p->cached[id] = 0;
	p->nr_cached--;
}

static void evict(struct policy *p)
{
	struct place place;

	do {
		place = pop(p);
	} while (!p->cached[place.id] || p->next[place.id] != place.next);
	leave(p, place.id);
}

static bool access(void *policy, u32 id, u32 next)
{
	struct policy *p = policy;
	bool hit = p->cached[id];

	if (hit)
		leave(p, id);
	if (next == RIVAL_NEVER)
		return hit;
	p->cached[id] = 1;
	p->nr_cached++;
	p->next[id] = next;
	push(p, (struct place){ next, id });
	if (p->nr_cached > p->capacity)
		evict(p);
	return hit;
}

const struct rival rival_min = { "MIN", make, access, destroy };
