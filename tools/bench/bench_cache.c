// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_cache.c - a running cache: its three legs, what it counts, what it holds.
 *
 * U is the slow device, opened for reading beside the cache; C is the cache; R is the
 * fast device, where the cache keeps its data. All are only read; with --destructive C is
 * written too, and of R the scratch area that the format keeps free for this.
 *
 * Where the headline reads decides what it says. A range that is given is taken as it is.
 * Else places are drawn so that as many are in the cache as of the reads since it was
 * started: that is the workload's own hit rate, and no guess at what will be. What is in
 * the cache is read from its journal, as `dump` reads it; a block that came or went
 * since is measured as what it is.
 */
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/latency/latency.h"
#include "lib/latency/timing.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/status.h"
#include "lib/user.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_headline.h"
#include "tools/bench/bench_places.h"
#include "core/look.h"
#include "core/superblock.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PLACES		(1u << 20)	/* drawn for the headline, all legs together */
#define READS_KNOWN	1000u		/* fewer say nothing of a workload */

struct bench_cache {
	struct running running;
	struct status status;		/* of the last reading */
	u64 bytes;			/* of the slots */
	bool recorded;			/* the target answers with histograms */
	struct latency latency;		/* before the run under way */
	u64 hits, misses;		/* likewise, */
	bool counted;			/* if they could be read */
	u64 held, slots;		/* blocks in it before that run; for how many it has room */
	u64 look_hits, look_misses;	/* at the last look, */
	bool looked;			/* likewise */
	double wanted;			/* hit rate the places were drawn at; NAN: all over */
};

u64 bench_cache_bytes(const struct bench_cache *c)
{
	return c->bytes;
}

const char *bench_cache_uuid(const struct bench_cache *c)
{
	return c->running.uuid;
}

/* --------------------------------------------------------- counters ---- */

static bool read_counters(struct bench_cache *c, u64 *hits, u64 *misses)
{
	if (status_read(c->running.name, &c->status))
		return false;
	*hits = status_number(&c->status, "read_hits");
	*misses = status_number(&c->status, "read_misses");
	return true;
}

double bench_cache_look(struct bench_cache *c)
{
	bool known = c->looked;
	u64 hits, misses, more = 0, reads = 0;

	c->looked = read_counters(c, &hits, &misses);
	if (!c->looked)
		return -1;
	if (known) {
		more = hits - c->look_hits;
		reads = more + misses - c->look_misses;
	}
	c->look_hits = hits;
	c->look_misses = misses;
	return reads ? (double)more / (double)reads : -1;
}

static bool read_latency(const struct bench_cache *c, struct latency *l)
{
	return !latency_read(c->running.name, l) && l->recording;
}

void bench_cache_before(struct bench_cache *c)
{
	c->recorded = read_latency(c, &c->latency);
	c->counted = c->looked = read_counters(c, &c->hits, &c->misses);
	c->look_hits = c->hits;
	c->look_misses = c->misses;
	c->held = status_number(&c->status, "clean") + status_number(&c->status, "dirty");
	c->slots = status_number(&c->status, "slots");
}

static struct json_object *json_classes(struct bench_cache *c)
{
	static struct latency after;
	struct json_object *o;

	if (!c->recorded || !read_latency(c, &after) || !latency_subtract(&after, &c->latency))
		return NULL;
	o = json_object_new_object();
	for (u32 i = 0; i < XP_CLASSES; i++)
		if (xp_histogram_count(&after.class[i]))
			bench_result_add(o, xp_class_name[i], timing_json(&after.class[i]));
	return o;
}

void bench_cache_after(struct bench_cache *c, struct json_object *run)
{
	u64 hits, misses;

	bench_result_add(run, "classes", json_classes(c));
	if (!c->counted)
		return;
	bench_result_add(run, "held_before", json_object_new_uint64(c->held));
	bench_result_add(run, "slots", json_object_new_uint64(c->slots));
	if (!read_counters(c, &hits, &misses))
		return;
	bench_result_add(run, "hits", json_object_new_uint64(hits - c->hits));
	bench_result_add(run, "misses", json_object_new_uint64(misses - c->misses));
}

/* ------------------------------------------------------------- legs ---- */

/* Devices are renamed; the number is what the cache runs on. */
static enum xc open_as(struct bench_target *t, const char *path, dev_t dev, enum bench_leg leg)
{
	enum xc ret = bench_target_open(t, path, leg);

	if (ret || !dev || t->dev.dev == dev)
		return ret;
	bench_target_close(t);
	return complain(XC_FAILED, path, "try again", "it has become another device");
}

static enum xc open_leg(struct bench *b, dev_t dev, enum bench_leg leg)
{
	char path[PATH_MAX];
	enum xc ret;

	if (!device_node_of(dev, path, sizeof(path)))
		return complain(XC_FAILED, b->cache->running.name, "xpcache status tells more",
				"one of its devices is gone");
	ret = open_as(&b->target[b->nr_targets], path, dev, leg);
	b->nr_targets += !ret;
	return ret;
}

static enum xc open_path(struct bench *b, const char *path, enum bench_leg leg)
{
	enum xc ret = open_as(&b->target[b->nr_targets], path, 0, leg);

	b->nr_targets += !ret;
	return ret;
}

/* Of the engine in user space: by its devices' paths, and by its socket. */
static enum xc open_user_legs(struct bench *b)
{
	const struct running *r = &b->cache->running;
	char uri[512];
	enum xc ret;

	user_uri(r->name, uri, sizeof(uri));
	(void)((ret = open_path(b, r->slow_path, BENCH_U)) || (ret = open_path(b, uri, BENCH_C)) ||
	       (ret = open_path(b, r->fast_path, BENCH_R)));
	return ret;
}

static enum xc open_legs(struct bench *b)
{
	const struct running *r = &b->cache->running;
	enum xc ret;

	if (r->user)
		return open_user_legs(b);
	(void)((ret = open_leg(b, r->slow, BENCH_U)) || (ret = open_leg(b, r->dev, BENCH_C)) ||
	       (ret = open_leg(b, r->fast, BENCH_R)));
	return ret;
}

/* ----------------------------------------------------------- places ---- */

/* Blocks of the range that the cache holds, or does not, as many as wanted of each. */
struct drawing {
	struct bench *b;
	struct offline map;
	u64 *held, nr_held;	/* lbas in the range */
	u64 from, blocks;	/* the range: those of the cache that are whole */
	u64 before;		/* bytes of block 0 that are before the device: xp_sb_pad() */
};

/* Where a block begins. */
static u64 offset_of(const struct drawing *d, u64 lba)
{
	return (lba << XP_BLOCK_SHIFT) - d->before;
}

static int list_held(struct drawing *d, struct bench_target *fast)
{
	u64 room = d->map.stats.clean + d->map.stats.dirty;
	struct xp_mapping m;
	u32 cursor = 0;

	d->held = calloc(room + 1, sizeof(*d->held));
	fast->list = calloc(room + 1, sizeof(*fast->list));
	if (!d->held || !fast->list)
		return -ENOMEM;
	while (xp_walk(d->map.core, &cursor, &m)) {
		u64 lba = xp_lba_n(m.lba);

		if (m.zeros || m.unread || m.lacks || lba - d->from >= d->blocks || d->nr_held == room)
			continue;
		fast->list[d->nr_held] = fast->from + ((u64)xp_slot_n(m.slot) << XP_BLOCK_SHIFT);
		d->held[d->nr_held++] = lba;
	}
	fast->nr_list = d->nr_held;
	return 0;
}

/* A block that is not held comes once: read, it may be held. */
static u64 draw_lacking(struct drawing *d, u64 wanted, u64 *list)
{
	struct bench_places all;
	struct xp_mapping m;
	u64 n = 0;

	bench_places_init(&all, BENCH_RANDOM, d->from, d->blocks, 1, 1, d->b->setup.seed + 1);
	for (u64 i = 0; i < all.n && n < wanted; i++) {
		u64 lba = bench_place(&all, i);

		if (!xp_lookup(d->map.core, XP_LBA(lba), &m))
			list[n++] = offset_of(d, lba);
	}
	return n;
}

static int draw(struct drawing *d, struct bench_target *slow, struct bench_target *cached, double rate)
{
	u64 lacking = (u64)((1 - rate) * PLACES + 0.5), held;

	slow->list = calloc(PLACES, sizeof(*slow->list));
	cached->list = calloc(PLACES, sizeof(*cached->list));
	if (!slow->list || !cached->list)
		return -ENOMEM;
	lacking = draw_lacking(d, lacking, slow->list);
	if (!lacking)	/* all of the range is in it */
		d->b->cache->wanted = rate = 1;
	held = rate < 1 ? (u64)((double)lacking * rate / (1 - rate)) : PLACES;
	held = min(held, PLACES - lacking);
	for (u64 i = 0; i < held; i++)
		slow->list[lacking + i] = offset_of(d, d->held[bench_below(bench_mix(d->b->setup.seed, i), d->nr_held)]);
	slow->nr_list = cached->nr_list = lacking + held;
	cached->unchanged = !lacking;
	memcpy(cached->list, slow->list, slow->nr_list * sizeof(*slow->list));
	return 0;
}

/* Since it was started; NAN: too few to tell. */
static double workload_rate(struct bench_cache *c)
{
	u64 hits, misses;

	if (!read_counters(c, &hits, &misses) || hits + misses < READS_KNOWN)
		return NAN;
	return (double)hits / (double)(hits + misses);
}

static int choose_places(struct bench *b, struct offline *map)
{
	struct bench_target *slow = &b->target[0], *cached = &b->target[1], *fast = &b->target[2];
	u64 before = (u64)xp_sb_pad(&map->sb) << XP_SECTOR_SHIFT;
	u64 first = (cached->from + before + XP_BLOCK_SIZE - 1) >> XP_BLOCK_SHIFT;
	u64 end = (cached->from + cached->bytes + before) >> XP_BLOCK_SHIFT;
	struct drawing d = { .b = b, .map = *map, .from = first, .blocks = end - min(end, first), .before = before };
	double rate = b->setup.places == BENCH_PLACES_CACHED ? 1 : workload_rate(b->cache);
	bool all_over = b->setup.places == BENCH_PLACES_DEVICE || isnan(rate) ||
			(b->setup.ranged && b->setup.places != BENCH_PLACES_CACHED);
	int err = list_held(&d, fast);

	if (!err && !all_over && d.nr_held) {
		b->cache->wanted = rate;
		err = draw(&d, slow, cached, rate);
	}
	free(d.held);
	return err;
}

static void add_scratch(struct bench *b, const struct xp_sb *sb)
{
	struct bench_target *t = &b->target[b->nr_targets];

	if (!b->setup.destructive || le64_to_cpu(sb->scratch_start) != XP_SCRATCH_START ||
	    le64_to_cpu(sb->scratch_blocks) != XP_SCRATCH_BLOCKS)
		return;
	if (open_as(t, b->target[2].dev.path, b->cache->running.fast, BENCH_R))
		return;
	t->from = XP_SCRATCH_START << XP_BLOCK_SHIFT;
	t->bytes = XP_SCRATCH_BLOCKS << XP_BLOCK_SHIFT;
	t->scratch = t->writable = true;
	b->nr_targets++;
}

/* Requests of 4 KiB are those of the cache's blocks, as those of a file system there are. */
static void follow_grid(struct bench *b, u64 bytes)
{
	for (u32 i = 0; i < 2 && !b->setup.ranged; i++) {
		b->target[i].from += bytes;
		b->target[i].bytes -= bytes;
	}
}

/* What its journal cannot tell is no reason not to measure: then it is all over the range. */
static void learn_places(struct bench *b)
{
	struct bench_target *fast = &b->target[2];
	struct offline map;
	struct device look;

	b->cache->wanted = NAN;
	if (device_look(&look, fast->dev.path))
		return;
	if (!offline_open(&map, &look)) {
		fast->from = le64_to_cpu(map.sb.data_start) << XP_BLOCK_SHIFT;
		fast->bytes = le64_to_cpu(map.sb.nr_slots) << XP_BLOCK_SHIFT;
		b->cache->bytes = fast->bytes;
		follow_grid(b, (u64)map.sb.grid << XP_SECTOR_SHIFT);
		add_scratch(b, &map.sb);
		if (!offline_load(&map))
			choose_places(b, &map);
	}
	offline_close(&map);
	device_close(&look);
}

static enum xc find_cache(struct running *r, const char *name)
{
	enum xc ret = caches_find_running(name, r);

	if (!ret && !r->user && (!r->fast || !r->slow))
		ret = complain(XC_FAILED, name, "xpcache status tells more", "its devices are not known");
	return ret;
}

enum xc bench_cache_open(struct bench *b, const char *name)
{
	enum xc ret;

	if (geteuid() != 0 && !user_has(name))
		return complain(XC_FAILED, name, "run it with sudo", "only root can measure a cache");
	b->cache = calloc(1, sizeof(*b->cache));
	if (!b->cache)
		return complain_errno(ENOMEM, name, "cannot begin");
	ret = find_cache(&b->cache->running, name);
	if (!ret)
		ret = open_legs(b);
	if (!ret)
		ret = bench_target_range(&b->target[0], &b->setup);
	if (!ret)
		ret = bench_target_range(&b->target[1], &b->setup);
	if (!ret)
		learn_places(b);
	return ret;
}

void bench_cache_close(struct bench *b)
{
	free(b->cache);
	b->cache = NULL;
}

/* ------------------------------------------------------------ whole ---- */

static void say_places(struct bench *b)
{
	double wanted = b->setup.size > XP_BLOCK_SIZE ? NAN : b->cache->wanted;

	if (wanted >= 1)
		bench_result_warn(b->result, "places", "Only blocks that are in the cache were read: the best case.");
	else if (!isnan(wanted))
		bench_result_warn(b->result, "places", "Places are drawn at the hit rate of all reads since "
				  "the cache was started, %.1f %%; --range measures a set of yours.", 100 * wanted);
	else if (!b->setup.ranged)
		bench_result_warn(b->result, "places", "Places are all over the device: --range measures a "
				  "set of yours, --places cached what is in the cache.");
}

void bench_cache_begin(struct bench *b)
{
	struct json_object *target = bench_result_get(b->result, "target");
	struct json_object *cache = bench_result_get(target, "cache");

	bench_result_add(target, "name", json_words(b->cache->running.name));
	say_places(b);
	if (!cache) {
		cache = json_object_new_object();
		bench_result_add(target, "cache", cache);
		if (!status_read(b->cache->running.name, &b->cache->status))
			bench_result_add(cache, "before", status_json(&b->cache->status));
	}
}

static double hit_ratio_of(struct json_object *run)
{
	double hits = bench_result_number(run, "hits"), misses = bench_result_number(run, "misses");

	return hits + misses > 0 ? hits / (hits + misses) : NAN;
}

static void headline_warnings(struct bench *b, const struct bench_headline *h, const struct xp_histogram *c)
{
	u64 n = xp_histogram_count(c);

	if (h->hit_ratio < 0.5)
		bench_result_warn(b->result, "cold-cache", "The cache is cold: %.1f %% of these reads were hits.",
				  100 * h->hit_ratio);
	if (!bench_headline_agrees(h, n))
		bench_result_warn(b->result, "cover", "%.1f %% of the requests were fast, but the cache counted "
				  "%.1f %% hits: something else was at work, hits were slow, or misses fast.",
				  100 * h->cover, 100 * h->hit_ratio);
	if (timing_needs(c, 0.99) > 1)
		bench_result_warn(b->result, "samples", "%llu requests through the cache: too few for p99. "
				  "--seconds measures longer.", (unsigned long long)n);
}

static void headline(struct bench *b)
{
	static struct xp_histogram u, c, r;
	struct bench_headline h;
	struct json_object *cached = bench_result_find(b->runs, "headline/C");

	if (!bench_result_timing(bench_result_find(b->runs, "headline/U"), "read", &u) ||
	    !bench_result_timing(cached, "read", &c) ||
	    !bench_result_timing(bench_result_find(b->runs, "headline/R"), "read", &r))
		return;
	bench_headline_of(&h, &u, &c, &r, hit_ratio_of(cached));
	bench_result_add(b->result, "headline", bench_headline_json(&h));
	headline_warnings(b, &h, &c);
	if (!bench_result_get(cached, "classes"))
		bench_result_warn(b->result, "histogram", "The cache's own histogram is off or not there: "
				  "what it saw of hits and misses is missing.");
}

void bench_cache_finish(struct bench *b)
{
	struct json_object *cache = bench_result_get(bench_result_get(b->result, "target"), "cache");

	if (!status_read(b->cache->running.name, &b->cache->status))
		bench_result_add(cache, "after", status_json(&b->cache->status));
	headline(b);
}
