/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abort.h - what an assertion of the core does in a test program without the core's fixture: it says
 * which, and ends the program. Defined here, for the one source that includes it.
 */
#ifndef XP_TESTS_ABORT_H
#define XP_TESTS_ABORT_H

#include <stdio.h>
#include <stdlib.h>

#include "platform.h"

void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: assertion %s\n", file, line, what);
	abort();
}

#endif /* XP_TESTS_ABORT_H */
