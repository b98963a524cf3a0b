// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_guard.c - may a benchmark destroy what is on this device?
 *
 * Never if anybody holds it, nor if it is half of a cache that would lose blocks; it is
 * opened exclusively from then on. Else a person is asked three times, in words that cannot
 * be typed by habit, --force or not. Where there is no terminal to ask on, --destructive
 * needs --force with it.
 */
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/offline.h"
#include "lib/signature.h"
#include "lib/sysfs.h"
#include "tools/bench/bench.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool answered(const char *question, const char *wanted)
{
	char line[PATH_MAX];

	fprintf(stderr, "%s ", question);
	fflush(stderr);
	if (!fgets(line, sizeof(line), stdin))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return !strcmp(line, wanted);
}

static bool asked_thrice(const struct device *d, const char *holds)
{
	char question[2 * PATH_MAX];

	fprintf(stderr, "%s, %s, holds: %s.\nThe benchmark overwrites it with random data; nothing can bring it back.\n",
		d->path, text_bytes(d->sectors << XP_SECTOR_SHIFT), *holds ? holds : "nothing that is known");
	if (!answered("1 of 3: is that what you want? Type yes:", "yes"))
		return false;
	snprintf(question, sizeof(question), "2 of 3: which device is to be destroyed? Type %s:", d->path);
	return answered(question, d->path) &&
	       answered("3 of 3: all that is on it will be lost. Type destroy:", "destroy");
}

/* A running cache shows what its slow device holds. */
static bool is_running_cache(const struct device *d)
{
	char uuid[64];

	return d->is_block && sysfs_read(d->kname, "dm/uuid", uuid, sizeof(uuid)) &&
	       !strncmp(uuid, "XPCACHE-", 8);
}

struct content {
	const struct device *of;	/* itself, and each of its partitions */
	char *holds;
	size_t len;
	enum xc ret;
};

/* Half of a cache at rest: what is dirty exists nowhere else, --force or not. */
static enum xc check_cache(const struct device *d, struct content *all)
{
	size_t have = strlen(all->holds);
	struct cache_there c;

	if (!cache_look(d, &c))
		return caches_check_slow(d, d->dev);
	if (!c.known)
		return complain(XC_REFUSED, d->path, "xpcache check tells more",
				"it is %s, and how many dirty blocks it has cannot be told", c.what);
	if (c.dirty)
		return complain(XC_REFUSED, d->path, "xpcache start and remove save them",
				"it is %s with %s dirty", c.what, text_blocks(c.dirty));
	snprintf(all->holds + have, all->len - have, "%s%s", have ? ", " : "", c.what);
	return XC_OK;
}

static int check_partition(const char *kname, void *ctx)
{
	struct content *all = ctx;
	char path[PATH_MAX];
	struct device d;

	device_node(kname, path, sizeof(path));
	if (device_look(&d, path))
		return 0;
	if (d.partition && d.disk == all->of->dev)
		all->ret = check_cache(&d, all);
	device_close(&d);
	return all->ret != XC_OK;
}

static enum xc check_caches(const struct device *d, char *holds, size_t len)
{
	struct content all = { .of = d, .holds = holds, .len = len };
	int err;

	if (is_running_cache(d))
		return XC_OK;
	all.ret = check_cache(d, &all);
	if (all.ret || !d->is_block)
		return all.ret;
	err = device_each(check_partition, &all);
	return err < 0 ? complain_errno(err, d->path, "cannot look at its partitions") : all.ret;
}

/* So that what is asked about stays so. */
static enum xc own(struct device *d)
{
	enum xc ret = claim_check(d);

	if (!ret)
		ret = claim_closed(d);
	return ret ? ret : device_reopen(d, DEVICE_OWN);
}

enum xc bench_guard(struct bench_target *t, bool force)
{
	bool asks = isatty(STDIN_FILENO);
	char holds[512];
	enum xc ret;

	if (t->dev.remote)
		return complain(XC_REFUSED, t->dev.path, "leave --destructive out", "of a remote device only reads are measured");
	ret = own(&t->dev);
	if (ret)
		return ret;
	signature_list(t->dev.fd, 0, holds, sizeof(holds));
	ret = check_caches(&t->dev, holds, sizeof(holds));
	if (ret)
		return ret;
	if (!force && !asks)
		return complain(XC_REFUSED, t->dev.path, "on a terminal it asks; else give --force as well",
				"--destructive would overwrite it%s%s", *holds ? ", and it holds: " : "", holds);
	if (asks && !asked_thrice(&t->dev, holds))
		return complain(XC_REFUSED, t->dev.path, "nothing was written", "not destroyed");
	t->writable = true;
	return XC_OK;
}
