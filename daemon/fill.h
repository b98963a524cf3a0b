/* SPDX-License-Identifier: GPL-2.0-only */
/* fill.h - one run of a fill on its way to the fast device, or of an overlay on its way from there. */
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

/* fill.c: one of the part's reads has ended, of whichever device. */
void xd_fill_read_ended(struct xd_part *part, int err);

/* overlay_io.c */
/* A buffer for the part's dirty blocks. False: no memory. */
bool xd_overlay_get(struct xd_part *part);
/* Reads them; the part has a read that has not ended. */
void xd_overlay_read(struct xd_part *part);
/* ... over @data, what the slow device returned. */
void xd_overlay_lay(const struct xd_part *part, u8 *data);
/* If it has one. */
void xd_overlay_put(struct xd_part *part);

#endif /* XD_FILL_H */
