// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - what a miss has read, on its way into the cache.
 *
 * The reader never waits for it: its pages are copied, its bio ends, and the
 * copy is written by the worker. A fill is a favour; without memory at hand, or
 * with too much of it under way, it is dropped.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "shell.h"

#define FILL_GFP (GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/* Blocks under way at once: 8 MiB. */
#define FILL_BLOCKS_MAX	2048

struct xs_fill {
	struct list_head list;
	struct xs_cache *cache;
	struct xp_fill fill;
	struct bio bio;
	struct bio_vec vec[];	/* one a block */
};

static void fill_free(struct xs_fill *f)
{
	u32 i;

	for (i = 0; i < f->bio.bi_vcnt; i++)
		__free_page(f->vec[i].bv_page);
	atomic_sub(f->fill.nr_blocks, &f->cache->fill_blocks);
	kfree(f);
}

static void fill_written(struct bio *bio)
{
	struct xs_fill *f = bio->bi_private;
	struct xs_cache *cache = f->cache;
	int err = blk_status_to_errno(bio->bi_status);
	struct xp_fill fill = f->fill;
	struct xp_todo todo;

	if (err)
		xs_fast_error(cache, "fill", fill.target, err);
	fill_free(f);
	xp_todo_init(&todo);
	xp_fill_end(cache->core, &fill, err, &todo);
	xs_clock_stir(cache, false);
	xs_post(cache, &todo);
	xs_own_end(cache);
}

static struct xs_fill *fill_alloc(struct xs_cache *cache, const struct xp_fill *fill)
{
	struct xs_fill *f;
	u32 i;

	if (atomic_add_return(fill->nr_blocks, &cache->fill_blocks) > FILL_BLOCKS_MAX)
		goto none;
	f = kmalloc(struct_size(f, vec, fill->nr_blocks), FILL_GFP);
	if (!f)
		goto none;
	f->cache = cache;
	f->fill = *fill;
	bio_init(&f->bio, NULL, f->vec, fill->nr_blocks,
		 REQ_OP_WRITE | REQ_SYNC | REQ_IDLE);
	f->bio.bi_iter.bi_sector = fill->target;
	f->bio.bi_private = f;
	f->bio.bi_end_io = fill_written;
	for (i = 0; i < fill->nr_blocks; i++) {
		struct page *page = alloc_page(FILL_GFP);

		if (!page) {
			fill_free(f);
			return NULL;
		}
		__bio_add_page(&f->bio, page, XP_BLOCK_SIZE, 0);
	}
	return f;
none:
	atomic_sub(fill->nr_blocks, &cache->fill_blocks);
	return NULL;
}

static void fill_bytes(struct xs_fill *f, u32 offset, const struct bio_vec *bv)
{
	u32 done = 0;

	while (done < bv->bv_len) {
		u32 at = offset % XP_BLOCK_SIZE;
		u32 n = min(bv->bv_len - done, XP_BLOCK_SIZE - at);

		memcpy_page(f->vec[offset / XP_BLOCK_SIZE].bv_page, at,
			    bv->bv_page, bv->bv_offset + done, n);
		offset += n;
		done += n;
	}
}

/* Copies from the caller's pages; beyond the end of the slow device is zeros. */
static void fill_copy(struct xs_fill *f, struct xs_io *io)
{
	u64 sector = xp_lba_n(f->fill.lba) * XP_BLOCK_SECTORS;
	u32 bytes = xs_slow_bytes(f->cache, sector, f->fill.nr_blocks);
	u32 tail = f->fill.nr_blocks * XP_BLOCK_SIZE - bytes;
	struct bvec_iter iter = io->iter, at;
	struct bio_vec bv;
	u32 offset = 0;

	bio_advance_iter(io->bio, &iter, (sector - io->req.sector) << SECTOR_SHIFT);
	iter.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, at, iter) {
		fill_bytes(f, offset, &bv);
		offset += bv.bv_len;
	}
	if (tail)
		memzero_page(f->vec[f->fill.nr_blocks - 1].bv_page,
			     XP_BLOCK_SIZE - tail, tail);
}

void xs_fill_take(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	struct xs_fill *f = fill_alloc(cache, &io->req.fill);

	if (!f) {
		xp_fill_end(cache->core, &io->req.fill, -ENOMEM, todo);
		return;
	}
	fill_copy(f, io);
	xs_own_begin(cache);
	xs_queue_entry(cache, &cache->todo.fills, &f->list);
}

void xs_fill_write(struct list_head *entry)
{
	struct xs_fill *f = list_entry(entry, struct xs_fill, list);

	atomic64_add(f->bio.bi_iter.bi_size, &f->cache->counts.fast_bytes_written);
	bio_set_dev(&f->bio, xs_fast(f->cache));
	submit_bio(&f->bio);
}
