// SPDX-License-Identifier: GPL-2.0-only
/* bench_target.c - a device that is measured, and what of it. */
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/remote.h"
#include "tools/bench/bench.h"
#include "core/block.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *role_of(enum bench_leg leg)
{
	static const char *const role[] = { "device", "slow", "cached", "fast" };

	return role[leg];
}

static void label_it(struct bench_target *t)
{
	static const char *const label[] = { NULL, "Without cache", "With xpcache", "Fast drive" };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", t->dev.path);
	snprintf(t->label, sizeof(t->label), "%.63s", label[t->leg] ? label[t->leg] : basename(path));
}

/* A file takes no smaller direct requests than the device that it is on, if that can be told. */
static void learn_alignment(struct device *d)
{
	d->logical = max(d->logical, device_direct_align(d));
}

enum xc bench_target_open(struct bench_target *t, const char *path, enum bench_leg leg)
{
	enum xc ret;

	memset(t, 0, sizeof(*t));
	ret = device_open_any(&t->dev, path, true);
	if (ret)
		return ret;
	learn_alignment(&t->dev);
	t->leg = leg;
	t->role = role_of(leg);
	t->bytes = t->dev.sectors << XP_SECTOR_SHIFT;
	label_it(t);
	return XC_OK;
}

enum xc bench_target_range(struct bench_target *t, const struct bench_setup *s)
{
	u64 all = t->dev.sectors << XP_SECTOR_SHIFT;

	t->from = s->range_from;
	t->bytes = s->range_bytes ? s->range_bytes : all;
	if (s->range_percent > 0)
		t->bytes = (u64)((double)all * s->range_percent / 100) & ~4095ull;
	if (t->from >= all || t->bytes > all - t->from)
		return complain(XC_USAGE, t->dev.path, "give another --range",
				"the range ends beyond its %s", text_bytes(all));
	if (t->bytes < 4096)
		return complain(XC_USAGE, t->dev.path, "give a bigger one",
				"there is no room for a request of 4 KiB");
	return XC_OK;
}

void bench_target_close(struct bench_target *t)
{
	device_close(&t->dev);
	free(t->list);
	t->list = NULL;
}
