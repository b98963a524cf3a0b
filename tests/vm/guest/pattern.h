/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern.h - bytes that say where they belong, a random sequence that can be
 * replayed, and reports to the host. Shared by the programs that are cut off.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR		512u
#define PATTERN_MAGIC	0x5352545443505831ull

/* splitmix64: one number of the sequence of @seed. */
static inline uint64_t draw(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A sector names itself; every further word follows from its name. */
static inline void pattern_fill(uint64_t *words, uint64_t sector, uint64_t version)
{
	words[0] = PATTERN_MAGIC;
	words[1] = sector;
	words[2] = version;
	for (unsigned int i = 3; i < SECTOR / 8; i++)
		words[i] = draw(sector * 0x100000001b3ull ^ version, i);
}

/* The version of a sector that is whole and in its place; -1 if it is not. */
static inline int64_t pattern_version(const uint64_t *words, uint64_t sector)
{
	uint64_t wanted[SECTOR / 8];

	pattern_fill(wanted, sector, words[2]);
	return memcmp(wanted, words, SECTOR) ? -1 : (int64_t)words[2];
}

/* Whole lines, one write each: returns when the host has the line. The port can
 * be opened once only, so children share what their parent opened. */
static int report_fd = -1;

static inline void report_open(void)
{
	const char *path = getenv("REPORT");

	if (!path)
		errx(1, "REPORT is not set: this runs in a guest of tests/vm");
	report_fd = open(path, O_WRONLY);
	if (report_fd < 0)
		err(1, "%s", path);
}

static inline void __attribute__((format(printf, 1, 2))) report(const char *format, ...)
{
	char line[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(report_fd, line, len) != len)
		err(1, "report");
}

static inline uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*end || end == text)
		errx(2, "%s: not a number", text);
	return n;
}

static inline int open_direct(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_DIRECT | flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* For direct I/O. */
static inline void *buffer(size_t size)
{
	void *p;

	if (posix_memalign(&p, 4096, size))
		errx(1, "memory");
	return p;
}

/* Version 0 of the first @sectors (whole MiB) of a device, on its medium. */
static inline void pattern_fill_all(const char *dev, uint32_t sectors)
{
	const uint32_t chunk = 2048;
	uint64_t *data = buffer(chunk * SECTOR);
	int fd = open_direct(dev, 0);

	for (uint32_t s = 0; s < sectors; s += chunk) {
		for (uint32_t i = 0; i < chunk; i++)
			pattern_fill(data + i * (SECTOR / 8), s + i, 0);
		if (pwrite(fd, data, chunk * SECTOR, (off_t)s * SECTOR) != chunk * SECTOR)
			err(1, "%s: sector %u", dev, s);
	}
	if (fsync(fd))
		err(1, "%s", dev);
}

#endif /* PATTERN_H */
