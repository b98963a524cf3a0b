/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nbd.h - libnbd, loaded when a remote disk is first met: libnbd.pread() is its nbd_pread().
 *
 * With it come libxml2 and ICU. Linked, they would lie in the initramfs of each machine that
 * knows a cache, and be set up each time that udev asks whose a disk is.
 */
#ifndef XP_NBD_H
#define XP_NBD_H

#include <libnbd.h>

/* What we call of it. */
#define NBD_CALLS(CALL)									\
	CALL(aio_connect_uri) CALL(aio_disconnect) CALL(aio_flush)			\
	CALL(aio_get_direction) CALL(aio_get_fd) CALL(aio_in_flight)			\
	CALL(aio_is_closed) CALL(aio_is_connecting) CALL(aio_is_dead)			\
	CALL(aio_is_processing) CALL(aio_is_ready)					\
	CALL(aio_notify_read) CALL(aio_notify_write)					\
	CALL(aio_pread) CALL(aio_pwrite) CALL(aio_trim) CALL(aio_zero)			\
	CALL(can_flush) CALL(can_multi_conn) CALL(can_trim) CALL(can_zero)		\
	CALL(close) CALL(connect_uri) CALL(create) CALL(flush) CALL(get_block_size)	\
	CALL(get_errno) CALL(get_error) CALL(get_size) CALL(is_read_only)		\
	CALL(is_rotational) CALL(poll) CALL(pread) CALL(pwrite)				\
	CALL(set_uri_allow_local_file) CALL(shutdown)

struct nbd_calls {
#define NBD_MEMBER(name) typeof(nbd_##name) *name;
	NBD_CALLS(NBD_MEMBER)
#undef NBD_MEMBER
};

/* To be called after nbd_load() only, which whoever makes a handle has called. */
extern struct nbd_calls libnbd;

/* Any thread; may sleep. -ELIBACC: it is not there, or is too old. */
int nbd_load(void);

/* What the last call of this thread failed of: its -errno, or -EIO where libnbd knows none. */
int nbd_failure(void);

/* Why it did, in words, which may be the server's: clean. This thread's, until the next call. */
const char *nbd_why(void);

#endif /* XP_NBD_H */
