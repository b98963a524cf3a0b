// SPDX-License-Identifier: GPL-2.0-only
/* cache.c - start and stop: metadata, recovery, threads. */
#include "daemon/device.h"
#include "daemon/timing.h"
#include "lib/device.h"
#include "lib/identity.h"
#include "lib/figures.h"
#include "core/life.h"
#include "core/media.h"
#include "core/message.h"
#include "core/options.h"
#include "core/statistics.h"
#include "core/superblock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the one that each request has, on a loop. */
#define SPARE_PARTS	256u

static int no_memory(struct xp_message *msg, const char *what, u64 bytes)
{
	snprintf(msg->text, sizeof(msg->text), "no memory for %s: %llu KiB", what,
		 (unsigned long long)bytes >> 10);
	return -ENOMEM;
}

/* Whoever names it is believed where it cannot be known. */
static int check_identity(const struct xd_cache *cache, bool force, struct xp_message *msg)
{
	char why[160];

	if (cache->slow->remote || (force && cache->slow->dev.logical == le32_to_cpu(cache->sb.slow.logical_size)) ||
	    identity_same(&cache->sb.slow, &cache->slow->dev, true, why, sizeof(why)))
		return 0;
	snprintf(msg->text, sizeof(msg->text), "not the slow device of this cache: %s", why);
	return -ENODEV;
}

static int check_grid(struct xd_cache *cache, struct xp_message *msg)
{
	u32 unit = max(cache->slow->dev.logical, 1u << XP_SECTOR_SHIFT);

	cache->pad = xp_sb_pad(&cache->sb);
	cache->slow->before = (u64)cache->pad << XP_SECTOR_SHIFT;
	if (cache->slow->before % unit == 0)
		return 0;
	snprintf(msg->text, sizeof(msg->text), "the cache's grid, %u, is none of the slow device, whose logical sectors have %u bytes",
		 cache->sb.grid, unit);
	return -EINVAL;
}

static int make_core(struct xd_cache *cache, struct xp_message *msg)
{
	const struct xp_options opt = {
		.volatile_fast = cache->fast->volatile_cache,
		.fast_at_once = cache->fast->map,
		.fast_sectors = cache->fast->sectors,
		.fast_whole = cache->fast_whole,
		.store = cache->fast->map ? xd_memory_store : NULL,
		.store_ctx = cache,
		.slow_fua = cache->slow->fua || !cache->slow->volatile_cache,
		.slow_discards = cache->slow->discard_max != 0,
		.dirty_low = cache->tunables->dirty_low,
		.dirty_high = cache->tunables->dirty_high,
		.idle_ms = cache->tunables->idle_ms,
		.slow_is_flash = !cache->slow->rotational,
		.stream_kib = cache->tunables->stream_kib,
		.writeback_delay = cache->tunables->writeback_delay,
		.mode = (u8)cache->tunables->mode,
		.mark_lba = cache->tunables->mark,
		.slow_sectors = cache->sectors,
		.verify = cache->tunables->verify,
	};
	u64 bytes = xp_memory(&cache->sb, cache->tunables->verify);

	if (posix_memalign(&cache->memory, XP_BLOCK_SIZE, bytes)) {
		cache->memory = NULL;
		return no_memory(msg, "the map", bytes);
	}
	memset(cache->memory, 0, bytes);
	cache->core = xp_init(cache->memory, &cache->sb, &opt);
	return 0;
}

static int write_slow(void *ctx, u64 sector, u32 nr_sectors, const void *buf)
{
	struct xd_device *slow = ctx;

	return slow->ops->pwrite(slow, buf, nr_sectors << XP_SECTOR_SHIFT, sector << XP_SECTOR_SHIFT);
}

static int recover(struct xd_cache *cache, struct xp_message *msg)
{
	u64 bytes = xp_recover_memory(&cache->sb);
	struct xp_media media;
	void *scratch;
	int err;

	if (posix_memalign(&scratch, XP_BLOCK_SIZE, bytes))
		return no_memory(msg, "recovery", bytes);
	xd_device_media(cache->fast, &media);
	media.slow_ctx = cache->slow;
	media.write_slow = write_slow;
	err = xp_recover(cache->core, &media, scratch, true, msg);
	free(scratch);
	if (!err && xp_unread(cache->core))
		xd_log("%s: %s cannot be read, and are errors until they are written anew; xpcache check names them",
		       cache->fast->dev.path, text_blocks(xp_unread(cache->core)));
	return err;
}

static int fill_memory(struct xd_cache *cache, struct xp_message *msg)
{
	struct xp_stats s;

	xp_get_stats(cache->core, &s);
	return xd_memory_fill(cache->fast, le64_to_cpu(cache->sb.fast_blocks) << XP_BLOCK_SHIFT, s.free < s.slots, msg);
}

/* What has these may be looked at, and not be written. */
static int check_features(const struct xd_cache *cache, struct xp_message *msg)
{
	u64 unknown = le64_to_cpu(cache->sb.ro_compat) & ~XP_RO_COMPAT_KNOWN;

	if (!unknown)
		return 0;
	snprintf(msg->text, sizeof(msg->text),
		 "features this version may read but not write, bits 0x%llx", (unsigned long long)unknown);
	return -ENOTSUP;
}

/* An older version does not know of them: from the first start with them on it keeps away. */
static int allow_sums(struct xd_cache *cache, const struct xp_media *media, struct xp_message *msg)
{
	int err = cache->tunables->verify ? xp_sb_allow(media, &cache->sb, XP_INCOMPAT_SUMS) : 0;

	if (err)
		snprintf(msg->text, sizeof(msg->text), "verify: the superblock cannot be written");
	return err;
}

static int check_loops(const struct xd_cache *cache, struct xp_message *msg)
{
	if (cache->nr_loops == 1 || cache->slow->many_loops)
		return 0;
	snprintf(msg->text, sizeof(msg->text), "the slow device's server allows one connection only: --threads 1");
	return -EINVAL;
}

/* Writes around the cache that an earlier life acknowledged. */
static int flush_slow(struct xd_cache *cache, struct xp_message *msg)
{
	int err = cache->slow->ops->flush(cache->slow);

	if (err)
		snprintf(msg->text, sizeof(msg->text), "the slow device cannot be flushed");
	return err;
}

/* Are these devices a cache, and one that this engine can run? */
static int check_devices(struct xd_cache *cache, const struct xp_media *media, bool force, struct xp_message *msg)
{
	int err = check_loops(cache, msg);

	if (!err)
		err = xp_sb_read(media, device_blocks(&cache->fast->dev), &cache->sb, msg);
	if (!err)
		err = check_features(cache, msg);
	if (err)
		return err;
	cache->sectors = cache->slow->dev.sectors;
	err = check_grid(cache, msg);
	return err ? err : check_identity(cache, force, msg);
}

static int load(struct xd_cache *cache, bool force, struct xp_message *msg)
{
	struct xp_media media;
	int err;

	xd_device_media(cache->fast, &media);
	err = check_devices(cache, &media, force, msg);
	if (!err)
		err = flush_slow(cache, msg);
	if (!err)
		err = xd_mark_setup(cache);
	if (!err)
		err = xd_mark_check(cache, &media, msg);
	if (!err)
		err = allow_sums(cache, &media, msg);
	if (!err)
		err = make_core(cache, msg);
	if (!err)
		err = recover(cache, msg);
	if (!err && cache->fast->map)
		err = fill_memory(cache, msg);
	return err;
}

static int spare_parts(struct xd_loop *loop)
{
	struct xd_part *part = loop->parts = calloc(SPARE_PARTS, sizeof(*part));

	if (!part)
		return -ENOMEM;
	for (u32 i = 0; i < SPARE_PARTS; i++) {
		part[i].next = loop->spare;
		loop->spare = &part[i];
	}
	return 0;
}

static int make_loops(struct xd_cache *cache, struct xp_message *msg)
{
	int err = 0;

	cache->loop = calloc(cache->nr_loops, sizeof(*cache->loop));
	if (!cache->loop)
		return -ENOMEM;
	for (u32 i = 0; i < cache->nr_loops && !err; i++) {
		struct xd_loop *loop = &cache->loop[i];

		err = xd_loop_init(loop, cache, i);
		if (!err)
			err = spare_parts(loop);
		if (!err)
			loop->reserve = xd_buffer_get(loop, XP_COPY_MAX * XP_BLOCK_SIZE);
		if (!err && cache->slow->ops->attach)
			err = cache->slow->ops->attach(cache->slow, loop);
	}
	if (err)
		snprintf(msg->text, sizeof(msg->text), "its threads cannot be set up: %s", strerror(-err));
	return err;
}

static int make_parts(struct xd_cache *cache, struct xp_message *msg)
{
	int err = make_loops(cache, msg);

	if (!err)
		err = xd_timing_alloc(cache);
	if (!err)
		err = xd_writeback_setup(cache);
	xd_journal_setup(cache);
	cache->memory_bytes = sizeof(*cache) + xd_writeback_bytes() +
		cache->nr_loops * (sizeof(struct xd_loop) + xd_buffers_bytes() +
				   SPARE_PARTS * sizeof(struct xd_part));
	return err;
}

static void close_devices(struct xd_cache *cache)
{
	struct xd_device *fast = cache->fast, *slow = cache->slow;

	pthread_mutex_lock(&cache->devices_lock);
	cache->fast = cache->slow = NULL;
	pthread_mutex_unlock(&cache->devices_lock);
	xd_device_close(fast);
	xd_device_close(slow);
}

bool xd_cache_waits(struct xd_cache *cache, char *text, size_t len)
{
	bool waits;

	pthread_mutex_lock(&cache->devices_lock);
	waits = cache->slow && (xd_device_waits(cache->slow, text, len) ||
				xd_device_waits(cache->fast, text, len));
	pthread_mutex_unlock(&cache->devices_lock);
	return waits;
}

static void release(struct xd_cache *cache)
{
	for (u32 i = 0; cache->loop && i < cache->nr_loops; i++) {
		if (cache->slow->ops->detach)
			cache->slow->ops->detach(cache->slow, &cache->loop[i]);
		xd_fills_free(&cache->loop[i]);
		xd_loop_free(&cache->loop[i]);
		free(cache->loop[i].parts);
	}
	if (cache->loop)
		xd_timing_free(cache);
	xd_writeback_free(cache);
	free(cache->loop);
	free(cache->memory);
	free(cache->mark.block);
	close_devices(cache);
}

/* The core says who is to hear of it. */
static void slow_lost(void *owner)
{
	struct xd_cache *cache = owner;

	xp_slow_lost(cache->core);
}

int xd_cache_start(struct xd_cache *cache, const struct xd_setup *setup, struct xp_message *msg)
{
	int err;

	memset(cache, 0, sizeof(*cache));
	cache->fast = setup->fast;
	cache->slow = setup->slow;
	cache->tunables = setup->tunables;
	cache->fast_whole = max(setup->fast->dev.logical, 1u << XP_SECTOR_SHIFT) > max(setup->slow->dev.logical, 1u << XP_SECTOR_SHIFT);
	cache->timed = setup->tunables->histogram;
	cache->idle_ms = setup->tunables->idle_ms;
	cache->nr_loops = setup->loops;
	cache->started = xd_now();
	pthread_mutex_init(&cache->pace_lock, NULL);
	pthread_mutex_init(&cache->devices_lock, NULL);
	err = load(cache, setup->force, msg);
	if (!err)
		err = make_parts(cache, msg);
	cache->slow->owner = cache;
	cache->slow->on_loss = slow_lost;
	for (u32 i = 0; !err && i < cache->nr_loops; i++)
		err = xd_loop_start(&cache->loop[i]);
	if (!err) {
		xd_clock_start(cache);
		return 0;
	}
	for (u32 i = cache->nr_loops; cache->loop && i--;)
		xd_loop_stop(&cache->loop[i]);
	release(cache);
	return err;
}

int xd_cache_stop(struct xd_cache *cache)
{
	struct xp_media media;
	int err;

	xd_device_hurry(cache->slow);
	xd_set(cache->suspending, 1);
	xd_set(cache->writeback.stopping, true);
	xd_writeback_kick(cache);
	/* The first one last: what the others end may still concern writeback. */
	for (u32 i = cache->nr_loops; i--;)
		xd_loop_stop(&cache->loop[i]);
	xd_device_media(cache->fast, &media);
	err = xp_close(cache->core, &media);
	if (err)
		xd_log("%s: what was acknowledged and not flushed may not be durable: closing the cache failed: %s",
		       cache->fast->dev.path, strerror(-err));
	release(cache);
	return err;
}

/* ------------------------------------------------------------------ commit ---- */

struct commit {
	struct xd_call call;
	struct xd_io io;
	sem_t done;
};

static void commit_ended(struct xd_io *io)
{
	sem_post(&container_of(io, struct commit, io)->done);
}

static void commit_begin(struct xd_call *call)
{
	struct commit *c = container_of(call, struct commit, call);

	c->io.loop = call->loop;
	xd_submit(&c->io);
}

int xd_cache_commit(struct xd_cache *cache)
{
	struct commit c = { .call.fn = commit_begin,
			    .io = { .op = XP_FLUSH, .aside = true, .own = true, .end = commit_ended } };

	xd_loop_call_wait(xd_first_loop(cache), &c.call, &c.done);
	return c.io.err;
}
