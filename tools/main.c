// SPDX-License-Identifier: GPL-2.0-only
/* xpcache - the command line. */
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/engine_choice.h"
#include "lib/process.h"
#include "lib/user.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <string.h>
#include <unistd.h>

/* Of a cache that this user's own xpcached runs, or is to run; or all of those. */
static bool is_own(const struct verb *v, const struct options *opt)
{
	bool user = false;

	if (opt->offline || (opt->arg && user_has(cache_plain_name(opt->arg))))
		return true;
	if (opt->fast)
		return !engine_choose(opt->engine, opt->ublk, opt->fast, opt->slow, &user) && user;
	return !opt->arg && (v->fn == list_run || v->fn == status_run || v->fn == top_run);
}

static enum xc run(const struct verb *v, struct options *opt)
{
	if (opt->help)
		return help_verb(v);
	if (v->needs == NEEDS_ROOT && geteuid() != 0 && !is_own(v, opt))
		return complain(XC_FAILED, v->name, "run it with sudo", "only root can do this");
	return v->fn(opt);
}

/* xpcache-bench is this command line, too, with the benchmark in it. */
static bool is_for_xpcache(const struct verb *v)
{
	return bench_alone && !(v->options & OPT_BENCH) && v->fn != help_run && v->fn != version_run &&
	       v->fn != completion_run;
}

static enum xc run_words(int argc, char **argv)
{
	const struct verb *v = verb_of(argv[0]);
	struct options opt;

	if (v && is_for_xpcache(v))
		return complain(XC_USAGE, v->name, text_todo("run xpcache %s", v->name), "this program only does bench");
	v = parse_words(argc, argv, &opt);
	return v ? run(v, &opt) : XC_USAGE;
}

int main(int argc, char **argv)
{
	process_begin();
	if (argc < 2) {
		help_all(stderr);
		return XC_USAGE;
	}
	return process_end(run_words(argc - 1, argv + 1));
}
