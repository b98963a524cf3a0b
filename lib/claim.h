/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * claim.h - may this device be taken? Mounted, swap, part of another device, read-only; a file: behind a loop device.
 */
#ifndef XP_LIB_CLAIM_H
#define XP_LIB_CLAIM_H

#include "lib/exit.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct device;

/* Complains if it is mounted, swap, part of another device, or read-only. */
enum xc claim_check(const struct device *d);
/* Complains of a device that no cache can use, as fast or slow: zoned, or with sectors larger than a block. */
enum xc claim_kind(const struct device *d);
/* Who has the device open: "mounted at /x"; false: nobody that can be named. */
bool claim_holder(const char *kname, char *who, size_t len);
/* The same of a running cache, but its partitions, which have it open whether used or not. */
bool claim_user(const char *kname, char *who, size_t len);
/* The same of it and its partitions. */
bool claim_held(const struct device *d, char *who, size_t len);
/* Which other program has it open, "open by dd, pid 1234"; takes a look at every process. */
bool claim_opener(const struct device *d, char *who, size_t len);
/* Complains if another program has it, or a partition of it, open and keeps it so. */
enum xc claim_closed(const struct device *d);
/* Which loop device shows this file, "behind /dev/loop0". */
bool claim_loop(dev_t dev, ino_t ino, char *who, size_t len);

#endif
