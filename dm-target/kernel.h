/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - one form of the interfaces that differ between kernels. probes.c finds which
 * form this kernel has. Those of the core are in crc32c.h.
 */
#ifndef XS_KERNEL_H
#define XS_KERNEL_H

#include <linux/blkdev.h>
#include <linux/bvec.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "has.h"
#include "platform.h"

/* A disk with seek times. */
static inline bool xs_rotational(struct block_device *bdev)
{
#ifdef HAS_BDEV_ROT
	return bdev_rot(bdev);
#else
	return !bdev_nonrot(bdev);
#endif
}

/* The counter of the kernel's clock, now. */
static inline u64 xs_clocksource_cycles(void)
{
	struct system_time_snapshot now;

#ifdef HAS_SNAPSHOT_ID
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &now);
#else
	ktime_get_snapshot(&now);
#endif
	return now.cycles;
}

/* How far the iterator has come in its current vector. */
static inline unsigned int xs_bvec_done(const struct bvec_iter *iter)
{
#ifdef HAS_BVEC_DONE
	return iter->bi_bvec_done;
#else
	return iter->bi_offset;
#endif
}

/* Of a workqueue: work is done by the processor that queued it. */
#ifdef HAS_WQ_PERCPU
#define XS_WQ_PERCPU	WQ_PERCPU
#else
#define XS_WQ_PERCPU	0
#endif

#endif
