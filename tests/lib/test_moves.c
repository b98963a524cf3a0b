// SPDX-License-Identifier: GPL-2.0-only
/* Which of several devices of one cache counts, whatever an interrupted move has left on them. */
#include "lib/caches.h"
#include "lib/figures.h"
#include "lib/moves.h"
#include "core/layout.h"
#include "core/message.h"
#include "core/superblock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define BLOCKS	8192u

enum says { SOUND, AWAY, COMING };

static struct cache v[4];
static struct caches all = { .v = v };

/* The next device: of the cache @uuid, by the move @number. */
static struct cache *device(enum says says, u8 uuid, u64 number)
{
	struct cache *c = &v[all.n++];
	struct xp_message msg;

	memset(c, 0, sizeof(*c));
	c->fast = (struct device){ .fd = -1, .is_block = true, .dev = 100 + all.n, .sectors = (u64)BLOCKS * XP_BLOCK_SECTORS };
	c->sb.slow.sectors = cpu_to_le64(800);
	assert_int_equal(xp_sb_layout(&c->sb, BLOCKS, &msg), 0);
	memset(c->sb.uuid, uuid, sizeof(c->sb.uuid));
	c->sb.move = cpu_to_le64(number);
	if (says != SOUND)
		c->sb.incompat |= cpu_to_le64(says == AWAY ? XP_INCOMPAT_AWAY : XP_INCOMPAT_COMING);
	xp_sb_seal(&c->sb);
	c->err = xp_sb_verify(&c->sb, BLOCKS, &c->message);
	assert_int_equal(c->err, says == SOUND ? 0 : -ENOTSUP);
	snprintf(c->uuid, sizeof(c->uuid), "%s", text_uuid(c->sb.uuid));
	return c;
}

static int begin(void **state)
{
	(void)state;
	all.n = 0;
	return 0;
}

static void assert_counts(const struct cache *c, const struct cache *left, bool coming)
{
	assert_int_equal(c->err, 0);
	assert_int_equal(c->left, left ? left->fast.dev : 0);
	assert_int_equal(c->coming, coming);
	assert_int_equal(le64_to_cpu(c->sb.incompat) & (XP_INCOMPAT_AWAY | XP_INCOMPAT_COMING), 0);
}

static void assert_refused(const struct cache *c, bool left_over)
{
	assert_true(cache_is_elsewhere(c));
	assert_int_equal(c->left_over, left_over);
	assert_int_equal(c->left, 0);
}

static void both_make_one(void **state)
{
	struct cache *here = device(AWAY, 1, 7), *there = device(COMING, 1, 7);

	(void)state;
	moves_pair(&all);
	assert_counts(there, here, true);
	assert_refused(here, true);
	assert_true(caches_have(&all, there->uuid, false));
}

static void in_any_order(void **state)
{
	struct cache *there = device(COMING, 1, 7), *here = device(AWAY, 1, 7);

	(void)state;
	moves_pair(&all);
	assert_counts(there, here, true);
}

static void one_alone_is_not_the_cache(void **state)
{
	(void)state;
	for (enum says says = AWAY; says <= COMING; says++) {
		struct cache *c;

		all.n = 0;
		c = device(says, 1, 7);
		moves_pair(&all);
		assert_refused(c, false);
		assert_false(caches_have(&all, c->uuid, true));
	}
}

static void what_has_not_left_counts(void **state)
{
	struct cache *here = device(SOUND, 1, 0), *there = device(COMING, 1, 7);

	(void)state;
	moves_pair(&all);
	assert_counts(here, NULL, false);
	assert_refused(there, true);
}

static void what_has_arrived_knows_what_it_left(void **state)
{
	struct cache *before = device(AWAY, 1, 5), *here = device(AWAY, 1, 7), *there = device(SOUND, 1, 7);

	(void)state;
	moves_pair(&all);
	assert_counts(there, here, false);
	assert_refused(here, true);
	assert_refused(before, true);
}

static void other_moves_are_others(void **state)
{
	struct cache *here = device(AWAY, 1, 7), *there = device(COMING, 1, 8), *other = device(COMING, 2, 7);

	(void)state;
	moves_pair(&all);
	assert_refused(here, false);
	assert_refused(there, false);
	assert_refused(other, false);
}

/* Then there are two that count, and nobody takes one of them by himself. */
static void a_copy_from_before_is_a_copy(void **state)
{
	struct cache *copy = device(SOUND, 1, 0), *here = device(AWAY, 1, 7), *there = device(COMING, 1, 7);

	(void)state;
	moves_pair(&all);
	assert_counts(there, here, true);
	assert_counts(copy, NULL, false);
}

static void what_would_not_verify_does_not_count(void **state)
{
	struct cache *here = device(AWAY, 1, 7), *there = device(COMING, 1, 7);

	(void)state;
	there->fast.sectors /= 2;
	moves_pair(&all);
	assert_refused(there, false);
	assert_refused(here, false);
}

#define T(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(both_make_one),
		T(in_any_order),
		T(one_alone_is_not_the_cache),
		T(what_has_not_left_counts),
		T(what_has_arrived_knows_what_it_left),
		T(other_moves_are_others),
		T(a_copy_from_before_is_a_copy),
		T(what_would_not_verify_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
