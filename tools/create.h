/* SPDX-License-Identifier: GPL-2.0-only */
/* create.h - create: a new cache. */
#ifndef XP_TOOLS_CREATE_H
#define XP_TOOLS_CREATE_H

#include "lib/device.h"
#include "lib/exit.h"
#include "lib/uuid.h"
#include "core/format.h"

#include <stdbool.h>

struct options;
struct running;

/* A cache of a slow device that is in use: not started, and the device is only looked at. */
enum xc create_adopted(const struct options *opt, const char *slow, struct xp_sb *sb);

/* A fast device that may be taken: nothing on it has changed. */
struct taken {
	struct device fast;	/* owned */
	struct xp_sb sb;	/* laid out for it; the rest is that of the cache which is to move there */
	u64 bytes;		/* of it that are the cache's */
	bool wipe;		/* something else is on it, and may go */
	char replaced[UUID_HEX];	/* the cache that was there, and is nowhere else; "": none, or it cannot be told */
};

/*
 * As create looks at its fast device, for the running cache @r, whose paths are known, of the superblock @was. Complains.
 * Whatever came of it, device_close(&t->fast).
 */
enum xc create_taken(const struct options *opt, const struct running *r, const struct xp_sb *was, struct taken *t);
/* What it held is known by nothing any more: before it is laid out, and after it. They complain. */
enum xc taken_wipe(const struct taken *t);
enum xc taken_is(const struct taken *t);

#endif
