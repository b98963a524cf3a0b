/* SPDX-License-Identifier: GPL-2.0-only */
/* unreadable.h - a fast device that cannot be read everywhere, and a recovery that is cut. Tests with one fixture each. */
#ifndef TEST_UNREADABLE_H
#define TEST_UNREADABLE_H

#include "fixture.h"
#include "superblock.h"

#define BLOCKS	8192u
#define BAD_MAX	64u

static struct fixture f;
static u64 bad[BAD_MAX];
static u32 nr_bad;
static bool heals;		/* a block that is written can be read again */
static int (*whole_read)(void *ctx, u64 block, u32 nr, void *buf);
static int (*whole_write)(void *ctx, u64 block, u32 nr, const void *buf);

static inline int bad_read(void *ctx, u64 block, u32 nr, void *buf)
{
	for (u32 i = 0; i < nr_bad; i++)
		if (bad[i] >= block && bad[i] < block + nr)
			return -EIO;
	return whole_read(ctx, block, nr, buf);
}

static inline int bad_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	for (u32 i = 0; heals && i < nr_bad; i++)
		if (bad[i] >= block && bad[i] < block + nr)
			bad[i] = ~0ull;
	return whole_write(ctx, block, nr, buf);
}

static inline int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, 100000);
	whole_read = f.media.read;
	whole_write = f.media.write;
	f.media.read = bad_read;
	f.media.write = bad_write;
	nr_bad = 0;
	heals = true;
	return 0;
}

static inline u64 ring_blocks(void)
{
	return le64_to_cpu(f.sb.journal_blocks);
}

static inline void lose(u64 block)
{
	assert_true(nr_bad < BAD_MAX);
	bad[nr_bad++] = block;
}

static inline void lose_journal(u64 seq)
{
	lose(le64_to_cpu(f.sb.journal_start) + seq % ring_blocks());
}

static inline void write_dirty(u64 lba, u32 nr, int byte)
{
	for (u32 i = 0; i < nr; i++)
		write_blocks(&f, lba + i, 1, byte);
	flush(&f);
}

static inline int restart(u32 accept)
{
	f.opt.accept = accept;
	f.media_writes = 0;
	return fixture_restart(&f);
}

static inline void assert_refused(int err, const char *words)
{
	assert_int_equal(err, -EBADMSG);
	assert_non_null(strstr(f.msg.text, words));
	assert_int_equal(f.media_writes, 0);
}

/* The fingerprint as `stop` leaves it. */
static inline void note_rest(u64 seq, u64 incarnation)
{
	static u64 serial;
	struct xp_fp fp;

	memset(&fp, 0, sizeof(fp));
	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, f.sb.uuid, sizeof(fp.uuid));
	fp.serial = cpu_to_le64(++serial);
	fp.seq = cpu_to_le64(seq);
	fp.incarnation = cpu_to_le64(incarnation);
	fp.checksum = cpu_to_le64(xp_xxh64(&fp, offsetof(struct xp_fp, checksum)));
	memcpy(f.fast + XP_FP_BLOCK_B * XP_BLOCK_SIZE, &fp, sizeof(fp));
}

/* ... of the cache as it is now, which is returned. */
static inline struct xp_stats note_rest_here(void)
{
	struct xp_stats s = stats_of(&f);

	note_rest(s.seq, s.incarnation);
	return s;
}

static u32 writes_left;

static inline int last_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	return writes_left-- ? bad_write(ctx, block, nr, buf) : -ENODEV;
}

static inline bool is_losing(void)
{
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &f.sb, &f.msg), 0);
	return le32_to_cpu(f.sb.bad.losing);
}

#endif
