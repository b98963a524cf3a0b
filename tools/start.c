// SPDX-License-Identifier: GPL-2.0-only
/* start: a cache at rest runs again, its slow device found by its identity. */
#include "tools/start.h"
#include "boot/fence.h"
#include "boot/initramfs.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/engine_choice.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/remote.h"
#include "lib/room.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/slow_find.h"
#include "lib/ublk_client.h"
#include "lib/user.h"
#include "tools/guard/accept.h"
#include "tools/guard/behind.h"
#include "tools/guard/mark.h"
#include "tools/guard/slow_named.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/replug.h"
#include "tools/resize.h"
#include "tools/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* ------------------------------------------------------------ starting ---- */

/* Check and dump may read what has these; a running cache writes. */
static enum xc check_features(const struct cache *c)
{
	u64 unknown = le64_to_cpu(c->sb.ro_compat) & ~XP_RO_COMPAT_KNOWN;

	if (!unknown)
		return XC_OK;
	return complain(XC_DAMAGED, c->fast.path, "use the version of xpcache that made it, or a newer one",
			"features this version may read but not write, bits 0x%" PRIx64, unknown);
}

/* What fstab names is there by the kernel's engine alone, and the next boot would not start another's. */
static bool is_noted_for_boot(const char *uuid)
{
	struct known k;

	return geteuid() == 0 && known_find(uuid, &k) == 1 && k.start != START_NOT && k.start != START_GONE;
}

struct found {
	dev_t slow;	/* 0: it was not found, or is no device */
	bool user;
};

/*
 * A sparse file, of an older version or a copy that left out zeros, gets its room now. If there is none, the cache would
 * take writes until the file system is full, and then fail at once and for good; refused before that nothing is lost, and
 * what is dirty can still be written back. For that alone (--offline) the metadata's room is enough.
 */
static enum xc take_room(const struct cache *c, const struct options *opt, const char *slow)
{
	const char *todo;
	struct device d;
	struct room room;
	enum xc ret = device_open(&d, c->fast.path, true);

	if (ret || d.is_block || room_is_memory(d.fd) || (opt->force && !opt->offline)) {
		device_close(&d);
		return ret;
	}
	todo = text_todo("make room there; --force starts it all the same; xpcache flush --offline %s needs less", text_devices(c->fast.path, slow));
	ret = room_take(&room, &d, le64_to_cpu(opt->offline ? c->sb.data_start : c->sb.fast_blocks) << XP_BLOCK_SHIFT,
			opt->offline ? "make room there, or give --rescue, which needs none" : todo);
	room_done(&room);
	device_close(&d);
	return ret;
}

/* The engine's part: it notes the size of the slow device as it is. */
static enum xc start_engine(struct cache *c, const char *name, const struct device *slow, const struct options *opt, bool user)
{
	const struct user_start how = user_start_of(opt);
	u64 was = le64_to_cpu(c->sb.slow.sectors);
	enum xc ret;

	c->sb.slow.sectors = cpu_to_le64(slow->sectors);
	signals_hold();
	ret = user ? user_create(name, c->fast.path, slow->path, &how) :
		     kernel_create(&c->sb, name, &c->fast, slow, &how.tunables);
	if (!ret && !user)
		partitions_started(c->uuid);
	signals_release();
	if (!ret && was != slow->sectors) {
		known_resized(c->uuid, slow->sectors);
		printf("%s: %s has %" PRIu64 " sectors, and had %" PRIu64 ": taken as it is\n", name, slow->path, slow->sectors, was);
	}
	return ret;
}

static void say_started(const struct cache *c, const char *name, const char *slow, bool user)
{
	struct running r = { .user = user };
	char node[512];

	snprintf(r.name, sizeof(r.name), "%s", name);
	if (user)
		user_find(name, NULL, &r);	/* its block device */
	running_node(&r, node, sizeof(node));
	printf("%s: started, %s before %s: %s\n", name, c->fast.path, slow, node);
}

static enum xc start_it(struct cache *c, const struct options *opt, struct found *f)
{
	const char *name = opt->name ? opt->name : c->name;
	struct device slow = { .fd = -1 };
	struct options marked = *opt;
	enum xc ret = cache_check_name(name);
	u64 doubt = 0;
	bool user = false;

	if (!opt->engine && !opt->ublk && !opt->offline && c->fast.is_block && is_noted_for_boot(c->uuid))
		marked.engine = "kernel";
	if (!ret)
		ret = engine_choose(marked.engine, marked.ublk, c->fast.path, opt->slow, &user);
	if (!ret && !user && !c->fast.is_block)
		ret = complain(XC_USAGE, c->fast.path, "--engine user runs it", "not a block device");
	if (!ret && opt->ublk)
		ret = ublk_ready();
	if (!ret)
		ret = check_features(c);
	if (!ret)
		ret = claim_kind(&c->fast);
	if (!ret)
		ret = claim_check(&c->fast);
	if (!ret && running_has_name(name))
		ret = complain(XC_REFUSED, name, "start it under another by --name NAME",
			       "another device has this name");
	if (!ret)
		ret = opt->slow ? slow_named(c, opt, user, &slow) : slow_find(c, &slow);
	f->slow = !ret && slow.is_block ? slow.dev : 0;
	if (!ret)
		ret = slow_check_free(&c->fast, &slow);
	if (!ret)
		ret = remote_check_free(slow.path);
	device_close(&slow);
	if (!ret)
		ret = slow_fits(c, &slow, opt);
	if (!ret)
		ret = sleep_no_image(c, f->slow, opt);
	if (!ret && !user)
		ret = kernel_ready();
	if (!marked.tuned)
		known_limits(c->uuid, &marked.tunables);
	if (opt->offline && le64_to_cpu(c->sb.incompat) & XP_INCOMPAT_SUMS)
		marked.tunables.verify = 1;	/* what it brings home shall be what was written */
	if (!ret)
		behind_note_first(c, slow.path);
	if (!ret)
		ret = mark_prepare(name, c->fast.path, slow.path, opt,
				   &marked.tunables.mark, &doubt);
	if (!ret)
		ret = behind_check(c, slow.path, opt, doubt);
	if (!ret)
		ret = accept_losses(c, slow.path, opt);
	if (!ret && user)
		ret = take_room(c, opt, slow.path);
	if (!ret)
		ret = start_engine(c, name, &slow, &marked, user);
	f->user = user;
	if (!ret && !opt->offline) {
		say_started(c, name, slow.path, user);
		fast_tell_grown(c, name, slow.path);
	}
	return ret;
}

enum xc start_cache(struct cache *c, const struct options *opt)
{
	int lock = known_lock(c->uuid, true);
	dev_t kept = fence_lift(c->uuid);
	struct found f = { 0 };
	enum xc ret = start_it(c, opt, &f);

	if (ret)
		fence_again(c->uuid, f.slow ? f.slow : kept, lock);
	else
		known_unlock(lock);
	if (!ret && c->fast.is_block && f.slow && !opt->offline && known_note(&c->sb, f.user, &opt->tunables)) {
		fence_changed(f.slow);
		ret = initramfs_refresh();
	}
	return ret;
}

static enum xc start_all(const struct options *opt)
{
	enum xc ret = XC_OK, one;
	struct caches all;
	unsigned int n = 0;
	int err = caches_scan(&all);

	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for caches");
	for (size_t i = 0; i < all.n; i++) {
		struct cache *c = &all.v[i];

		if (c->running) {	/* if a kill left it without partitions, asleep, or suspended */
			one = sleep_is_asleep(c->uuid) ? sleep_wake(c->uuid, opt) : partitions_started(c->uuid);
			ret = ret ? ret : one;
			continue;
		}
		n++;
		if (c->err)
			one = complain(XC_DAMAGED, c->fast.path, text_todo("xpcache check %s tells more", text_word(c->fast.path)),
				       "%s", c->message.text);
		else
			one = start_cache(c, opt);
		if (!ret)
			ret = one;
	}
	if (!n)
		printf("no stopped cache found\n");
	caches_free(&all);
	return ret;
}

enum xc start_run(struct options *opt)
{
	struct cache c = { .running = false };
	enum xc ret;

	if (opt->all && (opt->arg || opt->fast || opt->slow || opt->name))
		return complain(XC_USAGE, "--all", "give either",
				"it goes with no name and no device");
	if (opt->boot && (opt->all || opt->arg || opt->fast || opt->slow || opt->name))
		return complain(XC_USAGE, "--boot", "give it alone",
				"it goes with no name, no device and no --all");
	if (opt->wait > 0 && !opt->boot)
		return complain(XC_USAGE, "--wait", "give --boot too", "nothing else waits for devices");
	if ((opt->all || opt->boot) && (opt->discard_dirty || opt->prefer_cache))
		return complain(XC_USAGE, opt->all ? "--all" : "--boot", "name the cache whose disk you have looked at",
				"what is to be lost is said of one cache");
	ret = opt->all || opt->boot ? accept_check_none(opt, "name the cache, after a look at it by xpcache check") : XC_OK;
	if (ret)
		return ret;
	if (geteuid() == 0)
		kernel_sweep();
	if (opt->boot)
		return start_at_boot(opt);
	if (opt->all)
		return start_all(opt);
	if (opt->arg && !opt->fast && sleep_is_asleep(cache_plain_name(opt->arg)))
		return sleep_wake(cache_plain_name(opt->arg), opt);
	ret = replug_end(opt);
	if (!ret)
		ret = caches_find_stopped(opt->arg, opt->fast, opt->slow, &c);
	if (ret && c.running && geteuid() == 0)
		partitions_started(c.uuid);
	return ret ? ret : start_cache(&c, opt);
}
