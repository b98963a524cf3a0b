/* SPDX-License-Identifier: GPL-2.0-only */
/* overwrite.h - writes of a part of a dirty block, in its slot. */
#ifndef XP_OVERWRITE_H
#define XP_OVERWRITE_H

#include "cache.h"

/*
 * Of a write that begins in a part of a block, mapped to @slot, that nobody else writes. True: XP_FAST, in that slot; its
 * block is busy until the end. Else it goes to another slot.
 */
bool overwrite_begins(struct xp *c, struct xp_req *req, xp_slot_t slot);
/* Of a block of which nothing is cached: a slot may have the part alone (part.h). */
bool part_begins(const struct xp *c, const struct xp_req *req);
/* The next such write is one in place, if this one's record comes after its data, without a checksum. */
bool overwrite_may_follow(const struct xp *c, const struct xp_req *req, xp_slot_t slot);
enum xp_act overwrite_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);
/* Its sectors are in the slot, which had not all of them: as soon as there is room for the record that says so. */
enum xp_act overwrite_grows(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* The device has refused it, and is there. */
enum xp_act overwrite_again(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* Whatever became of it: the block is nobody's any more. */
void overwrite_ends(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* A batch goes on when it has ended. */
bool overwrite_is_awaited(struct xp *c, xp_lba_t lba);

#endif /* XP_OVERWRITE_H */
