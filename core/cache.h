/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache.h - the structures of a running cache.
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
 *       |              |    \                newer write, fill  |  |  | (+ UNMAP record)
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
 *   MAPPED        in the hash, the only MAPPED slot of its lba; its newest MAP record is live
 *   UNMAPPING     in the hash, not read from: blocks bypassing writes (I8)
 *   PENDING_FREE  not in the hash; older recoverable states may name it (I1)
 *   RELEASED      no recoverable mapping names it; pinned by a reader
 *
 * Locking: xp_*() takes c->lock itself. Every other function of core/ is called with it
 * held, unless it says otherwise.
 */
#ifndef XP_CACHE_H
#define XP_CACHE_H

#include "disk.h"
#include "jblock.h"
#include "life.h"
#include "list.h"
#include "overlay.h"
#include "platform.h"
#include "rank.h"
#include "rate.h"
#include "statistics.h"
#include "streams.h"
#include "unflushed.h"
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
 * 12 bytes a slot, and 3 beside them. All is c->lock's, but use: hits come and go without the lock
 * (hit.c), so pins and rank are changed by an exchange of the whole word, which fails
 * if anything else in it has changed, also by the lock's holder. Who changes the rest has
 * the lock, and need not exchange: use is two bytes of its own, and no bit-field of it is
 * ever stored to, which would take the others along.
 * The record of a slot that is held must not be relocated past that of the write.
 */
#define XP_WORD_FIELDS							\
	u8 lba_high;							\
	u8 state : 3;		/* enum xp_state */			\
	u8 dirty : 1;		/* MAPPED: the slow device does not hold it; of no meaning else */ \
	u8 apart : 1;		/* MAPPED: not read from its slot as it is; dirty as well: zeros, unread.h, or part.h */ \
	u8 home : 1;		/* dirty: the slow device was sent it, and not flushed since, as far as is known here */ \
	u8 held : 1;		/* MAPPED: a parallel commit may supersede it or fall back to it */ \
	u8 checked : 1;		/* MAPPED: a record of it in the ring may bear a checksum of its data (overwrite.c) */ \
	u16 use			/* the low 4 bits are its rank, the others count its pins. FILLING: slot_link() */

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
};

static_assert(sizeof(struct xp_entry) == 12, "I12");

/* A slot that a recovery believed unread (unread.h). */
struct xp_unread {
	u64 hash;		/* xp_checksum() of the data */
	u32 slot;
	u32 reserved;
};

/* Readers of the slot, and writeback. */
#define XP_PIN		(1u << XP_RANK_BITS)

/* Where use is in the word: a hit reads and changes it in the word that it has loaded. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define XP_USE_SHIFT	16
#else
#define XP_USE_SHIFT	0
#endif

static inline u32 word_use(union xp_word word)
{
	return word.all >> XP_USE_SHIFT & 0xffff;
}

/* The word with @by more in use, which has room for it. */
static inline union xp_word word_add(union xp_word word, u32 by)
{
	return (union xp_word){ .all = word.all + (by << XP_USE_SHIFT) };
}

static inline u32 word_pins(union xp_word word)
{
	return word_use(word) / XP_PIN;
}

static inline u32 entry_pins(const struct xp_entry *e)
{
	return XP_READ_ONCE(e->use) / XP_PIN;
}

static inline u32 word_rank(union xp_word word)
{
	return word_use(word) % XP_PIN;
}

static inline u32 entry_rank(const struct xp_entry *e)
{
	return XP_READ_ONCE(e->use) % XP_PIN;
}

/* Runs of slots that a fill takes: each is a search, with the lock held, and a write. */
#ifndef XP_FILL_RUNS_MAX	/* the simulator tries a few */
#define XP_FILL_RUNS_MAX	128u	/* of a read of which every second block is missing */
#endif
/* Hits of one block at once; others wait. */
#ifndef XP_HIT_PINS	/* the simulator tries a few */
#define XP_HIT_PINS	0xff0u
#endif
#define XP_MAX_PINS	(XP_HIT_PINS + 2)
/*
 * Who waits for a pin is woken when a reader ends. A batch and the base of one
 * partial write are all that pin a slot and are not readers.
 */
static_assert(XP_HIT_PINS > 2, "a slot at its most pins has a reader");
static_assert((XP_MAX_PINS + 1) * XP_PIN <= 1u << 16, "pins end before the word does");

enum xp_block_state {
	BLOCK_IDLE,		/* no journal block */
	BLOCK_OPEN,		/* takes records; where it grows, some are on the medium */
	BLOCK_SEALED,		/* with the backend */
	BLOCK_REFUSED,		/* its place cannot be written (badblocks.c) */
	/* has another place, and waits for the one before it to be written */
	BLOCK_MOVED,
	BLOCK_WRITTEN,
};

struct xp_slots {
	u32 first, nr;		/* one behind the other; nr 0: none */
};

/* A journal block from its first record until it and its data are durable. */
struct xp_window {
	u64 seq;		/* in order, without a gap: what is waited for */
	/* on the medium: the same, but for those of bad places, which it skips */
	u64 number;
	u64 tail;		/* once sealed, or stored: a number */
	u32 position;		/* in the ring */
	u32 nr, nr_relocated;	/* records; those of them that only repeat */
	u32 nr_beyond;		/* blocks that new ones speak of, but for one each */
	u32 run_end;		/* the record before this one is new, and may become longer */
	u32 scanned;		/* slots that were looked at for these */
	/* OPEN: so many are on the medium already, the relocated ones among them */
	u32 stored;
	u32 nr_freed, nr_freed_slots;
	u8 state;		/* enum xp_block_state */
	u8 tries;		/* SEALED: writes of it that have failed at this place */
	/* it could not be stored, and may be there with fewer records all the same */
	bool refused;
	/* the data of the request sent beside it is not known to be durable */
	bool undone;
	bool unmaps;		/* one of .freed is in the hash until then */
	struct xp_slots freed[XP_NAMED_MAX];	/* that its being durable sets free */
};

struct xp_journal {
	/* Fixed. */
	u64 start;		/* block of the fast device */
	u64 blocks;
	/* of them, with as many bad as may be: what the ring's thresholds are of */
	u64 usable;
	u64 incarnation;
	u32 magic;		/* of this cache's blocks */
	u8 uuid[16];
	struct xp_jblock *buffer;	/* XP_WINDOW blocks */
	u32 *live;		/* a segment: how many of its records are (relocate.h) */
	u32 nr_segments, segment_shift;

	/* xp_options.store is used: recovery's own blocks are whole, by its media */
	bool grows;

	/*
	 * open == sealed + 1; durable <= written <= sealed. A block grows only with written ==
	 * sealed
	 */
	u64 sealed;		/* newest block given to the backend, or closed */
	u64 written;		/* it and all before it are on the medium */
	/* journal_point() of the newest record that is, and all before it */
	u64 reached;
	u64 durable;		/* ... and the data their records name */
	/* Numbers on the medium: */
	u64 sealed_number, written_number, durable_number;	/* of those three */
	u64 stamp;		/* durable_seq while recovery restates; 0: durable_number */
	u64 tail;		/* oldest block with a live record, or open */
	u64 tail_written;	/* tail of the newest block written: what a recovery may need */
	/* all that lives in blocks up to this one is relocated, however full the ring */
	u64 leave;
	/* relocated now is what lives in these segments; nr_empty 0: nothing is */
	u32 empty_from, nr_empty;
	/* what lives before this block is held, and its record about to die */
	u64 emptied, empty_end;	/* and before that one, when the hand has been everywhere */
	u32 hand;		/* slots before this one do not live there any more, unless held */
	u32 to_repeat;		/* records that lived there when it set out, less those repeated since */
	u64 empty_by;		/* this block, at an even pace */
	bool seal_wanted;	/* as soon as window and ring allow */
	bool owes_flush;	/* sectors were written in place since the newest block was sealed (overwrite.c) */
	bool rerouting;		/* a block was refused: nothing is sealed until those from it on have
				 * other places, and the superblock says so */
	u32 refused;		/* places, one after the other, since a block was written */
	/* records of the newest block but the open one, if it has grown, or was to */
	u32 before;
	struct xp_window window[XP_WINDOW];	/* seq % XP_WINDOW */
};

/* Who flushes the slow device (flush.c). */
struct xp_turn {
	bool taken;		/* a flush is under way */
	bool batch_waits, mark_waits;	/* they come before callers */
	u64 bypassed;		/* c->bypass_done when it began, */
	u32 failures;		/* and c->flush_failures */
	struct xp_list waiting;	/* until it ends: FLUSHes, and FUA writes that went around the cache */
};

/* A place in the table of writes around the cache: free if of nobody and no block. */
struct xp_bypass {
	u64 lba;
	u32 nr;			/* of these blocks; nobody else begins anything about them */
	struct xp_req *holder;	/* it has the place, but has not been sent */
	bool clearing;		/* ... and waits for the journal: mappings end there first */
	bool ended;		/* the records of some that end may not be on the medium */
	u32 flush_failures;	/* c->flush_failures when it was sent */
};
#ifndef XP_BYPASS_MAX	/* the simulator tries a few */
#define XP_BYPASS_MAX	32u
#endif

/*
 * So many batches in a row that brought nothing home: the slow device is gone,
 * for now, and nobody is left waiting for it.
 */
#define XP_FUTILE_MAX	3u

/* After so many batches that failed the pauses are as long as they get. */
#define XP_PAUSES_MAX	6u
#define XP_PAUSE_MS	1000u
#define XP_PAUSE_MS_MAX	30000u

struct xp_batch_entry {
	u32 slot;
	u8 zeros;
	u8 written_back;		/* its data is on the slow device, not yet flushed: by this batch, or it was home */
	u8 runs;		/* of a part of a block: that have not ended yet, of those sectors */
};

struct xp_lbas {
	u64 first, nr;
};

/*
 * Blocks of a batch: a 64th of the slots, but 16 MiB at least, as it ends with a flush that a disk takes its time for; of
 * a small cache a fourth, since the slots of a batch are pinned. A writer that waits for one needs no more than a few.
 */
#ifndef XP_BATCH_MIN	/* the simulator tries a few */
#define XP_BATCH_MIN	4096u
#define XP_BATCH_SOON	256u
#define XP_SOON_SHARE	4096u	/* or this part of the slots, where that is more */
#define XP_LONG_NS	30000000000ull	/* one that takes as long gives way to the next */
#define XP_THROUGH_BATCH	1024u	/* of what writes wait for: found with the lock held */
#endif

/* What another mode found dirty goes home: once round the disk. */
struct xp_settling {
	bool on;
	bool begun;		/* with a batch that was gathered since */
	u64 from;		/* lba where that began */
	u32 rounds;
};

/* Of what writes wait for: then what else is due has its turn. */
#ifndef XP_THROUGH_TURNS
#define XP_THROUGH_TURNS	16u
#define XP_THROUGH_TURNS_FAILING	240u	/* while that fails */
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
	u32 limit;		/* no more than so many this time */
	u32 nr_written_back, nr_failed;	/* blocks */
	struct xp_lbas failed;	/* from the first to the last of these */
	u8 state;		/* enum xp_batch_state */
	bool through;		/* of what writes wait for (through.c) */
	bool flushes;		/* ends with a flush of the slow device */
	bool unflushed;		/* it has ended without one */
	bool has_turn;		/* ... which is under way */
	bool flush_asked;	/* somebody but those who wait for it wants one */
	bool settles;		/* counts for c->settling */
	u8 in_a_row;		/* batches that were .through */
	u32 flush_failures;	/* c->flush_failures when it began */
	bool forgets_homes;	/* of c->homes_lost */
	bool has_all;		/* that was dirty, from c->alone on */
	bool ends;		/* no more runs: somebody waits for its flush */
	bool wrapped;		/* nothing was dirty behind the cursor: it began at the first block */
	bool to_the_end;	/* all that was dirty from there on */
	u64 since;		/* ns; 0: nobody has looked */
	bool split;		/* a run of more than one has failed: its blocks go alone next */
	u8 from;		/* of the next block, which is a part: sectors before this one are on their way */
	u64 cursor;		/* lba where the next batch begins */
	u64 bypassed;		/* bypassing writes its slow flush covers */
	u64 barrier;		/* journal_point() that must be reached before its first run */
};

/*
 * The superblock is written by the core as long as the cache runs: both copies, one after the
 * other. The second is only begun when the first is whole: one always is.
 */
enum xp_super_state {
	SUPER_REST,
	SUPER_FIRST,
	SUPER_SECOND,
};

struct xp_super {
	struct xp_sb *sb;	/* as it is to be */
	struct xp_sb *io;	/* as it is written */
	u32 spare_places;	/* of the ring: so many may be bad */
	/* places in @sb, and behind them those that are not to be in it yet */
	u32 nr_avoided;
	u32 nr_bad_slots;	/* in @sb */
	u8 state;		/* enum xp_super_state */
	/* that is being written: 0: A, 1: B; and how often that has failed */
	u8 copy, tries;
	bool whole[2];		/* these copies, as far as is known */
	u64 changes, writing, written;	/* how many @sb has had, and those two copies */
	u8 rest_ticks;		/* until another mode is written again */
	u64 resized;		/* the change that is the slow device's new size */
};

/* Writes of a part of a block, in its slot, that are under way (overwrite.c). More go to another slot. */
#ifndef XP_OVERWRITES_MAX	/* the simulator has a few */
#define XP_OVERWRITES_MAX	64u
#endif

struct xp_overwrites {
	u32 nr;
	bool awaited;		/* a batch goes on when one has ended */
	u64 lba[XP_OVERWRITES_MAX];
};

/* Slots of a write that failed, one of which may be bad: they are written to one by one. */
#define XP_SUSPECTS	8u

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
	/* of the slow device; of 2^region_shift blocks, the last of all the rest */
	u32 nr_regions, region_shift;
	u32 low_free;		/* below: evict ahead of need */
	bool may_sum;		/* XP_INCOMPAT_SUMS: records may bear one */
	bool may_run;		/* XP_INCOMPAT_RUNS: they may speak of several blocks */
	u64 memory;

	/* Of the lock; so are the limits in @opt that xp_set_limits() changes. */
	/* slots; xp_pressure() reads two of them without it */
	u32 dirty_low, dirty_pass, dirty_press, dirty_soft, dirty_high;
	/*
	 * In sectors of requests, as all of core/ counts them: the slow device begins at @pad, 0 to 7, so that the cache's
	 * blocks begin where those of its owner do (xp_sb.grid). What there is of block 0 is not cached then
	 */
	u32 pad;
	u64 slow_sectors;
	/* blocks of the slow device; the one behind them is short, and not cached (write.c) */
	u64 nr_whole;
	struct xp_entry *entry;
	u16 *segment;		/* of a slot's live record (relocate.h); FILLING: slot_link() */
	u32 *bucket;
	u8 *region;		/* so many slots in the hash are of its blocks (map.h) */
	u64 *free_map;		/* bit a slot */
	u64 *free_sum;		/* bit a word of free_map: has a free slot */
	u8 *lacks;		/* sectors that a slot has not (part.h); NULL: not XP_INCOMPAT_PARTS */
	/* of what is in a slot, 0: not known; NULL: not xp_options.verify (verify.c) */
	u32 *sum;
	struct xp_unread *unread;	/* nr_unread */
	u32 nr_unread;
	u32 alloc_hand;
	u32 nr_free, nr_dirty, nr_clean, nr_pending_free;
	struct xp_ranks ranks;	/* of the MAPPED slots */
	struct xp_streams reads, writes;
	struct xp_disk disk;
	struct xp_rate rate;
	/* where the slow device has last failed a read of more than was asked for; 0 blocks: nowhere */
	u64 failed_lba;
	u32 failed_blocks;
	struct xp_overlay overlay[XP_OVERLAYS_MAX];
	u32 overlaid;		/* blocks of all of them */

	struct xp_journal journal;
	struct xp_super super;
	struct xp_overwrites overwrites;
	struct xp_slots suspect[XP_SUSPECTS];	/* round and round */
	u32 next_suspect;
	bool any_suspect;
	bool fast_suspected;	/* it has failed something since the last tick */
	bool tables_written;	/* somebody may have made new partitions */
	u8 pass;		/* enum xp_pass, passthrough.c */
	/* journal_point() of the newest record that made a dirty block clean */
	u64 cleaned;

	struct xp_batch batch;
	/* go home one by one: the last batch that failed some had them there */
	struct xp_lbas alone;
	u32 futile;		/* batches since one brought a block home */
	u32 failing;		/* the same, pauses or not; 1 after one that brought home a part */
	u64 failing_since;	/* xp_stats.writeback_failing_since */
	u64 run_serial;		/* runs that have begun */
	bool homes_lost;	/* a flush has failed: what is home may be there no more, and is written again */
	struct xp_turn turn;
	u32 flush_failures;	/* of the slow device */
	u64 flush_lost;		/* of the bypass writes up to here any may be gone: a flush has failed, say; */
	u64 flush_told;		/* and up to here a FLUSH that failed has said so to a caller, or they were durable; */
	u64 flush_told_aside;	/* and so far it was said to the command line */
	struct xp_settling settling;
	struct xp_bypass bypass[XP_BYPASS_MAX];
	u64 bypass_done;	/* writes around the cache that ended */
	u64 bypass_flushed;	/* of those, how many a slow flush has covered */
	u64 bypass_doubted;	/* of those, how many a FLUSH that failed was about */
	u32 doubt_ticks;	/* left, since then */
	u32 bypass_running;	/* places in use, */
	u32 bypass_held;	/* and those of them with a holder */
	struct xp_unflushed unflushed;	/* their blocks, from bypass_flushed on */
	bool fills_held_up;	/* by one of those, since the last tick */
	bool slow_flush_wanted;	/* a batch without runs, for the sake of fills */

	u32 writes_unsynced;	/* since the last FLUSH */
	u32 writes_a_sync;	/* between the two FLUSHes before it */
	u32 sync_streak;	/* FLUSHes that came after as many writes as the one before */
	bool flush_seen;	/* one came since the last tick; of no lock */
	bool flush_before;	/* one came between that tick and the one before */

	struct xp_list busy;	/* wait for their lba */
	struct xp_list around;	/* wait for a place in bypass[]: in order */
	u32 nr_around;		/* so many */
	struct xp_list space;	/* wait for a free slot */
	struct xp_list room;	/* wait for room in the journal, to be submitted again */
	struct xp_list parked;	/* written; wait for room in the journal */
	struct xp_list sync;	/* wait for req->point to be reached */
	struct xp_list through;	/* wait for the slow device */

	/*
	 * Written under the lock, read without: something acknowledged may not be durable, or the
	 * cache has failed. False only where the medium takes records at once.
	 */
	bool owes;

	/* Of no lock. */
	struct xp_counter hit_blocks[XP_HIT_COUNTERS];	/* that were read, to xp_end() */

	bool flushing;		/* the user's: until nothing is dirty, if only for a moment */
	bool running;		/* recovered; else look only */
	/*
	 * recovery went on without journal blocks up to this number, or 0: what older ones say is
	 * doubtful
	 */
	u64 lost;
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
		XP_ASSERT(by > 0 ? word_pins(was) < XP_MAX_PINS : word_pins(was) > 0);
		now = word_add(was, (u32)by * XP_PIN);
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
	return was;
}

/* Of the slow device, the tables that say whose the place of the mark is: MBR, and the header of GPT. */
#define XP_TABLE_SECTORS	(2 * XP_BLOCK_SECTORS)

/* The slow device has all of it. */
static inline bool lba_is_whole(const struct xp *c, xp_lba_t lba)
{
	return xp_lba_n(lba) < c->nr_whole && xp_lba_n(lba) * XP_BLOCK_SECTORS >= c->pad;
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

#endif /* XP_CACHE_H */
