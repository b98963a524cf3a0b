/* SPDX-License-Identifier: GPL-2.0-only */
/* mode.h - which mode the cache is in, and what its superblock says of that. */
#ifndef XP_MODE_H
#define XP_MODE_H

#include "cache.h"

struct xp_media;
struct xp_sb;

/* enum xp_mode that the superblock keeps; write-back, where it says nothing. */
u32 xp_sb_mode(const struct xp_sb *sb);
/* True: it was another. */
bool xp_sb_keep_mode(struct xp_sb *sb, u32 mode);

/* While it runs. XP_MODE_KEPT: stays. */
void mode_set(struct xp *c, u32 mode);
/* The superblock is written, if it keeps another; of a write that failed now and then, or where this is the @last look. */
void mode_note(struct xp *c, bool last, struct xp_todo *todo);
/* At rest, before the first request: the option, or what is kept. The error of a write. @block: scratch. */
int mode_begin(struct xp *c, const struct xp_media *m, void *block);

#endif /* XP_MODE_H */
