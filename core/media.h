/* SPDX-License-Identifier: GPL-2.0-only */
/* media.h - blocking access to the fast device. */
#ifndef XP_MEDIA_H
#define XP_MEDIA_H

#include "platform.h"

/*
 * Blocking access to the fast device before the first request and after the
 * last: may sleep. In blocks. When @write returns, it and all that completed
 * before it are durable (PREFLUSH and FUA, or fdatasync before and after).
 * I2: what @read gave and @write comes after survives a power cut too, whoever stored it: of
 * memory, @read writes back the processor's lines of it, which a life that was killed may have
 * left.
 */
struct xp_media {
	void *ctx;
	int (*read)(void *ctx, u64 block, u32 nr_blocks, void *buf);
	int (*write)(void *ctx, u64 block, u32 nr_blocks, const void *buf);
	/* Likewise, but durable only when a @write that comes after it is. NULL: there is but @write. */
	int (*write_plain)(void *ctx, u64 block, u32 nr_blocks, const void *buf);
	/*
	 * Of the slow device, less than a block from its sector @sector on, for its last block that an older
	 * version has cached (xp_recover()): durable when it returns 0. NULL: xp_recover() leaves
	 * such a block cached if it is dirty.
	 */
	void *slow_ctx;
	int (*write_slow)(void *slow_ctx, u64 sector, u32 nr_sectors, const void *buf);
};

#endif /* XP_MEDIA_H */
