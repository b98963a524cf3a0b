/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fs_age.h - is one state of a file system an earlier one of another, by what its superblock counts? If its
 * count is higher it is not.
 */
#ifndef XP_TOOLS_GUARD_FS_AGE_H
#define XP_TOOLS_GUARD_FS_AGE_H

#include "core/block.h"
#include "platform.h"

/*
 * Two states of one block. True: @other is a state of the same file system, and not an earlier one than
 * @ours, and *@what says of which kind; by its own counters, so only what is a superblock can tell.
 */
bool fs_newer(const u8 ours[XP_BLOCK_SIZE], const u8 other[XP_BLOCK_SIZE], const char **what);

#endif
