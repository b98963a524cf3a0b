// SPDX-License-Identifier: GPL-2.0-only
/*
 * timing.c - latencies of requests and of both devices, counted per processor.
 *
 * Recording takes no lock, and counts are never reset: the message prints the sums of all
 * processors, and a reader subtracts an earlier answer. While recording is off a request
 * has one test for it, and the counts stay.
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

/* 16 KiB each, and each its own allocation: the per-processor area is small. */
struct xs_histograms {
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

static __always_inline void add(struct xs_histograms *mine, enum xp_class class, u64 ticks)
{
	xp_histogram_add(mine->of[class],
			 mul_u64_u32_shr(ticks, READ_ONCE(ns_per_tick), XS_TICK_SHIFT));
}

void xs_record(struct xs_cache *cache, enum xp_class class, u64 ticks)
{
	add(get_cpu_ptr(cache->histograms), class, ticks);
	put_cpu_ptr(cache->histograms);
}

void xs_record_both(struct xs_cache *cache, enum xp_class a, u64 ticks_a, enum xp_class b,
		    u64 ticks_b)
{
	struct xs_histograms *mine = get_cpu_ptr(cache->histograms);

	add(mine, a, ticks_a);
	add(mine, b, ticks_b);
	put_cpu_ptr(cache->histograms);
}

/* ------------------------------------------------------------- memory ---- */

static void free_all(struct xs_histograms __percpu *all)
{
	u32 class;
	int cpu;

	if (!all)
		return;
	for_each_possible_cpu(cpu)
		for (class = 0; class < XP_CLASSES; class++)
			kvfree(per_cpu_ptr(all, cpu)->of[class]);
	free_percpu(all);
}

static int alloc_one(struct xs_histograms *h, int cpu)
{
	u32 class;

	/* what is allocated is a power of 2 */
	BUILD_BUG_ON(sizeof(struct xp_histogram) > SZ_16K);
	for (class = 0; class < XP_CLASSES; class++) {
		h->of[class] = kvzalloc_node(sizeof(*h->of[class]), GFP_KERNEL, cpu_to_node(cpu));
		if (!h->of[class])
			return -ENOMEM;
	}
	return 0;
}

static struct xs_histograms __percpu *alloc_all(void)
{
	struct xs_histograms __percpu *all = alloc_percpu(struct xs_histograms);
	int cpu, err = all ? 0 : -ENOMEM;

	for_each_possible_cpu(cpu)
		err = err ? err : alloc_one(per_cpu_ptr(all, cpu), cpu);
	if (!err)
		return all;
	free_all(all);
	return NULL;
}

void xs_timing_free(struct xs_cache *cache)
{
	free_all(cache->histograms);
}

/* NULL, or all of them: they are never replaced. */
static struct xs_histograms __percpu *histograms(const struct xs_cache *cache)
{
	return smp_load_acquire(&cache->histograms);	/* with xs_timing_switch() */
}

u64 xs_timing_bytes(const struct xs_cache *cache)
{
	return histograms(cache) ? (u64)num_possible_cpus() * (sizeof(struct xs_histograms) +
				   XP_CLASSES * sizeof(struct xp_histogram)) : 0;
}

/* Histograms are freed with the cache: a request in flight may still record. */
int xs_timing_switch(struct xs_cache *cache, bool on)
{
	unsigned int noio = memalloc_noio_save();	/* we may be suspended, and swapped on */
	struct xs_histograms __percpu *all;
	int err = 0;

	mutex_lock(&switch_lock);
	calibrate();
	if (on && !cache->histograms) {
		all = alloc_all();
		if (all)
			smp_store_release(&cache->histograms, all);	/* with histograms() */
		else
			err = -ENOMEM;
	}
	if (!err)
		smp_store_release(&cache->timed, on);	/* with xs_time() */
	mutex_unlock(&switch_lock);
	memalloc_noio_restore(noio);
	return err;
}

/* --------------------------------------------------------------- tell ---- */

static void merge(struct xs_cache *cache, enum xp_class class, struct xp_histogram *sum)
{
	struct xs_histograms __percpu *all = histograms(cache);
	int cpu;

	memset(sum, 0, sizeof(*sum));
	if (!all)
		return;
	for_each_possible_cpu(cpu) {
		xp_histogram_merge(sum, per_cpu_ptr(all, cpu)->of[class]);
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
