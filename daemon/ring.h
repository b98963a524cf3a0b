/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - where a loop's system calls go to be done: an io_uring, or, where there is none for us, threads.
 *
 *	ring.c		the choice, and the io_uring
 *	ring_plain.c	the same entries, by plain reads and writes
 *
 * Both take the entries that liburing's io_uring_prep_*() fill, so nobody else needs to know which it is. All of it is
 * the loop's own thread's, but xd_ring_open() and xd_ring_close(), which come before and after that.
 */
#ifndef XD_RING_H
#define XD_RING_H

#include "lib/uring_abi.h"
#include "platform.h"

#include <sys/ioctl.h>

struct io_uring;
struct io_uring_sqe;
struct iovec;
struct xd_event;

struct xd_plain;

struct xd_ring {
	struct io_uring uring;		/* .ring_fd -1: there is none */
	struct xd_plain *plain;		/* NULL: it is the io_uring */
};

/* @wake_fd: an eventfd, which is read through the ring. -errno: neither can be had. */
int xd_ring_open(struct xd_ring *ring, int wake_fd);
void xd_ring_close(struct xd_ring *ring);
/* Of the thread that is to use it, first. */
void xd_ring_enable(struct xd_ring *ring);
/* That memory is known to it, as buffer 0. */
bool xd_ring_register(struct xd_ring *ring, const struct iovec *memory);
/* An entry, of @event; there always is one. */
struct io_uring_sqe *xd_ring_sqe(struct xd_ring *ring, struct xd_event *event);
/* The next @n entries are handed over together. */
void xd_ring_room(struct xd_ring *ring, u32 n);
/* Entries that nobody has taken yet. */
u32 xd_ring_unsent(const struct xd_ring *ring);
/* Hands over what there is; the kernel may leave some. */
void xd_ring_submit(struct xd_ring *ring);
/* The same, and something has ended when it returns, unless a signal came. */
void xd_ring_wait(struct xd_ring *ring);
/* It pays to look again and again: whether something has ended. */
bool xd_ring_can_spin(const struct xd_ring *ring);
bool xd_ring_has_news(const struct xd_ring *ring);
/* Calls .end of all that has ended. */
void xd_ring_reap(struct xd_ring *ring);

/* A discard on a block device that is open for writing: io_uring's BLOCK_URING_CMD_DISCARD. */
#define XD_RING_DISCARD	_IO(0x12, 0)
void xd_ring_prep_discard(struct io_uring_sqe *sqe, int fd, u64 offset, u64 bytes);

/* ring_plain.c: the same; NULL: no memory. */
struct xd_plain *xd_plain_open(int wake_fd);
void xd_plain_close(struct xd_plain *p);
struct io_uring_sqe *xd_plain_sqe(struct xd_plain *p);	/* NULL: to be submitted first */
u32 xd_plain_unsent(const struct xd_plain *p);
void xd_plain_submit(struct xd_plain *p);
void xd_plain_wait(struct xd_plain *p);
void xd_plain_reap(struct xd_plain *p);

#endif /* XD_RING_H */
