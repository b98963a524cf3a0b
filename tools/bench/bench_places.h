/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_places.h - where the requests of a benchmark go: the i-th of them, by arithmetic alone.
 *
 * Nothing is remembered, so threads need not agree on anything, and who gives the same
 * seed gets the same places.
 */
#ifndef BENCH_PLACES_H
#define BENCH_PLACES_H

#include "platform.h"

enum bench_pattern {
	BENCH_RANDOM,		/* every place once before any comes again */
	BENCH_UNIFORM,		/* each drawn for itself */
	BENCH_ZIPF,		/* few places often, as a workload has it */
	BENCH_SEQUENTIAL,
	BENCH_BACKWARD,		/* from the last place down: to a cache that is no stream */
};

struct bench_places {
	enum bench_pattern pattern;
	u64 from, align, n;	/* place p begins at from + p * align, */
	const u64 *list;	/* or at list[p], if there is one: n of them */
	u64 seed;
	struct bench_zipf {
		double alpha, zeta, eta, half;
	} zipf;
};

/* Places for requests of @size bytes in a range; what is drawn is a multiple of @align
 * from its begin. Of a range too small for one request: n is 0. */
void bench_places_init(struct bench_places *p, enum bench_pattern pattern, u64 from, u64 bytes,
		       u32 size, u32 align, u64 seed);
/* The same of a list of places, which the caller keeps. */
void bench_places_list(struct bench_places *p, const u64 *list, u64 n, u64 seed);
/* The byte where request @i begins. */
u64 bench_place(const struct bench_places *p, u64 i);

const char *bench_pattern_name(enum bench_pattern p);	/* bench_show.c */

/* A number that looks random, of two that do not. */
static inline u64 bench_mix(u64 a, u64 b)
{
	u64 z = a + 0x9e3779b97f4a7c15ull * (b + 1);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* From 0 to @n - 1. */
static inline u64 bench_below(u64 random, u64 n)
{
	return (u64)((unsigned __int128)random * n >> 64);
}

#endif /* BENCH_PLACES_H */
