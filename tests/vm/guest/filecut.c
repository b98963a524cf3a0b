// SPDX-License-Identifier: GPL-2.0-only
/*
 * filecut - creates files until the power goes; after the next mount every file
 * whose fsync had returned must be there, whole.
 *
 *   filecut write DIR FIRST         create files FIRST, FIRST + 1, ... until killed
 *   filecut check DIR FIRST LAST    files FIRST to LAST must be there
 *
 * File n goes through write, fsync of the file, fsync of the folder, and then the
 * report "a 0 n"; only KEEP files stay, older ones are unlinked before "i 0 n".
 */
#include <stdbool.h>
#include "pattern.h"

#define KEEP		256u
#define MAX_SECTORS	192u			/* of a file: 96 KiB */

static uint64_t data[MAX_SECTORS * SECTOR / 8];

static size_t content(uint64_t n)
{
	unsigned int sectors = 1 + draw(n, 0) % MAX_SECTORS;

	for (unsigned int i = 0; i < sectors; i++)
		pattern_fill(data + i * (SECTOR / 8), i, n);
	return sectors * SECTOR;
}

static void name(char *path, size_t size, const char *dir, uint64_t n)
{
	snprintf(path, size, "%s/%llu", dir, (unsigned long long)n);
}

static void create(const char *dir, int dirfd, uint64_t n)
{
	size_t size = content(n);
	char path[256];
	int fd;

	name(path, sizeof(path), dir, n);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || fsync(fd) || fsync(dirfd)) {
		report("FAIL write: %s: %s", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

static void __attribute__((noreturn)) write_until_killed(const char *dir, uint64_t first)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	char path[256];

	if (dirfd < 0)
		err(1, "%s", dir);
	for (uint64_t n = first;; n++) {
		report("i 0 %llu", (unsigned long long)n);
		if (n > KEEP) {
			name(path, sizeof(path), dir, n - KEEP);
			unlink(path);
		}
		create(dir, dirfd, n);
		report("a 0 %llu", (unsigned long long)n);
	}
}

static bool check(const char *dir, uint64_t n)
{
	static uint64_t got[MAX_SECTORS * SECTOR / 8 + 1];
	size_t size = content(n);
	char path[256];
	ssize_t len;
	int fd;

	name(path, sizeof(path), dir, n);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		report("FAIL content: %s: %s", path, strerror(errno));
		return false;
	}
	len = read(fd, got, sizeof(got));
	close(fd);
	if (len == (ssize_t)size && !memcmp(got, data, size))
		return true;
	report("FAIL content: %s: %zd bytes, or other bytes, where %zu were written", path, len,
	       size);
	return false;
}

int main(int argc, char **argv)
{
	bool good = true;

	report_open();
	if (argc == 4 && !strcmp(argv[1], "write"))
		write_until_killed(argv[2], number(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "check")) {
		for (uint64_t n = number(argv[3]); n <= number(argv[4]); n++)
			good &= check(argv[2], n);
		return !good;
	}
	errx(2, "usage: filecut write DIR FIRST | filecut check DIR FIRST LAST");
}
