/* SPDX-License-Identifier: GPL-2.0-only */
/* hint.h - what the blocks of the cache are worth, from one life to the next. */
#ifndef XP_HINT_H
#define XP_HINT_H

#include "platform.h"

struct recovery;
struct xp;
struct xp_media;

/*
 * After the last request, with all that was acknowledged on the medium; nobody else uses the cache. Returns
 * the error of a journal block that cannot be written; without a hint alone 0.
 */
int hint_write(struct xp *c, const struct xp_media *m);
/* Between replay and restating: the journal ends where the life before has left it. */
void hint_read(struct recovery *r);

#endif /* XP_HINT_H */
