// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_randread.c - the lines of Matthew Dillon's randread, for DragonFly's swapcache.
 *
 * The same words and units (MB = 10^6 bytes), so that what was published can be laid
 * beside it. The times are each request's own: his divided counts, and timed from one
 * completion to the next.
 */
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"

#include <stdio.h>
#include <sys/types.h>

void bench_lines_header(const struct bench_plan_run *run)
{
	const struct bench_target *t = run->target;

	printf("device %s bufsize %zd limit %4.3fGB nprocs %u\n", t->dev.path, (ssize_t)run->size,
	       (double)t->bytes / 1e9, run->depth * run->threads);
	fflush(stdout);
}

void bench_line(const struct bench_second *s)
{
	printf("%6.0f/s avg=%6.2fuS bw=%-6.2fMB/s lo=%-3.2fuS, hi=%-3.2fuS stddev=%3.2fuS\n",
	       (double)s->n, bench_second_mean(s) / 1000, (double)s->bytes / 1e6,
	       (double)s->lo / 1000, (double)s->hi / 1000, bench_second_deviation(s) / 1000);
	fflush(stdout);
}
