/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * optional.h - libraries that xpcached can be built without. daemon.mk looks for each and says WITHOUT_... of what
 * is not there; xpcached --version lists it, and who asks for what it was for is told in a line.
 *
 *	libpmem			persistent memory is used as any file, by read, write and fdatasync
 *	libmicrohttpd		no xpcached watch
 *	libsystemd		no xpcached watch
 *	libcap-ng		it keeps what privileges it was started with
 *	liburing 2.3 or later	no ublk; rings as Linux before 6.1 has them (uring_abi.h)
 */
#ifndef XD_OPTIONAL_H
#define XD_OPTIONAL_H

#include "lib/uring_abi.h"

#ifdef WITHOUT_LIBPMEM
#define HAVE_LIBPMEM		0
#define XD_WITHOUT_LIBPMEM	", libpmem"
#else
#define HAVE_LIBPMEM		1
#define XD_WITHOUT_LIBPMEM	""
#endif

#ifdef WITHOUT_LIBMICROHTTPD
#define HAVE_LIBMICROHTTPD	0
#define XD_WITHOUT_LIBMICROHTTPD ", libmicrohttpd"
#else
#define HAVE_LIBMICROHTTPD	1
#define XD_WITHOUT_LIBMICROHTTPD ""
#endif

#ifdef WITHOUT_LIBSYSTEMD
#define HAVE_LIBSYSTEMD		0
#define XD_WITHOUT_LIBSYSTEMD	", libsystemd"
#else
#define HAVE_LIBSYSTEMD		1
#define XD_WITHOUT_LIBSYSTEMD	""
#endif

#ifdef WITHOUT_LIBCAP_NG
#define HAVE_LIBCAP_NG		0
#define XD_WITHOUT_LIBCAP_NG	", libcap-ng"
#else
#define HAVE_LIBCAP_NG		1
#define XD_WITHOUT_LIBCAP_NG	""
#endif

#if HAVE_LIBURING_2_3
#define XD_WITHOUT_LIBURING	""
#else
#define XD_WITHOUT_LIBURING	", liburing 2.3"
#endif

/* ", libpmem, libcap-ng": what it was built without. */
#define XD_WITHOUT \
	XD_WITHOUT_LIBPMEM XD_WITHOUT_LIBMICROHTTPD XD_WITHOUT_LIBSYSTEMD XD_WITHOUT_LIBCAP_NG XD_WITHOUT_LIBURING

#endif /* XD_OPTIONAL_H */
