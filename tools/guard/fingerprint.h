/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fingerprint.h - what the slow device held when the cache came to rest, and whether it still does.
 *
 *   fingerprint_take()     stop, create, flush --offline, the first start: some blocks' hashes, to the fast device
 *   behind_check()         start: has somebody written behind the cache's back? (tool.h)
 *   fingerprint_places()   which blocks
 *   fingerprint_gaps()     blocks of no partition; mark_prepare() (tool.h) takes one
 *   fingerprint_loader()   where a boot loader lies, which is installed below a running cache
 *   slow_*()               the slow device, whatever it is
 *   fs_newer()             is one of two states of a file system no earlier one of the other
 */
#ifndef XP_FINGERPRINT_H
#define XP_FINGERPRINT_H

#include "tools/tool.h"

/* -------------------------------------------------------------- slow.c ---- */

#define SLOW_BAD_MAX	2u

/* A disk, a file, or what a server holds; for reading, and after slow_own() for more. */
struct slow {
	int fd;			/* -1: it is remote */
	int own;		/* of who has it for himself, not closed here; -1: none */
	struct nbd_handle *nbd;
	u64 bytes;
	u32 bad;		/* blocks that could not be read; beyond SLOW_BAD_MAX no other is tried: */
				/* a disk that is dying takes half a minute for each */
	u8 *block;		/* 4096 bytes, of the last slow_read() */
	const char *path;
};

/* Negative errno. Whatever came of it, slow_close(). */
int slow_open(struct slow *s, const char *path);
/* One block, zeros beyond the end. Past the page cache where there is a way. */
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
/* Libraries read what is aligned to nothing: while they do. */
void slow_set_direct(struct slow *s, bool on);
u64 slow_blocks(const struct slow *s);
void slow_close(struct slow *s);

/* ------------------------------------------------- fingerprint_places.c ---- */

struct places {
	u64 lba[XP_FP_NOTED];	/* ascending, each once */
	u32 n;
};

/*
 * Where partition tables and file systems write whenever they are used: of the disk, and of each
 * partition libblkid sees on it. And some spread over all of it, another choice for each @uuid.
 */
void fingerprint_places(struct places *p, struct slow *s, const u8 uuid[16]);

/* Does a partition, or what is on it, begin in it? Reads other blocks. */
bool fingerprint_begins(struct slow *s, u64 lba);

/* Up to two whole blocks that no partition has, nor a partition table, nor a boot loader: how many.
 * None without a table. Whether they hold zeros is another matter. */
u32 fingerprint_gaps(struct slow *s, u64 lba[2]);

#define LOADER_MAX	8u

/* Bytes of the device that belong to a boot loader: no file system, and no table. */
struct loader {
	struct { u64 from, to; } range[LOADER_MAX];
	u32 n;
};

/* None unless there is a table, and the disk is nothing else. Reads other blocks. */
void fingerprint_loader(struct loader *l, struct slow *s);
/* They become zeros. */
void loader_leave_out(const struct loader *l, u64 lba, u8 block[XP_BLOCK_SIZE]);

/* --------------------------------------------------------- fingerprint.c ---- */

/* Of a block without the loader's bytes. */
u64 fingerprint_hash(const struct loader *l, u64 lba, const u8 block[XP_BLOCK_SIZE]);

/* The newer of two valid ones of the cache. False: there is none. */
bool fingerprint_read(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp *fp);
/* There is none, and it may be that one cannot be read: then nothing can be known of it. */
bool fingerprint_unreadable(const struct xp_media *m, const struct xp_sb *sb);
/* There is none any more, and that can be read again. -errno. */
int fingerprint_blank(const struct xp_media *m);
/* Of a cache that does not run: its journal ends at @seq or a little later; @fast is open for
 * writing. -errno. */
int fingerprint_take(const struct device *fast, const char *slow, u64 seq);
/* Says in it that what is clean is of no use any more, or is none any more. */
int fingerprint_mark(const struct xp_media *m, const struct xp_sb *sb, bool stale);
/* How much of the fast device the cache has; 0: it is about to have more. Where nothing tells that it is no error. -errno. */
int fingerprint_size(const struct xp_media *m, const struct xp_sb *sb, u64 fast_blocks);
/* Remembers where a mark may be. -ENOENT: there is no fingerprint. */
int fingerprint_place(const struct xp_media *m, const struct xp_sb *sb, u64 lba);

/* ---------------------------------------------------------------- behind.c ---- */

/* Of who was killed, for a moment. */
void wait_until_free(const struct device *d);

/* ------------------------------------------------------------------ mark.c ---- */

/* Of a cache that is no more; @fp is its last fingerprint. Complains if it stays. */
void mark_erase(const struct xp_sb *sb, const struct xp_fp *fp, const char *slow);

/* ---------------------------------------------------------------- fs_age.c ---- */

/*
 * Two states of one block. True: @other is a state of the same file system, and not an earlier one than
 * @ours, and *@what says of which kind; by its own counters, so only what is a superblock can tell.
 */
bool fs_newer(const u8 ours[XP_BLOCK_SIZE], const u8 other[XP_BLOCK_SIZE], const char **what);

#endif
