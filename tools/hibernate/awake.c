// SPDX-License-Identifier: GPL-2.0-only
/*
 * awake.c - one cache wakes: its device leads to the cache again, which begins with nothing. And what
 * a killed hibernate has left is mended.
 */
#include "tools/hibernate/awake.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/memory.h"
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/sysfs.h"
#include "tools/guard/mark.h"
#include "tools/hibernate/sleep_note.h"
#include "tools/hibernate/turn.h"
#include "tools/options.h"
#include "core/life.h"
#include "core/rest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ------------------------------------------------------------------ awake ---- */

/* Whichever device holds it now. */
static enum xc find_fast(const struct running *r, struct cache *c)
{
	struct caches all;
	u32 n = 0;
	int err = caches_scan(&all);

	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for its fast device");
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].err && !strcmp(all.v[i].uuid, r->uuid)) {
			*c = all.v[i];
			n++;
		}
	caches_free(&all);
	if (n == 1)
		return cache_arrive(c);
	if (n)
		return complain(XC_REFUSED, r->name, text_todo("take the copy away, then %s", begun_way_back(r)),
				"%u devices hold it; it stays detached", n);
	return complain(XC_NOT_FOUND, r->name,
			text_todo("connect it, then %s; if it is lost, end what uses the cache, then xpcache stop %s, and xpcache forget %s",
				  begun_way_back(r), text_word(r->name), text_word(r->name)),
			"its fast device is not here; it stays detached");
}

static bool end_by_note(const struct offline *o, struct xp_end *end)
{
	struct xp_sleep note;

	for (u32 i = 0; i < XP_SLEEP_NOTES; i++)
		if (sleep_note_read(&o->media.io, &o->sb, i, &note) > 0 &&
		    sleep_note_holds(&o->media.io, &o->sb, &note)) {
			end->seq = le64_to_cpu(note.seq);
			end->incarnation = le64_to_cpu(note.incarnation);
			return true;
		}
	return false;
}

/* The end of its journal, if it has nothing. -ESTALE: it has. */
int end_of_empty(const struct device *fast, struct xp_end *end)
{
	struct offline o;
	int err = offline_open(&o, fast);

	if (!err && !end_by_note(&o, end)) {
		err = offline_load(&o);
		if (!err && (o.stats.clean || o.stats.dirty))
			err = -ESTALE;
		end->seq = o.stats.seq;
		end->incarnation = o.stats.incarnation;
	}
	offline_close(&o);
	return err;
}

/* With the fast device ours by the table that is loaded. */
static int check_empty(dev_t dev)
{
	struct device fast;
	struct xp_end end;
	int err = device_look_at(&fast, dev);

	if (err)
		return err;
	err = end_of_empty(&fast, &end);
	device_close(&fast);
	return err;
}

/* ------------------------------------------------------------------ mend ---- */

/* A first resume that failed, or one that nobody was left to ask for. */
static int resume_never_started(const struct running *r)
{
	int err = check_empty(r->fast);

	return err ? err : turn_resume_alone(r);
}

static bool is_left_behind(const struct running *r)
{
	return r->suspended || (r->reloads && (r->asleep || kernel_loads_linear(r->name)));
}

/* What a killed one has left: it goes on as it is. */
static int mend_alone(struct running *r)
{
	int err;

	if (kernel_find(r->name, NULL, r) != 1)
		return -ENXIO;
	if (!is_left_behind(r))
		return 0;
	err = r->suspended ? turn_resume_as_it_is(r->name) : kernel_clear(r->name);
	if (err && r->suspended && !r->asleep && kernel_is_loading(r->name))
		err = resume_never_started(r);
	if (!err)
		kernel_find(r->name, NULL, r);
	return err;
}

enum xc sleep_mend(struct running *r)
{
	int lock, err;

	if (r->user || !begun_turns(r))
		return XC_OK;
	lock = kernel_lock();
	err = mend_alone(r);
	turn_is_over(r);
	kernel_unlock(lock);
	return err && err != -ENXIO ? complain_errno(err, r->name, "cannot resume it") : XC_OK;
}

/* With the lock. One that is suspended still keeps whoever looks for a disk waiting: then none is woken. */
enum xc mend_all(struct running *list, size_t n)
{
	enum xc ret = XC_OK, one;

	for (size_t i = 0; i < n; i++) {
		one = sleep_mend(&list[i]);
		if (!one && !list[i].asleep && !list[i].suspended)
			begun_forget(&list[i]);
		ret = ret ? ret : one;
	}
	return ret;
}

/* The kernel takes it while the device is suspended, and could not make room by writing there. */
static int check_memory(const struct xp_sb *sb)
{
	u64 need = xp_memory(sb, true) + xp_recover_memory(sb);
	struct memory m;

	memory_look(&m);
	return m.available && m.available < need + need / 4 + m.unwritten ? -ENOMEM : 0;
}

/* Whatever table it has come to, it goes on by it. */
static void turn_undo(const struct running *r)
{
	struct running now;

	if (kernel_find(r->name, NULL, &now) != 1)
		return;
	if (now.suspended && !now.asleep)
		turn_resume_alone(r);	/* the cache's table is live, and could not be resumed */
	else if (now.suspended || now.reloads)
		turn_resume_as_it_is(r->name);
}

static int turn_back(const struct running *r, const struct cache *c, const struct options *opt)
{
	int err = check_memory(&c->sb);

	if (!err)
		err = kernel_load_cache(r, &c->fast, &opt->tunables);
	if (!err)
		err = check_empty(c->fast.dev);
	if (!err)
		err = memory_stay();
	if (!err)
		err = turn_suspend(r->name);
	if (!err)
		err = kernel_resume(r->name);
	if (err)
		turn_undo(r);
	return err;
}

static int turn_back_alone(const struct running *r, const struct cache *c, const struct options *opt)
{
	struct running now;
	int lock = kernel_lock(), err = 0;

	if (lock < 0 || kernel_find(r->name, NULL, &now) != 1 || !now.asleep || now.suspended)
		err = -EBUSY;
	if (!err)
		err = begun_turn(r);
	if (!err)
		err = turn_back(r, c, opt);
	turn_is_over(r);
	memory_leave();
	kernel_unlock(lock);
	return err;
}

enum xc say_not_awake(const struct running *r, const struct cache *c, int err)
{
	if (err == -ENOMEM)
		return complain(XC_FAILED, r->name, text_todo("end what takes it, then %s", begun_way_back(r)),
				"there is not enough memory for its map; it stays detached");
	if (err == -ESTALE)
		return complain(XC_REFUSED, r->name,
				text_todo("it stays detached; end what uses it, then xpcache stop %s, and xpcache start %s, which asks what is to be kept",
					  text_word(r->name), text_word(r->name)),
				"%s has been used without this machine since it was detached", c->fast.path);
	return complain(XC_FAILED, r->name,
			"it stays detached; dmesg may tell more: if the slow device could not be flushed, what was written there lately may be lost",
			"cannot reattach it: %s", strerror(-err));
}

/*
 * Whoever was put over it while the disk below had no cache of its own to flush passes no FLUSH on, and
 * the cache needs them.
 */
static int passes_no_flush(const char *kname, void *ctx)
{
	char text[64], node[PATH_MAX];

	if (sysfs_read(kname, "queue/write_cache", text, sizeof(text)) && !strcmp(text, "write through")) {
		device_node(kname, node, sizeof(node));
		snprintf(ctx, PATH_MAX, "%s", node);
		return 1;
	}
	return device_each_above(kname, passes_no_flush, ctx);
}

static enum xc check_above(const struct running *r)
{
	char kname[64], node[PATH_MAX];

	if (!device_kname(r->dev, kname, sizeof(kname)) || !device_each_above(kname, passes_no_flush, node))
		return XC_OK;
	return complain(XC_REFUSED, r->name, text_todo("take that apart, then %s", begun_way_back(r)),
			"%s was made over it while it was detached, and passes no flush on; it stays detached", node);
}

/* As start does, the new table takes the slow device as long as it is. */
static enum xc take_size(struct running *r)
{
	struct device slow;
	int err = device_look_at(&slow, r->slow);

	if (err)
		return complain_errno(err, r->slow_path, "cannot tell its size");
	device_close(&slow);
	if (slow.sectors < r->sectors)
		return complain(XC_REFUSED, r->slow_path,
				text_todo("make it as long as it was, then %s; or end what uses the cache, then xpcache stop %s, and xpcache start %s",
					  begun_way_back(r), text_word(r->name), text_word(r->name)),
				"it has %" PRIu64 " sectors, and had %" PRIu64 "; %s stays detached", slow.sectors, r->sectors, r->name);
	r->sectors = slow.sectors;
	return XC_OK;
}

enum xc wake_check(const struct running *r, const struct xp_sb *sb)
{
	struct running grown = *r;
	enum xc ret = take_size(&grown);

	if (!ret)
		ret = check_above(r);
	if (!ret && check_memory(sb))
		ret = say_not_awake(r, NULL, -ENOMEM);
	return ret;
}

enum xc wake(const struct running *r, const struct options *opt)
{
	struct options tuned = *opt;
	struct running named = *r;
	struct cache c = { .err = 0 };
	u64 doubt;	/* of what it holds: nothing */
	enum xc ret = find_fast(r, &c);
	int err;

	running_paths(&named);
	if (!tuned.tuned)
		known_limits(r->uuid, &tuned.tunables);
	if (!opt->tuned)
		begun_tunables(r, &tuned.tunables);
	if (!ret)
		ret = take_size(&named);
	if (!ret)
		ret = check_above(r);
	if (!ret)
		ret = kernel_ready();
	if (!ret)
		ret = mark_prepare(r->name, c.fast.path, named.slow_path, opt, &tuned.tunables, &doubt);
	if (ret)
		return ret;
	signals_hold();
	err = turn_back_alone(&named, &c, &tuned);
	if (!err) {
		begun_forget(r);
		partitions_started(r->uuid);
	}
	signals_release();
	if (err)
		return say_not_awake(r, &c, err);
	sleep_notes_settle(&c, r->slow);
	known_take_size(r->uuid, r->name, named.slow_path, named.sectors, r->sectors);
	printf("%s: reattached, %s before %s; it begins with nothing\n", r->name, c.fast.path, named.slow_path);
	return XC_OK;
}
