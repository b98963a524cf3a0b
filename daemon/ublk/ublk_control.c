// SPDX-License-Identifier: GPL-2.0-only
/*
 * ublk_control.c - commands to the driver.
 *
 * It wants CAP_SYS_ADMIN of each, and the last ones come when the daemon has given that up. So the
 * ring keeps the credentials that it was made with, and can do nothing but this: one operation, on
 * one file.
 */
#include "daemon/ublk/ublk.h"
#include "daemon/ublk/ublk_proto.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/ublk_client.h"
#include "lib/uring_abi.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODE		"/dev/ublk-control"
#define PATIENCE_NS	100000000

enum xc xd_ublk_control_open(struct xd_ublk_control *c)
{
	enum xc ret;

	c->fd = c->ring.ring_fd = -1;
	if (!HAVE_LIBURING_2_3)
		return complain(XC_FAILED, "ublk", "build xpcached again with liburing 2.3 or later; or leave --ublk out",
				"this xpcached was built with an older liburing, whose rings cannot ask the driver");
	ret = ublk_ready();
	if (ret)
		return ret;
	c->fd = open(NODE, O_RDWR | O_CLOEXEC);
	return c->fd < 0 ? complain_errno(errno, NODE, "cannot open it") : XC_OK;
}

static int restrict_ring(struct io_uring *ring)
{
	struct io_uring_restriction only[] = {
		{ .opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = URING_OP_CMD },
		{ .opcode = IORING_RESTRICTION_SQE_FLAGS_REQUIRED, .sqe_flags = IOSQE_FIXED_FILE },
	};
	const u32 n = sizeof(only) / sizeof(*only);

	/* By the system call: liburing before 2.3 exports none of it. */
	if (syscall(__NR_io_uring_register, ring->ring_fd, IORING_REGISTER_RESTRICTIONS, only, n) ||
	    syscall(__NR_io_uring_register, ring->ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0))
		return -errno;
	return 0;
}

int xd_ublk_control_start(struct xd_ublk_control *c)
{
	struct io_uring_params p = { .flags = URING_SQE128 | IORING_SETUP_R_DISABLED };
	int err = io_uring_queue_init_params(4, &c->ring, &p);

	if (err) {
		c->ring.ring_fd = -1;
		return err;
	}
	err = io_uring_register_files(&c->ring, &c->fd, 1);
	if (!err) {
		c->creds = io_uring_register_personality(&c->ring);
		err = c->creds < 0 ? c->creds : restrict_ring(&c->ring);
	}
	return err;
}

void xd_ublk_control_close(struct xd_ublk_control *c)
{
	if (c->ring.ring_fd >= 0)
		io_uring_queue_exit(&c->ring);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = c->ring.ring_fd = -1;
}

static int submit(struct xd_ublk_control *c, u32 op, const struct ublksrv_ctrl_cmd *cmd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&c->ring);
	int n;

	if (!sqe)
		return -EBUSY;
	ublk_prepare(sqe, 0, op, cmd, sizeof(*cmd));	/* 0: the only one of the registered files */
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe->personality = (u16)c->creds;
	sqe->user_data = ++c->asked;
	n = io_uring_submit(&c->ring);
	return n < 0 ? n : 0;
}

/* Answers to what nobody waits for any more are passed over. */
static bool answered(struct xd_ublk_control *c, struct io_uring_cqe *cqe, int *res)
{
	bool mine = cqe->user_data == c->asked;

	*res = cqe->res;
	io_uring_cqe_seen(&c->ring, cqe);
	return mine;
}

static int ask(struct xd_ublk_control *c, u32 op, const struct ublksrv_ctrl_cmd *cmd,
	       bool (*patience)(void *ctx), void *ctx)
{
	struct __kernel_timespec a_little = { .tv_nsec = PATIENCE_NS };
	int err = submit(c, op, cmd), res;

	while (!err) {
		struct io_uring_cqe *cqe;

		err = io_uring_wait_cqe_timeout(&c->ring, &cqe, &a_little);
		if (!err && answered(c, cqe, &res))
			return res;
		if (err == -ETIME && patience && !patience(ctx))
			return -ETIMEDOUT;
		if (err == -ETIME || err == -EINTR)
			err = 0;
	}
	return err;
}

/* What drivers say to a number that they do not know; some say it of devices, too. */
static bool not_understood(int err)
{
	return err == -EOPNOTSUPP || err == -EINVAL || err == -ENODEV;
}

int xd_ublk_ask(struct xd_ublk_control *c, u32 nr, const struct ublksrv_ctrl_cmd *cmd,
		bool (*patience)(void *ctx), void *ctx)
{
	int err = ask(c, ublk_control_op(nr, !c->plain), cmd, patience, ctx);

	if (!c->agreed && not_understood(err)) {
		err = ask(c, ublk_control_op(nr, false), cmd, patience, ctx);
		c->plain = !err;
	}
	c->agreed |= !err;
	return err;
}
