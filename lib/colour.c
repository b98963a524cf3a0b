// SPDX-License-Identifier: GPL-2.0-only
/* Colours, where stdout is a terminal that has some. */
#include "lib/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *colour(const char *escape)
{
	static int wanted = -1;

	if (wanted < 0) {
		const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

		wanted = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
			 !(no && *no);
	}
	return wanted ? escape : "";
}

const char *colour_good(void) { return colour("\033[32m"); }
const char *colour_bad(void)  { return colour("\033[31m"); }
const char *colour_dim(void)  { return colour("\033[2m"); }
const char *colour_off(void)  { return colour("\033[0m"); }
