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
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/remote.h"
#include "lib/room.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/slow_find.h"
#include "lib/ublk_client.h"
#include "lib/user.h"
#include "tools/format.h"
#include "tools/guard/accept.h"
#include "tools/guard/behind.h"
#include "tools/guard/mark.h"
#include "tools/guard/slow_named.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/replug.h"
#include "tools/resize.h"
#include "tools/rules.h"
#include "tools/verbs.h"
#include "core/move.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* ------------------------------------------------------------ starting ---- */

/* What fstab names is there by the kernel's engine alone, and the next boot would not start another's. */
static bool is_noted_for_boot(const char *uuid)
{
	struct known k;

	return geteuid() == 0 && known_find(uuid, &k) == 1 && k.start != START_NOT && k.start != START_GONE;
}

/* One start, on its way through the steps. */
struct start {
	struct cache *c;
	const struct options *opt;
	struct options marked;	/* the same, and what this start adds */
	const char *name;
	struct device slow;
	dev_t found;		/* of the slow device; 0: it was not found, or is no device */
	u64 doubt;		/* of mark_prepare() */
	bool user;		/* the engine */
};

/* Check and dump may read what has these; a running cache writes. */
static enum xc check_features(struct start *s)
{
	const struct cache *c = s->c;
	u64 unknown = le64_to_cpu(c->sb.ro_compat) & ~XP_RO_COMPAT_KNOWN;

	if (!unknown)
		return XC_OK;
	return complain(XC_DAMAGED, c->fast.path, "use the version of xpcache that made it, or a newer one",
			"features this version may read but not write, bits 0x%" PRIx64, unknown);
}

/*
 * A sparse file, of an older version or a copy that left out zeros, gets its room now. If there is none, the cache would
 * take writes until the file system is full, and then fail at once and for good; refused before that nothing is lost, and
 * what is dirty can still be written back. For that alone (--offline) the metadata's room is enough.
 */
static enum xc take_room(struct start *s)
{
	const struct options *opt = s->opt;
	const struct cache *c = s->c;
	const char *todo;
	struct device d;
	enum xc ret;

	if (!s->user)
		return XC_OK;
	ret = device_open(&d, c->fast.path, true);
	if (ret || d.is_block || room_is_memory(d.fd) || (opt->force && !opt->offline)) {
		device_close(&d);
		return ret;
	}
	todo = text_todo("make room there; --force starts it all the same; xpcache flush --offline %s needs less", text_devices(c->fast.path, s->slow.path));
	ret = room_fill(&d, le64_to_cpu(opt->offline ? c->sb.data_start : c->sb.fast_blocks) << XP_BLOCK_SHIFT,
			opt->offline ? "make room there, or give --rescue, which needs none" : todo);
	device_close(&d);
	return ret;
}

static enum xc take_format(struct start *s)
{
	return format_convert(s->c, s->opt);
}

/* The engine's part: it notes the size of the slow device as it is. */
static enum xc start_engine(struct start *s)
{
	const struct user_start how = user_start_of(&s->marked);
	struct cache *c = s->c;
	u64 was = le64_to_cpu(c->sb.slow.sectors);
	enum xc ret;

	c->sb.slow.sectors = cpu_to_le64(s->slow.sectors);
	signals_hold();
	ret = s->user ? user_create(s->name, c->fast.path, s->slow.path, &how) :
			kernel_create(&c->sb, s->name, &c->fast, &s->slow, &how.tunables);
	if (!ret && !s->user)
		partitions_started(c->uuid);
	signals_release();
	if (!ret)
		known_take_size(c->uuid, s->name, s->slow.path, s->slow.sectors, was);
	return ret;
}

static enum xc say_started(struct start *s)
{
	struct running r = { .user = s->user };
	char node[512];

	if (s->opt->offline)
		return XC_OK;
	snprintf(r.name, sizeof(r.name), "%s", s->name);
	if (s->user)
		user_find(s->name, NULL, &r);	/* its block device */
	running_node(&r, node, sizeof(node));
	printf("%s: started, %s before %s: %s\n", s->name, s->c->fast.path, s->slow.path, node);
	fast_tell_grown(s->c, s->name, s->slow.path);
	return XC_OK;
}

static enum xc complete_move(struct start *s)
{
	return cache_arrive(s->c);
}

static enum xc check_name(struct start *s)
{
	return cache_check_name(s->name);
}

static enum xc choose_engine(struct start *s)
{
	const struct options *opt = s->opt;
	enum xc ret;

	if (!opt->engine && !opt->ublk && !opt->offline && s->c->fast.is_block && is_noted_for_boot(s->c->uuid))
		s->marked.engine = "kernel";
	ret = engine_choose(s->marked.engine, opt->ublk, s->c->fast.path, opt->slow, &s->user);
	if (!ret && !s->user && !s->c->fast.is_block)
		ret = complain(XC_USAGE, s->c->fast.path, "--engine user runs it", "not a block device");
	return ret;
}

static enum xc check_ublk(struct start *s)
{
	return s->opt->ublk ? ublk_ready() : XC_OK;
}

static enum xc check_fast_free(struct start *s)
{
	enum xc ret = claim_kind(&s->c->fast);

	return ret ? ret : claim_check(&s->c->fast);
}

static enum xc check_name_free(struct start *s)
{
	if (!running_has_name(s->name))
		return XC_OK;
	return complain(XC_REFUSED, s->name, "start it under another by --name NAME",
			"another device has this name");
}

static enum xc find_slow(struct start *s)
{
	enum xc ret = s->opt->slow ? slow_named(s->c, s->opt, s->user, &s->slow) : slow_find(s->c, &s->slow);

	if (!ret && s->slow.is_block)
		s->found = s->slow.dev;
	return ret;
}

/* The engine is the next to open it. */
static enum xc check_slow_free(struct start *s)
{
	enum xc ret = slow_check_free(&s->c->fast, &s->slow);

	if (!ret)
		ret = remote_check_free(s->slow.path);
	device_close(&s->slow);
	return ret;
}

static enum xc check_slow_fits(struct start *s)
{
	return slow_fits(s->c, &s->slow, s->opt);
}

static enum xc check_no_image(struct start *s)
{
	return sleep_no_image(s->c, s->found, s->opt);
}

static enum xc check_kernel(struct start *s)
{
	return s->user ? XC_OK : kernel_ready();
}

static enum xc set_limits(struct start *s)
{
	if (!s->marked.tuned)
		known_limits(s->c->uuid, &s->marked.tunables);
	if (s->opt->offline && le64_to_cpu(s->c->sb.incompat) & XP_INCOMPAT_SUMS)
		s->marked.tunables.verify = 1;	/* what it brings home shall be what was written */
	return XC_OK;
}

static enum xc check_passed(struct start *s)
{
	behind_note_first(s->c, s->slow.path);
	return mark_prepare(s->name, s->c->fast.path, s->slow.path, s->opt, &s->marked.tunables, &s->doubt);
}

static enum xc check_behind(struct start *s)
{
	return behind_check(s->c, s->slow.path, s->opt, s->doubt);
}

static enum xc check_losses(struct start *s)
{
	return accept_losses(s->c, s->slow.path, s->opt);
}

/* In this order a start is refused. */
static enum xc (*const steps[])(struct start *) = {
	check_name,
	complete_move,
	choose_engine,
	check_ublk,
	check_features,
	check_fast_free,
	check_name_free,
	find_slow,
	check_slow_free,
	check_slow_fits,
	check_no_image,
	check_kernel,
	set_limits,
	check_passed,
	check_behind,
	check_losses,
	take_room,
	take_format,
	start_engine,
	say_started,
};

static enum xc start_it(struct start *s)
{
	enum xc ret = XC_OK;

	for (size_t i = 0; !ret && i < sizeof(steps) / sizeof(*steps); i++)
		ret = steps[i](s);
	device_close(&s->slow);
	return ret;
}

enum xc start_cache(struct cache *c, const struct options *opt)
{
	int lock = known_lock(c->uuid, true);
	dev_t kept = fence_lift(c->uuid);
	struct start s = { .c = c, .opt = opt, .marked = *opt, .name = opt->name ? opt->name : c->name, .slow.fd = -1 };
	enum xc ret = start_it(&s);

	if (ret)
		fence_again(c->uuid, s.found ? s.found : kept, lock);
	else
		known_unlock(lock);
	if (!ret && c->fast.is_block && s.found && !opt->offline && known_note(&c->sb, s.user, &opt->tunables)) {
		fence_changed(s.found);
		ret = initramfs_refresh();
	}
	return ret;
}

/* One that runs, if a kill left it without partitions, asleep, or suspended. */
static enum xc start_again(const char *uuid, const struct options *opt)
{
	if (sleep_is_for_start(uuid))
		return sleep_wake(uuid, opt);
	return sleep_is_asleep(uuid) ? XC_OK : partitions_started(uuid);
}

static enum xc start_stopped(struct cache *c, const struct options *opt)
{
	if (!c->err)
		return start_cache(c, opt);
	return complain(XC_DAMAGED, c->fast.path,
			cache_is_elsewhere(c) ? move_advice(c) : text_todo("xpcache check %s tells more", text_word(c->fast.path)),
			"%s", c->message.text);
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

		if (c->running) {
			one = start_again(c->uuid, opt);
			ret = ret ? ret : one;
			continue;
		}
		if (c->left_over)
			continue;
		n++;
		one = start_stopped(c, opt);
		if (!cache_is_elsewhere(c) || xp_move_is_coming(&c->sb))	/* else it is another device that is missing */
			ret = ret ? ret : one;
	}
	if (!n)
		printf("no stopped cache found\n");
	caches_free(&all);
	return ret;
}

static const struct rule rules[] = {
	{ GIVEN_ALL, GIVEN_ARG | GIVEN_FAST | GIVEN_SLOW | GIVEN_NAME, 0,
	  "--all", "give either", "it goes with no name and no device" },
	{ GIVEN_BOOT, GIVEN_ALL | GIVEN_ARG | GIVEN_FAST | GIVEN_SLOW | GIVEN_NAME, 0,
	  "--boot", "give it alone", "it goes with no name, no device and no --all" },
	{ GIVEN_WAIT, 0, GIVEN_BOOT,
	  "--wait", "give --boot too", "nothing else waits for devices" },
	{ GIVEN_ALL, GIVEN_DISCARD | GIVEN_PREFER, 0,
	  "--all", "name the cache whose disk you have looked at", "what is to be lost is said of one cache" },
	{ GIVEN_BOOT, GIVEN_DISCARD | GIVEN_PREFER, 0,
	  "--boot", "name the cache whose disk you have looked at", "what is to be lost is said of one cache" },
};

static enum xc check_words(const struct options *opt)
{
	enum xc ret = rules_check(rules, sizeof(rules) / sizeof(*rules), opt);

	if (!ret && (opt->all || opt->boot))
		ret = accept_check_none(opt, "name the cache, after a look at it by xpcache check");
	return ret;
}

static enum xc start_named(struct options *opt)
{
	struct cache c = { .running = false };
	enum xc ret = replug_end(opt);

	if (!ret)
		ret = caches_find_stopped(opt->arg, opt->fast, opt->slow, &c);
	if (ret && c.running && geteuid() == 0 && !sleep_is_asleep(c.uuid))
		partitions_started(c.uuid);
	return ret ? ret : start_cache(&c, opt);
}

static enum xc start_detached(const char *name, const struct options *opt)
{
	if (opt->slow || opt->name || opt->engine || opt->ublk)
		return complain(XC_USAGE, name, text_todo("give the name alone; or xpcache stop %s first", text_word(name)),
				"it is detached, and keeps its name, its slow device and its engine");
	return sleep_wake(name, opt);
}

enum xc start_run(struct options *opt)
{
	enum xc ret = check_words(opt);

	if (ret)
		return ret;
	if (geteuid() == 0)
		kernel_sweep();
	if (opt->boot)
		return start_at_boot(opt);
	if (opt->all)
		return start_all(opt);
	if (opt->arg && !opt->fast && sleep_is_asleep(cache_plain_name(opt->arg)))
		return start_detached(cache_plain_name(opt->arg), opt);
	return start_named(opt);
}
