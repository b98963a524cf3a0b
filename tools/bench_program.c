// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_program.c - the verb bench, in xpcache: xpcache-bench does it.
 *
 * That is this command line with the benchmark itself (tools/bench) in place of this file: both read words alike, and
 * that one does no other verb. What the benchmark needs, code, charts and libraries, xpcache does without: udev runs
 * it for each disk.
 */
#include "lib/program.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <stddef.h>

#define PROGRAM	"xpcache-bench"

const bool bench_alone = false;

enum xc bench_verb_run(struct options *opt)
{
	return program_run(PROGRAM, opt->argc, opt->argv);
}

enum xc bench_help(void (*options)(const struct verb *), const struct verb *v)
{
	char help[] = "help", bench[] = "bench", *words[] = { help, bench };

	(void)options;
	(void)v;
	return program_run(PROGRAM, 2, words);
}

const char *bench_test_name(unsigned int n, const char **what)
{
	(void)n;
	*what = "";
	return NULL;
}
