/* SPDX-License-Identifier: GPL-2.0-only */
/* awake.h - one cache wakes: its device leads to the cache again, which begins with nothing. */
#ifndef XP_TOOLS_HIBERNATE_AWAKE_H
#define XP_TOOLS_HIBERNATE_AWAKE_H

#include "lib/exit.h"

#include <stddef.h>

struct cache;
struct device;
struct options;
struct running;
struct xp_end;
struct xp_sb;

/* A device that a killed hibernate has left suspended goes on; *@r: as it is then. Not what others have
 * suspended. */
enum xc sleep_mend(struct running *r);
/* Could it be attached now, with the superblock @sb? Complains of what wake() would refuse, as far as can be seen. */
enum xc wake_check(const struct running *r, const struct xp_sb *sb);
/* Complains. */
enum xc wake(const struct running *r, const struct options *opt);
enum xc say_not_awake(const struct running *r, const struct cache *c, int err);
/* What a killed hibernate has left, with the lock. One that is suspended still keeps whoever looks for a
 * disk waiting: then none is woken. */
enum xc mend_all(struct running *list, size_t n);
/* The end of the journal of a cache that has nothing. -ESTALE: it has. */
int end_of_empty(const struct device *fast, struct xp_end *end);

#endif
