// SPDX-License-Identifier: GPL-2.0-only
/*
 * remove: every dirty block goes home, then there is no cache any more.
 *
 * Flush, stop, look offline that no dirty block is left, and only then erase
 * the superblocks. Wherever it is interrupted, there is a good cache or none.
 */
#include "tools/remove.h"
#include "boot/fence.h"
#include "boot/initramfs.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/flushing.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/slow_find.h"
#include "tools/flush.h"
#include "tools/guard/accept.h"
#include "tools/guard/fingerprint.h"
#include "tools/guard/mark.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/stop.h"
#include "tools/verbs.h"
#include "core/layout.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* Nothing is kept for it: then its record is the last to go, so that a cut leaves what can be gone on with. */
static bool is_gone(const char *uuid)
{
	struct known k;

	return known_find(uuid, &k) == 1 && k.start == START_GONE;
}

/* A cache that rests, on its way out. */
struct erasing {
	const char *name;
	struct device *fast;	/* holds it */
	dev_t slow;		/* 0: not known */
	const char *path;	/* of the slow device; NULL: not known */
	struct offline o;
	struct xp_fp fp;	/* its last fingerprint */
};

static enum xc load_clean(struct erasing *e)
{
	int err = offline_open(&e->o, e->fast);

	if (!err)
		err = offline_load(&e->o);
	if (err)
		return offline_complain(&e->o, e->fast, err);
	if (e->o.stats.dirty)
		return complain(XC_REFUSED, e->name, "nothing is lost: once more",
				"%s became dirty meanwhile", text_blocks(e->o.stats.dirty));
	if (!fingerprint_read(&e->o.media.io, &e->o.sb, &e->fp))
		e->fp.mark = 0;
	return XC_OK;
}

static enum xc erase_superblock(struct erasing *e)
{
	struct xp_sb zeros;
	int err = xp_sb_erase(&e->o.media.io, &zeros);

	return err ? complain_errno(err, e->fast->path, "cannot erase the superblock") : XC_OK;
}

static enum xc end_record(const struct erasing *e)
{
	return fence_end(text_uuid(e->o.sb.uuid), e->slow);
}

/* Then it is no more, and a mark has nobody to tell. */
static enum xc erase_only(struct erasing *e)
{
	bool gone = is_gone(text_uuid(e->o.sb.uuid));
	enum xc ret = gone ? erase_superblock(e) : end_record(e);

	if (!ret)
		ret = gone ? end_record(e) : erase_superblock(e);
	if (!ret && e->path)
		mark_erase(&e->o.sb, &e->fp, e->path);
	return ret;
}

/* Refused if anything is dirty. @copied: it is elsewhere too, and known for that. */
static enum xc erase(struct erasing *e, bool copied)
{
	enum xc ret = device_reopen(e->fast, DEVICE_OWN);

	if (ret)
		return ret;
	signals_hold();
	ret = load_clean(e);
	if (!ret)
		ret = copied ? erase_superblock(e) : erase_only(e);
	offline_close(&e->o);
	signals_release();
	return ret;
}

static enum xc end(const struct running *r)
{
	struct partitions hidden;
	enum xc ret;

	if (!r->user)
		signals_hold();
	ret = partitions_hide(r, false, &hidden);
	if (!ret) {
		ret = running_remove(r->name, false);
		if (ret)
			partitions_back(r, &hidden);
	}
	free(hidden.v);
	if (!r->user)
		signals_release();
	return ret;
}

/* Their images would start it, or wait for it: see images.c. */
static enum xc check_images(const char *name, const char *uuid)
{
	struct known k;

	if (known_find(uuid, &k) != 1 || !images_know(&k) || !initramfs_refreshes())
		return XC_OK;
	return complain(XC_REFUSED, name, "xpcache adopt --undo ends it", "it was adopted, and the boot may ask for it");
}

/* Nobody who does not want to wait for others finds it stopped. */
static enum xc stop(struct running *r)
{
	enum xc ret;

	if (known_is_noted(r->uuid))
		initramfs_lock_to_refresh();
	ret = end(r);
	if (!ret)
		sleep_has_stopped(r->uuid);
	return ret;
}

/* What has run was the newest: then none of the others is to start by itself. */
static void keep_for_copy(const struct running *r, const char *copy)
{
	struct known k;

	if (known_find(r->uuid, &k) == 1 && k.start == START_AT_BOOT) {
		k.start = START_NOT;
		known_write(&k);
	}
	printf("%s: removed from %s, which is free; %s holds an older state of it, and will not start by itself\n",
	       r->name, r->fast_path, copy);
}

/* *copy: where it is still; "": nowhere. */
static enum xc erase_stopped_now(const struct running *r, char copy[PATH_MAX])
{
	struct device fast = { .fd = -1 };
	struct erasing e = { .name = r->name, .fast = &fast, .slow = r->slow, .path = r->slow_path };
	enum xc ret = device_open(&fast, r->fast_path, true);

	*copy = '\0';
	if (!ret && !caches_have_copy(r->uuid, &fast, copy, PATH_MAX))
		*copy = '\0';
	if (!ret)
		ret = erase(&e, *copy);
	device_close(&fast);
	return ret;
}

/* Refused, or at rest with nothing dirty. */
static enum xc flush_and_stop(struct running *r)
{
	enum xc ret = sleep_mend(r);

	if (!ret)
		ret = r->asleep ? say_asleep(r->name) : stop_check(r);
	if (!ret)
		ret = check_images(r->name, r->uuid);
	running_paths(r);
	if (!ret)
		ret = flush_home(r->name);
	return ret ? ret : stop(r);
}

static enum xc remove_running(struct running *r)
{
	bool known = known_is_noted(r->uuid);
	char copy[PATH_MAX];
	enum xc ret = flush_and_stop(r);

	if (ret)
		return ret;
	ret = erase_stopped_now(r, copy);
	if (ret || *copy)
		fence_again(r->uuid, r->slow, -1);
	if (ret)
		return ret;
	if (*copy) {
		keep_for_copy(r, copy);
		return XC_OK;
	}
	printf("%s: removed; %s is a plain disk again, %s is free\n", r->name, r->slow_path, r->fast_path);
	return known ? initramfs_refresh() : XC_OK;
}

/* How many blocks a stopped cache has dirty. */
static enum xc count_dirty(const struct cache *c, const struct options *opt, u64 *dirty)
{
	struct offline o;
	struct device d;
	enum xc ret = device_open(&d, c->fast.path, true);
	int err;

	if (ret)
		return ret;
	err = offline_open(&o, &d);
	o.accept = accept_of(opt);
	o.slow = opt->slow;
	if (!err)
		err = offline_load(&o);
	*dirty = o.stats.dirty;
	ret = offline_complain(&o, &d, err);
	offline_close(&o);
	device_close(&d);
	return ret;
}

enum xc erase_stopped(const struct cache *c, const char *slow, bool copied)
{
	struct device fast = { .fd = -1 };
	struct erasing e = { .name = c->name, .fast = &fast };
	char path[PATH_MAX];
	enum xc ret = device_open(&fast, c->fast.path, true);

	if (!ret)
		ret = claim_check(&fast);
	if (!ret && slow_known(c, slow, path, sizeof(path)))
		e.path = path;
	if (!ret)
		ret = erase(&e, copied);
	device_close(&fast);
	return ret;
}

/* Which of them has the newer ones cannot be told. */
static enum xc check_is_alone(const struct cache *c, u64 dirty)
{
	char copy[PATH_MAX];

	if (!caches_have_copy(c->uuid, &c->fast, copy, sizeof(copy)))
		return XC_OK;
	return complain(XC_REFUSED, c->name, "take that away first, or this",
			"%s on %s are dirty, and may be old: %s holds the cache too", text_blocks(dirty),
			c->fast.path, copy);
}

/* What is dirty goes home without a device that others could take a part of meanwhile. */
static enum xc bring_home(struct cache *c, u64 dirty, const struct options *opt)
{
	enum xc ret = check_is_alone(c, dirty);

	if (ret)
		return ret;
	printf("%s: %s dirty must be written back first\n", c->name, text_blocks(dirty));
	fflush(stdout);
	return flush_stopped(c, opt);
}

/* Refused, or nothing is dirty. */
static enum xc flush_at_rest(struct cache *c, const struct options *opt)
{
	u64 dirty = 0;
	enum xc ret = caches_have_copy(c->uuid, &c->fast, NULL, 0) ? XC_OK : check_images(c->name, c->uuid);

	if (!ret)
		ret = sleep_no_image(c, slow_of(c), opt);	/* its note is the proof that the disk was used since */
	if (!ret)
		ret = count_dirty(c, opt, &dirty);
	if (ret)
		return ret;
	return dirty ? bring_home(c, dirty, opt) : accept_losses(c, opt->slow, opt);	/* whoever starts it accepts it by himself */
}

static enum xc remove_stopped(struct cache *c, const struct options *opt)
{
	bool known = known_is_noted(c->uuid), copied;
	char copy[PATH_MAX];
	enum xc ret = flush_at_rest(c, opt);

	if (ret)
		return ret;
	if (known)
		initramfs_lock_to_refresh();
	copied = caches_have_copy(c->uuid, &c->fast, copy, sizeof(copy));
	ret = copied ? XC_OK : check_images(c->name, c->uuid);
	if (!ret)
		ret = erase_stopped(c, opt->slow, copied);
	if (ret)
		return ret;
	if (copied) {
		printf("%s: removed from %s, which is free; %s holds it too, so its slow device is no plain disk yet\n",
		       c->name, c->fast.path, copy);
		return XC_OK;
	}
	printf("%s: removed; its slow device is a plain disk again, %s is free\n", c->name, c->fast.path);
	return known ? initramfs_refresh() : XC_OK;
}

enum xc remove_run(struct options *opt)
{
	const char *name = cache_plain_name(opt->arg);
	struct running r;
	struct cache c;
	enum xc ret;

	if (!opt->fast && running_named(name, &r) == 1) {
		ret = accept_check_running(opt, "remove it without");
		if (ret)
			return ret;
		if (!r.uuid[0])
			return complain(XC_USAGE, name, "xpcache list shows the caches",
					"not an xpcache");
		return remove_running(&r);
	}
	if (geteuid() == 0)
		kernel_sweep();
	ret = caches_find_stopped(name, opt->fast, opt->slow, &c);
	return ret ? ret : remove_stopped(&c, opt);
}
