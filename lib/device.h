/* SPDX-License-Identifier: GPL-2.0-only */
/* device.h - a block device or a file: size, sector, number. */
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
/* Of a disk or a file that is open, as it is by now. Negative errno. */
int device_bytes(int fd, u64 *bytes);
/* Bytes that offsets of direct I/O are multiples of, if it can be told; else 0. */
u32 device_direct_align(const struct device *d);

#endif
