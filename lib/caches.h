/* SPDX-License-Identifier: GPL-2.0-only */
/* caches.h - all caches of this machine, found by the superblock on their fast devices. */
#ifndef XP_LIB_CACHES_H
#define XP_LIB_CACHES_H

#include "lib/device.h"
#include "lib/exit.h"
#include "lib/uuid.h"
#include "core/format.h"
#include "core/message.h"

#include <sys/types.h>

struct known;
struct running;

/* A cache that some fast device holds, running or not. */
struct cache {
	struct device fast;	/* closed */
	struct xp_sb sb;
	char name[XP_NAME_LEN], uuid[UUID_HEX];
	int err;		/* 0, or why the superblock was refused, */
	struct xp_message message;	/* in words */
	bool running;		/* it does, on this device or, of a copy, on another; or is detached */
	bool held;		/* by itself: it runs on this device */
	bool left_over;		/* cache_is_elsewhere(), and another device that is here has it */
	bool coming;		/* its superblock will be so when cache_arrive() has completed its move (moves.h) */
	dev_t left;		/* the device that it has left, and that says so still: cache_arrive(); 0: none is here */
};

struct caches {
	struct cache *v;
	size_t n;
};

int caches_scan(struct caches *all);
/* That one, and its copies; not a device of a move that is alone here (cache_is_elsewhere()). */
int caches_scan_for(const char *uuid, struct caches *all);
/* Does a device other than @fast hold it too? Perhaps that one has what is dirty. @path, of @len or 0, says which. */
bool caches_have_copy(const char *uuid, const struct device *fast, char *path, size_t len);
void caches_free(struct caches *all);
/* Is the cache on one of them? @damaged: also where no more of it can be read than that. Not: has it moved from there. */
bool caches_have(const struct caches *all, const char *uuid, bool damaged);
/* The same, on the device @fast? Also of a move that is to be completed. */
bool caches_have_on(const char *uuid, dev_t fast);
/* It is known, is on none of them, does not run, and its end has not begun. */
bool caches_lack(const struct caches *all, const struct known *k);
/* Reads the superblock of one device. As xp_sb_read(). */
int cache_read(struct cache *c, struct device *fast);
/* Complains if @d is the slow device of a cache, other than that on @but_fast. */
enum xc caches_check_slow(const struct device *d, dev_t but_fast);
/* The one called @name (or of that uuid) that does not run, on @fast if given; @slow, for advice: NULL if nobody has named it. */
enum xc caches_find_stopped(const char *name, const char *fast, const char *slow, struct cache *c);
/* The running one called @name; "/dev/mapper/NAME" and the uuid will do. */
enum xc caches_find_running(const char *name, struct running *r);
const char *cache_plain_name(const char *name);
enum xc cache_check_name(const char *name);	/* with a complaint */

#endif
