// SPDX-License-Identifier: GPL-2.0-only
/*
 * usb - preloaded: sysfs says that the device USB (loop0) is behind USB, and of its cache USB_CACHE ("write through").
 * With USB_ABOVE (loop1) that one is made of what has a name in the folder USB_BELOW.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *path, const char *name, const char *attr)
{
	char full[128];

	snprintf(full, sizeof(full), "/sys/class/block/%s%s", getenv(name) ? getenv(name) : "", attr);
	return !strcmp(path, full);
}

static int is_partition(void)
{
	return !strcmp(getenv("USB"), "sdx1");
}

/* A partition (sdx1) has no queue of its own. */
static int is_cache(const char *path)
{
	return is_partition() ? !strcmp(path, "/sys/class/block/sdx/queue/write_cache") : is(path, "USB", "/queue/write_cache");
}

/* Which is fopen64(), by the flags that everything is built with. */
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen64");
	FILE *f = is_cache(path) ? tmpfile() : NULL;

	if (f && fprintf(f, "%s\n", getenv("USB_CACHE")) > 0)
		rewind(f);
	return f ? f : next(path, mode);
}

char *realpath(const char *path, char *to)
{
	char *(*next)(const char *, char *) = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");

	if (is(path, "USB", ""))
		return strcat(strcpy(to, "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdx"),
			      is_partition() ? "/sdx1" : "");
	return next(path, to);
}

DIR *opendir(const char *path)
{
	DIR *(*next)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");

	return next(is(path, "USB_ABOVE", "/slaves") ? getenv("USB_BELOW") : path);
}
