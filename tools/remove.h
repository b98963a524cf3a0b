/* SPDX-License-Identifier: GPL-2.0-only */
/* remove.h - remove: every dirty block goes home, then there is no cache any more. */
#ifndef XP_TOOLS_REMOVE_H
#define XP_TOOLS_REMOVE_H

#include "lib/exit.h"

#include <stdbool.h>

struct cache;

/* Takes the superblocks of a cache that has nothing dirty; else refuses. @copied: another device holds it too, so
 * that it stays known. */
enum xc erase_stopped(const struct cache *c, const char *slow, bool copied);

#endif
