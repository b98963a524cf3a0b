/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - dirty blocks that are written back together, as a backend does it: batches, and their
 * runs.
 */
#ifndef XP_RUN_H
#define XP_RUN_H

#include "platform.h"
#include "xpcache.h"

struct xp;
struct xp_rot;
struct xp_todo;

/* Dirty blocks, consecutive on the slow device. */
struct xp_run {
	xp_lba_t lba;
	u32 nr_blocks;		/* up to XP_RUN_MAX */
	/* not 0: of the one block only so many sectors are written, behind the first @skip; its slot is read whole */
	u8 nr_sectors, skip;
	/* write zeroes (fall back to a buffer of them); else read the slots */
	bool zeroes;
	int err;		/* of its I/O; set by the backend before xp_writeback_end() */
	bool more;		/* the batch has others behind it; the core's answer */
	u64 took;		/* ns, of the slow device; the same; 0: not timed */
	u32 batch_index;	/* the core's, */
	u32 doubted;		/* and this, */
	u64 serial;		/* and this */
	xp_slot_t slot[XP_RUN_MAX];
};

enum xp_next {
	XP_NEXT_RUN,		/* *run holds one */
	XP_NEXT_WAIT,		/* its records are not durable yet: a block on its way to the slow
				 * device must be found by a recovery, or a cut would leave half a
				 * write there. Ask again after a todo with .work set */
	XP_NEXT_END,		/* no more in this batch */
};

/*
 * One batch at a time, from one thread. May take long, but lets others in:
 *
 *	if (xp_writeback_wanted(c) && xp_writeback_begin(c, todo)) {
 *		perform todo;
 *		wait for xp_writeback_turn(c, now) ns, until it is 0;
 *		while (xp_writeback_next(c, run) != XP_NEXT_END)   any number in flight
 *			read its slots, write it to the slow device, xp_writeback_end(c, run, todo), perform todo;
 *		when all have ended, while (xp_writeback_flushes(c) == XP_FLUSH_LATER)   wait for a todo with .work set;
 *		err = XP_FLUSH_NOW ? flush the slow device : 0;
 *		xp_writeback_commit(c, err, now, todo);
 *	}
 *
 * The backend may stop asking for runs early; what is left stays dirty. A batch
 * may hold no run at all, when only the slow flush is owed. A run may reach
 * past the end of a slow device whose size is no multiple of 4 KiB: clip it.
 * After the journal failed there is XP_NEXT_END. When batch after batch brings
 * nothing home, writes that wait for one to free a slot get -EIO.
 */
bool xp_writeback_wanted(struct xp *c);
/*
 * Before each xp_writeback_next(): 0, or so many ns until this is to be asked again, 0.1 s at most. @now in ns, of a clock
 * that never goes back; the same in both. Any context, as the next.
 */
u64 xp_writeback_turn(struct xp *c, u64 now);
/*
 * About once a second while the cache is not clean, and each fourth of idle_ms. True: xp_writeback_wanted(), since it is
 * idle.
 */
bool xp_writeback_watch(struct xp *c, u64 now);
bool xp_writeback_begin(struct xp *c, struct xp_todo *todo);
enum xp_next xp_writeback_next(struct xp *c, struct xp_run *run);
/*
 * With xp_options.verify, of each block @i of a run that was read from its slot: xp_checksum() of
 * it. 0: it may go home. -EAGAIN: read that slot once more, and ask again. -EIO: the run has
 * failed.
 */
int xp_writeback_checked(struct xp *c, struct xp_run *run, u32 i, u64 hash, struct xp_rot *rot);
void xp_writeback_end(struct xp *c, struct xp_run *run, struct xp_todo *todo);
enum xp_flush {
	XP_FLUSH_NONE,		/* it is owed from then on: a caller's FLUSH or a later batch makes it */
	XP_FLUSH_NOW,
	XP_FLUSH_LATER,		/* a caller's is under way: ask again after a todo with .work set */
};

/* When all runs have ended: does the batch end with a flush of the slow device? */
enum xp_flush xp_writeback_flushes(struct xp *c);
/*
 * The slow device may have lost what it was sent since its last flush (a server came back without it, say): before
 * any run ends that was under way then. Any context; takes the lock.
 */
void xp_slow_lost(struct xp *c);
/* @now in seconds since 1970, for xp_stats.writeback_failing_since. */
void xp_writeback_commit(struct xp *c, int err, u64 now, struct xp_todo *todo);
/*
 * ms to wait after the last batch before the next one, since it had errors; 0: it had none,
 * or somebody cannot wait: to be asked again about once a second. Any context.
 */
u32 xp_writeback_pause(struct xp *c);

/*
 * Makes xp_writeback_wanted() true, and writeback as fast as it can be, until a moment comes when nothing is dirty,
 * which stats.flushes_completed counts: the next write may have made a block dirty before anybody looks. @on false
 * gives it up.
 */
void xp_write_back_all(struct xp *c, bool on);

/* Fast sector of a slot. */
u64 xp_slot_sector(const struct xp *c, xp_slot_t slot);

#endif /* XP_RUN_H */
