// SPDX-License-Identifier: GPL-2.0-only
/* What is mounted where. */
#include "lib/mounts.h"

#include <stdio.h>
#include <string.h>

static bool is_below(const char *path, const char *point)
{
	size_t len = strlen(point);

	return !strcmp(point, "/") || (!strncmp(path, point, len) && (!path[len] || path[len] == '/'));
}

bool mount_of(const char *table, const char *path, struct mount *m)
{
	FILE *f = fopen(table ? table : "/proc/self/mountinfo", "re");
	char line[8192];
	size_t best = 0;
	struct mount is;

	while (f && fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(line, "%*d %*d %*u:%*u %*s %4095s", is.point) != 1 ||
		    sscanf(rest, " - %63s %4095s", is.type, is.source) != 2 ||
		    !is_below(path, is.point) || strlen(is.point) < best)
			continue;
		best = strlen(is.point);	/* of one place the last lies on top */
		*m = is;
	}
	if (f)
		fclose(f);
	return best > 0;
}
