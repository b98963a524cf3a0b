/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ublk.h - a running cache as a block device of this machine's, by the kernel's ublk driver.
 *
 *	ublk.c            the device: its start and its end
 *	ublk_queue.c      its queues, one for each loop: requests and their answers
 *	ublk_request.c    what the driver asks, and how the device describes itself; pure
 *	ublk_control.c    commands to the driver, over a ring of their own
 *	ublk_proto.h      their numbers
 *
 * A *tag* is a place for one request. The driver holds a command of ours for it; a request ends
 * the command, and the next command answers the request and waits for the next one.
 *
 * There is no recovery of a device whose daemon has died (UBLK_F_USER_RECOVERY), on purpose. What
 * was acknowledged and not flushed may be gone then, as with a disk that lost its power. A file
 * system that went on over the same device would not know, and its next fsync would be a lie. So
 * the device dies with the daemon, and what is on it has to be mounted anew.
 */
#ifndef XD_UBLK_H
#define XD_UBLK_H

#include "daemon/device.h"
#include "daemon/ublk/ublk_proto.h"
#include "lib/exit.h"
#include "lib/uring_abi.h"
#include "core/bounds.h"

struct io_uring;
struct ublk_params;
struct ublksrv_ctrl_cmd;
struct ublksrv_ctrl_dev_info;
struct ublksrv_io_desc;
struct xd_buffer;
struct xd_cache;
struct xd_io;
struct xd_loop;

#define UBLK_DEPTH	128u			/* requests under way, of one queue */
#define UBLK_BYTES_MAX	(XP_RUN_MAX << XP_BLOCK_SHIFT)	/* data of one */

/* ------------------------------------------------------- ublk_control.c ---- */

struct xd_ublk_control {
	int fd;			/* of the driver; -1: not open */
	struct io_uring ring;	/* .ring_fd -1: there is none */
	int creds;		/* as whom it asks */
	bool agreed;		/* it has understood something; until then both kinds of numbers are tried */
	bool plain;		/* it knows none of the encoded ones */
	u64 asked;
};

/* Says why not. */
enum xc xd_ublk_control_open(struct xd_ublk_control *c);
/* Whoever calls it must be privileged, and need not be when it asks. -errno. */
int xd_ublk_control_start(struct xd_ublk_control *c);
void xd_ublk_control_close(struct xd_ublk_control *c);
/* UBLK_CMD_@nr of device @id. @patience: asked now and then; NULL or true: go on waiting; else
 * -ETIMEDOUT, and the driver is still at it. */
int xd_ublk_ask(struct xd_ublk_control *c, u32 nr, const struct ublksrv_ctrl_cmd *cmd,
		bool (*patience)(void *ctx), void *ctx);

/* ------------------------------------------------------- ublk_request.c ---- */

/* False: no such operation. */
bool xd_ublk_translate(const struct ublksrv_io_desc *desc, struct xd_io *io);
/* Of a request that has ended: bytes, or -errno. */
int xd_ublk_result(const struct xd_io *io);
/* Of a cache of so many sectors before @slow, whose limits of discards and zeroes are its own. */
void xd_ublk_params(struct ublk_params *p, u64 sectors, const struct xd_device *slow);

/* --------------------------------------------------------- ublk_queue.c ---- */

struct xd_ublk;
struct xd_ublk_tag;

struct xd_ublk_queue {
	struct xd_ublk *ublk;
	struct xd_loop *loop;
	u16 number;
	const struct ublksrv_io_desc *desc;	/* the driver writes it; NULL: it is no queue, and */
	struct xd_ublk_tag *tags;		/* its loop only gives up what it need not be able to */
	struct xd_call fetch_call, taken_call;
	u32 waiting;			/* tags that the driver may yet end; of the loop */
	struct xd_buffer *taken;	/* of answers on their way to the driver */
};

int xd_ublk_queue_init(struct xd_ublk_queue *q, struct xd_ublk *u, u16 number);
void xd_ublk_queue_free(struct xd_ublk_queue *q);
/* Any thread: it takes requests from now on, or @u has .failed. */
void xd_ublk_queue_start(struct xd_ublk_queue *q);

/* --------------------------------------------------------------- ublk.c ---- */

struct xd_ublk {
	struct xd_cache *cache;
	struct xd_ublk_control control;
	struct ublksrv_ctrl_dev_info info;
	bool added;
	bool live;		/* the block device is there, or was; atomic */
	int fd;			/* of the device's own character device; -1: not open */
	char node[32];		/* of the block device; "": there was never any */
	bool taken;		/* away, by somebody else; atomic */
	struct xd_ublk_queue queue[XD_LOOPS_MAX];
	int failed;		/* of any queue, -errno; atomic */

	pthread_mutex_t lock;	/* what follows */
	pthread_cond_t changed;
	u32 fetched;		/* loops that have begun */
	u32 queues;		/* that have a tag with the driver */
	bool stopping;
};

/* Before anything is given up: does the kernel have it, and may we? Says why not. */
enum xc xd_ublk_open(struct xd_ublk *u);
/* The device is there when it returns. Says why not; xd_ublk_stop() is needed then, too. */
enum xc xd_ublk_start(struct xd_ublk *u, struct xd_cache *cache);
/* There is no device any more, whoever had it open. The loops run still. */
void xd_ublk_stop(struct xd_ublk *u);

/* Any thread, once it was started: the block device's; "": there is none. */
const char *xd_ublk_node(const struct xd_ublk *u);

/* A queue's: its tags are with the driver; none of them is any more. */
void xd_ublk_queue_fetched(struct xd_ublk *u);
void xd_ublk_queue_over(struct xd_ublk *u);

#endif /* XD_UBLK_H */
