// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_uring.c - a block device or a plain file, through the loop's io_uring.
 *
 * A durable write is RWF_DSYNC where that is one write: on a block device that knows FUA, and on
 * a file, whose file system knows best. On a file its error may be another's.
 */
#include "daemon/device.h"
#include "daemon/loop.h"
#include "daemon/ring.h"
#include "lib/uring.h"
#include "lib/uring_abi.h"
#include "core/block.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void sent(struct xd_event *event, int res);

static void send_flush(struct xd_op *op)
{
	struct io_uring_sqe *sqe = xd_loop_sqe(op->loop, &op->event);

	io_uring_prep_fsync(sqe, op->dev->dev.fd, IORING_FSYNC_DATASYNC);
}

static bool is_synced(const struct xd_op *op)
{
	return op->kind == XD_WRITE && op->fua && op->dev->fua && op->dev->volatile_cache;
}

static void send_data(struct xd_op *op)
{
	struct io_uring_sqe *sqe = xd_loop_sqe(op->loop, &op->event);
	u8 *data = op->data + op->done;
	u32 bytes = op->bytes - op->done;
	u64 offset = op->offset + op->done;
	int fd = op->dev->dev.fd;

	if (op->kind == XD_READ && op->registered >= 0)
		io_uring_prep_read_fixed(sqe, fd, data, bytes, offset, op->registered);
	else if (op->kind == XD_READ)
		io_uring_prep_read(sqe, fd, data, bytes, offset);
	else if (op->registered >= 0)
		io_uring_prep_write_fixed(sqe, fd, data, bytes, offset, op->registered);
	else
		io_uring_prep_write(sqe, fd, data, bytes, offset);
	if (is_synced(op))
		sqe->rw_flags = RWF_DSYNC;
}

static void send_fallocate(struct xd_op *op)
{
	int mode = op->kind == XD_ZERO ? FALLOC_FL_ZERO_RANGE : FALLOC_FL_PUNCH_HOLE;
	struct io_uring_sqe *sqe = xd_loop_sqe(op->loop, &op->event);

	io_uring_prep_fallocate(sqe, op->dev->dev.fd, mode | FALLOC_FL_KEEP_SIZE,
				(off_t)op->offset, op->bytes);
}

static void send_discard(struct xd_op *op)
{
	xd_ring_prep_discard(xd_loop_sqe(op->loop, &op->event), op->dev->dev.fd, op->offset, op->bytes);
}

static bool moves_data(const struct xd_op *op)
{
	return op->kind == XD_READ || op->kind == XD_WRITE;
}

static void go(struct xd_op *op)
{
	if (op->kind == XD_FLUSH)
		send_flush(op);
	else if (moves_data(op))
		send_data(op);
	else if (op->kind == XD_DISCARD && op->dev->dev.is_block)
		send_discard(op);	/* fallocate() would zero it */
	else
		send_fallocate(op);
}

/* Of what was written and synced at once: was it the write alone? A file system that has no room
 * for it says so before it syncs, unless it takes the data first and finds out later. */
static bool is_its_own(const struct xd_device *d, int err)
{
	return d->dev.is_block || (d->direct && (err == -ENOSPC || err == -EDQUOT || err == -EFBIG));
}

/* Interrupted, or in part. */
static bool goes_on(const struct xd_op *op, int res)
{
	return res == -EINTR || res == -EAGAIN || (res > 0 && op->done < op->bytes);
}

static void sent(struct xd_event *event, int res)
{
	struct xd_op *op = container_of(event, struct xd_op, event);

	if (res == 0 && moves_data(op))
		res = -EIO;	/* beyond the end of a file that has shrunk */
	if (res > 0)
		op->done += (u32)res;
	if (goes_on(op, res)) {
		go(op);
		return;
	}
	if (res < 0 && is_synced(op) && !is_its_own(op->dev, res))
		xd_device_lost(op->dev);
	xd_op_end(op, min(res, 0));
}

static void uring_submit(struct xd_op *op)
{
	op->event.end = sent;
	if (op->kind == XD_FLUSH && !op->dev->volatile_cache)
		xd_op_end(op, 0);
	else
		go(op);
}

/* -------------------------------------------------------------- blocking ---- */

/* How many of them went well; *err: why not all. */
static u32 transfer_all(int fd, char *buf, u32 bytes, u64 offset, bool write, int *err)
{
	u32 done = 0;

	for (*err = 0; done < bytes && !*err;) {
		ssize_t n = write ? pwrite(fd, buf + done, bytes - done, (off_t)(offset + done)) :
				    pread(fd, buf + done, bytes - done, (off_t)(offset + done));

		if (n > 0)
			done += (u32)n;
		else if (!n || errno != EINTR)
			*err = n ? -errno : -EIO;
	}
	return done;
}

/* The caller's memory may be aligned to anything. */
static int transfer(struct xd_device *d, void *buf, u32 bytes, u64 offset, bool write)
{
	void *bounce;
	u32 done;
	int err;

	if (posix_memalign(&bounce, XP_BLOCK_SIZE, bytes))
		return -ENOMEM;
	if (write)
		memcpy(bounce, buf, bytes);
	done = transfer_all(d->dev.fd, bounce, bytes, offset, write, &err);
	if (!write)
		memcpy(buf, bounce, done);
	free(bounce);
	return err;
}

static int uring_pread(struct xd_device *d, void *buf, u32 bytes, u64 offset)
{
	return transfer(d, buf, bytes, offset, false);
}

static int uring_flush(struct xd_device *d)
{
	return fdatasync(d->dev.fd) ? -errno : 0;
}

static int uring_pwrite_plain(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	return transfer(d, (void *)(uintptr_t)buf, bytes, offset, true);
}

/* What ended before is durable before a journal block that names it can be; and what an earlier
 * life left where a power cut takes it, in a page cache or, of a DAX file that is not mapped this
 * time, in the processor's. */
static int uring_pwrite(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	int err = uring_flush(d);

	if (!err)
		err = uring_pwrite_plain(d, buf, bytes, offset);
	return err ? err : uring_flush(d);
}

/* -------------------------------------------------------------- discards ---- */

/* Of no byte: what it is told is whether such a command is known. */
static int discard_nothing(int fd)
{
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	int err = io_uring_queue_init(2, &ring, 0);

	if (err)
		return err;
	sqe = io_uring_get_sqe(&ring);
	xd_ring_prep_discard(sqe, fd, 0, 0);
	err = io_uring_submit_and_wait(&ring, 1);
	if (err >= 0)
		err = io_uring_peek_cqe(&ring, &cqe);
	if (!err)
		err = cqe->res;
	io_uring_queue_exit(&ring);
	return err;
}

/* Of a file beyond its end, where there is nothing. Before Linux 6.12 no io_uring discards on a block device; threads do. */
bool xd_uring_can_discard(const struct xd_device *d)
{
	off_t end = (off_t)(d->dev.sectors << XP_SECTOR_SHIFT) + (off_t)XP_BLOCK_SIZE;

	if (!d->dev.is_block)
		return !fallocate(d->dev.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, (off_t)XP_BLOCK_SIZE);
	return uring_usable() || discard_nothing(d->dev.fd) == -EINVAL;
}

const struct xd_device_ops xd_uring_ops = {
	.submit = uring_submit,
	.pread = uring_pread,
	.pwrite = uring_pwrite,
	.pwrite_plain = uring_pwrite_plain,
	.flush = uring_flush,
};
