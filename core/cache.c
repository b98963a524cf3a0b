// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache.c - the one allocation, laid out; and what can be asked of a cache.
 */
#include "badblocks.h"
#include "ghost.h"
#include "journal.h"
#include "mode.h"
#include "options.h"
#include "pace.h"
#include "ranks.h"
#include "superblock.h"
#include "unread.h"

/*
 * I11, I12: every table has its size from here on. The journal buffers come
 * first, for their alignment.
 */
struct layout {
	u64 super, cache, entry, bucket, region, ghost, free_map, free_sum, segment, live, batch, unread, lacks, sum, end;
	u32 nr_buckets, nr_regions, nr_ghosts, batch_max;
};

static u64 place(u64 *at, u64 size)
{
	u64 here = *at;

	*at = (here + size + 7) / 8 * 8;
	return here;
}

static bool may_sum(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_SUMS;
}

static bool may_part(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_PARTS;
}

static bool may_run(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_RUNS;
}

static void lay_out(const struct xp_sb *sb, bool verify, struct layout *l)
{
	u64 slots = le64_to_cpu(sb->nr_slots);
	u64 words = (slots + 63) / 64;
	u64 at = 0;

	l->nr_buckets = (u32)(slots / 2 + 1);
	l->nr_regions = (u32)(slots / 8 + 1);
	l->nr_ghosts = ghost_words(slots);
	l->batch_max = (u32)min(slots, max(slots / 64, min(max(slots / 4, (u64)XP_BATCH_SOON), (u64)XP_BATCH_MIN)));
	place(&at, XP_WINDOW * XP_BLOCK_SIZE);
	l->super = place(&at, 2 * XP_BLOCK_SIZE);
	l->cache = place(&at, sizeof(struct xp));
	l->entry = place(&at, slots * sizeof(struct xp_entry));
	l->segment = place(&at, slots * sizeof(u16));	/* whole words of it: relocate.c */
	l->bucket = place(&at, l->nr_buckets * sizeof(u32));
	l->region = place(&at, l->nr_regions);	/* whole words of it: map_region_used() */
	l->ghost = place(&at, l->nr_ghosts * sizeof(u64));
	l->free_map = place(&at, words * sizeof(u64));
	l->free_sum = place(&at, (words + 63) / 64 * sizeof(u64));
	l->live = place(&at, segments_of(le64_to_cpu(sb->journal_blocks)) * sizeof(u32));
	l->batch = place(&at, l->batch_max * sizeof(struct xp_batch_entry));
	l->unread = place(&at, unread_room(slots) * sizeof(struct xp_unread));
	l->lacks = place(&at, may_part(sb) ? slots : 0);
	l->sum = place(&at, verify ? slots * sizeof(u32) : 0);
	l->end = at;
}

u64 xp_memory(const struct xp_sb *sb, bool verify)
{
	struct layout l;

	lay_out(sb, verify && may_sum(sb), &l);
	return l.end;
}

/* A 64th; but in a small cache so many that a commit frees some 30, or a 16th. */
static u32 low_free(u64 n)
{
	return (u32)min(max(n / 64, max(min(n / 16, (u64)64), (u64)2)), (u64)4096);
}

/* What follows from the options that may change while the cache runs. */
static void set_limits(struct xp *c)
{
	u64 n = c->nr_slots;
	u32 low = (u32)(n * c->opt.dirty_low / 100), high = (u32)(n * c->opt.dirty_high / 100);

	c->dirty_low = low;
	c->dirty_pass = low + (high - low) / 7;	/* 20 % by default */
	c->dirty_press = low + (u32)((u64)(high - low) * 3 / 7);	/* 40 % */
	XP_WRITE_ONCE(c->dirty_soft, low + (high - low) / 2);
	XP_WRITE_ONCE(c->dirty_high, high);
}

bool xp_set_limits(struct xp *c, const struct xp_tunables *t)
{
	bool over;

	xp_lock(&c->lock);
	c->opt.dirty_low = t->dirty_low;
	c->opt.dirty_high = t->dirty_high;
	c->opt.stream_kib = t->stream_kib;
	c->opt.writeback_delay = t->writeback_delay;
	mode_set(c, t->mode);
	if (c->opt.idle_ms != t->idle_ms)
		rate_forget(c);
	c->opt.idle_ms = t->idle_ms;
	set_limits(c);
	c->rate.sweeps = c->nr_dirty > c->dirty_low;
	over = c->rate.sweeps || c->settling.on;
	xp_unlock(&c->lock);
	return over;
}

static void init_journal(struct xp *c, u8 *base, const struct layout *l,
			 const struct xp_sb *sb)
{
	struct xp_journal *j = &c->journal;

	j->start = le64_to_cpu(sb->journal_start);
	j->blocks = le64_to_cpu(sb->journal_blocks);
	j->usable = j->blocks - xp_sb_spare_places(sb);
	j->buffer = (struct xp_jblock *)base;
	j->live = (u32 *)(base + l->live);
	j->nr_segments = segments_of(j->blocks);
	j->segment_shift = segment_shift(j->blocks);
	j->magic = xp_sb_journal_magic(sb);
	memcpy(j->uuid, sb->uuid, sizeof(j->uuid));
}

static void init_super(struct xp *c, u8 *at, const struct xp_sb *sb)
{
	c->super.io = (struct xp_sb *)at;
	c->super.sb = c->super.io + 1;
	*c->super.sb = *sb;
	c->super.spare_places = xp_sb_spare_places(sb);
	if (!(le64_to_cpu(sb->incompat) & XP_INCOMPAT_BAD))
		memset(&c->super.sb->bad, 0, sizeof(sb->bad));
	c->super.nr_avoided = le32_to_cpu(c->super.sb->bad.nr_places);
	c->super.nr_bad_slots = le32_to_cpu(c->super.sb->bad.nr_slots);
}

static void init_lists(struct xp *c)
{
	xp_list_init(&c->busy);
	xp_list_init(&c->around);
	xp_list_init(&c->space);
	xp_list_init(&c->room);
	xp_list_init(&c->parked);
	xp_list_init(&c->sync);
	xp_list_init(&c->through);
	xp_list_init(&c->turn.waiting);
}

struct xp *xp_init(void *mem, const struct xp_sb *sb, const struct xp_options *opt)
{
	bool verify = opt->verify && may_sum(sb);
	struct layout l;
	u8 *base = mem;
	struct xp *c;
	u32 i;

	lay_out(sb, verify, &l);
	c = (struct xp *)(base + l.cache);
	xp_lock_init(&c->lock);
	c->opt = *opt;
	c->opt.verify = verify;
	c->may_sum = may_sum(sb);
	c->may_run = may_run(sb);
	c->lacks = may_part(sb) ? base + l.lacks : NULL;
	c->sum = verify ? (u32 *)(base + l.sum) : NULL;
	c->owes = true;
	c->memory = l.end;
	c->pad = xp_sb_pad(sb);
	c->slow_sectors = (opt->slow_sectors ? opt->slow_sectors : le64_to_cpu(sb->slow.sectors)) + c->pad;
	c->nr_whole = c->slow_sectors / XP_BLOCK_SECTORS;
	c->data_start = le64_to_cpu(sb->data_start);
	c->nr_slots = (u32)le64_to_cpu(sb->nr_slots);
	c->nr_buckets = l.nr_buckets;
	c->nr_regions = l.nr_regions;
	/* what is further on is of the last */
	while (c->nr_whole >> c->region_shift >= c->nr_regions)
		c->region_shift++;
	c->entry = (struct xp_entry *)(base + l.entry);
	c->segment = (u16 *)(base + l.segment);
	memset(c->segment, 0xff, l.bucket - l.segment);	/* NO_SEGMENT */
	c->bucket = (u32 *)(base + l.bucket);
	c->region = (u8 *)(base + l.region);
	c->ranks.ghost = (u64 *)(base + l.ghost);
	c->ranks.nr_ghosts = l.nr_ghosts;
	c->free_map = (u64 *)(base + l.free_map);
	c->free_sum = (u64 *)(base + l.free_sum);
	memset(c->bucket, 0xff, c->nr_buckets * sizeof(u32));
	for (i = 0; i < c->nr_slots; i++)
		c->entry[i].hash_next = XP_NIL;
	c->batch.entry = (struct xp_batch_entry *)(base + l.batch);
	c->batch.max = l.batch_max;
	c->unread = (struct xp_unread *)(base + l.unread);
	init_journal(c, base, &l, sb);
	init_super(c, base + l.super, sb);
	if (!opt->fast_at_once || !(le64_to_cpu(sb->incompat) & XP_INCOMPAT_GROWS))
		c->opt.store = NULL;
	init_lists(c);
	c->low_free = low_free(c->nr_slots);
	set_limits(c);
	ranks_init(c);
	return c;
}

u32 xp_pressure(struct xp *c)
{
	u32 dirty = XP_READ_RACY(c->nr_dirty);	/* a stale one does no harm, */
	/* nor does one limit of before a change: for as long as one write takes */
	u32 soft = XP_READ_RACY(c->dirty_soft), high = XP_READ_RACY(c->dirty_high);

	if (dirty <= soft)
		return 0;
	if (dirty >= high)
		return 1024;
	return (u32)((u64)(dirty - soft) * 1024 / (high - soft));
}

void xp_get_stats(struct xp *c, struct xp_stats *s)
{
	u32 i;

	xp_lock(&c->lock);
	*s = c->stats;
	for (i = 0; i < XP_HIT_COUNTERS; i++)
		s->read_blocks_fast += xp_counted(&c->hit_blocks[i]);
	s->slots = c->nr_slots;
	s->fast_blocks = c->data_start + c->nr_slots;
	s->free = c->nr_free;
	s->dirty = c->nr_dirty;
	s->clean = c->nr_clean;
	s->ranks_restored = c->ranks.restored;
	s->journal_blocks = c->journal.blocks;
	s->journal_used = journal_used(c);
	s->seq = journal_newest_number(c);
	s->durable_seq = c->journal.durable_number;
	s->bad_places = le32_to_cpu(c->super.sb->bad.nr_places);
	s->bad_slots = slots_given_up(c);
	s->unread = c->nr_unread;
	s->incarnation = c->journal.incarnation;
	s->memory = c->memory;
	s->pressure = xp_pressure(c);
	s->failed = c->failed;
	s->passthrough = c->pass == PASS_ON;
	s->dirty_unreachable = c->failed ? c->nr_dirty : 0;
	s->flushing = c->flushing;
	s->slow_complete = cache_is_clean(c);
	s->writeback_failing_since = c->failing_since;
	xp_unlock(&c->lock);
}

bool xp_is_clean(struct xp *c)
{
	bool clean;

	xp_lock(&c->lock);
	clean = cache_is_clean(c);
	xp_unlock(&c->lock);
	return clean;
}
