/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - a fast or slow device, as the engine sees it: bytes, and operations that end.
 *
 *	device.c          opening, by what it is; blocking access for metadata
 *	device_op.c       operations, and whose turn it is to flush
 *	device_uring.c    a block device or a plain file, through the loop's io_uring
 *	device_memory.c   persistent memory, or a file that lies in memory: mapped
 *	device_nbd.c      a remote disk, through libnbd; connects again
 *
 * Offsets and sizes are in bytes, multiples of 512. An operation belongs to the loop that
 * submits it and ends there, possibly before xd_device_submit() returns.
 *
 * A slow device can lose what it has acknowledged: a flush fails, and the next one succeeds over
 * pages that were thrown away; a server crashes, and comes back without what it held in memory.
 * The core hears of it by the error of an operation, or by .on_loss, and says who else is to (core/flush.c).
 */
#ifndef XD_DEVICE_H
#define XD_DEVICE_H

#include "daemon/op.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "platform.h"

#include <pthread.h>

struct xp_media;
struct xp_message;

struct xd_device_ops {
	void (*submit)(struct xd_op *op);
	/* Of what went to xd_loop_op(): ends it, or goes on with it; NULL: ends it. */
	void (*ended)(struct xd_op *op, int err);
	/* The next four may be NULL. Before its first operation, and after its last. */
	int (*attach)(struct xd_device *d, struct xd_loop *loop);
	void (*detach)(struct xd_device *d, struct xd_loop *loop);
	void (*hurry)(struct xd_device *d);
	void (*watch)(struct xd_device *d);	/* every second */
	/* What it gives survives a power cut, if a write of ours that comes after it does. */
	int (*pread)(struct xd_device *d, void *buf, u32 bytes, u64 offset);
	/* All that ended before is durable, then this is, when it returns. */
	int (*pwrite)(struct xd_device *d, const void *buf, u32 bytes, u64 offset);
	/* Durable when a pwrite() that comes after it is. NULL: there is but pwrite(). */
	int (*pwrite_plain)(struct xd_device *d, const void *buf, u32 bytes, u64 offset);
	int (*flush)(struct xd_device *d);
	void (*close)(struct xd_device *d);
};

struct xd_device {
	const struct xd_device_ops *ops;
	const char *what;	/* "fast", "slow": for messages */
	bool slow;
	u64 before;		/* bytes that offsets of operations are ahead of its own by */
	struct device dev;	/* path, size; the file descriptor unless it is remote */
	bool volatile_cache;	/* what has ended is durable only after a flush, */
	bool fua;		/* or by itself, if the write asked for it */
	bool direct;		/* past the page cache */
	/* What it does by itself, of one operation and in bytes; 0: it cannot. Whoever uses the cache is told the same of it. */
	u64 discard_max, zeroes_max;
	u32 discard_unit;	/* what of a discard is smaller may be left undone */
	bool sectors;		/* it takes single ones; each is old or new after a cut */
	bool rotational;
	bool many_loops;	/* a flush is for what all loops have written */
	u8 *map;		/* device_memory.c; NULL: it is no memory */
	u64 map_bytes;			/* mapped: all of the file; */
	u64 used_bytes, map_sectors;	/* so much of it is the cache's; of that in place */
	bool is_pmem;
	bool cut, faulted;	/* atomic: of no more use; it was told where a fault came from */
	void *remote;		/* device_nbd.c */

	struct xd_pulse {
		u32 under_way, over;	/* operations; written by the loop alone */
	} __attribute__((aligned(64))) pulse[XD_LOOPS_MAX];
	u32 seen_over;		/* xd_device_watch() */
	u64 answered;		/* when it did last, to a second; atomic */
	bool hurried;		/* atomic */

	void (*on_loss)(void *owner);	/* xd_device_lost(); NULL: nobody asks */
	void *owner;
	u32 losses;		/* atomic */
	pthread_mutex_t lock;	/* what follows */
	bool flushing;		/* one is under way; */
	struct xd_op *flushes, **flushes_tail;	/* who waits for it */
};

/* @path: a block device, a plain file, or for the slow one nbd://..., nbd+unix://... Nobody
 * else may have it. Says why not. */
enum xc xd_device_open(struct xd_device **d, const char *path, const char *what);
void xd_device_close(struct xd_device *d);
/* The core's blocking access to it. */
void xd_device_media(struct xd_device *d, struct xp_media *m);

/* device.c */
/* Any thread, while loops run: what waits for the device to come back fails from now on. */
void xd_device_hurry(struct xd_device *d);
/* Every second, of one thread. */
void xd_device_watch(struct xd_device *d);
/* Any thread: "the slow device PATH: 2 under way, no answer for 12 s"; false: none is. */
bool xd_device_waits(const struct xd_device *d, char *text, size_t len);

/* Of a block device or a file that is open for writing. */
bool xd_uring_can_discard(const struct xd_device *d);

extern const struct xd_device_ops xd_uring_ops, xd_memory_ops, xd_nbd_ops;
/* -errno: it cannot be mapped, or is no memory. */
int xd_memory_open(struct xd_device *d);
/* Gets the first @bytes of its file, which are the cache's, their room: a hole is a write that may fail later for want of
 * some. -ENODATA: they were @used, and the file has less, so something was cut out of it, and would be zeros. Says why not. */
int xd_memory_fill(struct xd_device *d, u64 bytes, bool used, struct xp_message *msg);
/* xp_options.store; @ctx: the cache. A jump out of a signal must not meet another: one copy at a time and thread. */
int xd_memory_store(void *ctx, u64 at, const void *from, u32 bytes);
int xd_nbd_open(struct xd_device *d, const char *uri, struct xp_message *msg);

#endif /* XD_DEVICE_H */
