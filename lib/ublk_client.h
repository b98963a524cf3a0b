/* SPDX-License-Identifier: GPL-2.0-only */
/* ublk_client.h - the kernel's driver for block devices of user space, by which xpcached gives one. */
#ifndef XP_LIB_UBLK_CLIENT_H
#define XP_LIB_UBLK_CLIENT_H

#include "lib/exit.h"

#include <stdbool.h>

/* Does the kernel have it, and may we? Loads the module if it can. Says why not. */
enum xc ublk_ready(void);
/* Complains if somebody has the block device, or a partition of it, open. */
enum xc ublk_closed(const char *node);
/* Is it mounted, swap or part of another device? Without a look at each process. */
bool ublk_held(const char *node);

#endif
