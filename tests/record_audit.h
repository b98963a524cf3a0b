/* SPDX-License-Identifier: GPL-2.0-only */
/* record_audit.h - is what a cache counts of its live records what its slots say? For tests, with nobody at work. */
#ifndef TEST_RECORD_AUDIT_H
#define TEST_RECORD_AUDIT_H

#include <stdlib.h>
#include "badblocks.h"
#include "journal.h"

static inline bool record_behind_tail(const struct xp *c, u32 slot)
{
	const struct xp_journal *j = &c->journal;
	u32 nr;
	u64 first = record_first_of(c, XP_SLOT(slot), number_after(c, j->sealed_number), &nr);

	return first + nr > j->tail;
}

/* NULL, or what is wrong. */
static inline const char *record_audit(const struct xp *c)
{
	u32 *live = calloc(c->journal.nr_segments, sizeof(*live)), i;
	const char *wrong = NULL;

	for (i = 0; i < c->nr_slots; i++) {
		bool lives = record_lives(c, XP_SLOT(i)) && c->entry[i].state != SLOT_FILLING &&
			     c->entry[i].state != SLOT_CANCELLED;

		if (c->entry[i].state == SLOT_MAPPED && !lives)
			wrong = "a mapped slot has no live record";
		if (!lives)
			continue;
		live[c->segment[i]]++;
		if (!record_behind_tail(c, i))
			wrong = "the tail has passed a live record";
	}
	if (memcmp(live, c->journal.live, c->journal.nr_segments * sizeof(*live)))
		wrong = "the counts of live records are not those of the slots";
	free(live);
	return wrong;
}

#endif
