// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits take no lock: readers beside writers, evictions and writeback, on a cache of
 * few slots. A pinned slot must stay its block's, byte for byte, until xp_end().
 * Whoever has the lock changes ranks, in the word that has the pins: each of these stays.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "fixture.h"
#include "map.h"
#include "ranks.h"
#include "run.h"
#include "../rank_audit.h"

#define READERS		3u
#define WRITERS		2u
#define LBAS		160u
#ifndef __SANITIZE_THREAD__
#define EVICTIONS	60000u	/* as many are looked for, however long that takes */
#define OWES		true
#define SLOT_WORD(p)	__atomic_load_n(p, __ATOMIC_RELAXED)
#else
#define EVICTIONS	12000u
#define OWES		false	/* its threads are slow, and may never meet so */
#define SLOT_WORD(p)	(*(p))	/* TSan tells if nothing but luck has kept writes away */
#endif
#define LOOKS		64u	/* at a pinned slot, in about the time that it takes to be used again */

static struct fixture f;
static u64 slow[LBAS][XP_BLOCK_SIZE / sizeof(u64)];
static atomic_bool over, all_over;
static atomic_ulong hits, quick, parts, owed, wrong, versions;

struct request {
	struct xp_req req;
	atomic_bool done;
};

static void perform(struct xp_todo *todo);

static u64 *slot_words(u64 target)
{
	return (u64 *)(f.fast + target * 512);
}

/* Each word of a block names it, and the version. */
static void fill(u64 *words, u64 lba)
{
	u64 tag = lba << 40 | atomic_fetch_add(&versions, 1);
	u32 i;

	for (i = 0; i < XP_BLOCK_SIZE / sizeof(u64); i += 32)
		__atomic_store_n(&words[i], tag, __ATOMIC_RELAXED);
}

static void look_at(const u64 *words, u64 lba)
{
	u64 first = SLOT_WORD(&words[0]);
	u32 i;

	for (i = 0; i < LOOKS; i++)
		if (SLOT_WORD(&words[i * 32 % (XP_BLOCK_SIZE / sizeof(u64))]) != first)
			break;
	if (i < LOOKS || first >> 40 != lba)
		atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&hits, 1);
}

static void fill_run(const struct xp_fill *run, struct xp_todo *todo)
{
	const u64 *from = slow[xp_lba_n(run->lba)];	/* the blocks follow one another there as well */
	u64 *slot = slot_words(run->target);
	u32 i;

	for (i = 0; i < run->nr_blocks * XP_BLOCK_SIZE / sizeof(u64); i += 32)
		__atomic_store_n(&slot[i], __atomic_load_n(&from[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	xp_fill_end(f.c, run, 0, todo);
}

static void fill_cache(struct request *r, struct xp_todo *todo)
{
	struct xp_fill run;

	while (xp_fill_run(f.c, &r->req.fill, &run))
		fill_run(&run, todo);
}

static void look_at_hit(const struct request *r)
{
	u32 i;

	for (i = 0; i < r->req.nr_blocks; i++)
		look_at(slot_words(r->req.target + i * XP_BLOCK_SECTORS),
			r->req.sector / XP_BLOCK_SECTORS + i);
	atomic_fetch_add(&parts, 1);
}

static void look_at_overlay(const struct request *r)
{
	const struct xp_overlay *o = r->req.overlay;
	u32 i, k;

	for (i = 0; i < o->nr_runs; i++)
		for (k = 0; k < o->run[i].nr_blocks && !o->run[i].zeros; k++)
			look_at(slot_words(xp_slot_sector(f.c, o->run[i].slot) + k * XP_BLOCK_SECTORS),
				r->req.sector / XP_BLOCK_SECTORS + o->at[o->run[i].first + k]);
}

static void send(struct request *r, struct xp_todo *todo)
{
	u64 lba = r->req.sector / XP_BLOCK_SECTORS;
	bool reads = r->req.op == XP_READ;
	enum xp_act act;

	r->req.fill.nr_blocks = 0;
	act = xp_submit(f.c, &r->req, todo);	/* XP_WAIT: by now it may be another's, and gone */
	if (act == XP_FAST && reads)
		look_at_hit(r);
	else if (act == XP_FAST)
		fill(slot_words(r->req.target), lba);
	else if (act == XP_SLOW && !reads)
		fill(slow[lba], lba);
	else if (act == XP_MIXED)
		look_at_overlay(r);
	if (act == XP_FAST || act == XP_SLOW || act == XP_SLOW_FILL || act == XP_MIXED) {
		act = xp_end(f.c, &r->req, 0, todo);	/* of a write, likewise */
		if (reads)
			fill_cache(r, todo);
	}
	if (act == XP_DONE)
		atomic_store(&r->done, true);
}

static void perform(struct xp_todo *todo)
{
	while (!xp_todo_empty(todo)) {
		struct xp_link *link;

		todo->work = todo->tick = false;
		while (todo->journal) {
			u32 i = (u32)__builtin_ctz(todo->journal);
			struct xp_journal_io io;

			todo->journal &= ~(1u << i);
			xp_journal_io(f.c, i, &io);
			xp_journal_end(f.c, i, 0, todo);
		}
		while ((link = xp_list_pop(&todo->done)))
			atomic_store(&container_of(link, struct request, req.link)->done, true);
		while ((link = xp_list_pop(&todo->ready)))
			send(container_of(link, struct request, req.link), todo);
	}
}

static void pay(struct request *r, bool owes, struct xp_todo *todo)
{
	if (!owes)
		return;
	xp_hit_free(f.c, &r->req, todo);
	atomic_fetch_add(&owed, 1);
}

/* As a backend in a hurry does it. */
static bool quick_read(struct request *r, struct xp_todo *todo)
{
	u32 hit = xp_hit(f.c, &r->req);

	pay(r, hit & XP_HIT_OWES, todo);
	if (!(hit & XP_HIT))
		return false;
	look_at_hit(r);
	atomic_fetch_add(&quick, r->req.nr_blocks);
	if (xp_hit_end(f.c, &r->req))
		xp_hit_free(f.c, &r->req, todo);
	return true;
}

/* Of @nr blocks; only what the first answer is about. */
static void request(enum xp_op op, u64 lba, u32 nr)
{
	struct request r = { .done = false };
	struct xp_todo todo;

	xp_todo_init(&todo);
	r.req.op = (u8)op;
	r.req.sector = lba * XP_BLOCK_SECTORS;
	r.req.nr_sectors = nr * XP_BLOCK_SECTORS;
	if (op == XP_READ && quick_read(&r, &todo))
		atomic_store(&r.done, true);
	else
		send(&r, &todo);
	perform(&todo);
	while (!atomic_load(&r.done)) {
		xp_tick(f.c, &todo);
		perform(&todo);
	}
}

static void *user(void *op)
{
	u64 n = (uintptr_t)&n;

	while (!atomic_load(&over)) {
		n = n * 6364136223846793005ull + 1442695040888963407ull;
		if (op)
			request(XP_WRITE, (n >> 33) % LBAS, 1);
		else
			request(XP_READ, (n >> 33) % (LBAS - 3), 1 + (n >> 60) % 4);
	}
	return NULL;
}

static void bring_home(struct xp_run *run)
{
	u32 i, k;

	for (i = 0; i < run->nr_blocks; i++)
		for (k = 0; k < XP_BLOCK_SIZE / sizeof(u64); k += 32)
			__atomic_store_n(&slow[xp_lba_n(run->lba) + i][k],
					 SLOT_WORD(&slot_words(xp_slot_sector(f.c, run->slot[i]))[k]),
					 __ATOMIC_RELAXED);
	run->err = 0;
	xp_writeback_end(f.c, run, &f.todo);
}

static void *writeback_thread(void *run)
{
	struct xp_todo todo;
	enum xp_next next;

	xp_todo_init(&todo);
	while (!atomic_load(&all_over)) {	/* writers may wait for it to the last */
		if (!xp_writeback_wanted(f.c) || !xp_writeback_begin(f.c, &todo)) {
			perform(&todo);
			continue;
		}
		perform(&todo);
		while ((next = xp_writeback_next(f.c, run)) != XP_NEXT_END)
			if (next == XP_NEXT_RUN)
				bring_home(run);
		xp_writeback_commit(f.c, 0, 0, &todo);
		perform(&todo);
	}
	return NULL;
}

/* More often than the policy does it: up by a hit, and down again by its hands. */
static void *rank_thread(void *unused)
{
	u64 n = (uintptr_t)&n;

	while (!atomic_load(&over)) {
		struct xp_entry *e;
		u32 steps = 2;

		n = n * 6364136223846793005ull + 1442695040888963407ull;
		e = &f.c->entry[(n >> 33) % f.c->nr_slots];
		xp_lock(&f.c->lock);
		if (e->state == SLOT_MAPPED)
			ranks_hit(e);
		ranks_victim(f.c, &steps);
		xp_unlock(&f.c->lock);
	}
	return unused;
}

static void nothing_is_pinned(void)
{
	u32 i;

	for (i = 0; i < f.c->nr_slots; i++)
		assert_int_equal(entry_pins(&f.c->entry[i]), 0);
}

static void wait_for_evictions(void)
{
	struct xp_stats s;

	do {
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		xp_get_stats(f.c, &s);
	} while (s.evicted < EVICTIONS);
}

static void a_pinned_slot_stays_its_blocks(void **state)
{
	pthread_t thread[READERS + WRITERS + 1], ranks;
	static struct xp_run run;
	struct xp_stats s;
	u32 i;

	(void)state;
	for (i = 0; i < LBAS; i++)
		fill(slow[i], i);
	xp_write_back_all(f.c, true);
	pthread_create(&thread[0], NULL, writeback_thread, &run);
	for (i = 1; i < READERS + WRITERS + 1; i++)
		pthread_create(&thread[i], NULL, user, i > READERS ? &f : NULL);
	pthread_create(&ranks, NULL, rank_thread, NULL);
	wait_for_evictions();
	atomic_store(&over, true);
	pthread_join(ranks, NULL);
	for (i = 1; i < READERS + WRITERS + 1; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&all_over, true);
	pthread_join(thread[0], NULL);
	/* To the slow device as well, if a write has gone around the cache behind the last batch. */
	request(XP_FLUSH, 0, 0);
	xp_get_stats(f.c, &s);
	print_message("%lu blocks read in %lu hits, %llu counted, %lu slots owed, %llu evicted\n",
		      atomic_load(&hits), atomic_load(&parts), (unsigned long long)s.read_blocks_fast + atomic_load(&quick),
		      atomic_load(&owed), (unsigned long long)s.evicted);
	/* Every slot that its last reader left behind has been found. */
	assert_int_equal(s.free + s.dirty + s.clean, s.slots);
	nothing_is_pinned();
	assert_null(rank_audit(f.c));
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(atomic_load(&hits), atomic_load(&quick) + s.read_blocks_fast);
	assert_true(atomic_load(&hits) > atomic_load(&parts));
	assert_true(atomic_load(&owed) > 0 || !OWES);
}

/* Longer than the way that is walked without the lock. */
static void the_last_of_a_long_chain_is_read(void **state)
{
	u64 lba, found[48];
	struct xp_req r;
	u32 n = 0, i;

	(void)state;
	for (lba = 0; n < 48; lba++)
		if (map_bucket(f.c, XP_LBA(lba)) == 5)
			found[n++] = lba;
	for (i = 0; i < n; i++)
		write_blocks(&f, found[i], 1, 'a');
	for (i = 0; i < n; i++) {
		assert_int_equal(submit(&f, &r, XP_READ, found[i] * 8, 8, false), XP_FAST);
		assert_int_equal(xp_end(f.c, &r, 0, &f.todo), XP_DONE);
	}
}

/* Every slot is read, and clean by now: there is none for the write until they end. */
static struct xp_req *a_write_that_waits(struct xp_req *read)
{
	static struct xp_req w;
	u32 i;

	for (i = 0; i < 64; i++)
		write_blocks(&f, i, 1, 'a');
	flush(&f);
	for (i = 0; i < 64; i++)
		assert_int_equal(submit(&f, &read[i], XP_READ, i * 8, 8, false), XP_FAST);
	f.todo.tick = false;
	assert_int_equal(submit(&f, &w, XP_WRITE, 5 * 8, 8, false), XP_WAIT);
	assert_true(f.todo.tick);
	writeback_batch(&f, 0);
	assert_true(xp_list_empty(&f.todo.ready));
	return &w;
}

static void the_end_of_hits_makes_room(void **state)
{
	struct xp_req read[64], *w = a_write_that_waits(read);
	u32 i;

	(void)state;
	for (i = 0; i < 64; i++) {
		xp_end(f.c, &read[i], 0, &f.todo);
		write_journal(&f);
	}
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &w->link);
}

/* A hit that ends in the moment in which the write begins to wait does not see it. */
static void a_tick_makes_room(void **state)
{
	struct xp_req read[64], *w = a_write_that_waits(read);
	struct xp_link *head = f.c->space.head;
	u32 i;

	(void)state;
	f.todo.tick = false;
	xp_tick(f.c, &f.todo);
	assert_true(f.todo.tick && xp_list_empty(&f.todo.ready));
	f.c->space.head = NULL;
	for (i = 0; i < 64; i++)
		xp_end(f.c, &read[i], 0, &f.todo);
	f.c->space.head = head;
	for (i = 0; i < 4 && f.todo.tick; i++) {
		f.todo.tick = false;
		xp_tick(f.c, &f.todo);
		write_journal(&f);
	}
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &w->link);
}

static int setup(void **state)
{
	return fixture_setup(*state, 2 * XP_DATA_ALIGN + 64, LBAS);
}

static int setup_long(void **state)
{
	return fixture_setup(*state, 2 * XP_DATA_ALIGN + 64, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_pinned_slot_stays_its_blocks),
		TEST_WITH(the_last_of_a_long_chain_is_read, setup_long, teardown),
		T(the_end_of_hits_makes_room),
		T(a_tick_makes_room),
	};

	return cmocka_run_group_tests_name("hit", tests, NULL, NULL);
}
