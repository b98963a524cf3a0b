// SPDX-License-Identifier: GPL-2.0-only
/* disk.c - what reads of the slow device tell of it (disk.h). */
#include "accounting.h"
#include "disk.h"
#include "request.h"

#define SHORT_SECTORS	64u
#define LONG_SECTORS	256u

/* Of a rotating disk, and of flash. */
#define ACCESS_NS	8000000u
#define BLOCK_NS	27000u
#define FLASH_ACCESS_NS	100000u
#define FLASH_BLOCK_NS	8000u

/* A device with a shorter access has no head that would have to come back. */
#define SEEK_NS		1000000u
#define FLASH_SEEK_NS	8000000u	/* of one that says it is flash; a busy one may take long */
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

	if (!p.access_ns)
		p.access_ns = c->opt.slow_is_flash ? FLASH_ACCESS_NS : ACCESS_NS;
	if (!p.block_ns)
		p.block_ns = c->opt.slow_is_flash ? FLASH_BLOCK_NS : BLOCK_NS;
	return p;
}

bool disk_seeks(const struct xp *c)
{
	return disk_pace(c).access_ns >= (c->opt.slow_is_flash ? FLASH_SEEK_NS : SEEK_NS);
}

bool disk_goes_on(const struct xp *c, xp_lba_t lba)
{
	u64 next = XP_READ_RACY(c->disk.next), gap = xp_lba_n(lba) - next;	/* behind it: a large number */
	struct xp_disk_pace p = disk_pace(c);

	return next && disk_seeks(c) && gap < NEAR_BLOCKS && gap * p.block_ns < p.access_ns;
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

static void begins(struct xp_disk *d, const struct xp_req *alone)
{
	XP_WRITE_ONCE(d->lone, d->under_way++ || d->runs ? NULL : alone);
	d->begun++;
}

void disk_begins(struct xp *c)
{
	begins(&c->disk, NULL);
	disk_leaves(c);
}

void disk_read_begins(struct xp *c, const struct xp_req *req)
{
	u64 lba = xp_lba_n(req_lba(req)), end = lba + req->nr_blocks;
	struct xp_disk *d = &c->disk;

	XP_WRITE_ONCE(d->way, way_to(d, lba));
	begins(d, req);
	XP_WRITE_ONCE(d->next, end);
	d->newest = (d->newest + 1) % XP_DISK_ENDS;
	d->end[d->newest] = end;
}

void disk_run_begins(struct xp *c)
{
	XP_WRITE_ONCE(c->disk.lone, NULL);
	c->disk.runs++;
	disk_leaves(c);
}

void disk_run_ends(struct xp *c)
{
	c->disk.runs--;
}

void disk_ends(struct xp *c)
{
	c->disk.under_way--;
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

	ns = min(ns, (u64)known_ns * 8);	/* a disk that has to spin up is not so slow */
	if (ns < known_ns || (lone && is_short))
		average(&d->access_ns, ns, 3);
	else if (is_short && XP_READ_RACY(d->access_ns))
		average(&d->access_ns, ns, 6);
}

/* @ns without an access. */
static void tell_block(struct xp_disk *d, u32 known_ns, u32 nr_sectors, u64 ns)
{
	u64 block_ns = ns * XP_BLOCK_SECTORS / nr_sectors;

	if (nr_sectors >= LONG_SECTORS)
		average(&d->block_ns, min(block_ns, (u64)known_ns * 8), 3);
}

/* If another begins just now, this one is judged by where that is: an eighth of an average. */
void xp_slow_took(struct xp *c, const struct xp_req *req, u32 nr_sectors, u64 ns)
{
	struct xp_disk_pace p = disk_pace(c);
	u32 way = XP_READ_RACY(c->disk.way);
	bool lone = XP_READ_RACY(c->disk.lone) == req;

	if (!ns)
		return;
	if (way == DISK_FAR)
		tell_access(&c->disk, p.access_ns, nr_sectors, ns, lone);
	if (lone && way == DISK_ON)
		tell_block(&c->disk, p.block_ns, nr_sectors, ns);
	else if (lone && way == DISK_FAR && ns > p.access_ns)
		tell_block(&c->disk, p.block_ns, nr_sectors, ns - p.access_ns);
}
