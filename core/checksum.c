// SPDX-License-Identifier: GPL-2.0-only
/*
 * checksum.c - of journal blocks, and of a block that is written beside its record.
 *
 * A sync waits for both, so it is the quickest that CPUs have: CRC32C, which is
 * an instruction on x86. Two of them, of the even and of the odd 64-bit words: they
 * do not wait for each other. What has not landed is whole sectors, which are in both:
 * what was there before passes for new once in 2^64; once in 2^32 if it differs in
 * words of one kind only.
 */
#include "xpcache.h"

#ifdef XP_CRC32C_INSTRUCTION
#define AT_ONCE	32u

static u64 by_instruction(const u64 *w, u32 words)
{
	u64 even = ~0u, odd = ~0u;
	u32 i;

	for (; words >= AT_ONCE; words -= AT_ONCE, w += AT_ONCE) {
#pragma GCC unroll 16
		for (i = 0; i < AT_ONCE; i += 2) {
			even = xp_crc32c_word(even, w[i]);
			odd = xp_crc32c_word(odd, w[i + 1]);
		}
	}
	for (; words >= 2; words -= 2, w += 2) {
		even = xp_crc32c_word(even, w[0]);
		odd = xp_crc32c_word(odd, w[1]);
	}
	if (words)
		even = xp_crc32c_word(even, w[0]);
	return odd << 32 | even;
}
#endif

static u64 by_table(const u64 *w, u32 words)
{
	u32 crc[2] = { ~0u, ~0u }, i;

	for (i = 0; i < words; i++)
		crc[i % 2] = xp_crc32c(crc[i % 2], &w[i], sizeof(*w));
	return (u64)crc[1] << 32 | crc[0];
}

u64 xp_checksum(const void *data, u32 bytes)
{
	XP_ASSERT(bytes % sizeof(u64) == 0);
#ifdef XP_CRC32C_INSTRUCTION
	if (xp_has_crc32c_instruction())
		return by_instruction(data, bytes / sizeof(u64));
#endif
	return by_table(data, bytes / sizeof(u64));
}
