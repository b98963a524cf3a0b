// SPDX-License-Identifier: GPL-2.0-only
/*
 * busy.c - requests that wait for an lba until another request about it has ended.
 *
 * The lowest of what wakes requests: it calls nothing, so that the journal may call it.
 */
#include "busy.h"
#include "request.h"

void requests_wake_busy(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo)
{
	struct xp_list keep;
	struct xp_link *link;

	xp_list_init(&keep);
	while ((link = xp_list_pop(&c->busy))) {
		struct xp_req *req = req_of(link);
		u64 first = xp_lba_n(req_lba(req));

		if (first < xp_lba_n(lba) + nr &&
		    xp_lba_n(lba) < first + max(req_span(req), 1u))
			xp_list_add(&todo->ready, link);
		else
			xp_list_add(&keep, link);
	}
	xp_list_splice(&c->busy, &keep);
}
