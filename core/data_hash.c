// SPDX-License-Identifier: GPL-2.0-only
/*
 * data_hash.c - the checksum of a block that is written beside its record.
 *
 * The record waits for it, so it is the quickest that CPUs have: CRC32C, which is
 * an instruction on x86. Two of them, of the even and of the odd 64-bit words: they
 * do not wait for each other. What has not landed is whole sectors, which are in both:
 * what a slot held before passes for new once in 2^64; once in 2^32 if it differs in
 * words of one kind only.
 */
#include "xpcache.h"

#define WORDS	(XP_BLOCK_SIZE / sizeof(u64))

#ifdef XP_CRC32C_INSTRUCTION
static u64 hash_by_instruction(const u64 *w)
{
	u64 even = ~0u, odd = ~0u;
	u32 i, j;

	for (i = 0; i < WORDS; i += 32) {
#pragma GCC unroll 16
		for (j = 0; j < 32; j += 2) {
			even = xp_crc32c_word(even, w[i + j]);
			odd = xp_crc32c_word(odd, w[i + j + 1]);
		}
	}
	return odd << 32 | even;
}
#endif

static u64 hash_by_table(const u64 *w)
{
	u32 even = ~0u, odd = ~0u, i;

	for (i = 0; i < WORDS; i += 2) {
		even = xp_crc32c(even, &w[i], sizeof(*w));
		odd = xp_crc32c(odd, &w[i + 1], sizeof(*w));
	}
	return (u64)odd << 32 | even;
}

u64 xp_data_hash(const void *block)
{
#ifdef XP_CRC32C_INSTRUCTION
	if (xp_has_crc32c_instruction())
		return hash_by_instruction(block);
#endif
	return hash_by_table(block);
}
