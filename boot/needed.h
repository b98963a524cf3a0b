/* SPDX-License-Identifier: GPL-2.0-only */
/* needed.h - list --needed: what uninstalling would strand. */
#ifndef XP_BOOT_NEEDED_H
#define XP_BOOT_NEEDED_H

#include "lib/exit.h"

/* Complains of each cache that could not be stopped or flushed without this program. XC_OK: none. */
enum xc needed_check(void);

#endif
