// SPDX-License-Identifier: GPL-2.0-only
/* test_chance.c - Student's t, against the tables. */
#include "tools/bench/bench.h"
#include "platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void as_in_the_tables(void **state)
{
	static const struct { u32 dof; double outside, t; } table[] = {
		{ 1, 0.05, 12.7062 }, { 2, 0.05, 4.3027 }, { 3, 0.05, 3.1824 }, { 4, 0.05, 2.7764 },
		{ 9, 0.05, 2.2622 }, { 10, 0.01, 3.1693 }, { 2, 0.001, 31.5991 }, { 29, 0.001, 3.6594 },
		{ 120, 0.05, 1.9799 }, { ~0u, 0.05, 1.962 }, { ~0u, 0.01, 2.581 },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_true(fabs(bench_chance_t(table[i].dof, table[i].outside) / table[i].t - 1) < 0.0002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_in_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
