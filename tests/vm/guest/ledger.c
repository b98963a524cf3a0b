// SPDX-License-Identifier: GPL-2.0-only
/*
 * ledger - writes to a block device that fails now and then, and keeps book of
 * what each sector may hold.
 *
 *   ledger open DEV BOOK          fill the region; a new book
 *   ledger load DEV BOOK MIX      read, write and flush until SIGTERM; MIX is
 *                                 read, write or flush, what there is most of
 *   ledger check DEV BOOK         read everything: nothing has changed
 *   ledger check-cut DEV BOOK     as after a power cut: what was not flushed may
 *                                 be missing
 *
 * `load` ends with one line of figures, and every wrong thing is a line that
 * begins with "wrong:". A read gives what was written or fails; so does a write
 * or a flush, and none takes longer than PATIENCE.
 *
 * WORKERS processes each have a part of the region to themselves and do one
 * thing after the other, so each sector goes through a chain of versions:
 *
 *	covered <= acked <= ceiling <= issued,  covered <= floor <= ceiling
 *
 * A write raises issued and ceiling when it begins, acked and floor when it ends
 * well; after an error it stays in doubt, between floor and ceiling. Whoever has
 * read a sector knows which it is: floor and ceiling are what was found. A flush
 * that ends well makes covered what was acked before it began. A power cut leaves
 * any version from covered to issued, and what is found after it stays.
 *
 * What a write put into one block is there whole or not at all.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include "pattern.h"

#define WORKERS		4u
#define BLOCK_SECTORS	8u
#define PART_SECTORS	16384u			/* a worker's part: 8 MiB */
#define SECTORS		(WORKERS * PART_SECTORS)
#define OP_SECTORS	128u			/* longest: 64 KiB */
#define CHUNK		512u			/* sectors filled or checked at once */
#define PATIENCE	120u			/* seconds */

enum kind { READ, WRITE, DSYNC, FLUSH, KINDS };

static const char *const kind_name[KINDS] = { "read", "write", "dsync", "flush" };

/* In sixteenths, how often each kind comes. */
static const struct mix {
	const char *name;
	unsigned char share[KINDS];
} mixes[] = {
	{ "read",  { 11, 3, 1, 1 } },
	{ "write", {  2, 11, 2, 1 } },
	{ "flush", {  2, 6, 3, 5 } },
};

struct sector {
	uint32_t covered, acked, issued, floor, ceiling;
};

struct worker {
	uint32_t next;				/* the operation after the last one */
	uint32_t done[KINDS], failed[KINDS];	/* of this load */
	uint32_t wrong;
	volatile uint64_t since;		/* ns; when what it does began; 0: nothing */
	volatile uint32_t kind;
};

static struct book {
	uint64_t magic;
	volatile bool stop;
	struct worker worker[WORKERS];
	struct sector sector[SECTORS];
} *book;

struct op {
	enum kind kind;
	uint32_t first, count;			/* sectors */
};

/* Operation @n of a worker. Half of them meet a small hot area, so that blocks
 * are read and written again while their last write is still on its way. Only
 * the kind depends on the mix: what version n wrote is known without it. */
static struct op operation(unsigned int worker, uint32_t n, const struct mix *mix)
{
	uint64_t r = draw(worker, n);
	uint32_t area = r & 1 ? PART_SECTORS : PART_SECTORS / 16;
	unsigned int ticket = r >> 4 & 15;
	struct op op = { .kind = READ };

	while (mix && ticket >= mix->share[op.kind])
		ticket -= mix->share[op.kind++];
	op.first = (r >> 8) % area;
	if ((r >> 1 & 7) == 0) {		/* any sectors */
		op.count = 1 + (r >> 40) % 24;
	} else {				/* a block, or many */
		uint32_t blocks = r >> 1 & 1 ? 1 : 1 + (r >> 40) % (OP_SECTORS / BLOCK_SECTORS);

		op.first -= op.first % BLOCK_SECTORS;
		op.count = blocks * BLOCK_SECTORS;
	}
	if (op.first + op.count > PART_SECTORS)
		op.first = PART_SECTORS - op.count;
	op.first += worker * PART_SECTORS;
	return op;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void nap(long ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

/* In memory that the workers share, and a file for the next run. */
static void book_map(const char *path, bool anew)
{
	int fd = open(path, O_RDWR | (anew ? O_CREAT | O_TRUNC : 0), 0600);

	if (fd < 0 || (anew && ftruncate(fd, sizeof(*book))))
		err(1, "%s", path);
	book = mmap(NULL, sizeof(*book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (book == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	if (anew)
		book->magic = PATTERN_MAGIC;
	else if (book->magic != PATTERN_MAGIC)
		errx(1, "%s: not a book", path);
}

/* -------------------------------------------------------------- judge ---- */

/* One line, one write: the workers share the output. */
static void __attribute__((format(printf, 2, 3))) wrong(uint32_t *count, const char *format, ...)
{
	char text[300];
	va_list args;
	int len;

	if (++*count > 5)
		return;
	va_start(args, format);
	len = snprintf(text, sizeof(text), "wrong: ");
	len += vsnprintf(text + len, sizeof(text) - len - 1, format, args);
	va_end(args);
	text[len++] = '\n';
	if (write(STDOUT_FILENO, text, len) != len)
		err(1, "output");
}

/* What version @v wrote of the block of sector @s: all of that is there, or nothing. */
static void extent_in_block(uint32_t s, uint32_t v, uint32_t *first, uint32_t *end)
{
	struct op op = operation(s / PART_SECTORS, v, NULL);
	uint32_t block = s - s % BLOCK_SECTORS;

	*first = op.first > block ? op.first : block;
	*end = op.first + op.count < block + BLOCK_SECTORS ? op.first + op.count :
							     block + BLOCK_SECTORS;
}

/* @version of sectors @from to @end is what was found. */
static void judge_whole(uint32_t *count, const int64_t *version, uint32_t from, uint32_t end)
{
	for (uint32_t s = from; s < end; s++) {
		int64_t v = version[s - from];
		uint32_t i, last;

		if (v <= 0)			/* version 0 is not an operation */
			continue;
		extent_in_block(s, v, &i, &last);
		for (i = i > from ? i : from; i < last && i < end; i++)
			if (version[i - from] >= 0 && version[i - from] < v)
				wrong(count, "sector %u holds version %lld, sector %u of the same block and write still %lld",
				      s, (long long)v, i, (long long)version[i - from]);
	}
}

/* Reads of sectors @from to @end gave @data. Marks down what they hold. */
static void judge(uint32_t *count, const uint64_t *data, uint32_t from, uint32_t end)
{
	static int64_t version[CHUNK];

	for (uint32_t s = from; s < end; s++, data += SECTOR / 8) {
		struct sector *b = &book->sector[s];
		int64_t v = pattern_version(data, s);

		version[s - from] = v;
		if (v < 0)
			wrong(count, "sector %u holds bytes that were never written there: %016llx %016llx %016llx",
			      s, (unsigned long long)data[0], (unsigned long long)data[1],
			      (unsigned long long)data[2]);
		else if (v < b->floor || v > b->ceiling)
			wrong(count, "sector %u holds version %lld instead of %u to %u (flushed: %u, acknowledged: %u)",
			      s, (long long)v, b->floor, b->ceiling, b->covered, b->acked);
		else
			b->floor = b->ceiling = v;
	}
	judge_whole(count, version, from, end);
}

/* --------------------------------------------------------------- load ---- */

static bool do_read(struct worker *w, int fd, uint64_t *data, const struct op *op)
{
	ssize_t len = op->count * SECTOR;

	memset(data, 0xa5, len);
	if (pread(fd, data, len, (off_t)op->first * SECTOR) != len)
		return false;
	judge(&w->wrong, data, op->first, op->first + op->count);
	return true;
}

static bool do_write(int fd, uint64_t *data, const struct op *op, uint32_t version)
{
	struct iovec iov = { data, op->count * SECTOR };
	struct sector *b = &book->sector[op->first];

	for (uint32_t i = 0; i < op->count; i++) {
		pattern_fill(data + i * (SECTOR / 8), op->first + i, version);
		b[i].issued = b[i].ceiling = version;
	}
	if (pwritev2(fd, &iov, 1, (off_t)op->first * SECTOR, op->kind == DSYNC ? RWF_DSYNC : 0) !=
	    (ssize_t)iov.iov_len)
		return false;
	for (uint32_t i = 0; i < op->count; i++) {
		b[i].acked = b[i].floor = version;
		if (op->kind == DSYNC)
			b[i].covered = version;
	}
	return true;
}

static bool do_flush(int fd, unsigned int worker)
{
	struct sector *b = &book->sector[worker * PART_SECTORS];

	if (fdatasync(fd))
		return false;
	for (uint32_t i = 0; i < PART_SECTORS; i++)
		if (b[i].covered < b[i].acked)
			b[i].covered = b[i].acked;
	return true;
}

static bool perform(struct worker *w, int fd, uint64_t *data, const struct op *op, uint32_t version)
{
	switch (op->kind) {
	case READ:	return do_read(w, fd, data, op);
	case FLUSH:	return do_flush(fd, w - book->worker);
	default:	return do_write(fd, data, op, version);
	}
}

/* What a disk itself says: an I/O error, a bad sector, gone. */
static bool device_error(int error)
{
	return error == EIO || error == ENODATA || error == ENODEV;
}

static void __attribute__((noreturn)) work(const char *dev, unsigned int worker, const struct mix *mix)
{
	uint64_t *data = buffer(OP_SECTORS * SECTOR);
	struct worker *w = &book->worker[worker];
	int fd = open_direct(dev, 0);

	while (!book->stop) {
		uint32_t n = w->next++;
		struct op op = operation(worker, n, mix);

		w->kind = op.kind;
		w->since = now_ns();
		errno = 0;
		if (perform(w, fd, data, &op, n)) {
			w->done[op.kind]++;
		} else {
			if (!device_error(errno))
				wrong(&w->wrong, "%s of %u sectors at %u: %s", kind_name[op.kind],
				      op.count, op.first, strerror(errno));
			w->failed[op.kind]++;
			nap(5);			/* a dead device answers at once */
		}
		w->since = 0;
	}
	exit(0);
}

static void on_term(int sig)
{
	(void)sig;
	book->stop = true;
}

/* False: one of them waits for ever. */
static bool watch(void)
{
	for (unsigned int ended = 0; ended < WORKERS; nap(50)) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			ended++;
		for (unsigned int i = 0; i < WORKERS; i++) {
			const struct worker *w = &book->worker[i];
			uint64_t since = w->since;

			if (!since || now_ns() - since < PATIENCE * 1000000000ull)
				continue;
			printf("wrong: a %s has not ended after %u s\n", kind_name[w->kind], PATIENCE);
			return false;
		}
	}
	return true;
}

static uint32_t sum_up(void)
{
	uint32_t done[KINDS] = { 0 }, failed[KINDS] = { 0 }, bad = 0;

	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct worker *w = &book->worker[i];

		for (int k = 0; k < KINDS; k++) {
			done[k] += w->done[k];
			failed[k] += w->failed[k];
		}
		bad += w->wrong;
	}
	for (int k = 0; k < KINDS; k++)
		printf("%s %u %s-failed %u%s", kind_name[k], done[k], kind_name[k], failed[k],
		       k == KINDS - 1 ? "\n" : " ");
	return bad;
}

static int load(const char *dev, const char *name)
{
	const struct sigaction act = { .sa_handler = on_term };
	const struct mix *mix = mixes;

	while (strcmp(mix->name, name))
		if (++mix == mixes + sizeof(mixes) / sizeof(mixes[0]))
			errx(2, "%s: no such mix: read, write, flush", name);
	book->stop = false;
	sigaction(SIGTERM, &act, NULL);
	for (unsigned int i = 0; i < WORKERS; i++) {
		struct worker *w = &book->worker[i];
		pid_t pid;

		*w = (struct worker){ .next = w->next ? w->next : 1 };
		pid = fork();
		if (pid < 0)
			err(1, "fork");
		if (!pid)
			work(dev, i, mix);
	}
	if (!watch())
		return 1;
	return sum_up() != 0;
}

/* -------------------------------------------------------------- check ---- */

static int check(const char *dev, bool cut)
{
	uint64_t *data = buffer(CHUNK * SECTOR);
	int fd = open_direct(dev, 0);
	uint32_t bad = 0;

	for (uint32_t s = 0; cut && s < SECTORS; s++) {
		book->sector[s].floor = book->sector[s].covered;
		book->sector[s].ceiling = book->sector[s].issued;
	}
	for (uint32_t s = 0; s < SECTORS; s += CHUNK) {
		if (pread(fd, data, CHUNK * SECTOR, (off_t)s * SECTOR) != CHUNK * SECTOR)
			wrong(&bad, "sectors %u to %u cannot be read: %s", s, s + CHUNK - 1,
			      strerror(errno));
		else
			judge(&bad, data, s, s + CHUNK);
	}
	for (uint32_t s = 0; cut && s < SECTORS; s++)
		book->sector[s].covered = book->sector[s].acked = book->sector[s].floor;
	printf("%u wrong\n", bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && !strcmp(verb, "load")) {
		book_map(argv[3], false);
		return load(argv[2], argv[4]);
	}
	if (argc == 4 && !strcmp(verb, "open")) {
		book_map(argv[3], true);
		pattern_fill_all(argv[2], SECTORS);
		return 0;
	}
	if (argc == 4 && (!strcmp(verb, "check") || !strcmp(verb, "check-cut"))) {
		book_map(argv[3], false);
		return check(argv[2], !strcmp(verb, "check-cut"));
	}
	errx(2, "usage: ledger open|check|check-cut DEV BOOK | ledger load DEV BOOK MIX");
}
