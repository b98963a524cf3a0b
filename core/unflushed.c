// SPDX-License-Identifier: GPL-2.0-only
/*
 * unflushed.c - which blocks of the slow device may change by a power cut, because of a bypass write.
 *
 * I4: a fill of such a block could be older on the slow device after a cut. A long copy is one
 * range that grows. With the table full no block is known to be flushed.
 */
#include "unflushed.h"

static bool touches(const struct xp_unflushed_range *a, const struct xp_unflushed_range *b)
{
	return a->first <= b->end && b->first <= a->end;
}

static void unflushed_remove(struct xp_unflushed *u, u32 i)
{
	u->range[i] = u->range[--u->nr];
}

void unflushed_add(struct xp_unflushed *u, xp_lba_t lba, u32 nr, u64 number)
{
	struct xp_unflushed_range new = { xp_lba_n(lba), xp_lba_n(lba) + nr, number };
	u32 i = 0;

	while (i < u->nr) {
		const struct xp_unflushed_range *r = &u->range[i];

		if (!touches(r, &new)) {
			i++;
			continue;
		}
		new.first = min(new.first, r->first);
		new.end = max(new.end, r->end);
		unflushed_remove(u, i);
	}
	if (u->nr == XP_UNFLUSHED_MAX)
		u->all = number;
	else
		u->range[u->nr++] = new;
}

void unflushed_drop(struct xp_unflushed *u, u64 number)
{
	u32 i = 0;

	if (u->all <= number)
		u->all = 0;
	while (i < u->nr)
		if (u->range[i].number <= number)
			unflushed_remove(u, i);
		else
			i++;
}

u32 unflushed_gap(const struct xp_unflushed *u, xp_lba_t lba, u32 most)
{
	u64 at = xp_lba_n(lba);
	u32 i;

	if (u->all)
		return 0;
	for (i = 0; i < u->nr; i++) {
		const struct xp_unflushed_range *r = &u->range[i];

		if (at < r->end && r->first < at + most)
			most = r->first <= at ? 0 : (u32)(r->first - at);
	}
	return most;
}
