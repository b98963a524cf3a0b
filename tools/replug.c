// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running cache one of whose devices was pulled out, and is here again, as another device: it has
 * no way to take that back, and start would find it running. So it is stopped first, where nobody uses
 * it, nothing would be lost, and all is there that the start needs.
 */
#include "tools/replug.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/moves.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "lib/uuid.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/stop.h"
#include "core/words.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The one device that holds the cache now; NULL also if there are two. */
static struct cache *the_only(struct caches *all, const char *uuid)
{
	struct cache *found = NULL;

	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(all->v[i].uuid, uuid) != 0 || cache_is_elsewhere(&all->v[i]))
			continue;
		if (found)
			return NULL;
		found = &all->v[i];
	}
	return found && !found->err ? found : NULL;
}

/* As start will ask, once nothing of ours has it. */
static enum xc free_for_start(const char *path)
{
	enum xc ret = XC_OK;
	struct device d;

	if (device_look(&d, path))
		return complain(XC_FAILED, path, NULL, "cannot open the device that is here again");
	ret = claim_check(&d);
	device_close(&d);
	return ret;
}

/* *here: start will find both; then a complaint if it may not have them. */
static enum xc both_here(const struct running *r, bool *here)
{
	bool fast_gone = !device_here(r->fast), slow_gone = !device_here(r->slow);
	char slow[PATH_MAX];
	struct caches all;
	struct cache *c;
	enum xc ret = XC_OK;

	*here = false;
	if (caches_scan(&all))
		return XC_OK;
	c = the_only(&all, r->uuid);
	*here = c && (c->fast.dev != r->fast) == fast_gone && slow_known(c, NULL, slow, sizeof(slow));
	if (*here && fast_gone)
		ret = free_for_start(c->fast.path);
	if (*here && !ret && slow_gone)
		ret = free_for_start(slow);
	caches_free(&all);
	return ret;
}

/* As it was started, with nothing else said. */
static bool is_as_started(const struct running *r)
{
	return *r->uuid && !r->user && !r->asleep && !r->suspended && !r->reloads;
}

/* One that start will take by itself. */
static bool is_for_replug(const char *name, struct running *r)
{
	return running_named(name, r) == 1 && is_as_started(r) && r->fast && r->slow && xp_name_valid(r->name) &&
	       (!device_here(r->fast) || !device_here(r->slow));
}

static enum xc end_locked(struct options *opt)
{
	static char name[sizeof(((struct running *)NULL)->name)], uuid[UUID_HEX];
	const struct options plain = { .arg = opt->arg };
	struct running r;
	enum xc ret;
	bool here;

	if (!is_for_replug(cache_plain_name(opt->arg), &r))
		return XC_OK;
	ret = both_here(&r, &here);
	if (ret || !here)
		return ret;
	ret = stop_locked(r.name, &plain);
	if (ret)
		return ret;
	printf("%s: a device of it was gone, and is here again: it is started anew\n", r.name);
	fflush(stdout);
	snprintf(name, sizeof(name), "%s", r.name);
	snprintf(uuid, sizeof(uuid), "%s", r.uuid);
	opt->arg = uuid;	/* others may have its name */
	opt->name = name;
	return XC_OK;
}

enum xc replug_end(struct options *opt)
{
	struct running r;
	enum xc ret;
	int lock;

	if (!opt->arg || opt->fast || opt->slow || opt->name || opt->engine || opt->ublk || geteuid() != 0 ||
	    !is_for_replug(cache_plain_name(opt->arg), &r))
		return XC_OK;
	lock = sleep_lock();
	ret = end_locked(opt);
	if (lock >= 0)
		close(lock);
	return ret;
}
