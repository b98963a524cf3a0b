// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill9_judge.c - what the daemon, or the slow file alone, holds, before the oracle.
 *
 * The oracle asks a recovered core what a block is mapped to. Here the daemon has answered
 * already: no block is mapped, and the "slow device" is what was read through the socket.
 */
#include "kill9.h"
#include "look.h"
#include "run.h"
#include "statistics.h"

#include <err.h>
#include <fcntl.h>
#include <unistd.h>

static struct content *contents;

bool xp_lookup(struct xp *c, xp_lba_t lba, struct xp_mapping *m)
{
	(void)c, (void)lba, (void)m;
	return false;
}

u64 xp_slot_sector(const struct xp *c, xp_slot_t slot)
{
	(void)c, (void)slot;
	abort();
}

/* Nothing rots here. */
const struct content *rot_answer(const struct image *im, u64 slot_sector, u64 sector, const struct xp_mapping *m)
{
	(void)m;
	return im->fast[slot_sector + sector % XP_BLOCK_SECTORS];
}

bool rot_excuses(const struct user *u)
{
	(void)u;
	return false;
}

void xp_get_stats(struct xp *c, struct xp_stats *s)
{
	(void)c;
	memset(s, 0, sizeof(*s));
}

void image_dump(void)
{
}

/* The oracle looks at the tag alone. */
const struct content *judge_content(u64 sector, const u8 *bytes)
{
	contents[sector].tag = payload_tag(bytes);
	return &contents[sector];
}

static int open_slow(int flags)
{
	int fd = open(kill9.slow, flags);

	if (fd < 0)
		err(1, "%s", kill9.slow);
	return fd;
}

#define AT_ONCE	512u	/* sectors */

void judge_prepare(void)
{
	u64 bytes, s;
	u8 buf[SECTOR];
	FILE *f;
	int fd = open_slow(O_RDWR);

	bytes = (u64)lseek(fd, 0, SEEK_END);
	lseek(fd, 0, SEEK_SET);
	sim.slow.sectors = bytes / SECTOR;
	if (sim.slow.sectors > SECTORS_MAX)
		errx(1, "%s: too big", kill9.slow);
	contents = calloc(sim.slow.sectors, sizeof(*contents));
	sim.slow.seen = calloc(sim.slow.sectors, sizeof(*sim.slow.seen));
	sim.slow.floor = sim.slow.seen;
	f = fdopen(fd, "r+");
	for (s = 0; s < sim.slow.sectors; s++) {
		payload_fill(buf, s, ++sim.next_id);
		if (fwrite(buf, SECTOR, 1, f) != 1)
			err(1, "%s", kill9.slow);
		sim.slow.seen[s] = judge_content(s, buf);
	}
	if (fclose(f))
		err(1, "%s", kill9.slow);
	oracle_new_run();
}

void judge_after_kill(void)
{
	const struct image im = { .slow = sim.slow.seen };

	clients_read_all(sim.slow.seen);
	oracle_check_image(NULL, &im, false);
	oracle_restart(NULL, &im);
	tally.sectors += sim.slow.sectors;
}

static void read_slow(void)
{
	static u8 buf[AT_ONCE * SECTOR];
	int fd = open_slow(O_RDONLY);
	u64 s = 0;

	while (s < sim.slow.sectors) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < (ssize_t)SECTOR)
			errx(1, "%s: it is shorter than it was", kill9.slow);
		for (u32 i = 0; i < n / SECTOR; i++, s++)
			sim.slow.seen[s] = judge_content(s, buf + i * SECTOR);
	}
	close(fd);
	tally.sectors += sim.slow.sectors;
}

void judge_without_fast(void)
{
	const struct image im = { .slow = sim.slow.seen };

	read_slow();
	oracle_check_image(NULL, &im, false);
	tally.alone++;
}

void judge_slow(void)
{
	read_slow();
	oracle_check_slow(sim.now);
}
