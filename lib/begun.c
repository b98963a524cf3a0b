// SPDX-License-Identifier: GPL-2.0-only
/* A hibernation, or a detach, has begun with a cache: a file in /run says so, which lasts as long as the memory of the machine. */
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
#define BEGUN	"asleep"
#define ALONE	"detached"	/* by its user: empty */
#define TURNS	"turning"	/* empty */

static const char *path_of(const struct running *r, const char *what)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.%s", user_directory(), r->uuid, what);
	return path;
}

static int note(const struct running *r, const char *what)
{
	FILE *f = fopen(path_of(r, what), "we");

	return !f || fclose(f) ? -errno : 0;
}

static bool is_noted(const struct running *r, const char *what)
{
	return !access(path_of(r, what), F_OK);
}

int begun_turn(const struct running *r)
{
	return note(r, TURNS);
}

void begun_turned(const struct running *r)
{
	unlink(path_of(r, TURNS));
}

bool begun_turns(const struct running *r)
{
	return is_noted(r, TURNS);
}

bool begun_is_alone(const struct running *r)
{
	return is_noted(r, ALONE);
}

void begun_forget(const struct running *r)
{
	begun_turned(r);
	unlink(path_of(r, ALONE));
	unlink(path_of(r, BEGUN));
}

/* What it had is what it gets again. */
int begun_keep(const struct running *r, bool alone)
{
	char text[XP_TUNABLES_TEXT];
	int err = alone ? note(r, ALONE) : 0;
	FILE *f;

	if (err)
		return err;
	f = fopen(path_of(r, BEGUN), "we");
	if (!f)
		return -errno;
	xp_tunables_print(&r->tunables, text);
	if (r->tunables_known)
		fprintf(f, "- -%s", text);
	return fclose(f) ? -errno : 0;
}

void begun_tunables(const struct running *r, struct xp_tunables *t)
{
	char line[XP_TUNABLES_TEXT + 8];
	struct running was = { .user = false };
	FILE *f;

	f = fopen(path_of(r, BEGUN), "re");
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

const char *begun_way_back(const struct running *r)
{
	static char text[sizeof("xpcache attach ") + 4 * sizeof(r->name)];

	snprintf(text, sizeof(text), "xpcache attach %s", text_word(r->name));
	return begun_is_alone(r) ? text : "xpcache hibernate --end";
}

enum xc say_asleep(const char *name)
{
	struct running r;

	if (kernel_find(name, NULL, &r) != 1)
		return complain(XC_NOT_FOUND, name, "xpcache list shows all", "it does not run any more");
	return complain(XC_REFUSED, name, text_todo("%s reattaches it", begun_way_back(&r)),
			"it is detached%s, its device leads to the slow device alone", begun_is_alone(&r) ? "" : " for hibernation");
}
