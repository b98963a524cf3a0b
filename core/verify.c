// SPDX-License-Identifier: GPL-2.0-only
/*
 * verify.c - with xp_options.verify: what a slot should hold; checked.c compares it.
 *
 * And reads by way of a private buffer for another reason (xp_req.private): the same, with nothing
 * to compare.
 *
 * A sum is set while its slot is WRITING or FILLING, by who writes there, and stays until the
 * slot is used again: who has it pinned reads it without the lock. Each MAP record bears it
 * (journal_put), so it survives with the mapping. A record that was placed without bears none for
 * good.
 */
#include "checksum.h"
#include "request.h"
#include "verify.h"

/*
 * The two halves are of the even and of the odd words. Not their exclusive or alone, which is the
 * same for every block whose words come in pairs, zeros among them: half of it goes through a
 * product. So an error that only one half sees is always seen.
 */
u32 xp_sum(u64 checksum)
{
	u32 sum = (u32)checksum ^ (u32)(checksum >> 32) * 0x9e3779b1u;

	return sum ? sum : 1;
}

void verify_set(struct xp *c, xp_slot_t slot, u64 hash)
{
	c->sum[xp_slot_n(slot)] = slot_lacks(c, slot) ? 0 : xp_sum(hash);
}

void xp_fill_hash(struct xp *c, const struct xp_fill *run, u32 i, u64 hash)
{
	verify_set(c, slot_add(run->slot, i), hash);
}

void verify_trim(struct xp_req *req)
{
	req_trim(req, min(req_span(req), XP_COPY_MAX));
}

u32 verify_hit(struct xp *c, struct xp_req *req)
{
	u32 asked = req->nr_sectors, hit;

	verify_trim(req);
	hit = xp_hit(c, req);
	if (!(hit & XP_HIT))
		req->nr_sectors = asked;
	return hit;
}

bool xp_has_sums(const struct xp *c, const struct xp_req *req)
{
	u32 i;

	for (i = 0; c->sum && i < req->nr_blocks; i++)
		if (c->sum[xp_slot_n(req->slot) + i])
			return true;
	return false;
}

/*
 * It is read by whole blocks if there is anything to compare it with, or nothing else can be read.
 */
enum xp_act verify_read(const struct xp *c, struct xp_req *req)
{
	if (!req->private && !xp_has_sums(c, req))
		return XP_FAST;
	req->target -= req_offset(req);
	req->copy.offset = req_offset(req) << XP_SECTOR_SHIFT;
	req->doubted = false;
	return XP_CHECK;
}

