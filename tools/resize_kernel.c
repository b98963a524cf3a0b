// SPDX-License-Identifier: GPL-2.0-only
/*
 * resize_kernel.c - a cache of the kernel's engine, while it runs, takes its slow device as long as it is.
 *
 * Its device gets the table that it has, with the new length, while it is suspended for a moment: requests wait. The resume
 * is a start of that table (dm-target/lifecycle.c), so whoever is cut off here has a cache as after any power cut.
 */
#include "tools/resize.h"
#include "lib/begun.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "tools/hibernate/turn.h"
#include "platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A start of the new table that has failed is tried again. */
static enum xc check_alone(const struct running *r)
{
	bool again = r->suspended && kernel_is_loading(r->name);

	if (r->asleep)
		return say_asleep(r->name);
	if (!r->reloads && (!r->suspended || again))
		return XC_OK;
	return complain(XC_REFUSED, r->name, text_todo("dmsetup clear %s && dmsetup resume %s", r->name, r->name),
			"another program has suspended it, or loaded a table for it");
}

/* What the engine says of a start that fails is in the kernel's log. */
static enum xc say_waits(const struct running *r, int err, const char *why)
{
	return complain(XC_FAILED, r->name, text_todo("all that uses it waits; xpcache resize %s tries again", r->name),
			"cannot go on with the new size: %s", *why ? why : strerror(-err));
}

static enum xc say_as_before(const struct running *r, int err, const char *what)
{
	return complain(XC_FAILED, r->name, "it goes on with the size that it had", "cannot %s: %s", what, strerror(-err));
}

/* With all of this program in memory: what it lies on may be the cache. */
static enum xc turn(const struct running *r, u64 sectors)
{
	int err = kernel_load_longer(r->name, sectors), kmsg;
	char why[512] = "";

	if (err)
		return say_as_before(r, err, "load a table of the new size");
	err = r->suspended ? 0 : turn_suspend(r->name);
	if (err) {
		kernel_clear(r->name);
		return say_as_before(r, err, "suspend it");
	}
	kmsg = kernel_log_open();
	err = kernel_resume(r->name);
	kernel_log_reason(kmsg, why, sizeof(why));
	return err ? say_waits(r, err, why) : XC_OK;
}

static enum xc turn_locked(const struct running *r, u64 sectors)
{
	int err = memory_stay(), lock;
	enum xc ret;

	if (err) {
		memory_leave();
		return say_as_before(r, err, "keep this program in memory");
	}
	lock = kernel_lock();
	ret = lock < 0 ? say_as_before(r, -EBUSY, "keep others away from it") : turn(r, sectors);
	memory_leave();
	if (lock >= 0)
		kernel_unlock(lock);
	return ret;
}

enum xc resize_in_kernel(const struct running *r, const struct device *slow)
{
	enum xc ret = check_alone(r);

	if (ret)
		return ret;
	signals_hold();
	ret = turn_locked(r, slow->sectors);
	if (!ret)
		ret = partitions_started(r->uuid);
	signals_release();
	return ret;
}
