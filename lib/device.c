// SPDX-License-Identifier: GPL-2.0-only
/* A block device or a file: size, sector, number. */
#include "lib/device.h"
#include "lib/complain.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/sysfs.h"
#include "core/block.h"
#include "core/words.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/blkzoned.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define LOCK_PAUSE_MS		20
#define LOCK_PATIENCE_MS	2000

static bool controls(const char *at)
{
	const u8 *c = (const u8 *)at;

	return iscntrl(c[0]) || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f);	/* C1, in UTF-8 */
}

enum xc path_check(const char *path)
{
	for (const char *at = path; at && *at; at++)
		if (controls(at))
			return complain(XC_USAGE, path, "rename it",
					"a control character, shown as '?', in a path or a name");
	return XC_OK;
}

/* The disk a partition is on; the device itself if it is none. */
static dev_t whole_disk(const struct device *d)
{
	char path[PATH_MAX], up[PATH_MAX], number[32];
	dev_t disk;

	if (!d->partition)
		return d->dev;
	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s", d->kname);
	if (!realpath(path, up) ||
	    !sysfs_read(basename(dirname(up)), "dev", number, sizeof(number)) ||
	    !device_number(number, &disk))
		return d->dev;
	return disk;
}

/* Sysfs says it of disks, and of what is stacked on them, by words; a partition has none, and is asked itself. */
static bool is_zoned(const struct device *d)
{
	char model[32];
	u32 sectors;

	if (sysfs_read(d->kname, "queue/zoned", model, sizeof(model)))
		return strcmp(model, "none") != 0;
	return !ioctl(d->fd, BLKGETZONESZ, &sectors) && sectors;
}

static int learn_block(struct device *d, dev_t dev)
{
	char number[32];
	u64 bytes;
	int logical, ro;

	if (ioctl(d->fd, BLKGETSIZE64, &bytes) || ioctl(d->fd, BLKSSZGET, &logical) ||
	    ioctl(d->fd, BLKROGET, &ro))
		return -errno;
	d->is_block = true;
	d->dev = dev;
	d->sectors = bytes >> XP_SECTOR_SHIFT;
	d->logical = logical;
	d->read_only = ro;
	if (device_kname(dev, d->kname, sizeof(d->kname)) &&
	    sysfs_read(d->kname, "partition", number, sizeof(number)))
		d->partition = atoi(number);
	d->disk = whole_disk(d);
	d->zoned = is_zoned(d);
	return 0;
}

static int learn(struct device *d)
{
	struct stat st;

	if (fstat(d->fd, &st))
		return -errno;
	if (S_ISBLK(st.st_mode))
		return learn_block(d, st.st_rdev);
	if (!S_ISREG(st.st_mode))
		return -ENOTBLK;
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	d->sectors = st.st_size >> XP_SECTOR_SHIFT;
	d->logical = 1 << XP_SECTOR_SHIFT;
	d->read_only = access(d->path, W_OK) != 0;
	return 0;
}

/* O_NONBLOCK: what is a pipe by mistake must not hang us. */
int device_bytes(int fd, u64 *bytes)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*bytes = (u64)st.st_size;
	return S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, bytes) ? -errno : 0;
}

int device_look(struct device *d, const char *path)
{
	int err;

	memset(d, 0, sizeof(*d));
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (d->fd < 0)
		return -errno;
	err = learn(d);
	if (err)
		device_close(d);
	return err;
}

int device_look_at(struct device *d, dev_t dev)
{
	char node[PATH_MAX];

	return device_node_of(dev, node, sizeof(node)) ? device_look(d, node) : -ENODEV;
}

enum xc device_open(struct device *d, const char *path, bool files)
{
	int err = device_look(d, path);

	if (!err && !d->is_block && !files) {
		device_close(d);
		err = -ENOTBLK;
	}
	switch (err) {
	case 0:
		return XC_OK;
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
	case -ENOMEDIUM:
		return complain(XC_NOT_FOUND, path, "lsblk shows the devices there are",
				"no such device");
	case -ENOTBLK:
		return complain(XC_USAGE, path, "give a disk or a partition, such as /dev/nvme0n1",
				"not a block device");
	default:
		return complain_errno(err, path, "cannot open it");
	}
}

/* A path is a name: it may lead elsewhere by now. */
static bool is_same(int fd, const struct device *d)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (d->is_block)
		return S_ISBLK(st.st_mode) && st.st_rdev == d->dev;
	return S_ISREG(st.st_mode) && st.st_dev == d->dev && st.st_ino == d->ino;
}

/* What O_EXCL is for block devices. A daemon that was killed holds it until the kernel has
 * ended what it had handed over: for that there is some patience. */
static enum xc lock_file(const struct device *d, int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000 };
	int err = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;

	for (u32 ms = 0; err == EWOULDBLOCK && ms < LOCK_PATIENCE_MS; ms += LOCK_PAUSE_MS) {
		nanosleep(&pause, NULL);
		err = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
	}
	if (err == EWOULDBLOCK)
		return complain(XC_REFUSED, d->path, "end that first", "in use by another program");
	return err ? complain_errno(err, d->path, "cannot lock it") : XC_OK;
}

static enum xc cannot_reopen(const struct device *d, int err)
{
	switch (err) {
	case EBUSY:
		return complain(XC_REFUSED, d->path, "unmount it, or end what uses it, first",
				"in use by the kernel or another program");
	case EROFS:
		return complain(XC_REFUSED, d->path, text_todo("blockdev --setrw %s, or another device", text_word(d->path)), "read-only");
	default:
		return complain_errno(err, d->path, "cannot open it");
	}
}

enum xc device_reopen(struct device *d, enum device_mode mode)
{
	int flags = mode == DEVICE_OWN ? O_RDWR : O_RDONLY;
	enum xc ret;
	int fd;

	if (d->remote)
		return XC_OK;
	if (d->is_block && mode != DEVICE_LOOK)
		flags |= O_EXCL;
	fd = open(d->path, flags | O_CLOEXEC);
	if (fd < 0)
		return cannot_reopen(d, errno);
	if (!is_same(fd, d)) {
		close(fd);
		return complain(XC_REFUSED, d->path, "nothing was changed; look what it is now",
				"it has become another device");
	}
	ret = d->is_block || mode == DEVICE_LOOK ? XC_OK : lock_file(d, fd);
	if (ret) {
		close(fd);
		return ret;
	}
	device_close(d);
	d->fd = fd;
	return XC_OK;
}

void device_close(struct device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

bool device_overlap(const struct device *a, const struct device *b)
{
	if (a->is_block != b->is_block)
		return false;
	if (a->is_block)
		return a->disk == b->disk;
	return a->dev == b->dev && a->ino == b->ino;
}

u32 device_direct_align(const struct device *d)
{
	struct statx stx;

	if (d->is_block || d->fd < 0 || statx(d->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) ||
	    !(stx.stx_mask & STATX_DIOALIGN))
		return 0;
	return stx.stx_dio_offset_align;
}

u64 device_blocks(const struct device *d)
{
	return d->sectors / XP_BLOCK_SECTORS;
}
