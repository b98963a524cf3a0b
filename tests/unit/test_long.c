// SPDX-License-Identifier: GPL-2.0-only
/* What is done of many blocks at once: records placed, slots freed. */
#include "fixture.h"
#include "journal.h"
#include "policy.h"
#include "slot.h"
#include "run.h"

static struct fixture f;
static bool refuses;

static int store(void *ctx, u64 at, const void *from, u32 bytes)
{
	(void)ctx;
	if (refuses)
		return -ENXIO;
	memcpy(f.fast + at, from, bytes);
	return 0;
}

static int setup(void **state)
{
	int err = fixture_setup(&f, 8192, 100000);

	*state = &f;
	return err;
}

static int setup_store(void **state)
{
	refuses = false;
	setup(state);
	f.opt.fast_at_once = true;
	f.opt.store = store;
	fixture_reopen(&f);
	return 0;
}

/* An evicted slot whose UNMAP could not be stored is out of the hash when the next block is there. */
static void evicted_and_moved_on(void **state)
{
	xp_slot_t slot;

	(void)state;
	write_blocks(&f, 5, 1, 1);
	flush(&f);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	flush(&f);
	slot = map_mapped(f.c, XP_LBA(5));
	assert_true(is_slot(slot) && !entry_of(f.c, slot)->dirty);
	assert_true(policy_unmap(f.c, slot, &f.todo));
	refuses = true;
	journal_commit(f.c, &f.todo);
	write_journal(&f);
	assert_int_equal(entry_of(f.c, slot)->state, SLOT_FREE);
	assert_false(map_holds(f.c, XP_LBA(5)));
}

static void block_takes_no_more_than_it_may(void **state)
{
	struct xp_req req;
	u32 i;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 256 * 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	for (i = 0; i < XP_WINDOW; i++)
		if (f.c->journal.window[i].state != BLOCK_IDLE)
			assert_true(f.c->journal.window[i].nr - f.c->journal.window[i].nr_relocated <= XP_NEW_MAX);
}

/* The journal is held up: the last place stays free of new records, and the write waits in its middle. */
static void last_place_is_left(void **state)
{
	static struct xp_req req[8];
	enum xp_act act = XP_DONE;
	u32 i;

	(void)state;
	for (i = 0; i < 8 && act == XP_DONE; i++) {
		assert_int_equal(submit(&f, &req[i], XP_WRITE, i * 256 * 8, 256 * 8, false), XP_FAST);
		act = xp_end(f.c, &req[i], 0, &f.todo);
	}
	assert_int_equal(act, XP_WAIT);
	assert_int_equal(f.c->journal.sealed - f.c->journal.written, XP_WINDOW - 1);
	assert_int_equal(journal_new(f.c), 0);
	/* that has opened it */
	assert_int_equal(submit(&f, &req[7], XP_WRITE, 9000 * 8, 16, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req[7], 0, &f.todo), XP_WAIT);
	assert_int_equal(journal_new(f.c), 0);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req[i - 1].link);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req[7].link);
}

/* A full block goes without the last record's tick; a long write behind a commit asks for one. */
static void a_long_write_asks_for_a_tick(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 900, 1, 1);
	journal_commit(f.c, &f.todo);
	write_journal(&f);
	write_blocks(&f, 900, 1, 1);
	xp_todo_init(&f.todo);
	journal_commit(f.c, &f.todo);
	write_journal(&f);
	write_blocks(&f, 901, 1, 1);
	journal_commit(f.c, &f.todo);
	write_journal(&f);
	journal_relocate_ahead(f.c);	/* the block is open, and rests */
	xp_todo_init(&f.todo);
	assert_int_equal(submit(&f, &req, XP_WRITE, 0, 16 * 8, false), XP_FAST);
	f.todo.tick = false;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_true(f.todo.tick);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_WITH(evicted_and_moved_on, setup_store, teardown_audited),
		TEST_WITH(block_takes_no_more_than_it_may, setup, teardown_audited),
		TEST_WITH(last_place_is_left, setup, teardown_audited),
		TEST_WITH(a_long_write_asks_for_a_tick, setup, teardown_audited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
