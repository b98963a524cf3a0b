// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - a miss that the cache wants: read into pages of our own, copied to
 * the caller's, then written to the fast device from the same pages.
 *
 *	xs_fill_read --> [slow device] --> deliver --> [fast device] --> fill_written
 *	                                      `--> the caller's bio ends
 *
 * Never from the caller's pages: it may change them the moment they are read,
 * and what it made of them would be what everybody reads from then on.
 *
 * The reader never waits for the write. A fill is a favour; without memory at
 * hand, or with too much of it under way, the caller's bio is read plainly.
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
	struct xs_io *io;	/* until it is delivered */
	struct xp_fill fill;
	u32 nr_pages;		/* of the whole part; the fill is the first of them */
	struct bio bio;
	struct bio_vec vec[];	/* one a block */
};

static void fill_free(struct xs_fill *f)
{
	atomic_sub(f->nr_pages, &f->cache->fill_blocks);
	while (f->nr_pages)
		__free_page(f->vec[--f->nr_pages].bv_page);
	kfree(f);
}

/* The first @sectors of the pages, from or to a device. */
static void fill_bio(struct xs_fill *f, struct block_device *bdev, u64 sector,
		     u32 sectors, blk_opf_t opf, bio_end_io_t *end)
{
	u32 bytes = sectors << SECTOR_SHIFT, i;

	bio_init(&f->bio, bdev, f->vec, f->nr_pages, opf);
	f->bio.bi_iter.bi_sector = sector;
	f->bio.bi_private = f;
	f->bio.bi_end_io = end;
	for (i = 0; bytes; i++) {
		u32 n = min(bytes, XP_BLOCK_SIZE);

		__bio_add_page(&f->bio, f->vec[i].bv_page, n, 0);
		bytes -= n;
	}
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
	xs_post(cache, &todo);
	xs_own_end(cache);
}

static struct xs_fill *fill_alloc(struct xs_cache *cache, struct xs_io *io)
{
	u32 nr = io->req.nr_blocks;
	struct xs_fill *f;

	if (atomic_read(&cache->fill_blocks) + nr > FILL_BLOCKS_MAX)
		return NULL;
	f = kmalloc(struct_size(f, vec, nr), FILL_GFP);
	if (!f)
		return NULL;
	f->cache = cache;
	f->io = io;
	f->fill = io->req.fill;
	for (f->nr_pages = 0; f->nr_pages < nr; f->nr_pages++) {
		struct page *page = alloc_page(FILL_GFP);

		if (!page)
			break;
		f->vec[f->nr_pages].bv_page = page;
		atomic_inc(&cache->fill_blocks);
	}
	if (f->nr_pages == nr)
		return f;
	fill_free(f);
	return NULL;
}

static void copy_to_caller(struct xs_fill *f)
{
	struct xs_io *io = f->io;
	struct bvec_iter iter = io->iter, at;
	struct bio_vec bv;
	u32 offset = 0;

	iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	__bio_for_each_segment(bv, io->bio, at, iter) {
		u32 done = 0;

		while (done < bv.bv_len) {
			u32 in_block = offset % XP_BLOCK_SIZE;
			u32 n = min(bv.bv_len - done, XP_BLOCK_SIZE - in_block);

			memcpy_page(bv.bv_page, bv.bv_offset + done,
				    f->vec[offset / XP_BLOCK_SIZE].bv_page,
				    in_block, n);
			offset += n;
			done += n;
		}
	}
}

void xs_fill_deliver(struct list_head *entry)
{
	struct xs_fill *f = list_entry(entry, struct xs_fill, list);
	struct xs_cache *cache = f->cache;
	struct xs_io *io = f->io;
	struct xp_todo todo;

	copy_to_caller(f);
	xp_todo_init(&todo);
	xp_end(cache->core, &io->req, 0, &todo);
	xs_own_begin(cache);
	xs_queue_entry(cache, &cache->todo.fills, &f->list);
	xp_list_add(&todo.done, &io->req.link);
	xs_post(cache, &todo);
}

static void fill_read_failed(struct xs_fill *f, int err)
{
	struct xs_cache *cache = f->cache;
	struct xs_io *io = f->io;
	struct xp_todo todo;

	fill_free(f);
	xs_slow_error(cache, "read", io->req.sector, err);
	xp_todo_init(&todo);
	xp_end(cache->core, &io->req, err, &todo);
	xp_list_add(&todo.done, &io->req.link);
	xs_post(cache, &todo);
}

static void fill_read(struct bio *bio)
{
	struct xs_fill *f = bio->bi_private;

	xs_slow_read_end(f->cache);
	if (bio->bi_status)
		fill_read_failed(f, blk_status_to_errno(bio->bi_status));
	else if (f->nr_pages > XS_FILL_INLINE)
		xs_queue_entry(f->cache, &f->cache->todo.late, &f->list);
	else
		xs_fill_deliver(&f->list);
}

/* Pages are blocks: the part must begin with the fill's first. */
static bool begins_with_fill(const struct xp_req *req)
{
	return xp_lba_n(req->fill.lba) * XP_BLOCK_SECTORS == req->sector;
}

bool xs_fill_read(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	struct xs_fill *f = begins_with_fill(&io->req) ? fill_alloc(cache, io) : NULL;

	if (!f) {
		xp_fill_end(cache->core, &io->req.fill, -ENOMEM, todo);
		io->req.fill.nr_blocks = 0;
		return false;
	}
	fill_bio(f, xs_slow(cache), io->req.sector, io->req.nr_sectors,
		 REQ_OP_READ | (io->bio->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO | REQ_RAHEAD)),
		 fill_read);
	xs_slow_read_begin(cache);
	dm_submit_bio_remap(io->bio, &f->bio);
	return true;
}

void xs_fill_write(struct list_head *entry)
{
	struct xs_fill *f = list_entry(entry, struct xs_fill, list);
	struct xs_cache *cache = f->cache;

	fill_bio(f, xs_fast(cache), f->fill.target,
		 f->fill.nr_blocks * XP_BLOCK_SECTORS,
		 REQ_OP_WRITE | REQ_SYNC | REQ_IDLE, fill_written);
	atomic64_add(f->bio.bi_iter.bi_size, &cache->counts.fast_bytes_written);
	submit_bio(&f->bio);
}
