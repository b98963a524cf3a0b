/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xpcache.h - how a backend (dm target, daemon, simulator) has the core run a request.
 *
 * The core decides; the backend performs. Nothing in core/ does I/O, sleeps, reads a
 * clock or allocates, but for recovery.c, which reads and writes metadata
 * through the blocking callbacks of struct xp_media before the first request, and
 * for records stored into a fast device that is memory: xp_options.store.
 *
 * What else a backend needs:
 *
 *	life.h		memory, recovery, close		media.h		blocking access to a device
 *	run.h		writeback			pace.h		how much writes are slowed
 *	verify.h	sums of what is read		mark.h		writes pass the cache
 *	resize.h	a longer slow device		statistics.h	counters, the status line
 *	accounting.h	what requests are timed as	options.h	words of the table line
 *	bounds.h	how long a request is at most	command.h	what a running cache can be told
 *	overlay.h	dirty blocks in a read of the slow device
 *
 * And of a cache that does not run: superblock.h, layout.h, fingerprint.h, look.h, rest.h.
 *
 * A request's way:
 *
 *   xp_submit() -> what to do with the first req->nr_sectors of it
 *        |              (the backend splits off the rest and submits that too)
 *        |-- XP_DONE ---------------------------------> end it with req->err
 *        |-- XP_ZERO -- clear the caller's buffer ----> end it
 *        |-- XP_WAIT -- the core keeps it ------------> comes back in todo:
 *        |                 .ready: xp_submit() it again; .done: end it
 *        |-- XP_FAST, XP_SLOW, XP_SLOW_FILL, XP_SLOW_FLUSH - the I/O -> xp_end()
 *        |-- XP_MIXED - I/O of both devices ----------> xp_end()
 *        |-- XP_CHECK - private buffer, the I/O ------> xp_checked(), or xp_end() with its error
 *        `-- XP_COPY -- private buffer, base, merge,
 *              xp_copied(), the I/O -----------------> xp_end()
 *
 *   xp_end() -> XP_DONE or XP_WAIT, as above. A read that a device failed may come back in
 *   .ready: what it asks for is on the slow device, too; or more was read than it asks for.
 *
 * Every call that takes a struct xp_todo adds to it what else the backend must
 * now do. It must do it (xp_todo_empty() says whether there is anything),
 * without holding a lock that a completion needs; order does not matter.
 *
 * Locking: all functions xp_*() that are given a struct xp take the core's own lock, which disables
 * interrupts in the kernel; they may be called from any context, interrupts
 * included, unless marked "may sleep". Sizes are in 512-byte sectors where
 * named "sector", else in 4 KiB blocks. Errors are negative errno.
 */
#ifndef XPCACHE_H
#define XPCACHE_H

#include "block.h"
#include "bounds.h"
#include "list.h"
#include "platform.h"

struct xp;		/* one cache; core/cache.h */
struct xp_overlay;

/* ----------------------------------------------------------- requests ---- */

enum xp_op {
	XP_READ,
	XP_WRITE,
	XP_FLUSH,		/* carries no data; nr_sectors 0 */
	XP_DISCARD,
	XP_ZEROES,		/* write zeroes */
};

extern const char *const xp_op_name[];	/* "read" and so on: for complaints */

/* What to do with a request, or with what is left of it. */
enum xp_act {
	XP_DONE,		/* end it: success, or req->err */
	XP_WAIT,		/* the core has queued all of it; it may be anywhere by now: do
				 * not look at it again until it comes back */
	XP_ZERO,		/* a read of zeros: clear the buffer, end it. No xp_end(). */
	/*
	 * the caller's own buffer, at fast sector req->target, a write of req->fua with FUA if the device has a volatile
	 * cache; then xp_end()
	 */
	XP_FAST,
	XP_SLOW,		/* the same operation at the same sector, counted as the core does (.sector), of the slow device; then
				 * xp_end(). An XP_FLUSH so answered flushes the slow device. A FUA
				 * write keeps its FUA where xp_options.slow_fua says so, and only there. */
	XP_SLOW_FLUSH,		/* a write that has gone to the slow device so is durable when that is flushed; then xp_end() */
	XP_SLOW_FILL,		/* as XP_SLOW, for a read whose req->fill the cache wants: read what
				 * xp_fill_read() says, which may be more, into a buffer of the
				 * backend's own and copy the caller's part of it to the caller. After
				 * xp_end() without error, which is XP_DONE then, write each xp_fill_run() from that buffer
				 * (never from the caller's, which may have changed meanwhile), then
				 * xp_fill_end(). Or give the fill back at once by xp_fill_end()
				 * with an error, set fill.nr_blocks to 0, say xp_not_filled(), and do
				 * as for XP_SLOW */
	XP_MIXED,		/* as XP_SLOW_FILL, of a req->fill that may be of no block; and each run of
				 * req->overlay is read from the fast device, or cleared. When all of that has ended,
				 * its blocks take their place in the buffer; only then xp_end(), with the
				 * slow device's error if there is one. -ENOMEM instead if only the fast device has
				 * failed, or at once if there is no memory. After an error the request comes again, and is
				 * answered in pieces. */
	XP_COPY,		/* a write of req->nr_blocks whole blocks from a private buffer;
				 * see struct xp_copy */
	XP_CHECK,		/* a read of whole blocks into a private buffer: their sums are known, or
				 * req->private; see xp_checked() */
};

/* Where the bytes of a block that a partial write leaves alone come from. */
enum xp_base {
	XP_BASE_NONE,		/* the write covers all of it */
	XP_BASE_ZERO,
	XP_BASE_FAST,		/* 8 sectors at fast sector req->copy.from */
	XP_BASE_SLOW,		/* 8 sectors at slow sector req->copy.from, counted as .sector; the last block of a
				 * slow device may be shorter: what is beyond its end is zeros */
};

/*
 * XP_COPY: the backend
 *  1. takes a buffer of nr_blocks * 4096 bytes (nr_blocks is 1 where base is
 *     not NONE) and reads or clears the base into it; an error ends in xp_base_failed();
 *     if copy.check, asks xp_base_checked() whether that is what it should be;
 *  2. copies the caller's data in at byte copy.offset (XP_ZEROES: clears there);
 *  3. if copy.hashed, puts xp_checksum() of each block into hash[] and calls
 *     xp_copied(), which may add journal writes to the todo;
 *  4. writes the buffer to fast sector req->target (with FUA if copy.parallel and
 *     the fast device has a volatile cache), at the same time as those journal
 *     writes; then xp_end().
 */
struct xp_copy {
	enum xp_base base;
	u64 from;		/* sector */
	u32 offset;		/* bytes */
	bool parallel;		/* the record goes to the journal in parallel with the data */
	/* and for that, or to verify it later, the blocks' checksums are wanted */
	bool hashed;
	bool check;		/* of a base on the fast device a sum is known */
};

/* Blocks read from the slow device, on their way into the cache: in one or more runs of slots. */
struct xp_fill {
	xp_lba_t lba;		/* of a run: the first; else of no meaning */
	xp_slot_t slot;		/* the first */
	u32 nr_blocks;		/* 0: nothing to fill */
	u64 target;		/* fast sector of the first run */
};

struct xp_req {
	struct xp_link link;	/* the core's while it keeps the request, and in todo lists */

	/* Set by the backend before the first xp_submit(). */
	u64 sector;		/* of the device, and xp_sb_pad() more */
	u32 nr_sectors;		/* xp_submit() lowers it to what its answer is about */
	u8 op;			/* enum xp_op */
	bool fua;		/* XP_WRITE: durable when it ends (zeroes: flush after them) */
	bool aside;		/* XP_FLUSH: of no caller. What it hears was lost, a caller's has yet to hear */
	bool ordered;		/* XP_WRITE: it may come behind an XP_FLUSH of whose error its
				 * sender was not told; -EIO then */
	bool private;		/* before each xp_submit(): the fast device must not see the caller's buffer, as it takes
				 * whole blocks alone, and this is of parts of some, or its memory is (xp_is_partial()).
				 * Never XP_FAST then, but XP_CHECK or XP_COPY */
	u8 class;		/* enum xp_class; 0 at first. Of all its parts, when it has ended */
	/* 0 at first. The core's since: so often a device has refused it; XP_FLUSH: it was here before */
	u8 tries;
	/* false at first. The core's since: what is clean, from the slow device */
	bool fast_failed;
	/* the same: no more is read than it asks for, and no hit with its misses */
	bool alone;
	/* the same: enum xp_stream_told; of a write of whole blocks alone */
	u8 stream;
	/* false at first. The core's since: it is on the slow device, and a flush comes behind it */
	bool written;
	/* the core's: what was read is not what its sum says, and is read again */
	bool doubted;

	/* The core's answer. */
	int err;
	u64 target;		/* fast sector, for XP_FAST and XP_COPY */
	u32 nr_blocks;		/* blocks touched by the nr_sectors */
	struct xp_copy copy;
	struct xp_fill fill;
	struct xp_overlay *overlay;	/* of a read of the slow device: dirty blocks in it, for XP_MIXED; or NULL */

	/* The core's own. */
	u8 state;		/* enum xp_req_state, request.c */
	u8 bypass;		/* place in the table of bypassing writes */
	union {
		/* blocks whose records are placed; slots from base_slot on, to be freed */
		u32 progress;
		u32 failures;	/* of slow flushes, before a FLUSH or a write around the cache */
	};
	xp_slot_t slot;		/* first of nr_blocks */
	xp_slot_t base_slot;	/* pinned: what a partial write reads; or xp_hit_free()'s first */
	u64 point;		/* of the journal, that it waits for; or of the runs, in write-through */
	xp_seq_t record_seq;	/* journal block its records went to beside the data */
	union {
		u64 bypassed;	/* XP_FLUSH: bypassing writes its slow flush covers */
		u64 sent;	/* of a write-through: bit i: the slow device has block i, or failed it */
	};
};

/*
 * Do the sectors begin or end within a block? A fast device with logical sectors of 4096 bytes
 * cannot be sent that.
 */
static inline bool xp_is_partial(u64 sector, u32 nr_sectors)
{
	return (sector | nr_sectors) % XP_BLOCK_SECTORS;
}

/* --------------------------------------------------------------- todo ---- */

/* Beside the journal blocks of a window the superblock: the core asks for it as for one of them. */
#define XP_SUPERBLOCK	XP_WINDOW
#define XP_JOURNAL_IOS	(XP_WINDOW + 1)

struct xp_todo {
	struct xp_list done;	/* struct xp_req: end them with req->err */
	struct xp_list ready;	/* struct xp_req: xp_submit() them again, in order */
	/* bit i: xp_journal_io(i), write it, xp_journal_end(i); of XP_JOURNAL_IOS */
	u32 journal;
	bool work;		/* xp_writeback_wanted() may have become true */
	bool tick;		/* records wait in memory: xp_tick() within about a second */
	bool mark;		/* write the mark, see xp_mark_make() */
};

static inline void xp_todo_init(struct xp_todo *t)
{
	xp_list_init(&t->done);
	xp_list_init(&t->ready);
	t->journal = 0;
	t->work = false;
	t->tick = false;
	t->mark = false;
}

static inline bool xp_todo_empty(const struct xp_todo *t)
{
	return xp_list_empty(&t->done) && xp_list_empty(&t->ready) &&
	       !t->journal && !t->work && !t->tick && !t->mark;
}

/* All of @from goes to @to. */
static inline void xp_todo_splice(struct xp_todo *to, struct xp_todo *from)
{
	xp_list_splice(&to->done, &from->done);
	xp_list_splice(&to->ready, &from->ready);
	to->journal |= from->journal;
	to->work |= from->work;
	to->tick |= from->tick;
	to->mark |= from->mark;
	xp_todo_init(from);
}

enum xp_act xp_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/*
 * So many wait for their turn to be sent around the cache that a sender of more should be held
 * up until they are fewer. Takes no lock; any context.
 */
#define XP_AROUND_MAX	1024u
bool xp_crowded(const struct xp *c);
/*
 * What xp_submit() and xp_end() do with a read that hits, for a backend in a hurry, and
 * when the device has not failed it; or with one that is not read after all, and comes again.
 * They take no lock. After XP_HIT_OWES, and when xp_hit_end() says true, xp_hit_free() is next, before
 * anything else is done with @req; it takes the lock. Blocks of hits that have been read, and do not
 * end in xp_end(), the backend counts (struct xp_requests).
 */
#define XP_HIT		1u	/* as if XP_FAST had been answered; else xp_submit() knows */
#define XP_HIT_OWES	2u
u32 xp_hit(struct xp *c, struct xp_req *req);
bool xp_hit_end(struct xp *c, struct xp_req *req);
void xp_hit_free(struct xp *c, const struct xp_req *req, struct xp_todo *todo);
void xp_copied(struct xp *c, struct xp_req *req, const u64 *hash,
	       struct xp_todo *todo);
/* In place of xp_end(), of the reading of an XP_COPY's base. */
enum xp_act xp_base_failed(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);
enum xp_act xp_end(struct xp *c, struct xp_req *req, int err,
		   struct xp_todo *todo);

/*
 * Of an XP_SLOW_FILL: what is to be read, the blocks that the request touches, whole but for the one that the slow
 * device ends in. Takes no lock; any context.
 */
void xp_fill_read(const struct xp *c, const struct xp_req *req, u64 *sector, u32 *nr_sectors);
/* Takes the first run off @fill: blocks for one write. They lie side by side, and the next run behind them or later. False: nothing is left. Takes no lock; any context. */
bool xp_fill_run(struct xp *c, struct xp_fill *fill, struct xp_fill *run);
/*
 * After the data of a run is in its slots, or was not written (@err); or of all that is left of
 * a fill, if it is not written at all. Every block of a req->fill must come here once.
 */
void xp_fill_end(struct xp *c, const struct xp_fill *fill, int err,
		 struct xp_todo *todo);

/* ------------------------------------------------------------ journal ---- */

struct xp_journal_io {
	void *data;		/* one block; the backend must not keep it past xp_journal_end() */
	u32 bytes;		/* of it, from its start, have a meaning: a multiple of XP_LINE_SIZE.
				 * What the medium holds behind them may stay */
	u64 target;		/* fast sector */
	bool flush_fua;		/* PREFLUSH | FUA; else a plain write */
};

/* Seals block @i of the todo (computes its checksum; outside the lock). */
void xp_journal_io(struct xp *c, u32 i, struct xp_journal_io *io);
/*
 * After an error the block is asked for again, at the same place, then at another: nothing that it
 * holds is acknowledged until then. Only when the device is gone (-ENODEV and other errors that are
 * not of a place), when XP_WINDOW places one after the other have failed, or when the ring has none
 * to spare, the cache stops acknowledging writes, for good: xp_has_failed().
 */
void xp_journal_end(struct xp *c, u32 i, int err, struct xp_todo *todo);
/* Takes no lock; any context. */
bool xp_has_failed(const struct xp *c);

/*
 * To be called about once a second while there are requests, and after a todo
 * with .tick set: nothing acknowledged stays out of the journal for longer.
 */
void xp_tick(struct xp *c, struct xp_todo *todo);

#endif /* XPCACHE_H */
