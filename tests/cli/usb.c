// SPDX-License-Identifier: GPL-2.0-only
/* usb - preloaded: sysfs says that the disk USB (loop0) is behind USB, and of its cache USB_CACHE ("write through"). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *path, const char *attr)
{
	char full[128];

	snprintf(full, sizeof(full), "/sys/class/block/%s%s", getenv("USB"), attr);
	return !strcmp(path, full);
}

/* Which is fopen64(), by the flags that everything is built with. */
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen64");
	FILE *f = is(path, "/queue/write_cache") ? tmpfile() : NULL;

	if (f && fprintf(f, "%s\n", getenv("USB_CACHE")) > 0)
		rewind(f);
	return f ? f : next(path, mode);
}

char *realpath(const char *path, char *to)
{
	char *(*next)(const char *, char *) = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");

	if (is(path, ""))
		return strcpy(to, "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdx");
	return next(path, to);
}
