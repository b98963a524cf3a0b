// SPDX-License-Identifier: GPL-2.0-only
/*
 * badread - preloaded: reads of the 4 KiB blocks named in BADREAD ("300 301")
 * fail with EIO, as a worn medium's do; each read takes BADREAD_MS longer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int is_bad(off64_t at, size_t len)
{
	const char *list = getenv("BADREAD");
	char *end;

	for (; list && *list; list = end) {
		off64_t block = strtoll(list, &end, 10) * 4096;

		if (end == list)
			abort();
		if (block < at + (off64_t)len && block + 4096 > at)
			return 1;
	}
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
	if (is_bad(at, len)) {
		errno = EIO;
		return -1;
	}
	return next(fd, buf, len, at);
}
