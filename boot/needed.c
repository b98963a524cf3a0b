// SPDX-License-Identifier: GPL-2.0-only
/*
 * list --needed: what uninstalling would strand. A cache that runs cannot be stopped or flushed
 * without us, of one with dirty blocks the slow device is incomplete, and a boot that goes by one
 * stops. One line for each.
 */
#include "boot/needed.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/status.h"
#include "platform.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void running_needs(const struct running *r)
{
	struct status s;
	char todo[512];

	if (r->asleep) {
		complain(XC_REFUSED, r->name, text_todo("end what uses it, then xpcache stop %s", text_word(r->name)),
			 "the cache is detached, and its device leads to the slow device; nothing is dirty");
		return;
	}
	snprintf(todo, sizeof(todo), "end what uses it, then xpcache flush %s and xpcache stop %s, or xpcache remove %s",
		 r->name, r->name, r->name);
	complain(XC_REFUSED, r->name, todo, "the cache runs, %s dirty",
		 status_read(r->name, &s) ? "perhaps" : text_blocks(status_number(&s, "dirty")));
}

/* Damaged metadata may have dirty blocks behind it. */
static bool stopped_needs(const struct cache *c)
{
	char slow[64];
	u64 dirty;
	bool known = cache_dirty(c, &dirty);

	if (known && !dirty)
		return false;
	if (c->err) {
		complain(XC_REFUSED, c->fast.path,
			 "xpcache check tells more; if nothing of it is wanted, xpcache create --force --discard-dirty overwrites it",
			 "metadata of a cache that cannot be read, with perhaps blocks that are dirty: %s", c->message.text);
		return true;
	}
	snprintf(slow, sizeof(slow), "%.63s", (const char *)c->sb.slow.path);
	complain(XC_REFUSED, c->fast.path, text_todo("xpcache flush --offline --fast %s --slow %s writes them back",
						     text_word(c->fast.path), text_word(slow)), "the stopped cache %s has %s dirty", c->name,
		 known ? text_blocks(dirty) : "perhaps blocks");
	return true;
}

/* ------------------------------------------------------- what is noted ---- */

/* The boot goes by it, or the end of one that it went by has begun: images know it. Of others only what
 * is not here: one that is here was looked at. */
static bool record_needs(const struct known *k, const struct caches *all)
{
	struct running r;

	if (running_find(NULL, k->uuid, &r) == 1)
		return false;
	if (k->start == START_IN_INITRAMFS || k->start == START_TO_LEAVE || k->start == START_GONE) {
		complain(XC_REFUSED, k->name, "xpcache adopt --undo, and if that says so a reboot, takes it back",
			 k->start == START_IN_INITRAMFS ? "the next boot starts the cache" :
							  "the boot is not yet without the cache");
		return true;
	}
	if (caches_have(all, k->uuid, true))
		return false;
	complain(XC_REFUSED, k->name, "connect it; if it is lost for good: xpcache forget --force",
		 "the fast device of the cache is not here, and may have dirty blocks");
	return true;
}

static enum xc records_need(const struct caches *all)
{
	struct known *list = NULL;
	size_t n = geteuid() == 0 ? known_all(&list) : 0;	/* others see no device */
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n; i++)
		if (record_needs(&list[i], all))
			ret = XC_REFUSED;
	free(list);
	return ret;
}

/* ------------------------------------------- daemons that nobody lists ---- */

static void program_of(const char *pid, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%.20s/exe", pid);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
}

/* The daemon beside us. */
static bool our_daemon(char path[PATH_MAX])
{
	char *end;

	program_of("self", path);
	end = strrchr(path, '/');
	if (!end || (size_t)(end - path) + sizeof("/xpcached") > PATH_MAX)
		return false;
	memcpy(end + 1, "xpcached", sizeof("xpcached"));
	return true;
}

/* Also after an upgrade has put another file in its place. */
static bool runs(const char *pid, const char *program)
{
	char path[PATH_MAX];
	size_t len = strlen(program);

	program_of(pid, path);
	return !strncmp(path, program, len) && (!path[len] || !strcmp(path + len, " (deleted)"));
}

/* The word after "--fast" in what a daemon was called with; false: it serves nothing. */
static bool serves(const char *pid, char *fast, size_t len)
{
	char path[64], words[8192];
	bool serve = false, next = false;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(words, 1, sizeof(words) - 1, f);
	fclose(f);
	words[n] = '\0';
	snprintf(fast, len, "?");
	for (const char *w = words; w < words + n; w += strlen(w) + 1) {
		if (next)
			snprintf(fast, len, "%s", w);
		next = !strcmp(w, "--fast");
		serve |= !strcmp(w, "serve");
	}
	return serve;
}

static bool is_listed(const char *fast, const struct running *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].user && !strcmp(list[i].fast_path, fast))
			return true;
	return false;
}

/* Those of other users, and those that were started without us. */
static enum xc daemons_need(const struct running *list, size_t n)
{
	char todo[64], fast[PATH_MAX], ours[PATH_MAX];
	enum xc ret = XC_OK;
	struct dirent *e;
	DIR *dir = our_daemon(ours) ? opendir("/proc") : NULL;

	while (dir && (e = readdir(dir))) {
		if (strspn(e->d_name, "0123456789") != strlen(e->d_name) || !runs(e->d_name, ours) ||
		    !serves(e->d_name, fast, sizeof(fast)) || is_listed(fast, list, n))
			continue;
		snprintf(todo, sizeof(todo), "stop it: kill %.20s", e->d_name);
		ret = complain(XC_REFUSED, fast, todo, "xpcached runs a cache, as process %.20s", e->d_name);
	}
	if (dir)
		closedir(dir);
	return ret;
}

enum xc needed_check(void)
{
	struct caches all = { NULL, 0 };
	struct running *r = NULL;
	enum xc ret = XC_OK;
	size_t n = 0;
	int err = running_list(&r, &n);

	if (err)
		ret = complain(XC_REFUSED, NULL, NULL, "a cache may run that cannot be asked: %s", strerror(-err));
	for (size_t i = 0; i < n; i++) {
		running_needs(&r[i]);
		ret = XC_REFUSED;
	}
	if (daemons_need(r, n))
		ret = XC_REFUSED;
	free(r);
	err = caches_scan(&all);
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].running && stopped_needs(&all.v[i]))
			ret = XC_REFUSED;
	if (records_need(&all))
		ret = XC_REFUSED;
	caches_free(&all);
	if (err && !ret)
		ret = complain_errno(err, "/sys/class/block", "cannot look for caches");
	return ret;
}
