/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uring_abi.h - liburing from 2.1 on. What the kernel has and its headers do not know yet is here, by the
 * kernel's own numbers. HAVE_LIBURING_2_3: the library makes rings for one thread that are told of ends when it asks
 * (Linux 6.1), and with entries of 128 bytes, which ublk's control takes. The compiler is asked, not a version.
 */
#ifndef URING_ABI_H
#define URING_ABI_H

#include <liburing.h>
#include <stdint.h>
#include <string.h>

struct io_uring_sqe;

#if !defined(WITHOUT_LIBURING_2_3) && defined(IORING_SETUP_SINGLE_ISSUER) && defined(IORING_SETUP_DEFER_TASKRUN) && \
	defined(IORING_SETUP_SQE128)
#define HAVE_LIBURING_2_3	1
#else
#define HAVE_LIBURING_2_3	0
#endif

#define URING_OP_CMD		46u		/* IORING_OP_URING_CMD */
#define URING_SQE128		(1u << 10)	/* IORING_SETUP_SQE128 */
#define URING_TASKRUN		(1u << 2)	/* IORING_SQ_TASKRUN */

/* The entry's addr3, and where a command's words begin. */
static inline void *uring_words(const struct io_uring_sqe *sqe)
{
	return (char *)(uintptr_t)sqe + 48;
}

static inline void uring_set_cmd_op(struct io_uring_sqe *sqe, uint32_t op)
{
	memcpy(&sqe->off, &op, sizeof(op));
}

#endif /* URING_ABI_H */
