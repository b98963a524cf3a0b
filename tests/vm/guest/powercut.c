// SPDX-License-Identifier: GPL-2.0-only
/*
 * powercut - writes to a block device until the power goes, and knows after
 * the next start what the device may hold.
 *
 *   powercut init DEV NOTEBOOK           fill the region; round 0 is over
 *   powercut check DEV NOTEBOOK ROUND SEED ISSUED ACKED
 *                                        verify after round ROUND; alone in place of check:
 *                                        of the slow device, without the cache
 *   powercut write DEV NOTEBOOK ROUND SEED
 *                                        write round ROUND, reporting, until killed
 *
 * WORKERS processes each write their own part of the region, in an order that
 * follows from the seed. Before a batch of operations a worker reports
 * "i WORKER LAST", after the durable one that ends it "a WORKER LAST". The host
 * hands the last of each back to `check` as lists with a comma between.
 *
 * Operations of one worker follow each other, so each 4 KiB block goes through a
 * chain of states. After a cut it must be in one of them: not older than the one
 * that the last acknowledged fsync, fdatasync or O_DSYNC write covered, never a
 * mixture of two.
 *
 * The notebook is a device of its own, on which no power is ever lost: it holds
 * the versions of all sectors at the beginning of a round, for two rounds.
 */
#include <stdbool.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "pattern.h"

#define WORKERS		4u
#define BLOCK_SECTORS	8u
#define PART_BLOCKS	8192u			/* a worker's part: 32 MiB */
#define PART_SECTORS	(PART_BLOCKS * BLOCK_SECTORS)
#define SECTORS		(WORKERS * PART_SECTORS)
#define OP_SECTORS	256u			/* longest write: 128 KiB */
#define CHUNK		2048u			/* sectors read or filled at once */

enum kind { PLAIN, DSYNC, FSYNC, FDATASYNC };

struct op {
	enum kind kind;
	uint32_t first, count;			/* sectors of the part */
};

static int64_t found[SECTORS];
static int64_t expected[SECTORS];
static bool legal[WORKERS * PART_BLOCKS];

static uint64_t version(uint64_t round, uint64_t n)
{
	return round << 32 | n;
}

/* Operation @n of a worker. Half of them meet a small hot area, so that blocks
 * are written again while their last write is still on its way. */
static struct op operation(uint64_t seed, unsigned int worker, uint64_t n)
{
	uint64_t r = draw(seed * WORKERS + worker, n);
	uint32_t area = r & 1 ? PART_SECTORS : PART_SECTORS / 64;
	struct op op;

	switch (r >> 1 & 7) {
	case 0:		op.kind = FSYNC; break;
	case 1:		op.kind = FDATASYNC; break;
	case 2: case 3: op.kind = DSYNC; break;
	default:	op.kind = PLAIN;
	}
	op.first = (r >> 8) % area;
	switch (r >> 4 & 7) {
	case 0:					/* any sectors */
		op.count = 1 + (r >> 40) % 24;
		break;
	case 1:					/* many blocks */
		op.first -= op.first % BLOCK_SECTORS;
		op.count = BLOCK_SECTORS * (1 + (r >> 40) % (OP_SECTORS / BLOCK_SECTORS));
		break;
	default:				/* one block */
		op.first -= op.first % BLOCK_SECTORS;
		op.count = BLOCK_SECTORS;
	}
	if (op.first + op.count > PART_SECTORS)
		op.first = PART_SECTORS - op.count;
	return op;
}

/* ----------------------------------------------------------- notebook ---- */

static off_t page(uint64_t round)
{
	return (round & 1) * (off_t)(sizeof(found) + 4096);
}

/* False: the notebook does not have this round. */
static bool notebook_read(const char *path, uint64_t round, int64_t *versions)
{
	uint64_t *head = buffer(4096);
	int fd = open_direct(path, 0);
	bool has;

	if (pread(fd, head, 4096, page(round)) != 4096)
		err(1, "%s", path);
	has = head[0] == PATTERN_MAGIC && head[1] == round;
	if (has) {
		void *p = buffer(sizeof(found));

		if (pread(fd, p, sizeof(found), page(round) + 4096) != sizeof(found))
			err(1, "%s", path);
		memcpy(versions, p, sizeof(found));
		free(p);
	}
	close(fd);
	free(head);
	return has;
}

static void notebook_write(const char *path, uint64_t round, const int64_t *versions)
{
	uint64_t *head = buffer(4096);
	void *p = buffer(sizeof(found));
	int fd = open_direct(path, 0);

	memset(head, 0, 4096);
	head[0] = PATTERN_MAGIC;
	head[1] = round;
	memcpy(p, versions, sizeof(found));
	if (pwrite(fd, p, sizeof(found), page(round) + 4096) != sizeof(found) ||
	    pwrite(fd, head, 4096, page(round)) != 4096 || fsync(fd))
		err(1, "%s", path);
	close(fd);
	free(p);
	free(head);
}

/* --------------------------------------------------------------- init ---- */

static void init(const char *dev, const char *notebook)
{
	pattern_fill_all(dev, SECTORS);
	notebook_write(notebook, 1, found);	/* all zero */
}

/* -------------------------------------------------------------- write ---- */

static void perform(int fd, uint64_t *data, const struct op *op, uint64_t start,
		    uint64_t version)
{
	struct iovec iov = { data, op->count * SECTOR };
	int flags = op->kind == DSYNC ? RWF_DSYNC : 0;
	ssize_t done;

	for (uint32_t i = 0; i < op->count; i++)
		pattern_fill(data + i * (SECTOR / 8), start + op->first + i, version);
	done = pwritev2(fd, &iov, 1, (off_t)(start + op->first) * SECTOR, flags);
	if (done != (ssize_t)iov.iov_len ||
	    (op->kind == FSYNC && fsync(fd)) || (op->kind == FDATASYNC && fdatasync(fd)))
		report("FAIL write: sector %llu, %u sectors: %s",
		       (unsigned long long)(start + op->first), op->count, strerror(errno));
}

static void __attribute__((noreturn))
work(const char *dev, unsigned int worker, uint64_t round, uint64_t seed)
{
	uint64_t *data = buffer(OP_SECTORS * SECTOR);
	int fd = open_direct(dev, 0);
	uint64_t n = 1;

	for (;;) {
		uint64_t last = n;
		struct op op;

		while (operation(seed, worker, last).kind == PLAIN)
			last++;
		report("i %u %llu", worker, (unsigned long long)last);
		for (; n <= last; n++) {
			op = operation(seed, worker, n);
			perform(fd, data, &op, (uint64_t)worker * PART_SECTORS,
				version(round, n));
		}
		report("a %u %llu", worker, (unsigned long long)last);
	}
}

static void write_until_killed(const char *dev, uint64_t round, uint64_t seed)
{
	for (unsigned int worker = 0; worker < WORKERS; worker++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid)
			work(dev, worker, round, seed);
	}
	while (wait(NULL) > 0)
		;
}

/* -------------------------------------------------------------- check ---- */

static uint64_t complaints;

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (++complaints <= 5)
		report("FAIL content: %s", text);
}

static void read_region(const char *dev)
{
	uint64_t *data = buffer(CHUNK * SECTOR);
	int fd = open_direct(dev, 0);

	for (uint32_t s = 0; s < SECTORS; s += CHUNK) {
		if (pread(fd, data, CHUNK * SECTOR, (off_t)s * SECTOR) != CHUNK * SECTOR) {
			complain("sector %u: %s", s, strerror(errno));
			continue;
		}
		for (uint32_t i = 0; i < CHUNK; i++) {
			uint64_t *words = data + i * (SECTOR / 8);

			found[s + i] = pattern_version(words, s + i);
			if (found[s + i] < 0)
				complain("sector %u is garbage: %016llx %016llx %016llx", s + i,
					 (unsigned long long)words[0], (unsigned long long)words[1],
					 (unsigned long long)words[2]);
		}
	}
	close(fd);
	free(data);
}

static bool as_expected(uint32_t block)
{
	return !memcmp(&found[block * BLOCK_SECTORS], &expected[block * BLOCK_SECTORS],
		       BLOCK_SECTORS * sizeof(found[0]));
}

/* Calls @visit for the blocks of the device that @op of @worker touches. */
static void each_block(unsigned int worker, const struct op *op, void (*visit)(uint32_t block))
{
	uint32_t first = worker * PART_SECTORS + op->first;

	for (uint32_t b = first / BLOCK_SECTORS; b <= (first + op->count - 1) / BLOCK_SECTORS; b++)
		visit(b);
}

static void may_be_as_expected(uint32_t block)
{
	legal[block] |= as_expected(block);
}

/* What it was before is history. */
static void must_be_as_expected(uint32_t block)
{
	legal[block] = as_expected(block);
}

/* Replays what a worker did, or may have done. */
static void replay(unsigned int worker, uint64_t round, uint64_t seed, uint64_t issued,
		   uint64_t acked)
{
	uint64_t covered = 1;			/* all before it were covered */

	for (uint64_t n = 1; n <= issued; n++) {
		struct op op = operation(seed, worker, n);

		for (uint32_t i = 0; i < op.count; i++)
			expected[worker * PART_SECTORS + op.first + i] = version(round, n);
		each_block(worker, &op, may_be_as_expected);
		if (n > acked || op.kind == PLAIN)
			continue;
		if (op.kind == DSYNC) {		/* covers itself only */
			each_block(worker, &op, must_be_as_expected);
			continue;
		}
		for (; covered <= n; covered++) {
			op = operation(seed, worker, covered);
			each_block(worker, &op, must_be_as_expected);
		}
	}
}

/* The @i-th number of a list like 3,0,17,2. */
static uint64_t item(const char *list, unsigned int i)
{
	while (i--) {
		list = strchr(list, ',');
		if (!list)
			errx(2, "the list of operations is too short");
		list++;
	}
	return strtoull(list, NULL, 10);
}

/* @alone: of the slow device; what was never acknowledged may be on the fast one, and the notebook is left as it is. */
static bool check(const char *dev, const char *notebook, uint64_t round, uint64_t seed,
		  const char *issued, const char *acked, bool alone)
{
	uint64_t total = 0;

	read_region(dev);
	if (!notebook_read(notebook, round, expected))
		errx(1, "the notebook has no round %llu", (unsigned long long)round);
	for (uint32_t b = 0; b < WORKERS * PART_BLOCKS; b++)
		legal[b] = as_expected(b);
	for (unsigned int worker = 0; worker < WORKERS; worker++) {
		replay(worker, round, seed, item(issued, worker), item(acked, worker));
		total += item(acked, worker);
	}
	for (uint32_t b = 0; b < WORKERS * PART_BLOCKS; b++)
		if (!legal[b])
			complain("block %u holds operation %llu (round %llu); the last written was %llu (round %llu)",
				 b, (unsigned long long)(found[b * BLOCK_SECTORS] & 0xffffffff),
				 (unsigned long long)(found[b * BLOCK_SECTORS] >> 32),
				 (unsigned long long)(expected[b * BLOCK_SECTORS] & 0xffffffff),
				 (unsigned long long)(expected[b * BLOCK_SECTORS] >> 32));
	/* Cut again before anything was written: what was read must have stayed. */
	if (!alone && notebook_read(notebook, round + 1, expected) &&
	    memcmp(found, expected, sizeof(found)))
		complain("what was read after the last cut has changed");
	if (complaints) {
		report("NOTE %llu complaints", (unsigned long long)complaints);
		return false;
	}
	if (!alone)
		notebook_write(notebook, round + 1, found);
	report("NOTE round %llu: %llu acknowledged operations", (unsigned long long)round,
	       (unsigned long long)total);
	return true;
}

int main(int argc, char **argv)
{
	report_open();
	if (argc == 4 && !strcmp(argv[1], "init")) {
		init(argv[2], argv[3]);
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "write")) {
		write_until_killed(argv[2], number(argv[4]), number(argv[5]));
		return 0;
	}
	if (argc == 8 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "alone")))
		return !check(argv[2], argv[3], number(argv[4]), number(argv[5]), argv[6], argv[7], *argv[1] == 'a');
	errx(2, "usage: powercut init|check|alone|write DEV NOTEBOOK ...; see its source");
}
