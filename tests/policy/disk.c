// SPDX-License-Identifier: GPL-2.0-only
/* disk.c - a model of a disk: seeks and transfers, no queue. The mean of the rotation, so that no luck is in it. */
#include <math.h>
#include "disk.h"

#define ARM_NS		1000000.0
#define STROKE_NS	9000000.0
#define HALF_TURN_NS	4150000.0
#define NS_A_SECTOR	(512 / .150)

u64 disk_ns(struct disk *d, u64 sector, u64 nr_sectors)
{
	double ns = NS_A_SECTOR * (double)nr_sectors;

	if (sector != d->at) {
		u64 distance = sector > d->at ? sector - d->at : d->at - sector;

		ns += ARM_NS + HALF_TURN_NS + STROKE_NS * sqrt((double)distance / (double)d->sectors);
		d->seeks++;
	}
	d->at = sector + nr_sectors;
	return (u64)ns;
}
