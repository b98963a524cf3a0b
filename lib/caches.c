// SPDX-License-Identifier: GPL-2.0-only
/* All caches of this machine, found by the superblock on their fast devices. */
#include "lib/caches.h"
#include "lib/begun.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/media.h"
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/known.h"
#include "lib/running.h"
#include "lib/sysfs.h"
#include "core/superblock.h"
#include "core/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int cache_read(struct cache *c, struct device *fast)
{
	struct running r;
	struct media m;
	int err = media_init(&m, fast->fd);

	memset(c, 0, sizeof(*c));
	if (!err) {
		err = xp_sb_read(&m.io, device_blocks(fast), &c->sb, &c->message);
		media_done(&m);
	}
	c->fast = *fast;
	c->fast.fd = -1;
	c->err = err;
	if (!err || err == -ENOTSUP) {
		snprintf(c->name, sizeof(c->name), "%.31s", (const char *)c->sb.name);
		snprintf(c->uuid, sizeof(c->uuid), "%s", text_uuid(c->sb.uuid));
		c->running = running_find(NULL, c->uuid, &r) == 1;
		c->held = c->running && r.fast == fast->dev;
	}
	return err;
}

/* What sits on another device (a multipath's path, a running cache's own
 * device) shows the same bytes: only the topmost counts. */
static bool shows_another(const char *kname)
{
	char uuid[64], who[PATH_MAX];

	if (sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_ours(uuid))
		return true;
	return claim_holder(kname, who, sizeof(who));
}

static int scan_one(const char *kname, void *ctx)
{
	struct caches *all = ctx;
	struct cache c, *grown;
	char path[PATH_MAX];
	struct device d;
	int err;

	device_node(kname, path, sizeof(path));
	if (device_is_suspended(kname) || device_look(&d, path))
		return 0;
	err = cache_read(&c, &d);
	device_close(&d);
	if (err && err != -EUCLEAN && err != -ENOTSUP)
		return 0;
	if (!c.held && shows_another(kname))
		return 0;
	grown = realloc(all->v, (all->n + 1) * sizeof(c));
	if (!grown)
		return -ENOMEM;
	all->v = grown;
	grown[all->n++] = c;
	return 0;
}

int caches_scan(struct caches *all)
{
	int err;

	memset(all, 0, sizeof(*all));
	err = device_each(scan_one, all);
	moves_pair(all);
	return err;
}

int caches_scan_for(const char *uuid, struct caches *all)
{
	int err = caches_scan(all);
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].uuid, uuid) && !cache_is_elsewhere(&all->v[i]))
			all->v[n++] = all->v[i];
	all->n = n;
	return err;
}

bool caches_have_copy(const char *uuid, const struct device *fast, char *path, size_t len)
{
	struct caches all;
	bool found = caches_scan_for(uuid, &all) != 0;

	snprintf(path, len, "a device that cannot be looked at");
	for (size_t i = 0; i < all.n && !found; i++) {
		found = !fast->is_block || all.v[i].fast.dev != fast->dev;
		if (found)
			snprintf(path, len, "%s", all.v[i].fast.path);
	}
	caches_free(&all);
	return found;
}

bool caches_lack(const struct caches *all, const struct known *k)
{
	struct running r;

	return k->start != START_GONE && !caches_have(all, k->uuid, true) && running_find(NULL, k->uuid, &r) != 1;
}

bool caches_have_on(const char *uuid, dev_t fast)
{
	struct caches all;
	bool found = false;

	if (caches_scan_for(uuid, &all))
		return false;
	for (size_t i = 0; i < all.n; i++)
		found |= all.v[i].fast.dev == fast;
	caches_free(&all);
	return found;
}

void caches_free(struct caches *all)
{
	free(all->v);
	memset(all, 0, sizeof(*all));
}

bool caches_have(const struct caches *all, const char *uuid, bool damaged)
{
	for (size_t i = 0; i < all->n; i++)
		if ((damaged || !all->v[i].err) && !cache_is_elsewhere(&all->v[i]) && !strcmp(all->v[i].uuid, uuid))
			return true;
	return false;
}

enum xc caches_check_slow(const struct device *d, dev_t but_fast)
{
	char why[512];
	enum xc ret = XC_OK;
	struct caches all;
	int err;

	if (!d->is_block || geteuid() != 0)
		return XC_OK;
	err = caches_scan(&all);
	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for caches");
	for (size_t i = 0; i < all.n && !ret; i++) {
		const struct cache *c = &all.v[i];

		if (!c->err && c->fast.dev != but_fast &&
		    identity_same(&c->sb.slow, d, false, why, sizeof(why)))
			ret = complain(XC_REFUSED, d->path, text_todo("xpcache remove %s --fast %s first", c->name, text_word(c->fast.path)),
				       "it is the slow device of the xpcache %s on %s",
				       c->name, c->fast.path);
	}
	caches_free(&all);
	return ret;
}

const char *cache_plain_name(const char *name)
{
	static const char dir[] = "/dev/mapper/";

	return strncmp(name, dir, sizeof(dir) - 1) ? name : name + sizeof(dir) - 1;
}

enum xc cache_check_name(const char *name)
{
	if (xp_name_valid(name))
		return XC_OK;
	return complain(XC_USAGE, name, "give one of 1 to 31 letters, digits, '_', '.' and '-'",
			"not a name for a cache");
}

enum xc caches_find_running(const char *name, struct running *r)
{
	int ret;

	name = cache_plain_name(name);
	ret = running_named(name, r);
	if (ret < 0 && ret != -ENODEV)
		return complain_errno(ret, name, "cannot ask the device mapper");
	if (ret <= 0)	/* without a device mapper nothing runs */
		return complain(XC_NOT_FOUND, name, "xpcache list shows all",
				"no running cache of this name");
	if (!r->uuid[0])
		return complain(XC_USAGE, name, "xpcache list shows the caches", "not an xpcache");
	return XC_OK;
}

/* ------------------------------------------------ one that does not run ---- */

static bool called(const struct cache *c, const char *name)
{
	return !name || !strcmp(c->name, name) || !strcmp(c->uuid, name);
}

static enum xc say_running(const struct cache *c)
{
	char node[512] = "?";
	struct running r = { .name = "" };

	if (running_find(NULL, c->uuid, &r) == 1)
		running_node(&r, node, sizeof(node));
	if (r.asleep)
		return say_asleep(r.name);
	return complain(XC_REFUSED, c->fast.path, text_todo("xpcache status %s shows it", r.name),
			"the cache %s is running already, as %s", c->name, node);
}

static enum xc refuse_superblock(const struct cache *c)
{
	return complain(XC_DAMAGED, c->fast.path,
			cache_is_elsewhere(c) ? move_advice(c) : c->err == -ENOTSUP ? "use the version of xpcache that made it, or a newer one" :
					     text_todo("xpcache check %s tells more", text_word(c->fast.path)),
			"%s", c->message.text);
}

/* What its own superblock does not say the other device of a move may. */
static int read_with_others(struct cache *c, struct device *d)
{
	struct caches all;
	int err = cache_read(c, d);

	if (!cache_is_elsewhere(c) || !d->is_block || caches_scan(&all))
		return err;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].fast.dev == d->dev)
			*c = all.v[i];
	caches_free(&all);
	return c->err;
}

static enum xc find_on(const char *path, const char *name, const char *slow, struct cache *c)
{
	struct offline o = { .slow = slow };
	struct device d;
	enum xc ret = device_open(&d, path, true);
	int err;

	if (ret)
		return ret;
	err = read_with_others(c, &d);
	if (cache_is_elsewhere(c)) {
		ret = refuse_superblock(c);
	} else if (err) {
		o.message = c->message;
		ret = offline_complain(&o, &d, err);
	} else if (!called(c, name)) {
		ret = complain(XC_NOT_FOUND, path, "give its own name, or none",
			       "this is the fast device of %s, not of %s", c->name, name);
	} else if (c->running) {
		ret = say_running(c);
	}
	device_close(&d);
	return ret;
}

/* Sound, stopped caches of the name; remembers others of it for the complaint. */
static size_t count_stopped(const struct caches *all, const char *name,
			    const struct cache **found, const struct cache **other)
{
	size_t n = 0;

	*found = *other = NULL;
	for (size_t i = 0; i < all->n; i++) {
		const struct cache *c = &all->v[i];

		if (c->err == -EUCLEAN || !called(c, name) || c->left_over)
			continue;
		if (c->err || c->running) {
			if (name || c->err)
				*other = c;
			continue;
		}
		*found = c;
		n++;
	}
	return n;
}

/* Maybe it is one of those that cannot be read. */
static enum xc refuse_unknown(const struct caches *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].err && !all->v[i].left_over)
			return refuse_superblock(&all->v[i]);
	return complain(XC_NOT_FOUND, name, "is its fast device connected? xpcache list shows all",
			"no stopped cache %s", name ? "of this name" : "found");
}

static enum xc pick(const struct caches *all, const char *name, struct cache *c)
{
	const struct cache *found, *other;
	size_t n = count_stopped(all, name, &found, &other);

	if (n == 1) {
		*c = *found;
		return XC_OK;
	}
	if (n > 1 && !name)
		return complain(XC_USAGE, NULL, "name one, or --all; xpcache list shows them",
				"%zu caches are stopped", n);
	if (n > 1)
		return complain(XC_REFUSED, name, "say which by --fast DEV; xpcache list shows them",
				"%zu devices hold a stopped cache of this name", n);
	if (other) {
		*c = *other;
		return other->err ? refuse_superblock(other) : say_running(other);
	}
	return refuse_unknown(all, name);
}

enum xc caches_find_stopped(const char *name, const char *fast, const char *slow, struct cache *c)
{
	struct caches all;
	enum xc ret;
	int err;

	name = name ? cache_plain_name(name) : NULL;
	if (fast) {
		ret = find_on(fast, name, slow, c);
		return ret ? ret : cache_arrive(c);
	}
	err = caches_scan(&all);
	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for caches");
	ret = pick(&all, name, c);
	caches_free(&all);
	return ret ? ret : cache_arrive(c);
}
