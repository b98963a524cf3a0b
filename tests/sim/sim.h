/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sim.h - the core, unchanged, over two simulated devices; the map of tests/sim/.
 *
 *	main.c      seeds, time, figures
 *	run.c       one run: a geometry and a list of steps, all from one seed
 *	backend.c     performs what the core answers, as dm-target/ does, in pieces
 *	store.c     what the core stores into memory itself
 *	disk.c      a device: what is on it, what may be after a power cut
 *	fault.c     which operation ends in an error
 *	bad.c       sectors that cannot be read
 *	ask.c       what recovery asks and tells because of them
 *	rot.c       which sector becomes something else, and no operation ends in an error
 *	crash.c     the images that a cut may leave here and now, every one
 *	image.c     one of them
 *	recover.c   the core's recovery, of an image or of the device
 *	life.c      from a start to a cut, or a kill
 *	asleep.c    a cache that forgets all, and is written past
 *	size.c      the slow device becomes longer or shorter
 *	oracle.c    which of them are allowed: the properties
 *	content.c   what a sector holds
 *	payload.c   what a user's write puts there
 *	verdict.c   a run's end
 *	shrink.c    fewer steps that still fail
 *
 * Nothing here is random but what is drawn from a step's own seed, so that a
 * run is its seed and the list of its steps, and a step can be left out without
 * changing what the others draw.
 */
#ifndef SIM_H
#define SIM_H

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "payload.h"
#include "format.h"
#include "media.h"

struct xp;
struct xp_mapping;

#ifndef SECTORS_MAX			/* the daemon's test has more */
#define SECTORS_MAX	1024u		/* of the slow device */
#endif

/* -------------------------------------------------------------- memory ---- */

/* Memory that is given back all at once, or back to a mark. */
struct arena {
	struct arena_chunk *chunk;
};

struct arena_mark {
	struct arena_chunk *chunk;
	size_t used;
};

void *arena_alloc(struct arena *a, size_t size);	/* zeroed */
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);
void arena_free(struct arena *a);

/* ------------------------------------------------------------- content ---- */

/*
 * What a write puts into one sector, or was there before any. The tag tells
 * payload from the core's own blocks: TAG_ZERO, TAG_OTHER, or which user's
 * write (id) to which sector it was made for.
 */
struct content {
	u64 stamp;		/* no two have the same */
	u64 tag;
	const struct content *under;	/* it cannot be read: what is there all the same; else NULL */
	bool stays;		/* and whatever is written: the write ends well */
	u8 bytes[SECTOR];
};

extern const struct content content_zero, content_garbage;

/* By libc, which knows the processor: of a length that it knows the compiler copies by itself, and slower. */
static inline void sector_copy(void *to, const void *from)
{
	size_t bytes = SECTOR;

	__asm__("" : "+r"(bytes));
	memcpy(to, from, bytes);
}

const struct content *content_new(struct arena *a, const u8 *bytes);
/* The same, and what it returns is nobody else's. */
const struct content *content_own(struct arena *a, const u8 *bytes);
/* @under, but @words of it, 8 bytes a bit, from @over. Mixed alike, their stamps are the same. */
const struct content *content_mix(struct arena *a, const struct content *under,
				  const struct content *over, u64 words);
/* The same, and it cannot be read. */
const struct content *content_unreadable(struct arena *a, const struct content *k, bool stays);
/* Can one of @nr sectors not be read? @fast: nor the 4 KiB that it is in. */
bool unreadable(const struct content * const *cells, bool fast, u64 sector, u32 nr);

/* ---------------------------------------------------------------- disk ---- */

enum disk_op { OP_READ, OP_WRITE, OP_FLUSH };

/* Of a sector in memory: 8 bytes a bit. */
struct words {
	u64 due;		/* to be stored */
	u64 stored;		/* and not certain: whoever reads finds it, and a cut may take it */
	u64 flushed;		/* of these; certain with the next fence of the same thread */
};

/* From its submission until all of it is certain. */
struct write {
	struct write *next;
	struct words *words;	/* memory's; NULL: a disk's */
	u32 thread;		/* that stores */
	u64 sector;
	u32 nr;
	u64 completed;		/* when; 0: in flight */
	bool fua;
	bool whole_blocks;	/* its aligned 4 KiB blocks do not tear */
	bool fragile;		/* while in flight its sectors may turn to garbage */
	bool edges_hold;	/* but for those of a block that it writes a part of: the block may be there already */
	bool in_place;		/* of what is there already, which others read */
	const struct content *content[];	/* NULL: did not land, or overtaken by a certain one */
};

struct disk {
	const char *name;
	u64 sectors;		/* a request reaches */
	u64 max;		/* it may have one day; 0: no more */
	u64 tail;		/* more of them behind, which no request ever reaches: for the mark */
	bool volatile_cache;
	bool memory;		/* behind the processor's caches */
	bool whole;		/* its logical sectors are of 4 KiB */
	const struct content **floor;	/* what survives a cut for certain */
	const struct content **seen;	/* what a read finds */
	struct write *pending, **pending_end;
};

void disk_init(struct disk *d, const char *name, u64 sectors, u64 tail, bool volatile_cache);
static inline u64 disk_all(const struct disk *d)
{
	return max(d->sectors, d->max) + d->tail;
}

struct write *disk_submit(struct disk *d, u64 sector, u32 nr, const u8 *bytes, bool fua);
void disk_complete(struct disk *d, struct write *w);
/* Each sector has landed or not. On the fast device it may be garbage: there
 * nobody was to look yet. (A read of the slow one may be under way.) */
void disk_fail(struct disk *d, struct write *w, u64 *rng);
void disk_read(const struct disk *d, u64 sector, u32 nr, u8 *bytes);
/* Is a read of it an error? Then that is counted. */
bool disk_unreadable(const struct disk *d, u64 sector, u32 nr);
/* What had completed at @submitted is durable. */
void disk_flush(struct disk *d, u64 submitted);
/* What had completed by now is durable, or never will be. */
void disk_flush_fails(struct disk *d, u64 *rng);

/* Memory: a write is stores, a flush of what they stored, and a fence, each by whoever
 * writes, and then its completion, which makes nothing certain. */

/* Of its bytes only @bytes behind the first @skip are stored. */
void disk_narrow(struct write *w, u32 skip, u32 bytes);
/* Some of them, or all (@rng NULL). True: there are no more. */
bool disk_store(struct disk *d, struct write *w, u64 *rng);
void disk_write_back(struct write *w);
void disk_fence(struct disk *d, u32 thread);
/* Flush and fence of what is there, whoever stored it. */
void disk_write_back_all(struct disk *d, u64 sector, u32 nr);
/* Who wrote is dead. What was under way on a disk has landed or not; what was stored in
 * memory stays where it is, and nobody will flush it. */
void disk_abandon(struct disk *d, u64 *rng);

/* --------------------------------------------------------------- crash ---- */

/* What both devices would hold after a cut. */
struct image {
	const struct content **fast, **slow;
	u64 hash;
};

/* Recovers every image that a cut may leave now, and asks the oracle. */
void crash_check(u64 *rng);
/* The devices, blocking: for recovery, close and format, and for the mark. */
extern const struct xp_media live_media, live_slow;
void crash_new_run(void);
/* One image that a cut may leave now, for others to look at: before a recovery, and
 * after it, when the oracle has seen it. */
typedef void (*crash_look)(struct xp *c, const struct image *im);
void crash_sample(u64 *rng, crash_look before, crash_look after);
/* Prints the journal of the image that was looked at last. */
void image_dump(void);

/* ---------------------------------------------------------------- life ---- */

/* Starts the core on what the devices hold now. */
void life_start(void);
/* The power goes: the devices hold one of the images. Recovers from it, with
 * cuts on the way, and goes on. */
void life_cut(u64 *rng);
/* The process dies, and not the power: its stores are there, in the processor's caches or
 * behind. Starts on that, killed again on the way or not. */
void life_kill(u64 *rng);

/* -------------------------------------------------------------- oracle ---- */

/* The properties, by number (docs/TESTING.md). 0: what no device or core does. */
enum property {
	P_HOST,
	P_ALLOWED,		/* 1: after a cut a sector holds an allowed value, errors or not */
	P_UNWRITTEN,		/* 2: what was never written is unchanged, on both */
	P_WHOLE,		/* 3: a 4 KiB write is there or not */
	P_PREFLUSH,		/* 4: seen, then so is what was acknowledged before it */
	P_ERRORS,		/* 5: what a device failed fails, and nothing else */
	P_ZEROS,		/* 6: discard and zeroes */
	P_STAYS,		/* 7: what a recovery showed stays */
	P_READS,		/* 8: reads are linearisable, errors or not */
	P_FAULTY_READS,		/* 9: a read that an error hits is right or fails */
	P_LIVES,		/* 10: every request ends, dirty goes to zero */
	P_CLASS,		/* 11: a request is in the class of what was done for it, its blocks are counted so */
	P_RESERVED,
	P_UNREADABLE,		/* 13: unreadable sectors: nothing is refused for good, what is lost is named */
	P_THROUGH,		/* 14: without the fast device: the slow one is not behind what was flushed */
	NR_PROPERTIES,
};

/* One request of the user's. */
struct user {
	u8 op;			/* enum xp_op */
	bool fua, preflush;
	u64 sector;
	u32 nr;
	u64 id, submitted;
	u64 flushed;		/* preflush: when the write behind it was submitted */
	u32 pieces;
	bool hit;		/* by an error of a device, */
	u64 hit_first, hit_end;	/* of these sectors, or some of them */
	int err;
	u8 *buf;
};

void oracle_new_run(void);
void oracle_begin(const struct user *u);
void oracle_end(const struct user *u);
/* Does what the recovered core answers agree with all that was promised? @second:
 * of an image that was right when it was recovered without a cut in between.
 * False: it does not, and the property is turned off. */
bool oracle_check_image(struct xp *c, const struct image *im, bool second);
/* What recovery told of the image that is looked at, before it went on. All of it false: nothing. */
struct told {
	bool loss;			/* went on without journal blocks, */
	u32 lost, asked;		/* so many at most; so many times the user was asked; */
	bool unended;			/* so has an earlier one, which was cut; */
	u64 head;			/* journal block that it went on from */
	u64 began, incarnation;		/* the one that the user was asked about, and of the newest block then */
	bool doubtful[SECTORS_MAX / 8];	/* of these blocks it does not know whether they are the newest */
	bool undecided[SECTORS_MAX / 8];	/* and of these whether what cannot be read has landed */
	bool older;			/* took the older version of these */
};

extern struct told told;
/* Did a recovery believe what it could not read, and was it not there? */
bool oracle_is_lost(u64 sector);
/* May it still be an error, as the last recovery showed one? @since: to a read that begins then; 0: after a cut. */
bool oracle_stays_lost(u64 sector, u64 since);
/* A start of the device itself: what it could not read is an error from now on. @once: by an error that came once. */
void oracle_note_unread(struct xp *c, bool once);
/* What a sector of the cached device reads as. */
const struct content *oracle_answer(struct xp *c, const struct image *im, u64 sector);
/* Drops the versions that will never be allowed again, so that long runs stay quick.
 * @oldest: when the oldest request under way was submitted. */
void oracle_forget(u64 oldest);
/* The slow device has forgotten what it was sent. It may be read as it was before, from now on. */
void oracle_lost(u64 sector, u64 tag);
/* Somebody hears that what was submitted before @submitted may be lost, then or later: no later FLUSH is about that. */
void oracle_tell_lost(u64 submitted);
/* A flush of the slow device has failed: of what is not flushed one FLUSH may say so, that comes when it has ended. */
void oracle_doubt(void);
bool oracle_doubts(void);
void oracle_doubt_nothing(void);
/* The newer of two whole copies of the superblock. */
void superblock_read(const struct xp_media *fast, struct xp_sb *sb);
/* A sector of the slow device is not what it was: somebody else's. */
void oracle_replaced(u64 sector, u64 tag);
/* From now on that is what the devices hold, and nothing else was ever promised. */
void oracle_restart(struct xp *c, const struct image *im);
/* What is durable of the slow device alone, with nothing dirty: all that was acknowledged by @by. */
void oracle_check_slow(u64 by);
/* Changes whenever something that was allowed ceases to be. */
u64 oracle_epoch(void);

/* --------------------------------------------------------------- backend ---- */

void backend_new_life(void);
void backend_new_request(u64 *rng);
/* What it asks for, as far as the slow device has it. */
void user_on_disk(struct user *u);
/* A write of these sectors. */
void backend_write(u64 *rng, u64 sector, u32 nr);
void backend_complete(u64 *rng);
void backend_writeback(u64 *rng);
bool backend_tick(u64 *rng);
bool backend_idle(void);
u32 backend_users(void);
u32 backend_ios(void);

/* --------------------------------------------------------------- store ---- */

/* The one before may have been abandoned anywhere. */
void store_new_run(void);
/* xp_options.store */
int store_now(void *ctx, u64 at, const void *from, u32 bytes);
/* A step, in which it may be killed while it stores; then comes @killed. */
void store_in_step(void (*step)(u64 *rng), u64 *step_rng, void (*killed)(u64 *rng));

/* -------------------------------------------------------------- asleep ---- */

/* With nothing dirty, and nothing under way. */
void fall_asleep(u64 *rng);

/* ---------------------------------------------------------------- size ---- */

/* With the devices made, and the oracle. */
void size_new_run(void);
/* A life has begun: the users know by now which size it has. */
void size_new_life(void);
/* It has recovered. */
void size_begun(void);
/* With the cache closed, and all that was acknowledged durable on the slow device. */
void size_at_rest(u64 *rng);
/* Of the image that a run goes on with, before its recovery, or between one that was cut and the next. */
void size_of_image(u64 *rng);
/* While it runs: it grows, and the cache is told. */
void size_turn(u64 *rng);
/* Goes on with that. */
void size_step(void);

/* ----------------------------------------------------------------- run ---- */

struct geometry {
	u32 slots, ring;
	/* as the core counts: the slow device begins at @pad, and its first sectors there are none */
	u32 pad;
	u64 slow_sectors;	/* at most, */
	u64 first_sectors;	/* and at first */
	bool resizes;		/* it has others in between, */
	bool older;		/* and some lives are those of a version that cached its last block */
	bool fast_volatile, slow_discards, slow_fua;
	bool memory;		/* the fast device, */
	bool at_once;		/* and no record goes beside its data, as another engine's may have */
	bool grows;		/* and journal blocks are stored bit by bit */
	u32 dirty_low, dirty_high, stream_kib, idle_ms;
	bool seeks_cost;	/* so much that hits are read with the misses around them */
	u32 users;		/* requests at once */
	u32 hot;		/* blocks that most requests go to */
	bool sequential;	/* round and round these */
	u32 sync_each;		/* request of so many is a FLUSH; 0: as it comes */
	u32 ops[5], fua, preflush;	/* of 100 */
	u32 cut_one_in, fault_one_in;	/* steps; 0: never */
	u32 completing;		/* 0: any; 1: oldest first; 2: newest first */
	u32 writeback, ticks;	/* of 100 steps */
	bool has_place;		/* for a mark */
	bool parts;		/* a slot may have a part of its block */
	bool runs;		/* a record may speak of several blocks */
	bool small;		/* most requests are of a part of a block */
	bool whole;		/* the fast device has logical sectors of 4 KiB, and the slow one of 512 bytes */
	bool fast_goes;		/* the error is that the fast device is gone */
	bool short_ring;	/* not as xp_sb_verify() would have it */
	u32 refuses;		/* blocks of the fast device that take no write: 0: none; to 3: more */
	u32 stragglers;		/* one in so many writes beside a record takes long, or of
				 * journal blocks, with a short ring */
	bool bad;		/* sectors that cannot be read, */
	bool bad_stays;		/* some of them whatever is written, */
	bool bad_returns;	/* some of them for a while only */
	u32 bad_one_in;		/* steps, while running */
	bool modes;		/* lives are in other modes than write-back, and change them */
	bool forgets;		/* mostly it is a FLUSH of the slow device that fails, and that has forgotten all it was sent */
	bool verifies;		/* xp_options.verify, in most lives, */
	u32 rot_one_in;		/* or in all, as sectors rot: steps; 0: never */
	u32 check_one_in;	/* steps that end in crash_check() */
	u32 depth;		/* of it: 0 to 2 */
};

struct fault {
	bool on;
	u8 disk;		/* 0: fast, 1: slow */
	u8 ops;			/* 1 << enum disk_op */
	bool spot;		/* fast: only where the slots are, and not the journal */
	u32 after;		/* so many that end well before */
	u32 left;		/* so many; UINT32_MAX: until healed */
};

void fault_new_run(void);
/* Begins one, or ends it. */
void fault_turn(u64 *rng);
/* It fails all, until the next turn. */
void fault_fast_goes(void);
/* Does it hit an @op of that device, or of the journal on it? Then it is counted, and used up. */
bool fault_hits(u32 disk, enum disk_op op, bool journal);
/* Does the fast device refuse to write there, always? */
bool fault_bad_place(u64 sector, u32 nr);

/* ----------------------------------------------------------------- bad ---- */

/* While running some sectors become so, or come back. */
void bad_turn(u64 *rng);
/* The cache was closed just now: that is noted, as `xpcache stop` does. */
void bad_note_rest(void);
/* Dirty blocks that cannot be brought home. */
u32 bad_stuck(u64 *lba, u32 max);
/* Is one of the blocks an error, since a recovery could not read its slot? */
bool bad_is_unread(u64 sector, u32 nr);

/* One begins, if anything can. */
void rot_turn(u64 *rng);
/*
 * What is read of a mapped slot that is not zeros. Of one that has rotted, and whose sum tells so, nobody gets
 * anything: what is clean is read from the slow device; what is dirty is an error, and has to be what it would be without.
 */
const struct content *rot_answer(const struct image *im, u64 slot_sector, u64 sector, const struct xp_mapping *m);
/* May it fail for that? */
bool rot_excuses(const struct user *u);
/* May there be a block that cannot go home? */
bool rot_keeps_dirty(void);
/* The block was dirty when a sector of it rotted, in this run. */
bool rot_is_of(u64 lba);
/* After a cut: what had been made clean may be dirty again. */
void rot_cut(void);
void rot_note_doubtful(void);
/* A dirty block that was noted, and that the core cannot bring home: what its slot has is not what its sum is of. */
bool rot_is_in(const struct xp_mapping *m);
/* All of it is as before; then, when nothing is under way any more, nobody may be excused by it. */
void rot_heal(void);
void rot_forget(void);
void rot_new_run(void);

/* A run: fixed by seed and steps. */
struct sim {
	u64 seed;
	struct geometry geometry;
	struct disk fast, slow;
	struct xp_sb sb;
	struct xp *c;
	void *memory, *scratch;
	struct arena arena;	/* of the run */
	struct arena state;	/* of one image */
	u64 now;		/* events */
	u64 step;
	u64 next_id, next_stamp;
	u32 next_thread;
	struct fault fault;
	bool slot_failed;	/* a read of a slot, by a recovery of the device itself, for once */
	bool faulted;		/* in this life */
	bool *refuses;		/* blocks of the fast device that take no write; NULL: none */
	bool forgot;		/* the newest journal block says that nothing is mapped */
	u64 rest;		/* journal block that a cache rested with; 0: none has */
	u32 rests;
	u64 hint_incarnation;	/* of the life that was the last to write one */
	u64 hint_life;		/* that one, by figures.lives */
	bool verifies;		/* this life does */
	u8 mode;		/* the option of this life: enum xp_mode */
	bool told_at_stop;	/* that what is not flushed may be gone */
	bool doubts_home;	/* a slow flush has failed, and what a batch has sent may be gone */
	bool settled;		/* since nothing was dirty the mode has not been write-back */
	u64 present;		/* sectors that the slow device has, whoever knows */
	bool overlooked;	/* a complaint of a property that is turned off */
	bool tracing;
};

extern struct sim sim;

enum fault_kind { FAULT_ONCE, FAULT_ON, FAULT_GONE };	/* GONE: all operations */

/* All of them u64. */
struct figures {
	u64 runs, steps, requests, reads, crash_points, images, states, recoveries,
	    recovery_cuts, lives;
	u64 faults[2][3][3];	/* by disk, enum disk_op, enum fault_kind */
	u64 failed_commits, failed_starts, failed_closes, tight;
	u64 behind;		/* flushes of FUA writes around the cache */
	u64 marks, passed, unmarked;
	u64 flushes_completed, pauses;
	u64 memory_runs, kills, kills_again, kept;
	u64 stores, stores_refused, kills_storing;
	u64 bad_runs, bad_places, bad_slots, bad_slow, bad_heads;	/* made; heads: superblocks, fingerprints */
	u64 bad_reads[2];		/* of requests and writeback, by disk */
	u64 forgotten;			/* writes by the slow device */
	u64 healed, came_back;		/* sectors written, blocks that were read again as they were */
	u64 unneeded, refusals, losses, unended, doubtful, older, undecided, unread, took_older, rested, rewritten;
	u64 written_again, refused, rerouted, given_up;
	u64 whole_runs, privates;	/* requests that it must not see */
	u64 parts, parts_home;		/* slots that got a part; runs of writeback of one */
	u64 run_records, run_blocks;	/* written in journal blocks: of several blocks each, and of how many */
	u64 in_place, in_place_lost;	/* writes; sectors that one that failed left unreadable */
	u64 verifying, checks, rots[2];		/* runs; reads of sums; sectors: clean, dirty */
	u64 rot_read, rot_based, rot_written_back;	/* and where it was found */
	/* reads off the grid that are filled, and over hits; and of these that failed, and were read alone */
	u64 widened, spans, read_alone, laid_over;
	u64 resizing, grown, shrunk, too_short, grown_live, short_homes;
	u64 hint_writes, hints;		/* writes of one, and recoveries that took one over */
	u64 no_place_left;		/* runs that ended so: the last, and none is as well */
};

extern struct figures figures;

/* True while the property counts; --without turns one off. */
extern bool property_on[NR_PROPERTIES];
void all_properties_on(void);

/* The run ends here, unless the property is turned off. */
void violation(enum property p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* ... and here it ends without one: it cannot go on. */
void run_abandon(void) __attribute__((noreturn));
void trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct result {
	bool failed;
	enum property property;
	u64 step;
	char text[1024];
};

extern struct result verdict;		/* of this run, so far */
extern jmp_buf verdict_leave;		/* where it ends */

/* What the fast device is. DRAWN: memory in one run of three. */
enum fast { FAST_DRAWN, FAST_DISK, FAST_MEMORY };

extern enum fast fast_is;

/* Step @step draws from its own seed. @steps NULL: all of them. */
struct result run(u64 seed, const u32 *steps, u32 nr_steps, bool tracing);
u32 run_steps(u64 seed);

/* shrink.c: leaves fewer of @steps, still failing with the same property. */
u32 shrink(u64 seed, u32 *steps, u32 nr_steps, enum property p, double seconds);

static inline const char *op_name(u8 op)
{
	static const char * const name[] = { "read", "write", "flush", "discard", "zeroes" };

	return name[op];
}

#endif /* SIM_H */
