/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rate.h - when dirty blocks are written back, and how fast.
 *
 * A disk with a head serves one at a time: who reads from it should not notice that it also writes.
 *
 *	percent of the slots that are dirty, by default
 *	 80 ---- dirty_high: writers are held, and from here down to
 *	    FULL
 *	 45 ---- dirty_soft  slowed; all workers write. Also for whoever waits for a slot, or for a flush
 *	    PRESSING         rests get shorter, from those of BUSY to none
 *	 40 ---- dirty_press
 *	    BUSY             one run at a time, then a rest of several times what it took
 *	 10 ---- dirty_low   writeback begins here
 *	  5 ---- half of it  and ends here
 *	  0
 *
 *	IDLE, below dirty_soft: callers have sent the slow device nothing for a second. All workers write, and
 *	once that has lasted for idle_ms writeback begins whatever is dirty, and ends at 0.
 *
 * Hits do not count: a desktop that lives from the cache leaves the disk alone. Blocks that are written again
 * and again would keep it at work for ever; so once writeback has been round the disk, or nothing was left, an idle
 * cache waits for idle_ms before it begins again.
 *
 * With a writeback_delay the disk may sleep meanwhile: a drain waits until the cache has had dirty blocks for that
 * long, unless the disk was used since the last one: by callers, by a start that found dirty blocks, by a sweep, by
 * a drain that failed or was left.
 * (A limit of the age of what is dirty would be asked for at the same place, drain_is_due().)
 *
 * A rest follows what a run takes, not how far the marks are: the rate is steady where the load is.
 */
#ifndef XP_RATE_H
#define XP_RATE_H

#include "platform.h"

struct xp;
struct xp_run;

enum xp_rate_state {
	RATE_IDLE,
	RATE_BUSY,
	RATE_PRESSING,
	RATE_FULL,
};

/* Times in ns, by the backend's clock, which need not begin at 0. */
struct xp_rate {
	u64 last;		/* look */
	u64 seen;		/* xp_disk.begun then */
	u64 quiet_since;	/* when it last grew; 0: nobody has looked */
	u64 drained;		/* the last time that an idle cache had nothing more to do; 0: never */
	u64 rest;		/* owed since the last run ended */
	u64 next;		/* no run before */
	u64 drain_from;		/* lba where the cursor was when the drain began */
	u32 rounds;		/* times that batches came to the end of the disk since the drain began */
	bool quiet, idle;	/* for a second; for idle_ms */
	bool woken;		/* the disk is awake: somebody has used it, and no drain has ended well since */
	bool clean;		/* the cache was, at the last look */
	bool drains;		/* since it is idle */
	bool drain_over;	/* the next look says since when */
	bool sweeps;		/* from dirty_low to half of it */
};

/* Somebody waits for a slot, and only writeback brings one. */
bool rate_starves(const struct xp *c);
/* The batch has been under way for so long that what it has written should be clean. */
bool rate_has_been_long(const struct xp *c);
/* Dirty blocks are to be written back, by marks or since the cache is idle. Some are dirty. */
bool rate_wants(struct xp *c);
/* So many, to come down to half of dirty_low; all of them where more is wanted than that. */
u32 rate_excess(const struct xp *c);
/* The cache begins to serve: the disk is awake, and what the last life left dirty goes home. */
void rate_start(struct xp *c);
void rate_run_begins(struct xp *c);
void rate_run_ends(struct xp *c, const struct xp_run *run);
void rate_batch_ends(struct xp *c);
/* The idle time is another: it counts from now on. */
void rate_forget(struct xp *c);
/* An idle cache has nothing more to do. */
void rate_has_drained(struct xp *c);

#endif /* XP_RATE_H */
