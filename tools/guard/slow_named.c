// SPDX-License-Identifier: GPL-2.0-only
/* The slow device that the user names for a cache: what is known of it must agree. */
#include "tools/guard/slow_named.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/remote.h"
#include "tools/guard/behind.h"
#include "tools/options.h"

#include <inttypes.h>
#include <stdio.h>

/* Of one that says nothing of itself, its size was what it was known by. */
static bool is_another(const struct cache *c, const struct device *slow, char *why, size_t len)
{
	const struct xp_sb_slow *id = &c->sb.slow;

	if (slow->sectors == le64_to_cpu(id->sectors) || identity_same(id, slow, false, why, len) ||
	    behind_recognises(c, slow->path))
		return false;
	snprintf(why, len, "it has %" PRIu64 " sectors, the cache's slow device had %" PRIu64 ", and holds other things",
		 slow->sectors, le64_to_cpu(id->sectors));
	return true;
}

bool slow_same(const struct cache *c, const struct device *slow, char *why, size_t len)
{
	return identity_same(&c->sb.slow, slow, true, why, len) && !is_another(c, slow, why, len);
}

/* What is on it counts in sectors, so a copy on others is of no use. */
static enum xc refuse_sectors(const struct cache *c, const struct device *slow)
{
	u32 had = le32_to_cpu(c->sb.slow.logical_size);

	return complain(XC_REFUSED, slow->path,
			text_todo("give the right one, not in a USB case that changes its sectors; a copy of it needs sectors of %u bytes, by nvme format or cryptsetup luksFormat --sector-size %u, which destroy what is there", had, had),
			"not the slow device of %s: its logical sector is %u bytes, and was %u", c->name, slow->logical, had);
}

/* The user named it: what is known of it must still agree. */
enum xc slow_named(const struct cache *c, const struct options *opt, bool remote, struct device *slow)
{
	enum xc ret = device_open_any(slow, opt->slow, remote);
	char why[512];

	if (ret || slow_same(c, slow, why, sizeof(why)))
		return ret;
	if (slow->logical != le32_to_cpu(c->sb.slow.logical_size))
		return refuse_sectors(c, slow);
	if (opt->force)
		return XC_OK;
	return complain(XC_REFUSED, slow->path, "give the right one, or --force if it is an exact copy of it, or that one resized",
			"not the slow device of %s: %s", c->name, why);
}
