// SPDX-License-Identifier: GPL-2.0-only
/* A cache moves to another fast device, and the power fails at each of the writes. */
#include "fixture.h"
#include "layout.h"
#include "move.h"
#include "superblock.h"

#define BLOCKS	2048u
#define THERE	3000u
#define LBAS	100000u
#define AT_ONCE	64u
#define ID	77u

static struct fixture f;
static u8 *there;
static struct xp_media media_there;
static u32 dies_at;	/* the write that is cut, of both devices, from 1 on; 0: none is */
static u32 writes;

static int read_it(u8 *from, u64 blocks, u64 block, u32 nr, void *buf)
{
	if (block + nr > blocks)
		return -EIO;
	memcpy(buf, from + block * XP_BLOCK_SIZE, (size_t)nr * XP_BLOCK_SIZE);
	return 0;
}

/* What a write of a program that is killed has brought: it is seen, and gone after a power cut, but for what the device writes next. */
static struct {
	bool kills;
	u8 *at;
	u8 before[XP_BLOCK_SIZE];
} unsafe;

static void power_cut(void)
{
	if (unsafe.at)
		memcpy(unsafe.at, unsafe.before, XP_BLOCK_SIZE);
	unsafe.at = NULL;
}

static bool is_on(const u8 *at, const u8 *device, u64 blocks)
{
	return at >= device && at < device + blocks * XP_BLOCK_SIZE;
}

/* Half of what it writes lands, and nothing after that. */
static int write_it(u8 *to, u64 blocks, u64 block, u32 nr, const void *buf)
{
	assert_true(block + nr <= blocks);
	if (dies_at && ++writes > dies_at)
		return -ENODEV;
	if (unsafe.at && is_on(unsafe.at, to, blocks))
		unsafe.at = NULL;	/* what was before it is durable with it */
	if (unsafe.kills && dies_at && writes == dies_at && nr == 1) {
		unsafe.at = to + block * XP_BLOCK_SIZE;
		memcpy(unsafe.before, unsafe.at, XP_BLOCK_SIZE);
		memcpy(unsafe.at, buf, XP_BLOCK_SIZE);
		return -ENODEV;
	}
	memcpy(to + block * XP_BLOCK_SIZE, buf, (size_t)nr * XP_BLOCK_SIZE / (writes == dies_at && dies_at ? 2 : 1));
	return writes == dies_at && dies_at ? -ENODEV : 0;
}

static int write_here(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	return write_it(f.fast, BLOCKS, block, nr, buf);
}

static int read_there(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	return read_it(there, THERE, block, nr, buf);
}

static int write_there(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	return write_it(there, THERE, block, nr, buf);
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, LBAS);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	f.media.write = write_here;
	there = malloc((size_t)THERE * XP_BLOCK_SIZE);
	assert_non_null(there);
	memset(there, 0x5a, (size_t)THERE * XP_BLOCK_SIZE);
	media_there = (struct xp_media){ .read = read_there, .write = write_there };
	dies_at = writes = 0;
	return 0;
}

static int teardown_both(void **state)
{
	free(there);
	return teardown(state);
}

#define M(name) TEST_WITH(name, setup, teardown_both)

static int look_here(struct xp_sb *sb)
{
	return xp_sb_read(&f.media, BLOCKS, sb, &f.msg);
}

static int look_there(struct xp_sb *sb)
{
	return xp_sb_read(&media_there, THERE, sb, &f.msg);
}

static int move(void)
{
	static u8 zeros[AT_ONCE * XP_BLOCK_SIZE];
	struct xp_sb from, to = { .version = 0 };
	int err = look_here(&from);

	assert_int_equal(err, 0);
	assert_int_equal(xp_sb_layout(&to, THERE, &f.msg), 0);
	xp_move_as(&to, &from);
	err = xp_move_announce(&media_there, &to, ID, zeros, AT_ONCE);
	if (!err)
		err = xp_move_leave(&f.media, &from, ID);
	return err ? err : xp_move_arrive(&media_there, &to);
}

/* What the cache is on, once all is done that can be. */
enum where { NOWHERE, HERE, THERE_ALONE, BOTH };

static enum where settle(void)
{
	struct xp_sb a, b, block;
	int err_a = look_here(&a), err_b = look_there(&b);

	if (err_a == -ENOTSUP && err_b == -ENOTSUP && xp_move_has_left(&a, &b)) {
		assert_int_equal(xp_move_confirm(&f.media, &a, &block), 0);
		assert_int_equal(xp_move_arrive(&media_there, &b), 0);
		err_b = look_there(&b);
	}
	if (err_a == -ENOTSUP && !err_b && xp_move_has_left(&a, &b)) {
		assert_int_equal(xp_move_settle(&media_there, &b), 0);
		assert_int_equal(xp_move_erase(&f.media, &a, &block), 0);
		err_a = look_here(&a);
		assert_int_equal(err_a, -ENOENT);
	}
	if (!err_a && !err_b)
		return BOTH;
	return !err_a ? HERE : !err_b ? THERE_ALONE : NOWHERE;
}

/* Of the device alone: may it be taken for the cache? */
static void assert_not_there_before_it_left(void)
{
	struct xp_sb a, b;

	if (!look_here(&a))
		assert_int_not_equal(look_there(&b), 0);
}

static void it_moves(void **state)
{
	struct xp_sb sb;

	(void)state;
	memcpy(f.sb.name, "name", 5);
	f.sb.mode = XP_MODE_WRITETHROUGH;
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_MODE | XP_INCOMPAT_SUMS);
	xp_sb_set_grid(&f.sb, 3);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	assert_int_equal(move(), 0);
	assert_int_equal(look_here(&sb), -ENOTSUP);
	assert_non_null(strstr(f.msg.text, "has moved from this device"));
	assert_int_equal(look_there(&sb), 0);
	assert_int_equal(le64_to_cpu(sb.incompat), XP_INCOMPAT_NEW | XP_INCOMPAT_MODE | XP_INCOMPAT_SUMS | XP_INCOMPAT_GRID);
	assert_int_equal(sb.grid, 3);
	assert_int_equal(sb.mode, XP_MODE_WRITETHROUGH);
	assert_string_equal((const char *)sb.name, (const char *)f.sb.name);
	assert_int_equal(le64_to_cpu(sb.move), ID);
	assert_int_equal(le64_to_cpu(sb.fast_blocks), THERE);
	assert_memory_equal(sb.uuid, f.sb.uuid, sizeof(sb.uuid));
}

static void is_on_one(bool kills)
{
	enum where at, last = HERE;
	int err;

	for (u32 cut = 1; ; cut++) {
		free(f.memory);
		free(f.fast);
		free(there);
		setup(NULL);
		unsafe.kills = kills;
		dies_at = cut;
		err = move();
		dies_at = 0;
		assert_not_there_before_it_left();
		at = settle();
		power_cut();
		if (kills)
			at = settle();
		assert_true(at == HERE || at == THERE_ALONE);
		assert_true(at >= last);	/* one moment, and no way back */
		last = at;
		if (!err)
			break;
	}
	assert_int_equal(last, THERE_ALONE);
	unsafe.kills = false;
}

static void it_is_always_on_one(void **state)
{
	(void)state;
	is_on_one(false);
}

static void a_kill_and_then_a_power_cut(void **state)
{
	(void)state;
	is_on_one(true);
}

/* A copy of the device that has lived on, and whose superblocks were erased: the newest journal of this cache. */
static void what_was_there_is_not_taken_for_it(void **state)
{
	struct xp_sb sb, newer;
	void *block;

	(void)state;
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 0x77);
	flush(&f);
	newer = f.sb;
	assert_int_equal(xp_sb_layout(&newer, THERE, &f.msg), 0);
	memcpy(there + le64_to_cpu(newer.journal_start) * XP_BLOCK_SIZE,
	       f.fast + le64_to_cpu(f.sb.journal_start) * XP_BLOCK_SIZE,
	       le64_to_cpu(f.sb.journal_blocks) * XP_BLOCK_SIZE);
	assert_int_equal(move(), 0);
	assert_int_equal(look_there(&sb), 0);
	block = calloc(1, XP_BLOCK_SIZE);
	for (u64 at = 0; at < le64_to_cpu(sb.data_start); at++) {
		u64 first = le64_to_cpu(sb.journal_start) + 1;

		if (at != XP_SB_BLOCK_A && at != XP_SB_BLOCK_B && at != first)
			assert_memory_equal(there + at * XP_BLOCK_SIZE, block, XP_BLOCK_SIZE);
	}
	free(block);
}

/* A partition table writes over the first copy alone. */
static void what_has_another_use_is_not_erased(void **state)
{
	u8 table[XP_BLOCK_SIZE], block[XP_BLOCK_SIZE];
	struct xp_sb a;

	(void)state;
	assert_int_equal(move(), 0);
	memset(table, 0x55, sizeof(table));
	memcpy(f.fast + XP_SB_BLOCK_A * XP_BLOCK_SIZE, table, sizeof(table));
	assert_int_equal(look_here(&a), -ENOTSUP);
	assert_int_equal(xp_move_erase(&f.media, &a, block), -ESTALE);
	assert_int_equal(xp_move_confirm(&f.media, &a, block), -ESTALE);
	assert_memory_equal(f.fast + XP_SB_BLOCK_A * XP_BLOCK_SIZE, table, sizeof(table));
	assert_int_equal(look_here(&a), -ENOTSUP);
}

static int refuses_the_second(void *ctx, u64 block, u32 nr, const void *buf)
{
	return block == XP_SB_BLOCK_B ? -EIO : write_here(ctx, block, nr, buf);
}

static int loses_the_second(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	return block == XP_SB_BLOCK_B ? -EIO : read_it(f.fast, BLOCKS, block, nr, buf);
}

/* With a name that no create has written: what is read has another, and is sealed for it. */
static void a_copy_that_takes_no_write_leaves_it_here(void **state)
{
	struct xp_sb from, now;

	(void)state;
	memcpy(f.sb.name, "a\nb", 4);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	assert_int_equal(look_here(&from), 0);
	f.media.write = refuses_the_second;
	f.media.read = loses_the_second;
	assert_int_equal(xp_move_leave(&f.media, &from, ID), -EIO);
	assert_int_equal(look_here(&now), 0);
}

static void two_moves_are_not_mixed(void **state)
{
	static u8 zeros[AT_ONCE * XP_BLOCK_SIZE];
	struct xp_sb from, to, other;

	(void)state;
	assert_int_equal(look_here(&from), 0);
	to = other = from;
	assert_int_equal(xp_sb_layout(&to, THERE, &f.msg), 0);
	assert_int_equal(xp_move_announce(&media_there, &to, ID, zeros, AT_ONCE), 0);
	assert_int_equal(look_there(&to), -ENOTSUP);
	assert_non_null(strstr(f.msg.text, "has not moved to this device yet"));
	assert_false(xp_move_has_left(&from, &to));
	assert_int_equal(xp_move_leave(&f.media, &from, ID + 1), 0);
	assert_false(xp_move_has_left(&from, &to));
	assert_int_equal(xp_move_leave(&f.media, &other, ID), 0);
	assert_true(xp_move_has_left(&other, &to));
	assert_false(xp_move_has_left(&to, &other));
	other.uuid[3] ^= 1;
	assert_false(xp_move_has_left(&other, &to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		M(it_moves),
		M(it_is_always_on_one),
		M(a_kill_and_then_a_power_cut),
		M(what_was_there_is_not_taken_for_it),
		M(what_has_another_use_is_not_erased),
		M(a_copy_that_takes_no_write_leaves_it_here),
		M(two_moves_are_not_mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
