/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * platform.h - everything the core needs from the world it is compiled into.
 *
 * Need: fixed-width integers, little-endian conversion, memcpy/memset/memcmp,
 *       XXH64, CRC32C, one lock, atomic exchange, counters, an assertion; strcmp, strcasecmp,
 *       snprintf (words, and the sentence that refuses them).
 *
 * Only this file may ask where it is compiled. What the
 * user-space object may import is listed in XP_PLATFORM_SYMBOLS below, which
 * tests/unit/symbols.sh compares with `nm -u`.
 *
 * XP_PLATFORM_SYMBOLS: memcpy memset memcmp memmove strcmp strcasecmp snprintf XXH64
 * XP_PLATFORM_SYMBOLS: pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock
 * XP_PLATFORM_SYMBOLS: xp_assert_failed __cpu_model _GLOBAL_OFFSET_TABLE_
 * On arm64 an exchange is a function of the compiler's, which asks the CPU for the better
 * instruction:
 * XP_PLATFORM_SYMBOLS: getauxval __aarch64_cas4_acq_rel __aarch64_ldadd8_relax
 */
#ifndef XP_PLATFORM_H
#define XP_PLATFORM_H

/*
 * xp_try_exchange(), for what is read or changed without the lock: where it succeeds, no later
 * access is done before its load, and no earlier access after its store. The kernel orders more,
 * user space on arm64 does not (docs/LOCKING.md, "What an exchange orders"). Where it fails, *@was
 * is the value found, and nothing is ordered. It is one instruction, or a loop of two that a plain
 * store beside it breaks: where it is emulated with a lock, that store would be lost.
 *
 * xp_stores_depend() orders nothing. It stands where a look without the lock decides whether the stores
 * behind it are done at all: no processor does them before that look. ThreadSanitizer is told.
 */

/*
 * struct xp_counter is a counter that many processors count up without a lock: xp_count_many() counts
 * some events, and orders nothing. xp_local_*() are for a u64 that one processor or thread changes and
 * others may read.
 *
 * xp_crc32c() is the kernel's crc32c(): @crc goes in and comes out as it is, without an inversion.
 * Where the CPU has no instruction for it (crc32c.h), xp_has_crc32c_instruction is not defined.
 */

#ifdef __KERNEL__
#include "platform_kernel.h"
#else
#include "platform_user.h"
#endif

#endif /* XP_PLATFORM_H */
