// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal_io.c - writes journal blocks: one bio for each place of the window,
 * used again and again.
 */
#include <linux/blk-cgroup.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "shell.h"

static void journal_written(struct bio *bio)
{
	struct xs_journal_io *j = bio->bi_private;
	struct xs_cache *cache = j->cache;
	int err = blk_status_to_errno(bio->bi_status);
	struct xp_todo todo;

	if (err) {
		atomic64_inc(&cache->counts.fast_errors);
		DMERR("%pg: journal write failed (error %d): the cache accepts no more writes; what it acknowledged as durable is safe",
		      xs_fast(cache), err);
	}
	xp_todo_init(&todo);
	xp_journal_end(cache->core, j->i, err, &todo);
	xs_post(cache, &todo);
	xs_own_end(cache);
}

/* The core's memory comes from vmalloc(): a block may lie in two pages. */
static void add_block(struct bio *bio, void *data)
{
	u32 left = XP_BLOCK_SIZE;

	flush_kernel_vmap_range(data, XP_BLOCK_SIZE);
	while (left) {
		u32 n = min_t(u32, left, PAGE_SIZE - offset_in_page(data));

		__bio_add_page(bio, vmalloc_to_page(data), n, offset_in_page(data));
		data += n;
		left -= n;
	}
}

static void write_block(struct xs_cache *cache, u32 i)
{
	struct xs_journal_io *j = &cache->journal[i];
	blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | REQ_META;
	struct xp_journal_io io;

	xp_journal_io(cache->core, i, &io);
	if (io.flush_fua)
		opf |= REQ_PREFLUSH | REQ_FUA;
	bio_init(&j->bio, xs_fast(cache), j->vec, ARRAY_SIZE(j->vec), opf);
	/* Others wait for it too: not at the pace of whoever happens to send it. */
	bio_associate_blkg_from_css(&j->bio, blkcg_root_css);
	j->bio.bi_iter.bi_sector = io.target;
	j->bio.bi_private = j;
	j->bio.bi_end_io = journal_written;
	add_block(&j->bio, io.data);
	atomic64_add(XP_BLOCK_SIZE, &cache->counts.fast_bytes_written);
	xs_own_begin(cache);
	submit_bio(&j->bio);
}

void xs_journal_write(struct xs_cache *cache, u32 mask)
{
	while (mask) {
		u32 i = __ffs(mask);

		mask &= mask - 1;
		write_block(cache, i);
	}
}

int xs_journal_alloc(struct xs_cache *cache)
{
	u32 i;

	cache->journal = kcalloc(XP_WINDOW, sizeof(*cache->journal), GFP_KERNEL);
	if (!cache->journal)
		return -ENOMEM;
	for (i = 0; i < XP_WINDOW; i++) {
		cache->journal[i].cache = cache;
		cache->journal[i].i = i;
	}
	return 0;
}
