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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_crc32c),
		cmocka_unit_test(it_is_as_documented),
		cmocka_unit_test(both_halves_see_a_sector),
	};

	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
