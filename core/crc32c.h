/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crc32c.h - CRC32C, by the instruction of the CPU where it has one. What else computes it is in
 * platform.h.
 */
#ifndef XP_CRC32C_H
#define XP_CRC32C_H

#include "platform.h"

/*
 * CRC32C of eight bytes by the CPU, the lowest of @word first. Where there is no such instruction,
 * xp_has_crc32c_instruction is not defined.
 */
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
