/* SPDX-License-Identifier: GPL-2.0-only */
/* device_tree.h - the block devices there are, and what they are made of. */
#ifndef XP_LIB_DEVICE_TREE_H
#define XP_LIB_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct device;

/* A disk that it is of, or made of, is behind USB, and says that it has no volatile cache: many of those bridges say so of
 * every disk. @disk: its "/dev/sdb". */
bool device_hides_cache(const struct device *d, char *disk, size_t len);
/* False: it is gone, though somebody may have it open still. */
bool device_here(dev_t dev);
/* Calls @fn for every partition that the kernel shows of a disk; stops at a non-zero result. */
int device_each_partition(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/* The same for every device that it is made of; that is made of it. */
int device_each_below(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
int device_each_above(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/*
 * Is it @dev, or a partition of it, or made of it, as far as device mapper, md and loop devices go? @unsure: a loop device
 * whose file is on what cannot be told (btrfs, overlayfs) counts.
 */
bool device_is_made_of(const struct device *d, dev_t dev, bool unsure);
/* It, or what it is made of: who reads waits until somebody resumes that. */
bool device_is_suspended(const char *kname);
/* Calls @fn for every block device that holds something; stops at a non-zero result. */
int device_each(int (*fn)(const char *kname, void *ctx), void *ctx);

#endif
