/* SPDX-License-Identifier: GPL-2.0-only */
/* version.h - the version of the programs. */
#ifndef XP_LIB_VERSION_H
#define XP_LIB_VERSION_H

#ifndef XPCACHE_VERSION
#define XPCACHE_VERSION "?"	/* the Makefile knows it */
#endif

#endif
