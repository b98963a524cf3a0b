/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - the real core, before a backend that performs nothing and counts everything.
 *
 * Requests take no time but on the slow device, whose model is a disk with one arm: time is virtual. Data is not kept:
 * the core looks at journal blocks only. Up to @depth I/Os are outstanding, and end in the order of their beginning;
 * with 1 each has ended before the next request comes.
 *
 * The core has no clock, and a tick each few hundred requests, unless replay_until() gives it one: then it looks each
 * second whether it is idle, as in a daemon, and writeback takes its rests.
 */
#ifndef POLICY_REPLAY_H
#define POLICY_REPLAY_H

#include "xpcache.h"

#define REPLAY_ALL	0xffffffffu

struct replay_setup {
	u32 slots;		/* at least; the layout has a few more */
	bool exact;		/* the others are not used */
	u32 depth;		/* I/Os outstanding; 0 is 1 */
	u32 writeback;		/* blocks that may be written back a request; REPLAY_ALL: all that the core wants */
	u64 sectors;		/* of the slow device; 0: 8 TiB */
	u32 idle_ms, writeback_delay;	/* as in struct xp_options */
	u32 spin_down;		/* s after which the slow device is in standby, when nobody uses it */
};

/* Of requests as they were given, and of the blocks that these touch. */
struct replay_counts {
	u64 reads, read_misses;		/* requests; a miss: some part came from the slow device */
	u64 read_blocks, missed_blocks;
	u64 missed_sectors;		/* of those asked for */
	u64 writes, write_blocks, bypass_blocks;
	u64 fast_bytes;			/* written: data, fills, journal */
	u64 journal_blocks;		/* written */
	u64 slow_requests, slow_blocks;	/* reads and writes of requests, without writeback */
	u64 slow_ns, slow_seeks;	/* what these took by the model */
	u64 written_back;		/* blocks, */
	u64 runs;			/* in so many runs, */
	u64 clean_gaps;			/* of which so many lie so near behind another that blocks which are cached and clean would join the two */
	u64 fills, evicted;		/* blocks; the core's own counts */
	u64 flushes_slow;		/* FLUSHes that the core sent to the slow device */
	/* With a clock: */
	u64 request_wakes, writeback_wakes;	/* times that the slow device was in standby, and was used by these */
	u64 ns, standby_ns;		/* all, and those that it was in standby */
};

/* Blocks of such a gap: to write 64 KiB more takes a disk less time than to seek over them. */
#define REPLAY_GAP	16u

struct replay;

/* Never NULL: aborts, with a line that says why. */
struct replay *replay_start(const struct replay_setup *setup);
void replay_free(struct replay *r);
/* Stops the cache in order, and starts it again. */
void replay_restart(struct replay *r);

/* Each has the request's parts follow one another, as a backend splits them; ends what has to end for room. */
void replay_request(struct replay *r, enum xp_op op, u64 sector, u32 nr_sectors, bool fua);
/*
 * The clock goes on to @ns, and what is due by then is done; it never goes back. At the first call, which comes before
 * the first request, it begins there.
 */
void replay_until(struct replay *r, u64 ns);
/* Ends all that is outstanding. */
void replay_settle(struct replay *r);
/* Since the start, or the last replay_reset(); all outstanding is ended first. */
struct replay_counts replay_counts(struct replay *r);
void replay_reset(struct replay *r);
u32 replay_slots(const struct replay *r);
u64 replay_dirty(struct replay *r);
double replay_memory(const struct replay *r);	/* bytes a slot */

/* ns that the model takes for this much in one sequential read, after one seek. */
u64 replay_raw_ns(const struct replay *r, u64 sector, u32 nr_sectors);

#endif
