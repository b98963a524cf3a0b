// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - a fast device that is memory: by load and store, in the caller's own context.
 *
 * A store is there when pmem_wmb() has returned: not in the processor's cache, as it goes
 * around that, and no longer on its way. So what ends here is durable (volatile_fast is
 * false), and nothing ever has to be flushed.
 *
 * The driver may be unbound at any time, and learns of bad blocks: so all is done under
 * dax_read_lock(), after a look whether the device is alive, and whether its list of bad
 * blocks is empty. If it is, all of it lies where it lay at the start (reach_all()). Else, and
 * of a device whose driver keeps no such list, each access asks the driver.
 * Where it refuses (-ENXIO) the block layer gets the bio, with FUA where it writes: it
 * clears a bad block, or has an error of its own. It is the same memory through the same
 * mapping: who reads through the block layer what was stored here finds it, and the other
 * way round.
 *
 * A mapped fast device (dm-linear over pmem) is asked as any other, and leads to the table it
 * has at that moment. Its suspension does not hold us back, as it would hold back bios.
 */
#include <linux/badblocks.h>
#include <linux/dax.h>
#include <linux/moduleparam.h>
#include <linux/uaccess.h>

#include "shell.h"

/* Without them a store cannot be made durable from here, or the device mapper knows no memory. */
#define HAS_MEMORY	(IS_ENABLED(CONFIG_FS_DAX) && IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) && \
			 IS_ENABLED(CONFIG_ARCH_HAS_UACCESS_FLUSHCACHE))

/* ------------------------------------------------------------- poison ---- */

/*
 * For tests: loads of these sectors of any fast device fail as if a line there were
 * poisoned. "<first> <number>", or "0 0" for none.
 */
static DEFINE_STATIC_KEY_FALSE(poisoned);
static DEFINE_SPINLOCK(poison_lock);
static struct {
	u64 first, nr;		/* of poison_lock */
} poison;

#define POISON_MAX	(U64_MAX >> SECTOR_SHIFT)

static int poison_set(const char *text, const struct kernel_param *kp)
{
	u64 first, nr;
	char end;

	if (sscanf(text, "%llu %llu %c", &first, &nr, &end) != 2 || first > POISON_MAX ||
	    nr > POISON_MAX - first) {
		DMERR("poison: give the first sector and the number of sectors, or 0 0 for none");
		return -EINVAL;
	}
	spin_lock(&poison_lock);
	poison.first = first;
	poison.nr = nr;
	spin_unlock(&poison_lock);
	if (nr)
		static_branch_enable(&poisoned);
	else
		static_branch_disable(&poisoned);
	return 0;
}

static int poison_get(char *text, const struct kernel_param *kp)
{
	u64 first, nr;

	spin_lock(&poison_lock);
	first = poison.first;
	nr = poison.nr;
	spin_unlock(&poison_lock);
	return sysfs_emit(text, "%llu %llu\n", first, nr);
}

static const struct kernel_param_ops poison_ops = {
	.set = poison_set,
	.get = poison_get,
};

module_param_cb(poison, &poison_ops, NULL, 0600);
MODULE_PARM_DESC(poison, "for tests: loads of these sectors of fast devices that are memory fail: <first> <number>");

static noinline bool is_poisoned(u64 at, u32 bytes)
{
	bool yes;

	spin_lock(&poison_lock);
	yes = at < (poison.first + poison.nr) << SECTOR_SHIFT &&
	      at + bytes > poison.first << SECTOR_SHIFT;
	spin_unlock(&poison_lock);
	return yes;
}

/* --------------------------------------------------------- load, store ---- */

/* Where all of the device lies at this moment, or NULL: it comes in pieces. Under dax_read_lock(). */
static __always_inline void *whole(const struct xs_cache *cache)
{
	/* The list goes with the driver: it is there as long as the device is alive. */
	if (!HAS_MEMORY || unlikely(!cache->memory_at || !dax_alive(cache->dax) ||
				    READ_ONCE(cache->bad->count)))
		return NULL;
	return cache->memory_at;
}

/* A piece of the device, as much of it as lies at one address. */
struct piece {
	u64 at;			/* bytes; of the device */
	void *p;
	u32 left;		/* of what the driver has answered */
};

/* Of @bytes from there on the next ones; asks for @wanted at once. 0: the driver refuses. */
static __always_inline u32 reach(struct xs_cache *cache, struct piece *m, u32 bytes, u32 wanted)
{
	if (!m->left) {
		u64 in_dax = cache->dax_start + m->at;
		u32 in_page = offset_in_page(in_dax);
		long nr = -ENXIO;

		if (HAS_MEMORY)
			nr = dax_direct_access(cache->dax, in_dax >> PAGE_SHIFT,
					       (in_page + wanted + PAGE_SIZE - 1) >> PAGE_SHIFT,
					       DAX_ACCESS, &m->p, NULL);
		if (unlikely(nr <= 0))
			return 0;
		m->p += in_page;
		m->left = min_t(u64, wanted, ((u64)nr << PAGE_SHIFT) - in_page);
	}
	return min(bytes, m->left);
}

static __always_inline void advance(struct piece *m, u32 n)
{
	m->at += n;
	m->p += n;
	m->left -= n;
}

/* Each under dax_read_lock(). -EIO: a line is poisoned. */
static __always_inline int load(struct xs_cache *cache, struct piece *m, void *to, u32 bytes, u32 wanted)
{
	while (bytes) {
		u32 n = reach(cache, m, bytes, wanted);

		if (unlikely(!n))
			return -ENXIO;
		if (static_branch_unlikely(&poisoned) && is_poisoned(m->at, n))
			return -EIO;
		if (unlikely(copy_mc_to_kernel(to, m->p, n)))
			return -EIO;
		advance(m, n);
		to += n;
		bytes -= n;
		wanted -= n;
	}
	return 0;
}

static __always_inline int store(struct xs_cache *cache, struct piece *m, const void *from, u32 bytes,
				 u32 wanted)
{
	while (bytes) {
		u32 n = reach(cache, m, bytes, wanted);

		if (unlikely(!n))
			return -ENXIO;
		memcpy_flushcache(m->p, from, n);
		advance(m, n);
		from += n;
		bytes -= n;
		wanted -= n;
	}
	return 0;
}

/* Makes what a life that was killed may have left in the processor's cache as durable as what
 * recovery is about to make of it (I2). */
static int write_back(struct xs_cache *cache, u64 at, u32 bytes)
{
	struct piece m = { .at = at };

	while (bytes) {
		u32 n = reach(cache, &m, bytes, bytes);

		if (!n)
			return -ENXIO;
		dax_flush(cache->dax, m.p, n);
		advance(&m, n);
		bytes -= n;
	}
	pmem_wmb();
	return 0;
}

int xs_memory_load(struct xs_cache *cache, u64 sector, void *to, u32 bytes)
{
	struct piece m = { .at = sector << SECTOR_SHIFT };
	int id = dax_read_lock();
	int err = load(cache, &m, to, bytes, bytes);

	dax_read_unlock(id);
	return err;
}

/* Nobody writes meanwhile. The load comes first: it tells of memory that is bad, or gone from the
 * kernel's map, which a flush of its lines would not survive. */
int xs_memory_load_durable(struct xs_cache *cache, u64 sector, void *to, u32 bytes)
{
	int err = xs_memory_load(cache, sector, to, bytes), id;

	if (err)
		return err;
	id = dax_read_lock();
	err = write_back(cache, sector << SECTOR_SHIFT, bytes);
	dax_read_unlock(id);
	return err;
}

static noinline int store_pieces(struct xs_cache *cache, u64 at, const void *from, u32 bytes)
{
	struct piece m = { .at = at };

	return store(cache, &m, from, bytes, bytes);
}

int xs_memory_store(struct xs_cache *cache, u64 sector, const void *from, u32 bytes)
{
	u64 at = sector << SECTOR_SHIFT;
	int id = dax_read_lock(), err = 0;
	void *all = whole(cache);

	if (likely(all))
		memcpy_flushcache(all + at, from, bytes);
	else
		err = store_pieces(cache, at, from, bytes);
	pmem_wmb();
	dax_read_unlock(id);
	return err;
}

/* One record, mostly: three stores, where the compiler knows that they are. */
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
	void *all = whole(cache);

	if (likely(all)) {
		store_records(all + at, from, bytes);
		pmem_wmb();
		atomic64_add(bytes, &cache->counts.fast_bytes_written);
	}
	dax_read_unlock(id);
	return likely(all) ? 0 : -ENXIO;
}

static noinline int read_pieces(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 at)
{
	struct piece m = { .at = at };
	int err = 0;

	while (iter.bi_size && !err) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		void *to = bvec_kmap_local(&bv);

		err = load(cache, &m, to, bv.bv_len, iter.bi_size);
		flush_dcache_page(bv.bv_page);
		kunmap_local(to);
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
	return err;
}

static __always_inline int read_whole(void *from, struct bio *bio, struct bvec_iter iter)
{
	for (;;) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		void *to = bvec_kmap_local(&bv);
		unsigned long left = copy_mc_to_kernel(to, from, bv.bv_len);

		flush_dcache_page(bv.bv_page);
		kunmap_local(to);
		if (unlikely(left))
			return -EIO;
		if (bv.bv_len == iter.bi_size)
			return 0;
		from += bv.bv_len;
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
}

int xs_memory_read(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 sector)
{
	u64 at = sector << SECTOR_SHIFT;
	int id = dax_read_lock(), err;
	void *all = whole(cache);

	if (likely(all) && !static_branch_unlikely(&poisoned))
		err = read_whole(all + at, bio, iter);
	else
		err = read_pieces(cache, bio, iter, at);
	dax_read_unlock(id);
	return err;
}

static noinline int write_pieces(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 at)
{
	struct piece m = { .at = at };
	int err = 0;

	while (iter.bi_size && !err) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		void *from;

		flush_dcache_page(bv.bv_page);
		from = bvec_kmap_local(&bv);
		err = store(cache, &m, from, bv.bv_len, iter.bi_size);
		kunmap_local(from);
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
	return err;
}

static __always_inline void write_whole(void *to, struct bio *bio, struct bvec_iter iter)
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
	u64 at = sector << SECTOR_SHIFT;
	int id = dax_read_lock(), err = 0;
	void *all = whole(cache);

	if (likely(all))
		write_whole(all + at, bio, iter);
	else
		err = write_pieces(cache, bio, iter, at);
	pmem_wmb();
	dax_read_unlock(id);
	return err;
}

/* -------------------------------------------------------------- setup ---- */

/* Both ends answer: what lies between them is asked for when it is wanted. */
static bool answers(struct xs_cache *cache)
{
	struct piece first = { .at = 0 };
	struct piece last = { .at = (bdev_nr_sectors(xs_fast(cache)) - 1) << SECTOR_SHIFT };
	int id = dax_read_lock();
	bool ok = reach(cache, &first, SECTOR_SIZE, SECTOR_SIZE) &&
		  reach(cache, &last, SECTOR_SIZE, SECTOR_SIZE);

	dax_read_unlock(id);
	return ok;
}

/*
 * A driver with a list of bad blocks of its own (that of a mapped device is not to be seen from
 * here, and its table may change) keeps its mapping from when it is bound until it is unbound.
 */
static void reach_all(struct xs_cache *cache)
{
	struct block_device *bdev = xs_fast(cache);
	long all = bdev_nr_sectors(bdev) >> (PAGE_SHIFT - SECTOR_SHIFT);
	void *at;
	int id;

	cache->memory_at = NULL;
	cache->bad = bdev->bd_disk->bb;
	if (!HAS_MEMORY || !cache->bad)
		return;
	id = dax_read_lock();
	if (dax_direct_access(cache->dax, cache->dax_start >> PAGE_SHIFT, all, DAX_ACCESS, &at,
			      NULL) == all)
		cache->memory_at = at;
	dax_read_unlock(id);
}

/* Nor does a mapping's table begin between pages, wherever in it: dm-linear rounds that down when
 * it is asked for memory, and gives its neighbour's. */
static bool is_aligned(struct block_device *bdev)
{
	if (bdev_alignment_offset(bdev))
		return false;
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
	/* virtio-pmem: its host has to be asked to make it durable. */
	if (!dax_synchronous(cache->fast->dax_dev))
		return "asynchronous";
	cache->dax = cache->fast->dax_dev;
	cache->dax_start = get_start_sect(bdev) << SECTOR_SHIFT;
	return answers(cache) ? NULL : "refused";
}

void xs_memory_setup(struct xs_cache *cache)
{
	struct block_device *bdev = xs_fast(cache);

	cache->dax = NULL;
	if (!blk_queue_dax(bdev_get_queue(bdev)))
		return;
	cache->not_memory = why_not(cache);
	if (!cache->not_memory) {
		reach_all(cache);
		return;
	}
	cache->dax = NULL;
	DMWARN("%pg: this memory is used through the block layer: %s", bdev, cache->not_memory);
}
