/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - a disk that lies as real ones may.
 *
 * Writes complete in any order. Until a write is durable each of its 512-byte
 * sectors may or may not survive a power cut, one by one (or each of its aligned
 * 4 KiB blocks, where the write says so). On a device without
 * a volatile cache a completed write is durable; on one with, after a FLUSH
 * that was submitted later, or at completion with FUA.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdlib.h>
#include "xpcache.h"

#define SECTOR 512u

struct disk_write {
	struct disk_write *next;
	u64 sector;
	u32 nr;
	u64 completed;			/* 0: in flight; else when */
	bool durable, fua;
	bool whole_blocks;		/* a disk of 4 KiB physical sectors */
	u8 data[];
};

struct disk {
	u64 sectors;
	bool volatile_cache;
	u64 clock;
	u8 *seen;			/* what a read returns */
	u8 *durable;			/* what certainly survives */
	struct disk_write *log, **log_end;	/* not yet certain, oldest first */
};

static inline u64 rng_next(u64 *s)
{
	u64 z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline u32 rng_below(u64 *s, u32 n)
{
	return (u32)(rng_next(s) % n);
}

void disk_init(struct disk *d, u64 sectors, bool volatile_cache);
void disk_free(struct disk *d);
struct disk_write *disk_submit(struct disk *d, u64 sector, u32 nr,
			       const void *data, bool fua);
void disk_complete(struct disk *d, struct disk_write *w);
/* The write fails: each of its sectors may have landed or not. */
void disk_fail(struct disk *d, struct disk_write *w, u64 *rng);
/* A FLUSH makes durable what had completed when it was submitted: marked at
 * submission, durable at completion. */
u64 disk_flush_submit(struct disk *d);
void disk_flush_complete(struct disk *d, u64 flush);
/* Power cut: the disk holds what survived, and nothing is in flight. */
void disk_cut(struct disk *d, u64 *rng);

#endif
