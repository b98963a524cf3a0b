/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <limits.h>
#include <stdbool.h>

struct mount {
	char point[PATH_MAX], type[64];
	char source[PATH_MAX];	/* mostly a device */
};

/* The one that @path is on, by @table (NULL: of the kernel). */
bool mount_of(const char *table, const char *path, struct mount *m);

#endif /* MOUNTS_H */
