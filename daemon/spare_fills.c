// SPDX-License-Identifier: GPL-2.0-only
/* spare_fills.c - the memory of fills that have ended, for those that come. */
#include "daemon/fill.h"

#include <stdlib.h>

struct xd_fill *xd_fill_get(struct xd_loop *loop)
{
	struct xd_fill *f = loop->spare_fills;

	if (!f)
		return malloc(sizeof(*f));
	loop->spare_fills = f->next;
	return f;
}

void xd_fill_put(struct xd_loop *loop, struct xd_fill *f)
{
	f->next = loop->spare_fills;
	loop->spare_fills = f;
}

void xd_fills_free(struct xd_loop *loop)
{
	struct xd_fill *f;

	while ((f = loop->spare_fills)) {
		loop->spare_fills = f->next;
		free(f);
	}
}
