// SPDX-License-Identifier: GPL-2.0-only
/*
 * crashload - requests of all kinds at once, and a diary of them (tests/crash/).
 *
 *   crashload fill DEV			every sector gets a payload of its own
 *   crashload mark DIARY ready|stopping|stopped|last
 *   crashload run DEV DIARY ROUND SEED SECONDS
 *
 * WORKERS processes send one request after another, together or one alone. Before each the diary says that
 * it begins, after it how it ended, and of a read what it found; both are written
 * and waited for. The diary is a disk, so that its entries and what the cache does
 * to its disks are in one order.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../crash/record.h"
#include "payload.h"
#include "xpcache.h"

#define WORKERS		6u
#define LONGEST		DIARY_TAGS
#define STOP_ID		((1u << 24) - 1)	/* of no worker */
#define BLOCK		XP_BLOCK_SECTORS

static u8 buf[LONGEST * SECTOR] __attribute__((aligned(4096)));
static struct diary entry __attribute__((aligned(4096)));
static bool discards;	/* the device takes them; else zeroes come in their place */

static int open_device(const char *path)
{
	int fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static u64 sectors_of(int fd)
{
	u64 bytes;

	if (ioctl(fd, BLKGETSIZE64, &bytes))
		err(1, "BLKGETSIZE64");
	return bytes / SECTOR;
}

/* A cache offers no discards if it could not send them on: xpcached before a disk, on a kernel older than 6.12. */
static bool takes_discards(int fd)
{
	char path[96], text[32] = "";
	struct stat st;
	FILE *f;

	if (fstat(fd, &st))
		err(1, "fstat");
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/discard_max_bytes", major(st.st_rdev), minor(st.st_rdev));
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		err(1, "%s", path);
	fclose(f);
	return strtoull(text, NULL, 10) > 0;
}

static void write_entry(int diary, u32 place, enum diary_event event)
{
	entry.magic = DIARY_MAGIC;
	entry.event = (u8)event;
	if (pwrite(diary, &entry, sizeof(entry), (off_t)place * SECTOR) != sizeof(entry))
		err(1, "the diary");
}

/* -------------------------------------------------------------- requests ---- */

/* Most go to few blocks, most of those are whole ones. */
static void draw_place(u64 *rng, u64 sectors)
{
	u64 blocks = sectors / BLOCK;

	if (chance(rng, 4)) {			/* any sectors, the tail too */
		entry.nr = 1 + below(rng, 20);
		entry.sector = below(rng, (u32)sectors);
	} else {
		entry.nr = chance(rng, 6) ? BLOCK * (1 + below(rng, LONGEST / BLOCK)) : BLOCK;
		entry.sector = BLOCK * below(rng, (u32)(chance(rng, 2) ? blocks : 10));
	}
	if (entry.sector + entry.nr > sectors)
		entry.nr = (u32)(sectors - entry.sector);
}

static void draw_request(u64 *rng, u64 sectors)
{
	u32 dice = below(rng, 100);

	entry.op = dice < 22 ? XP_READ : dice < 80 ? XP_WRITE : dice < 94 ? XP_FLUSH :
		   dice < 97 && discards ? XP_DISCARD : XP_ZEROES;
	entry.fua = entry.op == XP_WRITE && chance(rng, 3);
	entry.err = 0;
	entry.sector = entry.nr = 0;
	if (entry.op != XP_FLUSH)
		draw_place(rng, sectors);
}

static int write_payload(int fd)
{
	struct iovec v = { buf, entry.nr * SECTOR };
	ssize_t n;
	u32 i;

	for (i = 0; i < entry.nr; i++)
		payload_fill(buf + i * SECTOR, entry.sector + i, entry.id);
	n = pwritev2(fd, &v, 1, (off_t)(entry.sector * SECTOR), entry.fua ? RWF_DSYNC : 0);
	if (n >= 0 && (size_t)n != v.iov_len)
		errx(1, "a write of %zu bytes wrote %zd", v.iov_len, n);
	return n < 0 ? -1 : 0;
}

static int read_tags(int fd)
{
	ssize_t n = pread(fd, buf, entry.nr * SECTOR, (off_t)(entry.sector * SECTOR));
	u32 i;

	if (n >= 0 && (size_t)n != entry.nr * SECTOR)
		errx(1, "a read of %u bytes read %zd", entry.nr * SECTOR, n);
	for (i = 0; i < entry.nr; i++)
		entry.tags[i] = payload_tag(buf + i * SECTOR);
	return n < 0 ? -1 : 0;
}

static int perform(int fd)
{
	u64 range[2] = { entry.sector * SECTOR, entry.nr * SECTOR };

	switch (entry.op) {
	case XP_READ:
		return read_tags(fd);
	case XP_WRITE:
		return write_payload(fd);
	case XP_FLUSH:
		return fdatasync(fd);
	case XP_DISCARD:
		return ioctl(fd, BLKDISCARD, range);
	default:
		return ioctl(fd, BLKZEROOUT, range);
	}
}

/*
 * A quarter of the time one works alone. With six there is always somebody's FLUSH
 * soon, and it makes up for one that was forgotten.
 */
static void give_way(u32 worker)
{
	struct timespec t;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (!worker || t.tv_nsec < 750 * 1000 * 1000)
			return;
		usleep(10 * 1000);
	}
}

static void work(const char *dev, const char *diary_path, u32 worker, u64 first_id, u64 rng,
		 unsigned int seconds)
{
	int fd = open_device(dev), diary = open_device(diary_path);
	u64 sectors = sectors_of(fd);
	time_t end = time(NULL) + seconds;

	discards = takes_discards(fd);
	entry.id = first_id;
	while (time(NULL) < end) {
		give_way(worker);
		entry.id++;
		draw_request(&rng, sectors);
		write_entry(diary, worker, DIARY_BEGIN);
		entry.err = perform(fd) ? (u32)errno : 0;
		write_entry(diary, worker, DIARY_END);
	}
	exit(0);
}

static int run(char **arg)
{
	u64 round = strtoull(arg[2], NULL, 10), seed = strtoull(arg[3], NULL, 10);
	unsigned int seconds = (unsigned int)strtoul(arg[4], NULL, 10);
	int status, failed = 0;
	u32 w;

	for (w = 0; w < WORKERS; w++)
		if (!fork())
			work(arg[0], arg[1], w, (round * WORKERS + w) << 24,
			     mix(seed) + mix(round * WORKERS + w), seconds);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

/* ------------------------------------------------------------- the rest ---- */

/* The ids of these payloads are below all that run() uses. */
static int fill(const char *dev)
{
	int fd = open_device(dev);
	u64 sectors = sectors_of(fd), s;

	for (s = 0; s < sectors; s++) {
		payload_fill(buf, s, s + 1);
		if (pwrite(fd, buf, SECTOR, (off_t)(s * SECTOR)) != SECTOR)
			err(1, "%s", dev);
	}
	if (fdatasync(fd))
		err(1, "%s", dev);
	return 0;
}

/* A stop is judged as a FLUSH: what was acknowledged is durable after it. */
static int mark(const char *diary, const char *word)
{
	static const struct { const char *word; enum diary_event event; } words[] = {
		{ "ready", DIARY_READY }, { "stopping", DIARY_BEGIN }, { "stopped", DIARY_END },
		{ "last", DIARY_LAST },
	};

	entry.op = XP_FLUSH;
	entry.id = STOP_ID;
	for (u32 i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i].word)) {
			write_entry(open_device(diary), 0, words[i].event);
			return 0;
		}
	errx(2, "%s: mark what?", word);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "fill"))
		return fill(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "mark"))
		return mark(argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	errx(2, "usage: see the head of tests/vm/guest/crashload.c");
}
