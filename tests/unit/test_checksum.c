// SPDX-License-Identifier: GPL-2.0-only
/* The checksum: with the CPU's instruction as without, of any length, and of every sector. */
#include "fixture.h"
#include "by_table.h"
#include "checksum.h"
#include "crc32c.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(xp_has_crc32c_instruction)
#error "these have the instruction"
#endif

static u64 block[XP_BLOCK_SIZE / sizeof(u64)];

/* As docs/FORMAT.md says it, bit by bit. */
static u32 crc_of(u32 crc, u64 word)
{
	u32 i;

	for (i = 0; i < 64; i++)
		crc = crc >> 1 ^ (((crc ^ (u32)(word >> i)) & 1) ? 0x82f63b78u : 0);
	return crc;
}

static u64 as_documented(u32 words)
{
	u32 crc[2] = { ~0u, ~0u }, i;

	for (i = 0; i < words; i++)
		crc[i % 2] = crc_of(crc[i % 2], le64_to_cpu(block[i]));
	return (u64)crc[1] << 32 | crc[0];
}

static void scribble(u64 seed)
{
	u32 i;

	for (i = 0; i < XP_BLOCK_SIZE / sizeof(u64); i++)
		block[i] = seed = seed * 6364136223846793005ull + 1442695040888963407ull;
}

/* Its check value in the catalogues. */
static void it_is_crc32c(void **state)
{
	(void)state;
	assert_int_equal(xp_crc32c(~0u, "123456789", 9) ^ ~0u, 0xe3069283u);
}

/* RFC 3720, B.4, of 32 bytes each. Behind another 8 bytes, so that it begins anywhere. */
static void it_is_that_of_iscsi(void **state)
{
	static const struct { int first, step; u32 crc; } rows[] = {
		{ 0, 0, 0x8a9136aau }, { 0xff, 0, 0x62a8ab43u }, { 0, 1, 0x46dd794eu }, { 31, -1, 0x113fdb5cu },
	};
	u8 bytes[8 + 32];
	u32 i, k, at;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (at = 0; at < 8; at++) {
			for (k = 0; k < 32; k++)
				bytes[at + k] = (u8)(rows[i].first + (int)k * rows[i].step);
			assert_int_equal(xp_crc32c(~0u, bytes + at, 32) ^ ~0u, rows[i].crc);
		}
}

static void every_byte_counts(void **state)
{
	u32 bit, bytes;

	(void)state;
	memset(block, 0, sizeof(block));
	for (bit = 0; bit < 64; bit++) {
		block[0] = cpu_to_le64(1ull << bit);
		assert_int_equal(xp_crc32c(0, block, 8), crc_of(0, 1ull << bit));
	}
	scribble(5);
	for (bytes = 0; bytes < 32; bytes++) {
		u32 split = bytes / 3, first = xp_crc32c(1, block, split);

		assert_int_equal(xp_crc32c(1, block, bytes), xp_crc32c(first, (u8 *)block + split, bytes - split));
	}
}

/* Numbers that are on media: on no CPU others. */
static void it_stays_what_it_was(void **state)
{
	struct xp_record r = { 0 };
	u32 i;

	(void)state;
	for (i = 0; i < XP_BLOCK_SIZE; i++)
		((u8 *)block)[i] = (u8)(i * i / 7 + i);
	memcpy(&r, block, sizeof(r));
	assert_true(xp_checksum(block, 0) == 0xffffffffffffffffull);
	assert_true(xp_checksum(block, 8) == 0xffffffffd982877full);
	assert_true(xp_checksum(block, 24) == 0x3ba681172a8e97b2ull);
	assert_true(xp_checksum(block, XP_BLOCK_SIZE) == 0x4bd35549d72d639full);
	assert_true(xp_tag(0x0123456789abcdefull, 167, &r) == 0x8da2b415797de7f1ull);
}

static void it_is_as_documented(void **state)
{
	u32 words;

	(void)state;
	for (words = 0; words <= XP_BLOCK_SIZE / sizeof(u64); words++) {
		scribble(words);
		assert_true(xp_checksum(block, words * sizeof(u64)) == as_documented(words));
		assert_true(checksum_by_table(block, words * sizeof(u64)) == as_documented(words));
	}
}

static void both_halves_see_a_sector(void **state)
{
	u64 kept[8], sum;
	u32 s;

	(void)state;
	scribble(7);
	sum = xp_checksum(block, XP_BLOCK_SIZE);
	for (s = 0; s < 8; s++) {
		memcpy(kept, &block[s * 64], sizeof(kept));
		memset(&block[s * 64], 0, sizeof(kept));
		assert_int_not_equal((u32)xp_checksum(block, XP_BLOCK_SIZE), (u32)sum);
		assert_int_not_equal(xp_checksum(block, XP_BLOCK_SIZE) >> 32, sum >> 32);
		memcpy(&block[s * 64], kept, sizeof(kept));
	}
	assert_true(xp_checksum(block, XP_BLOCK_SIZE) == sum);
}

static void the_tag_is_as_documented(void **state)
{
	static const u64 sums[] = { 0, 1, 0xffffffff, 0xffffffff00000000ull, 0x0123456789abcdefull };
	u32 i, k;

	(void)state;
	for (k = 0; k < sizeof(sums) / sizeof(*sums); k++)
		for (i = 0; i < XP_RECORDS; i++) {
			struct xp_record r = { 0 };
			u64 first, second, tag;

			scribble(i * 31 + k);
			memcpy(&r, block, sizeof(r));
			first = le64_to_cpu(block[0]) ^ (u64)i << 56;
			second = le64_to_cpu(block[1]);
			tag = (u64)crc_of(crc_of((u32)(sums[k] >> 32), first * 0x9e3779b97f4a7c15ull), second) << 32 |
			      crc_of(crc_of((u32)sums[k], first), second);
			assert_true(xp_tag(sums[k], i, &r) == tag);
			assert_true(tag_by_table(sums[k], i, &r) == tag);
		}
}

/* What was there before, of any of its words, does not pass. */
static void both_halves_of_the_tag_see_a_word(void **state)
{
	struct xp_record r = { 0 }, torn;
	u64 tag, sum = 0x0123456789abcdefull;
	u32 i;

	(void)state;
	scribble(9);
	memcpy(&r, block, sizeof(r));
	tag = xp_tag(sum, 5, &r);
	for (i = 0; i < 2; i++) {
		torn = r;
		((u64 *)&torn)[i] = 0;
		assert_int_not_equal((u32)xp_tag(sum, 5, &torn), (u32)tag);
		assert_int_not_equal(xp_tag(sum, 5, &torn) >> 32, tag >> 32);
	}
	assert_int_not_equal((u32)xp_tag(sum, 6, &r), (u32)tag);
	assert_int_not_equal(xp_tag(sum, 6, &r) >> 32, tag >> 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_crc32c),
		cmocka_unit_test(it_is_that_of_iscsi),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(it_stays_what_it_was),
		cmocka_unit_test(it_is_as_documented),
		cmocka_unit_test(both_halves_see_a_sector),
		cmocka_unit_test(the_tag_is_as_documented),
		cmocka_unit_test(both_halves_of_the_tag_see_a_word),
	};

	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
