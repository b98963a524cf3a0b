/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request.h - a request's states, and the functions between them.
 *
 * Each function that returns an enum xp_act moves a request on by one step of
 * the drawing in request.c. XP_WAIT: it is on one of the cache's lists now.
 */
#ifndef XP_REQUEST_H
#define XP_REQUEST_H

#include "accounting.h"
#include "journal.h"
#include "policy.h"

enum xp_req_state {
	REQ_HIT,
	REQ_MISS,
	REQ_BYPASS,
	REQ_CLEARING,
	REQ_DATA,
	REQ_PARALLEL,
	REQ_OVERWRITE,
	REQ_OVERWRITE_DOUBTED,
	REQ_OVERWRITE_PARKED,
	REQ_PARKED,
	REQ_UNDO,
	REQ_SLOW_FLUSH,
	REQ_TURN,
	REQ_SYNC,
	REQ_SYNC_PARALLEL,
	REQ_SYNC_UNDO,
	REQ_DOUBTED,
	REQ_THROUGH,
};

/* Slots that a write may be refused by; then the caller has the error. */
#define WRITE_TRIES	4u

static inline struct xp_req *req_of(struct xp_link *link)
{
	return container_of(link, struct xp_req, link);
}

static inline xp_lba_t req_lba(const struct xp_req *req)
{
	return XP_LBA(req->sector / XP_BLOCK_SECTORS);
}

static inline u32 req_offset(const struct xp_req *req)
{
	return (u32)(req->sector % XP_BLOCK_SECTORS);
}

/* Blocks that the request touches, whole or in part. */
static inline u32 req_span(const struct xp_req *req)
{
	return (req_offset(req) + req->nr_sectors + XP_BLOCK_SECTORS - 1) /
	       XP_BLOCK_SECTORS;
}

/* Its first block is touched in part only. */
static inline bool req_starts_partial(const struct xp_req *req)
{
	return req_offset(req) || req->nr_sectors < XP_BLOCK_SECTORS;
}

/* Of its first block, the sectors that it touches. */
static inline u8 req_mask(const struct xp_req *req)
{
	return part_mask(req_offset(req), min(req->nr_sectors, XP_BLOCK_SECTORS - req_offset(req)));
}

/* The answer is about the first @nr blocks only. */
static inline void req_trim(struct xp_req *req, u32 nr)
{
	req->nr_blocks = nr;
	req->nr_sectors = min(req->nr_sectors,
			      nr * XP_BLOCK_SECTORS - req_offset(req));
}

/* Its answer has ended well, in the cache. Zeroes of a part of a block come as a write does. */
static inline void req_count_written(struct xp *c, const struct xp_req *req)
{
	if (likely(req->op == XP_WRITE))
		c->stats.write_blocks += req->nr_blocks;
	else
		c->stats.discard_blocks += req->nr_blocks;
}

static inline enum xp_act req_finish(struct xp_req *req, int err)
{
	req->err = err;
	return XP_DONE;
}

/* A command without data has ended well for its first @nr blocks, whether or not it did anything. */
static inline enum xp_act req_finish_command(struct xp *c, struct xp_req *req, u32 nr)
{
	req_trim(req, nr);
	c->stats.discard_blocks += nr;
	return req_finish(req, 0);
}

static inline enum xp_act req_wait(struct xp *c, struct xp_list *list,
				   struct xp_req *req)
{
	c->stats.waits++;
	if (req->op == XP_WRITE)
		xp_req_is(req, XP_CLASS_WRITE_STALLED);
	xp_list_add(list, &req->link);
	return XP_WAIT;
}

/* Until the journal is written up to @point, then @state says what follows. */
static inline enum xp_act req_wait_point(struct xp *c, struct xp_req *req, u64 point,
					 enum xp_req_state state)
{
	req->state = state;
	req->point = point;
	xp_list_add(&c->sync, &req->link);
	return XP_WAIT;
}

/* Durable now, or XP_WAIT until it is. */
static inline enum xp_act req_sync(struct xp *c, struct xp_req *req, u64 point)
{
	if (journal_is_written(c, point))
		return req_finish(req, 0);
	return req_wait_point(c, req, point, REQ_SYNC);
}

/* It is read, and written, by way of a private buffer. */
static inline bool req_is_private(const struct xp *c, const struct xp_req *req)
{
	return unlikely(c->opt.verify || req->private);
}

/* verify.c; of such a request */
/* Of a read so much that can be checked in one go. */
void verify_trim(struct xp_req *req);
/* xp_hit(), of so much. */
u32 verify_hit(struct xp *c, struct xp_req *req);
/* A hit is to be read: XP_FAST, or XP_CHECK. */
enum xp_act verify_read(const struct xp *c, struct xp_req *req);
/* @hash is of what is about to be in @slot. No lock: its request has it alone. */
void verify_set(struct xp *c, xp_slot_t slot, u64 hash);

static inline enum xp_act hit_act(const struct xp *c, struct xp_req *req)
{
	return req_is_private(c, req) ? verify_read(c, req) : XP_FAST;
}

/* hit.c: sectors of its first block, in @slot, which is asked for once more, and pinned until it ends; it goes on in @state. */
void hold_sectors(struct xp *c, xp_slot_t slot, struct xp_req *req, enum xp_req_state state);

/* hit.c; false: not read from its slot, or as many readers as there may be */
bool hit_slot(struct xp *c, xp_slot_t slot, struct xp_req *req);

/* read.c */
enum xp_act read_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
enum xp_act read_miss_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);
/* The fast device has failed a hit. */
enum xp_act read_hit_failed(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);
/* Is nothing of a hit on the slow device, so that it is an error? */
bool read_is_lost(struct xp *c, const struct xp_req *req);
/* Ends a hit: @err if that is so, else it comes again. */
enum xp_act read_elsewhere_or(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);

/* write.c */
enum xp_act write_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* The data is in its slots, or @err. */
enum xp_act write_end(struct xp *c, struct xp_req *req, int err,
		      struct xp_todo *todo);
/* The rest of its block could not be read. */
enum xp_act write_base_failed(struct xp *c, struct xp_req *req, int err,
			      struct xp_todo *todo);
/* Goes on with records and mapping from req->progress. */
enum xp_act write_flip(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* The device has refused it, and is there: again, or the error after some such. */
enum xp_act write_again(struct xp_req *req, struct xp_todo *todo);
/* ... and its slots are its own still. */
enum xp_act write_elsewhere(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* Gives back the slots from req->progress on, which no record names. */
void write_abort(struct xp *c, struct xp_req *req, struct xp_todo *todo);

/* parallel.c */
/* The data is in its slots, or @err. */
enum xp_act parallel_end(struct xp *c, struct xp_req *req, int err,
		       struct xp_todo *todo);
/* Data and records are durable. */
enum xp_act parallel_flip(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* Goes on with undoing the records from req->progress. */
enum xp_act parallel_undo(struct xp *c, struct xp_req *req, struct xp_todo *todo);

/* That is on the medium. */
enum xp_act parallel_undone(struct xp *c, struct xp_req *req, struct xp_todo *todo);

/* The journal failed: gives up slots whose records may be out. */
void parallel_abort(struct xp *c, struct xp_req *req, struct xp_todo *todo);

/* zeroes.c */
enum xp_act zeroes_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* Sends the first of @want blocks below, as far as they may, in one request. */
enum xp_act zeroes_below(struct xp *c, struct xp_req *req, u32 want, struct xp_todo *todo);

/* flush.c */
enum xp_act flush_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo);
/* Of the slow device alone: XP_DONE also where nothing is owed there, or -EIO. */
enum xp_act flush_below(struct xp *c, struct xp_req *req, struct xp_todo *todo);

/*
 * Nothing is owed. What it covers was acknowledged before it came, and what is acknowledged is
 * durable, or c->owes was set before: so no lock is needed to see it (I2).
 */
static inline enum xp_act flush_idle(struct xp *c, struct xp_req *req)
{
	policy_see_flush(c);
	xp_req_is(req, XP_CLASS_FLUSH);
	return XP_DONE;
}

/* The slow device has been flushed, or @err. */
enum xp_act flush_slow_end(struct xp *c, struct xp_req *req, int err, struct xp_todo *todo);

#endif /* XP_REQUEST_H */
