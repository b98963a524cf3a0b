/* SPDX-License-Identifier: GPL-2.0-only */
/* uuid.h - how long the UUID of a cache is in words. */
#ifndef XP_LIB_UUID_H
#define XP_LIB_UUID_H

#define UUID_HEX	33	/* 32 digits and NUL */

#endif
