// SPDX-License-Identifier: GPL-2.0-only
/* hibernate --begin: would the next boot restore what is written? What it certainly would not is refused. */
#include "tools/hibernate/next_boot.h"
#include "boot/initramfs.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/running.h"
#include "lib/sysfs.h"
#include "tools/hibernate/image.h"
#include "tools/hibernate/looked.h"
#include "platform.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

struct below {
	const struct running *list;
	size_t n;
	const struct running *found;
};

static bool is_device_of(const struct running *r, dev_t dev, u64 *start)
{
	struct partition *list;
	bool found = r->dev == dev;
	size_t n;

	*start = 0;
	if (!found && !kernel_partitions(r->uuid, &list, &n)) {
		for (size_t i = 0; i < n; i++)
			if (list[i].dev == dev) {
				found = true;
				*start = list[i].start;
			}
		free(list);
	}
	return found;
}

static const struct running *owner_of(const struct running *list, size_t n, dev_t dev, u64 *start)
{
	for (size_t i = 0; i < n; i++)
		if (!list[i].user && is_device_of(&list[i], dev, start))
			return &list[i];
	return NULL;
}

/* Is a cache below it, however deep? */
static int look_below(const char *kname, void *ctx)
{
	char node[PATH_MAX], text[PATH_MAX], next[64];
	struct below *b = ctx;
	struct device d;
	struct stat st;
	u64 start;

	device_node(kname, node, sizeof(node));
	if (device_look(&d, node))
		return 0;
	device_close(&d);
	b->found = owner_of(b->list, b->n, d.dev, &start);
	if (b->found)
		return 1;
	if (d.partition && device_kname(d.disk, next, sizeof(next)))
		return look_below(next, ctx);
	if (sysfs_path(kname, "loop/backing_file", text, sizeof(text)) && !stat(text, &st) &&
	    device_kname(st.st_dev, next, sizeof(next)))
		return look_below(next, ctx);
	return device_each_below(kname, look_below, ctx);
}

struct shown {
	u64 start;
};

static int begins_there(const char *kname, void *ctx)
{
	const struct shown *s = ctx;
	char start[32];

	return sysfs_read(kname, "start", start, sizeof(start)) && strtoull(start, NULL, 10) == s->start;
}

static bool is_noresume(void)
{
	FILE *f = fopen("/proc/cmdline", "re");
	char line[4096] = "", *next;
	bool found = false;

	if (f && !fgets(line, sizeof(line), f))
		*line = '\0';
	if (f)
		fclose(f);
	for (char *w = strtok_r(line, " \n", &next); w && !found; w = strtok_r(NULL, " \n", &next))
		found = !strcmp(w, "noresume");
	return found;
}

static enum xc refuse_initramfs(const char *node)
{
	return complain(XC_REFUSED, node, "initramfs-tools has what it takes, with PREFIX=/usr; dracut has not yet",
			"the initramfs of this system would not restore an image from there");
}

/* The next boot does what this has done. */
static enum xc check_looked(const struct running *list, size_t n, const char *node)
{
	char spec[PATH_MAX];

	if (!initramfs_restores())
		return refuse_initramfs(node);
	if (!looked_at(spec, sizeof(spec)))
		return complain(XC_REFUSED, node, "restart first",
				"the initramfs of this boot did not look for a memory to restore");
	for (size_t i = 0; i < n; i++) {
		if (!known_is_noted(list[i].uuid))
			return complain(XC_REFUSED, list[i].name, "xpcache stop it first",
					"nothing is noted of it in /etc/xpcache, so the next boot would not look whether it slept on");
		if (!looked_knows(list[i].uuid))
			return complain(XC_REFUSED, list[i].name, "restart first",
					"the initramfs of this boot did not know it");
	}
	if (looked_kernel())
		return complain(XC_REFUSED, "/proc/cmdline", "say resume=UUID=... there",
				"the kernel looks for an image by itself, before anything can be checked");
	return XC_OK;
}

static int one_below(const char *kname, void *ctx)
{
	(void)kname;
	(void)ctx;
	return 1;
}

/* It is not there before somebody has opened or made it. */
static bool is_made_of_others(const char *kname)
{
	char text[PATH_MAX], disk[64];
	struct device d;
	bool made;

	device_node(kname, text, sizeof(text));
	if (device_look(&d, text))
		return true;
	device_close(&d);
	made = !device_kname(d.disk, disk, sizeof(disk)) || device_each_below(disk, one_below, NULL) ||
	       sysfs_read(disk, "loop/backing_file", text, sizeof(text));
	return made;
}

bool next_boot_sees(dev_t dev)
{
	char kname[64];

	return device_kname(dev, kname, sizeof(kname)) && !is_made_of_others(kname);
}

static enum xc check_on_cache(const struct running *r, const char *node, u64 start)
{
	struct shown s = { .start = start };
	char disk[64], path[PATH_MAX];

	if (!next_boot_sees(r->slow))
		return complain(XC_REFUSED, node, "hibernate to a plain partition of a disk without a cache",
				"the slow device of %s is encrypted, or made of other devices, later than where an image is looked for",
				r->name);
	if (!start || (device_kname(r->slow, disk, sizeof(disk)) && device_each_partition(disk, begins_there, &s) > 0))
		return XC_OK;
	snprintf(path, sizeof(path), "the slow device");
	if (device_kname(r->slow, disk, sizeof(disk)))
		device_node(disk, path, sizeof(path));
	return complain(XC_REFUSED, node, "hibernate to swap that the kernel shows without the cache",
			"the kernel shows no such partition of %s, so none is restored from there", path);
}

static const struct running *on_slow_of(const struct running *list, size_t n, const char *kname)
{
	char node[PATH_MAX];
	struct device d;

	device_node(kname, node, sizeof(node));
	if (device_look(&d, node))
		return NULL;
	device_close(&d);
	for (size_t i = 0; i < n; i++)
		if (!list[i].user && (list[i].slow == d.dev || list[i].slow == d.disk))
			return &list[i];
	return NULL;
}

static enum xc check_elsewhere(struct below *b, const char *kname, const char *node)
{
	const struct running *r = on_slow_of(b->list, b->n, kname);

	if (r)
		return complain(XC_REFUSED, "/sys/power/resume", "name the partition of the cache there",
				"it has %s, which is on the disk below the cache %s", node, r->name);
	look_below(kname, b);
	if (b->found)
		return complain(XC_REFUSED, node, "hibernate to a partition of the disk, or to another disk",
				"it is on the cache %s, and is made only when that has started: no image is restored from there",
				b->found->name);
	if (is_made_of_others(kname))
		return complain(XC_REFUSED, node, "hibernate to a plain partition, or to one of the cached disk",
				"it is encrypted, or made of other devices, later than where an image is looked for");
	return XC_OK;
}

/* The same sectors: a partition of the disk, or all of it, whose cache the place is on. */
static bool is_below(dev_t dev, const struct running *owner, u64 start)
{
	struct device d;

	if (device_look_at(&d, dev))
		return false;
	device_close(&d);
	return (d.disk == owner->slow && image_sector(dev) == start) || (dev == owner->slow && !start);
}

/* As this boot was told where to look. */
static enum xc check_named(const struct image_place *place, const struct running *owner, u64 start, const char *node)
{
	char spec[PATH_MAX] = "";
	dev_t dev;

	looked_at(spec, sizeof(spec));
	dev = *spec ? image_named(spec) : 0;
	if (dev && (dev == place->dev || (owner && is_below(dev, owner, start))))
		return XC_OK;
	if (!*spec)
		return complain(XC_REFUSED, node, "RESUME=UUID=... in /etc/initramfs-tools/conf.d/resume, update-initramfs -u, and restart",
				"the initramfs of this boot was not told where an image is");
	return complain(XC_REFUSED, node, "name that by UUID, for resume= or RESUME=, and restart",
			"the initramfs of this boot has looked for an image at %s, which is not there", spec);
}

/* A note names it by that. */
static enum xc check_swap(struct image_place *place, const char *node)
{
	static const u8 none[SWAP_UUID];
	int image = image_look(place);

	if (image)
		return complain(XC_REFUSED, node, "swapon, and name it in /sys/power/resume and resume_offset", "there is no swap in use");
	if (!memcmp(place->uuid, none, sizeof(none)))
		return complain(XC_REFUSED, node, "mkswap gives one", "the swap there has no UUID");
	return XC_OK;
}

static enum xc check_place(const struct running *list, size_t n, struct image_place *place,
			   const struct running **owner, u64 *start)
{
	struct below b = { .list = list, .n = n };
	char kname[64], node[PATH_MAX];
	enum xc ret;

	if (!place->dev || !device_kname(place->dev, kname, sizeof(kname)))
		return complain(XC_REFUSED, "/sys/power/resume", "swapon a partition, or name where a swap file is there and in resume_offset",
				"no image can be written anywhere");
	device_node(kname, node, sizeof(node));
	*owner = owner_of(list, n, place->dev, start);
	ret = *owner ? check_on_cache(*owner, node, *start) : check_elsewhere(&b, kname, node);
	if (!ret)
		ret = check_looked(list, n, node);
	if (!ret)
		ret = check_named(place, *owner, *start, node);
	return ret ? ret : check_swap(place, node);
}

enum xc next_boot_check(const struct running *list, size_t n, struct image_place *place,
			const struct running **owner, u64 *start)
{
	*owner = NULL;
	if (is_noresume())
		return complain(XC_REFUSED, "/proc/cmdline", "take noresume out of the boot loader's words", "this system restores no image");
	return check_place(list, n, place, owner, start);
}
