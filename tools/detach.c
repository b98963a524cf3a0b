// SPDX-License-Identifier: GPL-2.0-only
/*
 * detach, attach: the device of a running cache leads to the slow device alone, and back, while programs have it open.
 *
 * It is what a hibernation does (tools/hibernate/sleep.c says why nothing is lost), but for the note of who sleeps: nobody
 * else has to wake. A hibernation leaves it as it is.
 */
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/flushing.h"
#include "lib/kernel.h"
#include "lib/running.h"
#include "tools/hibernate/asleep.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static enum xc find(const char *name, struct running *r)
{
	enum xc ret = caches_find_running(name, r);

	return ret ? ret : sleep_mend(r);
}

static enum xc check_can_detach(const struct running *r)
{
	if (r->user)
		return complain(XC_REFUSED, r->name, text_todo("xpcache remove %s, and use the slow device itself", r->name),
				"its clients talk to xpcached, and nothing can lead them elsewhere");
	if (r->suspended || r->reloads)
		return complain(XC_REFUSED, r->name, text_todo("dmsetup clear %s, then dmsetup resume %s", r->name, r->name),
				"another program has suspended it, or loaded a table for it");
	return XC_OK;
}

/* What is dirty goes back with a bar first: while the device is suspended nobody is to wait for it. */
static enum xc lead_away(const struct running *r)
{
	struct drowsy d = { .r = *r, .alone = true };
	enum xc ret = flush_home(r->name);

	if (!ret)
		ret = fall_asleep(&d, INFINITY);
	if (ret && !d.turned)
		begun_forget(r);
	return ret;
}

static enum xc detach(const char *name)
{
	struct running r;
	enum xc ret = find(name, &r);

	if (!ret && r.asleep && begun_is_alone(&r)) {
		printf("%s: it is detached already\n", r.name);
		return XC_OK;
	}
	if (!ret && r.asleep)
		return say_asleep(r.name);
	if (!ret)
		ret = check_can_detach(&r);
	return ret ? ret : lead_away(&r);
}

enum xc detach_run(struct options *opt)
{
	int lock = sleep_lock();
	enum xc ret = detach(opt->arg);

	if (lock >= 0)
		close(lock);
	return ret;
}

enum xc attach_run(struct options *opt)
{
	struct running r;
	enum xc ret = find(opt->arg, &r);

	if (!ret && !r.asleep) {
		printf("%s: it is attached already\n", r.name);
		return XC_OK;
	}
	return ret ? ret : sleep_wake(r.name, opt);
}
