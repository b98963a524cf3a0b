// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay.c - the log of a real machine (record.h) before the simulator's oracle.
 *
 *	replay --fast-sectors N --slow-sectors N [--volatile-fast] [--every N] [--seed N]
 *		[--samples N --folder DIR] LOG
 *
 * The log's writes, FLUSHes and completions go to the simulator's disks, the diary's
 * requests to its oracle. At one event in N every image that a power cut there could
 * leave, or a sample of them, is recovered by the core and judged, as in tests/sim.
 * Samples are written to DIR, with what the cached device must read as, for a
 * machine to start from.
 *
 * 0: every image is allowed. 1: one is not, or a read was not. 2: no such log.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include "record.h"
#include "sim.h"
#include "message.h"
#include "superblock.h"
#include "xpcache.h"

#define IDS_MAX		(1u << 22)
#define WORKERS_MAX	64u

static struct {
	u64 every, seed;
	u32 samples;
	const char *folder;
	bool volatile_fast;
} opt = { .every = 4, .seed = 1 };

/* The whole log: it is looked through twice. */
static struct {
	u8 *bytes;
	size_t len;
	u64 fast_sectors, slow_sectors;
	u64 ready, last;		/* entries */
	u64 entries;
} book;

static bool judging;

/* --------------------------------------------------------------- the log ---- */

static const struct record *record_at(size_t at)
{
	const struct record *r = (const void *)(book.bytes + at);

	return at + sizeof(*r) <= book.len && r->magic == RECORD_MAGIC ? r : NULL;
}

static size_t payload_of(const struct record *r)
{
	return r->kind == RECORD_WRITE ? (size_t)r->nr * SECTOR :
	       r->kind == RECORD_DIARY ? sizeof(struct diary) : 0;
}

/* The machine may be gone in the middle of an entry, and the rest does not matter. */
static size_t next_record(size_t at)
{
	const struct record *r = record_at(at);
	size_t next = r ? at + sizeof(*r) + payload_of(r) : at;

	return r && next <= book.len ? next : 0;
}

static void load(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		err(2, "%s", path);
	book.len = (size_t)st.st_size;
	book.bytes = malloc(book.len + 1);
	if (!book.bytes || fread(book.bytes, 1, book.len, f) != book.len)
		err(2, "%s", path);
	fclose(f);
}

static void survey(const char *path)
{
	size_t at, next;

	for (at = 0; (next = next_record(at)); at = next) {
		const struct record *r = record_at(at);
		const struct diary *d = (const void *)(r + 1);

		book.entries++;
		if (r->kind == RECORD_DIARY && d->magic == DIARY_MAGIC && d->event == DIARY_READY)
			book.ready = book.entries;
		if (r->kind == RECORD_DIARY && d->magic == DIARY_MAGIC && d->event == DIARY_LAST)
			book.last = book.entries;
	}
	if (!book.ready || book.last < book.ready)
		errx(2, "%s: no diary from ready to last in its %llu entries", path,
		     (unsigned long long)book.entries);
}

/* ----------------------------------------------------------------- disks ---- */

static struct user worker[WORKERS_MAX];
static u8 read_buf[DIARY_TAGS * SECTOR];

struct under_way {
	struct write *w;
	u64 flush;		/* when it was submitted */
};

static struct under_way *under_way;

static struct disk *disk_of(const struct record *r)
{
	return r->disk == DISK_FAST ? &sim.fast : &sim.slow;
}

static bool is_part_of(const struct user *u, u64 sector, u64 tag)
{
	return u->id && u->op != XP_READ && u->op != XP_FLUSH &&
	       sector >= u->sector && sector < u->sector + u->nr &&
	       (tag == TAG_ZERO || tag_id(tag) == u->id);
}

/* A write around the cache: it is what a request under way brings. */
static bool goes_around(const struct record *r)
{
	const u8 *bytes = (const u8 *)(r + 1);
	u32 i, k;

	for (i = 0; r->disk == DISK_SLOW && i < r->nr; i++)
		for (k = 0; k < WORKERS_MAX; k++)
			if (is_part_of(&worker[k], r->sector + i, payload_tag(bytes + i * SECTOR)))
				return true;
	return false;
}

static void submit(const struct record *r)
{
	if (r->id >= IDS_MAX)
		errx(2, "more than %u requests", IDS_MAX);
	if (r->kind == RECORD_WRITE) {
		struct write *w = disk_submit(disk_of(r), r->sector, r->nr,
					      (const u8 *)(r + 1), r->fua);

		/* As whole as the device keeps it; all else may be torn and spoilt, but for what may be in place. */
		w->whole_blocks = goes_around(r);
		w->fragile = !w->whole_blocks;
		w->edges_hold = r->disk == DISK_FAST;
		under_way[r->id].w = w;
	} else {
		under_way[r->id].flush = sim.now;
	}
}

static void done(const struct record *r)
{
	struct under_way *u = &under_way[r->id];

	if (u->w)
		disk_complete(disk_of(r), u->w);
	else
		disk_flush(disk_of(r), u->flush);
	u->w = NULL;
}

/* ----------------------------------------------------------------- diary ---- */

/* A worker's ids have its number above the low bits. */
static struct user *user_of(const struct diary *d)
{
	return &worker[(d->id >> 24) % WORKERS_MAX];
}

static u64 oldest_under_way(void)
{
	u64 oldest = UINT64_MAX;
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++)
		if (worker[i].id)
			oldest = min(oldest, worker[i].submitted);
	return oldest;
}

static void begin_request(const struct diary *d)
{
	struct user *u = user_of(d);

	*u = (struct user){ .op = d->op, .fua = d->fua, .sector = d->sector, .nr = d->nr,
			    .id = d->id, .submitted = sim.now, .buf = read_buf };
	oracle_begin(u);
	figures.requests++;
}

static void refill(const struct diary *d)
{
	u32 i;

	for (i = 0; i < d->nr && i < DIARY_TAGS; i++) {
		u8 *at = read_buf + i * SECTOR;

		if (d->tags[i] == TAG_ZERO)
			memset(at, 0, SECTOR);
		else if (d->tags[i] == TAG_OTHER)
			memset(at, 0xa5, SECTOR);
		else
			payload_fill(at, tag_sector(d->tags[i]), tag_id(d->tags[i]));
	}
}

static void end_request(const struct diary *d)
{
	struct user *u = user_of(d);

	if (u->id != d->id)
		violation(P_HOST, "the diary ends request %llu, and %llu was under way",
			  (unsigned long long)d->id, (unsigned long long)u->id);
	u->err = -(int)d->err;
	refill(d);
	oracle_end(u);
	u->id = 0;
	if (u->op == XP_FLUSH)
		oracle_forget(oldest_under_way());
}

static void read_diary(const struct record *r)
{
	const struct diary *d = (const void *)(r + 1);

	if (!judging || d->magic != DIARY_MAGIC)
		return;
	if (d->event == DIARY_BEGIN)
		begin_request(d);
	else if (d->event == DIARY_END)
		end_request(d);
}

/* --------------------------------------------------------------- samples ---- */

static u32 nr_samples;

static void write_image(const char *what, const struct content **cells, u64 sectors)
{
	char path[4096];
	FILE *f;
	u64 s;

	snprintf(path, sizeof(path), "%s/%u.%s", opt.folder, nr_samples, what);
	f = fopen(path, "we");
	if (!f)
		err(2, "%s", path);
	for (s = 0; s < sectors; s++)
		fwrite(cells[s]->bytes, SECTOR, 1, f);
	if (fclose(f))
		err(2, "%s", path);
}

static void sample_before(struct xp *c, const struct image *im)
{
	(void)c;
	write_image("fast", im->fast, sim.fast.sectors);
	write_image("slow", im->slow, sim.slow.sectors);
}

static void sample_after(struct xp *c, const struct image *im)
{
	static const struct content *cell[SECTORS_MAX];
	u64 s;

	for (s = 0; s < sim.slow.sectors; s++)
		cell[s] = oracle_answer(c, im, s);
	write_image("cached", cell, sim.slow.sectors);
}

/* ---------------------------------------------------------------- replay ---- */

/* The cache has just been made, and everything that was on the slow disk is there. */
static void start_judging(void)
{
	struct xp_message msg;

	if (xp_sb_read(&live_media, sim.fast.sectors / XP_BLOCK_SECTORS, &sim.sb, &msg))
		errx(2, "the fast disk: %s", msg.text);
	sim.geometry.ring = (u32)le64_to_cpu(sim.sb.journal_blocks);
	crash_new_run();
	oracle_new_run();
	judging = true;
}

static void judge(u64 entry)
{
	u64 rng = mix(opt.seed) + mix(entry);

	if (!judging)
		return;
	if (!below(&rng, (u32)opt.every))
		crash_check(&rng);
	if (nr_samples < opt.samples &&
	    entry >= book.ready + (book.last - book.ready) * (nr_samples + 1) / (opt.samples + 1)) {
		crash_sample(&rng, sample_before, sample_after);
		nr_samples++;
	}
}

static void replay(void)
{
	size_t at, next;
	u64 entry = 0;

	for (at = 0; entry < book.last && (next = next_record(at)); at = next) {
		const struct record *r = record_at(at);

		sim.now++;
		sim.step = ++entry;
		switch (r->kind) {
		case RECORD_DONE:	done(r); break;
		case RECORD_DIARY:	read_diary(r); break;
		default:		submit(r);
		}
		if (entry == book.ready)
			start_judging();
		judge(entry);
	}
}

static void prepare(void)
{
	sim.now = 2;
	sim.next_stamp = 16;
	sim.geometry.fast_volatile = opt.volatile_fast;
	sim.geometry.dirty_low = 50;
	sim.geometry.dirty_high = 90;
	under_way = calloc(IDS_MAX, sizeof(*under_way));
	disk_init(&sim.fast, "fast", book.fast_sectors, 0, true);
	disk_init(&sim.slow, "slow", book.slow_sectors, 0, true);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "every", 1, NULL, 'e' }, { "seed", 1, NULL, 's' }, { "samples", 1, NULL, 'n' },
		{ "folder", 1, NULL, 'd' }, { "volatile-fast", 0, NULL, 'v' },
		{ "fast-sectors", 1, NULL, 'F' }, { "slow-sectors", 1, NULL, 'S' }, { 0 },
	};
	int c;

	all_properties_on();
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'e': opt.every = strtoull(optarg, NULL, 10); break;
		case 's': opt.seed = strtoull(optarg, NULL, 10); break;
		case 'n': opt.samples = (u32)strtoul(optarg, NULL, 10); break;
		case 'd': opt.folder = optarg; break;
		case 'v': opt.volatile_fast = true; break;
		case 'F': book.fast_sectors = strtoull(optarg, NULL, 10); break;
		case 'S': book.slow_sectors = strtoull(optarg, NULL, 10); break;
		default: exit(2);
		}
	}
	if (optind != argc - 1 || !opt.every || !book.fast_sectors || !book.slow_sectors ||
	    book.slow_sectors > SECTORS_MAX || (opt.samples && !opt.folder))
		errx(2, "usage: see the head of tests/crash/replay.c");
}

/* A recorded slow device has one size. */
void size_of_image(u64 *rng)
{
	(void)rng;
}

int main(int argc, char **argv)
{
	double begun = seconds();

	parse(argc, argv);
	load(argv[optind]);
	survey(argv[optind]);
	prepare();
	if (!setjmp(verdict_leave))
		replay();
	if (verdict.failed) {
		printf("entry %llu, property %u: %s\n", (unsigned long long)verdict.step,
		       verdict.property, verdict.text);
		image_dump();
		return 1;
	}
	printf("%llu entries, %llu requests, %llu reads checked; %llu crash points, %llu images, "
	       "%llu distinct states recovered, %llu cuts during recovery; %.0f s; 0 mismatches\n",
	       (unsigned long long)book.entries, (unsigned long long)figures.requests,
	       (unsigned long long)figures.reads, (unsigned long long)figures.crash_points,
	       (unsigned long long)figures.images, (unsigned long long)figures.states,
	       (unsigned long long)figures.recovery_cuts, seconds() - begun);
	return 0;
}
