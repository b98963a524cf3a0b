// SPDX-License-Identifier: GPL-2.0-only
/*
 * May this device be taken? Mounted, swap, part of another device, read-only; a file:
 * behind a loop device.
 *
 * The kernel's exclusive open (device_reopen()) is what really protects; this
 * finds the words: who has it, and what to end.
 */
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/sysfs.h"
#include "lib/uuid.h"
#include "core/block.h"
#include "core/words.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static dev_t number_of(const char *kname)
{
	char number[32];
	unsigned int maj, min;

	if (!sysfs_read(kname, "dev", number, sizeof(number)) ||
	    sscanf(number, "%u:%u", &maj, &min) != 2)
		return 0;
	return makedev(maj, min);
}

static bool names_device(const char *path, dev_t dev)
{
	struct stat st;

	return path[0] == '/' && !stat(path, &st) && S_ISBLK(st.st_mode) &&
	       st.st_rdev == dev;
}

/* btrfs mounts under a number of its own: its source names the device. */
static bool mounted(dev_t dev, char *where, size_t len)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[8192], point[PATH_MAX], source[PATH_MAX];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned int maj, min;
		const char *rest = strstr(line, " - ");

		if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &maj, &min, point) != 3)
			continue;
		found = makedev(maj, min) == dev ||
			(rest && sscanf(rest, " - %*s %4095s", source) == 1 &&
			 names_device(source, dev));
	}
	if (f)
		fclose(f);
	if (found) {
		snprintf(where, len, "mounted at %s", point);
		xp_words_clean(where, (u32)len);
	}
	return found;
}

static bool swapped(dev_t dev, char *who, size_t len)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[PATH_MAX + 128], path[PATH_MAX];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%4095s", path) == 1 && names_device(path, dev);
	if (f)
		fclose(f);
	if (found)
		snprintf(who, len, "used as swap");
	return found;
}

static bool is_partition(const char *kname)
{
	char uuid[64 + UUID_HEX];

	return sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_partition(uuid);
}

/* @ours: through a partition of ours. */
static void say_holder(const char *kname, bool ours, char *who, size_t len)
{
	char node[PATH_MAX], uuid[128];

	if (sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_hold(uuid)) {
		snprintf(who, len, "kept for a cache that does not run (xpcache forget %s lets go of it)", strchr(uuid, '-') + 1);
		return;
	}
	device_node(kname, node, sizeof(node));
	snprintf(who, len, "%s %s", ours ? "by its partition" : "part of", node);
}

/* @but_ours: not its own partitions. */
static bool held(const char *kname, bool but_ours, char *who, size_t len)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/block/%s/holders", kname);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		bool ours = e->d_name[0] != '.' && is_partition(e->d_name);

		if (e->d_name[0] == '.' || (ours && but_ours))
			continue;
		say_holder(e->d_name, ours, who, len);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_open_as(const struct stat *st, const struct device *d)
{
	if (d->is_block)
		return S_ISBLK(st->st_mode) && st->st_rdev == d->dev;
	return S_ISREG(st->st_mode) && st->st_dev == d->dev && st->st_ino == d->ino;
}

static bool has_open(const char *pid, const struct device *d)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	fd = dir ? dirfd(dir) : -1;
	while (fd >= 0 && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.' && !fstatat(fd, e->d_name, &st, 0) && is_open_as(&st, d);
	if (dir)
		closedir(dir);
	return found;
}

static void name_of(const char *pid, char *name, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)len, f))
		snprintf(name, len, "process");
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	xp_words_clean(name, len);
}

bool claim_opener(const struct device *d, char *who, size_t len)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	bool found = false;
	char name[64];

	while (dir && !found && (e = readdir(dir))) {
		if (strspn(e->d_name, "0123456789") != strlen(e->d_name) ||
		    atoi(e->d_name) == getpid() || !has_open(e->d_name, d))
			continue;
		name_of(e->d_name, name, sizeof(name));
		snprintf(who, len, "open by %s, pid %.20s", name, e->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool used(const char *kname, bool but_ours, char *who, size_t len)
{
	dev_t dev = number_of(kname);

	return mounted(dev, who, len) || swapped(dev, who, len) ||
	       held(kname, but_ours, who, len);
}

bool claim_holder(const char *kname, char *who, size_t len)
{
	return used(kname, false, who, len);
}

bool claim_user(const char *kname, char *who, size_t len)
{
	return used(kname, true, who, len);
}

/* ------------------------------------------------------ loop devices ---- */

/* Not all may open it; the file may have another name by now, or be in another's folder. */
static bool loop_says(const char *node, dev_t dev, ino_t ino, bool *shows)
{
	int fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct loop_info64 info;
	bool known;

	if (fd < 0)
		return false;
	known = !ioctl(fd, LOOP_GET_STATUS64, &info);
	*shows = known && info.lo_device == dev && info.lo_inode == ino;
	close(fd);
	return known;
}

struct loop_search {
	dev_t dev;
	ino_t ino;
	char node[256];
};

static int loop_shows(const char *kname, void *ctx)
{
	struct loop_search *s = ctx;
	char file[PATH_MAX];
	struct stat st;
	bool shows;

	if (!sysfs_path(kname, "loop/backing_file", file, sizeof(file)))
		return 0;
	device_node(kname, s->node, sizeof(s->node));
	if (!loop_says(s->node, s->dev, s->ino, &shows))
		shows = !stat(file, &st) && st.st_dev == s->dev && st.st_ino == s->ino;
	return shows;
}

bool claim_loop(dev_t dev, ino_t ino, char *who, size_t len)
{
	struct loop_search s = { .dev = dev, .ino = ino };

	if (device_each(loop_shows, &s) != 1)
		return false;
	snprintf(who, len, "behind %s", s.node);
	return true;
}

/* ---------------------------------------------------------- the check ---- */

static enum xc refuse(const char *path, const char *who)
{
	bool is_swap = strstr(who, "swap");

	return complain(XC_REFUSED, path,
			is_swap ? text_todo("swapoff %s first", text_word(path)) :
			strstr(who, "mounted") ? "unmount it first" :
			strstr(who, "its partition") ? text_todo("xpcache partitions %s --hide first", text_word(path)) :
			strstr(who, "open by") ? "end that first" : "take that apart first",
			"in use, %s", who);
}

static int partition_is_held(const char *kname, void *ctx)
{
	char who[PATH_MAX];

	(void)ctx;
	return claim_holder(kname, who, sizeof(who)) ? XC_REFUSED : XC_OK;
}

bool claim_held(const struct device *d, char *who, size_t len)
{
	if (claim_holder(d->kname, who, len))
		return true;
	snprintf(who, len, "a partition of it is in use");
	return device_each_partition(d->kname, partition_is_held, NULL);
}

static int partition_is_free(const char *kname, void *ctx)
{
	char who[PATH_MAX], node[PATH_MAX];

	(void)ctx;
	if (!claim_holder(kname, who, sizeof(who)))
		return XC_OK;
	device_node(kname, node, sizeof(node));
	return refuse(node, who);
}

enum xc claim_kind(const struct device *d)
{
	if (d->logical > XP_BLOCK_SIZE)
		return complain(XC_REFUSED, d->path,
				"take another; of an NVMe device nvme format, of an encrypted one cryptsetup luksFormat --sector-size 4096 makes smaller ones, and destroys what it holds",
				"its logical sector is %u bytes, and a cache takes at most %u", d->logical, XP_BLOCK_SIZE);
	if (!d->zoned)
		return XC_OK;
	return complain(XC_REFUSED, d->path, "take a disk that is not, or what dm-zoned makes of it (dmzadm --format, dmzadm --start)",
			"zoned: it takes the blocks of a zone in their order alone, and a cache writes each in its place");
}

enum xc claim_check(const struct device *d)
{
	char who[PATH_MAX];

	if (d->read_only)
		return complain(XC_REFUSED, d->path,
				d->is_block ? text_todo("blockdev --setrw %s, or another device", text_word(d->path)) : "make it writable",
				"read-only");
	if (!d->is_block)
		return claim_loop(d->dev, d->ino, who, sizeof(who)) ? refuse(d->path, who) : XC_OK;
	if (claim_holder(d->kname, who, sizeof(who)))
		return refuse(d->path, who);
	return (enum xc)device_each_partition(d->kname, partition_is_free, NULL);
}

/* Udev looks at a device that was written, and is gone in a moment. */
static bool stays_open(const struct device *d, char *who, size_t len)
{
	const struct timespec a_little = { .tv_nsec = 100000000 };

	for (int i = 0; claim_opener(d, who, len); i++) {
		if (i == 10)
			return true;
		nanosleep(&a_little, NULL);
	}
	return false;
}

static int partition_is_closed(const char *kname, void *ctx)
{
	struct device d = { .is_block = true, .dev = number_of(kname), .fd = -1 };
	char who[PATH_MAX];

	(void)ctx;
	if (!stays_open(&d, who, sizeof(who)))
		return XC_OK;
	device_node(kname, d.path, sizeof(d.path));
	return refuse(d.path, who);
}

enum xc claim_closed(const struct device *d)
{
	char who[PATH_MAX];

	if (stays_open(d, who, sizeof(who)))
		return refuse(d->path, who);
	return d->is_block ? (enum xc)device_each_partition(d->kname, partition_is_closed, NULL) : XC_OK;
}
