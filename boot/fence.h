/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fence.h - the slow device of a cache is kept for it: udev asks for each disk that comes whether it is one,
 * and gives it no names and no readers if so (boot/59-xpcache.rules).
 */
#ifndef XP_BOOT_FENCE_H
#define XP_BOOT_FENCE_H

#include "lib/exit.h"

#include <sys/types.h>

struct device;
struct options;

/* Lets go of the slow device, for the start of its cache. For fence_again(), if that fails. */
dev_t fence_lift(const char *uuid);
/* Ends the lock of known_lock(): whom udev has told meanwhile that it is kept asks again. */
void fence_again(const char *uuid, dev_t slow, int lock);
/* Lets go of it until the next boot, before and after. */
enum xc fence_open(const char *uuid);
void fence_opened(const char *uuid, dev_t slow);
/* The cache is to be no more: forgets it, and lets its slow device go (0: it is looked for). */
enum xc fence_end(const char *uuid, dev_t slow);
/* Complains if it is the slow device of a cache that this machine knows, other than @but. */
enum xc fence_check(const struct device *slow, const char *but);
/* Lets go of what is kept for caches that are not known, by an initramfs older than their end. One
 * that is here and would lose something has only lost its record: it is noted again. */
void fence_end_unknown(void);
/* Lets udev look at a slow device and its partitions again. */
void fence_changed(dev_t slow);
enum xc fence_run(struct options *opt);
enum xc forget_run(struct options *opt);

#endif
