/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * overlay.h - dirty blocks in a read of the slow device, which has older ones.
 *
 *	slow device	miss  old  miss  clean  miss  old  miss      one request
 *	fast device	      new                     new            one for each run of slots
 *
 * A span (span.h) goes on over dirty blocks as well. They are read from the fast device beside it,
 * and laid over what the slow device returned. Their slots are pinned when the read is answered, and
 * until it ends: what is laid over is the version of that moment, whatever becomes of the block.
 */
#ifndef XP_OVERLAY_H
#define XP_OVERLAY_H

#include "bounds.h"
#include "platform.h"

struct xp;
struct xp_req;
struct xp_todo;

/* I11: reads with one at once; others end before a dirty block. */
#ifndef XP_OVERLAYS_MAX	/* the simulator tries a few */
#define XP_OVERLAYS_MAX	8u
#endif
/* Reads of the fast device for one of the slow device: every second block may have a slot elsewhere. */
#ifndef XP_OVERLAY_RUNS_MAX	/* the simulator tries a few */
#define XP_OVERLAY_RUNS_MAX	(XP_RUN_MAX / 2)
#endif

/* Slots side by side. Their blocks need not be: every second block, written one after the other, is one run. */
struct xp_overlay_run {
	xp_slot_t slot;		/* the first; xp_slot_sector() */
	u16 first, nr_blocks;	/* of xp_overlay.at */
	bool zeros;		/* they are not read, but cleared */
};

/* Written under the lock while its read is answered; then that read's own until xp_end(). */
struct xp_overlay {
	u32 nr_runs, nr_blocks;	/* 0: nobody's */
	struct xp_overlay_run run[XP_OVERLAY_RUNS_MAX];
	u8 at[XP_RUN_MAX];	/* where each block belongs: blocks from the request's first on */
	u8 lacks[XP_RUN_MAX];	/* sectors of each that its slot has not, a bit each: they stay as the slow device has them */
};

static_assert(XP_RUN_MAX <= 256, "a block's place is a byte");

/*
 * Block @at of @req is dirty, in @slot: pins it, and adds it to the request's overlay, which is a new one for the
 * first of them. They come in their order. False: it ends the span.
 */
bool overlay_add(struct xp *c, struct xp_req *req, u32 at, xp_slot_t slot);
/* Of the same call: only what is before block @nr of the request is read after all. */
void overlay_trim(struct xp *c, struct xp_req *req, u32 nr);
/* The request has ended: its pins are given back. */
void overlay_end(struct xp *c, struct xp_req *req, struct xp_todo *todo);

#endif /* XP_OVERLAY_H */
