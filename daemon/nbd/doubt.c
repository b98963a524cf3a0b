// SPDX-License-Identifier: GPL-2.0-only
/* doubt.c - where a write may land that nobody waits for any more. */
#include "daemon/nbd/doubt.h"
#include "platform.h"

void xd_doubt_add(struct xd_doubt *d, u64 from, u64 bytes, u64 now)
{
	u64 to = from + bytes;
	u32 i;

	pthread_mutex_lock(&d->lock);
	if (now >= d->until)
		d->n = 0;
	d->until = now + XD_DOUBT_NS;
	i = min(d->n, XD_DOUBTS - 1);
	if (d->n == XD_DOUBTS) {
		from = min(from, d->range[i].from);
		to = max(to, d->range[i].to);
	}
	d->range[i].from = from;
	d->range[i].to = to;
	d->n = i + 1;
	pthread_mutex_unlock(&d->lock);
}

u64 xd_doubt_left(struct xd_doubt *d, u64 from, u64 bytes, u64 now)
{
	u64 left = 0;
	u32 i;

	pthread_mutex_lock(&d->lock);
	if (now < d->until)
		for (i = 0; i < d->n && !left; i++)
			if (from < d->range[i].to && from + bytes > d->range[i].from)
				left = d->until - now;
	pthread_mutex_unlock(&d->lock);
	return left;
}
