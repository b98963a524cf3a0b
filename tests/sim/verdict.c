// SPDX-License-Identifier: GPL-2.0-only
/* verdict.c - what a run found, and its end when that is a broken promise. */
#include <stdarg.h>
#include "sim.h"

struct sim sim;
struct figures figures;
bool property_on[NR_PROPERTIES];

struct result verdict;
jmp_buf verdict_leave;

void all_properties_on(void)
{
	memset(property_on, true, sizeof(property_on));
}

void violation(enum property p, const char *fmt, ...)
{
	va_list args;

	if (!property_on[p]) {
		sim.overlooked = true;
		return;
	}
	verdict.failed = true;
	verdict.property = p;
	verdict.step = sim.step;
	va_start(args, fmt);
	vsnprintf(verdict.text, sizeof(verdict.text), fmt, args);
	va_end(args);
	if (sim.tracing)
		image_dump();
	run_abandon();
}

void run_abandon(void)
{
	longjmp(verdict_leave, 1);
}

void xp_assert_failed(const char *what, const char *file, int line)
{
	violation(P_HOST, "%s:%d: assertion %s", file, line, what);
	run_abandon();
}

void trace(const char *fmt, ...)
{
	va_list args;

	if (!sim.tracing)
		return;
	printf("  %4llu ", (unsigned long long)sim.step);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}
