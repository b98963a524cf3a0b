/* SPDX-License-Identifier: GPL-2.0-only */
/* What the boot loader reads: it knows no cache, and has no choice but the disk. */
#ifndef BOOTLOADER_H
#define BOOTLOADER_H

#include "lib/exit.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct bootloader {
	const char *mounts;	/* NULL: those of the kernel */
	const char *root;	/* NULL: / */
	dev_t disk;		/* that moves behind a cache */
};

/* Complains if it reads from the disk, by a file system that it can read only if all is home. */
enum xc bootloader_check(const struct bootloader *b);
/* Complains of kernels and images that it offers and that were not made since: they know no cache. */
enum xc bootloader_images(const struct bootloader *b, time_t since, bool force);

#endif /* BOOTLOADER_H */
