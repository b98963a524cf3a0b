/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache.h - the cache's own structures; the map of core/.
 *
 * The life of a slot. Each arrow names the function that draws it; "record"
 * is a journal record placed in the open block, "durable" that its block and
 * all before it are.
 *
 *             slots_alloc            write_flip (+ MAP record)
 *      FREE ----------------> WRITING ------------------------> MAPPED
 *       ^  \                     | data failed                  |  |  |
 *       |   \ slots_alloc        v                              |  |  | evict, or zeros
 *       |    `------> FILLING  FREE          superseded by a    |  |  | written back
 *       |              |    \                newer write        |  |  | (+ UNMAP record)
 *       |   touched by |     `- xp_fill_end ---> MAPPED         |  |  v
 *       |   a write    v        (+ MAP record)  PENDING_FREE <--'  | UNMAPPING
 *       |<------- CANCELLED                            | durable   |  | durable
 *       |             xp_fill_end                      v           |  v
 *       `--------------------------------------- RELEASED <--------'--'
 *                       last pin goes
 *
 * True in each state:
 *   FREE          no recoverable mapping names it, nobody reads it
 *   WRITING       in the hash: its lba is busy. No record names it, or (parallel commit)
 *                 a record whose checksum tells recovery whether the data landed
 *   FILLING       in the hash; no record names it
 *   CANCELLED     not in the hash; the fill's write may still be in flight
 *   MAPPED        in the hash, the only MAPPED slot of its lba; on the list of the
 *                 journal block that holds its newest MAP record
 *   UNMAPPING     in the hash, not read from: blocks bypassing writes (I8)
 *   PENDING_FREE  not in the hash; older recoverable states may name it (I1)
 *   RELEASED      no recoverable mapping names it; pinned by a reader
 *
 * Locking: every function of core/ that is not in xpcache.h is called with
 * c->lock held, unless it says otherwise.
 */
#ifndef XP_CACHE_H
#define XP_CACHE_H

#include "platform.h"
#include "xpcache.h"

#define XP_NIL		0xffffffffu	/* no slot, end of a chain */

enum xp_state {
	SLOT_FREE,
	SLOT_WRITING,
	SLOT_FILLING,
	SLOT_CANCELLED,
	SLOT_MAPPED,
	SLOT_UNMAPPING,
	SLOT_PENDING_FREE,
	SLOT_RELEASED,
};

/*
 * 20 bytes a slot. All is c->lock's, but pins: hits come and go without the lock
 * (hit.c), so pins are changed by an exchange of the whole word, which fails if
 * anything else in it has changed. Who changes that has the lock, and need not
 * exchange: pins are bytes of their own. (A hit's "referenced" may be lost so.)
 * The record of a slot that is held must not be relocated past that of the write.
 */
#define XP_WORD_FIELDS							\
	u8 lba_high;							\
	u8 state : 3;		/* enum xp_state */			\
	u8 dirty : 1;		/* MAPPED: the slow device does not hold it */ \
	u8 zeros : 1;		/* MAPPED: reads as zeros, whatever the slot holds; dirty as well */ \
	u8 referenced : 1;	/* MAPPED: second chance */		\
	u8 held : 1;		/* MAPPED: a parallel commit may supersede it or fall back to it */ \
	u8 listed : 1;		/* on the list of a journal block */	\
	u16 pins		/* readers, and writeback */

union xp_word {
	u32 all;
	struct { XP_WORD_FIELDS; };
};

struct xp_entry {
	u32 lba_low;
	union {
		union xp_word word;
		struct { XP_WORD_FIELDS; };
	};
	u32 hash_next;
	u32 list_next;		/* WRITING, and not listed: what was mapped when it began, or XP_NIL */
	u32 list_prev;		/* a slot, or XP_LIST_HEAD | ring position */
};

#define XP_LIST_HEAD	0x80000000u
/* Hits of one block at once; others wait. */
#ifndef XP_HIT_PINS	/* the simulator tries a few */
#define XP_HIT_PINS	0xfff0u
#endif
#define XP_MAX_PINS	(XP_HIT_PINS + 2)
/* Who waits for a pin is woken when a reader ends. A batch and the base of one
 * partial write are all that pin a slot and are not readers. */
static_assert(XP_HIT_PINS > 2, "a slot at its most pins has a reader");

/* Records that are new in a block; the rest of it is for relocated ones. With a
 * ring of which a full map fills a quarter, that keeps the head from ever
 * reaching the tail (docs/ARCHITECTURE.md, "The ring never fills"). */
#define XP_NEW_MAX	(XP_PUT_MAX / 2)
#define XP_RELOCATE_MAX	(XP_PUT_MAX - XP_NEW_MAX)

enum xp_block_state {
	BLOCK_IDLE,		/* no journal block */
	BLOCK_OPEN,		/* takes records; where it grows, some are on the medium */
	BLOCK_SEALED,		/* with the backend */
	BLOCK_REFUSED,		/* its place cannot be written (badblocks.c) */
	BLOCK_MOVED,		/* has another place, and waits for the one before it to be written */
	BLOCK_WRITTEN,
};

/* A journal block from its first record until it and its data are durable. */
struct xp_window {
	u64 seq;		/* in order, without a gap: what is waited for */
	u64 number;		/* on the medium: the same, but for those of bad places, which it skips */
	u64 tail;		/* once sealed, or stored: a number */
	u32 position;		/* in the ring */
	u32 nr, nr_relocated;	/* records; those of them that only repeat */
	u32 stored;		/* OPEN: so many are on the medium already, the relocated ones among them */
	u32 nr_freed;
	u8 state;		/* enum xp_block_state */
	u8 tries;		/* SEALED: writes of it that have failed at this place */
	bool undone;		/* the data of the request sent beside it is not known to be durable */
	u32 freed[XP_RECORDS];	/* slots that its being durable sets free */
};

struct xp_journal {
	/* Fixed. */
	u64 start;		/* block of the fast device */
	u64 blocks;
	u64 usable;		/* of them, with as many bad as may be: what the ring's thresholds are of */
	u64 incarnation;
	u8 uuid[16];
	struct xp_jblock *buffer;	/* XP_WINDOW blocks */
	u32 *list;		/* a ring position: its slots with their newest record there */

	bool grows;		/* xp_options.store is used: recovery's own blocks are whole, by its media */

	/* open == sealed + 1; durable <= written <= sealed. A block grows only with written == sealed */
	u64 sealed;		/* newest block given to the backend, or closed */
	u64 written;		/* it and all before it are on the medium */
	u64 reached;		/* journal_point() of the newest record that is, and all before it */
	u64 durable;		/* ... and the data their records name */
	/* Numbers on the medium: */
	u64 sealed_number, written_number, durable_number;	/* of those three */
	u64 stamp;		/* durable_seq while recovery restates; 0: durable_number */
	u64 tail;		/* oldest block with a live record, or open */
	u64 tail_written;	/* tail of the newest block written: what a recovery may need */
	u64 leave;		/* all that lives in blocks up to this one is relocated, however full the ring */
	bool seal_wanted;	/* as soon as window and ring allow */
	bool rerouting;		/* a block was refused: nothing is sealed until those from it on have
				 * other places, and the superblock says so */
	u32 refused;		/* places, one after the other, since a block was written */
	u32 before;		/* records of the newest block but the open one, if it has grown */
	struct xp_window window[XP_WINDOW];	/* seq % XP_WINDOW */
};

/* A place in the table of writes around the cache: free if of nobody and no block. */
struct xp_bypass {
	u64 lba;
	u32 nr;			/* of these blocks; nobody else begins anything about them */
	struct xp_req *holder;	/* it has the place, but has not been sent */
	bool clearing;		/* ... and waits for the journal: mappings end there first */
	bool ended;		/* the records of some that end may not be on the medium */
};
#ifndef XP_BYPASS_MAX	/* the simulator tries a few */
#define XP_BYPASS_MAX	32u
#endif

/* So many batches in a row that brought nothing home: the slow device is gone,
 * for now, and nobody is left waiting for it. */
#define XP_FUTILE_MAX	3u

/* After so many batches that failed the pauses are as long as they get. */
#define XP_PAUSES_MAX	6u
#define XP_PAUSE_MS	1000u
#define XP_PAUSE_MS_MAX	30000u

struct xp_batch_entry {
	u32 slot;
	u8 zeros;
	u8 written_back;		/* its data is on the slow device, not yet flushed */
};

struct xp_lbas {
	u64 first, nr;
};

/* Blocks of a batch: a 64th of the slots, but so many at least, or all. */
#ifndef XP_BATCH_MIN	/* the simulator tries a few */
#define XP_BATCH_MIN	256u
#endif

enum xp_batch_state {
	BATCH_NONE,
	BATCH_BUILDING,
	BATCH_RUNNING,
	BATCH_CLEANING,		/* flushed; records are being placed */
};

struct xp_batch {
	struct xp_batch_entry *entry;
	u32 max, nr, next;
	u32 nr_written_back, nr_failed;	/* blocks */
	struct xp_lbas failed;	/* from the first to the last of these */
	u8 state;		/* enum xp_batch_state */
	bool has_all;		/* that was dirty, from c->alone on */
	bool split;		/* a run of more than one has failed: its blocks go alone next */
	u64 cursor;		/* lba where the next batch begins */
	u64 bypassed;		/* bypassing writes its slow flush covers */
	u64 barrier;		/* journal_point() that must be reached before its first run */
};

/* The superblock is written by the core as long as the cache runs: both copies, one after the other. The
 * second is only begun when the first is whole: one always is. */
enum xp_super_state {
	SUPER_REST,
	SUPER_FIRST,
	SUPER_SECOND,
};

struct xp_super {
	struct xp_sb *sb;	/* as it is to be */
	struct xp_sb *io;	/* as it is written */
	u32 spare_places;	/* of the ring: so many may be bad */
	u32 nr_avoided;		/* places in @sb, and behind them those that are not to be in it yet */
	u32 nr_bad_slots;	/* in @sb */
	u8 state;		/* enum xp_super_state */
	u8 copy, tries;		/* that is being written: 0: A, 1: B; and how often that has failed */
	bool whole[2];		/* these copies, as far as is known */
	u64 changes, writing, written;	/* how many @sb has had, and those two copies */
	u64 resized;		/* the change that is the slow device's new size */
};

/* Slots of a write that failed, one of which may be bad: they are written to one by one. */
#define XP_SUSPECTS	8u

struct xp_slots {
	u32 first, nr;		/* nr 0: none */
};

enum xp_pass {
	PASS_OFF,
	PASS_MARKING,		/* writes wait for the mark */
	PASS_ON,
};

#define XP_HIT_COUNTERS	16u	/* so many processors count without meeting */

struct xp {
	struct xp_lock lock;

	/* Fixed at start. */
	struct xp_options opt;
	u64 data_start;		/* block of the fast device */
	u32 nr_slots;
	u32 nr_buckets;
	u32 nr_regions, region_shift;	/* of the slow device; of 2^region_shift blocks, the last of all the rest */
	u32 low_free;		/* below: evict ahead of need */
	u32 dirty_low, dirty_soft, dirty_high;	/* slots */
	bool may_sum;		/* XP_INCOMPAT_SUMS: records may bear one */
	u64 memory;

	/* Of the lock. */
	u64 slow_sectors;
	u64 nr_whole;		/* blocks of the slow device; the one behind them is short, and not cached (write.c) */
	struct xp_entry *entry;
	u32 *bucket;
	u8 *region;		/* so many slots in the hash are of its blocks (map.h) */
	u64 *free_map;		/* bit a slot */
	u64 *free_sum;		/* bit a word of free_map: has a free slot */
	u32 *sum;		/* of what is in a slot, 0: not known; NULL: not xp_options.verify (verify.c) */
	u32 alloc_hand, evict_hand;
	u32 nr_free, nr_dirty, nr_clean, nr_pending_free;

	struct xp_journal journal;
	struct xp_super super;
	struct xp_slots suspect[XP_SUSPECTS];	/* round and round */
	u32 next_suspect;
	bool any_suspect;
	bool fast_suspected;	/* it has failed something since the last tick */
	bool tables_written;	/* somebody may have made new partitions */
	u8 pass;		/* enum xp_pass, passthrough.c */
	u64 cleaned;		/* journal_point() of the newest record that made a dirty block clean */

	struct xp_batch batch;
	struct xp_lbas alone;	/* go home one by one: the last batch that failed some had them there */
	u32 futile;		/* batches since one brought a block home */
	u32 failing;		/* the same, pauses or not; 1 after one that brought home a part */
	u64 failing_since;	/* xp_stats.destage_failing_since */
	struct xp_bypass bypass[XP_BYPASS_MAX];
	u64 bypass_done;	/* writes around the cache that ended */
	u64 bypass_flushed;	/* of those, how many a slow flush has covered */
	u64 bypass_doubted;	/* of those, how many a FLUSH that failed was about */
	u32 doubt_ticks;	/* left, since then */
	u32 bypass_running;	/* places in use, */
	u32 bypass_held;	/* and those of them with a holder */
	bool fills_held_up;	/* by bypass_flushed < bypass_done, since the last tick */
	bool slow_flush_wanted;	/* a batch without runs, for the sake of fills */

	u32 writes_unsynced;	/* since the last FLUSH */
	u32 writes_a_sync;	/* between the two FLUSHes before it */
	u32 sync_streak;	/* FLUSHes that came after as many writes as the one before */

	struct xp_list busy;	/* wait for their lba */
	struct xp_list around;	/* wait for a place in bypass[]: in order */
	u32 nr_around;		/* so many */
	struct xp_list space;	/* wait for a free slot */
	struct xp_list room;	/* wait for room in the journal, to be submitted again */
	struct xp_list parked;	/* written; wait for room in the journal */
	struct xp_list sync;	/* wait for req->point to be reached */

	/* Written under the lock, read without: something acknowledged may not be durable, or the
	 * cache has failed. False only where the medium takes records at once. */
	bool owes;

	/* Of no lock. */
	struct xp_counter hits[XP_HIT_COUNTERS];
	struct xp_counter idle_flushes;

	bool draining;		/* the backend's wish, while it lasts */
	bool flushing;		/* the user's: until nothing is dirty, if only for a moment */
	bool running;		/* recovered; else look only */
	u64 lost;		/* recovery went on without journal blocks up to this number, or 0: */
				/* what older ones say is doubtful */
	int failed;
	struct xp_stats stats;
};

/* With the lock held; else xp_is_clean(). */
static inline bool cache_is_clean(const struct xp *c)
{
	return !c->nr_dirty && !c->bypass_running && c->bypass_done == c->bypass_flushed;
}

static inline struct xp_entry *entry_of(struct xp *c, xp_slot_t slot)
{
	return &c->entry[xp_slot_n(slot)];
}

static inline xp_lba_t entry_lba(const struct xp_entry *e)
{
	return XP_LBA((u64)e->lba_high << 32 | e->lba_low);
}

static inline bool entry_is_of(const struct xp_entry *e, xp_lba_t lba)
{
	return e->lba_low == (u32)xp_lba_n(lba) && e->lba_high == (u8)(xp_lba_n(lba) >> 32);
}

static inline void entry_set_lba(struct xp_entry *e, xp_lba_t lba)
{
	XP_WRITE_ONCE(e->lba_low, (u32)xp_lba_n(lba));
	e->lba_high = (u8)(xp_lba_n(lba) >> 32);
}

/* By one pin, with or without the lock; returns what was there before. */
static inline union xp_word pins_change(struct xp_entry *e, int by)
{
	union xp_word was = { .all = XP_READ_ONCE(e->word.all) }, now;

	do {
		XP_ASSERT(by > 0 ? was.pins < XP_MAX_PINS : was.pins > 0);
		now = was;
		now.pins += by;
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
	return was;
}

static inline u64 slot_sector(const struct xp *c, xp_slot_t slot)
{
	return (c->data_start + xp_slot_n(slot)) * XP_BLOCK_SECTORS;
}

static inline bool is_slot(xp_slot_t slot)
{
	return xp_slot_n(slot) != XP_NIL;
}

static inline xp_lba_t lba_add(xp_lba_t lba, u64 n)
{
	return XP_LBA(xp_lba_n(lba) + n);
}

static inline xp_slot_t slot_add(xp_slot_t slot, u32 n)
{
	return XP_SLOT(xp_slot_n(slot) + n);
}

/* slots.c, slot.h: free and used slots */
void slots_init_free(struct xp *c);
u32 slots_search(const struct xp *c);
/* Up to @want consecutive free slots, FREE -> @state, in the hash from @lba on.
 * Returns how many; 0: none. */
u32 slots_alloc(struct xp *c, u32 want, enum xp_state state, xp_lba_t lba,
		xp_slot_t *first);
/* Nobody names it any more: FREE, or RELEASED until the last pin goes. Must be
 * neither in the hash nor on a list. */
void slot_release(struct xp *c, xp_slot_t slot);
void slot_pin(struct xp *c, xp_slot_t slot);
void slot_unpin(struct xp *c, xp_slot_t slot);
/* RELEASED, and the last pin has gone: FREE. */
void slot_free(struct xp *c, xp_slot_t slot);
/* FILLING -> CANCELLED: the fill must not land. */
void slot_doom(struct xp *c, xp_slot_t slot);
/* MAPPED -> UNMAPPING; stays in the hash. */
void slot_unmap(struct xp *c, xp_slot_t slot);

/* jblock.c */
u32 jblock_bytes(const struct xp_jblock *b);
u64 jblock_checksum(struct xp_jblock *b);

/* journal.c; placing records: journal.h */
bool journal_make_room(struct xp *c, u32 n, struct xp_todo *todo);
/* ... for records that undo those of block @undo. */
bool journal_room_undo(struct xp *c, u64 undo, struct xp_todo *todo);
/* Seals the open block if it holds a new record, now or as soon as it can be; or stores its new
 * records, and then slots may have become free. Returns the journal_point() of all records placed so far. */
u64 journal_commit(struct xp *c, struct xp_todo *todo);
/* The same, and what is placed later goes to another block: whatever comes to lie behind the
 * newest that is on the medium by then, it will be overwritten (xp_forget_after()). */
void journal_close(struct xp *c, struct xp_todo *todo);
/* Carries records into the open block before it is sealed: while a device works. */
void journal_relocate_ahead(struct xp *c);
/* Forces an empty block out (recovery). */
void journal_seal_now(struct xp *c, struct xp_todo *todo);
/* Data named by the records of block @seq is durable, or they are undone. */
void journal_data_done(struct xp *c, u64 seq);
/* Goes over blocks that are written by now, and frees what they have superseded. */
void journal_note_written(struct xp *c, struct xp_todo *todo);
/* Ends blocks of which nothing is outstanding; true if there was one. */
bool journal_retire(struct xp *c);
/* What is wanted holds a record (journal_commit), and loses none. */
void journal_seal_if_wanted(struct xp *c, struct xp_todo *todo);
/* Of a cache at rest: the number of the block with the newest MAP record of a MAPPED slot. */
u64 journal_number_of(const struct xp *c, const struct xp_entry *e);
/* Has a journal block written that tells whether the fast device is there; its end's point. One that is
 * under way may have landed before the device went: then the next, as soon as there is a place. */
u64 journal_probe(struct xp *c, struct xp_todo *todo);
/* The fast device has failed something. If it is gone no journal block may be due for long:
 * the next tick writes one, and sees. */
static inline void journal_doubt(struct xp *c, struct xp_todo *todo)
{
	c->fast_suspected = true;
	todo->tick = true;
}

/* badblocks.c: what the fast device cannot write */
bool place_avoided(const struct xp *c, u64 number);
static inline bool place_is_bad(const struct xp *c, u64 number)
{
	return unlikely(c->super.nr_avoided) && place_avoided(c, number);
}

/* The number after @number on the medium. */
static inline u64 number_after(const struct xp *c, u64 number)
{
	do
		number++;
	while (place_is_bad(c, number));
	return number;
}

/* At rest, of a place that no recovery needs; then super_write_now(). False: no more may be bad. */
bool place_give_up(struct xp *c, u64 position);
/* At rest: place[@i] of the superblock's is good after all, and no chain skips it. */
void place_take_back(struct xp *c, u32 i);
/* Asks for both copies, now or when those under way have ended. */
void super_write(struct xp *c, struct xp_todo *todo);
void super_io(struct xp *c, struct xp_journal_io *io);
/* False: not both copies are written, and what was there before is left in one. */
bool super_end(struct xp *c, int err, struct xp_todo *todo);
/* At rest. Likewise; or that copy is left which was there, and is no longer right. @block: scratch. */
int super_write_now(struct xp *c, const struct xp_media *m, void *block);
/* A recovery has begun to go on without what it could not read, and has not ended. */
bool super_is_losing(const struct xp *c);
/* At rest. Says so, or that it has ended; likewise. */
int super_lose(struct xp *c, bool losing, const struct xp_media *m, void *block);
/* At rest. The slow device has @sectors, and records may name blocks up to @was; likewise. */
int super_size(struct xp *c, u64 sectors, u64 was, const struct xp_media *m, void *block);
/* At rest: a copy that is not as it should be is made so, if its place takes it. */
int super_mend(struct xp *c, const struct xp_media *m, void *block);
/* The same; and -EIO if one is not whole even then. */
int super_both(struct xp *c, const struct xp_media *m, void *block);
/* A block could not be written. False: the device is gone, or has no place to spare. */
bool journal_refused(struct xp *c, struct xp_window *w, int err, struct xp_todo *todo);
/* Goes on with that, once nothing is on its way (journal.rerouting). False: as above. */
bool journal_reroute(struct xp *c, struct xp_todo *todo);
/* Has the device failed a place of it, and not as a whole? */
static inline bool error_of_place(int err)
{
	return err == -EIO || err == -ENODATA || err == -EILSEQ || err == -EREMOTEIO;
}

bool slot_listed_bad(const struct xp *c, u32 i);
/* Given up: handed out to nobody. */
static inline bool slot_is_bad(const struct xp *c, u32 i)
{
	return unlikely(c->super.nr_bad_slots) && slot_listed_bad(c, i);
}

/* ... and not what recovery has found in use all the same. */
u32 slots_given_up(const struct xp *c);
/* A device that is there has refused a write of them. One that was written alone is given up, whether
 * it is free by now or not; else each of them is written alone from now on, for a while. */
void slots_refused(struct xp *c, xp_slot_t first, u32 nr, struct xp_todo *todo);
void slots_suspect(struct xp *c, xp_slot_t first, u32 nr);
bool slot_is_suspect(const struct xp *c, xp_slot_t slot);
/* The device may have failed it, or have been gone: given up the second time. */
void slot_failed_again(struct xp *c, xp_slot_t slot, struct xp_todo *todo);
/* Of @want slots from @first on: how many may go into one write. */
u32 slots_together(const struct xp *c, u32 first, u32 want);

/* progress.c */
/* After blocks were written or data done: frees, wakes, seals what now can be. */
void progress_advance(struct xp *c, struct xp_todo *todo);

/* busy.c */
void requests_wake_busy(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo);
/* The lba is no longer busy. */
static inline void requests_wake(struct xp *c, xp_lba_t lba, u32 nr, struct xp_todo *todo)
{
	if (!xp_list_empty(&c->busy))
		requests_wake_busy(c, lba, nr, todo);
}

/* space.c */
void requests_hand_out(struct xp *c, struct xp_todo *todo);
/* Slots may have become free. */
static inline void requests_relieve(struct xp *c, struct xp_todo *todo)
{
	if (!xp_list_empty(&c->space))
		requests_hand_out(c, todo);
}

/* ... by a commit that found the records stored at once. */
static inline void requests_hand_on(struct xp *c, struct xp_todo *todo)
{
	if (unlikely(!xp_list_empty(&c->space)) && c->nr_free)
		requests_hand_out(c, todo);
}

/* bypass.c */
/* Has their slow flush made when it is due. */
void bypass_tick(struct xp *c, struct xp_todo *todo);

/* passthrough.c */
bool pass_possible(const struct xp *c);
/* The cache has failed. */
void pass_begin(struct xp *c, struct xp_todo *todo);

/* policy.c: what to admit, what to evict, and when to expect a FLUSH */
bool policy_admit(struct xp *c, const struct xp_req *req, u32 nr_blocks);
/* The block, which is clean and not held, lives in no slot any more: a record, for which there is room. */
void policy_drop(struct xp *c, xp_slot_t slot);
/* Clean, and in nobody's use. */
bool policy_evictable(const struct xp_entry *e);
/* Ends the mapping of a block that is so. False: no room in the journal. */
bool policy_unmap(struct xp *c, xp_slot_t slot, struct xp_todo *todo);
/* Evicts up to @want clean blocks; they become free once durable. */
u32 policy_evict(struct xp *c, u32 want, struct xp_todo *todo);
void policy_evict_some(struct xp *c, struct xp_todo *todo);
/* Keeps c->low_free slots free or about to be. */
static inline void policy_evict_ahead(struct xp *c, struct xp_todo *todo)
{
	if (c->nr_free < c->low_free)
		policy_evict_some(c, todo);
}

/* So many FLUSHes, each after as many writes, before one is expected. */
#define XP_SYNC_STREAK	3u

void policy_flush(struct xp *c);
/* Is a FLUSH expected after this write, the newest? Only a short one: to copy and hash
 * it must not take longer than the journal block that is saved. */
static inline bool policy_sync_follows(const struct xp *c, u32 nr_blocks)
{
	return c->sync_streak >= XP_SYNC_STREAK && nr_blocks == 1 &&
	       c->writes_unsynced == c->writes_a_sync;
}

/* writeback.c */
/* A flush that xp_write_back_all() asked for arrives when nothing is dirty. */
void writeback_note_arrival(struct xp *c);
/* Called by progress_advance(). */
void writeback_progress(struct xp *c, struct xp_todo *todo);
/* Somebody gets an error because nothing goes home: whether that is still so is soon to be seen. */
static inline void writeback_soon(struct xp *c, struct xp_todo *todo)
{
	c->failing = min(c->failing, 1u);
	todo->work = true;
}

#endif /* XP_CACHE_H */
