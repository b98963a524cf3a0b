/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crc32c.h - CRC32C by tables, in user space, for CPUs without an instruction for it.
 *
 * Slicing by eight: eight bytes are eight looks into tables that do not wait for each other. A CRC is
 * linear, so an entry is the exclusive or of what the single bits of its byte give, and those are one sequence:
 * what a bit becomes by 1 to 64 steps of the shift register.
 */
#ifndef XP_CRC32C_H
#define XP_CRC32C_H

#define XP_CRC_2(x, b, ...)	{ (x), (x) ^ (b) }
#define XP_CRC_4(x, b, ...)	{ XP_CRC_2(x, __VA_ARGS__), XP_CRC_2((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_8(x, b, ...)	{ XP_CRC_4(x, __VA_ARGS__), XP_CRC_4((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_16(x, b, ...)	{ XP_CRC_8(x, __VA_ARGS__), XP_CRC_8((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_32(x, b, ...)	{ XP_CRC_16(x, __VA_ARGS__), XP_CRC_16((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_64(x, b, ...)	{ XP_CRC_32(x, __VA_ARGS__), XP_CRC_32((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_128(x, b, ...)	{ XP_CRC_64(x, __VA_ARGS__), XP_CRC_64((x) ^ (b), __VA_ARGS__) }
#define XP_CRC_256(b, ...)	{ XP_CRC_128(0u, __VA_ARGS__), XP_CRC_128(b, __VA_ARGS__) },

/* Table by table: what bits 7, 6 ... 0 of its byte give. An index is the bits of a byte. */
static const u32 xp_crc32c_bits[8][2][2][2][2][2][2][2][2] __attribute__((unused)) = {
	XP_CRC_256(0x82f63b78u, 0x417b1dbcu, 0x20bd8edeu, 0x105ec76fu,
		   0x8ad958cfu, 0xc79a971fu, 0xe13b70f7u, 0xf26b8303u)
	XP_CRC_256(0xfbc3faf9u, 0xff17c604u, 0x7f8be302u, 0x3fc5f181u,
		   0x9d14c3b8u, 0x4e8a61dcu, 0x274530eeu, 0x13a29877u)
	XP_CRC_256(0x8b277743u, 0xc76580d9u, 0xe144fb14u, 0x70a27d8au,
		   0x38513ec5u, 0x9edea41au, 0x4f6f520du, 0xa541927eu)
	XP_CRC_256(0x52a0c93fu, 0xaba65fe7u, 0xd725148bu, 0xe964b13du,
		   0xf64463e6u, 0x7b2231f3u, 0xbf672381u, 0xdd45aab8u)
	XP_CRC_256(0x6ea2d55cu, 0x37516aaeu, 0x1ba8b557u, 0x8f2261d3u,
		   0xc5670b91u, 0xe045beb0u, 0x7022df58u, 0x38116facu)
	XP_CRC_256(0x1c08b7d6u, 0x0e045bebu, 0x85f4168du, 0xc00c303eu,
		   0x6006181fu, 0xb2f53777u, 0xdb8ca0c3u, 0xef306b19u)
	XP_CRC_256(0xf56e0ef4u, 0x7ab7077au, 0x3d5b83bdu, 0x9c5bfaa6u,
		   0x4e2dfd53u, 0xa5e0c5d1u, 0xd0065990u, 0x68032cc8u)
	XP_CRC_256(0x34019664u, 0x1a00cb32u, 0x0d006599u, 0x847609b4u,
		   0x423b04dau, 0x211d826du, 0x9278fa4eu, 0x493c7d27u)
};

/* As the kernel's crc32c(): @crc goes in and comes out as it is, without an inversion. */
static inline u32 xp_crc32c(u32 crc, const void *p, size_t len)
{
	const u32 (*table)[256] = (const void *)xp_crc32c_bits;
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

#endif /* XP_CRC32C_H */
