/* SPDX-License-Identifier: GPL-2.0-only */
/* resize.h - a device of a cache has grown or shrunk. */
#ifndef XP_TOOLS_RESIZE_H
#define XP_TOOLS_RESIZE_H

#include "lib/exit.h"

struct cache;
struct device;
struct options;
struct running;

/* Refuses a slow device that dirty blocks reach past the end of; with opt->discard_dirty the cache forgets all it has.
 * The fast device must be free. */
enum xc slow_fits(const struct cache *c, const struct device *slow, const struct options *opt);
/* A cache of the kernel's engine that runs; @slow is longer than its table. Complains. Under sleep_lock(). */
enum xc resize_in_kernel(const struct running *r, const struct device *slow);
/* A cache that does not run, whose fast device may have grown: opt->arg or opt->fast says which. Complains. */
enum xc resize_stopped(const struct options *opt);
/* Of a cache that runs, as cache_read() has it: says so if the fast device has more room than the cache takes. */
void fast_tell_grown(const struct cache *c, const char *name, const char *slow);

#endif
