// SPDX-License-Identifier: GPL-2.0-only
/*
 * progress.c - what goes on when a journal block is on the medium, when it failed, or when time has
 * passed.
 *
 * The journal tells which records are durable; from here requests and writeback go on, and what
 * they place is sealed, until nothing more can. No file below calls this one.
 */
#include "badblocks.h"
#include "bypass.h"
#include "mode.h"
#include "overwrite.h"
#include "passthrough.h"
#include "policy.h"
#include "ranks.h"
#include "progress.h"
#include "space.h"
#include "super.h"
#include "writeback.h"

/* ------------------------------------------------------------ requests ---- */

static void settle(struct xp_req *req, enum xp_act act, struct xp_todo *todo)
{
	if (act == XP_DONE)
		xp_list_add(&todo->done, &req->link);
}

static enum xp_act sync_end(struct xp *c, struct xp_req *req,
			    struct xp_todo *todo)
{
	if (req->state == REQ_SYNC_PARALLEL)
		return parallel_flip(c, req, todo);
	if (req->state == REQ_SYNC_UNDO)
		return parallel_undone(c, req, todo);
	if (req->state == REQ_DOUBTED)
		return write_elsewhere(c, req, todo);
	if (req->state == REQ_OVERWRITE_DOUBTED)
		return overwrite_again(c, req, todo);
	if (req->state != REQ_CLEARING)
		return req_finish(req, 0);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

static void progress_sync(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_init(&all);
	xp_list_splice(&all, &c->sync);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		if (journal_is_written(c, req->point))
			settle(req, sync_end(c, req, todo), todo);
		else
			xp_list_add(&c->sync, link);
	}
}

static enum xp_act parked_goes_on(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	if (req->state == REQ_UNDO)
		return parallel_undo(c, req, todo);
	return req->state == REQ_OVERWRITE_PARKED ? overwrite_grows(c, req, todo) : write_flip(c, req, todo);
}

static void progress_parked(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_init(&all);
	xp_list_splice(&all, &c->parked);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		settle(req, parked_goes_on(c, req, todo), todo);
	}
}

/*
 * The journal failed: what waits for it gets EIO, or passes; the rest is tried again and
 * sees the failure itself. The map stays as it is, for reads.
 */
static void fail_all(struct xp *c, struct xp_todo *todo)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&c->sync))) {
		struct xp_req *req = req_of(link);

		if (req->state == REQ_SYNC_PARALLEL)
			parallel_abort(c, req, todo);
		else if (req->state == REQ_DOUBTED)
			write_abort(c, req, todo);
		else if (req->state == REQ_OVERWRITE_DOUBTED)
			overwrite_ends(c, req, todo);
		else if (req->state == REQ_CLEARING)
			bypass_give_up(c, req, todo);
		settle(req, pass_again(c, req, -EIO, todo), todo);
	}
	while ((link = xp_list_pop(&c->parked))) {
		struct xp_req *req = req_of(link);

		if (req->state == REQ_PARKED)
			write_abort(c, req, todo);
		else if (req->state == REQ_OVERWRITE_PARKED)
			overwrite_ends(c, req, todo);
		else
			parallel_abort(c, req, todo);
		settle(req, pass_again(c, req, -EIO, todo), todo);
	}
	while ((link = xp_list_pop(&c->through)))
		settle(req_of(link), pass_again(c, req_of(link), -EIO, todo), todo);
	xp_list_splice(&todo->ready, &c->busy);
	bypass_fail(c, todo);
	xp_list_splice(&todo->ready, &c->space);
	xp_list_splice(&todo->ready, &c->room);
	todo->work = true;
}

static void progress_requests(struct xp *c, struct xp_todo *todo)
{
	if (c->failed) {
		fail_all(c, todo);
		return;
	}
	if (!xp_list_empty(&c->sync))
		progress_sync(c, todo);
	if (!xp_list_empty(&c->parked))
		progress_parked(c, todo);
	writeback_progress(c, todo);
	if (!xp_list_empty(&c->room) && journal_room(c, 1, todo))
		xp_list_splice(&todo->ready, &c->room);
	requests_relieve(c, todo);
}

/* ------------------------------------------------------------- journal ---- */

void progress_advance(struct xp *c, struct xp_todo *todo)
{
	journal_note_written(c, todo);
	do {
		journal_seal_if_wanted(c, todo);
		progress_requests(c, todo);
	} while (journal_retire(c));
	if (c->fast_suspected)
		journal_probe(c, todo);
}

/* I9: it acknowledges nothing from here on. */
static void fail(struct xp *c, int err, struct xp_todo *todo)
{
	if (c->failed)
		return;
	c->failed = err;
	XP_WRITE_ONCE(c->owes, true);
	pass_begin(c, todo);
}

/* False: it is not, and will not be. */
static bool written(struct xp *c, u32 i, int err, struct xp_todo *todo)
{
	struct xp_window *w = &c->journal.window[i];

	if (i == XP_SUPERBLOCK)
		return super_end(c, err, todo) || !c->journal.rerouting;
	XP_ASSERT(w->state == BLOCK_SEALED);
	if (err && !c->failed)
		return journal_refused(c, w, err, todo);
	if (!err) {
		w->state = BLOCK_WRITTEN;
		c->journal.refused = 0;
	}
	return true;
}

void xp_journal_end(struct xp *c, u32 i, int err, struct xp_todo *todo)
{
	xp_lock(&c->lock);
	if (!written(c, i, err, todo))
		fail(c, err, todo);
	if (!c->failed && c->journal.rerouting && !journal_reroute(c, todo))
		fail(c, err ? err : -EIO, todo);
	if (c->failed)
		progress_requests(c, todo);
	else
		progress_advance(c, todo);
	xp_unlock(&c->lock);
}

bool xp_has_failed(const struct xp *c)
{
	return XP_READ_ONCE(c->failed);
}

void xp_tick(struct xp *c, struct xp_todo *todo)
{
	xp_lock(&c->lock);
	ranks_tick(c);
	streams_tick(c);
	policy_tick(c);
	disk_tick(c);
	policy_evict_ahead(c, todo);
	if (c->fast_suspected)
		journal_probe(c, todo);
	journal_flush(c, todo);
	/* there was no place for a block, or one is under way */
	todo->tick |= c->fast_suspected;
	bypass_tick(c, todo);
	mode_note(c, false, todo);
	requests_hand_on(c, todo);
	todo->tick |= !xp_list_empty(&c->space);	/* whom no hit's end has seen */
	xp_unlock(&c->lock);
}
