// SPDX-License-Identifier: GPL-2.0-only
/* partitions: those of a running cache, shown as its table has them now, or hidden. */
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <stdio.h>
#include <stdlib.h>

static enum xc hide_all(const struct running *r)
{
	struct partitions hidden;
	enum xc ret = partitions_hide(r, false, &hidden);

	free(hidden.v);
	if (!ret)
		printf("%s: its partitions are hidden; xpcache partitions %s shows them again\n", r->name, r->name);
	return ret;
}

static enum xc show_all(const struct running *r)
{
	enum xc ret = partitions_show(r);

	if (!partitions_tell(r) && !ret)
		printf("%s: no partitions\n", r->name);
	return ret;
}

static enum xc refuse_user(const struct running *r)
{
	if (!*r->ublk)
		return complain(XC_USAGE, r->name, "start it with --ublk", "a socket has no partitions");
	return complain(XC_USAGE, r->name, "blockdev --rereadpt reads them anew",
			"the partitions of %s are the kernel's own", r->ublk);
}

enum xc partitions_run(struct options *opt)
{
	struct running r;
	enum xc ret = caches_find_running(opt->arg, &r);

	if (!ret && r.user)
		ret = refuse_user(&r);
	if (ret)
		return ret;
	kernel_sweep();
	signals_hold();
	ret = opt->hide ? hide_all(&r) : show_all(&r);
	signals_release();
	return ret;
}
