/* SPDX-License-Identifier: GPL-2.0-only */
/* passthrough.h - the cache has failed, and requests pass it. */
#ifndef XP_PASSTHROUGH_H
#define XP_PASSTHROUGH_H

#include "request.h"

bool pass_possible(const struct xp *c);
/* The cache has failed. */
void pass_begin(struct xp *c, struct xp_todo *todo);

/* Of a cache that has failed; not a read. */
enum xp_act pass_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* The cache has failed under it: to be submitted again, or @err. */
static inline enum xp_act pass_again(struct xp *c, struct xp_req *req, int err,
				     struct xp_todo *todo)
{
	if (c->pass == PASS_OFF)
		return req_finish(req, err);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

#endif /* XP_PASSTHROUGH_H */
