// SPDX-License-Identifier: GPL-2.0-only
/*
 * timing.c - requests, and latencies of requests and of both devices, counted per processor.
 *
 * Counting takes no lock, and counts are never reset: the status and the message print the sums
 * of all processors, and a reader subtracts an earlier answer. Requests are counted always. While
 * latencies are not recorded a request has one test for it, and their counts stay.
 *
 * The clock is the time-stamp counter if the kernel's own clock is: to read it takes a
 * tenth of the time of ktime_get(). If the kernel finds the counter unstable later, times
 * that began on one processor and ended on another may be wrong; the message then names
 * the clock "tsc-unstable".
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "timing.h"
#include "histogram.h"

/* Of a processor. */
struct xs_tally {
	struct xp_requests requests;
	/*
	 * 16 KiB each, and each its own allocation: the per-processor area is small. From the first
	 * time on that latencies are recorded.
	 */
	struct xp_histogram *of[XP_CLASSES];
};

/* -------------------------------------------------------------- clock ---- */

/* recording is turned on and off by one message at a time */
static DEFINE_MUTEX(switch_lock);

DEFINE_STATIC_KEY_FALSE(xs_tsc);
static u32 ns_per_tick = 1u << XS_TICK_SHIFT;	/* 1 << XS_TICK_SHIFT is one */

#ifdef CONFIG_X86_64
/* Whether the kernel's own clock is this counter. */
static bool __init is_clocksource(void)
{
	u64 before = get_cycles(), read = xs_clocksource_cycles();

	return read >= before && read <= get_cycles();
}

void __init xs_timing_init(void)
{
	if (tsc_khz >= 100000 && !check_tsc_unstable() && is_clocksource())
		static_branch_enable(&xs_tsc);
}

/* The kernel may measure it better some seconds after it has started. */
static void calibrate(void)
{
	lockdep_assert_held(&switch_lock);
	if (static_key_enabled(&xs_tsc))
		/* with add(); a time that is recorded meanwhile has either value */
		WRITE_ONCE(ns_per_tick,
			   (u32)div_u64((u64)USEC_PER_SEC << XS_TICK_SHIFT, tsc_khz));
}

static const char *clock_name(void)
{
	if (!static_key_enabled(&xs_tsc))
		return "ktime";
	return check_tsc_unstable() ? "tsc-unstable" : "tsc";
}
#else
void __init xs_timing_init(void)
{
}

static void calibrate(void)
{
}

static const char *clock_name(void)
{
	return "ktime";
}
#endif

/* ------------------------------------------------------------- record ---- */

static __always_inline u64 ns_of(u64 ticks)
{
	return mul_u64_u32_shr(ticks, READ_ONCE(ns_per_tick), XS_TICK_SHIFT);
}

static __always_inline void add(struct xs_tally *mine, enum xp_class class, u64 ticks)
{
	xp_histogram_add(mine->of[class], ns_of(ticks));
}

void xs_slow_took(struct xs_cache *cache, const struct xp_req *req, u32 nr_sectors, u64 ticks)
{
	xp_slow_took(cache->core, req, nr_sectors, ns_of(ticks));
}

void xs_record(struct xs_cache *cache, enum xp_class leg, u64 ticks)
{
	add(get_cpu_ptr(cache->tally), leg, ticks);
	put_cpu_ptr(cache->tally);
}

void xs_count(struct xs_cache *cache, enum xp_class class, bool failed, u64 ticks)
{
	struct xs_tally *mine = get_cpu_ptr(cache->tally);

	xp_requests_add(&mine->requests, class, failed);
	if (ticks && !failed)
		add(mine, class, ticks);
	put_cpu_ptr(cache->tally);
}

void xs_count_hit(struct xs_cache *cache, u32 nr_blocks, u64 ticks, u64 leg_ticks)
{
	struct xs_tally *mine = get_cpu_ptr(cache->tally);

	xp_local_add(&mine->requests.hit_blocks, nr_blocks);
	xp_requests_add(&mine->requests, XP_CLASS_READ_HIT, false);
	add(mine, XP_CLASS_READ_HIT, ticks);
	add(mine, XP_CLASS_FAST_READ, leg_ticks);
	put_cpu_ptr(cache->tally);
}

void xs_count_hit_blocks(struct xs_cache *cache, u32 nr_blocks)
{
	xp_local_add(&get_cpu_ptr(cache->tally)->requests.hit_blocks, nr_blocks);
	put_cpu_ptr(cache->tally);
}

void xs_count_split(struct xs_cache *cache)
{
	xp_local_add(&get_cpu_ptr(cache->tally)->requests.split, 1);
	put_cpu_ptr(cache->tally);
}

void xs_count_both(struct xs_cache *cache, enum xp_class class, u64 ticks, enum xp_class leg,
		   u64 leg_ticks)
{
	struct xs_tally *mine = get_cpu_ptr(cache->tally);

	xp_requests_add(&mine->requests, class, false);
	add(mine, class, ticks);
	add(mine, leg, leg_ticks);
	put_cpu_ptr(cache->tally);
}

/* ------------------------------------------------------------- memory ---- */

static void free_histograms(struct xs_cache *cache)
{
	u32 class;
	int cpu;

	for_each_possible_cpu(cpu)
		for (class = 0; class < XP_CLASSES; class++) {
			struct xs_tally *t = per_cpu_ptr(cache->tally, cpu);

			kvfree(t->of[class]);
			t->of[class] = NULL;
		}
}

static int alloc_one(struct xs_tally *t, int cpu)
{
	u32 class;

	/* what is allocated is a power of 2 */
	BUILD_BUG_ON(sizeof(struct xp_histogram) > SZ_16K);
	for (class = 0; class < XP_CLASSES; class++) {
		t->of[class] = kvzalloc_node(sizeof(*t->of[class]), GFP_KERNEL, cpu_to_node(cpu));
		if (!t->of[class])
			return -ENOMEM;
	}
	return 0;
}

static int alloc_histograms(struct xs_cache *cache)
{
	int cpu, err = 0;

	for_each_possible_cpu(cpu)
		err = err ? err : alloc_one(per_cpu_ptr(cache->tally, cpu), cpu);
	if (err)
		free_histograms(cache);
	return err;
}

int xs_timing_alloc(struct xs_cache *cache)
{
	cache->tally = alloc_percpu(struct xs_tally);
	return cache->tally ? xs_wholes_alloc(cache) : -ENOMEM;
}

void xs_timing_free(struct xs_cache *cache)
{
	if (cache->tally)
		free_histograms(cache);
	free_percpu(cache->tally);
	xs_wholes_free(cache);
}

/* All of them are there, and never replaced. */
static bool has_histograms(const struct xs_cache *cache)
{
	return smp_load_acquire(&cache->has_histograms);	/* with xs_timing_switch() */
}

u64 xs_timing_bytes(const struct xs_cache *cache)
{
	return has_histograms(cache) ?
	       (u64)num_possible_cpus() * XP_CLASSES * sizeof(struct xp_histogram) : 0;
}

/* Histograms are freed with the cache: a request in flight may still record. */
int xs_timing_switch(struct xs_cache *cache, bool on)
{
	unsigned int noio = memalloc_noio_save();	/* we may be suspended, and swapped on */
	int err = 0;

	mutex_lock(&switch_lock);
	calibrate();
	if (on && !cache->has_histograms) {
		err = alloc_histograms(cache);
		if (!err)
			smp_store_release(&cache->has_histograms, true);	/* with has_histograms() */
	}
	if (!err)
		smp_store_release(&cache->timed, on);	/* with xs_time() */
	mutex_unlock(&switch_lock);
	memalloc_noio_restore(noio);
	return err;
}

/* --------------------------------------------------------------- tell ---- */

struct xp_requests xs_requests(const struct xs_cache *cache)
{
	struct xp_requests sum = { .failed = 0 };
	int cpu;

	for_each_possible_cpu(cpu)
		xp_requests_merge(&sum, &per_cpu_ptr(cache->tally, cpu)->requests);
	return sum;
}

static void merge(struct xs_cache *cache, enum xp_class class, struct xp_histogram *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	if (!has_histograms(cache))
		return;
	for_each_possible_cpu(cpu) {
		xp_histogram_merge(sum, per_cpu_ptr(cache->tally, cpu)->of[class]);
		cond_resched();
	}
}

static struct xp_histogram *sum_alloc(void)
{
	unsigned int noio = memalloc_noio_save();	/* as above */
	struct xp_histogram *sum = kvmalloc(sizeof(*sum), GFP_KERNEL);

	memalloc_noio_restore(noio);
	return sum;
}

int xs_timing_print(struct xs_cache *cache, char *text, u32 room)
{
	struct xp_histogram *sum = sum_alloc();
	u32 class, at;

	if (!sum)
		return -ENOMEM;
	at = scnprintf(text, room, "histogram %s %s %llu\n",
		       READ_ONCE(cache->timed) ? "on" : "off", clock_name(),
		       ktime_get_ns() - cache->started);
	for (class = 0; class < XP_CLASSES; class++) {
		merge(cache, class, sum);
		at += xp_histogram_print(sum, class, text + at, room - at);
		if (at >= room)
			break;	/* cut: the caller comes again with more room */
	}
	kvfree(sum);
	return 0;
}
