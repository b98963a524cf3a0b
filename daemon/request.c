// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - a front-end's request: its parts, their operations, its end.
 *
 * A part belongs to exactly one of: a list of the backend, the core (after XP_WAIT), a device,
 * or the function that holds it. What remains of its range after the core's answer goes to
 * a spare part, to go on beside it, or waits until it has ended.
 */
#include "daemon/device.h"
#include "daemon/timing.h"
#include "core/accounting.h"
#include "core/options.h"

#include <errno.h>
#include <string.h>

/* --------------------------------------------------------------- errors ---- */

void xd_fast_error(struct xd_cache *cache, const char *what, u64 sector, int err)
{
	xd_count(cache->counts.fast_errors, 1);
	xd_log("%s: fast device: %s failed at sector %llu: %s", cache->fast->dev.path, what,
	       (unsigned long long)sector, strerror(-err));
}

void xd_slow_error(struct xd_cache *cache, const char *what, u64 sector, int err)
{
	xd_count(cache->counts.slow_errors, 1);
	xd_log("%s: slow device: %s failed at sector %llu: %s", cache->slow->dev.path, what,
	       (unsigned long long)(sector - min(sector, (u64)cache->pad)), strerror(-err));
}

static void part_error(struct xd_cache *cache, const struct xd_part *part, int err)
{
	/* Its sender may try what a device need not be able to do, and fall back. */
	if (err == -EOPNOTSUPP && part->req.op == XP_DISCARD)
		return;
	if (part->act == XP_FAST)
		xd_fast_error(cache, xp_op_name[part->req.op], part->req.target, err);
	else
		xd_slow_error(cache, xp_op_name[xp_op_below(&part->req, part->act)], part->req.sector, err);
}

/* ------------------------------------------------------------------- end ---- */

/* All its parts are one request, of the class that was worst. */
static void io_account(struct xd_io *io)
{
	xp_requests_add(io->loop->requests, io->class, io->err);
	if (!io->err)
		xd_timed(io->loop, io->class, io->begun);
}

static void io_ended(struct xd_io *io)
{
	struct xd_loop *loop = io->loop;

	if (!io->own)
		io_account(io);
	loop->ios--;
	io->end(io);
}

static void part_free(struct xd_part *part)
{
	struct xd_io *io = part->io;

	if (part == &io->first)
		return;
	part->next = io->loop->spare;
	io->loop->spare = part;
}

/* Moves on to what is left of its range; false: nothing, or no point in it. */
static bool next_part(struct xd_part *part)
{
	part->req.sector += part->req.nr_sectors;
	if (part->req.err || part->req.sector >= part->end)
		return false;
	xp_list_add(&part->io->loop->again, &part->req.link);
	return true;
}

void xd_part_done(struct xd_part *part)
{
	struct xd_io *io = part->io;

	if (part->req.err && !io->err)
		io->err = part->req.err;
	io->class = max(io->class, part->req.class);
	if (next_part(part))
		return;
	part_free(part);
	if (!--io->parts)
		io_ended(io);
}

static void part_ended(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	enum xp_class leg = xp_leg_class(xp_op_below(&part->req, part->act), part->act == XP_FAST);

	if (err)
		part_error(cache, part, err);
	else if (leg != XP_CLASSES)
		xd_timed(loop, leg, part->sent);
	if (!err && leg == XP_CLASS_SLOW_READ)
		xp_slow_took(cache->core, &part->req, part->req.nr_sectors, xd_since(part->sent));
	if (xp_end(cache->core, &part->req, err, &loop->todo) == XP_DONE)
		xd_part_done(part);
}

static void hit_ended(struct xd_op *op, int err)
{
	struct xd_part *part = container_of(op, struct xd_part, op);
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;

	if (err) {	/* what is clean comes again */
		part_ended(op, err);
		return;
	}
	xd_timed(loop, XP_CLASS_FAST_READ, part->sent);
	xp_local_add(&loop->requests->hit_blocks, part->req.nr_blocks);
	if (xp_hit_end(cache->core, &part->req))
		xp_hit_free(cache->core, &part->req, &loop->todo);
	xd_part_done(part);
}

/* ----------------------------------------------------------------- begin ---- */

static const u8 kind_of[] = {
	[XP_READ] = XD_READ, [XP_WRITE] = XD_WRITE, [XP_FLUSH] = XD_FLUSH,
	[XP_DISCARD] = XD_DISCARD, [XP_ZEROES] = XD_ZERO,
};

/* Around the cache the core asks for a flush behind the write, where that is not done by the device. */
static bool is_durable(const struct xd_part *part)
{
	return part->req.fua && (part->act == XP_FAST || part->io->loop->cache->slow->fua);
}

static void operate(struct xd_part *part, void (*end)(struct xd_op *op, int err))
{
	struct xd_loop *loop = part->io->loop;
	struct xd_cache *cache = loop->cache;
	const struct xp_req *req = &part->req;
	enum xd_kind kind = kind_of[xp_op_below(req, part->act)];
	bool fast = part->act == XP_FAST, data = kind == XD_READ || kind == XD_WRITE;
	struct xd_op *op = &part->op;

	op->kind = (u8)kind;
	op->fua = kind == XD_WRITE && is_durable(part);
	op->preflush = false;
	op->bytes = req->nr_sectors << XP_SECTOR_SHIFT;
	op->offset = (fast ? req->target : req->sector) << XP_SECTOR_SHIFT;
	op->data = data ? xd_part_data(part) : NULL;
	op->registered = data ? part->io->buffer->registered : -1;
	op->end = end;
	if (fast && req->op == XP_WRITE)
		xd_count(cache->counts.fast_bytes_written, op->bytes);
	part->sent = xd_time(cache);
	xd_device_submit(fast ? cache->fast : cache->slow, loop, op);
}

/* Does what the core has answered. */
static void follow(struct xd_part *part, enum xp_act act)
{
	struct xd_cache *cache = part->io->loop->cache;

	part->act = act;
	switch (act) {
	case XP_SLOW_FILL:
		if (xd_fill_read(part))
			return;
		part->act = XP_SLOW;
		/* fall through */
	case XP_SLOW:
		if (part->req.op == XP_ZEROES) {
			xd_zeroes_start(part);
			return;
		}
		operate(part, part_ended);
		return;
	case XP_MIXED:
		if (!xd_fill_read(part))	/* it comes again, in pieces */
			xp_end(cache->core, &part->req, -ENOMEM, &part->io->loop->todo);
		return;
	case XP_SLOW_FLUSH:
	case XP_FAST:
		operate(part, part_ended);
		return;
	case XP_COPY:
	case XP_CHECK:
		xd_copy_start(part);
		return;
	case XP_ZERO:
		memset(xd_part_data(part), 0, part->req.nr_sectors << XP_SECTOR_SHIFT);
		part->req.err = 0;
		break;
	default:
		break;
	}
	xd_part_done(part);
}

/* The rest of its range goes on beside it, if there is a part to spare. */
static void split(struct xd_part *part)
{
	struct xd_io *io = part->io;
	struct xd_part *rest = io->loop->spare;
	u64 at = part->req.sector + part->req.nr_sectors;

	if (at >= part->end || !rest)
		return;
	io->loop->spare = rest->next;
	io->parts++;
	xd_part_init(rest, io, at, part->end);
	rest->req.alone = part->req.alone;
	part->end = at;
	xp_list_add(&io->loop->again, &rest->req.link);
}

void xd_part_init(struct xd_part *part, struct xd_io *io, u64 sector, u64 end)
{
	part->io = io;
	part->end = end;
	part->merge = part->over = NULL;
	part->req.op = io->op;
	part->req.fua = io->fua;
	part->req.aside = io->aside;
	part->req.written = false;
	part->req.ordered = io->ordered;
	part->req.class = 0;
	part->req.fast_failed = false;
	part->req.alone = false;
	part->req.tries = 0;
	part->req.stream = 0;
	part->req.sector = sector;
}

static bool try_hit(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	u32 hit = xp_hit(loop->cache->core, &part->req);

	if (hit & XP_HIT_OWES)
		xp_hit_free(loop->cache->core, &part->req, &loop->todo);
	if (!(hit & XP_HIT))
		return false;
	split(part);
	part->act = XP_FAST;
	part->req.err = 0;
	operate(part, hit_ended);
	return true;
}

/* Nothing of it can be sent to a device that takes whole blocks: it begins or ends within one, or its buffer does. */
static bool is_private(const struct xd_part *part)
{
	return part->io->loop->cache->fast_whole &&
	       xp_is_partial(part->io->sector | part->req.sector, (u32)(part->end - part->req.sector));
}

void xd_part_submit(struct xd_part *part)
{
	struct xd_loop *loop = part->io->loop;
	enum xp_act act;

	part->req.private = is_private(part);
	part->req.nr_sectors = part->end - part->req.sector;
	if (part->req.op == XP_READ && !part->req.fast_failed && !part->req.private &&
	    !loop->cache->tunables->verify && try_hit(part))
		return;
	part->req.nr_sectors = part->end - part->req.sector;
	act = xp_submit(loop->cache->core, &part->req, &loop->todo);
	if (act == XP_WAIT)	/* it may be on another thread by now */
		return;
	split(part);
	follow(part, act);
}

void xd_parts_again(struct xd_loop *loop)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&loop->again)))
		xd_part_submit(xd_part_of(link));
}

void xd_submit(struct xd_io *io)
{
	struct xd_loop *loop = io->loop;
	struct xd_cache *cache = loop->cache;

	io->err = 0;
	io->class = 0;
	io->parts = 1;
	io->begun = xd_time(cache);
	loop->ios++;
	io->sector += cache->pad;
	xd_part_init(&io->first, io, io->sector, io->sector + io->nr_sectors);
	if ((io->op == XP_WRITE || io->op == XP_ZEROES) && xd_throttle(&io->first))
		return;
	xd_part_submit(&io->first);
}
