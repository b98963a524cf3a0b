/* SPDX-License-Identifier: GPL-2.0-only */
/* platform_user.h - what platform.h lists, in user space. Include platform.h. */
#ifndef XP_PLATFORM_USER_H
#define XP_PLATFORM_USER_H

#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif
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
#define xp_stores_depend()	((void)0)
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

static inline void xp_stores_depend(void)
{
	__tsan_acquire(&xp_tsan_place);
}
#endif

/* Where others may come in between; a test makes sure that they do. */
#ifndef XP_RACE_WINDOW
#define XP_RACE_WINDOW()	((void)0)
#endif

/* Supplied by the program: prints and aborts. */
void xp_assert_failed(const char *what, const char *file, int line)
	__attribute__((noreturn));
#define XP_ASSERT(cond) \
	((cond) ? (void)0 : xp_assert_failed(#cond, __FILE__, __LINE__))
#define XP_VERIFY(cond)		XP_ASSERT(cond)

/* A counter that many threads count up. */
struct xp_counter {
	u64 n;
} __attribute__((aligned(64)));

#define xp_count_many(k, v)	((void)__atomic_fetch_add(&(k)->n, v, __ATOMIC_RELAXED))
#define xp_counted(k)	XP_READ_ONCE((k)->n)
#define xp_processor()	0u

/* One thread counts it up, others may read. */
#define xp_local_read(l)	XP_READ_ONCE(*(l))
#define xp_local_add(l, v)	XP_WRITE_ONCE(*(l), *(l) + (v))

static inline bool xp_local_exchange(u64 *l, u64 *was, u64 now)
{
	(void)was;	/* nobody else writes */
	XP_WRITE_ONCE(*l, now);
	return true;
}

/* crc32c.c */
u32 xp_crc32c(u32 crc, const void *p, size_t len);
#if defined(__x86_64__)
#define xp_has_crc32c_instruction()	__builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__)
#define xp_has_crc32c_instruction()	(getauxval(AT_HWCAP) & HWCAP_CRC32)
#endif

#endif /* XP_PLATFORM_USER_H */
