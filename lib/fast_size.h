/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fast_size.h - how much of the fast device a cache takes: what --fast-size says, or all of it; and what fits
 * the machine's memory.
 */
#ifndef XP_LIB_FAST_SIZE_H
#define XP_LIB_FAST_SIZE_H

#include "lib/exit.h"
#include "platform.h"

struct device;
struct xp_sb;

#define MEMORY_SHARE	4u	/* of the machine's memory: a cache that takes such a part or more is told of */
/* So many blocks of the fast device are to be the cache's: @bytes, which --fast-size said, or if it is 0 all. Complains of what
 * is too much or too little. */
enum xc fast_size_blocks(u64 bytes, const struct device *fast, u64 *blocks);
/* The same number if a cache of it takes less memory than that part; else what does: 0: none. */
u64 fast_size_that_fits(u64 blocks, bool verify);
/* That, as an option to be typed; until the next call. */
const char *text_fast_size_that_fits(u64 blocks, bool verify);
/* One line about the memory that the cache takes. */
void fast_size_tell_memory(const struct xp_sb *sb, bool verify);

#endif
