/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * restore.h - hibernate --resume, in the initramfs, before a cache starts: the memory of the system that sleeps
 * comes back, if the caches that slept with it have slept on.
 */
#ifndef XP_TOOLS_HIBERNATE_RESTORE_H
#define XP_TOOLS_HIBERNATE_RESTORE_H

#include "lib/exit.h"

#include <sys/types.h>

struct cache;
struct options;

/* Before the cache starts on @slow (0: not known): the memory of a system that hibernates is here,
 * which slept with it, and must never come back then. Complains; --boot and --force erase it. */
enum xc sleep_no_image(const struct cache *c, dev_t slow, const struct options *opt);
/* hibernate --resume: returns if no memory was restored. @spec: where the system's image is, or NULL. */
enum xc image_resume(const char *spec);
/* Of a swap that the next boot does not see when it looks: complains if no memory will be restored from there. */
enum xc image_not_seen(const char *spec);

#endif
