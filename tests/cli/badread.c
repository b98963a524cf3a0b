// SPDX-License-Identifier: GPL-2.0-only
/*
 * badread - preloaded: reads of the 4 KiB blocks named in BADREAD ("300 301"), or of the sectors in BADREAD_SECTORS, fail
 * with EIO, as a worn medium's do; each read takes BADREAD_MS longer. With BADREAD_ENDS only files whose name ends so
 * have such blocks. BADREAD_HEALED is a file: a block that is written can be read again, by whoever has
 * the same. Writes of the blocks named in BADWRITE, of files whose name ends with BADWRITE_ENDS, fail;
 * each write to those takes BADWRITE_MS longer, and no sync of them succeeds with BADSYNC.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BLOCK	4096
#define SECTOR	512

static int ends(int fd, const char *end)
{
	char name[64], path[4096];
	ssize_t n;

	if (!end)
		return 1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return strlen(path) >= strlen(end) && !strcmp(path + strlen(path) - strlen(end), end);
}

/* A byte for each block, 1: it has been written. */
static int is_healed(off64_t block)
{
	const char *path = getenv("BADREAD_HEALED");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char byte = 0;

	if (fd < 0)
		return 0;
	if (lseek(fd, block, SEEK_SET) < 0 || read(fd, &byte, 1) != 1)
		byte = 0;
	close(fd);
	return byte;
}

static void heal(off64_t block)
{
	const char *path = getenv("BADREAD_HEALED");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	if (lseek(fd, block, SEEK_SET) < 0 || write(fd, "\1", 1) != 1)
		abort();
	close(fd);
}

/* The next block, or sector, of the list that lies in there; -1: none does. */
static off64_t next_bad(const char **list, off64_t size, off64_t at, size_t len)
{
	char *end;

	while (*list && **list) {
		off64_t block = strtoll(*list, &end, 10);

		if (end == *list)
			abort();
		*list = end;
		if (block * size < at + (off64_t)len && (block + 1) * size > at)
			return block;
	}
	return -1;
}

static int is_bad(int fd, off64_t at, size_t len)
{
	const char *list = getenv("BADREAD"), *sectors = getenv("BADREAD_SECTORS");
	off64_t block;

	if (!ends(fd, getenv("BADREAD_ENDS")))
		return 0;
	if (next_bad(&sectors, SECTOR, at, len) >= 0)
		return 1;
	while ((block = next_bad(&list, BLOCK, at, len)) >= 0)
		if (!is_healed(block))
			return 1;
	return 0;
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t at)
{
	static ssize_t (*next)(int, void *, size_t, off64_t);
	const char *ms = getenv("BADREAD_MS");

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pread64");
	if (ms)
		usleep(atoi(ms) * 1000);
	if (is_bad(fd, at, len)) {
		errno = EIO;
		return -1;
	}
	return next(fd, buf, len, at);
}

int fdatasync(int fd)
{
	static int (*next)(int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
	if (getenv("BADSYNC") && ends(fd, getenv("BADWRITE_ENDS"))) {
		errno = EIO;
		return -1;
	}
	return next(fd);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off64_t);
	const char *list = getenv("BADWRITE"), *ms = getenv("BADWRITE_MS");
	off64_t block;
	ssize_t n;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
	if (ms && ends(fd, getenv("BADWRITE_ENDS")))
		usleep(atoi(ms) * 1000);
	if (list && ends(fd, getenv("BADWRITE_ENDS")) && next_bad(&list, BLOCK, at, len) >= 0) {
		errno = EIO;
		return -1;
	}
	n = next(fd, buf, len, at);
	list = getenv("BADREAD");
	if (n == (ssize_t)len && ends(fd, getenv("BADREAD_ENDS")))
		while ((block = next_bad(&list, BLOCK, at, len)) >= 0)
			heal(block);
	return n;
}
