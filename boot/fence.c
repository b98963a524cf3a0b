// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slow device of a cache is kept for it: udev asks for each disk that comes whether it is one,
 * and gives it no names and no readers if so (boot/59-xpcache.rules). While the cache does not
 * run, a device of ours holds it, so that a mount by its path fails as well.
 *
 * What lets go of it: the start of its cache, remove, and forget, for whom the fast device is lost.
 */
#include "boot/fence.h"
#include "boot/initramfs.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/sysfs.h"
#include "lib/user.h"
#include "tools/options.h"
#include "core/superblock.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

/* ---------------------------------------------------------- one device ---- */

/* Also for a cache whose record was taken away by hand. */
dev_t fence_lift(const char *uuid)
{
	return geteuid() == 0 ? kernel_let_go(uuid) : 0;
}

/* LVM's rule looks at arrays and loop devices when they change; the device mapper's have their own. */
static bool is_asked_by_change(const char *kname)
{
	char number[16];

	if (sysfs_read(kname, "partition", number, sizeof(number)))
		return false;
	return !strncmp(kname, "loop", 4) || !strncmp(kname, "md", 2) || !strncmp(kname, "dm-", 3);
}

/* As if it had come just now: at no change of them does that rule look at disks and partitions. */
static void ask_udev(const char *kname)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/block/%s/uevent", kname);
	f = fopen(path, "we");
	if (f) {
		fputs(is_asked_by_change(kname) ? "change" : "add", f);
		fclose(f);
	}
}

/* A partition takes from its disk what udev knows of that: first the disk. */
void fence_changed(dev_t slow)
{
	char kname[64], path[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	if (!slow || !device_kname(slow, kname, sizeof(kname)))
		return;
	ask_udev(kname);
	snprintf(path, sizeof(path), "/sys/class/block/%s", kname);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, kname, strlen(kname)))
			ask_udev(e->d_name);
	if (dir)
		closedir(dir);
}

struct search {
	const struct xp_sb_slow *slow;
	dev_t found;
};

static int look_for(const char *kname, void *ctx)
{
	struct search *s = ctx;
	char path[PATH_MAX], why[512];
	struct device d;

	device_node(kname, path, sizeof(path));
	if (device_look(&d, path))
		return 0;
	if (identity_same(s->slow, &d, false, why, sizeof(why)))
		s->found = d.dev;
	device_close(&d);
	return s->found != 0;
}

/* Who has asked while the cache was locked was told that it is kept, and is to ask again. */
static void ask_again(const struct known *k, dev_t slow)
{
	struct search s = { .slow = &k->slow, .found = slow };

	if (!s.found && geteuid() == 0)
		device_each(look_for, &s);
	fence_changed(s.found);
}

void fence_again(const char *uuid, dev_t slow, int lock)
{
	struct known k;
	bool known = known_find(uuid, &k) == 1;
	int err = known && slow && geteuid() == 0 ? kernel_hold(uuid, slow) : 0;

	known_unlock(lock);
	if (err && err != -EBUSY)	/* who has it is why the cache did not start */
		complain_errno(err, uuid, "cannot keep its slow device from others");
	if (known)
		ask_again(&k, slow);
}

/* The record first: without it the slow device is free whatever comes in between. */
enum xc fence_end(const char *uuid, dev_t slow)
{
	struct known k;
	bool known = known_find(uuid, &k) == 1;
	int lock = known_lock(uuid, true), err = known_forget(uuid);
	dev_t kept = !err && geteuid() == 0 ? kernel_let_go(uuid) : 0;

	known_unlock(lock);
	if (!err)
		left_forget(uuid);
	if (err)
		return complain(XC_FAILED, uuid, "is it read-only? the cache is still there",
				"cannot take its record from /etc/xpcache: %s", strerror(-err));
	if (!slow)
		slow = kept;
	if (known)
		ask_again(&k, slow);
	else
		fence_changed(slow);
	return XC_OK;
}

enum xc fence_check(const struct device *slow, const char *but)
{
	struct known *list = NULL;
	size_t n = slow->is_block ? known_all(&list) : 0;
	enum xc ret = XC_OK;
	char why[512];

	for (size_t i = 0; i < n && !ret; i++)
		if (strcmp(list[i].uuid, but) != 0 && list[i].start != START_GONE &&
		    identity_same(&list[i].slow, slow, false, why, sizeof(why)))
			ret = complain(XC_REFUSED, slow->path,
				       "connect that, or xpcache forget the cache if it is lost",
				       "it is the slow device of the xpcache %s, whose fast device is not here",
				       list[i].name);
	free(list);
	return ret;
}

/* From now on udev is told that it is a disk as any. */
enum xc fence_open(const char *uuid)
{
	int lock = known_lock(uuid, true), err = left_write(uuid);

	known_unlock(lock);
	return err ? complain_errno(err, user_directory(), "cannot note what the cache has left") : XC_OK;
}

void fence_opened(const char *uuid, dev_t slow)
{
	kernel_let_go(uuid);
	fence_changed(slow);
}

/* ----------------------------------------------------------------- udev ---- */

/* Not of a disk that was taken before we were asked: who uses it would lose it by a fence that
 * comes too late. */
static bool hold(const struct known *k, const struct device *d)
{
	int err = kernel_hold(k->uuid, d->dev);

	if (err)
		complain_errno(err, d->path, err == -EBUSY ? "is used by others, and its cache does not run" :
							     "cannot be kept from who has its path");
	return err != -EBUSY;
}

/* Disks in one kind of USB case may say the same of themselves. What is on them is asked only then:
 * it changes in use. */
static bool same_content(const struct xp_sb_slow *a, const struct xp_sb_slow *b)
{
	return a->content[0] && !memcmp(a->content, b->content, sizeof(a->content));
}

static bool say_another(const struct known *k, const struct device *d)
{
	complain(XC_REFUSED, d->path, "it is left alone",
		 "it says of itself what the slow device of %s does, and is another", k->name);
	return false;
}

static bool say_both(const struct known *k, const struct device *d)
{
	complain(XC_REFUSED, d->path, "take one of the two away",
		 "it cannot be told from the slow device of %s", k->name);
	return true;
}

/* False: it is gone. */
static bool identity_at(dev_t dev, struct xp_sb_slow *id)
{
	struct device d;

	memset(id, 0, sizeof(*id));
	if (!device_here(dev) || device_look_at(&d, dev))
		return false;
	identity_of(&d, id);
	device_close(&d);
	return true;
}

static dev_t slow_in_use(const struct running *r)
{
	struct stat st;

	if (!r->user)
		return r->slow;
	return stat(r->slow_path, &st) ? 0 : st.st_rdev;
}

/* The cache's own block device holds the same, and has no hardware to be told by. */
static bool is_below(const struct running *r, const struct known *k, const struct device *d)
{
	struct xp_sb_slow now, first;
	dev_t slow = slow_in_use(r);

	if (slow == d->dev)
		return true;
	identity_of(d, &now);
	if (!now.hwid[0] || memcmp(now.hwid, k->slow.hwid, sizeof(now.hwid)) != 0)
		return false;
	if (!slow || !identity_at(slow, &first))
		return true;	/* it was taken out, and came as another */
	return same_content(&now, &first) ? say_both(k, d) : say_another(k, d);
}

/* Another one is held already. */
static bool keep_which(const struct known *k, const struct device *d, dev_t held, dev_t *freed)
{
	struct xp_sb_slow now, first;
	bool is, was;

	identity_of(d, &now);
	was = identity_at(held, &first) && same_content(&first, &k->slow);
	is = same_content(&now, &k->slow);
	if (is == was)
		return say_both(k, d);
	if (was)
		return say_another(k, d);
	*freed = kernel_let_go(k->uuid);
	return hold(k, d);
}

static bool keep_locked(const struct known *k, const struct device *d, dev_t *freed)
{
	struct running r;
	dev_t held;

	if (running_find(NULL, k->uuid, &r) == 1)	/* be it to be left */
		return is_below(&r, k, d);
	if (k->start == START_GONE || left_is(k->uuid))
		return false;
	held = kernel_is_held(k->uuid);
	if (held == d->dev)
		return true;
	if (held && device_here(held))
		return keep_which(k, d, held, freed);
	if (held)	/* it was taken out, and came as another */
		kernel_let_go(k->uuid);
	return hold(k, d);
}

/* True: its cache has it, or a device of ours. */
static bool keep(const struct known *k, const struct device *d)
{
	int lock = known_lock(k->uuid, false);
	dev_t freed = 0;
	bool kept = lock < 0 || keep_locked(k, d, &freed);	/* who has the lock is about to start it */

	known_unlock(lock);
	fence_changed(freed);
	return kept;
}

/* Of a cache that runs, whatever the device says of itself: somebody has named it. */
static bool is_in_use(const struct known *k, const struct device *d)
{
	struct running r;

	return running_find(NULL, k->uuid, &r) == 1 && slow_in_use(&r) == d->dev;
}

static bool say_slow(const struct device *d)
{
	struct known *list;
	size_t n = known_all(&list);
	bool kept = false;
	char why[512];

	for (size_t i = 0; i < n; i++)
		if (is_in_use(&list[i], d) || (identity_same(&list[i].slow, d, false, why, sizeof(why)) && keep(&list[i], d))) {
			printf("XPCACHE_FENCED=%s\nXPCACHE_UUID=%s\n", list[i].name, list[i].uuid);
			kept = true;
		}
	free(list);
	return kept;
}

static bool is_said(const char *property)
{
	const char *value = getenv(property);

	return value && !strcmp(value, "1");
}

/*
 * Nobody waits for a device that does not answer: of the device mapper one may be suspended, and others are parts of
 * something. Where udev has looked at what is on it already, that counts.
 */
static bool may_be_read(const struct device *d)
{
	static const char *const not_if[] = {
		"DM_SUSPENDED", "DM_NOSCAN", "DM_UDEV_DISABLE_DISK_RULES_FLAG", "DM_UDEV_DISABLE_OTHER_RULES_FLAG",
		"DM_MULTIPATH_DEVICE_PATH",
	};
	char kname[64], suspended[16];

	for (size_t i = 0; i < sizeof(not_if) / sizeof(*not_if); i++)
		if (is_said(not_if[i]))
			return false;
	if (getenv("ID_FS_TYPE"))
		return false;
	return !d->is_block || !device_kname(d->dev, kname, sizeof(kname)) ||
	       !sysfs_read(kname, "dm/suspended", suspended, sizeof(suspended)) || !strcmp(suspended, "0");
}

/*
 * In the words of blkid, which does not know caches: lsblk, udisks and installers would take the device for an empty one.
 * By the first superblock alone: who makes something else of the device changes that, and leaves the second.
 */
static void say_fast(const struct device *d)
{
	struct xp_message msg;
	struct xp_sb sb;
	struct media m;
	int err = may_be_read(d) ? media_init(&m, d->fd) : -EAGAIN;
	char uuid[64];
	const char *u;

	if (err)
		return;
	err = m.io.read(m.io.ctx, XP_SB_BLOCK_A, 1, &sb);
	err = err ? err : xp_sb_verify(&sb, device_blocks(d), &msg);
	media_done(&m);
	if (err && err != -ENOTSUP)
		return;
	printf("ID_FS_TYPE=xpcache\nID_FS_USAGE=other\n");
	if (err)	/* one that has moved has the other's UUID still */
		return;
	u = text_uuid(sb.uuid);
	snprintf(uuid, sizeof(uuid), "%.8s-%.4s-%.4s-%.4s-%.12s", u, u + 8, u + 12, u + 16, u + 20);
	printf("ID_FS_VERSION=%u\nID_FS_UUID=%s\nID_FS_UUID_ENC=%s\n", le32_to_cpu(sb.version), uuid, uuid);
}

/* Called for every disk of the machine. */
enum xc fence_run(struct options *opt)
{
	struct device d;

	setenv("DM_DISABLE_UDEV", "1", 1);	/* it is udev that waits for us */
	if (device_look(&d, opt->arg))
		return XC_OK;
	if (!say_slow(&d))
		say_fast(&d);
	device_close(&d);
	return XC_OK;
}

/* --------------------------------------------------------------- forget ---- */

/* Why to forget it would lose something, it or a copy; "" if it is known not to. False: it is not here. */
static bool what_is_lost(const char *uuid, struct cache *c, char *why, size_t len)
{
	struct caches all;
	bool found;

	snprintf(why, len, "its fast device is not here, and may have dirty blocks");
	if (caches_scan_for(uuid, &all))
		return false;
	found = all.n;
	if (found)
		*why = '\0';
	for (size_t i = 0; i < all.n && !*why; i++) {
		u64 dirty;

		*c = all.v[i];
		if (!cache_dirty(c, &dirty))
			snprintf(why, len, "how many dirty blocks it has cannot be told");
		else if (dirty)
			snprintf(why, len, "%s on %s are dirty", text_blocks(dirty), c->fast.path);
	}
	caches_free(&all);
	return found;
}

static void end_unknown(const char *uuid)
{
	struct xp_tunables defaults;
	char why[PATH_MAX + 128] = "";
	struct cache c;

	if (known_is_noted(uuid))
		return;
	xp_tunables_init(&defaults);
	if (!what_is_lost(uuid, &c, why, sizeof(why)) || !*why)
		fence_changed(kernel_let_go(uuid));
	else if (known_note(&c.sb, false, &defaults))
		printf("%s: nothing was noted of it, and %s: now it is\n", c.name, why);
}

void fence_end_unknown(void)
{
	kernel_each_hold(end_unknown);
}

/* Of images it is the end as well, in their order; it takes minutes, and somebody may start it. */
static enum xc images_forget(struct known *k)
{
	enum xc ret = images_let_go(k);
	struct running r;

	if (ret || running_find(NULL, k->uuid, &r) != 1)
		return ret;
	k->start = START_TO_LEAVE;
	known_write(k);
	return complain(XC_REFUSED, k->name, "xpcache adopt --undo ends it", "it was started meanwhile");
}

static enum xc find_to_forget(const char *name, struct known *k)
{
	unsigned int n;

	if (known_find(name, k))	/* who was waited for may have started it */
		initramfs_lock_to_refresh();
	n = known_find(name, k);
	if (!n)
		return complain(XC_NOT_FOUND, name,
				"xpcache list shows all; what the initramfs alone knows goes when that is made again",
				"no cache of this name is known to this machine");
	if (n > 1)
		return complain(XC_REFUSED, name, "give the uuid of one, as its file in /etc/xpcache is called",
				"%u caches of this name are known to this machine", n);
	return XC_OK;
}

/* @why: what is lost with it; "": nothing. */
static enum xc check_forget(const struct known *k, bool images, bool force, char *why, size_t len)
{
	struct running r;
	struct cache c;

	if (running_find(NULL, k->uuid, &r) == 1)
		return complain(XC_REFUSED, k->name, r.asleep ? "xpcache stop ends that" : "xpcache remove ends it",
				r.asleep ? "it is detached" : "it is running");
	if (images && !force)
		return complain(XC_REFUSED, k->name, "xpcache adopt --undo ends it; --force gives up what it has",
				"it was adopted, and the boot may ask for it");
	what_is_lost(k->uuid, &c, why, len);
	if (*why && !force)
		return complain(XC_REFUSED, k->name,
				"xpcache remove writes them back; --force lets go of the slow device as it is",
				"%s", why);
	return XC_OK;
}

static enum xc forget(struct known *k, bool images)
{
	enum xc ret;

	signals_hold();
	ret = images ? images_forget(k) : XC_OK;
	if (!ret)
		ret = fence_end(k->uuid, 0);
	signals_release();
	return ret;
}

enum xc forget_run(struct options *opt)
{
	struct known k;
	char why[PATH_MAX + 128] = "";
	enum xc ret = find_to_forget(cache_plain_name(opt->arg), &k);
	bool images;

	if (ret)
		return ret;
	images = images_know(&k) && initramfs_refreshes();
	ret = check_forget(&k, images, opt->force, why, sizeof(why));
	if (!ret)
		ret = forget(&k, images);
	if (ret)
		return ret;
	printf("%s: forgotten; nothing keeps its slow device (%s) from being used alone%s%s\n", k.name,
	       identity_text(&k.slow), *why ? ", although " : "", why);
	return images ? XC_OK : initramfs_refresh();
}
