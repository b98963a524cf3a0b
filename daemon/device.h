/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - a fast or slow device, as the engine sees it: bytes, and operations that end.
 *
 *	device.c          opening, by what it is; blocking access for metadata
 *	device_uring.c    a block device or a plain file, through the loop's io_uring
 *	device_memory.c   persistent memory, or a file that lies in memory: mapped
 *	device_nbd.c      a remote disk, through libnbd
 *
 * Offsets and sizes are in bytes, multiples of 512. An operation belongs to the loop that
 * submits it and ends there, possibly before xd_device_submit() returns.
 */
#ifndef XD_DEVICE_H
#define XD_DEVICE_H

#include "tool.h"

struct xd_loop;
struct xd_device;

/* What a completion of a ring is about; .end is called with the cqe's res. */
struct xd_event {
	void (*end)(struct xd_event *event, int res);
};

enum xd_kind { XD_READ, XD_WRITE, XD_FLUSH, XD_DISCARD, XD_ZERO };

struct xd_op {
	/* The submitter's. */
	u8 kind;		/* enum xd_kind */
	bool fua;		/* XD_WRITE: durable when it ends */
	bool preflush;		/* XD_WRITE: and after all that ended before it was submitted */
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
	u32 done;
	u8 stage;
};

struct xd_device_ops {
	void (*submit)(struct xd_op *op);
	/* Of what went to xd_loop_op(): ends it, or goes on with it; NULL: ends it. */
	void (*ended)(struct xd_op *op, int err);
	int (*attach)(struct xd_device *d, struct xd_loop *loop);	/* before its first operation; may be NULL */
	int (*pread)(struct xd_device *d, void *buf, u32 bytes, u64 offset);
	/* All that ended before is durable, then this is, when it returns. */
	int (*pwrite)(struct xd_device *d, const void *buf, u32 bytes, u64 offset);
	int (*flush)(struct xd_device *d);
	void (*close)(struct xd_device *d);
};

struct xd_device {
	const struct xd_device_ops *ops;
	const char *what;	/* "fast", "slow": for messages */
	struct device dev;	/* path, size; the file descriptor unless it is remote */
	bool volatile_cache;	/* what has ended is durable only after a flush */
	bool can_discard;
	bool rotational;
	bool many_loops;	/* a flush is for what all loops have written */
	u8 *map;		/* device_memory.c */
	u64 map_bytes;
	bool is_pmem;
	void *remote;		/* device_nbd.c */
};

/* @path: a block device, a plain file, or for the slow one nbd://..., nbd+unix://... Nobody
 * else may have it. Says why not. */
enum xc xd_device_open(struct xd_device **d, const char *path, const char *what);
void xd_device_close(struct xd_device *d);
/* The core's blocking access to it. */
void xd_device_media(struct xd_device *d, struct xp_media *m);

/* device.c */
void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op);
void xd_op_end(struct xd_op *op, int err);	/* a device's: the operation is over */

extern const struct xd_device_ops xd_uring_ops, xd_memory_ops, xd_nbd_ops;
/* -errno: it cannot be mapped, or is no memory. */
int xd_memory_open(struct xd_device *d);
int xd_nbd_open(struct xd_device *d, const char *uri, struct xp_message *msg);

#endif /* XD_DEVICE_H */
