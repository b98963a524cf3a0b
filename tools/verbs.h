/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.h - the verbs: commands.c has a table of them. */
#ifndef XP_TOOLS_VERBS_H
#define XP_TOOLS_VERBS_H

#include "lib/exit.h"

#include <stdbool.h>

struct options;

struct verb;
/* What the words after the program's name, one at least, ask for; looks at nothing
 * else. NULL: XC_USAGE, and said why. */
const struct verb *parse_words(int argc, char **argv, struct options *opt);
/* What contradicts what among the options of histogram; looks at nothing else. */
enum xc histogram_check(const struct options *opt);
/* The same of the words of set. */
enum xc set_check(const struct options *opt);
enum xc create_run(struct options *opt);
enum xc list_run(struct options *opt);
enum xc status_run(struct options *opt);
enum xc set_run(struct options *opt);
enum xc histogram_run(struct options *opt);
enum xc top_run(struct options *opt);
enum xc flush_run(struct options *opt);
enum xc stop_run(struct options *opt);
enum xc start_run(struct options *opt);
enum xc detach_run(struct options *opt);
enum xc attach_run(struct options *opt);
enum xc replace_run(struct options *opt);
enum xc remove_run(struct options *opt);
enum xc partitions_run(struct options *opt);
enum xc resize_run(struct options *opt);
enum xc check_run(struct options *opt);
enum xc dump_run(struct options *opt);
enum xc adopt_run(struct options *opt);
enum xc bench_verb_run(struct options *opt);
enum xc completion_run(struct options *opt);
enum xc help_run(struct options *opt);
enum xc version_run(struct options *opt);
/* True in xpcache-bench, which leaves the other verbs to xpcache. */
extern const bool bench_alone;
/* All of its help: what @options prints of @v, and its tests. */
enum xc bench_help(void (*options)(const struct verb *v), const struct verb *v);
/* The name of one of them, and what it measures; NULL past the last, and where bench_alone is false. */
const char *bench_test_name(unsigned int n, const char **what);

#endif
