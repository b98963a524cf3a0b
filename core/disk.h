/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disk.h - what callers' requests to the slow device tell of it: how long an access and a block more take, where its
 * head is, if it has one, and whether anybody uses it.
 *
 *	|<-- near -->#########|<-- near -->|    far
 *	                      ^ on: no access, the next blocks
 *
 * Only a short read that is far from where the newest few ended tells what an access takes: near them the device may
 * have read ahead. A long one tells what a block takes: right behind the newest by all of its time; a far one
 * by what is left of it after an access. A read that is under way beside others has waited for them: it tells of an
 * access that it takes no longer; if that is much too short, all those that take longer bring it back.
 */
#ifndef XP_DISK_H
#define XP_DISK_H

#include "block.h"
#include "platform.h"

struct xp;
struct xp_req;

/* Changed under the lock, but for the averages, which are of none. */
#define XP_DISK_ENDS	4u

enum xp_disk_way {
	DISK_FAR,
	DISK_NEAR,
	DISK_ON,
};

struct xp_disk {
	/* 0: none timed so far */
	u32 access_ns;		/* of a short read that seeks */
	u32 block_ns;		/* of each block more of a long one */
	u32 under_way;		/* callers' requests to it */
	u32 runs;		/* of writeback, under way */
	u64 begun;		/* of callers' requests, ever; and reads of a partial write's base, of which nobody says the end */
	u8 way;			/* enum xp_disk_way: of the newest read */
	/* the read that began while nothing else was under way, and nothing has since; or NULL. Not to be followed: it may have ended */
	const struct xp_req *lone;
	u64 next;		/* block behind the newest read; 0: the head may be anywhere. Hits look without the lock */
	u64 next_at_tick;
	u64 end[XP_DISK_ENDS];	/* blocks behind the newest few reads */
	u32 newest;		/* of these */
};

struct xp_disk_pace {
	u32 access_ns, block_ns;
};

/* Where nothing has been timed, as a rotating disk, or as flash if it says that it is. No lock. */
struct xp_disk_pace disk_pace(const struct xp *c);
bool disk_seeks(const struct xp *c);
/* It seeks, and its head is at this block, or close before it. Any context, no lock. */
bool disk_goes_on(const struct xp *c, xp_lba_t lba);
/* A read of all of @req's blocks is sent to the slow device, or something else of @req. It ends in disk_ends(). */
void disk_read_begins(struct xp *c, const struct xp_req *req);
void disk_begins(struct xp *c);
void disk_ends(struct xp *c);
/* The same of a run of writeback. */
void disk_run_begins(struct xp *c);
void disk_run_ends(struct xp *c);
/* Something else is about to move the head, or may have. */
void disk_leaves(struct xp *c);
/* At a tick: where nothing was read since the one before, the head is forgotten. */
void disk_tick(struct xp *c);

#endif /* XP_DISK_H */
