/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backend.h - the kernel backend of xpcache: bios in, bios out; the map of dm-target/.
 *
 * The core (core/xpcache.h) decides, the backend performs. A bio's way:
 *
 *	dm --> xs_map() --> xp_submit() --> io.c     the caller's bio, remapped; a hit, a plain
 *	          |                     |            write or a FLUSH: fastpath.c
 *	          |                     |-> copy.c   a write from a private buffer
 *	          |                     `-> check.c  a read through one, compared with its sums
 *	          `-> throttle.c, under pressure     |
 *	                                             v
 *	dm <-- bio_endio() <-- xs_io_done() <-- xp_end()   (fill.c takes a miss's data)
 *
 *	todo.c        performs what the core adds to a struct xp_todo
 *	overlay_io.c  reads dirty blocks beside the slow device
 *	journal_io.c  writes journal blocks
 *	memory.c      a fast device that is memory: load and store instead of bios
 *	worker.c      writes dirty blocks back
 *	mark.c        marks on the slow device that writes pass through
 *	clock.c       once a second: commits, has the core see whether it is idle
 *	timing.c      counts of requests, histograms of latencies
 *	whole.c       bios that the device mapper has split, and are one request
 *	media.c       blocking access to the fast device, before and after requests
 *	lifecycle.c   first resume, suspend, resume; the registry of caches
 *	power.c       refuses to hibernate with a cache
 *	poison.c      lets loads of memory fail, in a module for tests (XP_DEBUG)
 *	target.c      table line, status, messages; the module
 *	kernel.h      one form of interfaces that differ between kernels; probes.c finds which
 *	needs.c       interfaces that the kernel must have; compiled before the rest
 *
 * Terms. A *part* of a bio is the range that one answer of the core covers:
 * often all of the bio. In xs_map() the device mapper splits off the rest. Later
 * the parts follow one another on the same bio, and need no allocation.
 *
 * Contexts. "Any" includes hard interrupts. No bio is submitted in one: xs_post()
 * queues the work that follows from a completion, and the worker does it. The
 * worker never waits for memory that only the worker can free.
 *
 * Locks. xs_cache.lock is a leaf below the core's. It covers the queues of
 * struct xs_work and the counts named there. Each other lock is declared next to
 * what it protects. No lock of the backend is held over a call into the core,
 * except writeback.take (a mutex).
 *
 * Words read without a lock. A field that says "read unlocked" is written by
 * WRITE_ONCE() or a store with an order, under its lock if it has one, and read
 * by READ_ONCE() or a load with an order. Where the order matters, the comment
 * of each side names the other; where none is named, a reader may see the value
 * late, and the field says what corrects that.
 */
#ifndef XS_BACKEND_H
#define XS_BACKEND_H

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/ioprio.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "class.h"
#include "kernel.h"
#include "options.h"
#include "pace.h"
#include "run.h"

struct xp_media;
struct xp_sb;
struct xs_fill;

#define DM_MSG_PREFIX "xpcache"

struct xs_cache;

/* One bio of the caller's, in dm's per-bio data. */
struct xs_io {
	/* the present part; .link is the backend's while the core has not queued it */
	struct xp_req req;
	struct bio *bio;
	struct bvec_iter iter;	/* of bio: the present part and the rest; slow sectors */
	unsigned short bi_flags;	/* of bio, as dm gave it */
	u64 release;		/* throttle.c: when, ns */
	u64 begun;		/* xs_time() when it came */
	u64 sent;		/* and when the present part went to a device */
	struct xs_whole *whole;	/* that it is a part of, and then .begun is 0; or NULL */
	u8 act;			/* enum xp_act: how the present part is done */
	/* all of it is one hit; .req, .iter, .bi_flags, .whole and the times are set */
	bool hit;
	bool below;		/* bio is with a device: its end is not yet the caller's */
	bool own;		/* not dm's: xs_commit()'s flush */
	bool counted;		/* already, as a request; its end is to come */
};

/*
 * A look without the lock of @list. Its holders write the head by plain stores of a
 * word: the answer is that of some moment, and the caller says why that is enough.
 */
static inline bool xs_list_looks_empty(const struct xp_list *list)
{
	/* With the plain stores of xp_list_add() and xp_list_pop(), which are whole. */
	return !data_race(READ_ONCE(list->head));
}

static inline struct xs_io *xs_io_of(struct xp_link *link)
{
	return container_of(link, struct xs_io, req.link);
}

/* The private buffer of an XP_COPY, or of an XP_CHECK. */
struct xs_copy {
	struct list_head list;	/* free reserve, or waiting for the worker */
	struct xs_cache *cache;
	struct xs_io *io;
	struct bio bio;
	u64 sent;		/* xs_time() of .bio */
	bool reserved;		/* from xs_copies.reserve, to be put back there */
	u32 nr_pages;
	struct page *page[XP_COPY_MAX];
	struct bio_vec vec[XP_COPY_MAX];
	u64 hash[XP_COPY_MAX];
};

/* Buffers that need no allocation. Each has the full size: any write can use any. */
#define XS_COPY_RESERVE	2u

/* One block of the journal's window. */
struct xs_journal_io {
	struct xs_cache *cache;
	u32 i;
	struct bio bio;
	u64 target;		/* fast sector */
	u64 sent;		/* xs_time() of .bio, or of the FLUSH before it */
	struct bio_vec vec[2];	/* the core's buffer of this place, once it was written */
	u16 nr_vecs;
};

/* The queues of the worker. All but the works are covered by xs_cache.lock. */
struct xs_work {
	struct work_struct work;
	struct work_struct journal_work;	/* apart: never waits for a full slow device */
	struct xp_list ready;		/* struct xs_io: submit */
	/* struct xs_io: XP_COPY, XP_CHECK; wait for buffers, in order */
	struct xp_list unbuffered;
	/* struct xs_copy: the base has been read, or must be read again */
	struct list_head based;
	struct list_head late;		/* struct xs_fill: deliver */
	struct list_head fills;		/* struct xs_fill: write */
	struct delayed_work fill_work;	/* writes them, unless a miss does before */
	u32 journal;			/* as xp_todo.journal */
	u32 flushed;			/* likewise: the FLUSH before them has ended */
};

/* Writes back one run at a time. Several share a batch. */
struct xs_worker {
	struct work_struct work;
	struct xs_cache *cache;
	u32 nr_pages;		/* at least one, always */
	struct page *page[XP_RUN_MAX];
	struct xp_run run;
};

struct xs_writeback {
	struct workqueue_struct *wq;
	struct delayed_work work;
	struct xs_worker *worker;
	u32 nr_workers;
	struct bio_set bios;
	/* jiffies: the end of the last batch, where a pause begins; of the work */
	unsigned long ended;
	/* measured: writeback of a block. Read unlocked, written by the work */
	u64 block_ns;
	/* suspended: no new batch. Read unlocked; a stop waits for the work */
	bool stopping;
	atomic_t kicks;		/* calls of xs_writeback_kick() */
	wait_queue_head_t kicked;

	struct mutex take;	/* xp_writeback_next() and what follows it */
	atomic_t errors;	/* runs of this batch that failed */
	u32 taken;		/* of take: blocks of this batch */
	u64 rested_ns;		/* of take: between runs of it */
	u32 over;		/* runs that have ended; one may be missed: who waits looks again soon */
	bool alone;		/* of take: another worker than the first has gone home */
	bool pausing;		/* the work is queued for the end of a pause, or has been */
	bool joined;		/* the others have been called in this batch; of the leader */
	unsigned long alone_since;	/* jiffies; of take */
};

struct xs_throttle {
	struct work_struct work;
	spinlock_t lock;	/* what follows; a leaf */
	/* struct xs_io, in order of .release. Read unlocked: xs_throttles() */
	struct xp_list queue;
	u64 next;		/* when the pace allows the next write, ns */
};

struct xs_clock {
	struct delayed_work work;
	spinlock_t lock;	/* running and stopped, to wind it; a leaf */
	bool running;		/* the work is queued, or at work. Read unlocked, with a barrier */
	bool stopped;		/* suspended: nobody winds it */
	/* a request came since the last tick. Without the lock, with a barrier */
	u32 active;		/* xchg() */
	/* records were placed since. Likewise: xs_clock_stir(), clock_tick() */
	u32 due;
	u32 idle_ms;		/* the option, as it is now. Read unlocked */
};

struct xs_counts {
	atomic64_t fast_bytes_written;
	atomic64_t fast_errors, slow_errors;
	atomic64_t writeback_flushes;
	atomic64_t failed_since;	/* seconds since 1970; 0: it has not */
};

struct xs_cache {
	/* Fixed by the constructor. */
	struct dm_target *ti;
	struct dm_dev *fast, *slow;
	struct xp_tunables options;	/* of the table */
	struct workqueue_struct *wq;
	u64 slow_sectors;
	/* the fast device takes whole blocks: its logical sector is larger */
	bool fast_whole;
	bool hit_asks;		/* fast_whole or verify: not each hit can be sent as it is */
	/* What sectors of requests are ahead of the slow device's by (core/cache.h), from a start on. */
	u32 pad;
	u64 started;		/* ktime_get_ns() */

	/* target.c: options, as messages have changed them */
	struct mutex now_lock;
	struct xp_tunables now;	/* of now_lock */

	/* timing.c */
	bool timed;		/* latencies are recorded. Read unlocked */
	bool has_histograms;	/* from the first time on; likewise */
	struct xs_tally __percpu *tally;
	struct xs_wholes *wholes;

	/* Fixed by the first resume; core is NULL before it. */
	struct xp *core;
	void *memory;
	u64 memory_bytes;	/* of the core and of the backend */
	u8 uuid[16];
	bool volatile_fast;
	bool slow_fua;		/* xp_options.slow_fua */
	bool flush_apart;	/* journal_io.c: never PREFLUSH with data */
	struct dax_device *dax;	/* memory.c: the fast device is memory; or NULL */
	u64 dax_start;		/* bytes: where it begins there */
	void *memory_at;	/* the address of all of it, while the device is alive */
	struct badblocks *bad;	/* the driver's own */
	const char *not_memory;	/* why memory is not accessed as such: a word, or NULL */

	/* lifecycle.c's registry lock. */
	struct list_head registered;
	bool active;		/* between resume and suspend. Read unlocked by status alone */
	bool lost;		/* another instance has taken the cache over */

	bool suspending;	/* from presuspend to resume: delay no bio. Read unlocked */
	bool at_rest;		/* suspended, and close_err is set */
	int close_err;
	atomic_t fill_blocks;	/* in memory, on their way to the fast device */
	struct xs_counts counts;
	struct xs_work todo;
	struct xs_throttle throttle;
	struct xs_clock clock;
	struct xs_writeback writeback;
	struct work_struct mark_work;
	void *mark_block;	/* a page, for the mark */
	struct xs_journal_io *journal;	/* XP_JOURNAL_IOS of them */

	atomic_t in_flight;	/* own I/O: journal blocks, fills, the mark; work taken from todo */
	wait_queue_head_t drained;

	spinlock_t lock;	/* what follows, and the queues of todo */
	struct list_head copy_reserve;	/* struct xs_copy */
	struct list_head spare_fills;	/* struct xs_fill, of one block */
	u32 nr_spare_fills;
};

/* fastpath.c */
int xs_map(struct dm_target *ti, struct bio *bio);
int xs_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error);

/* io.c; what it shares with fastpath.c is in io.h */
/* Submits the parts of @io that are left. Process context. */
void xs_io_submit(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo);
/*
 * The present part has ended, with req.err. Any context; if this was the last bio, the
 * cache may be freed before it returns.
 */
void xs_io_done(struct xs_cache *cache, struct xs_io *io);
/* Makes all that was acknowledged durable; sleeps. */
int xs_commit(struct xs_cache *cache);
/* Counts and logs an error of a device. Any context. */
void xs_fast_error(struct xs_cache *cache, const char *what, u64 sector, int err);
/* @sector: of requests. */
void xs_slow_error(struct xs_cache *cache, const char *what, u64 sector, int err);

/* todo.c */
void xs_todo_setup(struct xs_cache *cache);
/*
 * Performs @todo, and the work that this adds to it. Process context. The cache may be
 * freed before it returns, unless the caller is in xs_map() or after an xs_own_begin().
 */
void xs_perform(struct xs_cache *cache, struct xp_todo *todo);
/*
 * Ends requests, and queues the rest for the worker. Any context; the cache may be
 * freed before it returns, as with xs_io_done().
 */
void xs_post(struct xs_cache *cache, struct xp_todo *todo);
void xs_queue_io(struct xs_cache *cache, struct xp_list *list, struct xs_io *io);
void xs_queue_entry(struct xs_cache *cache, struct list_head *list, struct list_head *entry);
void xs_wake_worker(struct xs_cache *cache);
/*
 * A suspend waits for the end of what is between them. Any context; xs_own_end() must
 * be the caller's last use of the cache.
 */
static inline void xs_own_begin(struct xs_cache *cache)
{
	atomic_inc(&cache->in_flight);
}

void xs_own_end(struct xs_cache *cache);
/* No request is in flight: waits until no work is left. */
void xs_drain(struct xs_cache *cache);

/* @n bytes, of one page to one page. */
static inline void xs_copy_bytes(struct page *to, u32 to_offset, struct page *from,
				 u32 from_offset, u32 n)
{
	void *source, *target;

	if (n != PAGE_SIZE) {
		memcpy_page(to, to_offset, from, from_offset, n);
		return;
	}
	/* Faster than memcpy() on CPUs without fast string operations. */
	source = kmap_local_page(from);
	target = kmap_local_page(to);
	copy_page(target, source);
	kunmap_local(target);
	kunmap_local(source);
}

/*
 * A bio that several requests wait for: the cgroup and the priority of the task that
 * sends it must not slow it. Call it after bio_init() without a device, which would
 * take the task's.
 */
static inline void xs_bio_of_all(struct bio *bio, struct block_device *bdev)
{
	bio->bi_bdev = bdev;
	bio->bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM);
	bio_associate_blkg_from_css(bio, blkcg_root_css);
}

/* whole.c */
int xs_wholes_alloc(struct xs_cache *cache);
void xs_wholes_free(struct xs_cache *cache);
u64 xs_wholes_bytes(void);
/* dm takes req.nr_sectors of the @asked sectors at @sector: the rest is to come. */
void xs_whole_split(struct xs_cache *cache, struct xs_io *io, const struct bio *bio, u64 sector,
		    u32 asked);
/* Sets io->whole if @bio, new in xs_map(), is such a rest. */
void xs_whole_join(struct xs_cache *cache, struct xs_io *io, const struct bio *bio, u64 sector);
/* A part of it has ended for good. */
void xs_whole_ended(struct xs_cache *cache, struct xs_whole *whole, enum xp_class class,
		    bool failed);

/* copy.c */
int xs_copies_alloc(struct xs_cache *cache);
void xs_copies_free(struct xs_cache *cache);
u64 xs_copies_bytes(void);
/* Performs XP_COPY or XP_CHECK for @io, or queues it for a buffer. Process context. */
void xs_copy_start(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo);
/* The base has been read, or the buffer must be read again. Process context. */
void xs_copy_go_on(struct xs_copy *copy, struct xp_todo *todo);
/* For check.c: the buffer's bio, and its end by @end. xs_copy_end(): any context. */
typedef enum xp_act xs_copy_end_fn(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);
void xs_copy_bio(struct xs_copy *copy, u64 sector, blk_opf_t opf, bio_end_io_t *end);
void xs_copy_submit(struct xs_copy *copy, struct block_device *bdev);
void xs_copy_finish(struct xs_copy *copy, xs_copy_end_fn *end, int err, struct xp_todo *todo);
void xs_copy_end(struct xs_copy *copy, xs_copy_end_fn *end, int err);
/* Starts requests that wait for a buffer, while there are buffers. */
void xs_copy_retry(struct xs_cache *cache, struct xp_todo *todo);
/* A buffer of XP_COPY_MAX pages from the reserve: all are free while no request is in flight. */
struct xs_copy *xs_copy_borrow(struct xs_cache *cache);
void xs_copy_return(struct xs_copy *copy);

/* check.c */
/* Reads for XP_CHECK. Process context. */
void xs_check_begin(struct xs_copy *copy, struct xp_todo *todo);
/* xp_checksum() of a block. Any context. */
u64 xs_hash_page(struct page *page);
/* Logs it, if there is anything. Any context. */
void xs_rot_tell(struct xs_cache *cache, const struct xp_rot *rot);

/* fill.c */
/* Fills of one block that are kept: the depth of a queue of small misses. */
#define XS_SPARE_FILLS	32u
/* More blocks than this are not copied in an interrupt. */
#define XS_FILL_INLINE	16u
/*
 * Reads the part for the caller and the cache, or from both devices. False: no memory; the fill has been
 * given back, and the caller's own bio must be read, or the core be told so (XP_MIXED). Process context.
 */
bool xs_fill_read(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo);
/* One of its reads has ended, of whichever device. Any context, within rcu_read_lock() or a use of the cache. */
void xs_fill_read_ended(struct xs_fill *fill, int err);
/* Copies the data to the caller, and queues the fill. Any context. */
void xs_fill_deliver(struct list_head *entry);
/* Writes the fills that wait, without waiting for another miss. Any context. */
void xs_fills_hurry(struct xs_cache *cache);
void xs_fills_setup(struct xs_cache *cache);
void xs_fills_free(struct xs_cache *cache);
u64 xs_fills_bytes(void);

/* overlay_io.c */
struct xs_overlay;
/* With pages for all of its blocks; @of is read until it is freed. NULL: no memory. */
struct xs_overlay *xs_overlay_get(struct xs_cache *cache, struct xs_fill *fill, const struct xp_overlay *of);
void xs_overlay_free(struct xs_overlay *o);
/* Of how many reads xs_overlay_read() tells the fill that they have ended. @o may be NULL. */
u32 xs_overlay_reads(const struct xs_overlay *o);
/* Process context. */
void xs_overlay_read(struct xs_overlay *o, blk_opf_t opf);
/* All reads have ended: its pages take their place in @vec, and it has those that were there. Any context. */
void xs_overlay_lay(struct xs_overlay *o, struct bio_vec *vec);

/* journal_io.c */
int xs_journal_alloc(struct xs_cache *cache);
/* Writes the blocks of @mask. One that ends here adds to @todo. Process context. */
void xs_journal_write(struct xs_cache *cache, u32 mask, struct xp_todo *todo);
/* Writes the blocks of @mask after the FLUSH before them. Process context. */
void xs_journal_write_flushed(struct xs_cache *cache, u32 mask);

/*
 * memory.c: only with xs_cache.dax. Sectors of the fast device, any number of bytes.
 * They return 0; -EIO: a line is poisoned; -ENXIO: use the block layer (xs_fast_opf()).
 * A store is durable when the function returns. Process context.
 */
void xs_memory_setup(struct xs_cache *cache);
int xs_memory_load(struct xs_cache *cache, u64 sector, void *to, u32 bytes);
int xs_memory_store(struct xs_cache *cache, u64 sector, const void *from, u32 bytes);
/* xp_options.store: any context. */
int xs_memory_store_now(void *ctx, u64 at, const void *from, u32 bytes);
/* Also makes durable what it loads. */
int xs_memory_load_durable(struct xs_cache *cache, u64 sector, void *to, u32 bytes);
/* The bytes of @bio in @iter, from or to @sector. */
int xs_memory_read(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 sector);
int xs_memory_write(struct xs_cache *cache, struct bio *bio, struct bvec_iter iter, u64 sector);

/* poison.c, of a module for tests: a load of these bytes of memory is to fail. Any context. */
#ifdef XP_DEBUG
DECLARE_STATIC_KEY_FALSE(xs_poisoned);
bool xs_poison_covers(u64 at, u32 bytes);

static __always_inline bool xs_is_poisoned(u64 at, u32 bytes)
{
	return static_branch_unlikely(&xs_poisoned) && xs_poison_covers(at, bytes);
}
#else
static __always_inline bool xs_is_poisoned(u64 at, u32 bytes)
{
	return false;
}
#endif

/* A write to memory through the block layer must be durable when it ends, as a store is. */
static inline blk_opf_t xs_fast_opf(const struct xs_cache *cache)
{
	return cache->dax ? REQ_FUA : 0;
}

/* worker.c */
int xs_writeback_alloc(struct xs_cache *cache);
void xs_writeback_free(struct xs_cache *cache);
u64 xs_writeback_bytes(const struct xs_cache *cache);
/* There may be blocks to write back. Any context. */
void xs_writeback_kick(struct xs_cache *cache);
/* Begin and give up a flush, which ends by itself. */
void xs_writeback_flush(struct xs_cache *cache, bool on);
void xs_writeback_start(struct xs_cache *cache);
void xs_writeback_finish(struct xs_cache *cache);
void xs_writeback_stop(struct xs_cache *cache);

/* mark.c */
int xs_mark_setup(struct xs_cache *cache);
void xs_mark_free(struct xs_cache *cache);
/* Queues the write of the mark. Any context. */
void xs_mark(struct xs_cache *cache);
/* Before recovery: -ESTALE if there is a mark; sleeps. */
int xs_mark_check(struct xs_cache *cache, const struct xp_sb *sb, const struct xp_media *media);

/* throttle.c */
void xs_throttle_setup(struct xs_cache *cache);
/*
 * Whether writes are slowed. Without the lock: a write that does not see another one in
 * the queue overtakes it, as any two writes may that are in flight together.
 */
static inline bool xs_throttles(struct xs_cache *cache)
{
	return xp_pressure(cache->core) || !xs_list_looks_empty(&cache->throttle.queue);
}

/* True: the write @io has been queued, and is submitted later. */
bool xs_throttle(struct xs_cache *cache, struct xs_io *io);

/* clock.c */
void xs_clock_setup(struct xs_cache *cache);
void xs_clock_start(struct xs_cache *cache);
void xs_clock_stir(struct xs_cache *cache, u32 *reason);
/* A request has come: the clock goes on. Any context. */
static inline void xs_clock_request(struct xs_cache *cache)
{
	struct xs_clock *k = &cache->clock;

	if (!READ_ONCE(k->active) || !READ_ONCE(k->running))
		xs_clock_stir(cache, &k->active);
}

/* The option idle_ms, of the table or of a message. Any context. */
void xs_clock_idle_after(struct xs_cache *cache, u32 idle_ms);
/* Records wait for a commit. Any context. */
void xs_clock_records(struct xs_cache *cache);
void xs_clock_stop(struct xs_cache *cache);

/* media.c */
void xs_media_setup(struct xs_cache *cache, struct xp_media *m);

/* power.c */
int xs_power_init(void);
void xs_power_exit(void);

/* lifecycle.c */
/*
 * Lets no cache start until xs_registry_open(). False: one is in memory, active or not;
 * each is logged with @why.
 */
bool xs_registry_close(const char *why);
void xs_registry_open(void);
int xs_preresume(struct dm_target *ti);
void xs_resume(struct dm_target *ti);
void xs_presuspend(struct dm_target *ti);
void xs_presuspend_undo(struct dm_target *ti);
void xs_postsuspend(struct dm_target *ti);
/* Removes the instance from the registry, and frees what the first resume has allocated. */
void xs_release(struct xs_cache *cache);

static inline struct block_device *xs_fast(const struct xs_cache *cache)
{
	return cache->fast->bdev;
}

static inline struct block_device *xs_slow(const struct xs_cache *cache)
{
	return cache->slow->bdev;
}

/* Bytes of the @nr_blocks blocks from sector @sector of the requests on that exist. */
static inline u32 xs_slow_bytes(const struct xs_cache *cache, u64 sector, u32 nr_blocks)
{
	return min_t(u64, (u64)nr_blocks * XP_BLOCK_SECTORS,
		     cache->slow_sectors + cache->pad - sector) << SECTOR_SHIFT;
}

#endif /* XS_BACKEND_H */
