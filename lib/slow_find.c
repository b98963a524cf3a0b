// SPDX-License-Identifier: GPL-2.0-only
/* The slow device of a cache that does not run: which of those that are here it is. */
#include "lib/slow_find.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/sysfs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

struct search {
	const struct cache *cache;
	struct device found;
	char names[512];	/* of all that match */
	char near[PATH_MAX + 600];	/* the same hardware, but not the same sectors */
	unsigned int n;
	bool exact;		/* they have the size that it had: others are copies of a part, or of more */
};

/* A disk with sectors of another size is named, not just missed. */
static void note_near(struct search *s, const struct device *d)
{
	const struct xp_sb_slow *was = &s->cache->sb.slow;
	struct xp_sb_slow now;
	char why[512];

	if (!was->hwid[0] || s->near[0])
		return;
	identity_unread(d, &now);
	if (!memcmp(now.hwid, was->hwid, sizeof(now.hwid)) &&
	    !identity_same(was, d, false, why, sizeof(why)))
		snprintf(s->near, sizeof(s->near), "%s is that disk, but %s", d->path, why);
}

static void note_match(struct search *s, const struct device *d)
{
	bool exact = d->sectors == le64_to_cpu(s->cache->sb.slow.sectors);
	size_t have;

	if (exact && !s->exact) {
		s->names[0] = '\0';
		s->n = 0;
	}
	if (s->exact && !exact)
		return;
	have = strlen(s->names);
	snprintf(s->names + have, sizeof(s->names) - have, "%s%s", have ? ", " : "", d->path);
	s->found = *d;
	s->exact = exact;
	s->n++;
}

/* But for a cache: it looks like its slow device. */
static bool look_at(const char *kname, struct device *d)
{
	char path[PATH_MAX], uuid[128];

	if (sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_ours(uuid))
		return false;
	device_node(kname, path, sizeof(path));
	return !device_look(d, path);
}

static int match_one(const char *kname, void *ctx)
{
	struct search *s = ctx;
	char why[512];
	struct device d;

	if (!look_at(kname, &d))
		return 0;
	if (d.dev == s->cache->fast.dev) {
		/* not itself */
	} else if (identity_same(&s->cache->sb.slow, &d, false, why, sizeof(why))) {
		note_match(s, &d);
	} else {
		note_near(s, &d);
	}
	device_close(&d);
	return 0;
}

bool slow_known(const struct cache *c, const char *named, char *path, size_t len)
{
	struct search s = { .cache = c };

	if (!named && identity_known(&c->sb.slow))
		device_each(match_one, &s);
	if (named || s.n == 1)
		snprintf(path, len, "%s", named ? named : s.found.path);
	return named || s.n == 1;
}

enum xc slow_find(const struct cache *c, struct device *slow)
{
	struct search s = { .cache = c };
	const char *who = identity_text(&c->sb.slow);
	int err;

	if (!identity_known(&c->sb.slow))
		return complain(XC_NOT_FOUND, c->name, "name it by --slow DEV",
				"the slow device said nothing it could be known by (%s)", who);
	err = device_each(match_one, &s);
	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for the slow device");
	if (s.n > 1)
		return complain(XC_REFUSED, c->name, "say which by --slow DEV",
				"%u devices match its slow device (%s): %s", s.n, who, s.names);
	if (s.n == 0 && s.near[0])
		return complain(XC_REFUSED, c->name,
				"a cache cannot follow: restore that; nothing was changed",
				"%s", s.near);
	if (s.n == 0)
		return complain(XC_NOT_FOUND, c->name, "connect it, or name it by --slow DEV",
				"its slow device is not here (%s)", who);
	*slow = s.found;
	slow->fd = -1;
	return device_open(slow, s.found.path, false);
}

enum xc slow_check_free(const struct device *fast, const struct device *slow)
{
	enum xc ret;

	if (device_overlap(fast, slow))
		return complain(XC_REFUSED, slow->path, "give the slow device",
				"on the same disk as the fast device %s", fast->path);
	ret = claim_kind(slow);
	return ret ? ret : claim_check(slow);
}

/* -------------------------------------------------------------- at boot ---- */

/* Before its rules have run somebody else may get the device. */
static bool udev_has_seen(dev_t dev)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/udev/data/b%u:%u", major(dev), minor(dev));
	return access("/run/udev/control", F_OK) || !access(path, F_OK);
}

struct search_first {
	const struct xp_sb_slow *was;
	dev_t but, found;
	bool seen;
};

static int match_first(const char *kname, void *ctx)
{
	struct search_first *s = ctx;
	char why[512];
	struct device d;
	bool same;

	if (!look_at(kname, &d))
		return 0;
	same = d.dev != s->but && identity_same(s->was, &d, false, why, sizeof(why)) &&
	       (!s->seen || udev_has_seen(d.dev));
	device_close(&d);
	s->found = d.dev;
	return same;
}

int slow_first(const struct xp_sb_slow *was, dev_t but, bool seen, dev_t *dev)
{
	struct search_first s = { .was = was, .but = but, .seen = seen };
	int found = device_each(match_first, &s);

	*dev = found > 0 ? s.found : 0;
	return found;
}

dev_t slow_of(const struct cache *c)
{
	dev_t dev;

	slow_first(&c->sb.slow, c->fast.dev, true, &dev);
	return dev;
}
