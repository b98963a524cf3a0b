/* SPDX-License-Identifier: GPL-2.0-only */
/* slow_find.h - the slow device of a cache that does not run: which of those that are here it is. */
#ifndef XP_LIB_SLOW_FIND_H
#define XP_LIB_SLOW_FIND_H

#include "lib/exit.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cache;
struct device;
struct xp_sb_slow;

/* The slow device as it is @named (or NULL), or the only one that it can be. */
bool slow_known(const struct cache *c, const char *named, char *path, size_t len);
/* Complains if the two are on one disk, or the slow one is in use. */
enum xc slow_check_free(const struct device *fast, const struct device *slow);
/* Its slow device, found by what is known of it; complains. */
enum xc slow_find(const struct cache *c, struct device *slow);
/* The first that is here with this identity, other than @but (0: any), that udev has @seen if so: 1, 0, or -errno. */
int slow_first(const struct xp_sb_slow *was, dev_t but, bool seen, dev_t *dev);
/* The device that is its slow one; 0: it is not here yet. */
dev_t slow_of(const struct cache *c);

#endif
