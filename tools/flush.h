/* SPDX-License-Identifier: GPL-2.0-only */
/* flush.h - flush: every dirty block goes home, of a cache that runs or of one at rest. */
#ifndef XP_TOOLS_FLUSH_H
#define XP_TOOLS_FLUSH_H

#include "lib/exit.h"

struct cache;
struct options;

/* Every dirty block of the cache @c at rest goes home, by a daemon; it rests in order after that. */
enum xc flush_stopped(struct cache *c, const struct options *opt);

#endif
