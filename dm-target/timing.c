// SPDX-License-Identifier: GPL-2.0-only
/*
 * timing.c - how long requests and the devices below take, counted by each processor
 * for itself.
 *
 * Nothing is locked and nothing is ever reset: whoever asks gets all processors' sums,
 * and subtracts what he got before. While it is off, a request has one test more to pass;
 * what was recorded stays.
 *
 * The time is the processor's time-stamp counter where the kernel trusts it: to read it
 * costs a tenth of what ktime_get() does. Should the kernel come to distrust it later,
 * times that began on one processor and ended on another may be wrong; the name of the
 * clock then says so.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "shell.h"

/* 16 KiB each, and each its own allocation: the per-processor area is small. */
struct xs_histograms {
	struct xp_histogram *of[XP_CLASSES];
};

/* -------------------------------------------------------------- clock ---- */

DEFINE_STATIC_KEY_FALSE(xs_tsc);
static u32 ns_per_tick __ro_after_init = 1u << XS_TICK_SHIFT;	/* 1 << XS_TICK_SHIFT is one */

#ifdef CONFIG_X86_64
void __init xs_timing_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC) || check_tsc_unstable() || tsc_khz < 100000)
		return;
	ns_per_tick = (u32)div_u64((u64)USEC_PER_SEC << XS_TICK_SHIFT, tsc_khz);
	static_branch_enable(&xs_tsc);
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

static const char *clock_name(void)
{
	return "ktime";
}
#endif

/* ------------------------------------------------------------- record ---- */

static __always_inline void add(struct xs_histograms *mine, enum xp_class class, u64 ticks)
{
	xp_histogram_add(mine->of[class], mul_u64_u32_shr(ticks, ns_per_tick, XS_TICK_SHIFT));
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

void xs_timing_free(struct xs_cache *cache)
{
	u32 class;
	int cpu;

	if (!cache->histograms)
		return;
	for_each_possible_cpu(cpu)
		for (class = 0; class < XP_CLASSES; class++)
			kvfree(per_cpu_ptr(cache->histograms, cpu)->of[class]);
	free_percpu(cache->histograms);
	cache->histograms = NULL;
}

static int alloc_one(struct xs_histograms *h, int cpu)
{
	u32 class;

	for (class = 0; class < XP_CLASSES; class++) {
		h->of[class] = kvzalloc_node(sizeof(*h->of[class]), GFP_KERNEL, cpu_to_node(cpu));
		if (!h->of[class])
			return -ENOMEM;
	}
	return 0;
}

static int histograms_alloc(struct xs_cache *cache)
{
	int cpu, err = 0;

	cache->histograms = alloc_percpu(struct xs_histograms);
	if (!cache->histograms)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		err = err ? err : alloc_one(per_cpu_ptr(cache->histograms, cpu), cpu);
	if (err)
		xs_timing_free(cache);
	return err;
}

u64 xs_timing_bytes(const struct xs_cache *cache)
{
	return cache->histograms ? (u64)num_possible_cpus() * (sizeof(struct xs_histograms) +
				   XP_CLASSES * sizeof(struct xp_histogram)) : 0;
}

/* They stay until the cache goes: a request that is under way may still record. */
int xs_timing_switch(struct xs_cache *cache, bool on)
{
	int err = on && !cache->histograms ? histograms_alloc(cache) : 0;

	if (!err)
		smp_store_release(&cache->timed, on);	/* with xs_time() */
	return err;
}

/* --------------------------------------------------------------- tell ---- */

static void merge(struct xs_cache *cache, enum xp_class class, struct xp_histogram *all)
{
	int cpu;

	memset(all, 0, sizeof(*all));
	if (!cache->histograms)
		return;
	for_each_possible_cpu(cpu)
		xp_histogram_merge(all, per_cpu_ptr(cache->histograms, cpu)->of[class]);
}

int xs_timing_print(struct xs_cache *cache, char *text, u32 room)
{
	struct xp_histogram *all = kvmalloc(sizeof(*all), GFP_KERNEL);
	u32 class, at;

	if (!all)
		return -ENOMEM;
	at = scnprintf(text, room, "histogram %s %s %llu\n", cache->timed ? "on" : "off",
		       clock_name(), ktime_get_ns() - cache->started);
	for (class = 0; class < XP_CLASSES; class++) {
		merge(cache, class, all);
		at += xp_histogram_print(all, class, text + at, room - at);
		if (at >= room)
			break;	/* cut: the caller comes again with more room */
		cond_resched();
	}
	kvfree(all);
	return 0;
}
