// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency - how long one request after another takes, to the nanosecond.
 *
 *   latency DEV OP SIZE FIRST SPAN COUNT SEED [WITHIN]
 *
 * OP is read, write, sync (a write and fdatasync, timed as one), dsync (an O_DSYNC
 * write) or mixed (70 reads, 30 writes). COUNT requests of SIZE bytes go to places
 * of [FIRST, FIRST + SPAN) in random order, none twice before all have been met.
 * Prints one line of JSON, in ns; with WITHIN, also how many took no longer than that.
 * (fio rounds to one part in 64; a hit's cost over dm-linear is less than that.)
 */
#include <time.h>
#include "pattern.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 0 to n - 1 in random order. */
static uint64_t *shuffled(uint64_t n, uint64_t seed)
{
	uint64_t *place = malloc(n * sizeof(*place));

	if (!place)
		err(1, "memory");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = draw(seed, i) % (i + 1);

		place[i] = place[k];
		place[k] = i;
	}
	return place;
}

enum op { READ, WRITE, SYNC, DSYNC, MIXED, NR_OPS };

static enum op parse_op(const char *word)
{
	static const char *const name[NR_OPS] = { "read", "write", "sync", "dsync", "mixed" };

	for (unsigned int op = 0; op < NR_OPS; op++)
		if (!strcmp(word, name[op]))
			return op;
	errx(2, "%s: no such operation", word);
}

static void request(int fd, enum op op, void *buf, size_t size, off_t at)
{
	ssize_t n = op == READ ? pread(fd, buf, size, at) : pwrite(fd, buf, size, at);

	if (n != (ssize_t)size || (op == SYNC && fdatasync(fd)))
		err(1, "%zu bytes at %lld", size, (long long)at);
}

static void print_figures(uint64_t *ns, uint64_t n, uint64_t limit)
{
	uint64_t sum = 0, within = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += ns[i];
		within += ns[i] <= limit;
	}
	qsort(ns, n, sizeof(*ns), compare);
	printf("{");
	if (limit)
		printf("\"within\":%llu,", (unsigned long long)within);
	printf("\"n\":%llu,\"mean\":%llu,\"p50\":%llu,\"p99\":%llu,\"p99.9\":%llu,\"max\":%llu}\n",
	       (unsigned long long)n, (unsigned long long)(sum / n),
	       (unsigned long long)ns[n / 2], (unsigned long long)ns[n * 99 / 100],
	       (unsigned long long)ns[n * 999 / 1000], (unsigned long long)ns[n - 1]);
}

int main(int argc, char **argv)
{
	uint64_t size, first, count, seed, places, *place, *ns;
	void *buf;
	enum op op;
	int fd;

	if (argc != 8 && argc != 9)
		errx(2, "usage: latency DEV OP SIZE FIRST SPAN COUNT SEED [WITHIN]");
	op = parse_op(argv[2]);
	size = strtoull(argv[3], NULL, 10);
	first = strtoull(argv[4], NULL, 10);
	places = strtoull(argv[5], NULL, 10) / size;
	count = strtoull(argv[6], NULL, 10);
	seed = strtoull(argv[7], NULL, 10);
	fd = open_direct(argv[1], op == DSYNC ? O_DSYNC : 0);
	if (!places || !count)
		errx(2, "nothing to do");
	buf = buffer(size);
	memset(buf, 0x5a, size);
	place = shuffled(places, seed);
	ns = calloc(count, sizeof(*ns));
	if (!ns)
		err(1, "memory");
	for (uint64_t i = 0; i < count; i++) {
		off_t at = (off_t)(first + place[i % places] * size);
		enum op this = op != MIXED ? op : draw(seed, i) % 10 < 7 ? READ : WRITE;
		uint64_t begun = now();

		request(fd, this, buf, size, at);
		ns[i] = now() - begun;
	}
	print_figures(ns, count, argc == 9 ? strtoull(argv[8], NULL, 10) : 0);
	return 0;
}
