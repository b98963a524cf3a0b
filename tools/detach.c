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
#include "tools/hibernate/awake.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <stdio.h>

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
	return sleep_check_active(r);
}

/* What is dirty goes back with a bar first: while the device is suspended, or others wait for our lock, nobody is to wait for it. */
enum xc detach_run(struct options *opt)
{
	struct running r;
	enum xc ret = find(opt->arg, &r);

	if (!ret && r.asleep && begun_is_alone(&r)) {
		printf("%s: it is detached already\n", r.name);
		return XC_OK;
	}
	if (!ret && r.asleep)
		return say_asleep(r.name);
	if (!ret)
		ret = check_can_detach(&r);
	if (!ret)
		ret = flush_home(r.name);
	return ret ? ret : sleep_alone(&r);
}

enum xc attach_run(struct options *opt)
{
	struct running r;
	enum xc ret = find(opt->arg, &r);

	if (!ret)
		ret = sleep_check_active(&r);
	if (!ret && !r.asleep) {
		printf("%s: it is attached already\n", r.name);
		return XC_OK;
	}
	return ret ? ret : sleep_wake(r.name, opt);
}
