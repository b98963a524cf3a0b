/* SPDX-License-Identifier: GPL-2.0-only */
/* class.h - what is timed apart: the classes of requests, and of the I/O of the devices below. */
#ifndef XP_CLASS_H
#define XP_CLASS_H

/*
 * What is timed apart. Requests of the cache, from where they come in to where they end,
 * each in one class, in the order of what happens to be worst in them:
 */
enum xp_class {
	XP_CLASS_READ_HIT,	/* by the fast device, or of zeros */
	XP_CLASS_READ_MISS,	/* a part of it by the slow device, into the cache */
	XP_CLASS_READ_BYPASS,	/* a part of it by the slow device, not into the cache */
	XP_CLASS_WRITE,		/* into the cache */
	XP_CLASS_WRITE_BYPASS,	/* a part of it around the cache, to the slow device */
	XP_CLASS_WRITE_STALLED,	/* it had to wait: for space, for another, or held back */
	XP_CLASS_FLUSH,
	XP_CLASS_DISCARD,	/* and write zeroes */
	/* What the devices below take for the cache's I/O, whoever it is for: */
	XP_CLASS_FAST_READ,
	XP_CLASS_FAST_WRITE,	/* of the journal too, with its FLUSH */
	XP_CLASS_SLOW_READ,
	XP_CLASS_SLOW_WRITE,
	XP_CLASS_SLOW_FLUSH,
};
#define XP_CLASSES		13u
#define XP_REQUEST_CLASSES	8u	/* the first so many */

/* "read-hit" and so on; the words of every output. */
extern const char *const xp_class_name[XP_CLASSES];

#endif /* XP_CLASS_H */
