// SPDX-License-Identifier: GPL-2.0-only
/*
 * resize: a cache whose devices have another size than they had.
 *
 * The slow device is taken as it is by every start: the engine does it (core/recovery.c), and says what it refuses. Here
 * that is said before anything else is done, with a way on. A cache that runs takes a longer one by the verb; one that
 * does not takes a larger fast device by it (resize_fast.c).
 */
#include "tools/resize.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/user.h"
#include "tools/guard/accept.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/look.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------ a shorter slow device ---- */

struct fit {
	const struct cache *c;
	const struct device *slow;
	struct device fast;
	struct offline o;
	u64 was;		/* sectors */
	u64 *lba;		/* dirty blocks that do not fit, ascending; as many as o.stats.dirty at most */
	u64 n;
};

static int by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static int load(struct fit *f, const struct options *opt)
{
	int err = offline_open(&f->o, &f->fast);

	f->o.accept = accept_of(opt);
	return err ? err : offline_load(&f->o);
}

static int collect(struct fit *f)
{
	struct xp_mapping m;
	u32 cursor = 0;

	f->n = 0;
	free(f->lba);
	f->lba = calloc(f->o.stats.dirty + 1, sizeof(*f->lba));
	if (!f->lba)
		return -ENOMEM;
	while (xp_walk(f->o.core, &cursor, &m))
		if (m.dirty && min((xp_lba_n(m.lba) + 1) * XP_BLOCK_SECTORS - xp_sb_pad(&f->o.sb), f->was) > f->slow->sectors)
			f->lba[f->n++] = xp_lba_n(m.lba);
	qsort(f->lba, f->n, sizeof(*f->lba), by_number);
	return 0;
}

#define RANGES_TOLD	4u

/* "sectors 8 to 15, 32 to 63 and 3 more ranges" */
static void say_ranges(const struct fit *f, char *text, size_t len)
{
	size_t at = (size_t)snprintf(text, len, "sectors");
	u64 ranges = 0, i = 0, pad = xp_sb_pad(&f->o.sb);

	while (i < f->n) {
		u64 first = f->lba[i], end = first;

		while (i < f->n && f->lba[i] == end) {
			end++;
			i++;
		}
		if (ranges++ < RANGES_TOLD)
			at += (size_t)snprintf(text + at, len - at, "%s %" PRIu64 " to %" PRIu64, ranges > 1 ? "," : "",
					       first * XP_BLOCK_SECTORS - pad, min(end * XP_BLOCK_SECTORS - pad, f->was) - 1);
	}
	if (ranges > RANGES_TOLD)
		snprintf(text + at, len - at, " and %s more ranges", text_count(ranges - RANGES_TOLD));
}

static enum xc refuse(const struct fit *f)
{
	char ranges[256];

	say_ranges(f, ranges, sizeof(ranges));
	return complain(XC_REFUSED, f->slow->path, shorter_advice(f->fast.path, f->slow->path),
			"it has %" PRIu64 " sectors, and had %" PRIu64 ": %s of %s, dirty, reach past its end, in %s",
			f->slow->sectors, f->was, text_blocks(f->n), f->c->name, ranges);
}

/* Nobody starts it from now on: what the map says is read once more, and stays so. */
static enum xc forget(struct fit *f, const struct options *opt)
{
	struct xp_jblock block;
	enum xc ret;
	int err;

	offline_close(&f->o);
	ret = device_reopen(&f->fast, DEVICE_OWN);
	if (ret)
		return ret;
	err = load(f, opt);
	if (!err)
		err = collect(f);
	if (err)
		return offline_complain(&f->o, &f->fast, err);
	err = xp_forget(f->o.core, &f->o.media.io, &block);
	if (err)
		return complain_errno(err, f->fast.path, "cannot empty the cache");
	printf("%s: %s are dropped, as you asked, %s of which reach past the end of %s\n", f->c->name,
	       text_blocks(f->o.stats.dirty), text_count(f->n), f->slow->path);
	return XC_OK;
}

static enum xc check_fit(struct fit *f, const struct options *opt)
{
	enum xc ret = device_open(&f->fast, f->c->fast.path, true);

	if (ret)
		return ret;
	if (load(f, opt))	/* whoever starts it says so, and what can be done */
		return XC_OK;
	if (collect(f))
		return complain_errno(ENOMEM, f->fast.path, "cannot sort its dirty blocks");
	if (!f->n)
		return XC_OK;
	return opt->discard_dirty ? forget(f, opt) : refuse(f);
}

enum xc slow_fits(const struct cache *c, const struct device *slow, const struct options *opt)
{
	struct fit f = { .c = c, .slow = slow, .fast.fd = -1, .was = le64_to_cpu(c->sb.slow.sectors) };
	enum xc ret = XC_OK;

	if (slow->sectors < f.was)
		ret = check_fit(&f, opt);
	offline_close(&f.o);
	device_close(&f.fast);
	free(f.lba);
	return ret;
}

/* ------------------------------------------------------- while it runs ---- */

static enum xc refuse_running(const struct running *r, int err)
{
	const char *anew = text_todo("xpcache stop %s, then %s: that takes it as it is", r->name,
				     text_start(r->name, r->fast_path, r->slow_path));

	switch (err) {
	case -ENOSPC:
		return complain(XC_REFUSED, r->slow_path, anew, "it is shorter than it was, and %s runs", r->name);
	case -EOPNOTSUPP:
		return complain(XC_REFUSED, r->name, anew, *r->ublk ? "its block device cannot be told a new size" :
				"the connections to the server of %s have the size of before", r->slow_path);
	default:
		return complain(XC_FAILED, r->name, running_log(r->name, "; it goes on with the size that it had"),
				"cannot take the new size of %s: %s", r->slow_path, strerror(-err));
	}
}

static enum xc of_user(const struct running *r, u64 *was, u64 *is)
{
	int err = user_resize(r->name, was, is);

	return err ? refuse_running(r, err) : XC_OK;
}

static enum xc of_kernel(struct running *r, u64 *was, u64 *is)
{
	struct device slow;
	enum xc ret = sleep_mend(r);
	int err = ret ? 0 : device_look_at(&slow, r->slow);

	if (ret)
		return ret;
	if (err)
		return complain_errno(err, r->slow_path, "cannot tell its size");
	*was = r->sectors;
	*is = slow.sectors;
	if (*is < *was)
		ret = refuse_running(r, -ENOSPC);
	else if (*is > *was || (r->suspended && kernel_is_loading(r->name)))
		ret = resize_in_kernel(r, &slow);
	device_close(&slow);
	return ret;
}

static void say_size(const struct running *r, u64 was, u64 is)
{
	if (was == is)
		printf("%s: %s has %" PRIu64 " sectors, as before\n", r->name, r->slow_path, is);
	else
		printf("%s: %s has %" PRIu64 " sectors, and had %" PRIu64 ": %s\n", r->name, r->slow_path, is, was,
		       r->user ? "clients see that when they connect again" : "taken as it is");
}

static void say_fast(const struct running *r)
{
	struct device d;
	struct cache c;

	if (device_look(&d, r->fast_path))
		return;
	if (!cache_read(&c, &d))
		fast_tell_grown(&c, r->name, r->slow_path);
	device_close(&d);
}

static enum xc resize_running(struct running *r)
{
	int lock = sleep_lock();
	u64 was = 0, is = 0;
	enum xc ret;

	running_paths(r);
	ret = r->user ? of_user(r, &was, &is) : of_kernel(r, &was, &is);
	if (!ret) {
		known_resized(r->uuid, is);
		say_size(r, was, is);
		say_fast(r);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

enum xc resize_run(struct options *opt)
{
	struct running r;
	enum xc ret;

	if (!opt->fast && !opt->arg)
		return complain(XC_USAGE, "resize", "xpcache list shows all", "the name is missing");
	if (opt->fast || running_named(cache_plain_name(opt->arg), &r) != 1 || !r.uuid[0])
		return resize_stopped(opt);
	if (opt->fast_size)
		return complain(XC_REFUSED, r.name, text_todo("xpcache stop %s, then xpcache resize %s --fast-size %s", r.name, r.name,
				text_size(opt->fast_size >> XP_BLOCK_SHIFT)), "it runs, and more of the fast device is for one that does not");
	ret = accept_check_running(opt, "resize it without");
	return ret ? ret : resize_running(&r);
}
