// SPDX-License-Identifier: GPL-2.0-only
/*
 * checksum.c - of journal blocks, and of a block that is written by a parallel commit.
 *
 * A sync waits for both, so it is the quickest that CPUs have: CRC32C, which is
 * an instruction on x86 and arm64. Two of them, of the even and of the odd 64-bit words: they
 * do not wait for each other. What has not landed is whole sectors, which are in both:
 * what was there before passes for new once in 2^64; once in 2^32 if it differs in
 * words of one kind only, or where memory has landed but for 8 bytes.
 */
#include "checksum.h"
#include "crc32c.h"
#include "format.h"

#ifdef xp_has_crc32c_instruction
#define AT_ONCE	32u

static u64 by_instruction(const __le64 *w, u32 words)
{
	u64 even = ~0u, odd = ~0u;
	u32 i;

	for (; words >= AT_ONCE; words -= AT_ONCE, w += AT_ONCE) {
#pragma GCC unroll 16
		for (i = 0; i < AT_ONCE; i += 2) {
			even = xp_crc32c_word(even, le64_to_cpu(w[i]));
			odd = xp_crc32c_word(odd, le64_to_cpu(w[i + 1]));
		}
	}
	for (; words >= 2; words -= 2, w += 2) {
		even = xp_crc32c_word(even, le64_to_cpu(w[0]));
		odd = xp_crc32c_word(odd, le64_to_cpu(w[1]));
	}
	if (words)
		even = xp_crc32c_word(even, le64_to_cpu(w[0]));
	return odd << 32 | even;
}
#endif

#define GATHERED	64u

/* Each half gathered: what is called does best with many bytes. */
static u64 by_bytes(const __le64 *w, u32 words)
{
	__le64 half[2][GATHERED / 2];
	u32 even = ~0u, odd = ~0u, i, n;

	for (; words; words -= n, w += n) {
		n = min(words, GATHERED);
		for (i = 0; i < n; i++)
			half[i % 2][i / 2] = w[i];
		even = xp_crc32c(even, half[0], (n + 1) / 2 * sizeof(*w));
		odd = xp_crc32c(odd, half[1], n / 2 * sizeof(*w));
	}
	return (u64)odd << 32 | even;
}

static u64 crc(u64 seed, u64 word)
{
	__le64 bytes = cpu_to_le64(word);

	return xp_crc32c((u32)seed, &bytes, sizeof(bytes));
}

/*
 * Begun with the two halves of the block's own checksum, so that no record of an earlier round
 * passes: they differ in both. A CRC is linear: what is torn must not be the same to both, so the
 * second sees the first word by a product.
 */
u64 xp_tag(u64 sum, u32 i, const struct xp_record *r)
{
	u64 lba = le64_to_cpu(r->lba) ^ (u64)i << 56, scattered = lba * 0x9e3779b97f4a7c15ull;
	u64 slot = (u64)le32_to_cpu(r->sum) << 32 | le32_to_cpu(r->slot);

#ifdef xp_has_crc32c_instruction
	if (xp_has_crc32c_instruction())
		return xp_crc32c_word(xp_crc32c_word(sum >> 32, scattered), slot) << 32 |
		       xp_crc32c_word(xp_crc32c_word((u32)sum, lba), slot);
#endif
	return crc(crc(sum >> 32, scattered), slot) << 32 |
	       crc(crc((u32)sum, lba), slot);
}

u64 xp_checksum(const void *data, u32 bytes)
{
	XP_ASSERT(bytes % sizeof(u64) == 0);
#ifdef xp_has_crc32c_instruction
	if (xp_has_crc32c_instruction())
		return by_instruction(data, bytes / sizeof(u64));
#endif
	return by_bytes(data, bytes / sizeof(u64));
}
