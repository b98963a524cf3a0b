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

/* Who is told of what the slow device lost. The fast one has the journal alone, to which one sync
 * that fails is the end of it. */
enum xd_consumer {
	XD_CLIENTS,		/* writes around the cache, and their flushes */
	XD_WRITEBACK,
	XD_MARK,		/* that writes pass the cache */
	XD_CONSUMERS
};

/* Something to be done by a loop's thread. */
struct xd_call {
	struct xd_call *next;
	void (*fn)(struct xd_call *call);
	struct xd_loop *loop;	/* it runs on */
};

struct xd_op {
	/* The submitter's. */
	u8 kind;		/* enum xd_kind; the device's until the end: what it is asked just now */
	u8 consumer;		/* enum xd_consumer */
	bool aside;		/* XD_FLUSH: what it hears of, the consumer has yet to hear */
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
	u64 mark[XD_CONSUMERS];	/* XD_FLUSH: of the writes that it is for, the last */
	u64 own;		/* XD_WRITE, slow, .fua: its number once it has ended; else 0 */
	u32 losses;		/* of the device, when it began */
	u32 done;
	u8 step;
};

void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op);
/* A device's: the operation begins once more; it is over. */
void xd_op_begin(struct xd_op *op);
void xd_op_end(struct xd_op *op, int err);
/* Any thread: what the device has acknowledged and not flushed may be lost. */
void xd_device_lost(struct xd_device *d);
/* Any thread: a flush for which the device need not be asked. Its mark, when it begins; -EIO
 * when it ends, if what it is for may be lost; @aside: the consumer has yet to hear it. */
u64 xd_device_mark(struct xd_device *d, enum xd_consumer consumer);
int xd_device_tell(struct xd_device *d, enum xd_consumer consumer, u64 mark, bool aside);

#endif /* XD_OP_H */
