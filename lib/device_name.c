// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, kernel names and nodes of block devices. */
#include "lib/device_name.h"
#include "lib/sysfs.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void device_node(const char *kname, char *path, size_t len)
{
	char name[256];

	if (sysfs_read(kname, "dm/name", name, sizeof(name))) {
		snprintf(path, len, "/dev/mapper/%s", name);
		return;
	}
	snprintf(path, len, "/dev/%s", kname);
	for (char *p = path; *p; p++)	/* sysfs writes cciss!c0d0 */
		if (*p == '!')
			*p = '/';
}

bool device_number(const char *text, dev_t *dev)
{
	unsigned int maj, min;
	int end = 0;

	if (text[strspn(text, "0123456789:")] ||
	    sscanf(text, "%7u:%7u%n", &maj, &min, &end) != 2 || text[end])
		return false;
	*dev = makedev(maj, min);
	return true;
}

bool device_kname(dev_t dev, char *kname, size_t len)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	snprintf(kname, len, "%s", basename(target));
	return true;
}

bool device_node_of(dev_t dev, char *path, size_t len)
{
	char kname[64];

	if (!device_kname(dev, kname, sizeof(kname)))
		return false;
	device_node(kname, path, len);
	return true;
}
