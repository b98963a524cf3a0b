/* SPDX-License-Identifier: GPL-2.0-only */
/* bounds.h - how much is under way at once, and how long a request is at most. */
#ifndef XP_BOUNDS_H
#define XP_BOUNDS_H

#define XP_COPY_MAX	16u	/* blocks of one XP_COPY: 64 KiB */
#ifndef XP_RUN_MAX	/* the simulator tries a few */
#define XP_RUN_MAX	256u	/* blocks of one request: 1 MiB; what is longer is split */
#endif

/*
 * Journal blocks being written at once; more FLUSHes than that share one. At
 * least 2; the simulator tries a narrow one.
 */
#ifndef XP_WINDOW
#define XP_WINDOW	8u
#endif

#endif /* XP_BOUNDS_H */
