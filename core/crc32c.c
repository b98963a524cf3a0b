// SPDX-License-Identifier: GPL-2.0-only
/*
 * crc32c.c - CRC32C by tables, in user space, for CPUs without an instruction for it. The kernel
 * has its own.
 *
 * Slicing by eight: eight bytes are eight looks into tables that do not wait for each other.
 */
#include "platform.h"

#define POLYNOMIAL	0x82f63b78u	/* Castagnoli's; the lowest bit is the highest power */

/* [n][byte]: what a byte becomes when n more have followed it. */
static u32 table[8][256];

/* Before main(), as long as there is one thread. */
static void __attribute__((constructor)) fill_table(void)
{
	u32 i, n, bit;

	for (i = 0; i < 256; i++) {
		table[0][i] = i;
		for (bit = 0; bit < 8; bit++)
			table[0][i] = table[0][i] >> 1 ^ (table[0][i] & 1 ? POLYNOMIAL : 0);
	}
	for (n = 1; n < 8; n++)
		for (i = 0; i < 256; i++)
			table[n][i] = table[n - 1][i] >> 8 ^ table[0][table[n - 1][i] & 255];
}

u32 xp_crc32c(u32 crc, const void *p, size_t len)
{
	const u8 *byte = p;
	u64 eight;
	u32 low, high;

	for (; len >= sizeof(eight); len -= sizeof(eight), byte += sizeof(eight)) {
		memcpy(&eight, byte, sizeof(eight));
		eight = le64_to_cpu(eight);
		low = (u32)eight ^ crc;
		high = (u32)(eight >> 32);
		crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^
		      table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
		      table[3][high & 255] ^ table[2][high >> 8 & 255] ^
		      table[1][high >> 16 & 255] ^ table[0][high >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *byte++) & 255];
	return crc;
}
