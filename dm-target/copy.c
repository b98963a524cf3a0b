// SPDX-License-Identifier: GPL-2.0-only
/*
 * copy.c - XP_COPY: a write from a private buffer.
 *
 *	xs_copy_start --> [read the base] --> merge --> [write] --> copy_written
 *
 * The bytes are copied before they are hashed, since the caller may change its
 * pages while they are written. Buffers come from a small reserve, and beyond it
 * from an allocation that does not wait. If both fail the request is queued for
 * a buffer. Each buffer that is put back starts one of the queue.
 */
#include <linux/slab.h>

#include "timing.h"
#include "accounting.h"
#include "verify.h"

#define COPY_GFP (GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/* ----------------------------------------------------------- buffers ---- */

static void copy_free(struct xs_copy *copy)
{
	while (copy->nr_pages)
		__free_page(copy->page[--copy->nr_pages]);
	kfree(copy);
}

static struct xs_copy *copy_alloc(struct xs_cache *cache, u32 nr_pages, gfp_t gfp)
{
	struct xs_copy *copy = kzalloc(sizeof(*copy), gfp);

	if (!copy)
		return NULL;
	copy->cache = cache;
	while (copy->nr_pages < nr_pages) {
		struct page *page = alloc_page(gfp);

		if (!page) {
			copy_free(copy);
			return NULL;
		}
		copy->page[copy->nr_pages++] = page;
	}
	return copy;
}

static struct xs_copy *take_reserved(struct xs_cache *cache)
{
	struct xs_copy *copy;
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	copy = list_first_entry_or_null(&cache->copy_reserve, struct xs_copy, list);
	if (copy)
		list_del(&copy->list);
	spin_unlock_irqrestore(&cache->lock, flags);
	return copy;
}

static struct xs_copy *copy_get(struct xs_cache *cache, u32 nr_pages)
{
	struct xs_copy *copy = take_reserved(cache);

	return copy ? copy : copy_alloc(cache, nr_pages, COPY_GFP);
}

/* Any context. */
static void copy_put(struct xs_copy *copy)
{
	struct xs_cache *cache = copy->cache;
	unsigned long flags;
	bool wanted;

	if (!copy->reserved) {
		copy_free(copy);
		return;
	}
	spin_lock_irqsave(&cache->lock, flags);
	list_add(&copy->list, &cache->copy_reserve);
	wanted = !xp_list_empty(&cache->todo.unbuffered);
	spin_unlock_irqrestore(&cache->lock, flags);
	if (wanted)
		xs_wake_worker(cache);
}

struct xs_copy *xs_copy_borrow(struct xs_cache *cache)
{
	return take_reserved(cache);
}

void xs_copy_return(struct xs_copy *copy)
{
	copy_put(copy);
}

int xs_copies_alloc(struct xs_cache *cache)
{
	u32 i;

	INIT_LIST_HEAD(&cache->copy_reserve);
	for (i = 0; i < XS_COPY_RESERVE; i++) {
		struct xs_copy *copy = copy_alloc(cache, XP_COPY_MAX, GFP_KERNEL);

		if (!copy)
			return -ENOMEM;
		copy->reserved = true;
		list_add(&copy->list, &cache->copy_reserve);
	}
	return 0;
}

void xs_copies_free(struct xs_cache *cache)
{
	struct xs_copy *copy, *next;

	list_for_each_entry_safe(copy, next, &cache->copy_reserve, list)
		copy_free(copy);
	INIT_LIST_HEAD(&cache->copy_reserve);
}

u64 xs_copies_bytes(void)
{
	return XS_COPY_RESERVE * (sizeof(struct xs_copy) + XP_COPY_MAX * PAGE_SIZE);
}

/* -------------------------------------------------------------- bytes ---- */

static void clear_bytes(struct xs_copy *copy, u32 offset, u32 len)
{
	while (len) {
		u32 at = offset % XP_BLOCK_SIZE;
		u32 n = min(len, XP_BLOCK_SIZE - at);

		memzero_page(copy->page[offset / XP_BLOCK_SIZE], at, n);
		offset += n;
		len -= n;
	}
}

static void copy_bytes(struct xs_copy *copy, u32 offset, const struct bio_vec *bv)
{
	u32 done = 0;

	while (done < bv->bv_len) {
		u32 at = offset % XP_BLOCK_SIZE;
		u32 n = min(bv->bv_len - done, XP_BLOCK_SIZE - at);

		xs_copy_bytes(copy->page[offset / XP_BLOCK_SIZE], at,
			      bv->bv_page, bv->bv_offset + done, n);
		offset += n;
		done += n;
	}
}

/* The caller's part, over the base. */
static void copy_callers(struct xs_copy *copy, struct xs_io *io)
{
	struct bvec_iter iter = io->iter, at;
	u32 offset = io->req.copy.offset;
	struct bio_vec bv;

	iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	if (io->req.op == XP_ZEROES) {
		clear_bytes(copy, offset, iter.bi_size);
		return;
	}
	__bio_for_each_segment(bv, io->bio, at, iter) {
		copy_bytes(copy, offset, &bv);
		offset += bv.bv_len;
	}
}

static void hash_blocks(struct xs_copy *copy)
{
	u32 i;

	for (i = 0; i < copy->io->req.nr_blocks; i++)
		copy->hash[i] = xs_hash_page(copy->page[i]);
}

/* ----------------------------------------------------------------- I/O ---- */

void xs_copy_finish(struct xs_copy *copy, xs_copy_end_fn *end, int err, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	struct xs_io *io = copy->io;

	copy_put(copy);
	if (end(cache->core, &io->req, err, todo) == XP_DONE)
		xp_list_add(&todo->done, &io->req.link);
}

/* Any context. */
void xs_copy_end(struct xs_copy *copy, xs_copy_end_fn *end, int err)
{
	struct xs_cache *cache = copy->cache;
	struct xp_todo todo;

	rcu_read_lock();	/* as in xs_io_below_ended() */
	xp_todo_init(&todo);
	xs_copy_finish(copy, end, err, &todo);
	xs_post(cache, &todo);
	rcu_read_unlock();
}

/*
 * Without a device: bio_init() would take a reference on the sender's cgroup, which
 * only the end of a bio drops. A store into memory ends no bio.
 */
void xs_copy_bio(struct xs_copy *copy, u64 sector, blk_opf_t opf, bio_end_io_t *end)
{
	bio_init(&copy->bio, NULL, copy->vec, XP_COPY_MAX, opf);
	copy->bio.bi_iter.bi_sector = sector;
	copy->bio.bi_private = copy;
	copy->bio.bi_end_io = end;
}

void xs_copy_submit(struct xs_copy *copy, struct block_device *bdev)
{
	bio_set_dev(&copy->bio, bdev);
	copy->sent = xs_time(copy->cache);
	dm_submit_bio_remap(copy->io->bio, &copy->bio);
}

static void copy_written(struct bio *bio)
{
	struct xs_copy *copy = bio->bi_private;
	int err = blk_status_to_errno(bio->bi_status);

	if (err)
		xs_fast_error(copy->cache, "write", copy->io->req.target, err);
	else
		xs_timed(copy->cache, XP_CLASS_FAST_WRITE, xs_since(copy->sent));
	xs_copy_end(copy, xp_end, err);
}

static bool copy_stored(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	u64 begun = xs_time(cache);

	if (xs_memory_write(cache, &copy->bio, copy->bio.bi_iter, copy->io->req.target))
		return false;
	xs_timed(cache, XP_CLASS_FAST_WRITE, xs_since(begun));
	xs_copy_finish(copy, xp_end, 0, todo);
	return true;
}

static void merge(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	struct xs_io *io = copy->io;
	const struct xp_req *req = &io->req;
	blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | xs_fast_opf(cache);
	u32 i;

	copy_callers(copy, io);
	if (req->copy.parallel && cache->volatile_fast)
		opf |= REQ_FUA;
	xs_copy_bio(copy, req->target, opf, copy_written);
	for (i = 0; i < req->nr_blocks; i++)
		__bio_add_page(&copy->bio, copy->page[i], XP_BLOCK_SIZE, 0);
	atomic64_add(copy->bio.bi_iter.bi_size, &cache->counts.fast_bytes_written);
	if (req->copy.hashed) {
		hash_blocks(copy);
		xp_copied(cache->core, &io->req, copy->hash, todo);
	}
	if (!cache->dax || !copy_stored(copy, todo))
		xs_copy_submit(copy, xs_fast(cache));
}

static void base_read(struct bio *bio)
{
	struct xs_copy *copy = bio->bi_private;
	struct xs_cache *cache = copy->cache;
	int err = blk_status_to_errno(bio->bi_status);
	bool slow = copy->io->req.copy.base == XP_BASE_SLOW;

	if (!err) {
		xs_timed(cache, slow ? XP_CLASS_SLOW_READ : XP_CLASS_FAST_READ,
			 xs_since(copy->sent));
		xs_queue_entry(cache, &cache->todo.based, &copy->list);
		return;
	}
	if (slow)
		xs_slow_error(cache, "read", copy->io->req.copy.from, err);
	else
		xs_fast_error(cache, "read", copy->io->req.copy.from, err);
	xs_copy_end(copy, xp_base_failed, err);
}

static void read_base(struct xs_copy *copy)
{
	const struct xp_copy *c = &copy->io->req.copy;
	struct xs_cache *cache = copy->cache;
	u32 bytes = XP_BLOCK_SIZE;
	u64 sector = c->from;

	if (c->base == XP_BASE_SLOW) {
		bytes = xs_slow_bytes(cache, sector, 1);
		clear_bytes(copy, bytes, XP_BLOCK_SIZE - bytes);
		sector -= cache->pad;
	}
	xs_copy_bio(copy, sector, REQ_OP_READ | REQ_SYNC, base_read);
	__bio_add_page(&copy->bio, copy->page[0], bytes, 0);
	xs_copy_submit(copy, c->base == XP_BASE_SLOW ? xs_slow(cache) : xs_fast(cache));
}

static void base_there(struct xs_copy *copy, struct xp_todo *todo);

/* False: the driver refuses. */
static bool base_loaded(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	u64 from = copy->io->req.copy.from, begun = xs_time(cache);
	void *to = kmap_local_page(copy->page[0]);
	int err = xs_memory_load(cache, from, to, XP_BLOCK_SIZE);

	kunmap_local(to);
	if (err == -ENXIO)
		return false;
	if (err) {
		xs_fast_error(cache, "read", from, err);
		xs_copy_finish(copy, xp_base_failed, err, todo);
	} else {
		xs_timed(cache, XP_CLASS_FAST_READ, xs_since(begun));
		base_there(copy, todo);
	}
	return true;
}

static void base_begin(struct xs_copy *copy, struct xp_todo *todo)
{
	if (copy->io->req.copy.base == XP_BASE_SLOW || !copy->cache->dax ||
	    !base_loaded(copy, todo))
		read_base(copy);
}

/* The base has been read: compares it with its sum, and goes on. */
static void base_there(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	struct xs_io *io = copy->io;
	struct xp_rot rot = { .nr = 0 };
	enum xp_act act = XP_COPY;

	if (unlikely(io->req.copy.check))
		act = xp_base_checked(cache->core, &io->req, xs_hash_page(copy->page[0]), &rot,
				      todo);
	xs_rot_tell(cache, &rot);
	if (act == XP_COPY) {
		merge(copy, todo);
		return;
	}
	if (act == XP_CHECK) {
		base_begin(copy, todo);
		return;
	}
	copy_put(copy);
	if (act == XP_DONE)
		xp_list_add(&todo->done, &io->req.link);
}

void xs_copy_go_on(struct xs_copy *copy, struct xp_todo *todo)
{
	if (copy->io->act == XP_CHECK)
		xs_check_begin(copy, todo);
	else
		base_there(copy, todo);
}

static void copy_begin(struct xs_copy *copy, struct xs_io *io, struct xp_todo *todo)
{
	copy->io = io;
	if (unlikely(io->act == XP_CHECK)) {
		xs_check_begin(copy, todo);
		return;
	}
	switch (io->req.copy.base) {
	case XP_BASE_FAST:
	case XP_BASE_SLOW:
		base_begin(copy, todo);
		return;
	case XP_BASE_ZERO:
		clear_bytes(copy, 0, XP_BLOCK_SIZE);
		break;
	case XP_BASE_NONE:
		break;
	}
	merge(copy, todo);
}

void xs_copy_start(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	struct xs_copy *copy = NULL;

	/*
	 * A request that overtakes one that has just begun to wait does no harm: it
	 * takes a buffer that this one has not found.
	 */
	if (xs_list_looks_empty(&cache->todo.unbuffered))
		copy = copy_get(cache, io->req.nr_blocks);
	if (copy) {
		copy_begin(copy, io, todo);
		return;
	}
	if (io->act == XP_COPY)
		xp_held_back(&io->req);
	xs_queue_io(cache, &cache->todo.unbuffered, io);
}

void xs_copy_retry(struct xs_cache *cache, struct xp_todo *todo)
{
	for (;;) {
		struct xs_copy *copy = NULL;
		struct xp_link *link = NULL;

		spin_lock_irq(&cache->lock);
		if (!xp_list_empty(&cache->todo.unbuffered))
			copy = list_first_entry_or_null(&cache->copy_reserve,
							struct xs_copy, list);
		if (copy) {
			list_del(&copy->list);
			link = xp_list_pop(&cache->todo.unbuffered);
		}
		spin_unlock_irq(&cache->lock);
		if (!copy)
			return;
		copy_begin(copy, xs_io_of(link), todo);
	}
}
