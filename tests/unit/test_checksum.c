// SPDX-License-Identifier: GPL-2.0-only
/* The checksum: with the CPU's instruction as without, of any length, and of every sector. */
#include "fixture.h"

static u64 block[XP_BLOCK_SIZE / sizeof(u64)];

static u64 as_documented(u32 words)
{
	u32 crc[2] = { ~0u, ~0u }, i;

	for (i = 0; i < words; i++)
		crc[i % 2] = xp_crc32c(crc[i % 2], &block[i], sizeof(u64));
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

static void it_is_as_documented(void **state)
{
	u32 words;

	(void)state;
	for (words = 0; words <= XP_BLOCK_SIZE / sizeof(u64); words++) {
		scribble(words);
		assert_true(xp_checksum(block, words * sizeof(u64)) == as_documented(words));
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

/* As docs/FORMAT.md says it, bit by bit. */
static u32 crc_of(u32 crc, u64 word)
{
	u32 i;

	for (i = 0; i < 64; i++)
		crc = crc >> 1 ^ (((crc ^ (u32)(word >> i)) & 1) ? 0x82f63b78u : 0);
	return crc;
}

static void the_tag_is_as_documented(void **state)
{
	static const u64 sums[] = { 0, 1, 0xffffffff, 0xffffffff00000000ull, 0x0123456789abcdefull };
	u32 i, k;

	(void)state;
	for (k = 0; k < sizeof(sums) / sizeof(*sums); k++)
		for (i = 0; i < XP_RECORDS; i++) {
			struct xp_record r = { 0 };
			u64 word[3], first;

			scribble(i * 31 + k);
			memcpy(&r, block, sizeof(r));
			memcpy(word, block, sizeof(word));
			first = word[0] ^ (u64)i << 56;
			assert_true(xp_tag(sums[k], i, &r) ==
				    ((u64)crc_of(crc_of((u32)(sums[k] >> 32), first * 0x9e3779b97f4a7c15ull), word[1]) << 32 |
				     crc_of(crc_of((u32)sums[k], first), word[1])));
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
		cmocka_unit_test(it_is_as_documented),
		cmocka_unit_test(both_halves_see_a_sector),
		cmocka_unit_test(the_tag_is_as_documented),
		cmocka_unit_test(both_halves_of_the_tag_see_a_word),
	};

	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
