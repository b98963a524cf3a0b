// SPDX-License-Identifier: GPL-2.0-only
/* made.c - loads that need no trace. Their random numbers have a fixed seed. */
#include "load.h"

#define SEED		88172645463325252ull
#define HOT_BLOCKS	32768u		/* 128 MiB, of which few are used often */
#define HOT_SKEW	.9
#define REQUESTS	400000u
#define ON_DISK		(1ull << 22)	/* blocks, 16 GiB, over which they are spread */
#define AT_SCAN		(1ull << 23)	/* block */
#define AT_ONCE		(1ull << 24)
#define SCAN_SECTORS	256u		/* a request: 128 KiB */

/* Where the block is that is number @rank by how often it is used: its neighbours are used less, or never. */
static u64 place(u32 rank)
{
	return rank * 2654435761ull % (ON_DISK / 4) * 4 * XP_BLOCK_SECTORS;
}

/* One request of five is a write. @shift: sectors that requests are off the grid. */
static void hot(struct load *l, const struct zipf *z, u64 *seed, u32 shift)
{
	enum xp_op op = random_next(seed) % 5 ? XP_READ : XP_WRITE;

	load_add(l, op, place(zipf_next(z, seed)) + shift, XP_BLOCK_SECTORS);
}

static void only_hot(struct load *l, const struct zipf *z, u64 *seed)
{
	for (u32 i = 0; i < REQUESTS; i++)
		hot(l, z, seed, 0);
}

/* As of a partition that begins at sector 63. */
static void off_the_grid(struct load *l, const struct zipf *z, u64 *seed)
{
	for (u32 i = 0; i < REQUESTS; i++)
		hot(l, z, seed, 63);
}

static void with_scans(struct load *l, const struct zipf *z, u64 *seed)
{
	u64 at = AT_SCAN * XP_BLOCK_SECTORS;

	for (u32 i = 0; i < REQUESTS; i++) {
		hot(l, z, seed, 0);
		if (i % 50 == 0) {
			load_add(l, XP_READ, at, SCAN_SECTORS);
			at += SCAN_SECTORS;
		}
	}
}

static void with_once_only(struct load *l, const struct zipf *z, u64 *seed)
{
	for (u32 i = 0; i < REQUESTS; i++) {
		hot(l, z, seed, 0);
		if (i % 2 == 0)
			load_add(l, XP_READ, (AT_ONCE + i * 16ull) * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS);
	}
}

static void loop(struct load *l, const struct zipf *z, u64 *seed)
{
	(void)z;
	(void)seed;
	for (u32 i = 0; i < REQUESTS; i++)
		load_add(l, XP_READ, place(i % HOT_BLOCKS), XP_BLOCK_SECTORS);
}

static const struct {
	const char *name;
	void (*make)(struct load *l, const struct zipf *z, u64 *seed);
} loads[LOADS_MADE] = {
	{ "zipf", only_hot },
	{ "zipf at sector 63", off_the_grid },
	{ "zipf beside scans", with_scans },
	{ "zipf beside reads once only", with_once_only },
	{ "loop", loop },
};

void load_make(struct load *l, u32 i)
{
	u64 seed = SEED;
	struct zipf z;

	zipf_init(&z, HOT_BLOCKS, HOT_SKEW);
	load_init(l, loads[i].name);
	loads[i].make(l, &z, &seed);
	load_end(l);
	zipf_free(&z);
}
