// SPDX-License-Identifier: GPL-2.0-only
/* A hibernation has begun with a cache: a file in /run says so, which lasts as long as the memory of the machine. */
#include "lib/begun.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/running.h"
#include "lib/user.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* In /run, which is as long as the machine's memory: one of ours has begun with it, and what limits it had. */
static void begun_path(const struct running *r, char *path, size_t len)
{
	snprintf(path, len, "%s/%s.asleep", user_directory(), r->uuid);
}

bool begun_is(const struct running *r)
{
	char path[PATH_MAX];

	begun_path(r, path, sizeof(path));
	return !access(path, F_OK);
}

void begun_forget(const struct running *r)
{
	char path[PATH_MAX];

	begun_path(r, path, sizeof(path));
	unlink(path);
}

/* What it had is what it gets again. */
int begun_keep(const struct running *r)
{
	char path[PATH_MAX], text[XP_TUNABLES_TEXT];
	FILE *f;

	begun_path(r, path, sizeof(path));
	f = fopen(path, "we");
	if (!f)
		return -errno;
	xp_tunables_print(&r->tunables, text);
	if (r->tunables_known)
		fprintf(f, "- -%s", text);
	return fclose(f) ? -errno : 0;
}

void begun_tunables(const struct running *r, struct xp_tunables *t)
{
	char path[PATH_MAX], line[XP_TUNABLES_TEXT + 8];
	struct running was = { .user = false };
	FILE *f;

	begun_path(r, path, sizeof(path));
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		table_read(line, &was);
		if (was.tunables_known)
			*t = was.tunables;
	}
	if (f)
		fclose(f);
}

void begun_forget_of(const char *uuid)
{
	struct running r = { .user = false };

	snprintf(r.uuid, sizeof(r.uuid), "%s", uuid);
	begun_forget(&r);
}

enum xc say_asleep(const char *name)
{
	return complain(XC_REFUSED, name, "xpcache hibernate --end reattaches it",
			"it is detached for hibernation, its device leads to the slow device alone");
}
