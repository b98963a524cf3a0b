/* SPDX-License-Identifier: GPL-2.0-only */
/* busy.h - requests that wait for a block. */
#ifndef XP_BUSY_H
#define XP_BUSY_H

#include "cache.h"

void requests_wake_busy(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo);
/* The lba is no longer busy. */
static inline void requests_wake(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo)
{
	if (!xp_list_empty(&c->busy))
		requests_wake_busy(c, lba, nr, todo);
}

#endif /* XP_BUSY_H */
