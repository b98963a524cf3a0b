// SPDX-License-Identifier: GPL-2.0-only
/*
 * journal_io.c - writes journal blocks: one operation for each place of the window. Of memory as
 * many lines as have a meaning, else whole blocks, which devices want.
 */
#include "daemon/device.h"
#include "daemon/timing.h"

#include <string.h>
#include <time.h>

/* Once: those that were under way with it fail as well. */
static void cache_failed(struct xd_cache *cache, int err)
{
	u64 not_yet = 0;

	if (!__atomic_compare_exchange_n(&cache->counts.failed_since, &not_yet, (u64)time(NULL), false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	xd_log_event("%s: journal write failed: %s: the cache accepts no more writes; what it acknowledged as durable is safe",
		     cache->fast->dev.path, strerror(-err));
}

static void journal_written(struct xd_op *op, int err);

static void submit_block(struct xd_loop *loop, struct xd_journal *j, u32 bytes)
{
	struct xd_cache *cache = loop->cache;

	j->op.bytes = bytes;
	j->op.end = journal_written;
	xd_count(cache->counts.fast_bytes_written, bytes);
	xd_device_submit(cache->fast, loop, &j->op);
}

/* Lines that cannot be stored to may be poisoned: a whole block heals them. */
static void journal_written(struct xd_op *op, int err)
{
	struct xd_journal *j = container_of(op, struct xd_journal, op);
	struct xd_cache *cache = j->cache;

	if (err && op->bytes < XP_BLOCK_SIZE) {
		submit_block(op->loop, j, XP_BLOCK_SIZE);
		return;
	}
	if (err)
		xd_fast_error(cache, "journal write", op->offset >> XP_SECTOR_SHIFT, err);
	else
		xd_timed(op->loop, XP_CLASS_FAST_WRITE, j->sent);
	xp_journal_end(cache->core, j->i, err, &op->loop->todo);
	if (err && xp_has_failed(cache->core))
		cache_failed(cache, err);
}

static void write_block(struct xd_loop *loop, u32 i)
{
	struct xd_cache *cache = loop->cache;
	struct xd_journal *j = &cache->journal[i];
	struct xp_journal_io io;

	xp_journal_io(cache->core, i, &io);
	j->op.kind = XD_WRITE;
	j->op.fua = j->op.preflush = io.flush_fua;
	j->op.registered = -1;
	j->op.data = io.data;
	j->op.offset = io.target << XP_SECTOR_SHIFT;
	j->sent = xd_time(cache);
	submit_block(loop, j, cache->fast->map ? io.bytes : XP_BLOCK_SIZE);
}

void xd_journal_write(struct xd_loop *loop, u32 mask)
{
	for (; mask; mask &= mask - 1)
		write_block(loop, (u32)__builtin_ctz(mask));
}

void xd_journal_setup(struct xd_cache *cache)
{
	for (u32 i = 0; i < XP_JOURNAL_IOS; i++) {
		cache->journal[i].cache = cache;
		cache->journal[i].i = i;
	}
}
