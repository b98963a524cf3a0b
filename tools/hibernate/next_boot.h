/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * next_boot.h - hibernate --begin: would the next boot restore what is written? What it certainly would not is refused.
 */
#ifndef XP_TOOLS_HIBERNATE_NEXT_BOOT_H
#define XP_TOOLS_HIBERNATE_NEXT_BOOT_H

#include "lib/exit.h"
#include "platform.h"

#include <sys/types.h>

struct image_place;
struct running;

/* Will what is there be seen when an image is looked for? */
bool next_boot_sees(dev_t dev);

/* Where the image goes: @place; *@owner: the cache whose device that is on, from the sector *@start of it,
 * NULL: none's. Complains if it would certainly not be restored. @list: the caches that run. */
enum xc next_boot_check(const struct running *list, size_t n, struct image_place *place,
			const struct running **owner, u64 *start);


#endif
