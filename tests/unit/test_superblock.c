// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"
#include "layout.h"
#include "superblock.h"

#define BLOCKS 8192u	/* 32 MiB */

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, BLOCKS, 100000);
}

static struct xp_sb *on_medium(u64 block)
{
	return (struct xp_sb *)(f.fast + block * XP_BLOCK_SIZE);
}

static int read_sb(void)
{
	struct xp_sb sb;

	return xp_sb_read(&f.media, BLOCKS, &sb, &f.msg);
}

static void layout_leaves_no_overlap(void **state)
{
	u64 sizes[] = { 1024, 5000, 262144, 4000000, 1ull << 30 };
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct xp_sb sb = { .slow.sectors = cpu_to_le64(8) };

		assert_int_equal(xp_sb_layout(&sb, sizes[i], &f.msg), 0);
		xp_sb_seal(&sb);
		assert_int_equal(xp_sb_verify(&sb, sizes[i], &f.msg), 0);
		assert_int_equal(le64_to_cpu(sb.data_start) % XP_DATA_ALIGN, 0);
		assert_true(le64_to_cpu(sb.data_start) + le64_to_cpu(sb.nr_slots) ==
			    sizes[i]);
	}
}

static void too_small_is_refused(void **state)
{
	struct xp_sb sb = { 0 };

	(void)state;
	assert_int_equal(xp_sb_layout(&sb, 256, &f.msg), -ENOSPC);
	assert_non_null(strstr(f.msg.text, "too small"));
}

static void either_copy_is_enough(void **state)
{
	(void)state;
	memset(on_medium(XP_SB_BLOCK_A), 0, XP_BLOCK_SIZE);
	assert_int_equal(read_sb(), 0);
	xp_sb_write(&f.media, &f.sb);
	on_medium(XP_SB_BLOCK_B)->name[0] ^= 1;
	assert_int_equal(read_sb(), 0);
}

static void newer_copy_counts(void **state)
{
	struct xp_sb sb;

	(void)state;
	f.sb.generation = cpu_to_le64(7);
	xp_sb_seal(&f.sb);
	memcpy(on_medium(XP_SB_BLOCK_B), &f.sb, sizeof(sb));
	assert_int_equal(xp_sb_read(&f.media, BLOCKS, &sb, &f.msg), 0);
	assert_int_equal(le64_to_cpu(sb.generation), 7);
}

static void no_cache_is_said_so(void **state)
{
	u8 block[XP_BLOCK_SIZE];

	(void)state;
	assert_int_equal(xp_sb_erase(&f.media, block), 0);
	assert_int_equal(read_sb(), -ENOENT);
}

static void damage_is_refused(void **state)
{
	(void)state;
	on_medium(XP_SB_BLOCK_A)->nr_slots ^= 1;
	on_medium(XP_SB_BLOCK_B)->nr_slots ^= 1;
	assert_int_equal(read_sb(), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "checksum"));
}

static void unknown_incompat_bit_is_refused(void **state)
{
	(void)state;
	f.sb.incompat = cpu_to_le64(1ull << 63);
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(read_sb(), -ENOTSUP);
	f.sb.incompat = 0;
	f.sb.compat = cpu_to_le64(1ull << 63);
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(read_sb(), 0);
}

static void refuse_geometry(__le64 *field, u64 value)
{
	__le64 kept = *field;

	*field = cpu_to_le64(value);
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(read_sb(), -EUCLEAN);
	*field = kept;
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(read_sb(), 0);
}

/* Checksums do not stop a bad geometry that was written with one. */
static void bad_geometry_is_refused(void **state)
{
	(void)state;
	refuse_geometry(&f.sb.fast_blocks, BLOCKS + 1);
	refuse_geometry(&f.sb.nr_slots, 0);
	refuse_geometry(&f.sb.nr_slots, ~0ull);
	refuse_geometry(&f.sb.data_start, ~0ull);
	refuse_geometry(&f.sb.data_start, 300);
	refuse_geometry(&f.sb.journal_start, 3);
	refuse_geometry(&f.sb.journal_start, ~0ull);
	refuse_geometry(&f.sb.journal_blocks, 5);
	refuse_geometry(&f.sb.journal_blocks, ~0ull);
	refuse_geometry(&f.sb.scratch_start, ~0ull);
	refuse_geometry(&f.sb.scratch_blocks, ~0ull);
	refuse_geometry(&f.sb.slow.sectors, 0);
	refuse_geometry(&f.sb.slow.sectors, ~0ull);
}

/* I12. The journal's buffers, two superblocks, a batch, the slots that may be unread, and what else does not grow. */
#define FIXED	(138u << 10)

/* The backend's share is counted by the VM test. */
static void memory_is_24_bytes_a_slot(void **state)
{
	u64 sizes[] = { 65536, 262144, 4000000 };	/* 256 MiB, 1 GiB, 16 GB */
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct xp_sb sb = { .slow.sectors = cpu_to_le64(8) };

		assert_int_equal(xp_sb_layout(&sb, sizes[i], &f.msg), 0);
		assert_true(xp_memory(&sb, false) <= 24 * le64_to_cpu(sb.nr_slots) + FIXED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(layout_leaves_no_overlap),
		T(too_small_is_refused),
		T(either_copy_is_enough),
		T(newer_copy_counts),
		T(no_cache_is_said_so),
		T(damage_is_refused),
		T(unknown_incompat_bit_is_refused),
		T(bad_geometry_is_refused),
		T(memory_is_24_bytes_a_slot),
	};

	return cmocka_run_group_tests_name("superblock", tests, NULL, NULL);
}
