// SPDX-License-Identifier: GPL-2.0-only
/* bench_places.c - where the requests of a benchmark go. */
#include "tools/bench/bench_places.h"
#include "platform.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------- each place once ---- */

/*
 * A Feistel network permutes 0 to 4^k - 1; what falls beyond n goes through it again
 * until it does not. 4^k is less than 4 n, so that takes less than four turns on average.
 */
#define ROUNDS	4

static u64 feistel(u64 v, u32 half, u64 key)
{
	u64 mask = (1ull << half) - 1, left = v >> half, right = v & mask;

	for (u32 round = 0; round < ROUNDS; round++) {
		u64 was = right;

		right = left ^ (bench_mix(key + round, right) & mask);
		left = was;
	}
	return left << half | right;
}

static u64 permuted(u64 i, u64 n, u64 key)
{
	u32 bits = n > 1 ? 64 - (u32)__builtin_clzll(n - 1) : 1;
	u32 half = (bits + 1) / 2;

	do
		i = feistel(i, half, key);
	while (i >= n);
	return i;
}

/* ------------------------------------------------------------ zipf ---- */

/* Gray's method ("Quickly generating billion-record synthetic databases", 1994), as YCSB
 * has it: rank 0 is met most often. */
#define THETA	0.99
#define EXACT	100000u

/* The sum of 1 / i^THETA: by hand as long as terms differ, then the integral. */
static double zeta(u64 n)
{
	u64 exact = min(n, EXACT);
	double sum = 0;

	for (u64 i = 1; i <= exact; i++)
		sum += pow((double)i, -THETA);
	if (n > exact)
		sum += (pow((double)n + 0.5, 1 - THETA) - pow(exact + 0.5, 1 - THETA)) / (1 - THETA);
	return sum;
}

static void zipf_init(struct bench_zipf *z, u64 n)
{
	z->half = 1 + pow(0.5, THETA);
	z->alpha = 1 / (1 - THETA);
	z->zeta = zeta(n);
	z->eta = n > 2 ? (1 - pow(2.0 / (double)n, 1 - THETA)) / (1 - z->half / z->zeta) : 0;
}

static u64 zipf_rank(const struct bench_places *p, u64 random)
{
	double u = (double)(random >> 11) * 0x1p-53, uz = u * p->zipf.zeta;
	double rank;

	if (uz < 1 || p->n < 2)
		return 0;
	if (uz < p->zipf.half || p->n == 2)
		return 1;
	rank = (double)p->n * pow(p->zipf.eta * u - p->zipf.eta + 1, p->zipf.alpha);
	return min((u64)rank, p->n - 1);
}

/* ----------------------------------------------------------- whole ---- */

void bench_places_init(struct bench_places *p, enum bench_pattern pattern, u64 from, u64 bytes,
		       u32 size, u32 align, u64 seed)
{
	memset(p, 0, sizeof(*p));
	p->pattern = pattern;
	p->from = from;
	p->align = align;
	p->n = bytes < size ? 0 : (bytes - size) / align + 1;
	p->seed = bench_mix(seed, 1);
	if (pattern == BENCH_ZIPF)
		zipf_init(&p->zipf, p->n);
}

void bench_places_list(struct bench_places *p, const u64 *list, u64 n, u64 seed)
{
	bench_places_init(p, BENCH_RANDOM, 0, n, 1, 1, seed);
	p->list = list;
}

/* Each round through all places has an order of its own. */
u64 bench_place(const struct bench_places *p, u64 i)
{
	u64 place = 0;

	switch (p->pattern) {
	case BENCH_RANDOM:
		place = permuted(i % p->n, p->n, bench_mix(p->seed, i / p->n));
		break;
	case BENCH_UNIFORM:
		place = bench_below(bench_mix(p->seed, i), p->n);
		break;
	case BENCH_ZIPF:	/* the popular ones lie anywhere */
		place = permuted(zipf_rank(p, bench_mix(p->seed, i)), p->n, p->seed);
		break;
	case BENCH_SEQUENTIAL:
		place = i % p->n;
		break;
	case BENCH_BACKWARD:
		place = p->n - 1 - i % p->n;
		break;
	}
	return p->list ? p->list[place] : p->from + place * p->align;
}
