/* SPDX-License-Identifier: GPL-2.0-only */
/* sysfs.h - what sysfs says of a block device. */
#ifndef XP_LIB_SYSFS_H
#define XP_LIB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#define SYSFS_BLOCK	"/sys/class/block"

/* One line of /sys/class/block/@kname/@attr, trimmed, and as xp_words_clean() has it; false: there is none. */
bool sysfs_read(const char *kname, const char *attr, char *buf, size_t len);
/* The same as it is: a path to be opened, and not to be shown. */
bool sysfs_path(const char *kname, const char *attr, char *buf, size_t len);

#endif
