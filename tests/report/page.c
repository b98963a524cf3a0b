// SPDX-License-Identifier: GPL-2.0-only
/* page RESULT.json [PAGE.html] - the page of a stored result, and nothing more of the tool. */
#include "lib/complain.h"
#include "lib/exit.h"
#include "tools/bench/bench_html.h"

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		return complain(XC_USAGE, NULL, "page RESULT.json [PAGE.html]", "which result?");
	return bench_html_from_file(argv[1], argv[2]);
}
