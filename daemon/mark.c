// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark.c - the block of the slow device that tells that writes have passed the cache.
 *
 *	read --zeros--> write --> flush --> writes pass
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "core/fingerprint.h"
#include "core/mark.h"
#include "core/media.h"
#include "core/message.h"
#include "core/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mark_end(struct xd_op *op, int err)
{
	struct xd_cache *cache = op->owner;
	u64 sector = xp_mark_sector(cache->core) - cache->pad;

	err = xp_mark_end(cache->core, err, &op->loop->todo);
	if (err)
		xd_log_event("%s: no write passes to the slow device: sector %llu of it cannot be marked: %s",
			     cache->fast->dev.path, (unsigned long long)sector, strerror(-err));
	else
		xd_log_event("%s: failed with nothing dirty: from now on writes pass to the slow device, whose sector %llu says so",
			     cache->fast->dev.path, (unsigned long long)sector);
}

static void next(struct xd_op *op, enum xd_kind kind, void (*end)(struct xd_op *op, int err))
{
	struct xd_cache *cache = op->owner;

	op->kind = (u8)kind;
	op->offset = xp_mark_sector(cache->core) << XP_SECTOR_SHIFT;
	op->data = kind == XD_FLUSH ? NULL : cache->mark.block;
	op->end = end;
	xd_device_submit(cache->slow, op->loop, op);
}

static void written(struct xd_op *op, int err)
{
	if (err)
		mark_end(op, err);
	else
		next(op, XD_FLUSH, mark_end);
}

static void seen(struct xd_op *op, int err)
{
	struct xd_cache *cache = op->owner;

	if (!err && !xp_mark_make(cache->core, cache->mark.block))
		err = -EEXIST;
	if (err)
		mark_end(op, err);
	else
		next(op, XD_WRITE, written);
}

void xd_mark(struct xd_loop *loop)
{
	struct xd_op *op = &loop->cache->mark.op;

	op->loop = loop;
	op->bytes = XP_BLOCK_SIZE;
	next(op, XD_READ, seen);
}

int xd_mark_setup(struct xd_cache *cache)
{
	void *block;

	cache->mark.op = (struct xd_op){ .registered = -1, .owner = cache };
	if (posix_memalign(&block, XP_BLOCK_SIZE, XP_BLOCK_SIZE))
		return -ENOMEM;
	cache->mark.block = block;
	return 0;
}

static int check_place(struct xd_cache *cache, u64 lba, struct xp_message *msg)
{
	u64 sector = lba * XP_BLOCK_SECTORS - cache->pad, offset = sector << XP_SECTOR_SHIFT;
	int err;

	if (!lba)
		return 0;
	if (offset + XP_BLOCK_SIZE > cache->sectors << XP_SECTOR_SHIFT) {
		snprintf(msg->text, sizeof(msg->text), "the slow device has no sectors from %llu on to be marked", (unsigned long long)sector);
		return -EINVAL;
	}
	err = cache->slow->ops->pread(cache->slow, cache->mark.block, XP_BLOCK_SIZE, offset);
	if (err) {
		snprintf(msg->text, sizeof(msg->text), "sector %llu of the slow device cannot be read", (unsigned long long)sector);
		return err;
	}
	if (!xp_mark_is(&cache->sb, cache->mark.block))
		return 0;
	snprintf(msg->text, sizeof(msg->text), "writes have passed this cache, says sector %llu of the slow device: xpcache start sets that right",
		 (unsigned long long)sector);
	return -ESTALE;
}

int xd_mark_check(struct xd_cache *cache, const struct xp_media *media, struct xp_message *msg)
{
	struct xp_fp *fp;
	u64 noted;
	int err;

	if (posix_memalign((void **)&fp, XP_BLOCK_SIZE, 2 * sizeof(*fp)))
		return -ENOMEM;
	err = xp_mark_place(media, &cache->sb, fp, &noted);
	free(fp);
	if (err) {
		snprintf(msg->text, sizeof(msg->text),
			 "both notes of where writes that have passed the cache are marked are unreadable: xpcache start sets that right");
		return err;
	}
	err = check_place(cache, noted, msg);
	return err || noted == cache->tunables->mark ? err : check_place(cache, cache->tunables->mark, msg);
}
