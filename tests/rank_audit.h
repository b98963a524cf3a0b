/* SPDX-License-Identifier: GPL-2.0-only */
/* rank_audit.h - is what a cache counts of its ranks what its entries say? For tests, with nobody at work. */
#ifndef TEST_RANK_AUDIT_H
#define TEST_RANK_AUDIT_H

#include "cache.h"

/* NULL, or what is wrong. */
static inline const char *rank_audit(const struct xp *c)
{
	u32 nr[XP_RANK_CLASSES][2] = { 0 }, i;

	for (i = 0; i < c->nr_slots; i++) {
		const struct xp_entry *e = &c->entry[i];
		u32 rank = entry_rank(e);

		if (e->state != SLOT_MAPPED)
			continue;
		if (rank_class(rank) == XP_RANK_YOUNG && rank_freq(rank))
			return "a young block has a frequency";
		if (rank_class(rank) == XP_RANK_COLD && !e->dirty)
			return "a cold block is clean";
		nr[rank_class(rank)][e->dirty]++;
	}
	return memcmp(nr, c->ranks.nr, sizeof(nr)) ? "the counts of the ranks are not those of the entries" : NULL;
}

#endif
