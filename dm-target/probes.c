// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - which form of an interface this kernel has, where kernels differ. Compiled once for
 * each PROBE_ and for its errors only: what compiles becomes a HAS_ in has.h (Kbuild). A kernel's
 * version is not asked, it says little where interfaces are backported. What is done with the
 * answers is in kernel.h, of the core's in crc32c.h; without what must be there at all
 * needs.c does not compile.
 */
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

#ifdef PROBE_WQ_PERCPU		/* before 6.17 what a workqueue was that is not WQ_UNBOUND */
#include <linux/workqueue.h>
static unsigned int __maybe_unused probe(void) { return WQ_PERCPU; }
#endif
