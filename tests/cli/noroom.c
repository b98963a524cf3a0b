// SPDX-License-Identifier: GPL-2.0-only
/*
 * noroom - preloaded: fallocate() of room fails with ENOSPC from the NOROOM_AFTER-th call on, takes
 * NOROOM_MS longer, or is not known to the file system (NOROOM_UNKNOWN). Holes are punched as ever, unless
 * they are not known either (NOROOM_PUNCH).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

int fallocate64(int fd, int mode, off64_t at, off64_t len)
{
	static int (*next)(int, int, off64_t, off64_t);
	const char *ms = getenv("NOROOM_MS"), *after = getenv("NOROOM_AFTER");
	static int calls;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fallocate64");
	if (mode && getenv("NOROOM_PUNCH")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (mode)
		return next(fd, mode, at, len);
	if (getenv("NOROOM_UNKNOWN")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (ms)
		usleep((useconds_t)atoi(ms) * 1000);
	if (after && calls++ >= atoi(after)) {
		errno = ENOSPC;
		return -1;
	}
	return next(fd, mode, at, len);
}
