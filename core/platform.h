/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * platform.h - everything the core needs from the world it is compiled into.
 *
 * Need: fixed-width integers, little-endian conversion, memcpy/memset/memcmp,
 *       XXH64, CRC32C, one lock, atomic exchange, an assertion; strcmp, strcasecmp, snprintf (words, and
 *       the sentence that refuses them).
 *
 * This is the only file of core/ that may ask where it is compiled. What the
 * user-space object may import is listed in XP_PLATFORM_SYMBOLS below, which
 * tests/unit/symbols.sh compares with `nm -u`.
 *
 * XP_PLATFORM_SYMBOLS: memcpy memset memcmp memmove strcmp strcasecmp snprintf XXH64
 * XP_PLATFORM_SYMBOLS: pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock
 * XP_PLATFORM_SYMBOLS: xp_assert_failed __cpu_model _GLOBAL_OFFSET_TABLE_
 * On arm64 an exchange is a function of the compiler's, which asks the CPU for the better instruction:
 * XP_PLATFORM_SYMBOLS: getauxval __aarch64_cas4_acq_rel __aarch64_ldadd8_relax
 */
#ifndef XP_PLATFORM_H
#define XP_PLATFORM_H

#ifdef __KERNEL__

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

/* An index into the slow device, into the fast device, and a journal number
 * are three types: sparse refuses to mix them. */
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
#define XP_ASSERT(cond)		BUG_ON(!(cond))
#define XP_VERIFY(cond)		((void)0)	/* costs more than what it looks after */

/* For what is read or changed without the lock. Where the exchange succeeds nothing behind it is done
 * before its load, and nothing before it after its store: more is the kernel's, and nobody's to rely on, since
 * user space on arm64 has no more (docs/LOCKING.md, "What an exchange orders"). Else *@was is what is there, and
 * nothing is ordered. It is one instruction, or a loop of two that a plain store beside it breaks: where it is
 * emulated with a lock, that store would be lost. */
#define XP_READ_ONCE(x)			READ_ONCE(x)
#define XP_WRITE_ONCE(x, v)		WRITE_ONCE(x, v)
/* Of what the lock's holder writes by plain stores of a word: KCSAN is told that it is meant. */
#define XP_READ_RACY(x)			data_race(READ_ONCE(x))
#define xp_try_exchange(p, was, now)	try_cmpxchg(p, was, now)
#define xp_barrier()			smp_mb()	/* its caller says what with */
#define xp_write_barrier()		smp_wmb()	/* its caller says what with */

/* A counter that many processors count up. */
struct xp_counter {
	atomic64_t n;
} ____cacheline_aligned;

#define xp_count(k)		atomic64_inc(&(k)->n)
#define xp_counted(k)		((u64)atomic64_read(&(k)->n))
#define xp_processor()		raw_smp_processor_id()
#define XP_RACE_WINDOW()	((void)0)

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

#ifndef ENOTSUP
#define ENOTSUP			EOPNOTSUPP	/* the same number, as in libc */
#endif

#else /* user space */

#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

typedef struct { u64 n; } xp_lba_t;
typedef struct { u32 n; } xp_slot_t;
typedef struct { u64 n; } xp_seq_t;

#define XP_LBA(v)	((xp_lba_t){ (u64)(v) })
#define XP_SLOT(v)	((xp_slot_t){ (u32)(v) })
#define XP_SEQ(v)	((xp_seq_t){ (u64)(v) })
#define xp_lba_n(x)	((x).n)
#define xp_slot_n(x)	((x).n)
#define xp_seq_n(x)	((x).n)

struct xp_lock {
	pthread_mutex_t mutex;
};

#define xp_lock_init(l)	pthread_mutex_init(&(l)->mutex, NULL)
#define xp_lock(l)	pthread_mutex_lock(&(l)->mutex)
#define xp_unlock(l)	pthread_mutex_unlock(&(l)->mutex)

#define cpu_to_le16(x)	htole16(x)
#define cpu_to_le32(x)	htole32(x)
#define cpu_to_le64(x)	htole64(x)
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)

#define static_assert	_Static_assert
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#ifndef EUCLEAN
#define EUCLEAN 117
#endif

#define xp_xxh64(data, len)	XXH64(data, len, 0)
/* As the kernel's crc32c(): @crc goes in and comes out as it is, without an inversion. */
u32 xp_crc32c(u32 crc, const void *p, size_t len);
#if defined(__x86_64__)
#define xp_has_crc32c_instruction()	__builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__)
#include <sys/auxv.h>
#define xp_has_crc32c_instruction()	(getauxval(AT_HWCAP) & HWCAP_CRC32)
#endif
#define noinline		__attribute__((noinline))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define XP_READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define XP_WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define XP_READ_RACY(x)		XP_READ_ONCE(x)
#ifndef __SANITIZE_THREAD__
#define xp_try_exchange(p, was, now) \
	__atomic_compare_exchange_n(p, was, now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define xp_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define xp_write_barrier()	__atomic_thread_fence(__ATOMIC_RELEASE)
#else
/* It does not understand fences. What they order it is told, as if of one place. */
#include <sanitizer/tsan_interface.h>
__attribute__((weak)) char xp_tsan_place;

static inline bool xp_try_exchange(u32 *p, u32 *was, u32 now)
{
	__tsan_release(&xp_tsan_place);
	if (!__atomic_compare_exchange_n(p, was, now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	__tsan_acquire(&xp_tsan_place);
	return true;
}

static inline void xp_barrier(void)
{
	__tsan_release(&xp_tsan_place);
	__tsan_acquire(&xp_tsan_place);
}

static inline void xp_write_barrier(void)
{
	__tsan_release(&xp_tsan_place);
}
#endif

struct xp_counter {
	u64 n;
} __attribute__((aligned(64)));

#define xp_count(k)	((void)__atomic_fetch_add(&(k)->n, 1, __ATOMIC_RELAXED))
#define xp_counted(k)	XP_READ_ONCE((k)->n)
#define xp_processor()	0u

/* Where others may come in between; a test makes sure that they do. */
#ifndef XP_RACE_WINDOW
#define XP_RACE_WINDOW()	((void)0)
#endif

/* One thread counts it up, others may read. */
#define xp_local_read(l)	XP_READ_ONCE(*(l))
#define xp_local_add(l, v)	XP_WRITE_ONCE(*(l), *(l) + (v))

static inline bool xp_local_exchange(u64 *l, u64 *was, u64 now)
{
	(void)was;	/* nobody else writes */
	XP_WRITE_ONCE(*l, now);
	return true;
}


/* Supplied by the program: prints and aborts. */
void xp_assert_failed(const char *what, const char *file, int line)
	__attribute__((noreturn));
#define XP_ASSERT(cond) \
	((cond) ? (void)0 : xp_assert_failed(#cond, __FILE__, __LINE__))
#define XP_VERIFY(cond)		XP_ASSERT(cond)

#endif /* __KERNEL__ */

/* Both worlds: CRC32C of eight bytes by the CPU, the lowest of @word first. Where there is no such instruction,
 * xp_has_crc32c_instruction is not defined. */
#if defined(__x86_64__)
static inline u64 xp_crc32c_word(u64 crc, u64 word)
{
	asm("crc32q %1, %0" : "+r" (crc) : "rm" (word));
	return crc;
}
#elif defined(__aarch64__)
static inline u64 xp_crc32c_word(u64 crc, u64 word)
{
	u32 sum = (u32)crc;

	asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r" (sum) : "r" (word));
	return sum;
}
#endif

#endif /* XP_PLATFORM_H */
