/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backend.h - what the parts of the simulator's backend share: event.c, what is under way;
 * writeback.c, batches; backend.c, requests and all the rest.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "sim.h"
#include "xpcache.h"

struct xp_run;

struct part {
	struct xp_req req;
	struct user *u;
	u64 end;		/* sector: what follows one after another */
	u8 *copy;
	u8 *fill;		/* what was read, for caller and cache */
	bool widened;		/* and that is more than the caller's */
	u8 *over;		/* what is laid over it, of so many blocks; */
	u32 laid_over;
	u32 reads;		/* so many of both devices have not ended, */
	int read_error;		/* and the first that has failed */
	bool around, filled;	/* some of it was the slow device's; without, and with a fill */
	bool waited;		/* for another, for space, for room in the journal, or a device refused it */
	bool hit;		/* by an error of a device, and not done otherwise since */
	u8 act;			/* enum xp_act: the last answer */
};

enum event_kind {
	IO_PART,		/* the request itself */
	COPY_WAITS,		/* for a buffer */
	IO_BASE,		/* of a partial write */
	IO_COPY,
	IO_CHECK,		/* of a read whose sums are known */
	OVERLAY_WAITS,		/* for whatever comes first */
	IO_OVERLAY,
	JOURNAL_WAITS,		/* for the worker */
	IO_JOURNAL_FLUSH,	/* first half of PREFLUSH | FUA */
	IO_JOURNAL,
	FILL_WAITS,
	IO_FILL,
	IO_RUN_READ,
	IO_RUN_WRITE,
	IO_BATCH_FLUSH,
	IO_MARK_READ,
	IO_MARK_WRITE,
	IO_MARK_FLUSH,
};

/* How far a thread is that writes to memory. */
enum stage { BEGINS, STORES, FLUSHES, FENCES };

/* Something that is under way and will end. */
struct event {
	enum event_kind kind;
	struct part *part;
	/* With a device; NULL: no I/O. */
	struct disk *disk;
	enum disk_op op;
	struct write *w;
	u64 sector;
	u32 nr;
	u32 thread;		/* that it is done by, as far as it matters: fences */
	enum stage stage;	/* of a write to memory */
	bool failed;
	u64 flush;		/* when it was submitted */
	u8 *data;		/* of a read */
	bool sampled;		/* a read has looked already */
	bool decided;		/* the slow device has done it, and the answer is on its way: */
	int err;
	/* By kind. */
	u32 index;		/* journal; a run of an overlay */
	u64 held;		/* until then others go first */
	struct xp_fill fill;
	struct xp_run *run;
};

/* The present one. */
struct step {
	u64 *rng;
	u32 thread;		/* of whoever does now what is done */
};

extern struct step step;

/* --------------------------------------------------------------- event ---- */

void events_new_life(void);
struct event *event_add(enum event_kind kind, struct part *p);
void start_write(struct event *e, struct disk *d, u64 sector, u32 nr, const u8 *bytes, bool fua);
void start_flush(struct event *e, struct disk *d);
void start_read(struct event *e, struct disk *d, u64 sector, u32 nr, u8 *data);
/* One that ends now, with which error of a device. False: none does. */
bool event_next(struct event *e, int *err);

/* --------------------------------------------------------------- backend ---- */

void backend_perform(struct xp_todo *todo);

/* --------------------------------------------------------------- overlay ---- */

/* Beside the read of the slow device, which is under way. */
void overlay_begin(struct part *p);
void overlay_read(struct part *p, u32 i);
/* One of the reads has ended. False: all have, *@err is that of the first that failed, and what is dirty is laid over. */
bool overlay_goes_on(struct part *p, int *err);

/* ------------------------------------------------------------- writeback ---- */

void writeback_new_life(void);
bool writeback_under_way(void);
/* There may be something to do. */
void writeback_kick(void);
void writeback_run_read(const struct event *e, struct xp_todo *todo);
void writeback_run_end(struct xp_run *run, int err, struct xp_todo *todo);
void writeback_batch_end(int err, struct xp_todo *todo);

#endif /* BACKEND_H */
