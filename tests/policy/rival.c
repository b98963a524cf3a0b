// SPDX-License-Identifier: GPL-2.0-only
/* rival.c - the list of the policies to compare with, and the queues that they are made of. */
#include <stdlib.h>
#include "rival.h"

const struct rival *const rivals[RIVALS] = {
	&rival_lru, &rival_clock, &rival_2q, &rival_arc, &rival_lirs, &rival_sieve, &rival_wtinylfu, &rival_s3fifo,
	&rival_min,
};

bool queue_links_make(struct queue_links *l, u32 nr_ids)
{
	l->prev = calloc(nr_ids, sizeof(*l->prev));
	l->next = calloc(nr_ids, sizeof(*l->next));
	l->where = calloc(nr_ids, sizeof(*l->where));
	return l->prev && l->next && l->where;
}

void queue_links_free(struct queue_links *l)
{
	free(l->prev);
	free(l->next);
	free(l->where);
}

void *rival_make(size_t size, u32 capacity, u32 nr_ids)
{
	struct rival_base *b = calloc(1, size);

	if (!b)
		return NULL;
	b->capacity = capacity;
	b->mark = calloc(nr_ids, sizeof(*b->mark));
	if (queue_links_make(&b->links, nr_ids) && b->mark)
		return b;
	rival_free(b);
	return NULL;
}

void rival_free(void *policy)
{
	struct rival_base *b = policy;

	queue_links_free(&b->links);
	free(b->mark);
	free(b);
}

void queue_init(struct queue *q)
{
	*q = (struct queue){ RIVAL_NEVER, RIVAL_NEVER, 0 };
}

void queue_push(struct queue *q, struct queue_links *l, u32 id, u8 where)
{
	l->prev[id] = RIVAL_NEVER;
	l->next[id] = q->head;
	if (q->head != RIVAL_NEVER)
		l->prev[q->head] = id;
	else
		q->tail = id;
	q->head = id;
	l->where[id] = where;
	q->nr++;
}

void queue_remove(struct queue *q, struct queue_links *l, u32 id)
{
	if (l->prev[id] != RIVAL_NEVER)
		l->next[l->prev[id]] = l->next[id];
	else
		q->head = l->next[id];
	if (l->next[id] != RIVAL_NEVER)
		l->prev[l->next[id]] = l->prev[id];
	else
		q->tail = l->prev[id];
	l->where[id] = 0;
	q->nr--;
}

u32 queue_pop(struct queue *q, struct queue_links *l)
{
	u32 id = q->tail;

	queue_remove(q, l, id);
	return id;
}
