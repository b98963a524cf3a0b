/* SPDX-License-Identifier: GPL-2.0-only */
/* fill.h - one run of a fill on its way to the fast device. */
#ifndef XD_FILL_H
#define XD_FILL_H

#include "daemon/engine.h"
#include "daemon/op.h"

struct xd_fill {
	struct xd_op op;
	struct xp_fill run;
	struct xd_buffer *buffer;
	struct xd_fill *next;	/* spare ones */
	u64 sent;
};

/* A spare one of the loop's, or memory for one; NULL: there is none. Of the loop's thread, as what follows. */
struct xd_fill *xd_fill_get(struct xd_loop *loop);
/* It has ended, and is a spare one. */
void xd_fill_put(struct xd_loop *loop, struct xd_fill *f);

#endif /* XD_FILL_H */
