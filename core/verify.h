/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify.h - sums of what is in the slots, for a backend that reads them.
 *
 * With xp_options.verify (verify.c) the core keeps a sum of what is in a slot, and what is read
 * there is compared with it before anybody gets it. What differs is read once more, into memory
 * that nobody else writes, before it is believed. Then it counts as what the fast device cannot
 * read: a clean block is read from the slow device, and loses its slot; a dirty one is an error,
 * -EIO, and stays where it is.
 */
#ifndef XP_VERIFY_H
#define XP_VERIFY_H

#include "xpcache.h"

/*
 * Blocks that were found to hold something else: how many, and the first of them. With .nr the
 * backend tells its user.
 */
struct xp_rot {
	u32 nr;
	xp_lba_t lba;
	xp_slot_t slot;
	bool dirty;
};

/* Of XP_CHECK, until it is answered: hash[] is looked at. No lock; any context. */
bool xp_has_sums(const struct xp *c, const struct xp_req *req);
/*
 * XP_CHECK: the backend
 *  1. reads req->nr_blocks whole blocks, at most XP_COPY_MAX, from fast sector req->target into a
 *     buffer that nobody else writes; an error ends in xp_end(), as of XP_FAST;
 *  2. puts xp_checksum() of each into hash[], if xp_has_sums(), and calls xp_checked(), which says
 *     XP_DONE: copy the caller's part, from byte copy.offset on, and end it with req->err (no
 *     xp_end());
 *     XP_CHECK: once more from 1; XP_WAIT: the core keeps it, and the buffer is of no use.
 */
enum xp_act xp_checked(struct xp *c, struct xp_req *req, const u64 *hash, struct xp_rot *rot,
		       struct xp_todo *todo);
/*
 * Of a base that has been read, with copy.check. XP_COPY: go on with it; XP_CHECK: read it once
 * more, and ask again; else as xp_base_failed().
 */
enum xp_act xp_base_checked(struct xp *c, struct xp_req *req, u64 hash, struct xp_rot *rot,
			    struct xp_todo *todo);

/*
 * With xp_options.verify, of each block @i of a run that is about to be written: xp_checksum() of
 * the fill's own bytes. Takes no lock.
 */
void xp_fill_hash(struct xp *c, const struct xp_fill *run, u32 i, u64 hash);

#endif /* XP_VERIFY_H */
