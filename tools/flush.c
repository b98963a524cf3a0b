// SPDX-License-Identifier: GPL-2.0-only
/* flush: every dirty block goes home, of a cache that runs or of one at rest. */
#include "tools/flush.h"
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/flushing.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/status.h"
#include "tools/check/rescue.h"
#include "tools/guard/accept.h"
#include "tools/guard/fingerprint.h"
#include "tools/hibernate/awake.h"
#include "tools/options.h"
#include "tools/rules.h"
#include "tools/start.h"
#include "tools/verbs.h"
#include "platform.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whatever ends us, it does not run on. *@seq: of its journal at the end; 0: it did not rest in order. */
static enum xc start_and_bring_home(struct cache *c, const struct options *opt, u64 *seq, struct running *r)
{
	enum xc ret = start_cache(c, opt), stopped;
	struct status s;

	*seq = 0;
	if (ret)
		return ret;
	ret = flush_to_end(c->name);
	if (running_find(c->name, NULL, r) == 1 && !status_read(c->name, &s))
		*seq = status_number(&s, "seq");
	stopped = running_remove(c->name, false);
	if (stopped)
		*seq = 0;
	return ret ? ret : stopped;
}

/* Nobody but us uses it meanwhile. */
enum xc flush_stopped(struct cache *c, const struct options *opt)
{
	struct options offline = *opt;
	struct sigaction was[NR_CAUGHT];
	struct running r = { 0 };
	struct stat st;
	enum xc ret;
	u64 seq;

	offline.engine = "user";
	offline.offline = true;
	signals_catch(was);
	ret = start_and_bring_home(c, &offline, &seq, &r);
	signals_let(was);
	if (seq)
		fingerprint_at_rest(r.fast_path, r.slow_path, seq);
	if (!stat(r.slow_path, &st) && S_ISBLK(st.st_mode))
		fence_changed(st.st_rdev);	/* the start has let go of it */
	return ret;
}

static enum xc flush_offline(const struct options *opt)
{
	struct cache c;
	enum xc ret;

	if (!opt->fast || opt->arg)
		return complain(XC_USAGE, opt->arg ? opt->arg : "--fast",
				opt->fast ? text_todo("xpcache flush --offline %s", text_devices(opt->fast, opt->slow)) :
					    "xpcache flush --offline --fast DEV --slow DEV",
				opt->arg ? "the devices say which" : "the fast device is missing");
	if (opt->rescue)
		return rescue_run(opt);
	ret = caches_find_stopped(NULL, opt->fast, opt->slow, &c);
	if (!ret)
		ret = flush_stopped(&c, opt);
	if (!ret)
		printf("%s: every block is written back, the slow device is complete; it does not run\n", c.name);
	return ret;
}

/* Somebody may go on writing. */
static void tell(const char *name)
{
	struct status s;

	if (status_read(name, &s) || status_number(&s, "slow_complete"))
		printf("%s: every block is written back, the slow device is complete\n", name);
	else
		printf("%s: every block was written back; %s have been written since\n", name,
		       text_blocks(status_number(&s, "dirty")));
}

static enum xc flush_named(const char *name)
{
	struct running r;
	enum xc ret = caches_find_running(name, &r);

	if (!ret)
		ret = sleep_mend(&r);
	if (!ret && r.asleep) {
		printf("%s: nothing is dirty: it is detached\n", r.name);
		return XC_OK;
	}
	if (!ret)
		ret = flush_home(r.name);
	if (!ret)
		tell(r.name);
	return ret;
}

/* The boot loader reads the disk below the cache: what it is to find there must be home. */
static enum xc flush_boot(void)
{
	struct known *list;
	size_t n = known_all(&list);
	enum xc ret = XC_OK, one;
	struct running r;

	for (size_t i = 0; i < n; i++) {
		if (list[i].start == START_NOT || list[i].start == START_GONE || running_find(NULL, list[i].uuid, &r) != 1)
			continue;
		one = flush_named(r.name);
		ret = ret ? ret : one;
	}
	free(list);
	return ret;
}

static const struct rule rules[] = {
	{ GIVEN_RESCUE, 0, GIVEN_OFFLINE,
	  "--rescue", "give --offline too", "it is for a cache that does not run" },
	{ GIVEN_JSON, 0, GIVEN_RESCUE,
	  "--json", "give --rescue too", "only a rescue has figures" },
	{ GIVEN_FAST_SIZE, 0, GIVEN_RESCUE,
	  "--fast-size", "leave it out, or give --rescue", "the superblock says it" },
	{ GIVEN_FAST, 0, GIVEN_OFFLINE,
	  "--fast", "give --offline too", "a running cache has a name" },
	{ GIVEN_SLOW, 0, GIVEN_OFFLINE,
	  "--slow", "give --offline too", "a running cache has a name" },
	{ GIVEN_PREFER, 0, GIVEN_OFFLINE,
	  "--prefer-cache", "give --offline too", "that is asked when a stopped cache starts" },
	{ GIVEN_DISCARD, 0, GIVEN_OFFLINE,
	  "--discard-dirty", "give --offline too", "that is asked when a stopped cache starts" },
	{ GIVEN_BOOT, GIVEN_ARG, GIVEN_OFFLINE,
	  "--boot", "give it alone", "it goes with no name" },
	{ GIVEN_ANY, 0, GIVEN_ARG | GIVEN_BOOT | GIVEN_OFFLINE,
	  "flush", "xpcache list shows all", "the name is missing" },
};

enum xc flush_run(struct options *opt)
{
	enum xc ret = opt->offline ? XC_OK : accept_check_none(opt, "give --offline too");

	if (!ret)
		ret = rules_check(rules, sizeof(rules) / sizeof(*rules), opt);
	if (ret)
		return ret;
	if (opt->offline)
		return flush_offline(opt);
	return opt->boot ? flush_boot() : flush_named(opt->arg);
}
