// SPDX-License-Identifier: GPL-2.0-only
/* xpcached-watch - the verb watch of xpcached, which runs it: daemon/main.c. */
#include "daemon/watch/watch.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/process.h"

#include <string.h>

int main(int argc, char **argv)
{
	process_begin();
	if (argc < 2 || strcmp(argv[1], "watch"))
		return process_end(complain(XC_USAGE, "xpcached-watch", "xpcached watch runs it", "not to be run by itself"));
	return process_end(watch_run(argc - 1, argv + 1));
}
