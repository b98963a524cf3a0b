/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * op.h - operations of a fast or slow device, and what a loop calls when they end; device.h has the devices.
 */
#ifndef XD_OP_H
#define XD_OP_H

#include "platform.h"

#define XD_LOOPS_MAX	16u

struct xd_loop;
struct xd_device;

/* What a completion of a ring is about; .end is called with the cqe's res. */
struct xd_event {
	void (*end)(struct xd_event *event, int res);
};

enum xd_kind { XD_READ, XD_WRITE, XD_FLUSH, XD_DISCARD, XD_ZERO };

/* Something to be done by a loop's thread. */
struct xd_call {
	struct xd_call *next;
	void (*fn)(struct xd_call *call);
	struct xd_loop *loop;	/* it runs on */
};

struct xd_op {
	/* The submitter's. */
	u8 kind;		/* enum xd_kind; the device's until the end: what it is asked just now */
	bool fua;		/* XD_WRITE: durable when it ends */
	bool preflush;		/* XD_WRITE, fast: and after all that ended before it was submitted */
	int registered;		/* XD_READ, XD_WRITE: of the buffer; -1: it is not */
	u32 bytes;
	u64 offset;
	u8 *data;		/* XD_READ, XD_WRITE: of so many bytes; until the end */
	void (*end)(struct xd_op *op, int err);	/* 0 or -errno, never a part of it */
	void *owner;		/* for .end, where the operation is not a member of it */

	/* The device's. */
	struct xd_event event;
	struct xd_device *dev;
	struct xd_loop *loop;
	struct xd_op *next;
	struct xd_call call;	/* XD_FLUSH: its turn has come */
	u32 done;
	u8 step;
};

void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op);
/* A device's: the operation begins once more; it is over. */
void xd_op_begin(struct xd_op *op);
void xd_op_end(struct xd_op *op, int err);
/* Any thread: what the device has acknowledged and not flushed may be lost. */
void xd_device_lost(struct xd_device *d);

#endif /* XD_OP_H */
