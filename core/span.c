// SPDX-License-Identifier: GPL-2.0-only
/* span.c - misses with the hits between them, in one request (span.h). */
#include "accounting.h"
#include "overlay.h"
#include "request.h"
#include "slot.h"
#include "span.h"

#define SHORT_SECTORS	64u
#define LONG_SECTORS	256u

/* Of a rotating disk. */
#define ACCESS_NS	8000000u
#define BLOCK_NS	27000u

/* A device with a shorter access has no head that would have to come back. */
#define SEEK_NS		1000000u
#define GAP_MAX		4096u

/*
 * Of a run of dirty blocks. The fast device is read for it in either case, and here beside the slow one: cheap. Not
 * free: it is a request of its own, and what it returns is moved to its place.
 */
#define OVERLAY_NS	20000u

/* By an eighth towards @ns. Two at once may lose one of them. */
static void average(u32 *average_ns, u32 ns)
{
	u32 was = XP_READ_RACY(*average_ns);

	if (was)
		ns = was - was / 8 + ns / 8;
	XP_WRITE_ONCE(*average_ns, max(ns, 1u));
}

void xp_slow_took(struct xp *c, u32 nr_sectors, u64 ns)
{
	u32 took = (u32)min(ns, (u64)~0u), access = XP_READ_RACY(c->slow_pace.access_ns);

	if (!ns)
		return;
	if (nr_sectors <= SHORT_SECTORS)
		average(&c->slow_pace.access_ns, took);
	else if (nr_sectors >= LONG_SECTORS && took > access)	/* else it was read ahead */
		average(&c->slow_pace.block_ns, (took - access) / (nr_sectors / XP_BLOCK_SECTORS));
}

/* What is known of @c now, in the words of a rotating disk where nothing is. */
static struct xp_slow_pace pace_of(const struct xp *c)
{
	struct xp_slow_pace p = {
		.access_ns = XP_READ_RACY(c->slow_pace.access_ns),
		.block_ns = XP_READ_RACY(c->slow_pace.block_ns),
	};

	p.access_ns = p.access_ns ? p.access_ns : ACCESS_NS;
	p.block_ns = p.block_ns ? p.block_ns : BLOCK_NS;
	return p;
}

/* Instead of so many pieces one request for all @blocks, over which so many runs are laid. */
static bool pays(const struct xp_slow_pace *p, u32 blocks, u32 pieces, u32 runs)
{
	u64 span_ns = (u64)blocks * p->block_ns + (u64)runs * OVERLAY_NS;

	return pieces == 1 || span_ns < (u64)(pieces - 1) * p->access_ns;
}

/* Blocks from the @n-th of the request on that are misses. */
static u32 misses_from(struct xp *c, const struct xp_req *req, u32 n, u32 most)
{
	u32 begun = n;

	while (n < most && !is_slot(map_mapped(c, lba_add(req_lba(req), n))))
		n++;
	return n - begun;
}

/* It may be in a span: the slow device has it, or it is laid over what that has. */
static bool joins(struct xp *c, struct xp_req *req, u32 n, xp_slot_t slot)
{
	return is_slot(slot) && (!entry_of(c, slot)->dirty || overlay_add(c, req, n, slot));
}

/* ... and hits that may be in a span. */
static u32 hits_from(struct xp *c, struct xp_req *req, u32 n, u32 most)
{
	u32 begun = n;

	while (n < most && joins(c, req, n, map_mapped(c, lba_add(req_lba(req), n))))
		n++;
	return n - begun;
}

bool span_goes_on(const struct xp *c, xp_lba_t lba)
{
	u64 next = XP_READ_RACY(c->slow_next), gap = xp_lba_n(lba) - next;	/* behind it: a large number */
	struct xp_slow_pace p = pace_of(c);

	return next && p.access_ns >= SEEK_NS && gap <= GAP_MAX && gap * p.block_ns < p.access_ns;
}

u32 span_blocks(struct xp *c, struct xp_req *req, u32 most, u32 *misses)
{
	u32 missed = 0, best = 0, pieces, n = 0, hits = 0;
	bool goes_on = !req->alone && span_goes_on(c, req_lba(req));
	struct xp_slow_pace p = pace_of(c);

	req->overlay = NULL;
	for (pieces = 1; n < most; pieces++) {
		u32 piece = misses_from(c, req, n, most);

		n += piece;
		missed += piece;
		if (piece && pays(&p, n, pieces, req->overlay ? req->overlay->nr_runs : 0)) {
			best = n;
			*misses = missed;
		}
		hits = req->alone || !(piece || goes_on) ? 0 : hits_from(c, req, n, most);
		/* One gap that costs more than an access is worth no span. */
		if (!hits || (u64)hits * p.block_ns >= p.access_ns)
			break;
		n += hits;
	}
	if (goes_on && best && n == most && n - hits == best)
		best = n;
	overlay_trim(c, req, best);
	return best;
}
