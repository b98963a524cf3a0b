/* SPDX-License-Identifier: GPL-2.0-only */
/* slow_named.h - the slow device that the user names for a cache: what is known of it must agree. */
#ifndef XP_TOOLS_GUARD_SLOW_NAMED_H
#define XP_TOOLS_GUARD_SLOW_NAMED_H

#include "lib/exit.h"

#include <stdbool.h>
#include <stddef.h>

struct cache;
struct device;
struct options;

/* The one that the user has named, if it is that of the cache: else complains. @remote: an NBD URI will do. */
enum xc slow_named(const struct cache *c, const struct options *opt, bool remote, struct device *slow);
/* Whether that is the slow device of @c, of this size or another, by all that is known of it; else @why. */
bool slow_same(const struct cache *c, const struct device *slow, char *why, size_t len);

#endif
