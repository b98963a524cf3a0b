/* SPDX-License-Identifier: GPL-2.0-only */
/* accounting.h - which class a request is accounted to, and an operation of a device. */
#ifndef XP_ACCOUNTING_H
#define XP_ACCOUNTING_H

#include "class.h"
#include "xpcache.h"

/* It is of the worst of the classes that its parts belong to. The core says so, but for: */
static inline void xp_req_is(struct xp_req *req, enum xp_class class)
{
	req->class = max(req->class, (u8)class);
}

/* The backend lets a write wait, for its own reasons. */
static inline void xp_held_back(struct xp_req *req)
{
	xp_req_is(req, XP_CLASS_WRITE_STALLED);
}

/* The backend has given the fill back. */
static inline void xp_not_filled(struct xp_req *req)
{
	xp_req_is(req, XP_CLASS_READ_BYPASS);
}

/* What an operation of a device is timed as; XP_CLASSES: it is not. */
static inline enum xp_class xp_leg_class(enum xp_op op, bool fast)
{
	static const u8 leg[][2] = {
		[XP_READ] = { XP_CLASS_SLOW_READ, XP_CLASS_FAST_READ },
		[XP_WRITE] = { XP_CLASS_SLOW_WRITE, XP_CLASS_FAST_WRITE },
		[XP_FLUSH] = { XP_CLASS_SLOW_FLUSH, XP_CLASSES },
		[XP_DISCARD] = { XP_CLASSES, XP_CLASSES },
		[XP_ZEROES] = { XP_CLASSES, XP_CLASSES },
	};

	return (enum xp_class)leg[op][fast];
}

#endif /* XP_ACCOUNTING_H */
