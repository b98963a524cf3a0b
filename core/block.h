/* SPDX-License-Identifier: GPL-2.0-only */
/* block.h - the units that a cache counts in: blocks, sectors, lines. */
#ifndef XP_BLOCK_H
#define XP_BLOCK_H

#define XP_BLOCK_SHIFT		12
#define XP_BLOCK_SIZE		4096u
#define XP_SECTOR_SHIFT		9
#define XP_BLOCK_SECTORS	8u		/* 512-byte sectors in a block */
#define XP_LINE_SIZE		64u		/* of a processor's cache, by which memory is written */

#endif /* XP_BLOCK_H */
