// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - finds which form of an interface this kernel has. It is compiled once for each
 * PROBE_: a probe that compiles becomes a HAS_ in has.h (Kbuild). The version of a kernel says
 * little, since interfaces are backported. kernel.h uses the answers, and crc32c.h for the
 * core. Interfaces that every kernel must have are in needs.c.
 */
#include "platform.h"

#include <linux/types.h>

#ifdef PROBE_CRC32C_LE		/* until 6.14; then crc32c(), which before was a module with a lookup */
#include <linux/crc32.h>
static u32 __maybe_unused probe(const u8 *p) { return __crc32c_le(0, p, 8); }
#endif

#ifdef PROBE_BDEV_ROT		/* until 7.0 bdev_nonrot(), its opposite */
#include <linux/blkdev.h>
static bool __maybe_unused probe(struct block_device *b) { return bdev_rot(b); }
#endif

#ifdef PROBE_SNAPSHOT_ID	/* until 7.1 ktime_get_snapshot(), of all clocks */
#include <linux/timekeeping.h>
static void __maybe_unused probe(struct system_time_snapshot *s) { ktime_get_snapshot_id(CLOCK_MONOTONIC, s); }
#endif

#ifdef PROBE_BVEC_DONE		/* until 7.2; then the same has another name */
#include <linux/bvec.h>
static unsigned int __maybe_unused probe(const struct bvec_iter *iter) { return iter->bi_bvec_done; }
#endif

#ifdef PROBE_WQ_PERCPU		/* before 6.17 what a workqueue was that is not WQ_UNBOUND */
#include <linux/workqueue.h>
static unsigned int __maybe_unused probe(void) { return WQ_PERCPU; }
#endif
