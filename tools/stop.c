// SPDX-License-Identifier: GPL-2.0-only
/* stop: the cache rests; its dirty blocks stay on the fast device. */
#include "tools/stop.h"
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/status.h"
#include "lib/ublk_client.h"
#include "tools/format.h"
#include "tools/guard/fingerprint.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS		50
#define UDEV_MS		2000	/* after an unmount it takes a look at a device */
#define GOODBYE_MS	500	/* the daemon notices that a client has left when it comes to that */

static u32 wait_for_closing(const char *name, u32 ms)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	struct running r = { .open_count = 1 };

	for (u32 i = 0; i < ms / LOOK_MS && r.open_count; i++) {
		nanosleep(&pause, NULL);
		if (running_find(name, NULL, &r) != 1)
			break;
	}
	return r.open_count;
}

static enum xc stop_check_clients(const struct running *r)
{
	u32 clients = r->open_count ? wait_for_closing(r->name, GOODBYE_MS) : 0;

	return !clients ? XC_OK :
	       complain(XC_REFUSED, r->name, "let them go first", "in use, by %u clients", clients);
}

static enum xc stop_check_openers(const struct running *r)
{
	const struct device d = { .is_block = true, .dev = r->dev };
	char who[PATH_MAX];

	if (!r->open_count || !wait_for_closing(r->name, UDEV_MS))
		return XC_OK;
	return complain(XC_REFUSED, r->name, "end that first", "in use, %s",
			claim_opener(&d, who, sizeof(who)) ? who : "open elsewhere");
}

enum xc stop_check(const struct running *r)
{
	char kname[64], who[PATH_MAX];
	enum xc ret;

	if (*r->ublk)
		return ublk_closed(r->ublk) ? XC_REFUSED : stop_check_clients(r);
	if (r->user)
		return stop_check_clients(r);
	if (device_kname(r->dev, kname, sizeof(kname)) &&
	    claim_user(kname, who, sizeof(who)))
		return complain(XC_REFUSED, r->name,
				strstr(who, "mounted") ? "unmount it first" : "end that first",
				"in use, %s", who);
	ret = partitions_closed(r);
	return ret ? ret : stop_check_openers(r);
}

static void say_dirty(const struct running *r, const struct status *s)
{
	u64 dirty = status_number(s, "dirty");

	if (dirty)	/* some may have gone home while it stopped */
		printf("%s: stopped; up to %s dirty stay on %s: do not use the slow device alone\n",
		       r->name, text_blocks(dirty), r->fast_path);
	else
		printf("%s: stopped, no dirty block\n", r->name);
}

/* The kernel could not make durable what it had acknowledged. */
static enum xc cannot_commit(const struct running *r, int err)
{
	struct status s;

	if (!status_read(r->name, &s) && !strcmp(s.state, "failed"))
		return complain(XC_FAILED, r->name,
				running_log(r->name, text_todo("; xpcache stop %s --force loses what was not committed", r->name)),
				"the journal cannot be written: %s", strerror(-err));
	return complain(XC_FAILED, r->name,
			running_log(r->name, text_todo("; xpcache stop %s --force may lose writes that bypassed the full cache", r->name)),
			"the slow device cannot be flushed: %s", strerror(-err));
}

/* Suspended, it commits nothing, and has no error to tell. */
static enum xc check_suspended(const struct running *r, const struct options *opt)
{
	struct status s;

	if (r->user || r->asleep || !r->suspended || opt->force || status_read(r->name, &s))
		return XC_OK;
	return !strcmp(s.state, "failed") && !status_number(&s, "passthrough") ? cannot_commit(r, -EIO) : XC_OK;
}

/* One that came back as another was not held while the cache ran, and is to be asked for again. */
static void keep_slow(const struct running *r)
{
	if (r->user || !r->slow || device_here(r->slow))
		fence_changed(r->slow);
	else
		fence_again(r->uuid, 0, -1);
}

/* No write passed the cache, and its devices are here: what the slow one holds can be noted. */
static bool rests_in_order(const struct running *r, const struct status *s)
{
	return !status_number(s, "passthrough") && (r->user || (device_here(r->fast) && device_here(r->slow)));
}

/* Nobody has it open any more. */
static enum xc rest(struct running *r, const struct options *opt)
{
	struct status s;
	enum xc ret;
	int err, committed = running_message(r->name, XP_COMMAND_COMMIT);

	if (committed && !opt->force)
		return cannot_commit(r, committed);
	err = status_read(r->name, &s);
	if (err)
		return complain_errno(err, r->name, "cannot read its status");
	running_paths(r);
	signals_hold();
	ret = running_remove(r->name, committed);
	signals_release();
	if (!ret)
		say_dirty(r, &s);
	if (!ret && !committed && rests_in_order(r, &s))
		fingerprint_at_rest(r->fast_path, r->slow_path, status_number(&s, "seq"));
	return ret;
}

/* It has nothing, nobody has its fast device, and the slow one has all. */
static enum xc rest_asleep(const struct running *r)
{
	enum xc ret;

	signals_hold();
	ret = running_remove(r->name, false);
	signals_release();
	if (!ret)
		printf("%s: stopped; it was detached, and has no dirty block\n", r->name);
	return ret;
}

static enum xc find_to_stop(const char *name, const struct options *opt, struct running *r)
{
	enum xc ret = caches_find_running(name, r);

	if (!ret)
		ret = sleep_mend(r);
	if (!ret)
		ret = stop_check(r);
	return ret ? ret : check_suspended(r, opt);
}

/* With its partitions away; they are back if it does not stop. */
static enum xc rest_hidden(struct running *r, const struct options *opt)
{
	struct partitions hidden;
	enum xc ret = partitions_hide(r, opt->force, &hidden);

	if (!ret) {
		ret = r->asleep ? rest_asleep(r) : rest(r, opt);
		if (ret)
			partitions_back(r, &hidden);
		else
			sleep_has_stopped(r->uuid);
	}
	free(hidden.v);
	return ret;
}

enum xc stop_locked(const char *name, const struct options *opt)
{
	struct running r;
	enum xc ret = find_to_stop(name, opt, &r);

	if (ret)
		return ret;
	if (!r.user)
		signals_hold();
	ret = rest_hidden(&r, opt);
	if (!r.user)
		signals_release();
	if (!ret)
		keep_slow(&r);
	return ret;
}

/* Whether it is asleep stays as it is meanwhile; a cache of xpcached never is. */
static enum xc stop_one(const char *name, const struct options *opt)
{
	struct running r;
	bool user = running_find(cache_plain_name(name), NULL, &r) == 1 && r.user;
	int lock = user ? -1 : sleep_lock();
	enum xc ret = stop_locked(name, opt);

	if (lock >= 0)
		close(lock);
	return ret;
}

/* What start --boot has started; the cache below / stays, of course. */
static enum xc stop_at_shutdown(const struct options *opt)
{
	struct known *list;
	size_t n = known_all(&list);
	enum xc ret = XC_OK, one;
	struct running r;

	for (size_t i = 0; i < n; i++) {
		if (list[i].start != START_AT_BOOT || running_find(NULL, list[i].uuid, &r) != 1)
			continue;
		one = stop_one(r.name, opt);
		ret = ret ? ret : one;
	}
	free(list);
	return ret;
}

static enum xc stop_named(const struct options *opt)
{
	struct running r;
	bool known = running_named(cache_plain_name(opt->arg), &r) == 1;
	enum xc ret = XC_OK;

	if (known) {
		running_paths(&r);
		ret = format_check(&r, opt);
	}
	if (!ret)
		ret = stop_one(opt->arg, opt);
	if (!ret && known)
		ret = format_back(&r, opt);
	if (!ret && known && r.asleep)
		printf("xpcache start %s brings it back\n", text_word(r.name));
	else if (!ret && known)
		printf("%s brings it back\n", text_start(r.name, r.fast_path, r.slow_path));
	return ret;
}

enum xc stop_run(struct options *opt)
{
	if (!opt->boot == !opt->arg)
		return opt->boot ? complain(XC_USAGE, "--boot", "give it alone", "it goes with no name") :
		       complain(XC_USAGE, "stop", "xpcache stop NAME, or --boot", "the name is missing");
	if (opt->boot && opt->format)
		return complain(XC_USAGE, "--format", "name the cache", "it goes with one cache");
	return opt->boot ? stop_at_shutdown(opt) : stop_named(opt);
}
