/* SPDX-License-Identifier: GPL-2.0-only */
/* super.h - the superblock of a running cache, which the core writes. */
#ifndef XP_SUPER_H
#define XP_SUPER_H

#include "cache.h"

struct xp_journal_io;
struct xp_media;

/* Asks for both copies, now or when those under way have ended. */
void super_write(struct xp *c, struct xp_todo *todo);
void super_io(struct xp *c, struct xp_journal_io *io);
/* False: not both copies are written, and what was there before is left in one. */
bool super_end(struct xp *c, int err, struct xp_todo *todo);
/*
 * At rest. Likewise; or that copy is left which was there, and is no longer right. @block: scratch.
 */
int super_write_now(struct xp *c, const struct xp_media *m, void *block);
/* A recovery has begun to go on without what it could not read, and has not ended. */
bool super_is_losing(const struct xp *c);
/* At rest. Says so, and what was accepted, or (NULL) that it has ended; likewise. */
int super_lose(struct xp *c, const struct xp_sb_loss *loss, const struct xp_media *m, void *block);
/* At rest. The slow device has @sectors, and records may name blocks up to @was; likewise. */
int super_size(struct xp *c, u64 sectors, u64 was, const struct xp_media *m, void *block);
/* At rest. The cache has the incompat feature, or has it no more; likewise. */
int super_feature(struct xp *c, u64 bit, bool on, const struct xp_media *m, void *block);
/* At rest: a copy that is not as it should be is made so, if its place takes it. */
int super_mend(struct xp *c, const struct xp_media *m, void *block);
/* The same; and -EIO if one is not whole even then. */
int super_both(struct xp *c, const struct xp_media *m, void *block);

#endif /* XP_SUPER_H */
