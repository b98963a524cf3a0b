// SPDX-License-Identifier: GPL-2.0-only
/* The block devices there are, and what they are made of. */
#include "lib/device_tree.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

#define DEPTH_MAX	32u	/* a loop device's file may be hidden below itself */

struct search {
	dev_t dev;
	bool unsure;
	u32 depth;
};

static int is_made_of(const char *kname, void *ctx);

/* Its file's file system; its name may lead elsewhere by now. 0: it is no loop device. */
static dev_t loop_below(const char *kname)
{
	struct loop_info64 info = { .lo_device = 0 };
	char path[PATH_MAX];
	int fd;

	if (!sysfs_path(kname, "loop/backing_file", path, sizeof(path)))
		return 0;
	device_node(kname, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return makedev(0, 1);
	if (ioctl(fd, LOOP_GET_STATUS64, &info))
		info.lo_device = makedev(0, 1);
	close(fd);
	return info.lo_rdevice ? info.lo_rdevice : info.lo_device;
}

static bool lies_on(const char *kname, struct search *s)
{
	dev_t dev = loop_below(kname);
	char below[64];

	if (!dev)
		return false;
	return device_kname(dev, below, sizeof(below)) ? is_made_of(below, s) : s->unsure;
}

static bool is_part_of(const char *kname, struct search *s)
{
	char path[PATH_MAX], at[PATH_MAX], text[32];

	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s", kname);
	return sysfs_read(kname, "partition", text, sizeof(text)) && realpath(path, at) && is_made_of(basename(dirname(at)), s);
}

static int is_made_of(const char *kname, void *ctx)
{
	struct search *s = ctx;
	char text[32];
	bool found;
	dev_t its;

	if (sysfs_read(kname, "dev", text, sizeof(text)) && device_number(text, &its) && its == s->dev)
		return 1;
	if (++s->depth > DEPTH_MAX)
		return s->unsure;
	found = is_part_of(kname, s) || lies_on(kname, s) || device_each_below(kname, is_made_of, s);
	s->depth--;
	return found;
}

bool device_is_made_of(const struct device *d, dev_t dev, bool unsure)
{
	struct search s = { .dev = dev, .unsure = unsure };

	return d->is_block && dev && *d->kname && is_made_of(d->kname, &s);
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
