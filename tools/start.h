/* SPDX-License-Identifier: GPL-2.0-only */
/* start.h - a cache at rest runs again. */
#ifndef XP_TOOLS_START_H
#define XP_TOOLS_START_H

#include "lib/exit.h"

struct cache;
struct options;

/* Starts the cache @c; its slow device is looked for, or @opt->slow. */
enum xc start_cache(struct cache *c, const struct options *opt);
/* Starts the known ones that are to start by themselves, as their devices come. */
enum xc start_at_boot(const struct options *opt);

#endif
