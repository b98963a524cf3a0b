/* SPDX-License-Identifier: GPL-2.0-only */
/* device.h - a block device or a file: size, sector, number, and what sysfs says of it. */
#ifndef XP_LIB_DEVICE_H
#define XP_LIB_DEVICE_H

#include "lib/exit.h"
#include "platform.h"

#include <limits.h>
#include <sys/types.h>

struct device {
	char path[PATH_MAX];	/* as the user gave it, or /dev/... */
	char kname[64];		/* name in /sys/class/block; "" for a file */
	int fd;			/* -1: not open */
	dev_t dev, disk;	/* itself; the whole disk it is (on). For a file 0 */
	ino_t ino;		/* of a file, with its file system in dev */
	unsigned int partition;	/* number, 0 for a whole disk */
	bool is_block, read_only;
	bool zoned;		/* a block can be written again only with all of its zone */
	bool remote;		/* path is a URI, and nothing is open */
	u64 sectors;		/* 512 bytes */
	u32 logical;		/* bytes */
};

enum device_mode {
	DEVICE_LOOK,		/* read */
	DEVICE_CLAIM,		/* read, and nobody else may claim it */
	DEVICE_OWN,		/* read and write, and nobody else may claim it */
};

/* Complains of one that has a control character: wherever it is told, and in what the daemon and the
 * command line say to each other, a path is on one line. NULL: none was given. */
enum xc path_check(const char *path);
/* Opens for reading; @files: a plain file will do as well. */
enum xc device_open(struct device *d, const char *path, bool files);
/* Without a complaint: for scans. Negative errno. */
int device_look(struct device *d, const char *path);
int device_look_at(struct device *d, dev_t dev);
/* Opens it again, so; refused if its path leads elsewhere by now. */
enum xc device_reopen(struct device *d, enum device_mode mode);
void device_close(struct device *d);
/* The same disk, or one a part of the other. Both partitions of one disk too. */
bool device_overlap(const struct device *a, const struct device *b);
u64 device_blocks(const struct device *d);
/* A disk that it is of, or made of, is behind USB, and says that it has no volatile cache: many of those bridges say so of
 * every disk. @disk: its "/dev/sdb". */
bool device_hides_cache(const struct device *d, char *disk, size_t len);
/* Of a disk or a file that is open, as it is by now. Negative errno. */
int device_bytes(int fd, u64 *bytes);
/* Bytes that offsets of direct I/O are multiples of, if it can be told; else 0. */
u32 device_direct_align(const struct device *d);
/* One line of /sys/class/block/@kname/@attr, trimmed, and as xp_words_clean() has it; false: there is none. */
bool sysfs_read(const char *kname, const char *attr, char *buf, size_t len);
/* The same as it is: a path to be opened, and not to be shown. */
bool sysfs_path(const char *kname, const char *attr, char *buf, size_t len);
/* "/dev/sda", "/dev/mapper/x" of a kernel name. */
void device_node(const char *kname, char *path, size_t len);
/* "8:16", as sysfs and table lines have it; false: it is none. */
bool device_number(const char *text, dev_t *dev);
/* The kernel name of a device number; false: gone. */
bool device_kname(dev_t dev, char *kname, size_t len);
/* Its "/dev/sda"; false: gone. */
bool device_node_of(dev_t dev, char *path, size_t len);
/* False: it is gone, though somebody may have it open still. */
bool device_here(dev_t dev);
/* Calls @fn for every partition that the kernel shows of a disk; stops at a non-zero result. */
int device_each_partition(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/* The same for every device that it is made of; that is made of it. */
int device_each_below(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
int device_each_above(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/* It, or what it is made of: who reads waits until somebody resumes that. */
bool device_is_suspended(const char *kname);
/* Calls @fn for every block device that holds something; stops at a non-zero result. */
int device_each(int (*fn)(const char *kname, void *ctx), void *ctx);

#endif
