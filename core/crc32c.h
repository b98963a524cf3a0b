/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crc32c.h - CRC32C, by the instruction of the CPU where it has one.
 *
 * xp_crc32c() is the kernel's crc32c(): @crc goes in and comes out as it is, without an inversion.
 */
#ifndef XP_CRC32C_H
#define XP_CRC32C_H

#include "platform.h"

#ifdef __KERNEL__
#include <linux/crc32.h>
#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#include <asm/cpufeature.h>
#endif
#include "has.h"	/* what this kernel has: dm-target/probes.c */

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
#else
u32 xp_crc32c(u32 crc, const void *p, size_t len);
#if defined(__x86_64__)
#define xp_has_crc32c_instruction()	__builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__)
#include <sys/auxv.h>
#define xp_has_crc32c_instruction()	(getauxval(AT_HWCAP) & HWCAP_CRC32)
#endif
#endif

/* CRC32C of eight bytes by the CPU, the lowest of @word first. Where there is no such instruction,
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

#endif /* XP_CRC32C_H */
