// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend.c - performs what the core answers, one event at a time: what dm-target/
 * does with bios, without a kernel.
 *
 * A request (struct user) has parts (struct part), as the core answers about its
 * first sectors only: the rest goes on at once, or after the first, as either
 * happens in the kernel. Whatever a real backend may do later than at once (take a
 * buffer, send a journal block, write a fill) is an event of its own here.
 */
#include "look.h"
#include "mark.h"
#include "request.h"
#include "verify.h"
#include "backend.h"

static u32 nr_users;
/* Blocks of answers that ended well in this life, as the core is to count them. */
static struct xp_stats counted;
static bool write_failed;	/* in this life: the core may have counted what it did of it */
static bool clock_runs;

bool backend_idle(void)
{
	return !backend_ios() && !nr_users && !writeback_under_way();
}

u32 backend_users(void)
{
	return nr_users;
}

void backend_new_life(void)
{
	nr_users = 0;
	memset(&counted, 0, sizeof(counted));
	write_failed = false;
	clock_runs = true;
	events_new_life();
	writeback_new_life();
}

/* --------------------------------------------------------------- parts ---- */

static void part_submit(struct part *p, struct xp_todo *todo);

static struct part *part_new(struct user *u, u8 op, u64 sector, u64 end)
{
	struct part *p = arena_alloc(&sim.arena, sizeof(*p));

	p->u = u;
	p->end = end;
	memset(&p->req, 0xa5, sizeof(p->req));	/* what the core reads it has set, or is below */
	p->req.op = op;
	p->req.class = 0;
	p->req.fast_failed = false;
	p->req.alone = false;
	p->req.tries = 0;
	p->req.aside = p->req.written = false;
	p->req.stream = 0;
	p->req.fua = u->fua;
	p->req.ordered = op == XP_WRITE && (u->fua || u->preflush);
	p->req.sector = sector;
	u->pieces++;
	return p;
}

static u8 *part_bytes(const struct part *p)
{
	return p->u->buf + (p->req.sector - p->u->sector) * SECTOR;
}

static void check_counts(void)
{
	struct xp_stats s;

	if (nr_users || write_failed)
		return;
	xp_get_stats(sim.c, &s);
	if (s.read_blocks_fast != counted.read_blocks_fast || s.read_blocks_slow != counted.read_blocks_slow ||
	    s.write_blocks != counted.write_blocks || s.write_bypass_blocks != counted.write_bypass_blocks ||
	    s.discard_blocks != counted.discard_blocks)
		violation(P_CLASS, "blocks: read %llu fast and %llu slow, %llu written, %llu around, %llu discarded",
			  (unsigned long long)s.read_blocks_fast, (unsigned long long)s.read_blocks_slow,
			  (unsigned long long)s.write_blocks, (unsigned long long)s.write_bypass_blocks,
			  (unsigned long long)s.discard_blocks);
}

static void user_end(struct user *u)
{
	sim.now++;
	trace("%s %llu+%u of id %llu ends: %d", op_name(u->op), (unsigned long long)u->sector,
	      u->nr, (unsigned long long)u->id, u->err);
	nr_users--;
	figures.requests++;
	check_counts();
	oracle_end(u);
}

/* The write behind its preflush, of whose error the device mapper does not tell. */
static void user_preflushed(struct user *u, struct xp_todo *todo)
{
	u->flushed = sim.now;
	u->err = 0;
	part_submit(part_new(u, u->op, u->sector, u->sector + u->nr), todo);
}

static enum xp_class write_class(const struct part *p)
{
	if (p->waited)
		return XP_CLASS_WRITE_STALLED;
	return p->around ? XP_CLASS_WRITE_BYPASS : XP_CLASS_WRITE;
}

static enum xp_class class_due(const struct part *p)
{
	switch (p->req.op) {
	case XP_READ:
		return p->around ? XP_CLASS_READ_BYPASS :
		       p->filled ? XP_CLASS_READ_MISS : XP_CLASS_READ_HIT;
	case XP_WRITE:
		return write_class(p);
	case XP_FLUSH:
		return XP_CLASS_FLUSH;
	default:
		return XP_CLASS_DISCARD;
	}
}

static void check_class(const struct part *p)
{
	if (p->req.class != class_due(p))
		violation(P_CLASS, "%s: it is a %s", xp_class_name[class_due(p)],
			  p->req.class < XP_CLASSES ? xp_class_name[p->req.class] : "nothing");
}

/* The blocks of an answer, by what was done for it. */
static void count(const struct part *p)
{
	bool below = p->act == XP_SLOW || p->act == XP_SLOW_FLUSH || p->act == XP_SLOW_FILL || p->act == XP_MIXED;
	u32 laid_over = p->act == XP_MIXED ? p->laid_over : 0;

	if (p->req.op == XP_READ) {
		*(below ? &counted.read_blocks_slow : &counted.read_blocks_fast) += p->req.nr_blocks - laid_over;
		counted.read_blocks_fast += laid_over;
	} else if (p->req.op == XP_WRITE)
		*(below ? &counted.write_bypass_blocks : &counted.write_blocks) += p->req.nr_blocks;
	else if (p->req.op != XP_FLUSH)
		counted.discard_blocks += p->req.nr_blocks;
}

static void part_end(struct part *p, struct xp_todo *todo)
{
	struct user *u = p->u;

	if (!p->req.err) {
		check_class(p);
		count(p);
	}
	write_failed |= p->req.err && p->req.op != XP_READ;

	u->hit |= p->hit;
	p->hit = false;
	if (p->req.err && !u->err)
		u->err = p->req.err;
	if (!p->req.err && p->req.sector + p->req.nr_sectors < p->end) {
		p->req.sector += p->req.nr_sectors;
		part_submit(p, todo);
		return;
	}
	if (--u->pieces)
		return;
	if (u->preflush && !u->flushed)
		user_preflushed(u, todo);
	else
		user_end(u);
}

/* The core answered about the first sectors only. The rest now, or later. */
static void split(struct part *p, u64 asked_end, struct xp_todo *todo)
{
	u64 rest = p->req.sector + p->req.nr_sectors;

	if (rest == asked_end || chance(step.rng, 3))
		return;
	p->end = rest;
	part_submit(part_new(p->u, p->req.op, rest, asked_end), todo);
}

/* -------------------------------------------------------------- copies ---- */

/* As xs_copy_merge(). The caller may change its buffer from then on. */
static void copy_merge(struct part *p, struct xp_todo *todo)
{
	struct xp_copy *k = &p->req.copy;
	u32 bytes = p->req.nr_sectors * SECTOR, i;
	u64 hash[XP_COPY_MAX];

	if (p->req.op == XP_ZEROES) {
		memset(p->copy + k->offset, 0, bytes);
	} else {
		memcpy(p->copy + k->offset, part_bytes(p), bytes);
		memset(part_bytes(p), 0xcc, bytes);
	}
	if (k->hashed) {
		for (i = 0; i < p->req.nr_blocks; i++)
			hash[i] = xp_checksum(p->copy + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
		xp_copied(sim.c, &p->req, hash, todo);
	}
	start_write(event_add(IO_COPY, p), &sim.fast, p->req.target,
		    p->req.nr_blocks * XP_BLOCK_SECTORS, p->copy,
		    k->parallel && sim.fast.volatile_cache);
}

static void copy_begin(struct part *p, struct xp_todo *todo)
{
	const struct xp_copy *k = &p->req.copy;

	p->copy = arena_alloc(&sim.arena, p->req.nr_blocks * XP_BLOCK_SIZE);
	if (k->base == XP_BASE_FAST || k->base == XP_BASE_SLOW)
		start_read(event_add(IO_BASE, p), k->base == XP_BASE_FAST ? &sim.fast : &sim.slow,
			   k->from, XP_BLOCK_SECTORS, p->copy);
	else
		copy_merge(p, todo);
}

/* -------------------------------------------------------------- journal ---- */

static void count_runs(const struct xp_jblock *b)
{
	u32 i;

	for (i = 0; i < le16_to_cpu(b->head.count); i++) {
		u32 blocks = record_blocks(&b->rec[i]);

		figures.run_records += blocks > 1;
		figures.run_blocks += blocks > 1 ? blocks : 0;
	}
}

static void journal_go(u32 i)
{
	struct event *e;
	struct xp_journal_io io;

	xp_journal_io(sim.c, i, &io);
	if (i != XP_SUPERBLOCK)
		count_runs(io.data);
	e = event_add(io.flush_fua ? IO_JOURNAL_FLUSH : IO_JOURNAL, NULL);
	e->index = i;
	e->sector = io.target;
	e->data = io.data;
	if (io.flush_fua) {
		start_flush(e, &sim.fast);
		return;
	}
	start_write(e, &sim.fast, io.target, XP_BLOCK_SECTORS, io.data, false);
	if (sim.fast.memory && !unreadable(sim.fast.seen, true, io.target, 1))
		disk_narrow(e->w, 0, io.bytes);
}

static void journal_flushed(const struct event *flush, int err, struct xp_todo *todo)
{
	struct event *e;

	if (err) {
		figures.failed_commits++;
		xp_journal_end(sim.c, flush->index, err, todo);
		return;
	}
	e = event_add(IO_JOURNAL, NULL);
	e->index = flush->index;
	start_write(e, &sim.fast, flush->sector, XP_BLOCK_SECTORS, flush->data, true);
}

/* ----------------------------------------------------------- requests ---- */

/* Blocks of the part that are cached. */
static u32 hits_of(const struct part *p)
{
	struct xp_mapping m;
	u32 hits = 0, i;

	for (i = 0; i < p->req.nr_blocks; i++)
		hits += xp_lookup(sim.c, XP_LBA(p->req.sector / XP_BLOCK_SECTORS + i), &m);
	return hits;
}

static void start_fill_read(struct part *p)
{
	u32 nr_sectors;
	u64 sector;

	xp_fill_read(sim.c, &p->req, &sector, &nr_sectors);
	p->widened = nr_sectors > p->req.nr_sectors;
	figures.widened += p->widened;
	p->fill = arena_alloc(&sim.arena, nr_sectors * SECTOR);
	start_read(event_add(IO_PART, p), &sim.slow, sector, nr_sectors, p->fill);
}

static bool is_in_place(const struct part *p)
{
	return p->req.state == REQ_OVERWRITE;
}

static void start_part(struct part *p, struct disk *d, u64 sector)
{
	struct event *e = event_add(IO_PART, p);

	if (p->req.op == XP_READ) {
		start_read(e, d, sector, p->req.nr_sectors, part_bytes(p));
	} else if (p->req.op == XP_FLUSH || p->act == XP_SLOW_FLUSH) {
		start_flush(e, d);
	} else {
		const u8 *bytes = p->req.op == XP_WRITE ? part_bytes(p) :
				  arena_alloc(&sim.arena, p->req.nr_sectors * SECTOR);

		start_write(e, d, sector, p->req.nr_sectors, bytes,
			    p->req.fua && (d == &sim.fast ? is_in_place(p) : sim.geometry.slow_fua));
		/* Around the cache a write is as whole as the device keeps it. */
		e->w->whole_blocks = d == &sim.slow;
		e->w->in_place = is_in_place(p);
		e->w->fragile = d != &sim.slow && !e->w->in_place;
	}
}

/* Without memory it comes again. */
static void start_mixed(struct part *p, struct xp_todo *todo)
{
	if (!chance(step.rng, 8)) {
		start_fill_read(p);
		overlay_begin(p);
	} else if (xp_end(sim.c, &p->req, -ENOMEM, todo) != XP_WAIT) {
		violation(P_HOST, "read %llu+%u: no memory for it, and it ends", (unsigned long long)p->req.sector,
			  p->req.nr_sectors);
	}
}

/* Into memory that no caller sees. */
static void check_begin(struct part *p)
{
	figures.checks++;
	p->copy = arena_alloc(&sim.arena, p->req.nr_blocks * XP_BLOCK_SIZE);
	start_read(event_add(IO_CHECK, p), &sim.fast, p->req.target, p->req.nr_blocks * XP_BLOCK_SECTORS, p->copy);
}

static void part_perform(struct part *p, enum xp_act act, struct xp_todo *todo)
{
	switch (act) {
	case XP_ZERO:
		memset(part_bytes(p), 0, p->req.nr_sectors * SECTOR);
		p->req.err = 0;
		part_end(p, todo);
		break;
	case XP_DONE:
		part_end(p, todo);
		break;
	case XP_FAST:
		if (p->req.private)
			violation(P_HOST, "%s %llu+%u: the fast device is to be given memory that it cannot take",
				  op_name(p->u->op), (unsigned long long)p->req.sector, p->req.nr_sectors);
		figures.in_place += is_in_place(p);
		figures.parts += p->req.state == REQ_DATA && p->req.nr_sectors < XP_BLOCK_SECTORS;
		start_part(p, &sim.fast, p->req.target);
		break;
	case XP_SLOW:
		figures.spans += p->req.op == XP_READ && hits_of(p);
		start_part(p, &sim.slow, p->req.sector);
		break;
	case XP_SLOW_FLUSH:
		figures.behind++;
		start_part(p, &sim.slow, p->req.sector);
		break;
	case XP_SLOW_FILL:
		figures.spans += !!hits_of(p);
		if (chance(step.rng, 8)) {	/* no memory for it */
			xp_fill_end(sim.c, &p->req.fill, -ENOMEM, todo);
			p->req.fill.nr_blocks = 0;
			xp_not_filled(&p->req);
			p->around = true;
			start_part(p, &sim.slow, p->req.sector);
		} else {
			start_fill_read(p);
		}
		break;
	case XP_MIXED:
		figures.spans++;
		start_mixed(p, todo);
		break;
	case XP_COPY:
		if (chance(step.rng, 3))
			event_add(COPY_WAITS, p);
		else
			copy_begin(p, todo);
		break;
	case XP_CHECK:
		check_begin(p);
		break;
	case XP_WAIT:
		break;
	}
}

static bool passes_through(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.passthrough;
}

/* It may have been copied for a device that failed it. A caller that changes its buffer meanwhile
 * gets what it holds now; ours is told to have changed its mind. */
static void refill(struct part *p)
{
	u32 i;

	for (i = 0; p->req.op == XP_WRITE && i < p->req.nr_sectors; i++)
		payload_fill(part_bytes(p) + i * SECTOR, p->req.sector + i, p->u->id);
}

static void pass(struct part *p)
{
	refill(p);
	p->hit = false;
	figures.passed++;
}

/* Into other slots: what the error has hit so far is nobody's loss. */
static void once_more(struct part *p)
{
	refill(p);
	p->hit = false;
	p->waited |= p->req.op == XP_WRITE;
	figures.written_again++;
}

/* Or its pages are not whole blocks, which the core cannot tell. */
static bool is_private(const struct part *p)
{
	bool private = sim.geometry.whole && (xp_is_partial(p->req.sector, p->req.nr_sectors) || mix(p->u->id) % 8 == 0);

	figures.privates += private;
	return private;
}

static void part_submit(struct part *p, struct xp_todo *todo)
{
	u64 end = p->end;
	bool behind = p->req.written;
	enum xp_act act;

	p->req.nr_sectors = (u32)(end - p->req.sector);
	p->req.private = is_private(p);
	if (p->req.tries)
		once_more(p);
	act = xp_submit(sim.c, &p->req, todo);
	if (!behind || act == XP_SLOW_FLUSH)
		p->act = (u8)act;
	if (act == XP_WAIT) {
		p->waited |= p->req.op == XP_WRITE && !behind;
		return;
	}
	if (act == XP_SLOW && p->req.op != XP_READ && passes_through())
		pass(p);
	p->around |= act == XP_SLOW || (act == XP_MIXED && !p->req.fill.nr_blocks);
	p->filled |= act == XP_SLOW_FILL || (act == XP_MIXED && p->req.fill.nr_blocks);
	split(p, end, todo);
	part_perform(p, act, todo);
}

/* ---------------------------------------------------------------- mark ---- */

static void mark_begin(void)
{
	struct event *e = event_add(IO_MARK_READ, NULL);

	trace("--- the fast device is gone, a mark");
	start_read(e, &sim.slow, xp_mark_sector(sim.c), XP_BLOCK_SECTORS,
		   arena_alloc(&sim.arena, XP_BLOCK_SIZE));
}

static void mark_read(const struct event *e, int err, struct xp_todo *todo)
{
	if (!err && !xp_mark_make(sim.c, e->data))
		err = -EEXIST;
	if (err)
		xp_mark_end(sim.c, err, todo);
	else
		start_write(event_add(IO_MARK_WRITE, NULL), &sim.slow, e->sector, XP_BLOCK_SECTORS,
			    e->data, false);
}

static void mark_written(int err, struct xp_todo *todo)
{
	if (err)
		xp_mark_end(sim.c, err, todo);
	else
		start_flush(event_add(IO_MARK_FLUSH, NULL), &sim.slow);
}

void backend_perform(struct xp_todo *todo)
{
	while (!xp_todo_empty(todo)) {
		struct xp_link *link;

		if (todo->work)
			writeback_kick();
		clock_runs |= todo->tick;
		todo->work = todo->tick = false;
		if (todo->mark)
			mark_begin();
		todo->mark = false;
		while (todo->journal) {
			u32 i = (u32)__builtin_ctz(todo->journal);

			todo->journal &= ~(1u << i);
			if (chance(step.rng, 3))
				event_add(JOURNAL_WAITS, NULL)->index = i;
			else
				journal_go(i);
		}
		while ((link = xp_list_pop(&todo->done)))
			part_end(container_of(link, struct part, req.link), todo);
		link = xp_list_pop(&todo->ready);
		if (link)
			part_submit(container_of(link, struct part, req.link), todo);
	}
}

/* -------------------------------------------------------- new requests ---- */

static u8 draw_op(void)
{
	u32 dice = below(step.rng, 100), op;

	if (sim.geometry.sync_each && sim.next_id % sim.geometry.sync_each == 0)
		return XP_FLUSH;
	for (op = XP_READ; op < XP_ZEROES; op++) {
		if (dice < sim.geometry.ops[op])
			break;
		dice -= sim.geometry.ops[op];
	}
	return (u8)op;
}

/* Mostly whole blocks, mostly the hot ones: bugs need two to meet. */
static void draw_range(struct user *u)
{
	u32 blocks = (u32)(sim.slow.sectors / XP_BLOCK_SECTORS);
	u32 hot = min(sim.geometry.hot, blocks);

	if (sim.geometry.sequential) {
		u->sector = u->id % hot * XP_BLOCK_SECTORS;
		u->nr = XP_BLOCK_SECTORS;
		return;
	}
	if (sim.geometry.small && below(step.rng, 4)) {
		u->sector = below(step.rng, hot * XP_BLOCK_SECTORS);
		u->nr = 1 + below(step.rng, 7);
		u->nr = (u32)min((u64)u->nr, sim.slow.sectors - u->sector);
		return;
	}
	if (chance(step.rng, 4))
		hot = blocks;
	if (below(step.rng, 4)) {
		u->sector = below(step.rng, hot) * XP_BLOCK_SECTORS;
		u->nr = (1 + (below(step.rng, 3) ? 0 : below(step.rng, 6))) * XP_BLOCK_SECTORS;
	} else {
		u->sector = below(step.rng, chance(step.rng, 2) ? (u32)sim.slow.sectors :
				  hot * XP_BLOCK_SECTORS);
		u->nr = 1 + below(step.rng, 20);
	}
	if (chance(step.rng, 20))	/* longer than is copied, or than there are slots */
		u->nr += below(step.rng, 32) * XP_BLOCK_SECTORS;
	u->nr = (u32)min((u64)u->nr, sim.slow.sectors - u->sector);
}

static struct user *user_new(u64 *rng)
{
	struct user *u = arena_alloc(&sim.arena, sizeof(*u));

	step.rng = rng;
	step.thread = ++sim.next_thread;
	u->submitted = ++sim.now;
	return u;
}

/* Nobody asks for what is before the slow device. */
void user_on_disk(struct user *u)
{
	if (u->op == XP_FLUSH || u->sector >= sim.geometry.pad)
		return;
	u->sector = sim.geometry.pad;
	u->nr = (u32)min((u64)u->nr, sim.slow.sectors - u->sector);
}

static void user_begin(struct user *u)
{
	struct xp_todo todo;
	u32 i;

	user_on_disk(u);
	u->buf = arena_alloc(&sim.arena, (u->nr + 1) * SECTOR);
	for (i = 0; u->op == XP_WRITE && i < u->nr; i++)
		payload_fill(u->buf + i * SECTOR, u->sector + i, u->id);
	trace("%s%s%s %llu+%u id %llu", u->preflush ? "preflush " : "", u->fua ? "FUA " : "",
	      op_name(u->op), (unsigned long long)u->sector, u->nr, (unsigned long long)u->id);
	oracle_begin(u);
	sim.faulted |= bad_is_unread(u->sector, u->nr);	/* an error of before, and until that is overwritten */
	nr_users++;
	clock_runs = true;
	xp_todo_init(&todo);
	if (u->preflush)
		part_submit(part_new(u, XP_FLUSH, 0, 0), &todo);
	else
		part_submit(part_new(u, u->op, u->sector, u->sector + u->nr), &todo);
	backend_perform(&todo);
}

void backend_new_request(u64 *rng)
{
	struct user *u = user_new(rng);

	u->op = draw_op();
	u->id = ++sim.next_id;
	if (u->op != XP_FLUSH)
		draw_range(u);
	u->fua = u->op == XP_WRITE && below(step.rng, 100) < sim.geometry.fua;
	u->preflush = u->op == XP_WRITE && below(step.rng, 100) < sim.geometry.preflush;
	user_begin(u);
}

void backend_write(u64 *rng, u64 sector, u32 nr)
{
	struct user *u = user_new(rng);

	u->op = XP_WRITE;
	u->id = ++sim.next_id;
	u->sector = sector;
	u->nr = nr;
	user_begin(u);
}

/* --------------------------------------------------------- completions ---- */

static void fill_run_start(const struct part *p, const struct xp_fill *run)
{
	struct event *e = event_add(FILL_WAITS, NULL);
	u64 skip = xp_lba_n(run->lba) - p->req.sector / XP_BLOCK_SECTORS;
	u32 i;

	e->fill = *run;
	e->data = p->fill + skip * XP_BLOCK_SIZE;
	for (i = 0; sim.verifies && i < e->fill.nr_blocks; i++)
		xp_fill_hash(sim.c, &e->fill, i, xp_checksum(e->data + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE));
}

static void fill_start(const struct part *p)
{
	struct xp_fill left = p->req.fill, run;

	while (xp_fill_run(sim.c, &left, &run))
		fill_run_start(p, &run);
}

/* The fast device failed the read of it, and it was not asked for elsewhere. */
static void check_lost(const struct part *p)
{
	u64 lba = p->req.sector / XP_BLOCK_SECTORS;
	struct xp_mapping m;
	u32 i;

	for (i = 0; i < p->req.nr_blocks; i++)
		if (!xp_lookup(sim.c, XP_LBA(lba + i), &m) || !m.dirty)
			violation(P_FAULTY_READS, "block %llu cannot be read, and is not dirty",
				  (unsigned long long)(lba + i));
}

static bool has_failed(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	return s.failed;
}

static void part_went_on(struct part *p, enum xp_act act, struct xp_todo *todo)
{
	p->waited |= act == XP_WAIT && p->req.op == XP_WRITE &&
		     (p->req.state == REQ_PARKED || p->req.state == REQ_OVERWRITE_PARKED);
	if (act == XP_DONE)
		part_end(p, todo);
}

/* A miss that the slow device has failed, and what was read with it may be why. */
static bool is_not_its_own(const struct part *p, int err)
{
	return err && p->req.state == REQ_MISS && !p->req.alone && ((p->fill && p->widened) || p->over || hits_of(p));
}

static void part_io_end(struct part *p, int err, struct xp_todo *todo)
{
	bool hit = p->req.state == REQ_HIT, more;
	enum xp_act act;

	if (p->over && overlay_goes_on(p, &err))
		return;
	more = is_not_its_own(p, err);
	if (p->fill && !err)
		memcpy(part_bytes(p), p->fill + p->req.sector % XP_BLOCK_SECTORS * SECTOR,
		       p->req.nr_sectors * SECTOR);
	figures.read_alone += more;
	act = xp_end(sim.c, &p->req, err, todo);
	if (more && act == XP_DONE && p->req.err)
		violation(P_FAULTY_READS, "read %llu+%u: the error of all that was read with it is its own",
			  (unsigned long long)p->req.sector, p->req.nr_sectors);
	if (hit && act == XP_DONE && p->req.err)
		check_lost(p);
	if (p->fill && !err)
		fill_start(p);
	p->fill = p->over = NULL;
	part_went_on(p, act, todo);
}

static void check_end(struct part *p, int err, struct xp_todo *todo)
{
	u64 hash[XP_COPY_MAX];
	bool sums = xp_has_sums(sim.c, &p->req);
	struct xp_rot rot;
	enum xp_act act;
	u32 i;

	for (i = 0; i < p->req.nr_blocks; i++)	/* a backend may leave in there what was there */
		hash[i] = sums ? xp_checksum(p->copy + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE) : i;
	act = err ? xp_end(sim.c, &p->req, err, todo) : xp_checked(sim.c, &p->req, hash, &rot, todo);
	figures.rot_read += !err && rot.nr;
	if (act == XP_CHECK)
		check_begin(p);
	else if (act == XP_DONE && p->req.err)
		check_lost(p);
	else if (act == XP_DONE)
		memcpy(part_bytes(p), p->copy + p->req.copy.offset, p->req.nr_sectors * SECTOR);
	if (act != XP_CHECK)
		part_went_on(p, act, todo);
}

static void base_given_up(struct part *p, enum xp_act act, struct xp_todo *todo, bool fast)
{
	p->hit |= act == XP_DONE;
	if (fast && act == XP_DONE && !has_failed())
		check_lost(p);
	part_went_on(p, act, todo);
}

static void base_failed(struct part *p, int err, struct xp_todo *todo)
{
	bool fast = p->req.copy.base == XP_BASE_FAST;

	base_given_up(p, xp_base_failed(sim.c, &p->req, err, todo), todo, fast);
}

static void base_read(struct part *p, struct xp_todo *todo)
{
	enum xp_act act = XP_COPY;
	struct xp_rot rot = { .nr = 0 };

	if (p->req.copy.check)
		act = xp_base_checked(sim.c, &p->req, xp_checksum(p->copy, XP_BLOCK_SIZE), &rot, todo);
	figures.rot_based += !!rot.nr;
	if (act == XP_COPY)
		copy_merge(p, todo);
	else if (act == XP_CHECK)
		start_read(event_add(IO_BASE, p), &sim.fast, p->req.copy.from, XP_BLOCK_SECTORS, p->copy);
	else
		base_given_up(p, act, todo, true);
}

static void fill_write(const struct event *waited)
{
	struct event *e = event_add(IO_FILL, NULL);

	e->fill = waited->fill;
	start_write(e, &sim.fast, e->fill.target, e->fill.nr_blocks * XP_BLOCK_SECTORS,
		    waited->data, false);
}

static void dispatch(struct event *e, int err, struct xp_todo *todo)
{
	switch (e->kind) {
	case IO_PART:
	case IO_COPY:
		part_io_end(e->part, err, todo);
		break;
	case IO_OVERLAY:
		part_io_end(e->part, err ? -ENOMEM : 0, todo);
		break;
	case COPY_WAITS:
		copy_begin(e->part, todo);
		break;
	case OVERLAY_WAITS:
		overlay_read(e->part, e->index);
		break;
	case IO_BASE:
		if (err)
			base_failed(e->part, err, todo);
		else
			base_read(e->part, todo);
		break;
	case IO_CHECK:
		check_end(e->part, err, todo);
		break;
	case JOURNAL_WAITS:
		step.thread = ++sim.next_thread;
		journal_go(e->index);
		break;
	case IO_JOURNAL_FLUSH:
		journal_flushed(e, err, todo);
		break;
	case IO_JOURNAL:
		figures.failed_commits += !!err;
		xp_journal_end(sim.c, e->index, err, todo);
		break;
	case FILL_WAITS:
		fill_write(e);
		break;
	case IO_FILL:
		xp_fill_end(sim.c, &e->fill, err, todo);
		break;
	case IO_RUN_READ:
		if (err)
			writeback_run_end(e->run, err, todo);
		else
			writeback_run_read(e, todo);
		break;
	case IO_RUN_WRITE:
		writeback_run_end(e->run, err, todo);
		break;
	case IO_MARK_READ:
		mark_read(e, err, todo);
		break;
	case IO_MARK_WRITE:
		mark_written(err, todo);
		break;
	case IO_MARK_FLUSH:
		figures.marks += !err;
		xp_mark_end(sim.c, err, todo);
		break;
	case IO_BATCH_FLUSH:
		writeback_batch_end(err, todo);
		break;
	}
}

void backend_complete(u64 *rng)
{
	struct xp_todo todo;
	struct event e;
	int err;

	step.rng = rng;
	if (!event_next(&e, &err))
		return;
	step.thread = e.thread;
	xp_todo_init(&todo);
	dispatch(&e, err, &todo);
	backend_perform(&todo);
}

/* False: the clock stands, as nobody asked for a tick since the last one. */
bool backend_tick(u64 *rng)
{
	struct xp_todo todo;

	step.rng = rng;
	step.thread = ++sim.next_thread;
	if (!clock_runs)
		return false;
	clock_runs = false;
	xp_todo_init(&todo);
	xp_tick(sim.c, &todo);
	backend_perform(&todo);
	return true;
}
