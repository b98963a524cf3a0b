// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal_io.c - writes journal blocks, and the superblock. Each place of the window has a
 * bio, and the superblock has one.
 *
 * On a fast device with a volatile cache a block is PREFLUSH | FUA. Before one
 * that is a device-mapper device goes a FLUSH of its own: the device mapper splits
 * the two, forgets the error of the first, and goes on with the second (6.1 and
 * 6.12, dm_io_complete()). It costs no more: the device mapper uses a work for that
 * as well.
 *
 * In persistent memory a block is a few lines. The task that performs the todo stores them.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "timing.h"

/* Logged once: journal writes in flight fail as well. */
static void cache_failed(struct xs_cache *cache, int err)
{
	if (atomic64_cmpxchg(&cache->counts.failed_since, 0, ktime_get_real_seconds()))
		return;
	DMERR("%pg: journal write failed (error %d): the cache accepts no more writes; what it acknowledged as durable is safe",
	      xs_fast(cache), err);
}

static void journal_written(struct bio *bio)
{
	struct xs_journal_io *j = bio->bi_private;
	struct xs_cache *cache = j->cache;
	int err = blk_status_to_errno(bio->bi_status);
	struct xp_todo todo;

	if (err)
		xs_fast_error(cache, "journal write", j->target, err);
	else
		xs_timed(cache, XP_CLASS_FAST_WRITE, xs_since(j->sent));
	xp_todo_init(&todo);
	xp_journal_end(cache->core, j->i, err, &todo);
	if (err && xp_has_failed(cache->core))
		cache_failed(cache, err);
	xs_post(cache, &todo);
	xs_own_end(cache);
}

/* The core's memory comes from vmalloc(): a block may lie in two pages. */
static void find_pages(struct xs_journal_io *j, void *data)
{
	u32 left = XP_BLOCK_SIZE;

	while (left) {
		u32 n = min_t(u32, left, PAGE_SIZE - offset_in_page(data));

		j->vec[j->nr_vecs++] = (struct bio_vec) {
			.bv_page = vmalloc_to_page(data),
			.bv_len = n,
			.bv_offset = offset_in_page(data),
		};
		data += n;
		left -= n;
	}
}

/* A place of the window is always the same memory. */
static void add_block(struct xs_journal_io *j, void *data)
{
	if (!j->nr_vecs)
		find_pages(j, data);
	flush_kernel_vmap_range(data, XP_BLOCK_SIZE);
	j->bio.bi_vcnt = j->nr_vecs;
	j->bio.bi_iter.bi_size = XP_BLOCK_SIZE;
}

static void submit_block(struct xs_journal_io *j, bio_end_io_t *end)
{
	xs_bio_of_all(&j->bio, xs_fast(j->cache));
	j->bio.bi_private = j;
	j->bio.bi_end_io = end;
	submit_bio(&j->bio);
}

static void write_block(struct xs_cache *cache, u32 i, bool flushed)
{
	struct xs_journal_io *j = &cache->journal[i];
	blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | REQ_META;
	struct xp_journal_io io;

	opf |= xs_fast_opf(cache);
	xp_journal_io(cache->core, i, &io);
	if (io.flush_fua)
		opf |= flushed ? REQ_FUA : REQ_PREFLUSH | REQ_FUA;
	bio_init(&j->bio, NULL, j->vec, ARRAY_SIZE(j->vec), opf);
	j->bio.bi_iter.bi_sector = j->target = io.target;
	add_block(j, io.data);
	atomic64_add(XP_BLOCK_SIZE, &cache->counts.fast_bytes_written);
	if (!flushed)
		j->sent = xs_time(cache);
	submit_block(j, journal_written);
}

static void journal_flushed(struct bio *bio)
{
	struct xs_journal_io *j = bio->bi_private;
	struct xs_cache *cache = j->cache;
	unsigned long flags;

	if (bio->bi_status) {
		journal_written(bio);
		return;
	}
	spin_lock_irqsave(&cache->lock, flags);
	cache->todo.flushed |= 1u << j->i;
	spin_unlock_irqrestore(&cache->lock, flags);
	queue_work(cache->wq, &cache->todo.journal_work);
}

static void flush_first(struct xs_cache *cache, u32 i)
{
	struct xs_journal_io *j = &cache->journal[i];

	bio_init(&j->bio, NULL, NULL, 0,
		 REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC | REQ_IDLE | REQ_META);
	j->sent = xs_time(cache);
	submit_block(j, journal_flushed);
}

static bool store_block(struct xs_cache *cache, u32 i, struct xp_todo *todo)
{
	u64 begun = xs_time(cache);
	struct xp_journal_io io;

	xp_journal_io(cache->core, i, &io);
	if (xs_memory_store(cache, io.target, io.data, io.bytes))
		return false;
	atomic64_add(io.bytes, &cache->counts.fast_bytes_written);
	xs_timed(cache, XP_CLASS_FAST_WRITE, xs_since(begun));
	xp_journal_end(cache->core, i, 0, todo);
	return true;
}

void xs_journal_write(struct xs_cache *cache, u32 mask, struct xp_todo *todo)
{
	while (mask) {
		u32 i = __ffs(mask);

		mask &= mask - 1;
		if (cache->dax && store_block(cache, i, todo))
			continue;
		xs_own_begin(cache);
		if (cache->flush_apart)
			flush_first(cache, i);
		else
			write_block(cache, i, false);
	}
}

void xs_journal_write_flushed(struct xs_cache *cache, u32 mask)
{
	while (mask) {
		u32 i = __ffs(mask);

		mask &= mask - 1;
		write_block(cache, i, true);
	}
}

int xs_journal_alloc(struct xs_cache *cache)
{
	u32 i;

	cache->journal = kcalloc(XP_JOURNAL_IOS, sizeof(*cache->journal), GFP_KERNEL);
	if (!cache->journal)
		return -ENOMEM;
	for (i = 0; i < XP_JOURNAL_IOS; i++) {
		cache->journal[i].cache = cache;
		cache->journal[i].i = i;
	}
	return 0;
}
