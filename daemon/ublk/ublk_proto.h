/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ublk_proto.h - what is said to the kernel's ublk driver, and not in every <linux/ublk_cmd.h>.
 *
 * A command is an io_uring entry: its number in cmd_op, its words in the entry's last bytes.
 * The numbers are plain before Linux 6.4, and encoded as an ioctl's from then on; that the plain
 * ones are still known is a matter of how the kernel was configured.
 */
#ifndef XD_UBLK_PROTO_H
#define XD_UBLK_PROTO_H

#include "lib/uring_abi.h"

#include <linux/ublk_cmd.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

struct io_uring_sqe;
struct ublksrv_ctrl_cmd;
struct ublksrv_io_cmd;

/* @nr: UBLK_CMD_... */
static inline __u32 ublk_control_op(__u32 nr, bool encoded)
{
	if (!encoded)
		return nr;
	if (nr == UBLK_CMD_GET_DEV_INFO)
		return _IOR('u', nr, struct ublksrv_ctrl_cmd);
	return _IOWR('u', nr, struct ublksrv_ctrl_cmd);
}

/* @nr: UBLK_IO_... */
static inline __u32 ublk_io_op(__u32 nr, bool encoded)
{
	return encoded ? _IOWR('u', nr, struct ublksrv_io_cmd) : nr;
}

/* @words: of an entry of 64 bytes 16, of one of 128 bytes 80. */
static inline void ublk_prepare(struct io_uring_sqe *sqe, int fd, __u32 op, const void *words, size_t bytes)
{
	io_uring_prep_rw(URING_OP_CMD, sqe, fd, NULL, 0, 0);
	uring_set_cmd_op(sqe, op);
	memcpy(uring_words(sqe), words, bytes);
}

#endif /* XD_UBLK_PROTO_H */
