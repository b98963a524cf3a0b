// SPDX-License-Identifier: GPL-2.0-only
/* watch_source.c - where caches come from: whichever engine runs them. */
#include "daemon/watch/watch.h"
#include "lib/latency/pulse.h"
#include "lib/running.h"

#include <stdlib.h>

/* An older module logs each question for histograms. */
static bool is_older(const struct watch *w, const char *uuid)
{
	const struct watched *c = watch_find(w, uuid);

	return c && c->now.older;
}

int watch_each(struct watch *w, bool timed)
{
	static struct pulse p;
	struct running *all;
	size_t n;
	int err = running_list(&all, &n);

	for (size_t i = 0; i < n && !err; i++) {
		bool older = is_older(w, all[i].uuid);

		if (pulse_read(&p, &all[i], older || !timed))
			continue;	/* it has gone meanwhile */
		p.older = older || (timed && p.older);
		watch_note(w, &p, timed);
	}
	free(all);
	return err;
}
