// SPDX-License-Identifier: GPL-2.0-only
/* What the slow device holds now that the cache rests, noted on the fast one. */
#include "tools/guard/fingerprint.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/media.h"
#include "lib/slow.h"
#include "core/fingerprint.h"
#include "core/message.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const u64 block_of[2] = { XP_FP_BLOCK_A, XP_FP_BLOCK_B };

/* Which of the copies is the newer valid one, 0 or 1; negative: there is none. */
static int read_newest(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp *fp)
{
	struct xp_fp copy[2];
	int newest = xp_fp_read(m, sb->uuid, copy);

	if (newest >= 0)
		*fp = copy[0];
	return newest;
}

bool fingerprint_read(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp *fp)
{
	return read_newest(m, sb, fp) >= 0;
}

bool fingerprint_unreadable(const struct xp_media *m, const struct xp_sb *sb)
{
	struct xp_fp fp;

	return read_newest(m, sb, &fp) == -EIO;
}

int fingerprint_blank(const struct xp_media *m)
{
	static const struct xp_fp none;
	int err = m->write(m->ctx, block_of[0], 1, &none);

	return err ? err : m->write(m->ctx, block_of[1], 1, &none);
}

/* The newest goes last: one is whole at any time. One that can be written will do. */
static int write_both(const struct xp_media *m, struct xp_fp *fp, int newest)
{
	int first = newest == 0, err_first, err_last;

	fp->checksum = cpu_to_le64(xp_xxh64(fp, offsetof(struct xp_fp, checksum)));
	err_first = m->write(m->ctx, block_of[first], 1, fp);
	err_last = m->write(m->ctx, block_of[!first], 1, fp);
	return err_first && err_last ? err_last : 0;
}

int fingerprint_mark(const struct xp_media *m, const struct xp_sb *sb, bool stale)
{
	struct xp_fp fp;
	int newest = read_newest(m, sb, &fp);

	if (newest < 0)
		return -ENOENT;
	fp.flags = cpu_to_le32(stale ? XP_FP_STALE : 0);
	fp.serial = cpu_to_le64(le64_to_cpu(fp.serial) + 1);
	return write_both(m, &fp, newest);
}

int fingerprint_place(const struct xp_media *m, const struct xp_sb *sb, u64 lba)
{
	struct xp_fp fp;
	int newest = read_newest(m, sb, &fp);

	if (newest < 0)
		return -ENOENT;
	fp.mark = cpu_to_le64(lba);
	fp.serial = cpu_to_le64(le64_to_cpu(fp.serial) + 1);
	return write_both(m, &fp, newest);
}

int fingerprint_size(const struct xp_media *m, const struct xp_sb *sb, u64 fast_blocks)
{
	struct xp_fp fp;
	int newest = read_newest(m, sb, &fp);

	if (newest < 0 || le32_to_cpu(fp.count) == XP_FP_BLOCKS)	/* an older version has noted one block more */
		return newest == -EIO ? -EIO : 0;
	fp.block[XP_FP_BLOCKS - 1].lba = cpu_to_le64(fast_blocks);
	fp.serial = cpu_to_le64(le64_to_cpu(fp.serial) + 1);
	return write_both(m, &fp, newest);
}

/* I10: a superblock of another layout verifies too. */
static bool has_room(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->journal_start) > XP_FP_BLOCK_B &&
	       (!sb->scratch_blocks || le64_to_cpu(sb->scratch_start) > XP_FP_BLOCK_B);
}

int fingerprint_begin(const struct xp_media *m, const struct xp_sb *sb)
{
	struct xp_fp fp = { .serial = cpu_to_le64(1), .taken = cpu_to_le64((u64)time(NULL)) };

	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, sb->uuid, sizeof(fp.uuid));
	fp.block[XP_FP_BLOCKS - 1].lba = sb->fast_blocks;
	return has_room(sb) ? write_both(m, &fp, -ENOENT) : 0;
}

u64 fingerprint_hash(const struct loader *l, u64 lba, const u8 block[XP_BLOCK_SIZE])
{
	u8 rest[XP_BLOCK_SIZE];

	memcpy(rest, block, XP_BLOCK_SIZE);
	loader_leave_out(l, lba, rest);
	return xp_xxh64(rest, XP_BLOCK_SIZE);
}

/* A bad sector is left out. */
static int hash_slow(struct xp_fp *fp, struct slow *s)
{
	struct loader l;
	struct places p;
	u32 n = 0;

	fingerprint_loader(&l, s);
	fingerprint_places(&p, s, fp->uuid);
	for (u32 i = 0; i < p.n; i++) {
		if (slow_read(s, p.lba[i]))
			continue;
		fp->block[n].lba = cpu_to_le64(p.lba[i]);
		fp->block[n++].hash = cpu_to_le64(fingerprint_hash(&l, p.lba[i], s->block));
	}
	fp->count = cpu_to_le32(n);
	return n && s->bad <= SLOW_BAD_MAX ? 0 : -EIO;
}

static int take(const struct xp_media *m, u64 fast_blocks, struct slow *s, u64 seq)
{
	struct xp_fp fp, old;
	struct xp_jblock block;
	struct xp_message msg;
	struct xp_end end;
	struct xp_sb sb;
	int err = xp_sb_read(m, fast_blocks, &sb, &msg), newest;

	if (!err && !has_room(&sb))
		err = -ENOSPC;
	if (!err)
		err = xp_follow(m, &sb, seq, &block, &end);
	if (!err)
		err = slow_sync(s);
	if (err)
		return err;
	s->pad = xp_sb_pad(&sb);
	memset(&fp, 0, sizeof(fp));
	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, sb.uuid, sizeof(fp.uuid));
	newest = read_newest(m, &sb, &old);
	fp.serial = cpu_to_le64(newest < 0 ? 1 : le64_to_cpu(old.serial) + 1);
	fp.flags = newest < 0 ? 0 : old.flags;	/* only who has forgotten the stale ones takes that away */
	fp.mark = newest < 0 ? 0 : old.mark;
	fp.taken = cpu_to_le64((u64)time(NULL));
	fp.incarnation = cpu_to_le64(end.incarnation);
	fp.seq = cpu_to_le64(end.seq);
	fp.block[XP_FP_BLOCKS - 1].lba = sb.fast_blocks;
	err = hash_slow(&fp, s);
	return err ? err : write_both(m, &fp, newest);
}

int fingerprint_take(const struct device *fast, const char *slow, u64 seq)
{
	struct media m;
	struct slow s;
	int err = media_init(&m, fast->fd);

	if (err)
		return err;
	err = slow_open(&s, slow);
	if (!err)
		err = take(&m.io, device_blocks(fast), &s, seq);
	slow_close(&s);
	media_done(&m);
	return err;
}

void fingerprint_at_rest(const char *fast, const char *slow, u64 seq)
{
	struct device d;
	int err;

	if (device_open(&d, fast, true))
		return;
	if (!device_reopen(&d, DEVICE_OWN)) {
		err = fingerprint_take(&d, slow, seq);
		if (err)
			complain_errno(err, slow, "cannot note what it holds now, so what others write there meanwhile may go unseen");
	}
	device_close(&d);
}
