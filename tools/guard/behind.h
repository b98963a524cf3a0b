/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * behind.h - was the slow device written while the cache did not run? A live system that mounted it, another
 * machine: what the cache holds then is of another time than what is around it.
 */
#ifndef XP_TOOLS_GUARD_BEHIND_H
#define XP_TOOLS_GUARD_BEHIND_H

#include "lib/exit.h"
#include "platform.h"

struct cache;
struct device;
struct offline;
struct options;

/* Complains if the slow device was written since @c came to rest, and @opt does not say what is to
 * become of its dirty blocks. When it returns 0 the cache may start: what it had clean is dropped
 * if the disk is another. */
enum xc behind_check(const struct cache *c, const char *slow_path, const struct options *opt, u64 doubt);
/* Of a slow device of another size that says nothing of itself: does more speak for it than against it, of what was noted
 * at the last rest and of what the cache has clean? */
bool behind_recognises(const struct cache *c, const char *slow_path);
/* The same look alone, of a cache that offline_look() has: @what was written, "": nothing. -errno. */
int behind_tells(const struct offline *o, const char *slow_path, u64 doubt, char *what, size_t len);
/* Takes all that is clean from a cache at rest, so that who starts it later finds nothing. */
enum xc behind_empty(const struct cache *c);
/* Before all that asks for the fingerprint: a cache that has nothing and no fingerprint gets one.
 * That is the first start of one that was made while its disk was in use. */
void behind_note_first(const struct cache *c, const char *slow_path);
/* Of who was killed, for a moment. */
void wait_until_free(const struct device *d);

#endif
