/* SPDX-License-Identifier: GPL-2.0-only */
/* list.h - a queue of things that have a link: first in, first out. */
#ifndef XP_LIST_H
#define XP_LIST_H

#include "platform.h"

struct xp_link {
	struct xp_link *next;
};

/* A queue of requests: first in, first out. */
struct xp_list {
	struct xp_link *head;
	struct xp_link **tail;
};

static inline void xp_list_init(struct xp_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static inline bool xp_list_empty(const struct xp_list *l)
{
	return !l->head;
}

static inline void xp_list_add(struct xp_list *l, struct xp_link *link)
{
	link->next = NULL;
	*l->tail = link;
	l->tail = &link->next;
}

static inline struct xp_link *xp_list_pop(struct xp_list *l)
{
	struct xp_link *link = l->head;

	if (link) {
		l->head = link->next;
		if (!l->head)
			l->tail = &l->head;
	}
	return link;
}

/* Moves all of @from to the end of @to. */
static inline void xp_list_splice(struct xp_list *to, struct xp_list *from)
{
	if (xp_list_empty(from))
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	xp_list_init(from);
}

/* All of @from is in @to, which nobody else knows: to go through it while @from fills again. */
static inline void xp_list_take(struct xp_list *to, struct xp_list *from)
{
	xp_list_init(to);
	xp_list_splice(to, from);
}

#endif /* XP_LIST_H */
