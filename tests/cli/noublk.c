// SPDX-License-Identifier: GPL-2.0-only
/* noublk - preloaded: a kernel without the ublk driver, and nothing that could load it. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int access(const char *path, int mode)
{
	static int (*next)(const char *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "access");
	if (strcmp(path, "/dev/ublk-control") != 0)
		return next(path, mode);
	errno = ENOENT;
	return -1;
}

static int none(const char *path)
{
	(void)path;
	errno = ENOENT;
	return -1;
}

int execlp(const char *file, const char *arg, ...)
{
	(void)arg;
	return none(file);
}

int execl(const char *path, const char *arg, ...)
{
	(void)arg;
	return none(path);
}
