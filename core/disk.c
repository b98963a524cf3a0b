// SPDX-License-Identifier: GPL-2.0-only
/* disk.c - what reads of the slow device tell of it (disk.h). */
#include "accounting.h"
#include "disk.h"
#include "request.h"

#define SHORT_SECTORS	64u
#define LONG_SECTORS	256u

/* Of a rotating disk. */
#define ACCESS_NS	8000000u
#define BLOCK_NS	27000u

/* A device with a shorter access has no head that would have to come back. */
#define SEEK_NS		1000000u
#define NEAR_BLOCKS	256u

/* A 2^@shift-th of the way to @ns. Two at once may lose one of them. */
static void average(u32 *average_ns, u64 ns, u32 shift)
{
	u32 was = XP_READ_RACY(*average_ns), took = (u32)min(ns, (u64)~0u);

	if (was)
		took = was - (was >> shift) + (took >> shift);
	XP_WRITE_ONCE(*average_ns, max(took, 1u));
}

struct xp_disk_pace disk_pace(const struct xp *c)
{
	struct xp_disk_pace p = {
		.access_ns = XP_READ_RACY(c->disk.access_ns),
		.block_ns = XP_READ_RACY(c->disk.block_ns),
	};

	p.access_ns = p.access_ns ? p.access_ns : ACCESS_NS;
	p.block_ns = p.block_ns ? p.block_ns : BLOCK_NS;
	return p;
}

bool disk_goes_on(const struct xp *c, xp_lba_t lba)
{
	u64 next = XP_READ_RACY(c->disk.next), gap = xp_lba_n(lba) - next;	/* behind it: a large number */
	struct xp_disk_pace p = disk_pace(c);

	return next && p.access_ns >= SEEK_NS && gap < NEAR_BLOCKS && gap * p.block_ns < p.access_ns;
}

static u64 apart(u64 a, u64 b)
{
	return a < b ? b - a : a - b;
}

static enum xp_disk_way way_to(const struct xp_disk *d, u64 lba)
{
	u32 i;

	if (d->next == lba)
		return DISK_ON;
	for (i = 0; i < XP_DISK_ENDS; i++)
		if (d->end[i] && apart(d->end[i], lba) < NEAR_BLOCKS)
			return DISK_NEAR;
	return DISK_FAR;
}

void disk_read_begins(struct xp *c, const struct xp_req *req)
{
	u64 lba = xp_lba_n(req_lba(req)), end = lba + req->nr_blocks;
	struct xp_disk *d = &c->disk;

	XP_WRITE_ONCE(d->way, way_to(d, lba));
	XP_WRITE_ONCE(d->lone, d->reads++ ? NULL : req);
	XP_WRITE_ONCE(d->next, end);
	d->newest = (d->newest + 1) % XP_DISK_ENDS;
	d->end[d->newest] = end;
}

void disk_read_ends(struct xp *c)
{
	c->disk.reads--;
}

void disk_leaves(struct xp *c)
{
	XP_WRITE_ONCE(c->disk.next, 0);
}

void disk_tick(struct xp *c)
{
	struct xp_disk *d = &c->disk;

	if (d->next == d->next_at_tick)
		disk_leaves(c);
	d->next_at_tick = d->next;
}

static void tell_access(struct xp_disk *d, u32 known_ns, u32 nr_sectors, u64 ns, bool lone)
{
	bool is_short = nr_sectors <= SHORT_SECTORS;

	if (ns < known_ns || (lone && is_short))
		average(&d->access_ns, ns, 3);
	else if (is_short && XP_READ_RACY(d->access_ns))
		average(&d->access_ns, ns, 6);
}

/* @ns without an access. */
static void tell_block(struct xp_disk *d, u32 nr_sectors, u64 ns)
{
	if (nr_sectors >= LONG_SECTORS)
		average(&d->block_ns, ns / (nr_sectors / XP_BLOCK_SECTORS), 3);
}

/* If another begins just now, this one is judged by where that is: an eighth of an average. */
void xp_slow_took(struct xp *c, const struct xp_req *req, u32 nr_sectors, u64 ns)
{
	u32 access = disk_pace(c).access_ns, way = XP_READ_RACY(c->disk.way);
	bool lone = XP_READ_RACY(c->disk.lone) == req;

	if (!ns)
		return;
	if (way == DISK_FAR)
		tell_access(&c->disk, access, nr_sectors, ns, lone);
	if (lone && way == DISK_ON)
		tell_block(&c->disk, nr_sectors, ns);
	else if (lone && way == DISK_FAR && ns > access)
		tell_block(&c->disk, nr_sectors, ns - access);
}
