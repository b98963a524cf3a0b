// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn it is to flush, whatever the order in which a device's answers come: device_op.c before a
 * device whose operations end when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/device.h"
#include "daemon/engine.h"
#include "platform.h"

#define MAX	16

static struct xd_op *under_way[MAX];	/* asked of the device, the oldest first */
static u32 nr_under_way;
static struct xd_loop loop;
static struct xd_device dev;
static struct answer { struct xd_op op; bool ended; int err; } answers[MAX];
static u32 nr_answers;

static void submitted(struct xd_op *op)
{
	assert_true(nr_under_way < MAX);
	under_way[nr_under_way++] = op;
}

static const struct xd_device_ops ops = { .submit = submitted };

/* A flush's turn has come: at once. */
void xd_loop_call(struct xd_loop *l, struct xd_call *call)
{
	assert_ptr_equal(l, &loop);
	call->fn(call);
}

static int setup(void **state)
{
	(void)state;
	dev = (struct xd_device){ .ops = &ops, .slow = true, .volatile_cache = true,
				  .lock = PTHREAD_MUTEX_INITIALIZER };
	dev.flushes_tail = &dev.flushes;
	nr_under_way = nr_answers = 0;
	return 0;
}

static void ended(struct xd_op *op, int err)
{
	struct answer *a = container_of(op, struct answer, op);

	assert_false(a->ended);
	a->ended = true;
	a->err = err;
}

static struct answer *submit(struct xd_op op)
{
	struct answer *a = &answers[nr_answers++];

	assert_true(nr_answers <= MAX);
	*a = (struct answer){ .op = op };
	a->op.end = ended;
	xd_device_submit(&dev, &loop, &a->op);
	return a;
}

static struct answer *begin_write(bool fua)
{
	return submit((struct xd_op){ .kind = XD_WRITE, .fua = fua });
}

static struct answer *begin_flush(void)
{
	return submit((struct xd_op){ .kind = XD_FLUSH });
}

/* The device's answer. */
static void answer(struct answer *a, int err)
{
	for (u32 i = 0; i < nr_under_way; i++)
		if (under_way[i] == &a->op) {
			under_way[i] = under_way[--nr_under_way];
			xd_op_end(&a->op, err);
			return;
		}
	fail_msg("it was not asked of the device");
}

/* What a flush says whose own answer is good. */
static int flush_now(void)
{
	struct answer *a = begin_flush();

	answer(a, 0);
	assert_true(a->ended);
	return a->err;
}

/* ---------------------------------------------------------------- flushes ---- */

static void one_flush_at_a_time(void **state)
{
	struct answer *first, *second;

	(void)state;
	first = begin_flush();
	second = begin_flush();
	assert_int_equal(nr_under_way, 1);
	answer(first, -EIO);
	assert_int_equal(nr_under_way, 1);
	answer(second, 0);
	assert_int_equal(first->err, -EIO);
	assert_int_equal(second->err, 0);
	assert_int_equal(flush_now(), 0);
}

static u32 asked;

static void asks(struct xd_op *op, int err)
{
	assert_int_equal(asked, 1);
	ended(op, err);
}

static void counts(struct xd_op *op)
{
	asked++;
	submitted(op);
}

/* What its end means is known by then. */
static void the_next_begins_when_the_end_of_one_was_heard(void **state)
{
	static const struct xd_device_ops counting = { .submit = counts };
	struct answer *first, *second;

	(void)state;
	dev.ops = &counting;
	asked = 0;
	first = begin_flush();
	second = begin_flush();
	first->op.end = asks;
	answer(first, 0);
	assert_int_equal(asked, 2);
	answer(second, 0);
}

/* --------------------------------------------------------- durable writes ---- */

/* It could take the error that another is to hear. */
static void a_durable_write_is_a_write_and_a_flush_in_its_turn(void **state)
{
	struct answer *flush, *fua;

	(void)state;
	flush = begin_flush();
	fua = begin_write(true);
	assert_int_equal(nr_under_way, 2);
	answer(fua, 0);
	assert_false(fua->ended);
	assert_int_equal(nr_under_way, 1);
	answer(flush, 0);
	assert_int_equal(fua->op.kind, XD_FLUSH);
	answer(fua, -EIO);
	assert_int_equal(fua->err, -EIO);
	assert_int_equal(flush->err, 0);
}

static void without_a_volatile_cache_it_is_a_write(void **state)
{
	struct answer *fua;

	(void)state;
	dev.volatile_cache = false;
	fua = begin_write(true);
	answer(fua, 0);
	assert_true(fua->ended && !fua->err);
}

/* ------------------------------------------------------------ the fast one ---- */

static struct answer *begin_journal(void)
{
	return submit((struct xd_op){ .kind = XD_WRITE, .fua = true, .preflush = true });
}

static void fast_device(bool fua)
{
	dev.slow = false;
	dev.fua = fua;
}

/* A device that knows no FUA: data that is written beside a journal block has its sync in turn. */
static void a_journal_block_has_a_flush_before_and_one_behind(void **state)
{
	struct answer *data, *journal;

	(void)state;
	fast_device(false);
	data = begin_write(true);
	journal = begin_journal();
	assert_int_equal(journal->op.kind, XD_FLUSH);
	answer(data, 0);
	assert_int_equal(nr_under_way, 1);
	answer(journal, 0);
	assert_int_equal(journal->op.kind, XD_WRITE);
	assert_int_equal(data->op.kind, XD_FLUSH);
	answer(journal, 0);
	assert_int_equal(nr_under_way, 1);
	answer(data, 0);
	assert_true(data->ended && !data->err && !journal->ended);
	answer(journal, 0);
	assert_true(journal->ended && !journal->err);
}

static void one_that_knows_fua_is_asked_for_it(void **state)
{
	struct answer *journal;

	(void)state;
	fast_device(true);
	journal = begin_journal();
	answer(journal, 0);
	assert_false(journal->ended);
	answer(journal, 0);
	assert_true(journal->ended && !journal->err);
}

/* And the journal goes on. */
static void a_write_that_failed_is_no_sync_that_failed(void **state)
{
	struct answer *data, *journal;

	(void)state;
	for (u32 fua = 0; fua < 2; fua++) {
		fast_device(fua);
		data = begin_write(true);
		journal = begin_journal();
		answer(data, -EIO);
		assert_true(data->ended && data->err == -EIO);
		while (!journal->ended)
			answer(journal, 0);
		assert_int_equal(journal->err, 0);
	}
}

/* No journal block is believed any more, whenever it was begun; plain writes say nothing. */
static void a_sync_that_failed_is_the_end(void **state)
{
	struct answer *data, *journal;

	(void)state;
	fast_device(false);
	data = begin_write(true);
	journal = begin_journal();
	answer(journal, 0);
	answer(data, 0);
	answer(data, -EIO);
	assert_int_equal(data->err, -EIO);
	for (u32 i = 0; i < 2; i++) {
		while (!journal->ended)
			answer(journal, 0);
		assert_int_equal(journal->err, -EIO);
		journal = begin_journal();
	}
	data = begin_write(false);
	answer(data, 0);
	assert_int_equal(data->err, 0);
}

static void count(void *owner)
{
	++*(u32 *)owner;
}

/* What the core has sent by itself for a client is the core's to tell. */
static void its_owner_hears_of_a_loss_at_once(void **state)
{
	u32 losses = 0;

	(void)state;
	dev.owner = &losses;
	dev.on_loss = count;
	assert_int_equal(losses, 0);
	xd_device_lost(&dev);
	assert_int_equal(losses, 1);
}

int main(void)
{
#define T(name)	cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		T(its_owner_hears_of_a_loss_at_once),
		T(one_flush_at_a_time),
		T(the_next_begins_when_the_end_of_one_was_heard),
		T(a_durable_write_is_a_write_and_a_flush_in_its_turn),
		T(without_a_volatile_cache_it_is_a_write),
		T(a_journal_block_has_a_flush_before_and_one_behind),
		T(one_that_knows_fua_is_asked_for_it),
		T(a_write_that_failed_is_no_sync_that_failed),
		T(a_sync_that_failed_is_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
