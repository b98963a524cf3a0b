// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifecycle.c - a cache's first resume, its suspends and resumes.
 *
 *	constructed --preresume--> active <--preresume/postsuspend--> suspended
 *	  metadata is read here      |                                    |
 *	                             |        another instance takes over v
 *	                             `------------------------------->  lost
 *
 * When a table is reloaded, a new instance is constructed while the old one
 * still serves requests. The new one may read the metadata only after the old
 * one has been suspended, and has closed the journal. The registry enforces this.
 * It also refuses to resume an old instance after the new one has started: its
 * map is outdated.
 */
#include <linux/dm-ioctl.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "backend.h"
#include "format.h"
#include "life.h"
#include "media.h"
#include "message.h"
#include "superblock.h"
#include "words.h"

/* ---------------------------------------------------------- registry ---- */

static DEFINE_MUTEX(registry_lock);
/* Status reads xs_cache.active without it: hence WRITE_ONCE(). */
/* of registry_lock: instances that have been resumed and are not lost */
static LIST_HEAD(registry);
static bool closed;		/* of registry_lock: no cache may start */

static bool same_cache(const struct xs_cache *a, const struct xs_cache *b)
{
	return !memcmp(a->uuid, b->uuid, sizeof(a->uuid));
}

static bool shares_device(const struct xs_cache *a, const struct xs_cache *b)
{
	return xs_fast(a)->bd_dev == xs_fast(b)->bd_dev ||
	       xs_slow(a)->bd_dev == xs_slow(b)->bd_dev;
}

/* -EBUSY: @other excludes @cache. Else it is lost if it is the same cache. */
static int settle(struct xs_cache *cache, struct xs_cache *other)
{
	const char *name = dm_table_device_name(other->ti->table);

	lockdep_assert_held(&registry_lock);
	if (same_cache(cache, other)) {
		if (other->active) {
			DMERR("%pg: this cache is active already as device %s; suspend or remove that first",
			      xs_fast(cache), name);
			return -EBUSY;
		}
		other->lost = true;
		list_del_init(&other->registered);
	} else if (shares_device(cache, other)) {
		DMERR("%pg or %pg belongs to another cache, device %s; remove that first",
		      xs_fast(cache), xs_slow(cache), name);
		return -EBUSY;
	}
	return 0;
}

/* Makes @cache the active instance, or returns -EBUSY. */
static int claim(struct xs_cache *cache)
{
	struct xs_cache *other, *next;
	int err = 0;

	mutex_lock(&registry_lock);
	if (closed) {
		DMERR("%pg: no cache starts while the machine hibernates", xs_fast(cache));
		err = -EBUSY;
	}
	list_for_each_entry_safe(other, next, &registry, registered) {
		if (!err)
			err = settle(cache, other);
		if (err)
			break;
	}
	if (!err) {
		list_add(&cache->registered, &registry);
		WRITE_ONCE(cache->active, true);
	}
	mutex_unlock(&registry_lock);
	return err;
}

static int reclaim(struct xs_cache *cache)
{
	int err = 0;

	mutex_lock(&registry_lock);
	if (cache->lost) {
		DMERR("%pg: another device has taken this cache over; remove this one",
		      xs_fast(cache));
		err = -ESTALE;
	} else {
		WRITE_ONCE(cache->active, true);
	}
	mutex_unlock(&registry_lock);
	return err;
}

static void unclaim(struct xs_cache *cache)
{
	mutex_lock(&registry_lock);
	WRITE_ONCE(cache->active, false);
	list_del_init(&cache->registered);
	mutex_unlock(&registry_lock);
}

static void tell(struct xs_cache *cache, const char *why)
{
	char name[DM_NAME_LEN];

	lockdep_assert_held(&registry_lock);	/* or @cache could be freed */
	if (dm_copy_name_and_uuid(dm_table_get_md(cache->ti->table), name, NULL))
		snprintf(name, sizeof(name), "%pg", xs_fast(cache));
	xp_words_clean(name, sizeof(name));	/* the device mapper takes any */
	DMERR("%s: %s", name, why);
}

bool xs_registry_close(const char *why)
{
	struct xs_cache *cache;
	bool none;

	mutex_lock(&registry_lock);
	list_for_each_entry(cache, &registry, registered)
		tell(cache, why);
	none = list_empty(&registry);
	closed = none;
	mutex_unlock(&registry_lock);
	return none;
}

void xs_registry_open(void)
{
	mutex_lock(&registry_lock);
	closed = false;
	mutex_unlock(&registry_lock);
}

/* -------------------------------------------------------- first resume ---- */

/*
 * Without the allocator's report: one line tells that the fast device is too large for
 * the memory.
 */
#define MAP_GFP	(GFP_KERNEL | __GFP_NOWARN)

static u64 fast_blocks(const struct xs_cache *cache)
{
	return bdev_nr_sectors(xs_fast(cache)) / XP_BLOCK_SECTORS;
}

/* A device-mapper device has the major number of this one. */
static bool is_mapped(const struct xs_cache *cache, struct block_device *bdev)
{
	return bdev->bd_disk->major == dm_disk(dm_table_get_md(cache->ti->table))->major;
}

static int check_size(const struct xs_cache *cache)
{
	u64 present = bdev_nr_sectors(xs_slow(cache));

	if (!cache->ti->begin && cache->ti->len == present)
		return 0;
	DMERR("%pg: the table maps %llu sectors from %llu on; it must map all %llu of the slow device, from 0 on",
	      xs_slow(cache), (u64)cache->ti->len, (u64)cache->ti->begin, present);
	return -EINVAL;
}

/*
 * A write of single sectors leaves each old or new: not in memory, also where that is written by way of its driver, which
 * keeps a list of bad blocks. A disk that turns writes a longer sector where it is.
 */
static bool takes_sectors(const struct xs_cache *cache)
{
	struct block_device *fast = xs_fast(cache);

	if (bdev_logical_block_size(fast) > SECTOR_SIZE || cache->fast->dax_dev || fast->bd_disk->bb)
		return false;
	return !xs_rotational(fast) || bdev_physical_block_size(fast) == SECTOR_SIZE;
}

/* The core is not published yet: recover() does that. */
static struct xp *make_core(struct xs_cache *cache, const struct xp_sb *sb)
{
	struct xp_options opt = {
		.volatile_fast = cache->volatile_fast,
		.fast_at_once = cache->dax,
		.fast_sectors = takes_sectors(cache),
		.fast_whole = cache->fast_whole,
		.store = cache->dax ? xs_memory_store_now : NULL,
		.store_ctx = cache,
		.slow_fua = cache->slow_fua,
		.slow_discards = bdev_max_discard_sectors(xs_slow(cache)) != 0,
		.dirty_low = cache->options.dirty_low,
		.dirty_high = cache->options.dirty_high,
		.idle_ms = cache->options.idle_ms,
		.slow_is_flash = !xs_rotational(xs_slow(cache)),
		.stream_kib = cache->options.stream_kib,
		.writeback_delay = cache->options.writeback_delay,
		.mode = (u8)cache->options.mode,
		.mark_lba = cache->options.mark,
		.slow_sectors = cache->slow_sectors,
		.verify = cache->options.verify,
	};

	cache->memory = __vmalloc(xp_memory(sb, cache->options.verify), MAP_GFP | __GFP_ZERO);
	if (!cache->memory) {
		DMERR("%pg: no memory for the map: %llu KiB for %llu blocks",
		      xs_fast(cache), xp_memory(sb, cache->options.verify) >> 10, le64_to_cpu(sb->nr_slots));
		return NULL;
	}
	cache->memory_bytes = sizeof(*cache) + xs_copies_bytes() + xs_fills_bytes() + xs_wholes_bytes() +
			      xs_writeback_bytes(cache);
	return xp_init(cache->memory, sb, &opt);
}

static void free_core(struct xs_cache *cache)
{
	cache->core = NULL;
	vfree(cache->memory);
	cache->memory = NULL;
}

static void tell_refused(struct xs_cache *cache, const struct xp_sb *sb,
			 const struct xp_message *msg, int err)
{
	if (err == -EBADMSG)
		DMERR("%pg: %s; xpcache start %.31s --accept-loss goes on (error %d)",
		      xs_fast(cache), msg->text,
		      sb->name, err);
	else if (err == -ENOSPC)
		DMERR("%pg: %s; make it as large as it was, or xpcache flush --offline --rescue writes back what fits (error %d)",
		      xs_fast(cache), msg->text, err);
	else
		DMERR("%pg: %s (error %d)", xs_fast(cache), msg->text, err);
}

static void tell_unread(struct xs_cache *cache, u32 nr)
{
	if (nr)
		DMWARN("%pg: %u dirty blocks cannot be read, and are errors until they are written anew; xpcache check names them",
		       xs_fast(cache), nr);
}

static int recover(struct xs_cache *cache, const struct xp_media *media,
		   const struct xp_sb *sb, struct xp_message *msg)
{
	struct xp *core = make_core(cache, sb);
	void *scratch;
	int err;

	if (!core)
		return -ENOMEM;
	scratch = __vmalloc(xp_recover_memory(sb), MAP_GFP);
	if (!scratch) {
		DMERR("%pg: no memory for recovery: %llu KiB", xs_fast(cache),
		      xp_recover_memory(sb) >> 10);
		err = -ENOMEM;
	} else {
		err = xp_recover(core, media, scratch, true, msg);
		if (err)
			tell_refused(cache, sb, msg, err);
		else
			tell_unread(cache, xp_unread(core));
	}
	vfree(scratch);
	if (err)
		free_core(cache);
	else	/* status and messages come from here on: pairs with recovered_core() */
		smp_store_release(&cache->core, core);
	return err;
}

static int read_superblock(struct xs_cache *cache, const struct xp_media *media,
			   struct xp_sb *sb, struct xp_message *msg)
{
	int err = xp_sb_read(media, fast_blocks(cache), sb, msg);

	if (err)
		DMERR("%pg: %s (error %d)", xs_fast(cache),
		      msg->text[0] ? msg->text : "the superblock cannot be read", err);
	return err ? err : check_size(cache);
}

/* What the limits of the device speak of (target.c), and what the slow device has. */
static int check_grid(const struct xs_cache *cache, const struct xp_sb *sb)
{
	u32 unit = bdev_logical_block_size(xs_slow(cache));

	if (cache->options.grid && cache->options.grid != sb->grid) {
		DMERR("%pg: its grid is %u, and the table says %u", xs_fast(cache), sb->grid, cache->options.grid);
		return -EINVAL;
	}
	if ((xp_sb_pad(sb) << SECTOR_SHIFT) % unit) {
		DMERR("%pg: its grid, %u, is none of the slow device, whose logical sectors have %u bytes", xs_fast(cache),
		      sb->grid, unit);
		return -EINVAL;
	}
	return 0;
}

/*
 * The block layer makes a write and a flush of FUA where the disk knows none. What is made of other devices says that it
 * knows, and so it may be done below.
 */
static bool knows_fua(struct block_device *bdev)
{
	return !bdev_write_cache(bdev) || (bdev_fua(bdev) && queue_is_mq(bdev_get_queue(bdev)));
}

static void learn_devices(struct xs_cache *cache, const struct xp_sb *sb)
{
	memcpy(cache->uuid, sb->uuid, sizeof(cache->uuid));
	cache->pad = xp_sb_pad(sb);
	cache->volatile_fast = !cache->dax && bdev_write_cache(xs_fast(cache));
	cache->slow_fua = knows_fua(xs_slow(cache));
	cache->flush_apart = cache->volatile_fast && is_mapped(cache, xs_fast(cache));
}

/* Bypass writes that an earlier life has acknowledged become durable. */
static int flush_slow(struct xs_cache *cache)
{
	int err = blkdev_issue_flush(xs_slow(cache));

	if (err)
		xs_slow_error(cache, "flush", 0, err);
	return err;
}

/* From now on versions that do not know of sums refuse the cache. */
static int allow_sums(struct xs_cache *cache, const struct xp_media *media, struct xp_sb *sb)
{
	int err = cache->options.verify ? xp_sb_allow(media, sb, XP_INCOMPAT_SUMS) : 0;

	if (err)
		DMERR("%pg: verify: the superblock cannot be written, error %d", xs_fast(cache),
		      err);
	return err;
}

/* The cache is claimed: the instance that had it before writes no more. */
static int start(struct xs_cache *cache, const struct xp_media *media, struct xp_sb *sb,
		 struct xp_message *msg)
{
	int err = flush_slow(cache);

	if (!err)
		err = xs_mark_check(cache, sb, media);
	if (!err)
		err = allow_sums(cache, media, sb);
	if (!err)
		err = recover(cache, media, sb, msg);
	return err;
}

static int load(struct xs_cache *cache, struct xp_sb *sb, struct xp_message *msg)
{
	struct xp_media media;
	int err;

	xs_memory_setup(cache);
	xs_media_setup(cache, &media);
	err = read_superblock(cache, &media, sb, msg);
	if (!err)
		err = check_grid(cache, sb);
	if (err)
		return err;
	learn_devices(cache, sb);
	err = claim(cache);
	if (err)
		return err;
	err = start(cache, &media, sb, msg);
	if (err)
		unclaim(cache);
	return err;
}

static int first_resume(struct xs_cache *cache)
{
	struct xp_message *msg = kzalloc(sizeof(*msg), GFP_NOIO);
	struct xp_sb *sb = kzalloc(sizeof(*sb), GFP_NOIO);
	unsigned int noio = memalloc_noio_save();
	int err = msg && sb ? load(cache, sb, msg) : -ENOMEM;

	memalloc_noio_restore(noio);
	kfree(sb);
	kfree(msg);
	return err;
}

int xs_preresume(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	return cache->core ? reclaim(cache) : first_resume(cache);
}

void xs_resume(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	WRITE_ONCE(cache->at_rest, false);
	WRITE_ONCE(cache->suspending, false);
	xs_writeback_start(cache);
	xs_clock_start(cache);
}

/* ------------------------------------------------------------- suspend ---- */

/*
 * What is in flight is waited for by dm: it must not be delayed. All else goes on,
 * since it may wait for writeback or the journal.
 */
void xs_presuspend(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	/* xs_resume() has cleared at_rest: with commit() */
	smp_store_release(&cache->suspending, true);
}

void xs_presuspend_undo(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	WRITE_ONCE(cache->suspending, false);
}

/* No request is in flight, and none comes before the resume. */
void xs_postsuspend(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;
	struct xp_media media;
	unsigned int noio;
	int err;

	if (!cache->core)
		return;
	flush_work(&cache->throttle.work);
	xs_writeback_finish(cache);
	xs_writeback_stop(cache);
	xs_drain(cache);
	xs_clock_stop(cache);
	xs_drain(cache);

	xs_media_setup(cache, &media);
	noio = memalloc_noio_save();
	err = xp_close(cache->core, &media);
	memalloc_noio_restore(noio);
	if (err)
		DMERR("%pg: what was acknowledged and not flushed may not be durable: closing the cache failed, error %d",
		      xs_fast(cache), err);

	cache->close_err = err;
	smp_store_release(&cache->at_rest, true);	/* close_err is read after it (commit()) */

	mutex_lock(&registry_lock);
	WRITE_ONCE(cache->active, false);
	mutex_unlock(&registry_lock);
}

void xs_release(struct xs_cache *cache)
{
	unclaim(cache);
	free_core(cache);
}
