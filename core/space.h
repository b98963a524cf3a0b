/* SPDX-License-Identifier: GPL-2.0-only */
/* space.h - requests that wait for a free slot. */
#ifndef XP_SPACE_H
#define XP_SPACE_H

#include "cache.h"

void requests_hand_out(struct xp *c, struct xp_todo *todo);
/* Slots may have become free. */
static inline void requests_relieve(struct xp *c, struct xp_todo *todo)
{
	if (!xp_list_empty(&c->space))
		requests_hand_out(c, todo);
}

/* ... by a commit that found the records stored at once. */
static inline void requests_hand_on(struct xp *c, struct xp_todo *todo)
{
	if (unlikely(!xp_list_empty(&c->space)) && c->nr_free)
		requests_hand_out(c, todo);
}

#endif /* XP_SPACE_H */
