/* SPDX-License-Identifier: GPL-2.0-only */
/* platform_kernel.h - what platform.h lists, in the kernel. Include platform.h. */
#ifndef XP_PLATFORM_KERNEL_H
#define XP_PLATFORM_KERNEL_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/xxhash.h>
#include <asm/byteorder.h>
#include <asm/local64.h>
#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#include <asm/cpufeature.h>
#endif

#include "has.h"	/* what this kernel has: dm-target/probes.c */

/*
 * An index into the slow device, into the fast device, and a journal number
 * are three types: sparse refuses to mix them.
 */
typedef u64 __bitwise xp_lba_t;		/* 4 KiB block of the slow device */
typedef u32 __bitwise xp_slot_t;	/* 4 KiB block of the fast device's data area */
typedef u64 __bitwise xp_seq_t;		/* journal block, counted from 1 */

#define XP_LBA(n)	((__force xp_lba_t)(u64)(n))
#define XP_SLOT(n)	((__force xp_slot_t)(u32)(n))
#define XP_SEQ(n)	((__force xp_seq_t)(u64)(n))
#define xp_lba_n(x)	((__force u64)(x))
#define xp_slot_n(x)	((__force u32)(x))
#define xp_seq_n(x)	((__force u64)(x))

/* Taken from completion context too, so interrupts are off while it is held. */
struct xp_lock {
	spinlock_t spin;
	unsigned long flags;	/* of the holder; written under the lock */
};

static inline void xp_lock_init(struct xp_lock *l)
{
	spin_lock_init(&l->spin);
}

static inline void xp_lock(struct xp_lock *l)
{
	unsigned long flags;

	spin_lock_irqsave(&l->spin, flags);
	l->flags = flags;
}

static inline void xp_unlock(struct xp_lock *l)
{
	spin_unlock_irqrestore(&l->spin, l->flags);
}

#define xp_xxh64(data, len)	xxh64(data, len, 0)
#define XP_ASSERT(cond)		BUG_ON(!(cond))
#define XP_VERIFY(cond)		((void)0)	/* costs more than what it looks after */

/* For what is read or changed without the lock; platform.h says what they order. */
#define XP_READ_ONCE(x)			READ_ONCE(x)
#define XP_WRITE_ONCE(x, v)		WRITE_ONCE(x, v)
/* Of what the lock's holder writes by plain stores of a word: KCSAN is told that it is meant. */
#define XP_READ_RACY(x)			data_race(READ_ONCE(x))
#define xp_try_exchange(p, was, now)	try_cmpxchg(p, was, now)
#define xp_barrier()			smp_mb()	/* its caller says what with */
#define xp_write_barrier()		smp_wmb()	/* its caller says what with */
#define xp_stores_depend()		((void)0)

#define XP_RACE_WINDOW()	((void)0)

#ifndef ENOTSUP
#define ENOTSUP			EOPNOTSUPP	/* the same number, as in libc */
#endif

/* A counter that many processors count up. */
struct xp_counter {
	atomic64_t n;
} ____cacheline_aligned;

#define xp_count_many(k, v)	atomic64_add(v, &(k)->n)
#define xp_counted(k)		((u64)atomic64_read(&(k)->n))
#define xp_processor()		raw_smp_processor_id()

/* A u64 that one processor counts up, in interrupts too. The exchange orders nothing. */
static_assert(sizeof(local64_t) == sizeof(u64));

#define xp_local(l)		((local64_t *)(l))
#define xp_local_read(l)	((u64)local64_read(xp_local(l)))
#define xp_local_add(l, v)	local64_add(v, xp_local(l))

static inline bool xp_local_exchange(u64 *l, u64 *was, u64 now)
{
	u64 found = (u64)local64_cmpxchg(xp_local(l), *was, now), expected = *was;

	*was = found;
	return found == expected;
}

#ifdef HAS_CRC32C_LE
#define xp_crc32c(crc, p, len)	__crc32c_le(crc, (const u8 *)(p), len)
#else
#define xp_crc32c(crc, p, len)	crc32c(crc, p, len)
#endif
#if defined(CONFIG_X86_64)
#define xp_has_crc32c_instruction()	cpu_feature_enabled(X86_FEATURE_XMM4_2)
#elif defined(CONFIG_ARM64)
#define xp_has_crc32c_instruction()	cpus_have_cap(ARM64_HAS_CRC32)
#endif

#endif /* XP_PLATFORM_KERNEL_H */
