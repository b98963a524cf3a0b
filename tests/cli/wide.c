// SPDX-License-Identifier: GPL-2.0-only
/* wide - preloaded: the device WIDE (/dev/loop0) has logical sectors of 8192 bytes. */
#include <dlfcn.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static int is_wide(int fd)
{
	struct stat one, other;

	return !fstat(fd, &one) && !stat(getenv("WIDE"), &other) && one.st_rdev == other.st_rdev;
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, void *) = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	void *arg;
	va_list args;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = next(fd, request, arg);
	if (!ret && request == BLKSSZGET && is_wide(fd))
		*(int *)arg = 8192;
	return ret;
}
