// SPDX-License-Identifier: GPL-2.0-only
/* timing.c - how many requests there are, how long they and the devices take; by each loop for itself. */
#include "daemon/timing.h"
#include "core/histogram.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int xd_timing_alloc(struct xd_cache *cache)
{
	cache->histograms = calloc((size_t)cache->nr_loops * XP_CLASSES, sizeof(*cache->histograms));
	cache->requests = calloc(cache->nr_loops, sizeof(*cache->requests));
	if (!cache->histograms || !cache->requests)
		return -ENOMEM;
	for (u32 i = 0; i < cache->nr_loops; i++) {
		cache->loop[i].histogram = cache->histograms + (size_t)i * XP_CLASSES;
		cache->loop[i].requests = &cache->requests[i];
	}
	return 0;
}

void xd_timing_free(struct xd_cache *cache)
{
	free(cache->histograms);
	free(cache->requests);
}

u64 xd_timing_bytes(const struct xd_cache *cache)
{
	return (u64)cache->nr_loops * XP_CLASSES * sizeof(struct xp_histogram);
}

void xd_record(struct xd_loop *loop, enum xp_class class, u64 ns)
{
	xp_histogram_add(&loop->histogram[class], ns);
}

struct xp_requests xd_requests(const struct xd_cache *cache)
{
	struct xp_requests sum = { .failed = 0 };

	for (u32 i = 0; i < cache->nr_loops; i++)
		xp_requests_merge(&sum, &cache->requests[i]);
	return sum;
}

static void merge(struct xd_cache *cache, enum xp_class class, struct xp_histogram *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (u32 i = 0; i < cache->nr_loops; i++)
		xp_histogram_merge(sum, &cache->loop[i].histogram[class]);
}

char *xd_timing_print(struct xd_cache *cache)
{
	struct xp_histogram *sum = malloc(sizeof(*sum));
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f && sum) {
		fprintf(f, "histogram %s monotonic %llu\n", xd_get(cache->timed) ? "on" : "off",
			(unsigned long long)(xd_now() - cache->started));
		for (u32 class = 0; class < XP_CLASSES; class++) {
			static __thread char line[XP_BINS * 32 + 128];

			merge(cache, class, sum);
			xp_histogram_print(sum, class, line, sizeof(line));
			fputs(line, f);
		}
	}
	free(sum);
	if (f)
		fclose(f);
	return text;
}
