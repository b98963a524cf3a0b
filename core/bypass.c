// SPDX-License-Identifier: GPL-2.0-only
/*
 * bypass.c - writes around the cache, straight to the slow device.
 *
 * I8: only where no mapping is, none is on its way in, and none whose end is
 * not durable. A small table holds those under way; the next FLUSH, a batch's
 * end or a fill of these blocks (unflushed.c) waits for a flush of the slow device after them.
 *
 *   no place free: in the queue ---- its turn: holder of a place ---- sent ---- ended
 *                                       `-- it may not be sent after all: the place is the next
 *                                       one's
 *
 * Who holds a place and finds mappings that may end (zeroes.c) keeps it until their ends
 * are on the medium.
 */
#include "busy.h"
#include "bypass.h"
#include "flush.h"
#include "request.h"
#include "slot.h"

bool bypass_holds(const struct xp *c, xp_lba_t lba)
{
	return !bypass_gap(c, lba, 1);
}

u32 bypass_gap(const struct xp *c, xp_lba_t lba, u32 most)
{
	u64 at = xp_lba_n(lba);
	u32 i;

	for (i = 0; i < XP_BYPASS_MAX; i++) {
		const struct xp_bypass *b = &c->bypass[i];

		if (b->nr && at < b->lba + b->nr && b->lba < at + most)
			most = b->lba <= at ? 0 : (u32)(b->lba - at);
	}
	return most;
}

/* ------------------------------------------------------------- places ---- */

static void hold(struct xp *c, struct xp_bypass *b, struct xp_req *req)
{
	*b = (struct xp_bypass){ .holder = req };
	c->bypass_held++;
	c->bypass_running++;
}

static struct xp_bypass *held_by(struct xp *c, const struct xp_req *req)
{
	u32 i;

	for (i = 0; c->bypass_held && i < XP_BYPASS_MAX; i++)
		if (c->bypass[i].holder == req)
			return &c->bypass[i];
	return NULL;
}

struct xp_bypass *bypass_place(struct xp *c, struct xp_req *req)
{
	struct xp_bypass *b = held_by(c, req);

	if (b || c->bypass_running == XP_BYPASS_MAX)
		return b;
	for (b = c->bypass; b->nr || b->holder; b++)
		;
	hold(c, b, req);
	return b;
}

enum xp_act bypass_queue(struct xp *c, struct xp_req *req)
{
	c->nr_around++;
	return req_wait(c, &c->around, req);
}

/* It was of these blocks; and the next of the queue has it. */
static void leave(struct xp *c, struct xp_bypass *b, struct xp_todo *todo)
{
	struct xp_link *next = xp_list_pop(&c->around);
	u64 lba = b->lba;
	u32 nr = b->nr;

	c->bypass_held -= !!b->holder;
	c->bypass_running--;
	*b = (struct xp_bypass){ 0 };
	if (nr)
		requests_wake(c, XP_LBA(lba), nr, todo);
	if (!next)
		return;
	c->nr_around--;
	hold(c, b, req_of(next));
	xp_list_add(&todo->ready, next);
}

bool bypass_resume(struct xp *c, const struct xp_req *req)
{
	struct xp_bypass *b = held_by(c, req);

	if (b)
		b->clearing = false;
	return b && b->nr;
}

void bypass_settle_held(struct xp *c, const struct xp_req *req, struct xp_todo *todo)
{
	struct xp_bypass *b = held_by(c, req);

	if (b && !b->clearing)
		leave(c, b, todo);
}

void bypass_give_up(struct xp *c, const struct xp_req *req, struct xp_todo *todo)
{
	struct xp_bypass *b = held_by(c, req);

	if (b)
		leave(c, b, todo);
}

void bypass_fail(struct xp *c, struct xp_todo *todo)
{
	xp_list_splice(&todo->ready, &c->around);
	c->nr_around = 0;
}

bool xp_crowded(const struct xp *c)
{
	return XP_READ_RACY(c->nr_around) >= XP_AROUND_MAX;
}

/* ------------------------------------------------------------- writes ---- */

enum xp_act bypass_begin(struct xp *c, struct xp_bypass *b, struct xp_req *req, u32 nr)
{
	c->bypass_held--;
	*b = (struct xp_bypass){ .lba = xp_lba_n(req_lba(req)), .nr = nr, .flush_failures = c->flush_failures };
	req_trim(req, nr);
	req->bypass = (u8)(b - c->bypass);
	req->state = REQ_BYPASS;
	disk_begins(c);
	return XP_SLOW;
}

/* I8: with no mapping, none on its way in, and none whose end is not durable. */
static bool may_bypass(const struct xp *c, const struct xp_found *f,
		       xp_lba_t lba)
{
	return !is_slot(f->mapped) && !is_slot(f->writing) &&
	       !is_slot(f->unmapping) && !bypass_overlaps(c, lba);
}

u32 bypass_run(struct xp *c, xp_lba_t lba, u32 most, bool may)
{
	struct xp_found f;
	u32 n;

	for (n = 0; n < most; n++) {
		map_find(c, lba_add(lba, n), &f);
		if (may_bypass(c, &f, lba_add(lba, n)) != may)
			break;
	}
	return n;
}

enum xp_act bypass_submit(struct xp *c, struct xp_req *req, u32 span)
{
	struct xp_bypass *b = bypass_place(c, req);
	struct xp_found f;
	u32 n;

	if (!b)
		return bypass_queue(c, req);
	for (n = 0; n < span; n++) {
		xp_lba_t lba = lba_add(req_lba(req), n);

		map_find(c, lba, &f);
		if (c->pass == PASS_ON)
			bypass_unmap(c, &f);
		if (!may_bypass(c, &f, lba))
			break;
		if (is_slot(f.filling))
			slot_doom(c, f.filling);
	}
	if (!n)
		return req_wait(c, &c->busy, req);
	if (req->op == XP_WRITE)
		xp_req_is(req, XP_CLASS_WRITE_BYPASS);
	return bypass_begin(c, b, req, n);
}

static void count_passed(struct xp *c, const struct xp_req *req)
{
	if (req->op == XP_WRITE)
		c->stats.write_bypass_blocks += req->nr_blocks;
	else
		c->stats.discard_blocks += req->nr_blocks;
	if (req->stream == STREAM_LONG)
		c->stats.stream_bypass_written += req->nr_blocks;
}

/* What the slow device refuses the cache may take: a stream's write goes there in the second place. */
static enum xp_act stream_refused(struct xp_req *req, struct xp_todo *todo)
{
	req->stream = STREAM_NONE;
	req->tries++;
	xp_req_is(req, XP_CLASS_WRITE_STALLED);
	xp_list_add(&todo->ready, &req->link);
	return XP_WAIT;
}

/*
 * Also after an error: part of it may be there. The device had it, perhaps, when a flush failed that was under way with it;
 * of one with an error, or FUA, its own caller hears (@told).
 */
static void note_ended(struct xp *c, const struct xp_bypass *b, bool told)
{
	unflushed_add(&c->unflushed, XP_LBA(b->lba), b->nr, ++c->bypass_done);
	XP_WRITE_ONCE(c->owes, true);
	if (!told && b->flush_failures != c->flush_failures)
		c->flush_lost = c->bypass_done;
}

enum xp_act bypass_end(struct xp *c, struct xp_req *req, int err,
		       struct xp_todo *todo)
{
	const struct xp_bypass *b = &c->bypass[req->bypass];
	u32 failures = b->flush_failures;
	bool fua = req->fua && req->op == XP_WRITE;

	disk_ends(c);
	note_ended(c, b, err || fua);
	todo->work |= c->flushing || c->rate.drains;
	if (!err)
		count_passed(c, req);
	leave(c, &c->bypass[req->bypass], todo);
	if (err && req->stream == STREAM_LONG)
		return stream_refused(req, todo);
	if (err || !fua || c->opt.slow_fua)
		return req_finish(req, err);
	return flush_behind(c, req, failures, todo);
}

/* --------------------------------------------------- their slow flush ---- */

void bypass_note_flushed(struct xp *c, u64 bypassed)
{
	if (bypassed <= c->bypass_flushed)
		return;
	c->bypass_flushed = bypassed;
	if (!flush_is_untold(c))	/* else somebody has yet to hear, whatever is durable now */
		c->flush_told = max(c->flush_told, bypassed);
	unflushed_drop(&c->unflushed, bypassed);
}

/*
 * I2: what is ordered behind a FLUSH does not end well when that failed. A
 * journal's commit is one bio, a preflush with data, of which Linux's device
 * mapper makes two, and forgets the error of the first. So writes that may be the
 * second are refused until what the FLUSH was about has been flushed after all;
 * and until the second tick even then, as another's FLUSH may do that before the
 * write is here.
 */
void bypass_flush_failed(struct xp *c, u64 bypassed, struct xp_todo *todo)
{
	c->bypass_doubted = max(c->bypass_doubted, bypassed);
	c->doubt_ticks = 2;
	todo->tick = true;
}

void bypass_tick(struct xp *c, struct xp_todo *todo)
{
	bool doubted = c->bypass_flushed < c->bypass_doubted;

	if (c->failed && c->pass != PASS_ON)
		return;
	todo->tick |= bypass_in_doubt(c);
	if (c->doubt_ticks)
		c->doubt_ticks--;
	if (c->fills_held_up || doubted) {
		c->fills_held_up = false;
		c->slow_flush_wanted = true;
		todo->work = true;
	}
}

void bypass_unmap(struct xp *c, struct xp_found *f)
{
	if (is_slot(f->mapped)) {
		XP_ASSERT(!entry_of(c, f->mapped)->dirty);
		record_is_dead(c, f->mapped);
		slot_supersede(c, f->mapped);
	}
	f->mapped = f->unmapping = XP_SLOT(XP_NIL);
}
