// SPDX-License-Identifier: GPL-2.0-only
/*
 * passthrough.c - a cache whose fast device is gone, with nothing dirty on it: writes pass to the
 * slow device.
 *
 *	failed --nothing dirty, and a place--> MARKING --mark durable--> ON
 *	   `--------------------------------> OFF <--not zeros, error---'
 *
 * The fast device cannot be told. When it is there again its map is of old, and looks as after a
 * power cut. So a mark says so on the slow device, in a block that is nobody's, and is durable
 * before the first write passes; whoever starts the cache looks there first (rest.c).
 *
 * True from MARKING on: nothing acknowledged is on the fast device alone, and its journal says so.
 * Writes that were under way come again, and are acknowledged when the slow device has them.
 */
#include "bypass.h"
#include "flush.h"
#include "mark.h"
#include "passthrough.h"

/*
 * Not while a record that made a block clean may be missing: it would come back dirty, and go
 * home over what has passed. Nor once a partition table was written: whose the place is then
 * is not known. Nor while something goes to that place around the cache: it may land on the mark.
 */
bool pass_possible(const struct xp *c)
{
	return c->opt.mark_lba && !c->tables_written && !c->nr_dirty &&
	       journal_is_written(c, c->cleaned) && !bypass_overlaps(c, XP_LBA(c->opt.mark_lba));
}

void pass_begin(struct xp *c, struct xp_todo *todo)
{
	if (!pass_possible(c))
		return;
	c->pass = PASS_MARKING;
	flush_wants_mark(c, todo);
}

/* ------------------------------------------------------------ the mark ---- */

u64 xp_mark_sector(const struct xp *c)
{
	return c->opt.mark_lba * XP_BLOCK_SECTORS;
}

static bool is_zero(const u8 *byte, u32 n)
{
	return !byte[0] && !memcmp(byte, byte + 1, n - 1);
}

bool xp_mark_make(struct xp *c, void *block)
{
	struct xp_mark *m = block;

	if (!is_zero(block, XP_BLOCK_SIZE))
		return false;
	memcpy(m->magic, XP_MARK_MAGIC, sizeof(m->magic));
	m->version = cpu_to_le32(XP_MARK_VERSION);
	memcpy(m->uuid, c->journal.uuid, sizeof(m->uuid));
	xp_lock(&c->lock);
	m->incarnation = cpu_to_le64(c->journal.incarnation);
	m->seq = cpu_to_le64(c->journal.durable_number);
	xp_unlock(&c->lock);
	m->checksum = cpu_to_le64(xp_xxh64(m, offsetof(struct xp_mark, checksum)));
	return true;
}

bool xp_mark_is(const struct xp_sb *sb, const void *block)
{
	const struct xp_mark *m = block;

	return !memcmp(m->magic, XP_MARK_MAGIC, sizeof(m->magic)) &&
	       !memcmp(m->uuid, sb->uuid, sizeof(m->uuid)) &&
	       le64_to_cpu(m->checksum) == xp_xxh64(m, offsetof(struct xp_mark, checksum));
}

int xp_mark_end(struct xp *c, int err, struct xp_todo *todo)
{
	xp_lock(&c->lock);
	if (!err && c->turn.failures != c->flush_failures)	/* the device may have had the mark, and forgotten it */
		err = -EIO;
	if (err)	/* it may be its flush's */
		flush_note_loss(c);
	XP_ASSERT(c->pass == PASS_MARKING);
	c->pass = err ? PASS_OFF : PASS_ON;
	xp_list_splice(&todo->ready, &c->room);
	flush_turn_ends(c, todo);
	xp_unlock(&c->lock);
	return err;
}

/* ------------------------------------------------------------ requests ---- */

static enum xp_act pass_flush(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	xp_req_is(req, XP_CLASS_FLUSH);
	return flush_below(c, req, todo);
}

/* The mark must stay. */
static bool over_mark(const struct xp *c, const struct xp_req *req)
{
	return req->op != XP_FLUSH && xp_lba_n(req_lba(req)) <= c->opt.mark_lba &&
	       c->opt.mark_lba < xp_lba_n(req_lba(req)) + req_span(req);
}

static enum xp_act pass_zeroes(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	u32 span = req_starts_partial(req) ? 1 : req->nr_sectors / XP_BLOCK_SECTORS;

	xp_req_is(req, XP_CLASS_DISCARD);
	if (req->op == XP_ZEROES || (c->opt.slow_discards && !req_starts_partial(req)))
		return zeroes_below(c, req, span, todo);
	return req_finish_command(c, req, span);
}

enum xp_act pass_submit(struct xp *c, struct xp_req *req, struct xp_todo *todo)
{
	if (c->pass == PASS_OFF || over_mark(c, req))
		return req_finish(req, -EIO);
	if (c->pass == PASS_MARKING)
		return req_wait(c, &c->room, req);
	if (req->ordered && bypass_in_doubt(c))
		return req_finish(req, -EIO);
	if (req->op == XP_FLUSH)
		return pass_flush(c, req, todo);
	if (req->op == XP_WRITE)
		return bypass_submit(c, req, min(req_span(req), XP_RUN_MAX));
	return pass_zeroes(c, req, todo);
}
