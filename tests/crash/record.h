/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - the log of two disks and a diary, in one order; host's byte order.
 *
 * The recorder writes an entry when a write or a FLUSH reaches it (with the data)
 * and one when it is done, before the machine hears of it. What the program in the
 * machine begins and ends it writes into its diary, a third disk, and waits: so the
 * entry stands before all that the request may cause, and after all that it did.
 */
#ifndef RECORD_H
#define RECORD_H

#include "platform.h"

enum record_kind {
	RECORD_WRITE = 1,	/* sector, nr; nr * 512 bytes follow */
	RECORD_FLUSH,
	RECORD_DONE,		/* of the write or FLUSH with that id */
	RECORD_DIARY,		/* a struct diary follows */
};

enum record_disk { DISK_FAST, DISK_SLOW, DISK_DIARY, NR_DISKS };

#define RECORD_MAGIC	0x64726f63u

struct record {
	u32 magic;
	u8 kind, disk;
	u8 fua;			/* durable when it is done */
	u8 zero;
	u32 id;
	u32 nr;			/* sectors */
	u64 sector;
};

enum diary_event {
	DIARY_READY = 1,	/* the cache is there: from now on it is judged */
	DIARY_BEGIN,
	DIARY_END,
	DIARY_LAST,		/* the rest is not looked at */
};

#define DIARY_MAGIC	0x79726964u
#define DIARY_TAGS	48u	/* sectors of the longest read */

/* One sector of the diary. A read's END says what it found. */
struct diary {
	u32 magic;
	u8 event;
	u8 op;			/* enum xp_op */
	u8 fua;
	u8 zero;
	u32 nr;			/* sectors */
	u32 err;		/* errno */
	u64 id, sector;
	u64 tags[DIARY_TAGS];
	u8 rest[96];
};

static_assert(sizeof(struct diary) == 512, "one sector");

#endif /* RECORD_H */
