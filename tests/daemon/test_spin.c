// SPDX-License-Identifier: GPL-2.0-only
/* How often a loop stays awake, by what came of it before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/spin.h"
#include "platform.h"

/* Of so many waits, each met while it spins or not: those that spun. */
static u32 spins(struct xd_spin *s, u32 waits, bool met)
{
	u32 n = 0;

	while (waits--) {
		if (!xd_spin_due(s))
			continue;
		n++;
		xd_spin_ended(s, met);
	}
	return n;
}

static void who_is_met_always_spins(void **state)
{
	struct xd_spin s = { 0 };

	(void)state;
	assert_int_equal(spins(&s, 5000, true), 5000);
}

static void who_waits_in_vain_hardly_ever_does(void **state)
{
	struct xd_spin s = { 0 };

	(void)state;
	assert_int_equal(spins(&s, 1 + 1 + 1 + 3 + 1, false), 3);	/* and 1, 3 rests between */
	spins(&s, 4096, false);
	assert_int_equal(spins(&s, 1024 * 100, false), 100);
}

/* A client comes back to a daemon that was idle: after a thousand requests at most it is met. */
static void a_met_spin_forgets_those_in_vain(void **state)
{
	struct xd_spin s = { 0 };

	(void)state;
	spins(&s, 100000, false);
	spins(&s, 1023, true);
	assert_int_equal(spins(&s, 1000, true), 1000);
	assert_int_equal(spins(&s, 2, false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_met_always_spins),
		cmocka_unit_test(who_waits_in_vain_hardly_ever_does),
		cmocka_unit_test(a_met_spin_forgets_those_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
