// SPDX-License-Identifier: GPL-2.0-only
/* span.c - misses with the hits between them, in one request (span.h). */
#include "disk.h"
#include "overlay.h"
#include "request.h"
#include "slot.h"
#include "span.h"

/*
 * Of a run of dirty blocks. The fast device is read for it in either case, and here beside the slow one: cheap. Not
 * free: it is a request of its own, and what it returns is moved to its place.
 */
#define OVERLAY_NS	20000u

/* Instead of so many pieces one request for all @blocks, over which those runs are laid that it has so far. */
static bool pays(const struct xp_disk_pace *p, const struct xp_req *req, u32 blocks, u32 pieces)
{
	u32 runs = req->overlay ? req->overlay->nr_runs : 0;
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
	return is_slot(slot) && xp_lba_n(req_lba(req)) + n < c->nr_whole &&
	       (!entry_of(c, slot)->dirty || overlay_add(c, req, n, slot));
}

/* ... and hits that may be in a span. */
static u32 hits_from(struct xp *c, struct xp_req *req, u32 n, u32 most)
{
	u32 begun = n;

	while (n < most && joins(c, req, n, map_mapped(c, lba_add(req_lba(req), n))))
		n++;
	return n - begun;
}

/* Hits from the @n-th on; none where all of them cost more than an access: that is worth no span. */
static u32 gap_from(struct xp *c, struct xp_req *req, const struct xp_disk_pace *p, u32 n, u32 most)
{
	u32 enough = p->access_ns / p->block_ns + 1, hits;

	hits = req->alone ? 0 : hits_from(c, req, n, most - n > enough ? n + enough : most);
	return (u64)hits * p->block_ns < p->access_ns ? hits : 0;
}

/* The last misses end at @best. Those behind them too, if they are all that is left; hits alone are read as hits. */
static u32 with_last_hits(u32 best, u32 n, u32 hits, u32 most)
{
	return best && n == most && n - hits == best ? n : best;
}

u32 span_blocks(struct xp *c, struct xp_req *req, u32 most, u32 *misses)
{
	u32 missed = 0, best = 0, pieces = 1, n = 0, hits;
	bool goes_on = !req->alone && disk_goes_on(c, req_lba(req));
	struct xp_disk_pace p = disk_pace(c);

	req->overlay = NULL;
	do {
		u32 piece = misses_from(c, req, n, most);

		n += piece;
		missed += piece;
		if (piece && pays(&p, req, n, pieces)) {
			best = n;
			*misses = missed;
		}
		hits = piece || goes_on ? gap_from(c, req, &p, n, most) : 0;
		n += hits;
		pieces++;
	} while (hits && n < most);
	if (goes_on)
		best = with_last_hits(best, n, hits, most);
	overlay_trim(c, req, best);
	return best;
}
