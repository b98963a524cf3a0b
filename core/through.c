// SPDX-License-Identifier: GPL-2.0-only
/*
 * through.c - write-through: a write that ends when the slow device has it, too.
 *
 * It is a write-back whose blocks are written back before it ends. In the cache all is as ever: the data goes to free
 * slots, the mapping flips, and the record is durable before a run of writeback takes the block (I3). Then the write
 * waits here:
 *
 *	dirty, waits -- batch of what is waited for: runs --> home -- its bits are all set --> done
 *	                                 |                     `-- FUA: not before the slow device was flushed
 *	                                 `-- a run of one block has failed: -EIO; the block stays dirty.
 *	                                     The blocks of a longer one go alone next
 *
 * Such a batch need not end with a flush, which a disk takes its time for. Then what it has written is not CLEAN (I7)
 * but "home": the slow device was sent it. bypass_done counts that, so the next FLUSH goes to the slow device as well
 * (I2). A later batch takes blocks that are home without writing them again, and they are clean behind its flush.
 *
 * Everything is sent by batches, so an older version never overtakes a newer one (I4), and nobody has to know of
 * writes to a block that run elsewhere.
 *
 * Which versions does a run bring? It is gathered from the mappings of that moment, so at least those of all writes that
 * waited before: c->run_serial counts runs, and a write notes how many there were.
 */
#include "request.h"
#include "run.h"
#include "slot.h"
#include "through.h"
#include "writeback.h"

/*
 * Blocks that a bit of req->sent is for: one, but for a write that began in write-back's time and is longer than such a
 * part. Then a bit is of several blocks side by side.
 */
static u32 per_bit(const struct xp_req *req)
{
	return (req->nr_blocks + XP_THROUGH_MAX - 1) / XP_THROUGH_MAX;
}

static u32 nr_bits(const struct xp_req *req)
{
	return (req->nr_blocks + per_bit(req) - 1) / per_bit(req);
}

/* The blocks of a bit. */
static struct xp_lbas blocks_of(const struct xp_req *req, u32 bit)
{
	u64 first = (u64)bit * per_bit(req);

	return (struct xp_lbas){ xp_lba_n(req_lba(req)) + first, min((u64)per_bit(req), req->nr_blocks - first) };
}

static u64 all_of(const struct xp_req *req)
{
	u32 nr = nr_bits(req);

	return nr < 64 ? (1ull << nr) - 1 : ~0ull;
}

enum xp_act through_wait(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	req->state = REQ_THROUGH;
	req->sent = 0;
	req->point = c->run_serial;
	xp_list_add(&c->through, &req->link);
	todo->work = true;
	return XP_WAIT;
}

static bool is_sent(const struct xp_req *req)
{
	return req->sent == all_of(req);
}

/* It ends, or goes on waiting: FUA is about the slow device, too. */
static void settle(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	bool waits = !is_sent(req) || (req->fua && !req->err && c->bypass_flushed < c->bypass_done);

	xp_list_add(waits ? &c->through : &todo->done, &req->link);
}

/* ---------------------------------------------------------------- a batch ---- */

/* Nothing of the block is left for a batch to send. */
static bool is_home(struct xp *c, xp_slot_t slot)
{
	const struct xp_entry *e = is_slot(slot) ? entry_of(c, slot) : NULL;

	return !e || !e->dirty || (e->home && !c->homes_lost);
}

/* Takes those of them that are not; true: there are none. */
static bool gather_blocks(struct xp *c, struct xp_lbas blocks)
{
	bool home = true;
	u64 i;

	for (i = 0; i < blocks.nr; i++) {
		xp_slot_t slot = map_mapped(c, XP_LBA(blocks.first + i));

		if (is_home(c, slot))
			continue;
		home = false;
		writeback_take(c, slot);
	}
	return home;
}

static void gather_of(struct xp *c, struct xp_req *req)
{
	u32 bit;

	for (bit = 0; bit < nr_bits(req); bit++)
		if (!(req->sent >> bit & 1) && gather_blocks(c, blocks_of(req, bit)))
			req->sent |= 1ull << bit;
}

void through_gather(struct xp *c, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_take(&all, &c->through);
	while (c->batch.nr < c->batch.limit && (link = xp_list_pop(&all))) {
		gather_of(c, req_of(link));
		settle(c, req_of(link), todo);
	}
	xp_list_splice(&all, &c->through);	/* who has waited for longer comes first */
	xp_list_splice(&c->through, &all);
}

/* ------------------------------------------------------------------ its runs ---- */

static void note_sent(struct xp_req *req, const struct xp_run *run)
{
	u64 at = xp_lba_n(run->lba), end = at + run->nr_blocks;
	u32 bit;

	if (run->serial <= req->point || at >= xp_lba_n(req_lba(req)) + req->nr_blocks || end <= xp_lba_n(req_lba(req)))
		return;
	for (bit = 0; bit < nr_bits(req); bit++) {
		struct xp_lbas b = blocks_of(req, bit);

		if (run->err ? b.first < end && at < b.first + b.nr : at <= b.first && b.first + b.nr <= end) {
			req->sent |= 1ull << bit;
			req->err = req->err ? req->err : run->err;
		}
	}
}

void through_sent(struct xp *c, const struct xp_run *run, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	if (!through_is_awaited(c))
		return;
	if (!run->err)
		writeback_owes_flush(c);	/* before anybody is told that it is there */
	else if (run->nr_blocks > 1)
		return;
	xp_list_take(&all, &c->through);
	while ((link = xp_list_pop(&all))) {
		note_sent(req_of(link), run);
		settle(c, req_of(link), todo);
	}
}

void through_lost(struct xp *c)
{
	struct xp_link *link;

	for (link = c->through.head; link; link = link->next) {
		struct xp_req *req = req_of(link);

		if (is_sent(req)) {	/* and waits for a flush */
			req->err = req->err ? req->err : -EIO;
		} else if (!req->err) {
			req->sent = 0;
			req->point = c->run_serial;
		}
	}
}

bool through_wants_flush(const struct xp *c)
{
	const struct xp_link *link;

	for (link = c->through.head; link; link = link->next)
		if (is_sent(container_of(link, const struct xp_req, link)))
			return true;
	return false;
}

void through_flushed(struct xp *c, int err, struct xp_todo *todo)
{
	struct xp_list all;
	struct xp_link *link;

	xp_list_take(&all, &c->through);
	while ((link = xp_list_pop(&all))) {
		struct xp_req *req = req_of(link);

		if (is_sent(req) && err)
			req->err = err;
		xp_list_add(is_sent(req) ? &todo->done : &c->through, link);
	}
}
