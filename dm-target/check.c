// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - XP_CHECK: a read of blocks whose sums are known, through a private buffer.
 *
 *	xs_check_begin --> [read] --> judge --> the caller's bio, or once more, or elsewhere
 *
 * It is not read into the caller's pages: the caller may change them meanwhile, and may
 * want half a block, while a sum covers a whole one. Buffers and the wait for one are
 * those of copy.c.
 */
#include "timing.h"
#include "checksum.h"
#include "verify.h"

void xs_rot_tell(struct xs_cache *cache, const struct xp_rot *rot)
{
	if (rot->nr)
		DMERR_LIMIT("%pg: fast device: slot %u does not hold what was written to it: sector %llu of the slow device, %s%s",
			    xs_fast(cache), xp_slot_n(rot->slot), xp_lba_n(rot->lba) * XP_BLOCK_SECTORS - cache->pad,
			    rot->dirty ? "dirty, its newest contents are lost" :
					 "clean, read from there",
			    rot->nr > 1 ? "; and others" : "");
}

u64 xs_hash_page(struct page *page)
{
	void *block = kmap_local_page(page);
	u64 hash = xp_checksum(block, XP_BLOCK_SIZE);

	kunmap_local(block);
	return hash;
}

static void copy_to_caller(struct xs_copy *copy)
{
	struct xs_io *io = copy->io;
	struct bvec_iter iter = io->iter, at;
	u32 offset = io->req.copy.offset;
	struct bio_vec bv;

	iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	__bio_for_each_segment(bv, io->bio, at, iter) {
		u32 done = 0;

		while (done < bv.bv_len) {
			u32 in_block = offset % XP_BLOCK_SIZE;
			u32 n = min(bv.bv_len - done, XP_BLOCK_SIZE - in_block);

			xs_copy_bytes(bv.bv_page, bv.bv_offset + done,
				      copy->page[offset / XP_BLOCK_SIZE], in_block, n);
			offset += n;
			done += n;
		}
	}
}

/* Any context. After xp_checked() has answered XP_WAIT, @io may be anywhere. */
static enum xp_act judge(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	struct xs_io *io = copy->io;
	struct xp_rot rot;
	enum xp_act act;
	u32 i;

	if (xp_has_sums(cache->core, &io->req))
		for (i = 0; i < io->req.nr_blocks; i++)
			copy->hash[i] = xs_hash_page(copy->page[i]);
	act = xp_checked(cache->core, &io->req, copy->hash, &rot, todo);
	xs_rot_tell(cache, &rot);
	if (act == XP_CHECK)
		return act;
	if (act == XP_DONE && !io->req.err)
		copy_to_caller(copy);
	xs_copy_return(copy);
	if (act == XP_DONE)
		xp_list_add(&todo->done, &io->req.link);
	return act;
}

static void check_read(struct bio *bio)
{
	struct xs_copy *copy = bio->bi_private;
	struct xs_cache *cache = copy->cache;
	int err = blk_status_to_errno(bio->bi_status);
	struct xp_todo todo;

	if (err) {
		xs_fast_error(cache, "read", copy->io->req.target, err);
		xs_copy_end(copy, xp_end, err);
		return;
	}
	xs_timed(cache, XP_CLASS_FAST_READ, xs_since(copy->sent));
	rcu_read_lock();	/* as in xs_io_below_ended() */
	xp_todo_init(&todo);
	if (judge(copy, &todo) == XP_CHECK)
		xs_queue_entry(cache, &cache->todo.based, &copy->list);
	xs_post(cache, &todo);
	rcu_read_unlock();
}

/* 0, or the error of the first that could not be loaded. */
static int load_blocks(struct xs_copy *copy)
{
	const struct xp_req *req = &copy->io->req;
	int err = 0;
	u32 i;

	for (i = 0; i < req->nr_blocks && !err; i++) {
		void *to = kmap_local_page(copy->page[i]);

		err = xs_memory_load(copy->cache, req->target + i * XP_BLOCK_SECTORS, to,
				     XP_BLOCK_SIZE);
		kunmap_local(to);
	}
	return err;
}

/* False: the driver refuses. */
static bool check_loaded(struct xs_copy *copy, struct xp_todo *todo)
{
	struct xs_cache *cache = copy->cache;
	enum xp_act act;

	do {
		u64 begun = xs_time(cache);
		int err = load_blocks(copy);

		if (err == -ENXIO)
			return false;
		if (err) {
			xs_fast_error(cache, "read", copy->io->req.target, err);
			xs_copy_finish(copy, xp_end, err, todo);
			return true;
		}
		xs_timed(cache, XP_CLASS_FAST_READ, xs_since(begun));
		act = judge(copy, todo);
	} while (act == XP_CHECK);
	return true;
}

void xs_check_begin(struct xs_copy *copy, struct xp_todo *todo)
{
	const struct xp_req *req = &copy->io->req;
	struct xs_cache *cache = copy->cache;
	u32 i;

	if (cache->dax && check_loaded(copy, todo))
		return;
	xs_copy_bio(copy, req->target, REQ_OP_READ | REQ_SYNC, check_read);
	for (i = 0; i < req->nr_blocks; i++)
		__bio_add_page(&copy->bio, copy->page[i], XP_BLOCK_SIZE, 0);
	xs_copy_submit(copy, xs_fast(cache));
}
