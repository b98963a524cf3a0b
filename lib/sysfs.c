// SPDX-License-Identifier: GPL-2.0-only
/* What sysfs says of a block device. */
#include "lib/sysfs.h"
#include "core/words.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Sysfs pads models with blanks and ends lines. */
static void trim(char *s)
{
	size_t len = strlen(s), lead = strspn(s, " \t\r\n");

	while (len > lead && isspace((unsigned char)s[len - 1]))
		len--;
	s[len] = '\0';
	memmove(s, s + lead, len - lead + 1);
}

bool sysfs_path(const char *kname, const char *attr, char *buf, size_t len)
{
	char path[PATH_MAX];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), SYSFS_BLOCK "/%s/%s", kname, attr);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(buf, len, f);
	fclose(f);
	if (ok)
		trim(buf);
	return ok && *buf;
}

/* A disk says its model and serial number, whoever named a volume its name. */
bool sysfs_read(const char *kname, const char *attr, char *buf, size_t len)
{
	bool ok = sysfs_path(kname, attr, buf, len);

	if (ok)
		xp_words_clean(buf, (u32)len);
	return ok;
}
