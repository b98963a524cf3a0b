/* SPDX-License-Identifier: GPL-2.0-only */
/* disk.h - the time that a disk with one arm takes, as tests/policy counts it. */
#ifndef POLICY_DISK_H
#define POLICY_DISK_H

#include "xpcache.h"

struct disk {
	u64 sectors;
	u64 at;			/* where the last request ended */
	u64 seeks;
};

/*
 * ns of a request: its bytes at 150 MB/s, and unless it begins where the last one ended 1 ms + 9 ms x sqrt(distance /
 * size) of the arm and half a turn of 8.3 ms.
 */
u64 disk_ns(struct disk *d, u64 sector, u64 nr_sectors);

#endif
