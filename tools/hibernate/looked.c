// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the initramfs of this boot has looked for before a cache started. The next boot is taken to do
 * the same; an initramfs that does not look at all leaves nothing here. In /run, which it hands over
 * to the system.
 */
#include "tools/hibernate/looked.h"
#include "lib/device_name.h"
#include "lib/known.h"
#include "lib/user.h"
#include "lib/uuid.h"
#include "tools/hibernate/image.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

static FILE *looked_open(const char *mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/looked-for-image", user_directory());
	return fopen(path, mode);
}

void looked_write(const char *spec)
{
	dev_t dev = image_of_kernel();
	struct known *list;
	size_t n;
	FILE *f;

	mkdir(user_directory(), 0700);
	f = looked_open("we");
	if (!f)
		return;
	n = known_all(&list);
	fprintf(f, "at %s\nkernel %u:%u\n", spec ? spec : "", major(dev), minor(dev));
	for (size_t i = 0; i < n; i++)
		fprintf(f, "cache %s\n", list[i].uuid);
	free(list);
	fclose(f);
}

/* The next line of that key. */
static bool next_value(FILE *f, const char *key, char *value, size_t len)
{
	char line[PATH_MAX];
	size_t key_len = strlen(key);

	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, key, key_len) && line[key_len] == ' ') {
			snprintf(value, len, "%s", line + key_len + 1);
			return true;
		}
	}
	return false;
}

bool looked_at(char *spec, size_t len)
{
	FILE *f = looked_open("re");
	bool is = f && next_value(f, "at", spec, len);

	if (f)
		fclose(f);
	return is;
}

dev_t looked_kernel(void)
{
	FILE *f = looked_open("re");
	char text[32];
	dev_t dev = 0;

	if (f && next_value(f, "kernel", text, sizeof(text)) && !device_number(text, &dev))
		dev = 0;
	if (f)
		fclose(f);
	return dev;
}

bool looked_knows(const char *uuid)
{
	FILE *f = looked_open("re");
	char one[UUID_HEX];
	bool knows = false;

	while (f && !knows && next_value(f, "cache", one, sizeof(one)))
		knows = !strcmp(one, uuid);
	if (f)
		fclose(f);
	return knows;
}
