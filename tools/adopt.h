/* SPDX-License-Identifier: GPL-2.0-only */
/* adopt.h - adopt: the disk below the running root moves behind a cache at the next boot. */
#ifndef XP_TOOLS_ADOPT_H
#define XP_TOOLS_ADOPT_H

#include "lib/uuid.h"

#include <stdbool.h>
#include <sys/types.h>

/* The cache that / is on. False: it is on none. */
bool root_is_on(char uuid[UUID_HEX]);
/* / is on it, or on volumes of it alone. */
bool root_is_on_disk(dev_t disk);

#endif
