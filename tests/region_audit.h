/* SPDX-License-Identifier: GPL-2.0-only */
/* region_audit.h - does each region count the slots of it that are in the hash? For tests, with nobody at work. */
#ifndef TEST_REGION_AUDIT_H
#define TEST_REGION_AUDIT_H

#include <stdlib.h>
#include "map.h"

/* NULL, or what is wrong. A count that has come to its end says nothing. */
static inline const char *region_audit(const struct xp *c)
{
	u32 *nr = calloc(c->nr_regions, sizeof(*nr)), i, slot;
	const char *wrong = NULL;

	for (i = 0; i < c->nr_buckets; i++)
		for (slot = c->bucket[i]; slot != XP_NIL; slot = c->entry[slot].hash_next)
			nr[map_region(c, xp_lba_n(entry_lba(&c->entry[slot])))]++;
	for (i = 0; i < c->nr_regions; i++)
		if (c->region[i] != XP_REGION_FULL && c->region[i] != nr[i])
			wrong = "a region does not count its slots";
	free(nr);
	return wrong;
}

#endif
