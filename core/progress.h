/* SPDX-License-Identifier: GPL-2.0-only */
/* progress.h - what goes on when blocks are written. */
#ifndef XP_PROGRESS_H
#define XP_PROGRESS_H

struct xp;
struct xp_todo;

/* After blocks were written or data done: frees, wakes, seals what now can be. */
void progress_advance(struct xp *c, struct xp_todo *todo);

#endif /* XP_PROGRESS_H */
