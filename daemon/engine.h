/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine.h - the user-space backend of xpcache: requests in, device operations out; the map
 * of what in daemon/ runs a cache.
 *
 * The core (core/xpcache.h) decides, the backend performs. A request's way:
 *
 *	front-end --> xd_submit() --> xp_submit() --> request.c  with its own buffer
 *	(nbd/, ublk/)     |                       |-> copy.c     a write that needs a base
 *	                  |                       `-> check.c    a read whose sums are known
 *	                  `-> throttle.c, under pressure  |
 *	                                                  v
 *	front-end <-- io->end() <---------------------- xp_end()  (fill.c: a miss's data)
 *
 *	todo.c        performs what the core adds to a struct xp_todo
 *	overlay_io.c  reads dirty blocks beside the slow device
 *	journal_io.c  writes journal blocks
 *	writeback.c   writes dirty blocks back
 *	mark.c        notes on the slow device that writes pass the cache
 *	clock.c       once a second: commits, has the core see whether it is idle
 *	timing.c      how long it all takes
 *	cache.c       start and stop: metadata, recovery, threads
 *	ring.h        an io_uring, or threads where there is none
 *	loop.h        a thread with a ring: completions, timers, posts from other threads
 *	spin.c        how long it stays awake for the next one
 *	device.h      a fast or slow device, whatever it is
 *	buffer.c      memory that data passes through
 *
 * Threads. Each loop is one, and everything of a request happens on the loop that it was
 * submitted on; what the core hands to another loop's todo is posted home (todo.c). Writeback
 * and the clock belong to the first loop. So nothing here is locked but the mailboxes, the
 * throttle's pace and the core itself.
 *
 * Terms. A *part* is what one answer of the core is about: often all of a request. When it is
 * not, the rest goes on as another part beside it, or after it if there is none to spare.
 */
#ifndef XD_ENGINE_H
#define XD_ENGINE_H

#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/op.h"
#include "daemon/ring.h"
#include "daemon/spin.h"
#include "core/format.h"
#include "core/run.h"

#include <pthread.h>
#include <semaphore.h>

struct xp_histogram;
struct xd_fill;
struct xp;
struct xp_media;
struct xp_message;
struct xp_requests;
struct xp_tunables;

struct xd_cache;
struct xd_loop;
struct xd_io;

/* --------------------------------------------------------------- buffers ---- */

/* Memory of a front-end's request: whoever reads or writes it holds a reference. */
struct xd_buffer {
	struct xd_loop *loop;	/* that it came from, and goes back to */
	u8 *data;		/* aligned to 4096 */
	u32 bytes;
	u32 refs;		/* of the loop alone */
	int registered;		/* index with the ring, or -1 */
	struct xd_buffer *next;	/* free ones; of one that is not, who holds it */
};

int xd_buffers_init(struct xd_loop *loop);
void xd_buffers_free(struct xd_loop *loop);
u64 xd_buffers_bytes(void);	/* of a loop */
/* Of @bytes at least, a reference held; NULL: no memory. */
struct xd_buffer *xd_buffer_get(struct xd_loop *loop, u32 bytes);
void xd_buffer_hold(struct xd_buffer *b);
void xd_buffer_put(struct xd_buffer *b);

/* -------------------------------------------------------------- requests ---- */

struct xd_part {
	struct xp_req req;	/* .link is the backend's when the core has let go */
	struct xd_io *io;
	struct xd_part *next;	/* spare ones */
	u64 end;		/* sector that its range ends before; the req is the first of it */
	struct xd_op op;
	u64 sent;		/* xd_now() of the operation */
	u8 act;			/* enum xp_act */
	struct xd_buffer *merge;	/* copy.c: blocks that the write is merged into */
	struct xd_buffer *over;	/* overlay_io.c: dirty blocks of a read */
	u32 reads;		/* fill.c: of both devices, that have not ended; */
	int read_err;		/* and of the first that failed */
	u32 zeroed;		/* zeroes.c: bytes that have been written */
	u64 release;		/* throttle.c */
	u64 hash[XP_COPY_MAX];
};

/* A request of a front-end, from xd_submit() to its end(). */
struct xd_io {
	/* Set by the front-end. */
	struct xd_loop *loop;	/* it is submitted on, and ends on */
	u8 op;			/* enum xp_op */
	bool fua, ordered;	/* as in struct xp_req */
	bool aside;		/* XP_FLUSH: the same */
	bool own;		/* no request of a caller's, or the rest of one that is counted already */
	u64 sector;
	u32 nr_sectors;		/* 0 for a flush */
	struct xd_buffer *buffer;	/* of a read or write; its first byte is the request's. Until
				 * the end nobody else changes it */
	void (*end)(struct xd_io *io);	/* looks at .err; may free it */

	int err;		/* 0 or -errno, of the first part that failed */

	/* The engine's. */
	u32 parts;
	u8 class;
	u64 begun;
	struct xd_part first;
};

void xd_submit(struct xd_io *io);

/* ------------------------------------------------------------------ loops ---- */

struct xd_loop {
	struct xd_cache *cache;
	u32 index;
	pthread_t thread;
	bool running;
	struct xd_ring ring;
	struct xd_spin spin;
	struct xp_todo todo;	/* what this round has added */
	struct xp_list again;	/* struct xp_req: parts to be submitted once more */
	struct xd_part *parts, *spare;
	struct xp_list unbuffered;	/* struct xp_req: copies that wait for a merge buffer */
	struct xp_list throttled;	/* struct xp_req: in order of .release */
	struct xd_timer throttle;
	u32 ios;		/* struct xd_io under way */
	u32 ops;		/* operations of devices under way */

	/* buffer.c */
	struct xd_buffer *buffers, *free_small, *free_large;
	u8 *arena;
	bool registered;

	struct xd_buffer *reserve;	/* copy.c: so that one write at least always goes on */
	struct xd_fill *spare_fills;
	u32 fill_blocks;	/* in memory, on their way to the fast device */
	struct xd_call *later;	/* at the end of this round */
	struct xd_call *submitted;	/* xd_loop_submitted() */
	struct xd_op *ended, **ended_tail;	/* xd_loop_op() */

	/* Posted by other threads. */
	pthread_mutex_t lock;	/* the next five */
	struct xp_list posted_done, posted_ready;
	struct xd_call *calls, **calls_tail;
	bool posted, quit;
	int wake_fd;
	u64 wake_count;
	struct xd_event wake;

	/* This thread alone counts these up. */
	struct xp_histogram *histogram;	/* one for each class */
	struct xp_requests *requests;
};

/* ------------------------------------------------------------------ cache ---- */

struct xd_worker {
	struct xd_cache *cache;
	struct xp_run run;
	struct xd_op op[XP_RUN_MAX];	/* reads of slots; the first writes */
	u64 sent;
	u64 written;		/* xd_now() when the slow device was asked to */
	u32 left;		/* reads under way */
	u32 checked;		/* blocks of the run */
	bool works;
	u8 *data;		/* XP_RUN_MAX blocks */
};

#define XD_WORKERS	4u

/* A thread that looks through the slots for a batch: milliseconds, which no request waits. */
struct xd_gatherer {
	pthread_t thread;
	bool running, quit;
	bool kicked;		/* meanwhile; of the first loop */
	bool begun;		/* a batch; of who does not wait for the other */
	struct xp_todo todo;	/* the same */
	sem_t wanted;
	struct xd_call gathered;
};

struct xd_writeback {
	struct xd_worker *worker[XD_WORKERS];
	enum { XD_REST, XD_GATHERING, XD_BATCH, XD_TURN, XD_FLUSHING, XD_BACK_OFF } state;
	struct xd_gatherer gatherer;
	u32 busy;		/* workers with a run */
	u32 errors, taken;	/* of this batch: runs that failed; blocks */
	bool waiting;		/* for a kick, or the end of a rest */
	u64 rested_ns, rests_since;	/* between runs of this batch; 0: it does not now */
	bool stopping;
	u64 begun, sent, ended;	/* xd_now() of a batch */
	struct xd_op op;
	struct xd_timer back_off;
	struct xd_timer rest;
};

struct xd_journal {
	struct xd_cache *cache;
	struct xd_op op;
	u32 i;
	u64 sent;
};

/* One block of the slow device, once in a cache's life. */
struct xd_mark {
	struct xd_op op;
	u8 *block;		/* with a place for it */
};

struct xd_counts {
	u64 fast_bytes_written, fast_errors, slow_errors, writeback_flushes;
	u64 failed_since;	/* seconds since 1970; 0: it has not */
};

struct xd_cache {
	struct xd_device *fast, *slow;
	struct xp_sb sb;
	const struct xp_tunables *tunables;	/* the starter's, until xd_cache_stop() */
	struct xp *core;
	void *memory;
	u64 memory_bytes;
	u64 sectors;		/* of the slow device */
	u32 pad;		/* what sectors of requests are ahead of the slow device's by (core/cache.h) */
	bool fast_whole;	/* the fast device's logical sector is larger than the slow one's: it takes whole blocks */
	u64 started;
	bool timed;		/* atomic; at first the option's, as is */
	u32 idle_ms;		/* atomic; how often there is a tick follows from it */
	struct xp_histogram *histograms;	/* all loops' */
	struct xp_requests *requests;

	struct xd_loop *loop;
	u32 nr_loops;
	struct xd_journal journal[XP_JOURNAL_IOS];
	struct xd_mark mark;

	/* The first loop's. */
	struct xd_writeback writeback;
	struct xd_timer tick;
	struct xd_call tick_start;
	u32 kicked;		/* writeback may be wanted; atomic */
	u32 suspending;		/* delay no request; atomic */

	pthread_mutex_t devices_lock;	/* fast and slow are there; else they are NULL */
	pthread_mutex_t pace_lock;
	u64 pace_next;		/* of pace_lock */
	u64 block_ns;		/* time to write a block back; atomic */
	struct xd_counts counts;	/* atomic */
};

static inline struct xd_loop *xd_first_loop(struct xd_cache *cache)
{
	return &cache->loop[0];
}

/* cache.c */
struct xd_setup {
	struct xd_device *fast, *slow;	/* the cache's from here on, also after an error */
	const struct xp_tunables *tunables;	/* they stay until xd_cache_stop() */
	u32 loops;
	bool force;	/* the slow device may be another than the cache knows, with the same logical sector */
};
/* Reads the metadata, recovers and starts the threads. 0 or -errno and *msg. */
int xd_cache_start(struct xd_cache *cache, const struct xd_setup *setup, struct xp_message *msg);
/* Ends what is under way, no request may come any more; nothing acknowledged is lost when
 * it returns 0. Closes the devices. */
int xd_cache_stop(struct xd_cache *cache);
/* Any thread, also while it stops: what devices are waited for; false: none. */
bool xd_cache_waits(struct xd_cache *cache, char *text, size_t len);
/* The slow device has grown: its present size is that of the cache when it returns 0, for clients that connect from then
 * on. By the control's thread alone; waits. -ENOSPC: it is shorter; -EOPNOTSUPP: it is remote, and the connections to its
 * server have the size of before; -EBUSY: of xp_resize(); -ETIMEDOUT; -EIO: the superblock cannot be written; or the error
 * of the device. */
int xd_cache_resize(struct xd_cache *cache);
/* On the first loop, from any thread; waits. 0 or -errno. */
int xd_cache_commit(struct xd_cache *cache);

/* request.c */
void xd_part_init(struct xd_part *part, struct xd_io *io, u64 sector, u64 end);
void xd_part_submit(struct xd_part *part);
void xd_part_done(struct xd_part *part);
void xd_parts_again(struct xd_loop *loop);
void xd_fast_error(struct xd_cache *cache, const char *what, u64 sector, int err);
void xd_slow_error(struct xd_cache *cache, const char *what, u64 sector, int err);

static inline struct xd_part *xd_part_of(struct xp_link *link)
{
	return container_of(link, struct xd_part, req.link);
}

/* The part's own bytes. */
static inline u8 *xd_part_data(const struct xd_part *part)
{
	return part->io->buffer->data + ((part->req.sector - part->io->sector) << XP_SECTOR_SHIFT);
}

/* Bytes of the @nr_blocks blocks from slow sector @sector on that exist. */
static inline u32 xd_slow_bytes(const struct xd_cache *cache, u64 sector, u32 nr_blocks)
{
	return min((u64)nr_blocks * XP_BLOCK_SECTORS, xd_get(cache->sectors) + cache->pad - sector) << XP_SECTOR_SHIFT;
}

/* copy.c: XP_COPY, XP_CHECK */
void xd_copy_start(struct xd_part *part);
void xd_copies_retry(struct xd_loop *loop);
void xd_merge_put(struct xd_loop *loop, struct xd_buffer *b);

/* check.c */
/* With a buffer for it, if it needs one. */
void xd_check_begin(struct xd_part *part);
void xd_hash_blocks(const u8 *data, u32 nr, u64 *hash);
/* If there is anything to tell. */
void xd_rot_tell(struct xd_cache *cache, const struct xp_rot *rot);

/* zeroes.c: writes them to the slow device. */
void xd_zeroes_start(struct xd_part *part);

/* fill.c */
/* Reads the part for its request and the cache, or from both devices. False: no memory, or not for the cache; the fill
 * has been given back. */
bool xd_fill_read(struct xd_part *part);

/* todo.c */
void xd_perform(struct xd_loop *loop);
void xd_fills_free(struct xd_loop *loop);

/* journal_io.c */
void xd_journal_setup(struct xd_cache *cache);
void xd_journal_write(struct xd_loop *loop, u32 mask);

/* mark.c */
int xd_mark_setup(struct xd_cache *cache);
/* Has it written. */
void xd_mark(struct xd_loop *loop);
/* Before recovery: whether there is one. */
int xd_mark_check(struct xd_cache *cache, const struct xp_media *media, struct xp_message *msg);

/* writeback.c */
int xd_writeback_setup(struct xd_cache *cache);
void xd_writeback_free(struct xd_cache *cache);
/* Any thread. */
void xd_writeback_kick(struct xd_cache *cache);
/* The first loop's thread. */
void xd_writeback_run(struct xd_cache *cache);
u64 xd_writeback_bytes(void);
bool xd_writeback_at_rest(const struct xd_cache *cache);

/* throttle.c */
bool xd_throttle(struct xd_part *part);
void xd_throttle_release(struct xd_event *event, int res);

/* clock.c */
void xd_clock_start(struct xd_cache *cache);

#endif /* XD_ENGINE_H */
