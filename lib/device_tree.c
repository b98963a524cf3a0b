// SPDX-License-Identifier: GPL-2.0-only
/* The block devices there are, and what they are made of. */
#include "lib/device_tree.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_size(const char *kname)
{
	char size[32];

	return sysfs_read(kname, "size", size, sizeof(size)) && atoll(size) > 0;
}

bool device_here(dev_t dev)
{
	char kname[64];

	return device_kname(dev, kname, sizeof(kname)) && has_size(kname);
}

static int holds_something(const struct dirent *e)
{
	return e->d_name[0] != '.' && strncmp(e->d_name, "ram", 3) != 0 && has_size(e->d_name);
}

int device_each_partition(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx)
{
	char path[PATH_MAX], attr[300], text[32];
	struct dirent *e;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s", kname);
	dir = opendir(path);
	while (dir && !ret && (e = readdir(dir))) {
		snprintf(attr, sizeof(attr), "%s/partition", e->d_name);
		if (e->d_name[0] != '.' && sysfs_read(kname, attr, text, sizeof(text)))
			ret = fn(e->d_name, ctx);
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int each_in(const char *kname, const char *folder, int (*fn)(const char *kname, void *ctx), void *ctx)
{
	char path[PATH_MAX];
	struct dirent *e;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s/%s", kname, folder);
	dir = opendir(path);
	while (dir && !ret && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			ret = fn(e->d_name, ctx);
	if (dir)
		closedir(dir);
	return ret;
}

int device_each_below(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx)
{
	return each_in(kname, "slaves", fn, ctx);
}

static int is_suspended(const char *kname, void *ctx)
{
	char text[8];

	return (sysfs_read(kname, "dm/suspended", text, sizeof(text)) && !strcmp(text, "1")) ||
	       device_each_below(kname, is_suspended, ctx);
}

bool device_is_suspended(const char *kname)
{
	return is_suspended(kname, NULL);
}

/* @ctx: room for its disk's kernel name. Of a partition it is the disk that has a queue. */
static int hides_cache(const char *kname, void *ctx)
{
	char path[PATH_MAX], at[PATH_MAX], text[32];
	const char *disk = kname;

	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s", kname);
	if (realpath(path, at) && strstr(at, "/usb")) {
		if (!sysfs_read(disk, "queue/write_cache", text, sizeof(text))) {
			disk = basename(dirname(at));
			if (!sysfs_read(disk, "queue/write_cache", text, sizeof(text)))
				return 0;
		}
		snprintf(ctx, 64, "%s", disk);
		return !strcmp(text, "write through");
	}
	return device_each_below(kname, hides_cache, ctx);
}

bool device_hides_cache(const struct device *d, char *disk, size_t len)
{
	char kname[64], usb[64];

	if (!d->is_block || !device_kname(d->disk, kname, sizeof(kname)) || !hides_cache(kname, usb))
		return false;
	device_node(usb, disk, len);
	return true;
}

int device_each_above(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx)
{
	return each_in(kname, "holders", fn, ctx);
}

int device_each(int (*fn)(const char *kname, void *ctx), void *ctx)
{
	struct dirent **names;
	int n = scandir(SYSFS_BLOCK, &names, holds_something, versionsort);
	int err = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (!err)
			err = fn(names[i]->d_name, ctx);
		free(names[i]);
	}
	free(names);
	return err;
}
