// SPDX-License-Identifier: GPL-2.0-only
/*
 * xpcache - the command line. Verbs are one table, options another; help, the
 * parser and the manual page's test read them.
 */
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/engine_choice.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/latency/timing.h"
#include "lib/process.h"
#include "lib/user.h"
#include "lib/version.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/class.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------- options ---- */

enum {
	OPT_FAST	= 1 << 0,
	OPT_SLOW	= 1 << 1,
	OPT_NAME	= 1 << 2,
	OPT_FORCE	= 1 << 3,
	OPT_DISCARD	= 1 << 4,
	OPT_NO_START	= 1 << 5,
	OPT_ALL		= 1 << 6,
	OPT_JSON	= 1 << 7,
	OPT_LIMITS	= 1 << 8,
	OPT_DATA	= 1 << 9,
	OPT_HELP	= 1 << 10,
	OPT_LIVE	= 1 << 11,
	OPT_SHAPE	= 1 << 12,
	OPT_FORMAT	= 1 << 13,
	OPT_BENCH	= 1 << 14,
	OPT_ENGINE	= 1 << 15,
	OPT_OFFLINE	= 1 << 16,
	OPT_UBLK	= 1 << 17,
	OPT_PREFER	= 1 << 18,
	OPT_NEEDED	= 1 << 19,
	OPT_HIDE	= 1 << 20,
	OPT_BOOT	= 1 << 23,
	OPT_WAIT	= 1 << 21,
	OPT_ADOPT	= 1 << 22,
	OPT_SLEEP	= 1 << 24,
	OPT_ACCEPT	= 1 << 25,
	OPT_RESCUE	= 1 << 26,
	OPT_SIZE	= 1 << 27,
};

/* TUNABLE, CLASS: the core knows the rest. */
enum kind { FLAG, TEXT, TUNABLE, SECONDS, NUMBER, CLASS, SIZE };

static const struct option_row {
	const char *name, *value;	/* value: its name in the help */
	unsigned int bit;
	enum kind kind;
	size_t offset;
	const char *help;
} option_table[] = {
#define AT(member)	offsetof(struct options, member)
	{ "fast", "DEV", OPT_FAST, TEXT, AT(fast), "the fast device" },
	{ "fast-size", "SIZE", OPT_SIZE, SIZE, AT(fast_size), "so much of the fast device, from its begin on: 50G; all if nothing is said" },
	{ "slow", "DEV", OPT_SLOW, TEXT, AT(slow), "the slow device" },
	{ "name", "NAME", OPT_NAME, TEXT, AT(name), "name under /dev/mapper" },
	{ "dirty-low", "PERCENT", OPT_LIMITS, TUNABLE, AT(tunables.dirty_low),
	  "dirty blocks go home above this part of the cache" },
	{ "dirty-high", "PERCENT", OPT_LIMITS, TUNABLE, AT(tunables.dirty_high),
	  "writers are slowed down towards this part" },
	{ "idle-ms", "MS", OPT_LIMITS, TUNABLE, AT(tunables.idle_ms),
	  "all dirty blocks go home when idle so long; 0: never" },
	{ "histogram", "0|1", OPT_LIMITS, TUNABLE, AT(tunables.histogram),
	  "record how long requests take; 0: not" },
	{ "verify", "0|1", OPT_LIMITS, TUNABLE, AT(tunables.verify),
	  "keep a sum of each block, and compare what is read with it; 0: not" },
	{ "engine", "kernel|user|auto", OPT_ENGINE, TEXT, AT(engine),
	  "who runs it: the kernel's target, or xpcached, which takes files and remote disks too" },
	{ "ublk", NULL, OPT_UBLK, FLAG, AT(ublk),
	  "a block device as well, by xpcached and the kernel's ublk driver" },
	{ "offline", NULL, OPT_OFFLINE, FLAG, AT(offline),
	  "of a stopped cache, from user space: the kernel module is not needed" },
	{ "no-start", NULL, OPT_NO_START, FLAG, AT(no_start),
	  "write the metadata only; plain files will do" },
	{ "force", NULL, OPT_FORCE, FLAG, AT(force),
	  "go on where the complaint says that --force does" },
	{ "discard-dirty", NULL, OPT_DISCARD, FLAG, AT(discard_dirty),
	  "lose the dirty blocks: create --force, of the cache that was there; start, of a disk written without it" },
	{ "prefer-cache", NULL, OPT_PREFER, FLAG, AT(prefer_cache),
	  "of a disk written without the cache: bring the dirty blocks home all the same" },
	{ "accept-loss", NULL, OPT_ACCEPT, FLAG, AT(accept_loss),
	  "of a fast device whose journal cannot be read everywhere: go on without what was there" },
	{ "accept-older", NULL, OPT_ACCEPT, FLAG, AT(accept_older),
	  "of a block whose last write cannot be read: the version before it holds" },
	{ "rescue", NULL, OPT_RESCUE, FLAG, AT(rescue),
	  "with --offline: what can be read goes home, what cannot is listed; the fast device is only read" },
	{ "hide", NULL, OPT_HIDE, FLAG, AT(hide), "take them away: who wants the whole device finds it free" },
	{ "all", NULL, OPT_ALL, FLAG, AT(all), "all stopped caches" },
	{ "needed", NULL, OPT_NEEDED, FLAG, AT(needed),
	  "complain of each that needs this program still: it runs, or has dirty blocks; exit code 3" },
	{ "boot", NULL, OPT_BOOT, FLAG, AT(boot),
	  "those that this machine starts by itself, as /etc/xpcache says" },
	{ "wait", "SECONDS", OPT_WAIT, SECONDS, AT(wait), "with --boot: so long at most for their devices; 30 if nothing is said" },
	{ "undo", NULL, OPT_ADOPT, FLAG, AT(undo), "takes back what adopt has done" },
	{ "yes", NULL, OPT_ADOPT, FLAG, AT(yes), "do not ask" },
	{ "begin", NULL, OPT_SLEEP, FLAG, AT(begin),
	  "before it: every block goes home, and the caches' devices lead to their slow devices alone" },
	{ "end", NULL, OPT_SLEEP, FLAG, AT(end), "after it, or if it failed: the caches run again, with nothing in them" },
	{ "resume", NULL, OPT_SLEEP, FLAG, AT(restore),
	  "at boot, before a cache starts: restores the memory that is on DEV, if the caches have slept on" },
	{ "data", NULL, OPT_DATA, FLAG, AT(data),
	  "read every cached block too, and compare what has a checksum" },
	{ "interval", "SECONDS", OPT_LIVE, SECONDS, AT(interval),
	  "show what came in each, until Ctrl-C or q" },
	{ "count", "N", OPT_LIVE, NUMBER, AT(count), "end after so many looks" },
	{ "total", NULL, OPT_SHAPE, FLAG, AT(total),
	  "with --interval: all since the start, each time" },
	{ "class", "CLASS", OPT_SHAPE, CLASS, AT(class), "one class alone: read-hit, write, ..." },
	{ "csv", NULL, OPT_FORMAT, FLAG, AT(csv), "a line a bin: from, to, count, percent" },
	{ "hgrm", NULL, OPT_FORMAT, FLAG, AT(hgrm), "HdrHistogram's percentile distribution" },
	{ "json", NULL, OPT_JSON, FLAG, AT(json), "for programs" },
	{ "test", "NAME,...", OPT_BENCH, TEXT, AT(bench.test), "what to measure; headline if nothing is said" },
	{ "quick", NULL, OPT_BENCH, FLAG, AT(bench.quick),
	  "a twentieth of the time: to try it, not to compare" },
	{ "seconds", "N", OPT_BENCH, TEXT, AT(bench.seconds), "so long for each point" },
	{ "size", "BYTES", OPT_BENCH, TEXT, AT(bench.size), "of a request, instead of the test's own" },
	{ "depth", "N", OPT_BENCH, TEXT, AT(bench.depth), "requests under way, for each thread" },
	{ "threads", "N", OPT_BENCH, TEXT, AT(bench.threads), "that many" },
	{ "rate", "IOPS", OPT_BENCH, TEXT, AT(bench.rate),
	  "open loop: so many a second, whether the last have ended or not" },
	{ "range", "RANGE", OPT_BENCH, TEXT, AT(bench.range), "10G, 1T+10G or 25%: only there" },
	{ "engine", "io_uring|psync", OPT_BENCH, TEXT, AT(bench.engine), "by which call they are sent" },
	{ "places", "workload|cached|device", OPT_BENCH, TEXT, AT(bench.places),
	  "of a cache: where the headline reads" },
	{ "buffered", NULL, OPT_BENCH, FLAG, AT(bench.buffered), "through the page cache" },
	{ "seed", "N", OPT_BENCH, TEXT, AT(bench.seed), "another draw of places" },
	{ "destructive", NULL, OPT_BENCH, FLAG, AT(bench.destructive),
	  "write as well: what the device holds is lost; asks three times" },
	{ "precondition", NULL, OPT_BENCH, FLAG, AT(bench.precondition),
	  "with --destructive: fill it twice with 4K random writes first" },
	{ "output", "FILE", OPT_BENCH, TEXT, AT(bench.output),
	  "there, and the terminal shows the result; -o too" },
	{ "html", "FILE", OPT_BENCH, TEXT, AT(bench.html), "a page of it as well, with charts" },
	{ "resume", "FILE", OPT_BENCH, TEXT, AT(bench.resume), "go on where Ctrl-C ended it" },
	{ "help", NULL, OPT_HELP, FLAG, AT(help), "show this" },
#undef AT
};

#define NR_OPTIONS	(sizeof(option_table) / sizeof(*option_table))

static const struct xp_tunable *tunable_of(const struct option_row *o)
{
	const struct xp_tunable *row = xp_tunable_rows;

	while (offsetof(struct options, tunables) + row->offset != o->offset)
		row++;	/* there is one */
	return row;
}

/* --------------------------------------------------------------- verbs ---- */

enum arg { ARG_NONE, ARG_MAY, ARG_MUST, ARG_ANY };	/* ARG_ANY: as many as one likes */
enum needs { NEEDS_NOTHING, NEEDS_ROOT };

static enum xc help_run(struct options *opt);
static enum xc version_run(struct options *opt);

static const struct verb {
	const char *name;
	enum xc (*fn)(struct options *opt);
	const char *usage;
	const char *description;
	enum needs needs;	/* create asks for itself: --no-start does not */
	enum arg arg;
	unsigned int options;
} verbs[] = {
	{ "create", create_run, "--fast DEV --slow DEV [OPTION...]",
	  "make a cache of two devices; the slow one keeps what it holds", NEEDS_NOTHING, ARG_NONE,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_NAME | OPT_ENGINE | OPT_UBLK | OPT_LIMITS | OPT_NO_START | OPT_FORCE |
	  OPT_DISCARD },
	{ "list", list_run, "[--needed] [--json]",
	  "show all caches, running and stopped", NEEDS_ROOT, ARG_NONE, OPT_NEEDED | OPT_JSON },
	{ "status", status_run, "[NAME] [--json]",
	  "show what running caches do", NEEDS_ROOT, ARG_MAY, OPT_JSON },
	{ "histogram", histogram_run, "NAME [OPTION...]",
	  "show how long requests took", NEEDS_ROOT, ARG_MUST,
	  OPT_LIVE | OPT_SHAPE | OPT_FORMAT | OPT_JSON },
	{ "top", top_run, "[--interval SECONDS] [--count N] [--json]",
	  "watch all running caches at work", NEEDS_ROOT, ARG_NONE, OPT_LIVE | OPT_JSON },
	{ "flush", flush_run, "NAME | --boot | --offline --fast DEV --slow DEV [--rescue]",
	  "bring every dirty block home to the slow device", NEEDS_ROOT, ARG_MAY,
	  OPT_BOOT | OPT_OFFLINE | OPT_FAST | OPT_SLOW | OPT_FORCE | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT |
	  OPT_RESCUE | OPT_SIZE | OPT_JSON },
	{ "stop", stop_run, "NAME | --boot [--force]",
	  "stop a cache; dirty blocks stay on the fast device", NEEDS_ROOT, ARG_MAY, OPT_FORCE | OPT_BOOT },
	{ "start", start_run, "[NAME | --all | --boot] [OPTION...]",
	  "start a stopped cache again", NEEDS_ROOT, ARG_MAY,
	  OPT_FAST | OPT_SLOW | OPT_NAME | OPT_ENGINE | OPT_UBLK | OPT_ALL | OPT_LIMITS | OPT_FORCE |
	  OPT_DISCARD | OPT_PREFER | OPT_BOOT | OPT_WAIT | OPT_ACCEPT },
	{ "remove", remove_run, "NAME [--fast DEV] [--slow DEV]",
	  "flush, then end the cache; the slow device is a plain disk again", NEEDS_ROOT, ARG_MUST,
	  OPT_FAST | OPT_SLOW | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT },
	{ "resize", resize_run, "NAME [--fast DEV] [--fast-size SIZE] [--slow DEV]",
	  "a device has grown: the slow one of a cache that runs, or the fast one of a stopped cache", NEEDS_ROOT, ARG_MAY,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_FORCE | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT },
	{ "partitions", partitions_run, "NAME [--hide]",
	  "show the partitions as the table has them now, or hide them", NEEDS_ROOT, ARG_MUST, OPT_HIDE },
	{ "forget", forget_run, "NAME [--force]",
	  "no longer keep the slow device of a cache that is lost from others", NEEDS_ROOT, ARG_MUST, OPT_FORCE },
	{ "fence", fence_run, "DEV",
	  "for udev: is this the slow device of a cache? keeps it for that", NEEDS_ROOT, ARG_MUST, 0 },
	{ "hibernate", hibernate_run, "--begin | --end | --resume [DEV]",
	  "for the system's own hibernation: a machine that hibernates has no cache", NEEDS_ROOT, ARG_MAY, OPT_SLEEP },
	{ "adopt", adopt_run, "--fast DEV [OPTION...] | --undo",
	  "put the disk that / is on behind a cache, at the next boot", NEEDS_ROOT, ARG_NONE,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_NAME | OPT_LIMITS | OPT_FORCE | OPT_DISCARD | OPT_ADOPT },
	{ "check", check_run, "FAST [--slow DEV] [--data] [--json]",
	  "verify a stopped cache, without the kernel module; nothing is written", NEEDS_NOTHING, ARG_MUST,
	  OPT_SLOW | OPT_DATA | OPT_JSON },
	{ "dump", dump_run, "FAST [--json]",
	  "print superblock, journal and all mappings", NEEDS_NOTHING, ARG_MUST, OPT_JSON },
	{ "bench", bench_verb_run, "NAME | DEV... | diff A B | report RESULT [OPTION...]",
	  "measure how long requests take, and what a cache hides", NEEDS_NOTHING, ARG_ANY,
	  OPT_BENCH | OPT_FORMAT | OPT_JSON | OPT_FORCE },
	{ "help", help_run, "[VERB]", "show this, or more about a verb", NEEDS_NOTHING, ARG_MAY, 0 },
	{ "version", version_run, "", "show the version", NEEDS_NOTHING, ARG_NONE, 0 },
};

#define NR_VERBS	(sizeof(verbs) / sizeof(*verbs))

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < NR_VERBS; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* ---------------------------------------------------------------- help ---- */

static void help_all(FILE *f)
{
	fprintf(f, "xpcache: a crash-consistent cache on a fast device, before a slow one\n\n");
	for (size_t i = 0; i < NR_VERBS; i++)
		fprintf(f, "  xpcache %-10s %s\n  %20s%s\n", verbs[i].name, verbs[i].usage, "",
			verbs[i].description);
	fprintf(f, "\nxpcache VERB --help tells the options of a verb. Exit codes: 0 done, 1 I/O or\n"
		   "system error, 2 wrong usage, 3 refused to protect data, 4 metadata damaged or\n"
		   "unknown, 5 no such cache or device, 6 bench diff found something slower,\n"
		   "130 interrupted. Manual: man xpcache\n");
}

static void help_verb(const struct verb *v)
{
	printf("xpcache %s %s\n  %s\n", v->name, v->usage, v->description);
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		const struct option_row *o = &option_table[i];
		char name[64];

		if (!(v->options & o->bit))
			continue;
		snprintf(name, sizeof(name), "--%s%s%s", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		printf("  %-22s %s", name, o->help);
		if (o->kind == TUNABLE)
			printf(" (%u)", tunable_of(o)->initial);
		putchar('\n');
	}
	if (v->options & OPT_BENCH)
		bench_help();
}

static enum xc unknown_verb(const char *name)
{
	return complain(XC_USAGE, name, "xpcache help shows all", "no such verb");
}

static enum xc help_run(struct options *opt)
{
	const struct verb *v = opt->arg ? verb_find(opt->arg) : NULL;

	if (opt->arg && !v)
		return unknown_verb(opt->arg);
	if (v)
		help_verb(v);
	else
		help_all(stdout);
	return XC_OK;
}

static enum xc version_run(struct options *opt)
{
	(void)opt;
	printf("xpcache %s, format %u\n", XPCACHE_VERSION, XP_SB_VERSION);
	return XC_OK;
}

/* ------------------------------------------------------------- parsing ---- */

static enum xc set_tunable(struct options *opt, const struct option_row *row, const char *text)
{
	char option[64], todo[64];
	struct xp_message msg;

	opt->tuned = true;
	if (!xp_tunables_set(&opt->tunables, tunable_of(row)->name, text, &msg))
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	snprintf(todo, sizeof(todo), "give another %s", row->value);
	return complain(XC_USAGE, option, todo, "%s", msg.text);
}

static enum xc set_seconds(double *to, const struct option_row *row, const char *text)
{
	char *end, option[32];

	*to = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *to >= 0.1 && *to <= 86400)
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	return complain(XC_USAGE, option, "give another SECONDS",
			"it is 0.1 to 86400 seconds, not \"%s\"", text);
}

static enum xc set_number(u64 *to, const char *text)
{
	size_t len = strlen(text);

	*to = strspn(text, "0123456789") == len && len < 10 ? strtoull(text, NULL, 10) : 0;
	if (*to)
		return XC_OK;
	return complain(XC_USAGE, "--count", "give another N",
			"a count is a number from 1 to 999999999, not \"%s\"", text);
}

/* The least and the most are the devices': fast_size_blocks(). */
static enum xc set_size(u64 *to, const struct option_row *row, const char *text)
{
	char option[32];

	if (bytes_read(text, to) && *to && !(*to % XP_BLOCK_SIZE))
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	return complain(XC_USAGE, option, text_todo("--%s 50G, say: a multiple of 4K", row->name), "not a size: \"%.40s\"", text);
}

static enum xc set_class(int *to, const char *text)
{
	char all[256] = "one of";

	if (!timing_class(text, strlen(text), &class)) {
		*to = class;
		return XC_OK;
	}
	for (u32 i = 0; i < XP_CLASSES; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s", xp_class_name[i]);
	return complain(XC_USAGE, "--class", all, "there is no class \"%s\"", text);
}

static enum xc set_option(struct options *opt, const struct option_row *row, const char *text)
{
	void *to = (char *)opt + row->offset;

	switch (row->kind) {
	case TUNABLE:
		return set_tunable(opt, row, text);
	case SECONDS:
		return set_seconds(to, row, text);
	case NUMBER:
		return set_number(to, text);
	case CLASS:
		return set_class(to, text);
	case SIZE:
		return set_size(to, row, text);
	case FLAG:
		*(bool *)to = true;
		return XC_OK;
	case TEXT:
		*(const char **)to = text;
	}
	return XC_OK;
}

/* What contradicts what. */
static enum xc check_options(const struct verb *v, const struct options *opt)
{
	const char *const path[] = { opt->arg, opt->fast, opt->slow };
	struct xp_message msg;

	for (size_t i = 0; i < sizeof(path) / sizeof(*path); i++)
		if (path_check(path[i]))
			return XC_USAGE;
	if (v->fn == histogram_run)
		return histogram_check(opt);
	if (v->fn == hibernate_run)
		return hibernate_check(opt);
	if (opt->prefer_cache && opt->discard_dirty)
		return complain(XC_USAGE, "--prefer-cache", "give one", "--discard-dirty says the opposite");
	if (!xp_tunables_check(&opt->tunables, &msg))
		return XC_OK;
	return complain(XC_USAGE, "--dirty-low", "give a lower one, or a higher --dirty-high",
			"%s", msg.text);
}

/* The long options of one verb; val is the row of the table, beyond any character. */
enum { ROW = 256 };

static void long_options(const struct verb *v, struct option *out)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		const struct option_row *row = &option_table[i];

		if (row->bit != OPT_HELP && !(v->options & row->bit))
			continue;
		*out++ = (struct option){ row->name, row->kind == FLAG ? no_argument :
					  required_argument, NULL, ROW + i };
	}
	memset(out, 0, sizeof(*out));
}

/* In a word of several letters getopt stands before the word still. */
static enum xc wrong_option(const char *word, const char *todo)
{
	char letter[] = { '-', (char)optopt, '\0' };

	return complain(XC_USAGE, optopt && optopt < ROW ? letter : word, todo, "wrong option");
}

static enum xc parse_options(const struct verb *v, int argc, char **argv, struct options *opt)
{
	struct option longs[NR_OPTIONS + 1];
	enum xc ret = XC_OK;
	char todo[64];
	int c;

	long_options(v, longs);
	snprintf(todo, sizeof(todo), "xpcache %s --help shows all", v->name);
	opterr = 0;
	optind = 0;	/* begin anew */
	while (!ret && (c = getopt_long(argc, argv, v->options & OPT_BENCH ? ":ho:" : ":h", longs, NULL)) != -1) {
		if (c == 'h')
			opt->help = true;
		else if (c == 'o')
			opt->bench.output = optarg;
		else if (c == ':')
			ret = complain(XC_USAGE, argv[optind - 1], todo, "a value is missing");
		else if (c == '?')
			ret = wrong_option(argv[optind - 1], todo);
		else
			ret = set_option(opt, &option_table[c - ROW], optarg);
	}
	return ret;
}

static enum xc parse(const struct verb *v, int argc, char **argv, struct options *opt)
{
	enum xc ret = parse_options(v, argc, argv, opt);
	int left = argc - optind;
	char usage[128];

	if (ret || opt->help)
		return ret;
	snprintf(usage, sizeof(usage), "xpcache %s %s", v->name, v->usage);
	if (left > (v->arg != ARG_NONE) && v->arg != ARG_ANY)
		return complain(XC_USAGE, argv[optind + (v->arg != ARG_NONE)], usage,
				"one word too many");
	if (v->arg == ARG_MUST && !left)
		return complain(XC_USAGE, v->name, usage, "a name or a device is missing");
	opt->arg = left ? argv[optind] : NULL;
	opt->words = argv + optind;
	opt->nr_words = (unsigned int)left;
	opt->argc = argc;
	opt->argv = argv;
	if (opt->arg && !*opt->arg)
		return complain(XC_USAGE, v->name, usage, "the name is empty");
	return XC_OK;
}

static bool words_are_right(int argc, char **argv, struct options *opt)
{
	return parse_words(argc, argv, opt);
}

const struct verb *parse_words(int argc, char **argv, struct options *opt)
{
	const char *name = argv[0];
	const struct verb *v;

	memset(opt, 0, sizeof(*opt));
	opt->parse = words_are_right;
	opt->class = -1;
	xp_tunables_init(&opt->tunables);
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version"))
		name = "version";
	v = verb_find(name);
	if (!v)
		unknown_verb(name);
	else if (parse(v, argc, argv, opt) || (!opt->help && check_options(v, opt)))
		v = NULL;
	return v;
}

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
	if (opt->help) {
		help_verb(v);
		return XC_OK;
	}
	if (v->needs == NEEDS_ROOT && geteuid() != 0 && !is_own(v, opt))
		return complain(XC_FAILED, v->name, "run it with sudo", "only root can do this");
	return v->fn(opt);
}

int main(int argc, char **argv)
{
	const struct verb *v;
	struct options opt;

	process_begin();
	if (argc < 2) {
		help_all(stderr);
		return XC_USAGE;
	}
	v = parse_words(argc - 1, argv + 1, &opt);
	return process_end(v ? run(v, &opt) : XC_USAGE);
}
