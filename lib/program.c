// SPDX-License-Identifier: GPL-2.0-only
/* program.c - finds a program that does one verb of this one, and becomes it. */
#include "lib/program.h"
#include "lib/complain.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * From the folder of this program: in build/; as installed, libexecdir being $(PREFIX)/libexec or $(PREFIX)/lib. They
 * come before the folder that make was told, which may have those of another version.
 */
static const char *const places[] = { "", "../libexec/xpcache/", "../lib/xpcache/" };

/* With the slash at its end. */
static bool own_folder(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
	return slash;
}

static bool is_there(const char *folder, const char *place, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s%s%s", folder, place, name) < PATH_MAX && !access(path, X_OK);
}

static bool find(const char *name, char path[PATH_MAX])
{
	char folder[PATH_MAX];

	if (own_folder(folder))
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			if (is_there(folder, places[i], name, path))
				return true;
	return is_there(XPCACHE_PROGRAMDIR, "/", name, path);
}

enum xc program_run(const char *name, int argc, char **argv)
{
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	char path[PATH_MAX];
	enum xc ret;

	if (!words)
		return complain_errno(ENOMEM, name, "cannot run it");
	if (find(name, path)) {
		/* By the name that this one was called by: whoever looks for the process looks for that. */
		words[0] = program_invocation_name;
		memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
		execv(path, words);
		ret = complain_errno(errno, path, "cannot run it");
	} else {
		ret = complain(XC_FAILED, name,
			       text_todo("install it beside this program, or in %s, as make install does", XPCACHE_PROGRAMDIR),
			       "the program is not there");
	}
	free(words);
	return ret;
}
