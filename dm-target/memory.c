// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - a fast device that is persistent memory: load and store, in the context of
 * the caller.
 *
 * A store bypasses the processor's cache, and is durable when pmem_wmb() has returned.
 * volatile_fast is therefore false, and nothing has to be flushed.
 *
 * The driver may be unbound at any time, and its list of bad blocks may grow. Each access
 * is made under dax_read_lock(), with a check that the device is alive and that the list
 * is empty. If it is not empty, the driver is asked about each access.
 * If the driver refuses (-ENXIO) the block layer gets the bio, with FUA for a write: it
 * clears the bad block, or reports an error. It uses the same mapping: a load finds what
 * the block layer has written, and the other way round.
 *
 * A device-mapper device over such memory (dm-linear) is accessed by bios. These wait while
 * it is suspended, and follow its new table; a store would go where the old table led, and
 * be lost (I2).
 */
#include <linux/badblocks.h>
#include <linux/dax.h>
#include <linux/uaccess.h>

#include "backend.h"
#include "format.h"

/* Without them a store cannot be made durable here, or the device mapper has no DAX. */
#define HAS_MEMORY	(IS_ENABLED(CONFIG_FS_DAX) && IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) && \
			 IS_ENABLED(CONFIG_ARCH_HAS_UACCESS_FLUSHCACHE))

/* --------------------------------------------------------- load, store ---- */

static noinline bool is_sound(const struct xs_cache *cache, u64 at, u32 bytes)
{
	u64 in_dax = cache->dax_start + at;
	pgoff_t first = in_dax >> PAGE_SHIFT, end = (in_dax + bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
	void *there;

	return HAS_MEMORY &&
	       dax_direct_access(cache->dax, first, end - first, DAX_ACCESS, &there, NULL) >=
		       (long)(end - first);
}

/*
 * The address of byte @at of the device, for @bytes. NULL: the driver refuses, or the
 * partition has become shorter. Under dax_read_lock().
 */
static __always_inline void *reach(struct xs_cache *cache, u64 at, u32 bytes)
{
	if (!HAS_MEMORY ||
	    unlikely(!dax_alive(cache->dax) || at + bytes > (u64)bdev_nr_bytes(xs_fast(cache))))
		return NULL;
	/* The driver frees the list only when the device is no longer alive. */
	if (unlikely(READ_ONCE(cache->bad->count)) && !is_sound(cache, at, bytes))
		return NULL;
	return cache->memory_at + at;
}

/* All loads. @at: where @from is on the device. -EIO: a line is poisoned. */
static __always_inline int load(void *to, const void *from, u64 at, u32 bytes)
{
	if (xs_is_poisoned(at, bytes))
		return -EIO;
	return unlikely(copy_mc_to_kernel(to, from, bytes)) ? -EIO : 0;
}

int xs_memory_load(struct xs_cache *cache, u64 sector, void *to, u32 bytes)
{
	u64 at = sector << SECTOR_SHIFT;
	int id = dax_read_lock();
	void *from = reach(cache, at, bytes);
	int err = likely(from) ? load(to, from, at, bytes) : -ENXIO;

	dax_read_unlock(id);
	return err;
}

/*
 * A kernel or daemon that was killed may have left stores in the processor's cache.
 * They become durable before recovery relies on them (I2); nothing writes meanwhile.
 * The load comes first: it reports memory that is bad or unmapped, and a flush of its
 * lines would be fatal.
 */
int xs_memory_load_durable(struct xs_cache *cache, u64 sector, void *to, u32 bytes)
{
	int err = xs_memory_load(cache, sector, to, bytes), id;
	void *from;

	if (err)
		return err;
	id = dax_read_lock();
	from = reach(cache, sector << SECTOR_SHIFT, bytes);
	if (from) {
		dax_flush(cache->dax, from, bytes);
		pmem_wmb();
	}
	dax_read_unlock(id);
	return from ? 0 : -ENXIO;
}

int xs_memory_store(struct xs_cache *cache, u64 sector, const void *from, u32 bytes)
{
	int id = dax_read_lock();
	void *to = reach(cache, sector << SECTOR_SHIFT, bytes);

	if (likely(to)) {
		memcpy_flushcache(to, from, bytes);
		pmem_wmb();
	}
	dax_read_unlock(id);
	return likely(to) ? 0 : -ENXIO;
}

/* Mostly one record: with a constant size the compiler makes three stores. */
static __always_inline void store_records(void *to, const void *from, u32 bytes)
{
	if (likely(bytes == sizeof(struct xp_record))) {
		memcpy_flushcache(to, from, 16);
		memcpy_flushcache(to + 16, from + 16, 8);
	} else {
		memcpy_flushcache(to, from, bytes);
	}
}

int xs_memory_store_now(void *ctx, u64 at, const void *from, u32 bytes)
{
	struct xs_cache *cache = ctx;
	int id = dax_read_lock();
	void *to = reach(cache, at, bytes);

	if (likely(to)) {
		store_records(to, from, bytes);
		pmem_wmb();
		atomic64_add(bytes, &cache->counts.fast_bytes_written);
	}
	dax_read_unlock(id);
	return likely(to) ? 0 : -ENXIO;
}

static __always_inline int read_bio(struct bio *bio, struct bvec_iter iter, const void *from,
				    u64 at)
{
	for (;;) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		void *to = bvec_kmap_local(&bv);
		int err = load(to, from, at, bv.bv_len);

		flush_dcache_page(bv.bv_page);
		kunmap_local(to);
		if (unlikely(err) || bv.bv_len == iter.bi_size)
			return err;
		from += bv.bv_len;
		at += bv.bv_len;
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
}

int xs_memory_read(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 sector)
{
	u64 at = sector << SECTOR_SHIFT;
	int id = dax_read_lock();
	void *from = reach(cache, at, iter.bi_size);
	int err = likely(from) ? read_bio(bio, iter, from, at) : -ENXIO;

	dax_read_unlock(id);
	return err;
}

static __always_inline void write_bio(void *to, struct bio *bio, struct bvec_iter iter)
{
	for (;;) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		void *from;

		flush_dcache_page(bv.bv_page);
		from = bvec_kmap_local(&bv);
		memcpy_flushcache(to, from, bv.bv_len);
		kunmap_local(from);
		if (bv.bv_len == iter.bi_size)
			return;
		to += bv.bv_len;
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
}

int xs_memory_write(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 sector)
{
	int id = dax_read_lock();
	void *to = reach(cache, sector << SECTOR_SHIFT, iter.bi_size);

	if (likely(to)) {
		write_bio(to, bio, iter);
		pmem_wmb();
	}
	dax_read_unlock(id);
	return likely(to) ? 0 : -ENXIO;
}

/* -------------------------------------------------------------- setup ---- */

/*
 * The address of a device that its driver maps as a whole while it is bound, or NULL.
 * Only both ends are asked for: a bad block between them must not hide the device.
 */
static void *find_memory(struct xs_cache *cache)
{
	u64 bytes = bdev_nr_bytes(xs_fast(cache));
	void *first = NULL, *last;
	int id = dax_read_lock();

	if (!HAS_MEMORY ||
	    dax_direct_access(cache->dax, cache->dax_start >> PAGE_SHIFT, 1, DAX_ACCESS, &first,
			      NULL) < 1 ||
	    dax_direct_access(cache->dax, (cache->dax_start + bytes - 1) >> PAGE_SHIFT, 1,
			      DAX_ACCESS,
			      &last, NULL) < 1 ||
	    (u64)(last - first) != ((bytes - 1) & PAGE_MASK))
		first = NULL;
	dax_read_unlock(id);
	return first;
}

static bool is_aligned(struct block_device *bdev)
{
	return !((get_start_sect(bdev) | bdev_nr_sectors(bdev)) % (PAGE_SIZE >> SECTOR_SHIFT));
}

/* A word for status, or NULL: it can be used. */
static const char *why_not(struct xs_cache *cache)
{
	struct block_device *bdev = xs_fast(cache);

	if (!HAS_MEMORY)
		return "kernel";
	if (!is_aligned(bdev))
		return "unaligned";
	if (!cache->fast->dax_dev)
		return "kernel";
	cache->bad = bdev->bd_disk->bb;
	if (!cache->bad)
		return "mapped";
	/* virtio-pmem: its host has to be asked to make it durable. */
	if (!dax_synchronous(cache->fast->dax_dev))
		return "asynchronous";
	cache->dax = cache->fast->dax_dev;
	cache->dax_start = get_start_sect(bdev) << SECTOR_SHIFT;
	cache->memory_at = find_memory(cache);
	return cache->memory_at ? NULL : "refused";
}

void xs_memory_setup(struct xs_cache *cache)
{
	struct block_device *bdev = xs_fast(cache);

	cache->dax = NULL;
	if (!blk_queue_dax(bdev_get_queue(bdev)))
		return;
	cache->not_memory = why_not(cache);
	if (!cache->not_memory)
		return;
	cache->dax = NULL;
	DMWARN("%pg: this memory is used through the block layer: %s", bdev, cache->not_memory);
}
