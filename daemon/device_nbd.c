// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_nbd.c - a remote slow device, through libnbd: one connection for each loop, whose
 * thread alone uses it once requests come.
 *
 * Its socket is polled by the loop's ring. A server that dies is a disk that dies: what is
 * under way and what comes later fails.
 */
#include "engine.h"

#include <libnbd.h>
#include <poll.h>
#include <stdlib.h>

struct line {
	struct nbd_handle *nbd;
	struct xd_loop *loop;
	struct xd_event readable, writable;
	bool polls_in, polls_out;
};

struct remote {
	char uri[PATH_MAX];
	struct line line[XD_LOOPS_MAX];
	bool can_trim, can_zero, can_fua;
};

static int why(struct xp_message *msg)
{
	int err = nbd_get_errno();

	if (msg)
		snprintf(msg->text, sizeof(msg->text), "%s", nbd_get_error());
	return err > 0 ? -err : -EIO;
}

/* ------------------------------------------------------------------ polls ---- */

static void poll_line(struct line *l)
{
	unsigned int direction = nbd_aio_get_direction(l->nbd);
	int fd = nbd_aio_get_fd(l->nbd);

	if (nbd_aio_is_dead(l->nbd) || fd < 0)
		return;
	if ((direction & LIBNBD_AIO_DIRECTION_READ) && !l->polls_in) {
		l->polls_in = true;
		io_uring_prep_poll_add(xd_loop_sqe(l->loop, &l->readable), fd, POLLIN);
	}
	if ((direction & LIBNBD_AIO_DIRECTION_WRITE) && !l->polls_out) {
		l->polls_out = true;
		io_uring_prep_poll_add(xd_loop_sqe(l->loop, &l->writable), fd, POLLOUT);
	}
}

static void readable(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, readable);

	(void)res;
	l->polls_in = false;
	if (nbd_aio_get_direction(l->nbd) & LIBNBD_AIO_DIRECTION_READ)
		nbd_aio_notify_read(l->nbd);	/* what fails is told to each command */
	poll_line(l);
}

static void writable(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, writable);

	(void)res;
	l->polls_out = false;
	if (nbd_aio_get_direction(l->nbd) & LIBNBD_AIO_DIRECTION_WRITE)
		nbd_aio_notify_write(l->nbd);
	poll_line(l);
}

/* -------------------------------------------------------------- operations ---- */

/* Called by libnbd, once for each command that it took. Not from here: the operation's end may
 * submit another, and libnbd holds its lock. */
static int command_ended(void *user, int *error)
{
	struct xd_op *op = user;

	op->done = (u32)*error;
	xd_loop_op(op->loop, op);
	return 1;
}

static int64_t send_command(struct xd_op *op, struct nbd_handle *nbd, const struct remote *r)
{
	const nbd_completion_callback end = { .callback = command_ended, .user_data = op };
	u32 fua = op->fua && r->can_fua ? LIBNBD_CMD_FLAG_FUA : 0;

	switch (op->kind) {
	case XD_READ:
		return nbd_aio_pread(nbd, op->data, op->bytes, op->offset, end, 0);
	case XD_WRITE:
		return nbd_aio_pwrite(nbd, op->data, op->bytes, op->offset, end, fua);
	case XD_FLUSH:
		return nbd_aio_flush(nbd, end, 0);
	case XD_DISCARD:
		return nbd_aio_trim(nbd, op->bytes, op->offset, end, 0);
	default:
		return nbd_aio_zero(nbd, op->bytes, op->offset, end, 0);
	}
}

/* Where the server knows no FUA, a flush after the write. */
static void nbd_ended(struct xd_op *op, int err)
{
	const nbd_completion_callback end = { .callback = command_ended, .user_data = op };
	struct remote *r = op->dev->remote;
	struct line *l = &r->line[op->loop->index];

	if (err || op->kind != XD_WRITE || !op->fua || r->can_fua || !op->dev->volatile_cache || op->stage) {
		xd_op_end(op, err);
		return;
	}
	op->stage = 1;
	if (nbd_aio_flush(l->nbd, end, 0) < 0)
		xd_op_end(op, why(NULL));
	else
		poll_line(l);
}

static void nbd_submit(struct xd_op *op)
{
	struct remote *r = op->dev->remote;
	struct line *l = &r->line[op->loop->index];

	if ((op->kind == XD_DISCARD && !r->can_trim) || (op->kind == XD_ZERO && !r->can_zero)) {
		xd_op_end(op, -EOPNOTSUPP);
		return;
	}
	if (op->kind == XD_FLUSH && !op->dev->volatile_cache) {
		xd_op_end(op, 0);
		return;
	}
	if (send_command(op, l->nbd, r) < 0)
		xd_op_end(op, why(NULL));
	else
		poll_line(l);
}

/* ---------------------------------------------------------------- blocking ---- */

static int remote_pread(struct xd_device *d, void *buf, u32 bytes, u64 offset)
{
	struct remote *r = d->remote;

	return nbd_pread(r->line[0].nbd, buf, bytes, offset, 0) ? why(NULL) : 0;
}

static int remote_flush(struct xd_device *d)
{
	struct remote *r = d->remote;

	return d->volatile_cache && nbd_flush(r->line[0].nbd, 0) ? why(NULL) : 0;
}

static int remote_pwrite(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	struct remote *r = d->remote;

	return nbd_pwrite(r->line[0].nbd, buf, bytes, offset, 0) ? why(NULL) : remote_flush(d);
}

/* ------------------------------------------------------------ open and close ---- */

static int line_open(struct remote *r, struct line *l, struct xp_message *msg)
{
	l->nbd = nbd_create();
	if (!l->nbd || nbd_connect_uri(l->nbd, r->uri))
		return why(msg);
	l->readable.end = readable;
	l->writable.end = writable;
	return 0;
}

static int nbd_attach(struct xd_device *d, struct xd_loop *loop)
{
	struct remote *r = d->remote;
	struct line *l = &r->line[loop->index];

	l->loop = loop;
	return l->nbd ? 0 : line_open(r, l, NULL);
}

static void nbd_close_all(struct xd_device *d)
{
	struct remote *r = d->remote;

	for (u32 i = 0; i < XD_LOOPS_MAX; i++)
		if (r->line[i].nbd) {
			nbd_shutdown(r->line[i].nbd, 0);
			nbd_close(r->line[i].nbd);
		}
	free(r);
}

const struct xd_device_ops xd_nbd_ops = {
	.submit = nbd_submit,
	.ended = nbd_ended,
	.attach = nbd_attach,
	.pread = remote_pread,
	.pwrite = remote_pwrite,
	.flush = remote_flush,
	.close = nbd_close_all,
};

static int learn(struct xd_device *d, struct nbd_handle *nbd, struct xp_message *msg)
{
	const char *unfit = remote_learn(nbd, &d->dev);
	struct remote *r = d->remote;

	if (unfit) {
		snprintf(msg->text, sizeof(msg->text), "%s", unfit);
		return -EOPNOTSUPP;
	}
	d->volatile_cache = nbd_can_flush(nbd) > 0;
	d->can_discard = r->can_trim = nbd_can_trim(nbd) > 0;
	d->rotational = nbd_is_rotational(nbd) > 0;
	d->many_loops = nbd_can_multi_conn(nbd) > 0;
	r->can_zero = nbd_can_zero(nbd) > 0;
	r->can_fua = nbd_can_fua(nbd) > 0;
	return 0;
}

int xd_nbd_open(struct xd_device *d, const char *uri, struct xp_message *msg)
{
	struct remote *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	d->remote = r;
	d->ops = &xd_nbd_ops;
	snprintf(r->uri, sizeof(r->uri), "%s", uri);
	snprintf(d->dev.path, sizeof(d->dev.path), "%s", uri);
	err = line_open(r, &r->line[0], msg);
	return err ? err : learn(d, r->line[0].nbd, msg);
}
