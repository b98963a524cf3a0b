// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlay_io.c - dirty blocks in a read of the slow device: they are read from the fast one beside it, into
 * pages of their own, which then take the place of those that the slow one was read to.
 */
#include <linux/slab.h>

#include "overlay.h"
#include "timing.h"

#define OVERLAY_GFP (GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

struct xs_overlay_bio {
	struct xs_overlay *overlay;
	u64 target;		/* fast sector */
	u64 sent;		/* xs_time() */
	struct bio bio;
};

struct xs_overlay {
	struct xs_cache *cache;
	struct xs_fill *fill;
	const struct xp_overlay *of;
	u32 nr_pages;
	struct xs_overlay_bio *bio;	/* one a run */
	struct bio_vec vec[];	/* one a block, as xp_overlay.at */
};

void xs_overlay_free(struct xs_overlay *o)
{
	while (o && o->nr_pages)
		__free_page(o->vec[--o->nr_pages].bv_page);
	if (o)
		kfree(o->bio);
	kfree(o);
}

struct xs_overlay *xs_overlay_get(struct xs_cache *cache, struct xs_fill *fill, const struct xp_overlay *of)
{
	struct xs_overlay *o = kmalloc(struct_size(o, vec, of->nr_blocks), OVERLAY_GFP);

	if (!o)
		return NULL;
	o->cache = cache;
	o->fill = fill;
	o->of = of;
	o->nr_pages = 0;
	o->bio = kmalloc_array(of->nr_runs, sizeof(*o->bio), OVERLAY_GFP);
	while (o->bio && o->nr_pages < of->nr_blocks) {
		struct page *page = alloc_page(OVERLAY_GFP);

		if (!page)
			break;
		o->vec[o->nr_pages++].bv_page = page;
	}
	if (o->nr_pages == of->nr_blocks)
		return o;
	xs_overlay_free(o);
	return NULL;
}

/* The last of the reads frees it. */
static void run_ended(struct xs_overlay_bio *b, int err)
{
	struct xs_overlay *o = b->overlay;

	if (err)
		xs_fast_error(o->cache, "read", b->target, err);
	else
		xs_timed(o->cache, XP_CLASS_FAST_READ, xs_since(b->sent));
	xs_fill_read_ended(o->fill, err ? -ENOMEM : 0);	/* XP_MIXED: no error of the slow device */
}

static void run_read(struct bio *bio)
{
	rcu_read_lock();	/* as in fill_read() */
	run_ended(bio->bi_private, blk_status_to_errno(bio->bi_status));
	rcu_read_unlock();
}

static void clear_run(struct xs_overlay *o, const struct xp_overlay_run *run)
{
	u32 i;

	for (i = 0; i < run->nr_blocks; i++)
		memzero_page(o->vec[run->first + i].bv_page, 0, XP_BLOCK_SIZE);
	xs_fill_read_ended(o->fill, 0);
}

static void run_bio(struct xs_overlay_bio *b, const struct xp_overlay_run *run, blk_opf_t opf)
{
	struct bio_vec *vec = &b->overlay->vec[run->first];
	u32 i;

	bio_init(&b->bio, NULL, vec, run->nr_blocks, opf);
	b->bio.bi_iter.bi_sector = b->target;
	b->bio.bi_private = b;
	b->bio.bi_end_io = run_read;
	for (i = 0; i < run->nr_blocks; i++)
		__bio_add_page(&b->bio, vec[i].bv_page, XP_BLOCK_SIZE, 0);
}

static void read_run(struct xs_overlay *o, u32 i, blk_opf_t opf)
{
	const struct xp_overlay_run *run = &o->of->run[i];
	struct xs_overlay_bio *b = &o->bio[i];
	struct xs_cache *cache = o->cache;

	b->overlay = o;
	b->target = xp_slot_sector(cache->core, run->slot);
	b->sent = xs_time(cache);
	run_bio(b, run, opf);
	if (cache->dax) {
		int err = xs_memory_read(cache, &b->bio, b->bio.bi_iter, b->target);

		if (err != -ENXIO) {
			run_ended(b, err);
			return;
		}
	}
	bio_set_dev(&b->bio, xs_fast(cache));
	submit_bio(&b->bio);
}

u32 xs_overlay_reads(const struct xs_overlay *o)
{
	return o ? o->of->nr_runs : 0;
}

void xs_overlay_read(struct xs_overlay *o, blk_opf_t opf)
{
	u32 nr = xs_overlay_reads(o), i;

	for (i = 0; i < nr; i++) {	/* with the last, it may be gone */
		if (o->of->run[i].zeros)
			clear_run(o, &o->of->run[i]);
		else
			read_run(o, i, opf);
	}
}

static void take_lacking(struct page *to, struct page *from, u32 lacks)
{
	u32 at, n;

	for (at = 0; lacks && (n = xp_part_next(lacks, &at)); at += n)
		xs_copy_bytes(to, at << SECTOR_SHIFT, from, at << SECTOR_SHIFT, n << SECTOR_SHIFT);
}

void xs_overlay_lay(struct xs_overlay *o, struct bio_vec *vec)
{
	u32 i;

	for (i = 0; i < o->nr_pages; i++) {
		take_lacking(o->vec[i].bv_page, vec[o->of->at[i]].bv_page, o->of->lacks[i]);
		swap(o->vec[i].bv_page, vec[o->of->at[i]].bv_page);
	}
}
