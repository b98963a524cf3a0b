/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xpcache.h - what a backend (dm target, daemon, tool, simulator) asks of the core.
 *
 * The core decides; the backend performs. Nothing here does I/O, sleeps, reads a
 * clock or allocates, but for recovery.c, which reads and writes metadata
 * through the blocking callbacks of struct xp_media before the first request, and
 * for records stored into a fast device that is memory: xp_options.store.
 *
 * A request's way:
 *
 *   xp_submit() -> what to do with the first req->nr_sectors of it
 *        |              (the backend splits off the rest and submits that too)
 *        |-- XP_DONE ---------------------------------> end it with req->err
 *        |-- XP_ZERO -- clear the caller's buffer ----> end it
 *        |-- XP_WAIT -- the core keeps it ------------> comes back in todo:
 *        |                 .ready: xp_submit() it again; .done: end it
 *        |-- XP_FAST, XP_SLOW, XP_SLOW_FILL - the I/O -> xp_end()
 *        |-- XP_CHECK - private buffer, the I/O ------> xp_checked(), or xp_end() with its error
 *        `-- XP_COPY -- private buffer, base, merge,
 *              xp_copied(), the I/O -----------------> xp_end()
 *
 *   xp_end() -> XP_DONE or XP_WAIT, as above. A read that the fast device failed may
 *   come back in .ready: what it asks for is on the slow device, too.
 *
 * Every call that takes a struct xp_todo adds to it what else the backend must
 * now do. It must do it (xp_todo_empty() says whether there is anything),
 * without holding a lock that a completion needs; order does not matter.
 *
 * Locking: all functions below take the core's own lock, which disables
 * interrupts in the kernel; they may be called from any context, interrupts
 * included, unless marked "may sleep". Sizes are in 512-byte sectors where
 * named "sector", else in 4 KiB blocks. Errors are negative errno.
 */
#ifndef XPCACHE_H
#define XPCACHE_H

#include "format.h"
#include "histogram.h"

struct xp;		/* one cache; core/cache.h */

/* -------------------------------------------------------------- lists ---- */

struct xp_link {
	struct xp_link *next;
};

/* A queue of requests: first in, first out. */
struct xp_list {
	struct xp_link *head;
	struct xp_link **tail;
};

static inline void xp_list_init(struct xp_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static inline bool xp_list_empty(const struct xp_list *l)
{
	return !l->head;
}

static inline void xp_list_add(struct xp_list *l, struct xp_link *link)
{
	link->next = NULL;
	*l->tail = link;
	l->tail = &link->next;
}

static inline struct xp_link *xp_list_pop(struct xp_list *l)
{
	struct xp_link *link = l->head;

	if (link) {
		l->head = link->next;
		if (!l->head)
			l->tail = &l->head;
	}
	return link;
}

/* Moves all of @from to the end of @to. */
static inline void xp_list_splice(struct xp_list *to, struct xp_list *from)
{
	if (xp_list_empty(from))
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	xp_list_init(from);
}

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
	XP_FAST,		/* the caller's own buffer, at fast sector req->target; then xp_end() */
	XP_SLOW,		/* the same operation at the same sector of the slow device; then
				 * xp_end(). An XP_FLUSH so answered flushes the slow device. A FUA
				 * write keeps its FUA. */
	XP_SLOW_FILL,		/* as XP_SLOW, for a read whose req->fill the cache wants: read into
				 * a buffer of the backend's own and copy to the caller's. After
				 * xp_end() without error write the fill from that buffer (never
				 * from the caller's, which may have changed meanwhile), then
				 * xp_fill_end(). Or give the fill back at once by xp_fill_end()
				 * with an error, set fill.nr_blocks to 0, say xp_not_filled(), and do
				 * as for XP_SLOW */
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
	XP_BASE_SLOW,		/* 8 sectors at slow sector req->copy.from; the last block of a
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
	bool hashed;		/* and for that, or to verify it later, the blocks' checksums are wanted */
	bool check;		/* of a base on the fast device a sum is known */
};

#define XP_COPY_MAX	16u	/* blocks of one XP_COPY: 64 KiB */
#ifndef XP_RUN_MAX	/* the simulator tries a few */
#define XP_RUN_MAX	256u	/* blocks of one request: 1 MiB; what is longer is split */
#endif

/* Blocks read from the slow device, on their way into the cache. */
struct xp_fill {
	xp_lba_t lba;
	xp_slot_t slot;
	u32 nr_blocks;		/* 0: nothing to fill */
	u64 target;		/* fast sector */
};

struct xp_req {
	struct xp_link link;	/* the core's while it keeps the request, and in todo lists */

	/* Set by the backend before the first xp_submit(). */
	u64 sector;
	u32 nr_sectors;		/* xp_submit() lowers it to what its answer is about */
	u8 op;			/* enum xp_op */
	bool fua;		/* XP_WRITE: durable when it ends (zeroes: flush after them) */
	bool ordered;		/* XP_WRITE: it may come behind an XP_FLUSH of whose error its
				 * sender was not told; -EIO then */
	bool private;		/* before each xp_submit(): the fast device must not see the caller's buffer, as it takes
				 * whole blocks alone, and this is of parts of some, or its memory is (xp_is_partial()).
				 * Never XP_FAST then, but XP_CHECK or XP_COPY */
	u8 class;		/* enum xp_class; 0 at first. Of all its parts, when it has ended */
	u8 tries;		/* 0 at first. The core's since: slots that the fast device has refused */
	bool fast_failed;	/* false at first. The core's since: what is clean, from the slow device */
	bool doubted;		/* the core's: what was read is not what its sum says, and is read again */

	/* The core's answer. */
	int err;
	u64 target;		/* fast sector, for XP_FAST and XP_COPY */
	u32 nr_blocks;		/* blocks touched by the nr_sectors */
	struct xp_copy copy;
	struct xp_fill fill;

	/* The core's own. */
	u8 state;		/* enum xp_req_state, request.c */
	u8 bypass;		/* place in the table of bypassing writes */
	u32 progress;		/* blocks whose records are placed; slots from base_slot on, to be freed */
	xp_slot_t slot;		/* first of nr_blocks */
	xp_slot_t base_slot;	/* pinned: what a partial write reads; or xp_hit_free()'s first */
	u64 point;		/* of the journal, that it waits for */
	xp_seq_t record_seq;	/* journal block its records went to beside the data */
	u64 bypassed;		/* XP_FLUSH: bypassing writes its slow flush covers */
};

/* Do the sectors begin or end within a block? A fast device with logical sectors of 4096 bytes cannot be sent that. */
static inline bool xp_is_partial(u64 sector, u32 nr_sectors)
{
	return (sector | nr_sectors) % XP_BLOCK_SECTORS;
}

/* --------------------------------------------------------------- todo ---- */

/* Journal blocks being written at once; more FLUSHes than that share one. At
 * least 2; the simulator tries a narrow one. */
#ifndef XP_WINDOW
#define XP_WINDOW	8u
#endif
/* And beside them the superblock: the core asks for it as for a block of the journal. */
#define XP_SUPERBLOCK	XP_WINDOW
#define XP_JOURNAL_IOS	(XP_WINDOW + 1)

/* Records put into a journal block: all it has room for; the simulator tries few. */
#ifndef XP_PUT_MAX
#define XP_PUT_MAX	XP_RECORDS
#endif

struct xp_todo {
	struct xp_list done;	/* struct xp_req: end them with req->err */
	struct xp_list ready;	/* struct xp_req: xp_submit() them again, in order */
	u32 journal;		/* bit i: xp_journal_io(i), write it, xp_journal_end(i); of XP_JOURNAL_IOS */
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

/* Of @bytes, a multiple of 8, at @data, aligned to 8. Takes no lock; any context. */
u64 xp_checksum(const void *data, u32 bytes);
/* Of record @i of a block that has grown, whose own checksum is @sum. */
u64 xp_tag(u64 sum, u32 i, const struct xp_record *r);
/* How many records a block has, what has grown included. Its header must be valid. */
u32 xp_block_records(const struct xp_jblock *b);

/* It is of the worst of the classes that its parts belong to. The core says so, but for: */
static inline void xp_req_is(struct xp_req *req, enum xp_class class)
{
	req->class = max(req->class, (u8)class);
}

/* The backend lets a write wait, for its own reasons. */
static inline void xp_held_back(struct xp_req *req)
{
	xp_req_is(req, XP_CLASS_WRITE_STALLED);
}

/* The backend has given the fill back. */
static inline void xp_not_filled(struct xp_req *req)
{
	xp_req_is(req, XP_CLASS_READ_BYPASS);
}

/* What an operation of a device is timed as; XP_CLASSES: it is not. */
static inline enum xp_class xp_leg_class(enum xp_op op, bool fast)
{
	static const u8 leg[][2] = {
		[XP_READ] = { XP_CLASS_SLOW_READ, XP_CLASS_FAST_READ },
		[XP_WRITE] = { XP_CLASS_SLOW_WRITE, XP_CLASS_FAST_WRITE },
		[XP_FLUSH] = { XP_CLASS_SLOW_FLUSH, XP_CLASSES },
		[XP_DISCARD] = { XP_CLASSES, XP_CLASSES },
		[XP_ZEROES] = { XP_CLASSES, XP_CLASSES },
	};

	return (enum xp_class)leg[op][fast];
}

enum xp_act xp_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* So many wait for their turn to be sent around the cache that a sender of more should be held
 * up until they are fewer. Takes no lock; any context. */
#define XP_AROUND_MAX	1024u
bool xp_crowded(const struct xp *c);
/* What xp_submit() and xp_end() do with a read that hits, for a backend in a hurry, and
 * when the device has not failed it. They take no lock. After XP_HIT_OWES, and when xp_hit_end() says true, xp_hit_free() is next,
 * before anything else is done with @req; it takes the lock. */
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

/* With xp_options.verify, of each block @i of a fill that is about to be written: xp_checksum() of
 * the fill's own bytes. Takes no lock. */
void xp_fill_hash(struct xp *c, const struct xp_fill *fill, u32 i, u64 hash);
/* After the fill's data is in its slots, or was not written (@err). Every
 * req->fill with nr_blocks must come here once, whether it was used or not. */
void xp_fill_end(struct xp *c, const struct xp_fill *fill, int err,
		 struct xp_todo *todo);

/* ------------------------------------------------------------- verify ---- */

/*
 * With xp_options.verify (verify.c) the core keeps a sum of what is in a slot, and what is read
 * there is compared with it before anybody gets it. What differs is read once more, into memory
 * that nobody else writes, before it is believed. Then it counts as what the fast device cannot read: a clean
 * block is read from the slow device, and loses its slot; a dirty one is an error, -EIO, and stays where it is.
 */

/* Of a block's xp_checksum() what is kept: never 0, which says that none is known. No lock; any context. */
u32 xp_sum(u64 checksum);

/* Blocks that were found to hold something else: how many, and the first of them. With .nr the
 * backend tells its user. */
struct xp_rot {
	u32 nr;
	xp_lba_t lba;
	xp_slot_t slot;
	bool dirty;
};

/* Of XP_CHECK, until it is answered: hash[] is looked at. No lock; any context. */
bool xp_has_sums(const struct xp *c, const struct xp_req *req);
/*
 * XP_CHECK: the backend
 *  1. reads req->nr_blocks whole blocks, at most XP_COPY_MAX, from fast sector req->target into a
 *     buffer that nobody else writes; an error ends in xp_end(), as of XP_FAST;
 *  2. puts xp_checksum() of each into hash[], if xp_has_sums(), and calls xp_checked(), which says
 *     XP_DONE: copy the caller's part, from byte copy.offset on, and end it with req->err (no xp_end());
 *     XP_CHECK: once more from 1; XP_WAIT: the core keeps it, and the buffer is of no use.
 */
enum xp_act xp_checked(struct xp *c, struct xp_req *req, const u64 *hash, struct xp_rot *rot,
		       struct xp_todo *todo);
/* Of a base that has been read, with copy.check. XP_COPY: go on with it; XP_CHECK: read it once
 * more, and ask again; else as xp_base_failed(). */
enum xp_act xp_base_checked(struct xp *c, struct xp_req *req, u64 hash, struct xp_rot *rot,
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
 * not of a place), when XP_WINDOW places one after the other have failed, or when the ring has none to
 * spare, the cache stops acknowledging writes, for good: xp_has_failed().
 */
void xp_journal_end(struct xp *c, u32 i, int err, struct xp_todo *todo);
/* Takes no lock; any context. */
bool xp_has_failed(const struct xp *c);

/* To be called about once a second while there are requests, and after a todo
 * with .tick set: nothing acknowledged stays out of the journal for longer. */
void xp_tick(struct xp *c, struct xp_todo *todo);

/* ------------------------------------------------------------ writeback ---- */

/* Dirty blocks, consecutive on the slow device. */
struct xp_run {
	xp_lba_t lba;
	u32 nr_blocks;		/* up to XP_RUN_MAX */
	bool zeroes;		/* write zeroes (fall back to a buffer of them); else read the slots */
	int err;		/* of its I/O; set by the backend before xp_writeback_end() */
	u32 batch_index;	/* the core's, */
	u32 doubted;		/* and this */
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
 *		while (xp_writeback_next(c, run) != XP_NEXT_END)   any number in flight
 *			read its slots, write it to the slow device, xp_writeback_end(c, run);
 *		when all have ended: err = flush the slow device;
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
bool xp_writeback_begin(struct xp *c, struct xp_todo *todo);
enum xp_next xp_writeback_next(struct xp *c, struct xp_run *run);
/* With xp_options.verify, of each block @i of a run that was read from its slot: xp_checksum() of it.
 * 0: it may go home. -EAGAIN: read that slot once more, and ask again. -EIO: the run has failed. */
int xp_writeback_checked(struct xp *c, struct xp_run *run, u32 i, u64 hash, struct xp_rot *rot);
void xp_writeback_end(struct xp *c, struct xp_run *run);
/* @now in seconds since 1970, for xp_stats.destage_failing_since. */
void xp_writeback_commit(struct xp *c, int err, u64 now, struct xp_todo *todo);
/* ms to wait after the last batch before the next one, since it had errors; 0: it had none,
 * or somebody cannot wait: to be asked again about once a second. Any context. */
u32 xp_writeback_pause(struct xp *c);

/* Makes xp_writeback_wanted() true while there is a dirty block (the cache is
 * idle, say); @on false ends it. */
void xp_drain(struct xp *c, bool on);
/* The same until a moment comes when everything is home, which stats.homes counts:
 * the next write may have made a block dirty before anybody looks. @on false gives it up. */
void xp_write_back_all(struct xp *c, bool on);

/* Fast sector of a slot. */
u64 xp_slot_sector(const struct xp *c, xp_slot_t slot);

/* How hard a write should be slowed now, 0 (not) to 1024 (to the pace at which
 * blocks are destaged): rises smoothly between the two dirty limits. */
u32 xp_pressure(struct xp *c);

/*
 * The time that a write of @blocks, which comes at @now, may go on: after those before it,
 * and so much later as its blocks take to be brought home, @block_ns each, times the pressure.
 * At most 0.1 s for itself, and 1 s from now. *@next is the time of the one before, 0 at
 * first, and under a lock of the caller's. All in ns.
 */
u64 xp_pace(u64 *next, u64 now, u32 blocks, u64 block_ns, u32 pressure);
#define XP_PACE_SLACK	1000000u	/* less is not worth a sleep: paid by the next */

/* ------------------------------------------------------------ passing ---- */

/*
 * The fast device is gone, with nothing dirty on it; writes wait until that is noted on the slow
 * device (passthrough.c). After a todo with .mark set, once in a cache's life, the backend
 *  1. reads the block at slow sector xp_mark_sector();
 *  2. asks xp_mark_make(), which makes the mark of it; false: it is somebody's, -EEXIST;
 *  3. writes it there, and when that has ended flushes the slow device;
 *  4. says xp_mark_end(), with the first error.
 * It may allocate nothing for that, as somebody waits.
 */
u64 xp_mark_sector(const struct xp *c);
bool xp_mark_make(struct xp *c, void *block);
void xp_mark_end(struct xp *c, int err, struct xp_todo *todo);
/* Is it one, of this cache? Then it must not start before xp_unmark(). */
bool xp_mark_is(const struct xp_sb *sb, const void *block);

/* -------------------------------------------------------------- state ---- */

struct xp_stats {
	/* now */
	u64 slots, free, dirty, clean;		/* blocks; the rest is in flight */
	u64 fast_blocks;			/* of the fast device, that are the cache's: slots, journal and all before it */
	u64 journal_blocks, journal_used;
	u64 seq, durable_seq, incarnation;
	u64 memory;				/* bytes, all of it */
	/* since start, requests as the backend submitted them after splitting */
	u64 read_hits, read_misses, writes, write_bypass, flushes, discards;
	u64 flushes_slow;			/* flushes that had to go to the slow device */
	u64 fills, fills_dropped;		/* blocks */
	u64 write_blocks, destaged, evicted;	/* blocks */
	u64 journal_writes, carried;		/* blocks, records */
	u64 waits;				/* requests that had to wait */
	u64 reroutes;				/* of journal blocks to other places; the incarnation grows by each */
	u64 homes;				/* times that an xp_write_back_all() has arrived */
	u64 sum_errors;				/* blocks found not to hold what their sum says, each time */
	u64 pressure;				/* 0 to 1024 */
	u64 stranded;				/* dirty blocks of a cache that has failed */
	u64 bad_places, bad_slots;		/* of the ring, and slots: given up, as they cannot be written */
	bool passing;				/* writes go to the slow device */
	bool flushing, home;			/* xp_write_back_all() is under way; xp_is_clean() */
	u64 destage_failing_since;		/* seconds since 1970: batches have had errors since then; 0: they
						 * have none, or nothing is left to bring home */
	int failed;				/* 0, or the error that stopped it */
};

void xp_get_stats(struct xp *c, struct xp_stats *s);

/* What a backend adds to them. */
struct xp_backend {
	bool running;			/* else suspended */
	const u8 *uuid;			/* 16 bytes */
	bool fast_is_memory;		/* worked on by load and store; else through blocks */
	const char *not_memory;		/* a word: why not, of a device that could be; or NULL */
	u64 memory, histogram_memory;	/* bytes, the backend's own */
	u64 destage_flushes, fast_bytes_written;
	u64 fast_errors, slow_errors;	/* operations of the devices that failed */
	u64 failed_since;		/* seconds since 1970; 0: it has not */
};

/* "<state> uuid <hex> <name> <count>...": @room bytes at @text with the NUL. Returns the bytes
 * it needs without the NUL: if that is @room or more, the text is cut. */
u32 xp_status_print(struct xp *c, const struct xp_backend *backend, char *text, u32 room);

/* True when nothing acknowledged would be lost by a power cut and the slow
 * device alone is complete: no dirty block, no unflushed bypassing write. */
bool xp_is_clean(struct xp *c);

/* ------------------------------------------------------- options, words ---- */

#define XP_MESSAGE_MAX	256

/* What was refused, where, and why; one line without a full stop. */
struct xp_message {
	char text[XP_MESSAGE_MAX];
};

struct xp_options {
	bool volatile_fast;	/* the fast device has a volatile write cache */
	bool fast_at_once;	/* a write of it has ended as soon as it is submitted: it costs less
				 * than the copy and the checksum of one that goes beside its record */
	bool slow_discards;	/* pass discards of unmapped blocks to the slow device */
	/*
	 * With fast_at_once, of a cache with XP_INCOMPAT_GROWS; NULL: journal blocks are written whole.
	 * Stores a few bytes, from byte @at of the fast device on, that are durable when it returns 0:
	 * then nobody has to ask for a journal block that they belong to. Else any of them may have
	 * landed, and they go to another one. Under the core's lock: any context, sleeps never.
	 */
	int (*store)(void *ctx, u64 at, const void *from, u32 bytes);
	void *store_ctx;
	u32 dirty_low;		/* percent of slots: writeback above */
	u32 dirty_high;		/* percent: writers are slowed towards, and held at, it */
	u64 mark_lba;		/* where a mark may be written; 0: nowhere */
	u64 slow_sectors;	/* size of the slow device now; 0: as the superblock has it */
	u32 accept;		/* XP_ACCEPT_*: what recovery may lose; the user has said so */
	bool verify;		/* of a cache with XP_INCOMPAT_SUMS: keep sums, and compare what is read */
};

/* A fast device that cannot be read everywhere: recovery goes on without */
#define XP_ACCEPT_LOSS	1u	/* ... journal blocks that it needs, or that may have been the last commit */
#define XP_ACCEPT_OLDER	2u	/* ... a slot above durable_seq: the block's older version holds */

#define XP_DEFAULT_DIRTY_LOW	10u
#define XP_DEFAULT_DIRTY_HIGH	80u

/* What an option of the table line or of the command line sets. */
struct xp_tunables {
	u32 dirty_low;		/* as in struct xp_options */
	u32 dirty_high;
	u32 idle_ms;		/* the backend's: all dirty blocks go home when idle so long; 0: never */
	u32 histogram;		/* the backend's: 1: how long requests take is recorded; 0: not */
	u32 mark;		/* mark_lba of struct xp_options; start's, not the user's */
	u32 verify;		/* as in struct xp_options; the cache gets what it needs for that */
};

#define XP_TUNABLES	6u

struct xp_tunable {
	const char *name;	/* the table line's; the command line has '-' for '_' */
	u32 min, max, initial;
	size_t offset;		/* in struct xp_tunables */
};

extern const struct xp_tunable xp_tunable_rows[XP_TUNABLES];

/* Pure functions, callable anywhere. What is refused is refused by -EINVAL and
 * *msg, in words that print. */
void xp_tunables_init(struct xp_tunables *t);
u32 xp_tunable_value(const struct xp_tunables *t, const struct xp_tunable *row);
/* One option, by its name; then, after the last, what contradicts what. */
int xp_tunables_set(struct xp_tunables *t, const char *name, const char *word,
		    struct xp_message *msg);
int xp_tunables_check(const struct xp_tunables *t, struct xp_message *msg);
/* What follows the devices in a table line: "", or " 2 dirty_low 20", each
 * option that is not at its default. */
#define XP_TUNABLES_TEXT	128u
void xp_tunables_print(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT]);

/* "<fast device> <slow device> [<nr args> [<name> <value>]...]" in words. The
 * devices are set even where the options are refused; NULL: missing. */
struct xp_table {
	const char *fast, *slow;
	struct xp_tunables tunables;
};
int xp_table_parse(struct xp_table *t, u32 nr, char *const *word, struct xp_message *msg);

/* What a running cache can be told. */
enum xp_command {
	XP_COMMAND_FLUSH,	/* bring all dirty blocks home, until there is none */
	XP_COMMAND_FLUSH_STOP,	/* no longer */
	XP_COMMAND_COMMIT,	/* make durable what was acknowledged */
	XP_COMMAND_HISTOGRAM,	/* tell how long requests took; the others have no answer */
	XP_COMMAND_HISTOGRAM_ON, /* record it */
	XP_COMMAND_HISTOGRAM_OFF,
};
#define XP_COMMANDS	6u

const char *xp_command_name(enum xp_command command);
int xp_command_parse(enum xp_command *command, u32 nr, char *const *word,
		     struct xp_message *msg);

/* ---------------------------------------------- text that others chose ---- */

/* May a cache be called so? 1 to 31 letters, digits, '_', '.' and '-', the first no '.' or '-'; not "control". */
bool xp_name_valid(const char *name);
/*
 * Text that others chose, where it is read. It ends with the first NUL, at @room - 1 bytes at the latest. Each byte
 * that is not UTF-8, or of a character that controls a terminal, ends a line or turns the direction of writing,
 * becomes a '?'. True: there was one, or it was longer. Any context.
 */
bool xp_words_clean(char *text, u32 room);
/* The bytes of the character at @text, of at most @room, if it may stay; 0: its first byte becomes a '?'. */
u32 xp_words_char(const char *text, u32 room);
/* The words of a superblock. A name that no cache may have gets a '_' for each byte that is wrong. True: as above. */
bool xp_sb_clean(struct xp_sb *sb);

/* --------------------------------------------------- superblock, start ---- */

/* Blocking access to the fast device before the first request and after the
 * last: may sleep. In blocks. When @write returns, it and all that completed
 * before it are durable (PREFLUSH and FUA, or fdatasync before and after).
 * I2: what @read gave and @write comes after survives a power cut too, whoever stored it: of
 * memory, @read writes back the processor's lines of it, which a life that was killed may have left. */
struct xp_media {
	void *ctx;
	int (*read)(void *ctx, u64 block, u32 nr_blocks, void *buf);
	int (*write)(void *ctx, u64 block, u32 nr_blocks, const void *buf);
	/* Of the slow device, less than a block from @sector on, for its last block that an older version has cached
	 * (xp_recover()): durable when it returns 0. NULL: xp_recover() leaves such a block cached if it is dirty. */
	void *slow_ctx;
	int (*write_slow)(void *slow_ctx, u64 sector, u32 nr_sectors, const void *buf);
};

/* How many places of the ring may be bad: what it has beyond what its slots need, at most XP_BAD_PLACES. */
u32 xp_sb_spare_places(const struct xp_sb *sb);
/* Is the place, counted from the ring's first block, one of them? */
bool xp_sb_place_is_bad(const struct xp_sb *sb, u64 position);
/* Lays out a superblock for a fast device of @fast_blocks; the caller has set
 * uuid, name, created and slow. -ENOSPC: too small. No I/O. */
int xp_sb_layout(struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg);
/* Blocks of the smallest fast device. */
u64 xp_sb_least_blocks(void);
/* Would a fast device of @fast_blocks have more slots than the superblock says? */
bool xp_sb_can_grow(const struct xp_sb *sb, u64 fast_blocks);
/* Do the journal and slot 0 lie where they do there? Then what is mapped there is mapped here. */
bool xp_sb_same_places(const struct xp_sb *a, const struct xp_sb *b);
/* *@sb is @was, laid out for @fast_blocks: xp_sb_can_grow(). -ENOSPC, and why: bad blocks are in the way. No I/O. */
int xp_sb_grow(struct xp_sb *sb, const struct xp_sb *was, u64 fast_blocks, struct xp_message *msg);
/* The block takes no write: it goes to its list, if it is of the journal or of a slot. False: no more may be bad. */
bool xp_sb_add_bad(struct xp_sb *sb, u64 block);
void xp_sb_seal(struct xp_sb *sb);		/* sets the checksum */
/* 0, -ENOENT (no magic: not a cache), -EUCLEAN (damaged), -ENOTSUP (features). */
int xp_sb_verify(const struct xp_sb *sb, u64 fast_blocks, struct xp_message *msg);
/* Reads both copies, the newer valid one into @sb, its words clean (xp_sb_clean()). Same errors, or the read's. While a cache runs its
 * superblock is its own: the core writes it. */
int xp_sb_read(const struct xp_media *m, u64 fast_blocks, struct xp_sb *sb,
	       struct xp_message *msg);
/* Writes both copies, B before A, so that an interruption leaves one valid. */
int xp_sb_write(const struct xp_media *m, struct xp_sb *sb);
/* The same, if it has to be, of a cache that has had no sums so far (XP_INCOMPAT_SUMS). Not while it runs. */
int xp_sb_allow_sums(const struct xp_media *m, struct xp_sb *sb);
/* Erases both, A first: after that there is no cache. @block: 4096 bytes. */
int xp_sb_erase(const struct xp_media *m, void *block);
/* First journal block, then the superblocks: there is a cache only at the end.
 * @sb and @block (4096 bytes) are given to m->write(): aligned as it needs. */
int xp_format(const struct xp_media *m, struct xp_sb *sb, void *block);

/* Bytes of memory for a cache of this superblock, with xp_options.verify or not; the backend gives them
 * zeroed and aligned to 4096 to xp_init() and frees them after the last call. */
u64 xp_memory(const struct xp_sb *sb, bool verify);
struct xp *xp_init(void *mem, const struct xp_sb *sb, const struct xp_options *opt);

/*
 * Reads the journal and rebuilds the map. May sleep; before the first request.
 * @scratch: xp_recover_memory() bytes.
 * @restate: write what was decided and begin a new incarnation; required before
 * xp_submit(). False: look only (check, dump). Before the first xp_submit() the
 * backend also flushes the slow device: writes around the cache that an earlier
 * life acknowledged may still be in its volatile cache, and nobody knows.
 * What cannot be read, and is not needed, is overwritten while restating: it may be readable again
 * some day. Refused with *msg, and nothing was written:
 *  -EUCLEAN: damaged metadata. What is damaged is an error of who wrote it, or of the device.
 *  -EBADMSG: journal blocks cannot be read, and at most XP_RECORDS records in each are not known:
 *            so many blocks may be older than what was promised, or missing. XP_ACCEPT_LOSS
 *            goes on; xp_mapping.doubtful says of which that may be so.
 *  -EIO: there is no journal block to begin with, and some cannot be read.
 *  -ENOSPC: the slow device is shorter than it was (xp_options.slow_sectors), and dirty blocks reach past its end.
 * With @restate the superblock has the present size of the slow device afterwards, and no block is mapped that is not
 * whole on it. Another error of @m->write_slow, or -EIO: a dirty one of those cannot be written back.
 * Or with the error of a write.
 */
#ifndef XP_RECOVER_CHUNK	/* the simulator tries a few */
#define XP_RECOVER_CHUNK	64u	/* blocks read at once */
#endif
u64 xp_recover_memory(const struct xp_sb *sb);
int xp_recover(struct xp *c, const struct xp_media *m, void *scratch,
	       bool restate, struct xp_message *msg);

/* What lies in one place of the journal ring. */
enum xp_place {
	XP_PLACE_VALID,
	XP_PLACE_EMPTY,		/* zeros: never written, or erased by a recovery */
	XP_PLACE_NOISE,		/* no journal block: never written, on a device that held something */
	XP_PLACE_TORN,		/* its checksum is wrong: half a write, or damage */
	XP_PLACE_OTHER,		/* of a cache that was here before */
	XP_PLACE_MISPLACED,	/* its number belongs elsewhere in the ring */
	XP_PLACE_SENSELESS,	/* its checksum is right, its header contradicts itself */
	XP_PLACE_UNREADABLE,	/* the device gives an error; the witness gets no block */
	XP_PLACE_BAD,		/* given up, as it could not be written: whatever lies there; likewise */
	XP_PLACES,
};

/* A valid block, as its header tells. */
struct xp_ring_block {
	u64 seq;		/* 0: not valid */
	u64 tail;
	u64 durable;
	u64 incarnation;
	u32 count, records;	/* of its header; and with those that it has grown by */
	u32 before;		/* what it says of the records of the block before it */
	bool unreadable;
	bool hole;		/* missed in the chain that was taken (XP_ACCEPT_LOSS) */
};

/* What replay made of a record. */
enum xp_verdict {
	XP_REPLAYED,
	XP_NO_DATA,		/* not proven durable, and its slot holds something else: the
				 * older version holds */
	XP_UNREADABLE_DATA,	/* not proven durable, and its slot cannot be read: it holds, and the block
				 * cannot be read until it is written anew; with XP_ACCEPT_OLDER the older one */
	XP_MOOT,		/* CLEAN or ZERO of what is not the block's mapping */
	XP_REFUSED,
};

struct xp_said {
	xp_lba_t lba;
	xp_slot_t slot;
	u8 kind, flags;
	u8 verdict;		/* enum xp_verdict */
	u32 index;		/* in its block */
	u32 sum;		/* 0: it has none */
	u64 hash;
	u64 seq;		/* its block */
};

/* Who looks on while recovery decides, and decides nothing. Told in this order: */
struct xp_witness {
	void *ctx;
	/* 1. scan: each place of the ring; @b NULL: it cannot be read */
	void (*place)(void *ctx, u64 position, enum xp_place place,
		      const struct xp_jblock *b);
	/* 2. pick: blocks from the newest on, and where their chains break; 0: not
	 * at all, this one is taken */
	void (*candidate)(void *ctx, const struct xp_ring_block *b, u64 breaks_at);
	/* 3. replay: each record of that chain. Goes on after one that was refused,
	 * for *@why, so that all are told */
	void (*record)(void *ctx, const struct xp_said *said,
		       const struct xp_message *why);
};

/* xp_recover() without restating, before a witness (or NULL). For check and dump. */
int xp_look(struct xp *c, const struct xp_media *m, void *scratch,
	    const struct xp_witness *witness, struct xp_message *msg);

/* ---- fingerprint.c: what was noted when the cache came to rest ---- */

/* Reads both copies. Which is the newer valid one of the cache @uuid, 0 or 1, then in *@fp; -ENOENT:
 * there is none, -EIO: ... and one cannot be read. @fp: 2 blocks for m->read(); the answer is in the
 * first. */
int xp_fp_read(const struct xp_media *m, const u8 uuid[16], struct xp_fp fp[2]);
/* The superblock's fast_blocks, as they were noted with it; 0: not known. */
u64 xp_fp_fast_blocks(const struct xp_fp *fp);
/* Before a start: where the slow device may hold a mark, as is noted (*@lba, 0: nowhere). The backend looks there, whatever
 * options it has: who starts it may not have. -EIO: that cannot be known, as no copy is whole and one cannot be read. */
int xp_mark_place(const struct xp_media *m, const struct xp_sb *sb, struct xp_fp fp[2], u64 *lba);

/* ---- rest.c: of a cache that does not run, for the command line ---- */

/* Where a journal ends: its newest block. */
struct xp_end {
	u64 seq, incarnation;
};

/* From the journal block @seq on, to the newest: valid ones, of this cache, with no gap that a
 * life in order would not leave; what cannot be read is a gap. -ENOENT: @seq is not there.
 * @block: 4096 bytes. */
int xp_follow(const struct xp_media *m, const struct xp_sb *sb, u64 seq, void *block,
	      struct xp_end *end);

/* After xp_look(), which found nothing dirty or what may be lost: the cache maps nothing any more.
 * One write of one block: before it, and torn, the cache is as it was. @c is of no more use. */
int xp_forget(struct xp *c, const struct xp_media *m, void *block);
/* The same of one that was closed just now with nothing dirty, by who has no memory for its map:
 * @end is from xp_follow(). It ends at xp_empty_after() then, and nowhere else. */
struct xp_end xp_empty_after(const struct xp_sb *sb, const struct xp_end *end);
int xp_forget_after(const struct xp_sb *sb, const struct xp_end *end, const struct xp_media *m, void *block);

/*
 * After xp_look(), which found nothing dirty: the fast device has @fast_blocks now, which is more, and the cache is laid
 * out for that. *@sb: as xp_look() had it, but for what the larger one says besides; then as it is. With xp_sb_same_places() what is clean stays, and *@end is
 * not touched; else nothing is mapped any more, and the journal ends at *@end. Each write leaves a cache that starts, and
 * never one that maps what is not there. @zeros: memory of @nr blocks, which are written at once where the journal will be.
 * -EBUSY: something is dirty. -ENOSPC, and why: too much is bad. Else the device's -errno: once more may help. @c is of no
 * more use.
 */
int xp_grow(struct xp *c, const struct xp_media *m, struct xp_sb *sb, u64 fast_blocks, void *zeros, u32 nr,
	    struct xp_end *end, struct xp_message *msg);

/*
 * While the cache runs: the slow device is longer than it was. Three steps, so that the superblock has the new size
 * before a block beyond the old end is mapped, and the backend reads the last block as it is now before it is cached:
 *	xp_resize()		asks for the superblock with @sectors. -EINVAL: that is less than now; -EBUSY: the last
 *				block is short and cached, as an older version did, and could not be read
 *				by the last start; -EIO: the cache has failed
 *	xp_resize_noted()	0: it is durable, in both copies; -EAGAIN: not yet; -EIO: it cannot be written, or the
 *				cache has failed: once more from the beginning, or not at all
 *	xp_resize_end()		then, once the backend takes the device to have @sectors: so does the core
 * One at a time.
 */
int xp_resize(struct xp *c, u64 sectors, struct xp_todo *todo);
int xp_resize_noted(struct xp *c);
void xp_resize_end(struct xp *c);

/* After the last request has ended: nothing acknowledged is still only in
 * memory when this returns 0. May sleep; writes through @m. */
int xp_close(struct xp *c, const struct xp_media *m);

/* After xp_look(): @block is what the slow device holds at @lba, and xp_mark_is(). The cache forgets
 * all it has, then the mark is erased; after a crash in between it is done once more. @slow: blocking
 * access to that device, as to the other. -EUCLEAN, unless @losing: dirty blocks that were
 * acknowledged; nothing was changed. @c is of no more use. */
int xp_unmark(struct xp *c, const struct xp_media *fast, const struct xp_media *slow, u64 lba,
	      bool losing, void *block);

/* For check and dump: what block @lba is mapped to. False: not cached. */
struct xp_mapping {
	xp_lba_t lba;
	xp_slot_t slot;
	bool dirty, zeros;
	bool doubtful;		/* journal blocks that came after its record cannot be read, and may have
				 * said otherwise: an older version, or another block's data */
	u32 sum;		/* xp_sum() of its data; 0: not known, or not xp_options.verify */
};
bool xp_lookup(struct xp *c, xp_lba_t lba, struct xp_mapping *m);

/* Are these the 4096 bytes that were written to its slot? True if no sum says otherwise. */
static inline bool xp_mapping_holds(const struct xp_mapping *m, const void *data)
{
	return !m->sum || xp_sum(xp_checksum(data, XP_BLOCK_SIZE)) == m->sum;
}

/* Walks the slots from *@cursor (start with 0); false at the end. */
bool xp_walk(struct xp *c, u32 *cursor, struct xp_mapping *m);

#endif /* XPCACHE_H */
