/* SPDX-License-Identifier: GPL-2.0-only */
/* accounting.h - which class a request is accounted to, and an operation of a device; their counters. */
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

/*
 * The read of @nr_sectors of the slow device for @req has succeeded after @ns; 0: nobody has timed it. By that the
 * core decides what to read at once (disk.h). Before xp_end(). Takes no lock; any context.
 */
void xp_slow_took(struct xp *c, const struct xp_req *req, u32 nr_sectors, u64 ns);

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

/* What a device is asked for by an answer about @req. */
static inline enum xp_op xp_op_below(const struct xp_req *req, enum xp_act act)
{
	return act == XP_SLOW_FLUSH ? XP_FLUSH : (enum xp_op)req->op;
}

/*
 * What callers sent, each counted once by the backend, when its last part has ended, in the class
 * that was worst in it (docs/MEASURING.md, "What a cache counts").
 */
struct xp_requests {
	u64 ended[XP_REQUEST_CLASSES];
	u64 failed;		/* with an error: of no class */
	u64 split;		/* parts that were taken for requests */
	u64 hit_blocks;		/* read to xp_hit_end(), which does not count them */
};

/* One writer, as of a histogram. */
static inline void xp_requests_add(struct xp_requests *r, enum xp_class class, bool failed)
{
	xp_local_add(failed ? &r->failed : &r->ended[class], 1);
}

/* @from, which another may be writing, into @to. */
void xp_requests_merge(struct xp_requests *to, const struct xp_requests *from);

#endif /* XP_ACCOUNTING_H */
