// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - a read miss that the core admits to the cache: it is read into private
 * pages, copied to the caller's, and written to the fast device from the private ones.
 *
 *	xs_fill_read --> [slow device] --> deliver --> wait --> [fast device] --> run_written
 *	           `--> overlay_io.c --------^  `--> the caller's bio ends
 *
 * A read with dirty blocks in it comes this way whether or not it fills.
 *
 * It is never written from the caller's pages: the caller may change them as soon as
 * they are read, and the cache would keep the change.
 *
 * The reader does not wait for the write. It is sent when the next miss that fills has
 * been sent, while the slow device works, or FILL_DELAY_MS later. Without memory, or with
 * FILL_BLOCKS_MAX blocks in flight, the caller's own bio is read and nothing is filled.
 */
#include <linux/slab.h>

#include "timing.h"
#include "verify.h"

#define FILL_GFP (GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/*
 * A fill waits so long, and up to a jiffy more, for the next miss; about as many runs are written
 * after one miss.
 */
#define FILL_DELAY_MS	2
#define FILLS_AT_ONCE	16u

/* Blocks in flight: 8 MiB. */
#define FILL_BLOCKS_MAX	2048

/* A bio over some of the pages: the read of all, then the write of a run. */
struct xs_fill_bio {
	struct xs_fill *fill;
	struct xp_fill run;
	u64 sent;		/* xs_time() */
	struct bio bio;
};

struct xs_fill {
	struct list_head list;
	struct xs_cache *cache;
	struct xs_io *io;	/* until it is delivered */
	struct xp_fill fill;
	u64 first;		/* block of the first page */
	u32 nr_pages;		/* of all blocks of the part; the fill is of some of them */
	atomic_t nr_reads;	/* that have not ended */
	int read_err;		/* of one that failed */
	struct xs_overlay *overlay;	/* until it is delivered; or NULL */
	atomic_t nr_writes;	/* that have not ended, or are not sent yet */
	struct xs_fill_bio bio;
	struct xs_fill_bio *more;	/* of the second and later runs, or NULL */
	struct bio_vec vec[];	/* one a block */
};

static void fill_free_pages(struct xs_fill *f)
{
	while (f->nr_pages)
		__free_page(f->vec[--f->nr_pages].bv_page);
	kfree(f);
}

/*
 * A fill of one block is kept for the next miss: to allocate and clear a page costs
 * more than the rest of a miss.
 */
static bool keep_spare(struct xs_cache *cache, struct xs_fill *f)
{
	unsigned long flags;
	bool keep;

	if (f->nr_pages != 1)
		return false;
	spin_lock_irqsave(&cache->lock, flags);
	keep = cache->nr_spare_fills < XS_SPARE_FILLS;
	if (keep) {
		list_add(&f->list, &cache->spare_fills);
		cache->nr_spare_fills++;
	}
	spin_unlock_irqrestore(&cache->lock, flags);
	return keep;
}

static struct xs_fill *take_spare(struct xs_cache *cache)
{
	struct xs_fill *f;
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	f = list_first_entry_or_null(&cache->spare_fills, struct xs_fill, list);
	if (f) {
		list_del(&f->list);
		cache->nr_spare_fills--;
	}
	spin_unlock_irqrestore(&cache->lock, flags);
	return f;
}

static void fill_free(struct xs_fill *f)
{
	struct xs_cache *cache = f->cache;

	kfree(f->more);
	f->more = NULL;
	xs_overlay_free(f->overlay);
	f->overlay = NULL;
	atomic_sub(f->nr_pages, &cache->fill_blocks);
	if (!keep_spare(cache, f))
		fill_free_pages(f);
}

/* @sectors from page @first on, from or to a device. */
static void fill_bio(struct xs_fill_bio *b, struct block_device *bdev, u64 sector,
		     u32 first, u32 sectors, blk_opf_t opf, bio_end_io_t *end)
{
	struct bio_vec *vec = &b->fill->vec[first];
	u32 bytes = sectors << SECTOR_SHIFT, i;

	bio_init(&b->bio, bdev, vec, b->fill->nr_pages - first, opf);
	b->bio.bi_iter.bi_sector = sector;
	b->bio.bi_private = b;
	b->bio.bi_end_io = end;
	for (i = 0; bytes; i++) {
		u32 n = min(bytes, XP_BLOCK_SIZE);

		__bio_add_page(&b->bio, vec[i].bv_page, n, 0);
		bytes -= n;
	}
}

static void fill_put(struct xs_fill *f)
{
	struct xs_cache *cache = f->cache;

	if (!atomic_dec_and_test(&f->nr_writes))
		return;
	fill_free(f);
	xs_own_end(cache);
}

static void fill_end(struct xs_cache *cache, const struct xp_fill *fill, int err)
{
	struct xp_todo todo;

	xp_todo_init(&todo);
	xp_fill_end(cache->core, fill, err, &todo);
	xs_post(cache, &todo);
}

static void run_ended(struct xs_fill_bio *b, int err)
{
	struct xs_fill *f = b->fill;

	if (err)
		xs_fast_error(f->cache, "fill", b->run.target, err);
	else
		xs_timed(f->cache, XP_CLASS_FAST_WRITE, xs_since(b->sent));
	fill_end(f->cache, &b->run, err);
	fill_put(f);
}

static void run_written(struct bio *bio)
{
	run_ended(bio->bi_private, blk_status_to_errno(bio->bi_status));
}

static struct xs_fill *fill_alloc(struct xs_cache *cache, u32 nr)
{
	struct xs_fill *f = kmalloc(struct_size(f, vec, nr), FILL_GFP);

	if (!f)
		return NULL;
	f->cache = cache;
	f->bio.fill = f;
	f->more = NULL;
	f->overlay = NULL;
	for (f->nr_pages = 0; f->nr_pages < nr; f->nr_pages++) {
		struct page *page = alloc_page(FILL_GFP);

		if (!page) {
			fill_free_pages(f);
			return NULL;
		}
		f->vec[f->nr_pages].bv_page = page;
	}
	return f;
}

static struct xs_fill *fill_get(struct xs_cache *cache, struct xs_io *io)
{
	u32 nr = io->req.nr_blocks;
	struct xs_fill *f = NULL;

	if (atomic_read(&cache->fill_blocks) + nr > FILL_BLOCKS_MAX)
		return NULL;
	if (nr == 1)
		f = take_spare(cache);
	if (!f)
		f = fill_alloc(cache, nr);
	if (!f)
		return NULL;
	atomic_add(nr, &cache->fill_blocks);
	f->io = io;
	f->first = io->req.sector / XP_BLOCK_SECTORS;
	f->fill = io->req.fill;
	f->read_err = 0;
	if (likely(!io->req.overlay))
		return f;
	f->overlay = xs_overlay_get(cache, f, io->req.overlay);
	if (f->overlay)
		return f;
	fill_free(f);
	return NULL;
}

static void copy_to_caller(struct xs_fill *f)
{
	struct xs_io *io = f->io;
	u32 offset = (u32)(io->req.sector - f->first * XP_BLOCK_SECTORS) << SECTOR_SHIFT;
	struct bvec_iter iter = io->iter, at;
	struct bio_vec bv;

	iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	__bio_for_each_segment(bv, io->bio, at, iter) {
		u32 done = 0;

		while (done < bv.bv_len) {
			u32 in_block = offset % XP_BLOCK_SIZE;
			u32 n = min(bv.bv_len - done, XP_BLOCK_SIZE - in_block);

			xs_copy_bytes(bv.bv_page, bv.bv_offset + done,
				      f->vec[offset / XP_BLOCK_SIZE].bv_page, in_block, n);
			offset += n;
			done += n;
		}
	}
}

/* Delayed: the reader whose bio has just ended is about to run. */
static void queue_fill(struct xs_cache *cache, struct xs_fill *f)
{
	unsigned long flags;

	xs_own_begin(cache);
	spin_lock_irqsave(&cache->lock, flags);
	list_add_tail(&f->list, &cache->todo.fills);
	spin_unlock_irqrestore(&cache->lock, flags);
	queue_delayed_work(cache->wq, &cache->todo.fill_work, msecs_to_jiffies(FILL_DELAY_MS));
}

static void lay_over(struct xs_fill *f)
{
	xs_overlay_lay(f->overlay, f->vec);
	xs_overlay_free(f->overlay);
	f->overlay = NULL;
}

void xs_fill_deliver(struct list_head *entry)
{
	struct xs_fill *f = list_entry(entry, struct xs_fill, list);
	struct xs_cache *cache = f->cache;
	struct xs_io *io = f->io;
	struct xp_todo todo;

	if (f->overlay)
		lay_over(f);
	copy_to_caller(f);
	xp_todo_init(&todo);
	xp_end(cache->core, &io->req, 0, &todo);
	if (f->fill.nr_blocks)
		queue_fill(cache, f);
	else
		fill_free(f);
	xp_list_add(&todo.done, &io->req.link);
	xs_post(cache, &todo);
}

static void fill_read_failed(struct xs_fill *f)
{
	struct xs_cache *cache = f->cache;
	struct xs_io *io = f->io;
	int err = f->read_err;
	struct xp_todo todo;

	fill_free(f);
	xp_todo_init(&todo);
	if (xp_end(cache->core, &io->req, err, &todo) == XP_DONE)
		xp_list_add(&todo.done, &io->req.link);
	xs_post(cache, &todo);
}

void xs_fill_read_ended(struct xs_fill *f, int err)
{
	if (err && (!READ_ONCE(f->read_err) || f->read_err == -ENOMEM))
		WRITE_ONCE(f->read_err, err);
	if (!atomic_dec_and_test(&f->nr_reads))
		return;
	if (f->read_err)
		fill_read_failed(f);
	else if (f->nr_pages > XS_FILL_INLINE)
		xs_queue_entry(f->cache, &f->cache->todo.late, &f->list);
	else
		xs_fill_deliver(&f->list);
}

static void slow_read_ended(struct xs_fill *f, int err)
{
	u64 took = err ? 0 : xs_since(f->bio.sent);

	if (err) {
		xs_slow_error(f->cache, "read", f->io->req.sector, err);
	} else {
		xs_timed(f->cache, XP_CLASS_SLOW_READ, took);
		xs_slow_took(f->cache, &f->io->req, f->nr_pages * XP_BLOCK_SECTORS, took);
	}
	xs_fill_read_ended(f, err);
}

/* Another processor may end the last bio of a cache that is being suspended before this has returned: xs_drain(). */
static void fill_read(struct bio *bio)
{
	rcu_read_lock();
	slow_read_ended(((struct xs_fill_bio *)bio->bi_private)->fill, blk_status_to_errno(bio->bi_status));
	rcu_read_unlock();
}

static void write_run(struct xs_cache *cache, struct xs_fill_bio *b)
{
	struct xs_fill *f = b->fill;
	u32 first = (u32)(xp_lba_n(b->run.lba) - f->first), i;

	for (i = 0; cache->options.verify && i < b->run.nr_blocks; i++)
		xp_fill_hash(cache->core, &b->run, i, xs_hash_page(f->vec[first + i].bv_page));
	fill_bio(b, NULL, b->run.target, first, b->run.nr_blocks * XP_BLOCK_SECTORS,
		 REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | xs_fast_opf(cache), run_written);
	atomic64_add(b->bio.bi_iter.bi_size, &cache->counts.fast_bytes_written);
	b->sent = xs_time(cache);
	atomic_inc(&f->nr_writes);
	if (cache->dax && !xs_memory_write(cache, &b->bio, b->bio.bi_iter, b->run.target)) {
		run_ended(b, 0);
		return;
	}
	xs_bio_of_all(&b->bio, xs_fast(cache));
	submit_bio(&b->bio);
}

/* Runs of @left. */
static u32 count_runs(struct xs_cache *cache, struct xp_fill left)
{
	struct xp_fill run;
	u32 n = 0;

	while (xp_fill_run(cache->core, &left, &run))
		n++;
	return n;
}

/* Without memory for their bios they are not filled. */
static void write_more(struct xs_cache *cache, struct xs_fill *f, struct xp_fill left, u32 nr)
{
	u32 i;

	f->more = kmalloc_array(nr, sizeof(*f->more), FILL_GFP);
	if (!f->more) {
		fill_end(cache, &left, -ENOMEM);
		return;
	}
	for (i = 0; i < nr; i++) {
		f->more[i].fill = f;
		xp_fill_run(cache->core, &left, &f->more[i].run);
		write_run(cache, &f->more[i]);
	}
}

/* Returns how many runs it has. */
static u32 write_fill(struct xs_cache *cache, struct xs_fill *f)
{
	struct xp_fill left = f->fill;
	u32 nr = count_runs(cache, left);

	atomic_set(&f->nr_writes, 1);
	xp_fill_run(cache->core, &left, &f->bio.run);
	write_run(cache, &f->bio);
	if (left.nr_blocks)
		write_more(cache, f, left, nr - 1);
	fill_put(f);
	return nr;
}

static struct xs_fill *take_fill(struct xs_cache *cache)
{
	struct xs_fill *f;
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	f = list_first_entry_or_null(&cache->todo.fills, struct xs_fill, list);
	if (f)
		list_del(&f->list);
	spin_unlock_irqrestore(&cache->lock, flags);
	return f;
}

/*
 * list_empty() reads the head once, list_add_tail() and list_del() store it once: the
 * look needs no lock. A fill that it misses has its delayed work queued.
 */
static void write_fills(struct xs_cache *cache, u32 max)
{
	while (max && !list_empty(&cache->todo.fills)) {
		struct xs_fill *f = take_fill(cache);

		max -= min(max, f ? write_fill(cache, f) : 1u);
	}
}

/* No miss has come in time. */
static void fill_work(struct work_struct *work)
{
	struct xs_cache *cache = container_of(to_delayed_work(work), struct xs_cache,
					      todo.fill_work);
	struct blk_plug plug;

	blk_start_plug(&plug);
	write_fills(cache, U32_MAX);
	blk_finish_plug(&plug);
}

void xs_fills_hurry(struct xs_cache *cache)
{
	if (!list_empty(&cache->todo.fills))	/* without the lock, as write_fills() */
		mod_delayed_work(cache->wq, &cache->todo.fill_work, 0);
}

void xs_fills_free(struct xs_cache *cache)
{
	struct xs_fill *f;

	while ((f = take_spare(cache)))
		fill_free_pages(f);
}

u64 xs_fills_bytes(void)
{
	return XS_SPARE_FILLS * (sizeof(struct xs_fill) + sizeof(struct bio_vec) + PAGE_SIZE);
}

void xs_fills_setup(struct xs_cache *cache)
{
	INIT_LIST_HEAD(&cache->spare_fills);
	INIT_LIST_HEAD(&cache->todo.fills);
	INIT_DELAYED_WORK(&cache->todo.fill_work, fill_work);
}

bool xs_fill_read(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	blk_opf_t opf = REQ_OP_READ | (io->bio->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO | REQ_RAHEAD));
	struct xs_fill *f = fill_get(cache, io);
	struct xs_overlay *overlay;
	u64 sector;
	u32 sectors;

	if (!f) {
		xp_fill_end(cache->core, &io->req.fill, -ENOMEM, todo);
		io->req.fill.nr_blocks = 0;
		return false;
	}
	xp_fill_read(cache->core, &io->req, &sector, &sectors);
	fill_bio(&f->bio, xs_slow(cache), sector - cache->pad, 0, sectors, opf, fill_read);
	overlay = f->overlay;
	atomic_set(&f->nr_reads, 1 + (int)xs_overlay_reads(overlay));
	f->bio.sent = xs_time(cache);
	dm_submit_bio_remap(io->bio, &f->bio.bio);
	xs_overlay_read(overlay, opf);
	write_fills(cache, FILLS_AT_ONCE);
	return true;
}
