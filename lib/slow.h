/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow.h - the slow device of a cache that does not run, to be read and written: a disk, a file, or a server's export.
 */
#ifndef XP_LIB_SLOW_H
#define XP_LIB_SLOW_H

#include "platform.h"

struct nbd_handle;

#define SLOW_BAD_MAX	2u

/* A disk, a file, or what a server holds; for reading, and after slow_own() for more. */
struct slow {
	int fd;			/* -1: it is remote */
	int own;		/* of who has it for himself, not closed here; -1: none */
	struct nbd_handle *nbd;
	u64 bytes;
	u32 pad;		/* what sectors of the cache's blocks are ahead of its own by: xp_sb_pad() */
	u32 bad;		/* blocks that could not be read; beyond SLOW_BAD_MAX no other is tried: */
				/* a disk that is dying takes half a minute for each */
	u8 *block;		/* 4096 bytes, of the last slow_read() */
	const char *path;
};

/* Negative errno. Whatever came of it, slow_close(). */
int slow_open(struct slow *s, const char *path);
/* The cache's block that has a sector of it, and at which byte. */
u64 slow_lba(const struct slow *s, u64 sector);
u32 slow_at(const struct slow *s, u64 sector);
/* The first sector of a block, or 0. */
u64 slow_sector(const struct slow *s, u64 lba);
/* One block, zeros beyond both ends. Past the page cache where there is a way. */
int slow_read(struct slow *s, u64 lba);
/* s->block has @byte alone. */
bool slow_is_all(const struct slow *s, u8 byte);
/* What it holds now it holds after a power cut too. */
int slow_sync(struct slow *s);
/* s->block to there, durably. */
int slow_write(struct slow *s, u64 lba);
/* It is written to from now on, through @fd: open for that, by who has it for himself; -1: it is remote. */
void slow_own(struct slow *s, int fd);
/* @nr blocks, but for what lies beyond the last sector of 512 bytes; @data is aligned to a block. The device has
 * them when it returns 0; they are durable after slow_sync(). */
int slow_put(struct slow *s, u64 lba, u32 nr, const u8 *data);
/* The same, of sectors of 512 bytes, as the cache counts them. */
int slow_put_sectors(struct slow *s, u64 sector, u64 nr, const u8 *data);
/* Libraries read what is aligned to nothing: while they do. */
void slow_set_direct(struct slow *s, bool on);
u64 slow_blocks(const struct slow *s);
void slow_close(struct slow *s);

#endif
