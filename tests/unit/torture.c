// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture.c - random requests over two lying disks, random power cuts, and an
 * oracle that knows which values each sector may hold.
 *
 * usage: torture [SEED [COUNT]]      each seed is one cache with many power cuts
 *
 * This is the core as the shells drive it: every answer of xp_submit() is
 * performed here in pieces, in random order, with cuts in between.
 */
#include <stdarg.h>
#include "device.h"

#define MAX_SECTORS	512
#define MAX_IO		64
#define MAGIC		0x6f727478u

static u64 seed, rng, now;
static struct disk fast, slow;
static struct xp_sb sb;
static void *memory;
static struct xp *c;
static u64 cuts, recovery_cuts, requests_done, reads_checked, failures_injected;
static bool inject_errors;

static u32 below(u32 n)
{
	return rng_below(&rng, n);
}

static void fail(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "seed %llu, step %llu: ", (unsigned long long)seed,
		(unsigned long long)now);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void xp_assert_failed(const char *what, const char *file, int line)
{
	fail("%s:%d: assertion %s", file, line, what);
	abort();
}

/* -------------------------------------------------------------- payload ---- */

struct payload {
	u32 magic, pad;
	u64 sector, id, check;
};

static void fill_sector(u8 *at, u64 sector, u64 id)
{
	struct payload p = { MAGIC, 0, sector, id, 0 };

	memset(at, (int)(id & 0x7f) + 1, SECTOR);
	p.check = XXH64(&p, 24, id);
	memcpy(at, &p, sizeof(p));
}

/* The write a sector's bytes are from; 0 for zeros. */
static u64 sector_id(const u8 *at, u64 sector)
{
	static const u8 zeros[SECTOR];
	u8 expect[SECTOR];
	struct payload p;

	if (!memcmp(at, zeros, SECTOR))
		return 0;
	memcpy(&p, at, sizeof(p));
	fill_sector(expect, sector, p.id);
	if (memcmp(at, expect, SECTOR))
		fail("sector %llu: torn or foreign data (id %llu, of sector %llu)",
		     (unsigned long long)sector, (unsigned long long)p.id,
		     (unsigned long long)p.sector);
	return p.id;
}

/* --------------------------------------------------------------- oracle ---- */

struct version {
	u64 id;			/* 0: zeros */
	u64 submitted;
	u64 acked, seen;	/* 0: not */
	bool covered, maybe, whole;
};

struct history {
	struct version *v;
	u32 nr, max;
};

static struct history history[MAX_SECTORS];

static struct version *version_add(u64 sector, u64 id)
{
	struct history *h = &history[sector];

	if (h->nr == h->max) {
		h->max = h->max ? 2 * h->max : 8;
		h->v = realloc(h->v, h->max * sizeof(*h->v));
	}
	h->v[h->nr] = (struct version){ .id = id, .submitted = now };
	return &h->v[h->nr++];
}

/* @id is certain from now on: nothing older is allowed any more. */
static void history_reset(u64 sector, u64 id)
{
	struct version *v;

	history[sector].nr = 0;
	v = version_add(sector, id);
	v->submitted = 0;
	v->acked = v->seen = 1;
	v->covered = true;
}

static bool precedes(const struct version *a, const struct version *b)
{
	return a->acked && a->acked < b->submitted;
}

static bool superseded(const struct history *h, const struct version *v,
		       bool running, u64 since)
{
	u32 i;

	for (i = 0; i < h->nr; i++) {
		const struct version *w = &h->v[i];
		bool certain = running ? w->seen && w->seen < since : w->covered;

		if (w != v && certain && !w->maybe && precedes(v, w))
			return true;
	}
	return false;
}

/* The version a sector holds, if it may; zeros can be of more than one: then
 * *unsure, for which of them was seen is not known. */
static struct version *check_sector(const u8 *data, u64 sector, bool running,
				    u64 since, bool *unsure)
{
	struct history *h = &history[sector];
	u64 id = sector_id(data, sector);
	struct version *found = NULL;
	u32 i;

	*unsure = false;
	for (i = 0; i < h->nr; i++)
		if (h->v[i].id == id && !superseded(h, &h->v[i], running, since)) {
			*unsure = found;
			found = &h->v[i];
		}
	if (found)
		return found;
	for (i = 0; i < h->nr; i++)
		fprintf(stderr, "  known: id %llu submitted %llu acked %llu covered %d\n",
			(unsigned long long)h->v[i].id,
			(unsigned long long)h->v[i].submitted,
			(unsigned long long)h->v[i].acked, h->v[i].covered);
	fail("%s: sector %llu holds id %llu, which is not allowed",
	     running ? "running" : "after a power cut",
	     (unsigned long long)sector, (unsigned long long)id);
	return NULL;
}

/* ------------------------------------------------------------- requests ---- */

/* Memory of one life: what a power cut finds in flight goes with it. */
struct chunk {
	struct chunk *next, **prev;
	u8 data[] __attribute__((aligned(16)));
};

static struct chunk *chunks;

static void *life_alloc(u64 size)
{
	struct chunk *k = calloc(1, sizeof(*k) + size);

	k->next = chunks;
	k->prev = &chunks;
	if (chunks)
		chunks->prev = &k->next;
	chunks = k;
	return k->data;
}

static void life_free(void *data)
{
	struct chunk *k;

	if (!data)
		return;
	k = container_of(data, struct chunk, data);
	*k->prev = k->next;
	if (k->next)
		k->next->prev = k->prev;
	free(k);
}

struct user {
	u8 op;
	bool fua;
	u64 sector;
	u32 nr;
	u64 id, submitted;
	u32 pieces;
	int err;
	u8 *buf;
};

struct piece {
	struct xp_req req;
	struct user *u;
	u32 asked;		/* sectors, before the core trimmed it */
	u8 *copy;
};

enum io_kind { IO_PIECE, IO_BASE, IO_COPY, IO_JOURNAL, IO_FILL, IO_RUN, IO_SLOW_FLUSH };

struct io {
	enum io_kind kind;
	struct piece *p;
	struct disk *disk;
	struct disk_write *w;
	u64 sector, flush;
	u32 nr, index;
	u8 *data;		/* of a read */
	bool sampled, preflush;
	const void *bytes;	/* of a write behind a preflush */
	struct xp_fill fill;
	struct xp_run *run;
};

static struct io ios[MAX_IO];
static u32 nr_ios;
static u32 nr_users;
static u64 next_id;
static bool batch_open, batch_flushing;
static u32 batch_runs;

static void run_todo(struct xp_todo *todo);

static struct io *io_add(enum io_kind kind, struct piece *p)
{
	struct io *io = &ios[nr_ios++];

	XP_ASSERT(nr_ios < MAX_IO);
	*io = (struct io){ .kind = kind, .p = p };
	return io;
}

static void io_write(struct io *io, struct disk *d, u64 sector, u32 nr,
		     const void *data, bool fua)
{
	io->disk = d;
	io->w = disk_submit(d, sector, nr, data, fua);
}

/* The disk may look at any moment between submission and completion. */
static void sample(struct io *io)
{
	u32 nr = (u32)min((u64)io->nr, io->disk->sectors - io->sector);

	memcpy(io->data, io->disk->seen + io->sector * SECTOR, nr * SECTOR);
	io->sampled = true;
}

static void io_read(struct io *io, struct disk *d, u64 sector, u32 nr, u8 *data)
{
	io->disk = d;
	io->sector = sector;
	io->nr = nr;
	io->data = data;
	if (below(2))
		sample(io);
}

static u8 *piece_bytes(struct piece *p)
{
	return p->u->buf + (p->req.sector - p->u->sector) * SECTOR;
}

static void user_checked(struct user *u)
{
	bool unsure;
	u32 i;

	for (i = 0; i < u->nr; i++) {
		struct version *v = check_sector(u->buf + i * SECTOR, u->sector + i,
						 true, u->submitted, &unsure);
		if (!v->seen && !unsure)
			v->seen = now;
	}
	reads_checked++;
}

static void user_written(struct user *u)
{
	u32 i, k;

	for (i = 0; i < u->nr; i++)
		for (k = 0; k < history[u->sector + i].nr; k++) {
			struct version *v = &history[u->sector + i].v[k];

			if (v->submitted != u->submitted)
				continue;
			v->acked = now;
			if (!v->seen)
				v->seen = now;
			v->covered |= u->fua;
		}
}

static void user_flushed(const struct user *u)
{
	u32 i, k;

	for (i = 0; i < slow.sectors; i++)
		for (k = 0; k < history[i].nr; k++)
			if (history[i].v[k].acked &&
			    history[i].v[k].acked < u->submitted)
				history[i].v[k].covered = true;
}

static void user_end(struct user *u)
{
	now++;
	if (u->err && !inject_errors)
		fail("op %d of sector %llu ended with %d", u->op,
		     (unsigned long long)u->sector, u->err);
	if (!u->err && u->op == XP_READ)
		user_checked(u);
	else if (!u->err && u->op == XP_FLUSH)
		user_flushed(u);
	else if (!u->err)
		user_written(u);
	requests_done++;
	nr_users--;
	life_free(u->buf);
	life_free(u);
}

static void piece_end(struct piece *p)
{
	struct user *u = p->u;

	if (p->req.err && !u->err)
		u->err = p->req.err;
	life_free(p->copy);
	life_free(p);
	if (!--u->pieces)
		user_end(u);
}

static void piece_submit(struct piece *p, struct xp_todo *todo);

/* The core answered about the first sectors only: the rest is a piece too. */
static void split_rest(struct piece *p, struct xp_todo *todo)
{
	struct piece *rest;

	if (p->req.nr_sectors == p->asked)
		return;
	rest = life_alloc(sizeof(*rest));
	rest->u = p->u;
	rest->req.op = p->req.op;
	rest->req.fua = p->req.fua;
	rest->req.sector = p->req.sector + p->req.nr_sectors;
	rest->req.nr_sectors = p->asked - p->req.nr_sectors;
	p->u->pieces++;
	p->asked = p->req.nr_sectors;
	piece_submit(rest, todo);
}

static void copy_go(struct piece *p, struct xp_todo *todo)
{
	u64 hash[XP_COPY_MAX];
	u32 i;

	if (p->u->op == XP_ZEROES)
		memset(p->copy + p->req.copy.offset, 0, p->req.nr_sectors * SECTOR);
	else
		memcpy(p->copy + p->req.copy.offset, piece_bytes(p),
		       p->req.nr_sectors * SECTOR);
	if (p->req.copy.beside) {
		for (i = 0; i < p->req.nr_blocks; i++)
			hash[i] = xp_xxh64(p->copy + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
		xp_copied(c, &p->req, hash, todo);
	}
	io_write(io_add(IO_COPY, p), &fast, p->req.target,
		 p->req.nr_blocks * XP_BLOCK_SECTORS, p->copy,
		 p->req.copy.beside && fast.volatile_cache);
}

static void start_copy(struct piece *p, struct xp_todo *todo)
{
	struct disk *d = p->req.copy.base == XP_BASE_FAST ? &fast : &slow;

	p->copy = life_alloc(p->req.nr_blocks * XP_BLOCK_SIZE);
	if (p->req.copy.base == XP_BASE_NONE || p->req.copy.base == XP_BASE_ZERO)
		copy_go(p, todo);
	else
		io_read(io_add(IO_BASE, p), d, p->req.copy.from,
			XP_BLOCK_SECTORS, p->copy);
}

static void start_io(struct piece *p, struct disk *d, u64 sector)
{
	struct io *io = io_add(IO_PIECE, p);
	u8 *zeros;

	if (p->req.op == XP_READ) {
		io_read(io, d, sector, p->req.nr_sectors, piece_bytes(p));
	} else if (p->req.op == XP_FLUSH) {
		io->disk = d;
		io->flush = disk_flush_submit(d);
	} else if (p->req.op == XP_WRITE) {
		io_write(io, d, sector, p->req.nr_sectors, piece_bytes(p),
			 p->req.fua && d == &slow);
	} else {
		zeros = calloc(p->req.nr_sectors, SECTOR);
		io_write(io, d, sector, p->req.nr_sectors, zeros, p->req.fua);
		free(zeros);
	}
	/* Around the cache a block is as whole as the slow disk keeps it. */
	if (io->w)
		io->w->whole_blocks = d == &slow;
}

static void piece_submit(struct piece *p, struct xp_todo *todo)
{
	enum xp_act act;

	p->asked = p->req.nr_sectors;
	act = xp_submit(c, &p->req, todo);
	if (act == XP_WAIT)
		return;
	split_rest(p, todo);
	if (act == XP_ZERO)
		memset(piece_bytes(p), 0, p->req.nr_sectors * SECTOR);
	if (act == XP_DONE || act == XP_ZERO)
		piece_end(p);
	else if (act == XP_FAST)
		start_io(p, &fast, p->req.target);
	else if (act == XP_COPY)
		start_copy(p, todo);
	else
		start_io(p, &slow, p->req.sector);
}

static void journal_go(u32 i)
{
	struct io *io = io_add(IO_JOURNAL, NULL);
	struct xp_journal_io j;

	xp_journal_io(c, i, &j);
	io->index = i;
	io->disk = &fast;
	io->sector = j.target;
	io->bytes = j.data;
	io->preflush = j.flush_fua;
	if (io->preflush)
		io->flush = disk_flush_submit(&fast);
	else
		io->w = disk_submit(&fast, j.target, XP_BLOCK_SECTORS, j.data, false);
}

static void run_todo(struct xp_todo *todo)
{
	while (!xp_todo_empty(todo)) {
		struct xp_link *link;

		todo->work = todo->tick = false;
		while (todo->journal) {
			u32 i = (u32)__builtin_ctz(todo->journal);

			todo->journal &= ~(1u << i);
			journal_go(i);
		}
		while ((link = xp_list_pop(&todo->done)))
			piece_end(container_of(link, struct piece, req.link));
		link = xp_list_pop(&todo->ready);
		if (link)
			piece_submit(container_of(link, struct piece, req.link), todo);
	}
}

/* ------------------------------------------------------------- workload ---- */

static u8 random_op(void)
{
	u32 dice = below(100);

	return dice < 30 ? XP_READ : dice < 78 ? XP_WRITE : dice < 90 ? XP_FLUSH :
	       dice < 95 ? XP_DISCARD : XP_ZEROES;
}

static u64 last_sector;
static u32 last_nr;

/* Often where the last request was: most bugs need two to meet. */
static void random_range(struct user *u)
{
	u64 blocks = slow.sectors / XP_BLOCK_SECTORS;
	u32 hot = below(3) ? (u32)min(blocks, (u64)12) : (u32)blocks;

	if (last_nr && !below(4)) {
		u->sector = last_sector;
		u->nr = last_nr;
		return;
	}
	if (below(4)) {
		u->sector = below(hot) * XP_BLOCK_SECTORS;
		u->nr = (1 + (below(3) ? 0 : below(6))) * XP_BLOCK_SECTORS;
	} else {
		u->sector = below((u32)slow.sectors);
		u->nr = 1 + below(20);
	}
	u->nr = (u32)min((u64)u->nr, slow.sectors - u->sector);
	last_sector = u->sector;
	last_nr = u->nr;
}

static void note_writes(struct user *u)
{
	u32 i;

	for (i = 0; i < u->nr; i++) {
		u64 s = u->sector + i, block = s & ~7ull;
		struct version *v = version_add(s, u->op == XP_WRITE ? u->id : 0);

		v->maybe = u->op == XP_DISCARD;
		v->whole = u->op == XP_WRITE && block >= u->sector &&
			   block + 8 <= u->sector + u->nr;
		if (u->op == XP_WRITE)
			fill_sector(u->buf + i * SECTOR, s, u->id);
	}
}

static void new_request(void)
{
	struct user *u = life_alloc(sizeof(*u));
	struct piece *p = life_alloc(sizeof(*p));
	struct xp_todo todo;

	now++;
	u->op = random_op();
	u->submitted = now;
	u->id = ++next_id;
	if (u->op != XP_FLUSH)
		random_range(u);
	u->fua = u->op == XP_WRITE && !below(4);
	u->buf = life_alloc((u->nr + 1) * SECTOR);
	if (u->op != XP_READ && u->op != XP_FLUSH)
		note_writes(u);
	u->pieces = 1;
	nr_users++;
	p->u = u;
	p->req.op = u->op;
	p->req.fua = u->fua;
	p->req.sector = u->sector;
	p->req.nr_sectors = u->nr;
	xp_todo_init(&todo);
	piece_submit(p, &todo);
	run_todo(&todo);
}

/* -------------------------------------------------------------- destage ---- */

static void run_go(struct xp_run *run)
{
	struct io *io = io_add(IO_RUN, NULL);
	u64 first = xp_lba_n(run->lba) * XP_BLOCK_SECTORS;
	u32 i, nr = (u32)min((u64)run->nr_blocks * XP_BLOCK_SECTORS,
			     slow.sectors - first);
	u8 *data = calloc(run->nr_blocks, XP_BLOCK_SIZE);

	for (i = 0; !run->zeroes && i < run->nr_blocks; i++)
		memcpy(data + i * XP_BLOCK_SIZE,
		       fast.seen + xp_slot_sector(c, run->slot[i]) * SECTOR,
		       XP_BLOCK_SIZE);
	io->run = run;
	io_write(io, &slow, first, nr, data, false);
	batch_runs++;
	free(data);
}

static void destage_step(void)
{
	enum xp_next next;
	struct xp_todo todo;
	struct xp_run *run;
	struct io *io;

	if (!batch_open) {
		xp_todo_init(&todo);
		batch_open = xp_destage_wanted(c) && xp_destage_begin(c, &todo);
		run_todo(&todo);
		return;
	}
	if (batch_flushing)
		return;
	if (batch_runs < 3 && below(20)) {
		run = life_alloc(sizeof(*run));
		next = xp_destage_next(c, run);
		if (next == XP_NEXT_RUN)
			run_go(run);
		else
			life_free(run);
		if (next != XP_NEXT_END)
			return;
	}
	if (batch_runs)
		return;
	io = io_add(IO_SLOW_FLUSH, NULL);
	io->disk = &slow;
	io->flush = disk_flush_submit(&slow);
	batch_flushing = true;
}

/* ---------------------------------------------------------- completions ---- */

static bool write_fails(const struct io *io)
{
	return inject_errors && io->w && io->disk == &fast &&
	       (io->kind == IO_PIECE || io->kind == IO_COPY ||
		io->kind == IO_FILL) && !below(40);
}

static int io_finish(struct io *io)
{
	if (io->data && !io->sampled)
		sample(io);
	if (write_fails(io)) {
		failures_injected++;
		disk_fail(io->disk, io->w, &rng);
		return -EIO;
	}
	if (io->flush)
		disk_flush_complete(io->disk, io->flush);
	if (io->w)
		disk_complete(io->disk, io->w);
	return 0;
}

static void piece_io_end(struct io *io, int err, struct xp_todo *todo)
{
	struct piece *p = io->p;
	enum xp_act act = xp_end(c, &p->req, err, todo);

	if (p->req.op == XP_READ && !err && p->req.fill.nr_blocks) {
		struct io *f = io_add(IO_FILL, NULL);
		u64 skip = xp_lba_n(p->req.fill.lba) * XP_BLOCK_SECTORS - p->req.sector;

		f->fill = p->req.fill;
		io_write(f, &fast, f->fill.target,
			 f->fill.nr_blocks * XP_BLOCK_SECTORS,
			 piece_bytes(p) + skip * SECTOR, false);
	}
	if (act == XP_DONE)
		piece_end(p);
}

/* The first half of PREFLUSH | FUA is over. */
static bool journal_second_half(struct io *io)
{
	if (io->kind != IO_JOURNAL || !io->preflush)
		return false;
	disk_flush_complete(&fast, io->flush);
	io->flush = 0;
	io->preflush = false;
	io->w = disk_submit(&fast, io->sector, XP_BLOCK_SECTORS, io->bytes, true);
	return true;
}

static void complete_one(u32 which)
{
	struct io io = ios[which];
	struct xp_todo todo;
	int err;

	now++;
	if (journal_second_half(&ios[which]))
		return;
	ios[which] = ios[--nr_ios];
	err = io_finish(&io);
	xp_todo_init(&todo);
	if (io.kind == IO_PIECE || io.kind == IO_COPY) {
		piece_io_end(&io, err, &todo);
	} else if (io.kind == IO_BASE) {
		copy_go(io.p, &todo);
	} else if (io.kind == IO_JOURNAL) {
		xp_journal_end(c, io.index, 0, &todo);
	} else if (io.kind == IO_FILL) {
		xp_fill_end(c, &io.fill, err, &todo);
	} else if (io.kind == IO_RUN) {
		xp_destage_end(c, io.run);
		batch_runs--;
		life_free(io.run);
	} else {
		xp_destage_commit(c, 0, &todo);
		batch_open = batch_flushing = false;
	}
	run_todo(&todo);
}

static void step(u32 max_users)
{
	u32 dice = below(100);
	struct xp_todo todo;

	if (dice < 45 && nr_users < max_users && nr_ios < MAX_IO / 2)
		new_request();
	else if (dice < 50)
		destage_step();
	else if (dice < 51) {
		xp_todo_init(&todo);
		xp_tick(c, &todo);
		run_todo(&todo);
	} else if (nr_ios) {
		complete_one(below(nr_ios));
	}
}

/* ----------------------------------------------------- power cut, start ---- */

struct cut_media {
	u32 writes_left;	/* until the power goes */
};

static int media_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	memcpy(buf, fast.seen + block * XP_BLOCK_SIZE, nr * XP_BLOCK_SIZE);
	return 0;
}

static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct cut_media *m = ctx;
	u64 flush = disk_flush_submit(&fast);
	struct disk_write *w;

	disk_flush_complete(&fast, flush);
	w = disk_submit(&fast, block * XP_BLOCK_SECTORS, nr * XP_BLOCK_SECTORS,
			buf, true);
	if (!m->writes_left--)
		return -ENODEV;
	disk_complete(&fast, w);
	return 0;
}

static void forget_life(void)
{
	while (chunks)
		life_free(chunks->data);
	nr_ios = nr_users = 0;
	batch_open = batch_flushing = false;
	batch_runs = 0;
	free(memory);
	memory = NULL;
}

static void start(void)
{
	static const struct xp_options options[] = {
		{ false, false, 10, 80 }, { false, true, 0, 50 },
		{ true, true, 20, 90 }, { true, false, 50, 100 },
	};
	struct xp_options opt = options[below(4)];
	struct xp_message msg;

	opt.volatile_fast = fast.volatile_cache;
	for (;;) {
		struct cut_media cm = { below(3) ? 1000 : below(4) };
		struct xp_media m = { &cm, media_read, media_write };
		void *scratch = malloc(xp_recover_memory(&sb));
		int err;

		memory = aligned_alloc(4096, (xp_memory(&sb) + 4095) & ~4095ull);
		memset(memory, 0, xp_memory(&sb));
		c = xp_init(memory, &sb, &opt);
		err = xp_recover(c, &m, scratch, true, &msg);
		free(scratch);
		if (!err)
			return;
		if (err != -ENODEV)
			fail("recovery refused: %s", msg.text);
		recovery_cuts++;
		free(memory);
		disk_cut(&fast, &rng);
	}
}

static const u8 *where(u64 sector)
{
	static const u8 zeros[SECTOR];
	struct xp_mapping map;

	if (!xp_lookup(c, XP_LBA(sector / 8), &map))
		return slow.seen + sector * SECTOR;
	if (map.zeros)
		return zeros;
	return fast.seen + (xp_slot_sector(c, map.slot) + sector % 8) * SECTOR;
}

/* A whole aligned 4 KiB write is there entirely or not at all. */
static void check_whole(u64 block, struct version **v)
{
	u32 i, k;

	for (i = 0; i < 8; i++)
		for (k = 0; k < 8; k++)
			if (v[i] && v[k] && v[i]->whole && precedes(v[k], v[i]) &&
			    v[k]->id != v[i]->id)
				fail("block %llu: write %llu is torn",
				     (unsigned long long)block,
				     (unsigned long long)v[i]->id);
}

static void check_all(void)
{
	struct version *v[8] = { 0 };
	bool unsure;
	u64 s;

	for (s = 0; s < slow.sectors; s++) {
		v[s % 8] = check_sector(where(s), s, false, 0, &unsure);
		if (unsure)
			v[s % 8] = NULL;
		if (s % 8 == 7)
			check_whole(s / 8, v);
	}
	for (s = 0; s < slow.sectors; s++)
		history_reset(s, sector_id(where(s), s));
}

static void power_cut(void)
{
	forget_life();
	disk_cut(&fast, &rng);
	disk_cut(&slow, &rng);
	cuts++;
	start();
	check_all();
}

/* Everything ends, all dirty blocks go home, and the slow disk is complete. */
static void drain(void)
{
	struct xp_todo todo;
	bool unsure;
	u32 i;

	xp_drain(c, true);
	for (i = 0; nr_users || nr_ios || batch_open || !xp_is_clean(c); i++) {
		if (i > 200000)
			fail("does not come to rest: %u requests, %u I/Os", nr_users, nr_ios);
		if (nr_ios && below(4))
			complete_one(below(nr_ios));
		else
			destage_step();
		if (!(i % 64)) {
			xp_todo_init(&todo);
			xp_tick(c, &todo);
			run_todo(&todo);
		}
	}
	xp_drain(c, false);
	disk_cut(&slow, &rng);
	for (i = 0; i < slow.sectors; i++)
		check_sector(slow.seen + i * SECTOR, i, true, now, &unsure);
}

/* ----------------------------------------------------------------- main ---- */

static void format(void)
{
	struct cut_media cm = { 1000 };
	struct xp_media m = { &cm, media_read, media_write };
	u32 slots = 8 + below(24), blocks = 16 + below(40), i;
	u8 block[XP_BLOCK_SIZE];
	struct xp_message msg;

	disk_init(&slow, blocks * 8 - (below(2) ? below(8) : 0), true);
	disk_init(&fast, (256 + 96 + slots) * 8, below(2));
	memset(&sb, 0, sizeof(sb));
	memcpy(sb.magic, XP_SB_MAGIC, 8);
	memset(sb.uuid, 0x5a, sizeof(sb.uuid));
	sb.version = cpu_to_le32(XP_SB_VERSION);
	sb.fast_blocks = cpu_to_le64(256 + 96 + slots);
	sb.journal_start = cpu_to_le64(256);
	sb.journal_blocks = cpu_to_le64(96);
	sb.data_start = cpu_to_le64(256 + 96);
	sb.nr_slots = cpu_to_le64(slots);
	sb.slow.sectors = cpu_to_le64(slow.sectors);
	if (xp_format(&m, &sb, block))
		fail("format");
	if (xp_sb_read(&m, 256 + 96 + slots, &sb, &msg))
		fail("superblock: %s", msg.text);
	for (i = 0; i < slow.sectors; i++) {
		fill_sector(slow.seen + i * SECTOR, i, ++next_id);
		history_reset(i, next_id);
	}
	memcpy(slow.durable, slow.seen, slow.sectors * SECTOR);
}

static void one_seed(u64 s)
{
	u32 life, i, steps, users;

	seed = rng = s;
	now = 2;
	next_id = 0;
	nr_ios = nr_users = last_nr = 0;
	inject_errors = s % 4 == 3;
	format();
	start();
	for (life = 0; life < 12; life++) {
		steps = below(3) ? 20 + below(300) : below(2500);
		users = 1 + below(12);
		for (i = 0; i < steps; i++)
			step(users);
		if (!below(5))
			drain();
		power_cut();
	}
	forget_life();
	disk_free(&fast);
	disk_free(&slow);
	for (i = 0; i < MAX_SECTORS; i++) {
		free(history[i].v);
		history[i] = (struct history){ 0 };
	}
}

int main(int argc, char **argv)
{
	u64 first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	u64 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, i;

	for (i = 0; i < count; i++)
		one_seed(first + i);
	printf("torture: %llu seeds, %llu power cuts, %llu more during recovery, %llu requests, %llu reads checked, %llu errors injected, 0 mismatches\n",
	       (unsigned long long)count, (unsigned long long)cuts,
	       (unsigned long long)recovery_cuts,
	       (unsigned long long)requests_done,
	       (unsigned long long)reads_checked,
	       (unsigned long long)failures_injected);
	return 0;
}
