// SPDX-License-Identifier: GPL-2.0-only
/*
 * media.c - blocking access to the fast device for superblock, recovery and close, and to
 * the last block of the slow one. No request is in flight. It uses a borrowed copy buffer:
 * the core may pass any memory, and a close allocates nothing. Persistent memory is loaded
 * and stored; if its driver refuses, it is read and written as any other device.
 */
#include <linux/highmem.h>
#include <linux/vmalloc.h>

#include "backend.h"
#include "life.h"
#include "media.h"

static int media_chunk(struct xs_copy *copy, u64 block, u32 nr, blk_opf_t opf)
{
	struct bio *bio = &copy->bio;
	int err;
	u32 i;

	bio_init(bio, xs_fast(copy->cache), copy->vec, XP_COPY_MAX, opf);
	bio->bi_iter.bi_sector = block * XP_BLOCK_SECTORS;
	for (i = 0; i < nr; i++)
		__bio_add_page(bio, copy->page[i], XP_BLOCK_SIZE, 0);
	err = submit_bio_wait(bio);
	bio_uninit(bio);
	if (err)
		xs_fast_error(copy->cache, op_is_write(opf) ? "write" : "read",
			      block * XP_BLOCK_SECTORS, err);
	return err;
}

static int chunk_read(struct xs_copy *copy, u64 block, u32 nr, void *buf)
{
	u64 sector = block * XP_BLOCK_SECTORS;
	int err = -ENXIO;
	u32 i;

	if (copy->cache->dax)
		err = xs_memory_load_durable(copy->cache, sector, buf, nr * XP_BLOCK_SIZE);
	if (err == -EIO)
		xs_fast_error(copy->cache, "read", sector, err);
	if (err != -ENXIO)
		return err;
	err = media_chunk(copy, block, nr, REQ_OP_READ | REQ_SYNC | REQ_META);
	for (i = 0; i < nr; i++, buf += XP_BLOCK_SIZE)
		memcpy_from_page(buf, copy->page[i], 0, XP_BLOCK_SIZE);
	return err;
}

static int chunk_write(struct xs_copy *copy, u64 block, u32 nr, const void *buf, blk_opf_t fua)
{
	u32 i;

	if (copy->cache->dax &&
	    !xs_memory_store(copy->cache, block * XP_BLOCK_SECTORS, buf, nr * XP_BLOCK_SIZE))
		return 0;
	for (i = 0; i < nr; i++, buf += XP_BLOCK_SIZE)
		memcpy_to_page(copy->page[i], 0, buf, XP_BLOCK_SIZE);
	return media_chunk(copy, block, nr, REQ_OP_WRITE | REQ_SYNC | REQ_META | fua);
}

/* Recovery's memory: a block of it is in one page. */
static bool is_for_device(const void *buf)
{
	return is_vmalloc_addr(buf) && IS_ALIGNED((unsigned long)buf, XP_BLOCK_SIZE);
}

/* Up to XP_RECOVER_CHUNK blocks. */
static int read_there(struct xs_cache *cache, u64 block, u32 nr, void *buf)
{
	struct bio_vec vec[XP_RECOVER_CHUNK];
	struct bio bio;
	u32 i;
	int err;

	bio_init(&bio, xs_fast(cache), vec, XP_RECOVER_CHUNK, REQ_OP_READ | REQ_SYNC | REQ_META);
	bio.bi_iter.bi_sector = block * XP_BLOCK_SECTORS;
	for (i = 0; i < nr; i++)
		__bio_add_page(&bio, vmalloc_to_page(buf + i * XP_BLOCK_SIZE), XP_BLOCK_SIZE,
			       offset_in_page(buf + i * XP_BLOCK_SIZE));
	flush_kernel_vmap_range(buf, (int)(nr * XP_BLOCK_SIZE));	/* else what it held comes over what is read */
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	invalidate_kernel_vmap_range(buf, (int)(nr * XP_BLOCK_SIZE));
	if (err)
		xs_fast_error(cache, "read", block * XP_BLOCK_SECTORS, err);
	return err;
}

static int media_read(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	struct xs_cache *cache = ctx;
	struct xs_copy *copy;
	int err = 0;
	u32 n;

	if (!cache->dax && nr_blocks <= XP_RECOVER_CHUNK && is_for_device(buf))
		return read_there(cache, block, nr_blocks, buf);
	copy = xs_copy_borrow(cache);
	if (WARN_ON(!copy))
		return -ENOMEM;
	for (; nr_blocks && !err; nr_blocks -= n, block += n, buf += n * XP_BLOCK_SIZE) {
		n = min(nr_blocks, XP_COPY_MAX);
		err = chunk_read(copy, block, n, buf);
	}
	xs_copy_return(copy);
	return err;
}

static int write_chunks(struct xs_cache *cache, u64 block, u32 nr_blocks, const void *buf, blk_opf_t fua)
{
	struct xs_copy *copy = xs_copy_borrow(cache);
	int err = 0;
	u32 n;

	if (WARN_ON(!copy))
		return -ENOMEM;
	for (; nr_blocks && !err; nr_blocks -= n, block += n, buf += n * XP_BLOCK_SIZE) {
		n = min(nr_blocks, XP_COPY_MAX);
		err = chunk_write(copy, block, n, buf, fua);
	}
	xs_copy_return(copy);
	return err;
}

static int media_write(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	/* Not as a PREFLUSH with the data: journal_io.c says why. */
	int err = blkdev_issue_flush(xs_fast(ctx));

	if (err) {
		xs_fast_error(ctx, "flush", block * XP_BLOCK_SECTORS, err);
		return err;
	}
	return write_chunks(ctx, block, nr_blocks, buf, REQ_FUA);
}

static int media_write_plain(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	return write_chunks(ctx, block, nr_blocks, buf, 0);
}

static int media_write_slow(void *ctx, u64 sector, u32 nr_sectors, const void *buf)
{
	struct xs_copy *copy = xs_copy_borrow(ctx);
	struct xs_cache *cache = ctx;
	int err;

	if (WARN_ON(!copy))
		return -ENOMEM;
	memcpy_to_page(copy->page[0], 0, buf, nr_sectors << SECTOR_SHIFT);
	bio_init(&copy->bio, xs_slow(cache), copy->vec, 1, REQ_OP_WRITE | REQ_SYNC);
	copy->bio.bi_iter.bi_sector = sector;
	__bio_add_page(&copy->bio, copy->page[0], nr_sectors << SECTOR_SHIFT, 0);
	err = submit_bio_wait(&copy->bio);
	bio_uninit(&copy->bio);
	if (!err)
		err = blkdev_issue_flush(xs_slow(cache));
	if (err)
		xs_slow_error(cache, "write", sector + cache->pad, err);
	xs_copy_return(copy);
	return err;
}

void xs_media_setup(struct xs_cache *cache, struct xp_media *m)
{
	m->slow_ctx = cache;
	m->write_slow = media_write_slow;
	m->ctx = cache;
	m->read = media_read;
	m->write = media_write;
	m->write_plain = media_write_plain;
}
