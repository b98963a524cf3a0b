// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark.c - the passthrough mark: a block of the slow device which says that writes
 * have passed through.
 *
 * It is written when the fast device is gone. Writes wait until the mark is
 * durable, or has failed. Its memory is allocated by the constructor.
 */
#include <linux/gfp.h>
#include <linux/mm.h>

#include "backend.h"
#include "fingerprint.h"
#include "mark.h"
#include "media.h"

static int mark_io(struct xs_cache *cache, u64 sector, void *block, blk_opf_t opf)
{
	struct bio_vec vec;
	struct bio bio;
	int err;

	bio_init(&bio, NULL, &vec, 1, opf);
	xs_bio_of_all(&bio, xs_slow(cache));
	bio.bi_iter.bi_sector = sector;
	__bio_add_page(&bio, virt_to_page(block), XP_BLOCK_SIZE, 0);
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return err;
}

/* Of the slow device. */
static u64 mark_sector(const struct xs_cache *cache)
{
	return xp_mark_sector(cache->core) - cache->pad;
}

static int write_mark(struct xs_cache *cache)
{
	u64 sector = mark_sector(cache);
	int err = mark_io(cache, sector, cache->mark_block, REQ_OP_READ | REQ_META);

	if (!err && !xp_mark_make(cache->core, cache->mark_block))
		err = -EEXIST;
	if (!err)
		err = mark_io(cache, sector, cache->mark_block, REQ_OP_WRITE | REQ_SYNC | REQ_META);
	if (!err)
		err = blkdev_issue_flush(xs_slow(cache));
	return err;
}

static void mark_end(struct xs_cache *cache, int err, struct xp_todo *todo)
{
	u64 sector = mark_sector(cache);

	err = xp_mark_end(cache->core, err, todo);
	if (err)
		DMERR("%pg: no write passes to the slow device: sector %llu of it cannot be marked, error %d",
		      xs_fast(cache), sector, err);
	else
		DMWARN("%pg: failed with nothing dirty: from now on writes pass to the slow device, whose sector %llu says so",
		       xs_fast(cache), sector);
}

static void mark_work(struct work_struct *work)
{
	struct xs_cache *cache = container_of(work, struct xs_cache, mark_work);
	struct xp_todo todo;

	xp_todo_init(&todo);
	mark_end(cache, write_mark(cache), &todo);
	xs_perform(cache, &todo);
	xs_own_end(cache);
}

void xs_mark(struct xs_cache *cache)
{
	xs_own_begin(cache);
	queue_work(cache->wq, &cache->mark_work);
}

int xs_mark_setup(struct xs_cache *cache)
{
	INIT_WORK(&cache->mark_work, mark_work);
	cache->mark_block = (void *)__get_free_page(GFP_KERNEL);
	return cache->mark_block ? 0 : -ENOMEM;
}

void xs_mark_free(struct xs_cache *cache)
{
	free_page((unsigned long)cache->mark_block);
}

static int check_place(struct xs_cache *cache, const struct xp_sb *sb, u64 lba)
{
	u64 sector = lba * XP_BLOCK_SECTORS - cache->pad;
	int err;

	if (!lba)
		return 0;
	if (sector + XP_BLOCK_SECTORS > bdev_nr_sectors(xs_slow(cache))) {
		DMERR("%pg: no sectors from %llu on to be marked", xs_slow(cache), sector);
		return -EINVAL;
	}
	err = mark_io(cache, sector, cache->mark_block, REQ_OP_READ | REQ_META);
	if (err) {
		xs_slow_error(cache, "read of the mark", sector + cache->pad, err);
		return err;
	}
	if (!xp_mark_is(sb, cache->mark_block))
		return 0;
	DMERR("%pg: writes have passed this cache, says sector %llu of %pg: xpcache start sets that right",
	      xs_fast(cache), sector, xs_slow(cache));
	return -ESTALE;
}

int xs_mark_check(struct xs_cache *cache, const struct xp_sb *sb, const struct xp_media *media)
{
	struct xp_fp *fp = kvmalloc(2 * sizeof(*fp), GFP_NOIO);
	u64 noted;
	int err;

	if (!fp)
		return -ENOMEM;
	err = xp_mark_place(media, sb, fp, &noted);
	kvfree(fp);
	if (err) {
		DMERR("%pg: both notes of where writes that have passed the cache are marked are unreadable (error %d): xpcache start sets that right",
		      xs_fast(cache), err);
		return err;
	}
	err = check_place(cache, sb, noted);
	return err || noted == cache->options.mark ? err :
	       check_place(cache, sb, cache->options.mark);
}
