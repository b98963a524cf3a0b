/* SPDX-License-Identifier: GPL-2.0-only */
/* statistics.h - what a running cache tells of itself: its counters, and the status line. */
#ifndef XP_STATISTICS_H
#define XP_STATISTICS_H

#include "platform.h"

struct xp;
struct xp_requests;

struct xp_stats {
	/* now */
	u64 slots, free, dirty, clean;		/* blocks; the rest is in flight */
	/* of the fast device, that are the cache's: slots, journal and all before it */
	u64 fast_blocks;
	u64 ranks_restored;			/* blocks that it began with, whose ranks are of the life before */
	u64 journal_blocks, journal_used;
	u64 seq, durable_seq, incarnation;
	u64 memory;				/* bytes, all of it */
	/*
	 * Since start, blocks of answers that ended well, each touched in whole or in part
	 * (docs/MEASURING.md, "What a cache counts"). Those of commands without data are apart.
	 * Those of xp_requests.hit_blocks are not in it.
	 */
	u64 read_blocks_fast, read_blocks_slow;
	u64 write_blocks, write_bypass_blocks;
	u64 write_in_place_blocks;		/* of write_blocks: where the block was (overwrite.c) */
	u64 discard_blocks;
	u64 flushes_slow;			/* flushes that had to go to the slow device */
	u64 fills, fills_dropped;		/* blocks */
	u64 written_back, evicted;		/* blocks */
	/* Read streams longer than stream_kib, and blocks that were not filled as their read was of one. */
	u64 streams_seen, stream_bypass_blocks;
	u64 stream_bypass_written;		/* of write_bypass_blocks: of written streams that are as long */
	/*
	 * Blocks of read_blocks_slow that were evicted not long ago (ghost.h), and those of them that
	 * a quarter more slots would have held, had these kept what was evicted last.
	 */
	u64 ghost_hits, ghost_hits_quarter;
	u64 journal_writes, relocated;		/* blocks, records */
	u64 waits;				/* requests that had to wait */
	/* of journal blocks to other places; the incarnation grows by each */
	u64 reroutes;
	u64 flushes_completed;			/* times that an xp_write_back_all() was done */
	/* blocks found not to hold what their sum says, each time */
	u64 sum_errors;
	u64 pressure;				/* 0 to 1024 */
	u64 dirty_unreachable;			/* dirty blocks of a cache that has failed */
	/* of the ring, and slots: given up, as they cannot be written */
	u64 bad_places, bad_slots;
	u64 unread;		/* dirty blocks that are errors until they are written anew (unread.h) */
	bool passthrough;			/* writes go to the slow device */
	/* xp_write_back_all() is under way; xp_is_clean() */
	bool flushing, slow_complete;
	u64 writeback_failing_since;		/* seconds since 1970: batches have had errors since then; 0: they
						 * have none, or nothing is left to write back */
	int failed;				/* 0, or the error that stopped it */
};

void xp_get_stats(struct xp *c, struct xp_stats *s);

/* What a backend adds to them. */
struct xp_backend {
	bool running;			/* else suspended */
	const u8 *uuid;			/* 16 bytes */
	bool fast_is_memory;		/* worked on by load and store; else through blocks */
	const char *not_memory;		/* a word: why not, of a device that could be; or NULL */
	const struct xp_requests *requests;	/* or NULL: none so far */
	u64 memory, histogram_memory;	/* bytes, the backend's own */
	u64 writeback_flushes, fast_bytes_written;
	u64 fast_errors, slow_errors;	/* operations of the devices that failed */
	u64 failed_since;		/* seconds since 1970; 0: it has not */
};

/*
 * "<state> uuid <hex> <name> <count>...": @room bytes at @text with the NUL. Returns the bytes
 * it needs without the NUL: if that is @room or more, the text is cut.
 */
u32 xp_status_print(struct xp *c, const struct xp_backend *backend, char *text, u32 room);

/*
 * True when nothing acknowledged would be lost by a power cut and the slow
 * device alone is complete: no dirty block, no unflushed bypassing write.
 */
bool xp_is_clean(struct xp *c);

#endif /* XP_STATISTICS_H */
