/* SPDX-License-Identifier: GPL-2.0-only */
/* stop.h - stop: the cache rests; its dirty blocks stay on the fast device. */
#ifndef XP_TOOLS_STOP_H
#define XP_TOOLS_STOP_H

#include "lib/exit.h"

struct options;
struct running;

/* Complains if the running cache is open. */
enum xc stop_check(const struct running *r);
/* Stops it, or complains: of who uses it, and unless forced of what would be lost. Under sleep_lock(),
 * but for a cache of xpcached. */
enum xc stop_locked(const char *name, const struct options *opt);

#endif
