// SPDX-License-Identifier: GPL-2.0-only
/* test_fingerprint.c - which of two superblocks is the later one, and which blocks are looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#include "lib/slow.h"
#include "tools/guard/fingerprint.h"
#include "tools/guard/fs_age.h"

/* ----------------------------------------------------------------- age ---- */

static const struct fs {
	const char *name;
	u32 magic_at, magic_len;
	const char *magic;
	u32 uuid_at, count_at;
	bool big_endian;
} kinds[] = {
	{ "ext4", 0x38, 2, "\x53\xef", 0x68, 0x178, false },
	{ "XFS", 0, 4, "XFSB", 32, 240, true },
	{ "btrfs", 0x40, 8, "_BHRfS_M", 0x20, 0x48, false },
};

static void make(u8 *block, u32 at, const struct fs *f, char uuid, u64 count)
{
	u8 *sb = block + at;

	memset(block, 0, XP_BLOCK_SIZE);
	memcpy(sb + f->magic_at, f->magic, f->magic_len);
	memset(sb + f->uuid_at, uuid, 16);
	for (u32 i = 0; i < 8; i++)
		sb[f->count_at + (f->big_endian ? 7 - i : i)] = (u8)(count >> 8 * i);
	if (!strcmp(f->name, "XFS"))
		sb[101] = 0xb5;		/* with checksums */
}

static void the_later_one_is_newer(void **state)
{
	u8 ours[XP_BLOCK_SIZE], other[XP_BLOCK_SIZE];
	const char *what;

	(void)state;
	for (u32 i = 0; i < 3; i++)
		for (u32 at = 0; at < XP_BLOCK_SIZE; at += 512) {
			make(ours, at, &kinds[i], 'u', 0x1ff);
			make(other, at, &kinds[i], 'u', 0x200);
			what = NULL;
			assert_true(fs_newer(ours, other, &what));
			assert_string_equal(what, kinds[i].name);
			assert_false(fs_newer(other, ours, &what));
			assert_false(fs_newer(ours, ours, &what));
		}
}

/* From an earlier state on: its count is lower than ours, which went on as well. */
static void one_that_was_used_from_an_earlier_state_on_is_seen(void **state)
{
	u8 ours[XP_BLOCK_SIZE], other[XP_BLOCK_SIZE];
	const char *what;

	(void)state;
	for (u32 at = 0; at <= 1024; at += 512) {
		make(ours, at, &kinds[0], 'u', 1000);
		make(other, at, &kinds[0], 'u', 3);
		ours[at + 0x34] = 7;		/* its seventh mount, at that time; */
		ours[at + 0x2c] = 0x70;
		other[at + 0x34] = 6;		/* the sixth, at another: it is earlier */
		other[at + 0x2c] = 0x60;
		assert_false(fs_newer(ours, other, &what));
		other[at + 0x34] = 7;
		assert_true(fs_newer(ours, other, &what));
		other[at + 0x2c] = 0x70;
		assert_false(fs_newer(ours, other, &what));
		other[at + 0x34] = 8;		/* the count of one mount was set */
		assert_false(fs_newer(ours, other, &what));
		other[at + 0x2c] = 0x80;
		assert_true(fs_newer(ours, other, &what));
		other[at + 0x40] = 1;		/* counted from another check on */
		assert_false(fs_newer(ours, other, &what));
		other[at + 0x40] = 0;
		other[at + 0x34] = 30;		/* ours has begun anew */
		assert_false(fs_newer(ours, other, &what));
	}
	make(ours, 0, &kinds[2], 'u', 1000);
	make(other, 0, &kinds[2], 'u', 998);
	for (u32 i = 0; i < 4; i++)
		for (u32 j = 0; j < 2; j++) {	/* of generations 1000 to 997, and 998 to 995 */
			u32 generation = (j ? 998 : 1000) - i;
			u8 *last = (j ? other : ours) + 0xb2b + 168 * (generation % 4);

			last[1] = (u8)generation;
			last[8] = (u8)generation;
			last[9] = (u8)(generation >> 8);
		}
	assert_false(fs_newer(ours, other, &what));
	other[0xb2b + 168 * (998 % 4) + 160] ^= 1;
	assert_true(fs_newer(ours, other, &what));
	assert_string_equal(what, "btrfs");
	other[0x20] ^= 1;			/* of another file system */
	assert_false(fs_newer(ours, other, &what));
}

static void another_file_system_is_no_later_one(void **state)
{
	u8 ours[XP_BLOCK_SIZE], other[XP_BLOCK_SIZE];
	const char *what;

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		make(ours, 512, &kinds[i], 'u', 1);
		make(other, 512, &kinds[i], 'v', 2);
		assert_false(fs_newer(ours, other, &what));
		make(other, 512, &kinds[(i + 1) % 3], 'u', 2);
		assert_false(fs_newer(ours, other, &what));
		memset(other, 0xff, sizeof(other));
		assert_false(fs_newer(ours, other, &what));
	}
}

/* -------------------------------------------------------------- places ---- */

static char path[] = "/tmp/xpcache-fingerprint-XXXXXX";

static int new_disk(void **state)
{
	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int end_disk(void **state)
{
	(void)state;
	return unlink(path);
}

static void places_of(struct places *p, u64 bytes, const char *table)
{
	static const u8 uuid[16] = "0123456789abcde";
	char command[400];
	struct slow s;

	assert_int_equal(truncate(path, (off_t)bytes), 0);
	if (table) {
		snprintf(command, sizeof(command), "printf '%s' | /sbin/sfdisk -q --force %s >/dev/null 2>&1", table, path);
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(slow_open(&s, path), 0);
	fingerprint_places(p, &s, uuid);
	slow_close(&s);
	for (u32 i = 0; i < p->n; i++) {
		assert_true(p->lba[i] < (bytes + XP_BLOCK_SIZE - 1) / XP_BLOCK_SIZE);
		assert_true(!i || p->lba[i] > p->lba[i - 1]);
	}
}

static bool has(const struct places *p, u64 lba)
{
	for (u32 i = 0; i < p->n; i++)
		if (p->lba[i] == lba)
			return true;
	return false;
}

static void the_table_and_its_copy_are_looked_at(void **state)
{
	struct places p;

	(void)state;
	places_of(&p, 1 << 30, NULL);
	for (u64 i = 0; i < 5; i++)
		assert_true(has(&p, i) && has(&p, (1 << 18) - 1 - i));
	assert_true(has(&p, 16));
	assert_true(p.n > 64 && p.n < 90);
}

static void superblocks_of_partitions_are_looked_at(void **state)
{
	struct places p;

	(void)state;
	places_of(&p, 1 << 30, "label: gpt\\n2048,100M\\n,200M\\n");
	for (u64 mib = 1; mib <= 101; mib += 100)
		assert_true(has(&p, mib * 256) && has(&p, mib * 256 + 1) && has(&p, mib * 256 + 16));
}

static void tables_of_logical_partitions_are_looked_at(void **state)
{
	struct places p;

	(void)state;
	places_of(&p, 1 << 30, "label: dos\\nstart=2048,size=500M,type=5\\nstart=4096,size=50M\\nstart=206848,size=50M\\n");
	assert_true(has(&p, 2048 / 8));
	assert_true(has(&p, 4096 / 8));
	assert_true(has(&p, 206848 / 8) && has(&p, (206848 - 2048) / 8));
}

/* As DOS had them: the superblock of ext4 is in sectors 65 and 66, that of btrfs in 191. */
static void partitions_may_be_aligned_to_nothing(void **state)
{
	struct places p;

	(void)state;
	places_of(&p, 1 << 30, "label: dos\\nstart=63,size=100000\\n");
	assert_true(has(&p, 7) && has(&p, 8) && has(&p, (63 + 128) / 8));
}

static void a_small_disk_has_few_blocks(void **state)
{
	struct places p;

	(void)state;
	places_of(&p, 3 * 4096 + 512, NULL);
	assert_int_equal(p.n, 4);
}

static void what_is_beyond_the_end_is_zeros(void **state)
{
	struct slow s;

	(void)state;
	assert_int_equal(truncate(path, 4096 + 512), 0);
	assert_int_equal(slow_open(&s, path), 0);
	memset(s.block, 0xff, XP_BLOCK_SIZE);
	assert_int_equal(slow_blocks(&s), 2);
	assert_int_equal(slow_read(&s, 1), 0);
	for (u32 i = 0; i < XP_BLOCK_SIZE; i++)
		assert_int_equal(s.block[i], 0);
	slow_close(&s);
}

/* Bytes of the block at @lba that are left when the loader's are taken away. */
static void left_of(const char *table, u64 lba, u32 *n, u32 *first, u32 *last)
{
	u8 block[XP_BLOCK_SIZE];
	struct loader l;
	struct places p;
	struct slow s;

	places_of(&p, 64 << 20, table);
	assert_int_equal(slow_open(&s, path), 0);
	fingerprint_loader(&l, &s);
	slow_close(&s);
	memset(block, 0xff, sizeof(block));
	loader_leave_out(&l, lba, block);
	*n = 0;
	for (u32 i = 0; i < sizeof(block); i++)
		if (block[i]) {
			*first = (*n)++ ? *first : i;
			*last = i;
		}
}

static void what_a_boot_loader_has_is_left_out(void **state)
{
	static const char gpt[] = "label: gpt\\nstart=2048,size=16,type=21686148-6449-6E6F-744E-656564454649\\nstart=4096\\n",
			  dos[] = "label: dos\\nstart=63,size=10000\\n",
			  far[] = "label: dos\\nstart=40960,size=10000\\n",
			  data[] = "label: gpt\\nstart=2048,size=10000,type=21686148-6449-6E6F-744E-656564454649\\n";
	static const struct { const char *table; u64 lba; u32 n, first, last; } left[] = {
		{ NULL, 0, 4096, 0, 4095 },
		{ dos, 0, 72, 440, 511 },		/* the table is what tells of editors */
		{ dos, 1, 0, 0, 0 },
		{ dos, 7, 512, 3584, 4095 },		/* the partition begins with its last sector */
		{ dos, 8, 4096, 0, 4095 },
		{ gpt, 0, 3656, 440, 4095 },
		{ gpt, 1, 4096, 0, 4095 },
		{ gpt, 255, 4096, 0, 4095 },
		{ gpt, 256, 0, 0, 0 },
		{ gpt, 257, 0, 0, 0 },
		{ gpt, 258, 4096, 0, 4095 },
		{ gpt, 512, 4096, 0, 4095 },
		{ far, 255, 0, 0, 0 },
		{ far, 256, 4096, 0, 4095 },		/* a loader needs no more */
		{ data, 256, 4096, 0, 4095 },
	};
	u32 n, first, last;

	(void)state;
	for (u32 i = 0; i < sizeof(left) / sizeof(*left); i++) {
		first = last = 0;
		left_of(left[i].table, left[i].lba, &n, &first, &last);
		assert_int_equal(n, left[i].n);
		assert_int_equal(first, left[i].first);
		assert_int_equal(last, left[i].last);
	}
}

/* As on half of a mirror, where mdadm leaves it: somebody's superblock is there as well. */
static void nothing_is_left_out_beside_an_old_table(void **state)
{
	static const char table[] = "label: dos\\nstart=2048,size=10000\\n";
	char command[200];
	u32 n, first, last;

	(void)state;
	left_of(table, 1, &n, &first, &last);
	assert_int_equal(n, 0);
	snprintf(command, sizeof(command), "/sbin/mkfs.ext4 -qF %s", path);
	assert_int_equal(system(command), 0);
	left_of(table, 1, &n, &first, &last);
	assert_int_equal(n, XP_BLOCK_SIZE);
}

static u32 gaps_of(u64 lba[2])
{
	struct slow s;
	u32 n;

	assert_int_equal(slow_open(&s, path), 0);
	n = fingerprint_gaps(&s, lba);
	slow_close(&s);
	return n;
}

/* Zeros between an old table and its first partition are blocks of the file system that is there now. */
static void nothing_is_free_beside_an_old_table(void **state)
{
	static const char table[] = "label: dos\nstart=2048,size=10000\n";
	char command[300];
	struct places p;
	u64 lba[2];

	(void)state;
	places_of(&p, 64 << 20, table);
	assert_int_equal(gaps_of(lba), 2);
	assert_int_equal(lba[0], 255);
	snprintf(command, sizeof(command), "/sbin/mkfs.ext4 -qF %s", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(gaps_of(lba), 0);
}

/* As half of a mirror with its superblock at the end has it: the table is the mirror's. */
static void nothing_is_free_on_half_of_a_mirror(void **state)
{
	static const u8 magic[] = { 0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0 };
	const u64 at = (((64u << 20) >> 9) - 16) / 8 * 8;	/* sectors: where version 1.0 has it */
	u8 sb[256] = { 0 };
	struct places p;
	u64 lba[2], sum = 0;
	FILE *f;

	(void)state;
	places_of(&p, 64 << 20, "label: gpt\nstart=2048,size=10000\n");
	assert_int_equal(gaps_of(lba), 2);
	memcpy(sb, magic, sizeof(magic));
	for (u32 i = 0; i < 8; i++)
		sb[144 + i] = (u8)(at >> 8 * i);
	for (u32 i = 0; i < sizeof(sb); i += 4)
		sum += sb[i] | (u32)sb[i + 1] << 8 | (u32)sb[i + 2] << 16 | (u64)sb[i + 3] << 24;
	sum = (sum & 0xffffffff) + (sum >> 32);
	for (u32 i = 0; i < 4; i++)
		sb[216 + i] = (u8)(sum >> 8 * i);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_false(fseek(f, (long)(at << 9), SEEK_SET));
	assert_int_equal(fwrite(sb, 1, sizeof(sb), f), sizeof(sb));
	assert_false(fclose(f));
	assert_int_equal(gaps_of(lba), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_later_one_is_newer),
		cmocka_unit_test(one_that_was_used_from_an_earlier_state_on_is_seen),
		cmocka_unit_test(another_file_system_is_no_later_one),
		cmocka_unit_test_setup_teardown(the_table_and_its_copy_are_looked_at, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(superblocks_of_partitions_are_looked_at, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(tables_of_logical_partitions_are_looked_at, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(partitions_may_be_aligned_to_nothing, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(a_small_disk_has_few_blocks, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(what_is_beyond_the_end_is_zeros, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(what_a_boot_loader_has_is_left_out, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(nothing_is_left_out_beside_an_old_table, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(nothing_is_free_beside_an_old_table, new_disk, end_disk),
		cmocka_unit_test_setup_teardown(nothing_is_free_on_half_of_a_mirror, new_disk, end_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
