/* SPDX-License-Identifier: GPL-2.0-only */
/* fingerprint.h - what the slow device holds now that the cache rests, noted on the fast one. */
#ifndef XP_TOOLS_GUARD_FINGERPRINT_H
#define XP_TOOLS_GUARD_FINGERPRINT_H

#include "core/format.h"

struct xp_media;
struct device;
struct slow;

/* The cache on @fast has come to rest, @seq was its newest journal block or one of the last: for
 * behind_check(). Complains if it cannot be. */
void fingerprint_at_rest(const char *fast, const char *slow, u64 seq);

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
	u32 before;		/* bytes of block 0 that are before the slow device */
	struct { u64 from, to; } range[LOADER_MAX];
	u32 n;
};

/* None unless there is a table, and the disk is nothing else. Reads other blocks. */
void fingerprint_loader(struct loader *l, struct slow *s);
/* They become zeros. */
void loader_leave_out(const struct loader *l, u64 lba, u8 block[XP_BLOCK_SIZE]);
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
/*
 * Of a cache that is to be used at once on a fast device that has none: it says nothing of the slow device, but a place
 * can be remembered in it. -errno.
 */
int fingerprint_begin(const struct xp_media *m, const struct xp_sb *sb);
/* Remembers where a mark may be. -ENOENT: there is no fingerprint. */
int fingerprint_place(const struct xp_media *m, const struct xp_sb *sb, u64 lba);

#endif
