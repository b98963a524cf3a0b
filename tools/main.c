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
	OPT_CONVERT	= 1 << 29,
	OPT_BACK	= 1 << 30,
	OPT_SET		= 1 << 28,	/* those of OPT_LIMITS, as words: dirty-low=20 */
};

/* TUNABLE, CLASS: the core knows the rest. Of what an option does: verb_texts[] comes first. */
enum kind { FLAG, TEXT, TUNABLE, SECONDS, NUMBER, CLASS, SIZE };

static const struct option_row {
	const char *name, *value;	/* value: its name in the help */
	unsigned int bit;
	enum kind kind;
	size_t offset;
	const char *help;
} option_table[] = {
#define AT(member)	offsetof(struct options, member)
	{ "fast", "DEV", OPT_FAST, TEXT, AT(fast), "the fast device, which holds the cached data" },
	{ "fast-size", "SIZE", OPT_SIZE, SIZE, AT(fast_size),
	  "how much of the fast device the cache uses, from its start: 50G, for example (default: all of it)" },
	{ "slow", "DEV", OPT_SLOW, TEXT, AT(slow),
	  "the slow device, which holds the data that is cached" },
	{ "name", "NAME", OPT_NAME, TEXT, AT(name),
	  "the name of the cache, and of its device in /dev/mapper" },
	{ "dirty-low", "PERCENT", OPT_LIMITS, TUNABLE, AT(tunables.dirty_low),
	  "percent of the cache: writeback runs while more than this is dirty" },
	{ "dirty-high", "PERCENT", OPT_LIMITS, TUNABLE, AT(tunables.dirty_high),
	  "percent of the cache: writes are slowed down as dirty data gets close to this" },
	{ "idle-ms", "MS", OPT_LIMITS, TUNABLE, AT(tunables.idle_ms),
	  "write back all dirty blocks after this time without a request to the slow device; 0: never" },
	{ "histogram", "0|1", OPT_LIMITS, TUNABLE, AT(tunables.histogram),
	  "1: record how long requests take; 0: do not" },
	{ "stream-kib", "KIB", OPT_LIMITS, TUNABLE, AT(tunables.stream_kib),
	  "do not add to the cache what a program reads in one go, beyond this many KiB; 0: no single read of more than 256 KiB" },
	{ "writeback-delay", "SECONDS", OPT_LIMITS, TUNABLE, AT(tunables.writeback_delay),
	  "let the slow device sleep: dirty blocks wait for so long, unless a program has used it meanwhile; 0: for --idle-ms alone" },
	{ "mode", "writeback|writethrough|writearound", OPT_LIMITS, TUNABLE, AT(tunables.mode),
	  "when a write ends. writeback: the cache has it; writethrough: the slow device has it, too; writearound: the slow device has it, and the cache drops its copy" },
	{ "verify", "0|1", OPT_LIMITS, TUNABLE, AT(tunables.verify),
	  "1: keep a checksum of each cached block and compare it with what is read; 0: do not" },
	{ "engine", "kernel|user|auto", OPT_ENGINE, TEXT, AT(engine),
	  "the backend: kernel is the kernel's target; user is xpcached, which also takes files and remote disks; auto is user where the kernel's target cannot be used (default auto)" },
	{ "ublk", NULL, OPT_UBLK, FLAG, AT(ublk),
	  "also provide a block device, through xpcached and the kernel's ublk driver" },
	{ "offline", NULL, OPT_OFFLINE, FLAG, AT(offline),
	  "of a stopped cache: work from user space, without the kernel module" },
	{ "no-start", NULL, OPT_NO_START, FLAG, AT(no_start),
	  "write the metadata and do not start the cache; plain files are allowed" },
	{ "force", NULL, OPT_FORCE, FLAG, AT(force),
	  "accept a slow device that is an exact copy of the known one" },
	{ "discard-dirty", NULL, OPT_DISCARD, FLAG, AT(discard_dirty),
	  "if the slow device was written without the cache: give up the dirty blocks" },
	{ "prefer-cache", NULL, OPT_PREFER, FLAG, AT(prefer_cache),
	  "if the slow device was written without the cache: write back the dirty blocks all the same" },
	{ "accept-loss", NULL, OPT_ACCEPT, FLAG, AT(accept_loss),
	  "if journal blocks cannot be read: continue without the changes that they record" },
	{ "accept-older", NULL, OPT_ACCEPT, FLAG, AT(accept_older),
	  "if the newest version of a block cannot be read and was not yet durable: use the version before it" },
	{ "convert", NULL, OPT_CONVERT, FLAG, AT(convert),
	  "give a cache of an older version the format of this one; that version refuses it then" },
	{ "format", "N", OPT_BACK, TEXT, AT(format),
	  "1: an older version of xpcache can start the cache from now on; what is cached stays" },
	{ "rescue", NULL, OPT_RESCUE, FLAG, AT(rescue),
	  "with --offline: write back what can be read, and list the rest; the fast device is only read" },
	{ "hide", NULL, OPT_HIDE, FLAG, AT(hide),
	  "remove the partition devices, so that the whole device is free for use" },
	{ "all", NULL, OPT_ALL, FLAG, AT(all), "start all stopped caches" },
	{ "needed", NULL, OPT_NEEDED, FLAG, AT(needed),
	  "report each cache that still needs this program: it runs, has dirty blocks, is needed by the boot, or its fast device is missing; exit code 3 if there is one" },
	{ "boot", NULL, OPT_BOOT, FLAG, AT(boot),
	  "the caches that this machine starts at boot, as recorded in /etc/xpcache" },
	{ "wait", "SECONDS", OPT_WAIT, SECONDS, AT(wait),
	  "with --boot: wait at most this long for devices (default 30)" },
	{ "undo", NULL, OPT_ADOPT, FLAG, AT(undo),
	  "undo adopt: the system boots without the cache again" },
	{ "yes", NULL, OPT_ADOPT, FLAG, AT(yes), "do not ask for confirmation" },
	{ "begin", NULL, OPT_SLEEP, FLAG, AT(begin),
	  "before hibernation: write back all dirty blocks and detach the caches; their devices lead to the slow devices alone" },
	{ "end", NULL, OPT_SLEEP, FLAG, AT(end),
	  "after hibernation, or if it failed: reattach the caches; they are empty" },
	{ "resume", NULL, OPT_SLEEP, FLAG, AT(restore),
	  "at boot, before a cache starts: restore the memory image on DEV, if no cache has run since; without DEV: do nothing" },
	{ "data", NULL, OPT_DATA, FLAG, AT(data),
	  "also read every cached block, and compare each block that has a checksum with it" },
	{ "interval", "SECONDS", OPT_LIVE, SECONDS, AT(interval),
	  "show the requests of each interval, until Ctrl-C or q" },
	{ "count", "N", OPT_LIVE, NUMBER, AT(count), "end after N intervals" },
	{ "total", NULL, OPT_SHAPE, FLAG, AT(total),
	  "with --interval: show all requests since the start each time" },
	{ "class", "CLASS", OPT_SHAPE, CLASS, AT(class), "show one class only: read-hit, write, ..." },
	{ "csv", NULL, OPT_FORMAT, FLAG, AT(csv),
	  "print a line for each bin: from and to in ns, count, cumulative percent" },
	{ "hgrm", NULL, OPT_FORMAT, FLAG, AT(hgrm),
	  "print the percentile distribution in us, as HdrHistogram does" },
	{ "json", NULL, OPT_JSON, FLAG, AT(json), "print JSON, for programs" },
	{ "test", "NAME,...", OPT_BENCH, TEXT, AT(bench.test), "the tests to run (default headline)" },
	{ "quick", NULL, OPT_BENCH, FLAG, AT(bench.quick),
	  "take a twentieth of the time: for a trial, not for a comparison" },
	{ "seconds", "N", OPT_BENCH, TEXT, AT(bench.seconds), "the duration of each measured point" },
	{ "size", "BYTES", OPT_BENCH, TEXT, AT(bench.size),
	  "the size of a request, instead of the test's own" },
	{ "depth", "N", OPT_BENCH, TEXT, AT(bench.depth),
	  "the number of requests in flight for each thread" },
	{ "threads", "N", OPT_BENCH, TEXT, AT(bench.threads), "the number of threads" },
	{ "rate", "IOPS", OPT_BENCH, TEXT, AT(bench.rate),
	  "open loop: send this many requests a second, whether earlier ones have ended or not" },
	{ "range", "RANGE", OPT_BENCH, TEXT, AT(bench.range),
	  "measure only this part of the device: 10G, 1T+10G or 25%" },
	{ "engine", "io_uring|psync", OPT_BENCH, TEXT, AT(bench.engine),
	  "the interface that sends the requests (default: psync for one request at a time, else io_uring)" },
	{ "places", "workload|cached|device", OPT_BENCH, TEXT, AT(bench.places),
	  "of a cache: where the test headline reads. workload: as many reads hit as since the start of the cache; cached: cached blocks only; device: all over the cache (default workload)" },
	{ "buffered", NULL, OPT_BENCH, FLAG, AT(bench.buffered),
	  "send requests through the page cache" },
	{ "seed", "N", OPT_BENCH, TEXT, AT(bench.seed),
	  "read the places of an earlier result, which names its seed (default: new places in each run)" },
	{ "destructive", NULL, OPT_BENCH, FLAG, AT(bench.destructive),
	  "also write: the data on the device is lost; asks three times" },
	{ "precondition", NULL, OPT_BENCH, FLAG, AT(bench.precondition),
	  "with --destructive: first fill the device twice with 4K random writes" },
	{ "output", "FILE", OPT_BENCH, TEXT, AT(bench.output),
	  "write the result to FILE and show it in the terminal; also -o" },
	{ "html", "FILE", OPT_BENCH, TEXT, AT(bench.html), "also write a page with charts to FILE" },
	{ "resume", "FILE", OPT_BENCH, TEXT, AT(bench.resume),
	  "continue an interrupted run with its options; FILE is the .state file that it left" },
	{ "help", NULL, OPT_HELP, FLAG, AT(help), "show this help" },
#undef AT
};

#define NR_OPTIONS	(sizeof(option_table) / sizeof(*option_table))

#define NAME_HELP	"the name of the cache, and of its device in /dev/mapper (default: the first of xpcache0, xpcache1, ... that is free)"
#define LOST_FAST_HELP	"the fast device; the contents of the part that the cache uses are lost"
#define DISCARD_HELP	"with --force: overwrite another cache on the fast device even if it has dirty blocks, which are lost"

/* What an option does for one verb, where that is not what it does for the others; NULL: what all do together. */
static const struct verb_text {
	const char *verb, *option, *help;
} verb_texts[] = {
	{ "create", "fast", LOST_FAST_HELP },
	{ "create", "name", NAME_HELP },
	{ "create", "force",
	  "overwrite a fast device that holds data; make a cache that takes more than half of the memory" },
	{ "create", "discard-dirty", DISCARD_HELP },
	{ "set", "json", "list the options as JSON, for programs" },
	{ "set", NULL,
	  "The value default sets an option back. verify is for the next start. Without an option: lists what the cache has now, what its next start has, and the defaults." },
	{ "top", "interval", "show the requests of each interval, until Ctrl-C or q (default 2)" },
	{ "histogram", "count", "with --interval: end after N intervals" },
	{ "histogram", "hgrm",
	  "with --class: print the percentile distribution in us, as HdrHistogram does" },
	{ "flush", "fast-size",
	  "with --rescue, if neither superblock is usable: the part of the fast device that the cache uses" },
	{ "flush", "force",
	  "accept a slow device that is an exact copy of the known one; with --rescue also: use the journal alone if neither superblock is usable" },
	{ "flush", "boot",
	  "flush each running cache that this machine starts at boot: a boot loader reads its slow device alone" },
	{ "flush", "json", "with --rescue: print JSON, for programs" },
	{ "flush", NULL, "Options other than --boot are for a stopped cache, with --offline." },
	{ "stop", "force",
	  "stop the cache even if its journal cannot be written or its slow device cannot be flushed: the newest writes may be lost. A cache in use is not stopped" },
	{ "start", "slow", "the slow device, if none or several are found" },
	{ "start", "name", "run the cache under another name, until it is stopped" },
	{ "start", "engine",
	  "the backend: kernel is the kernel's target; user is xpcached, which also takes files and remote disks; auto is user where the kernel's target cannot be used (default auto; kernel for a cache that starts at boot)" },
	{ "start", "force",
	  "accept a slow device that is an exact copy of the known one; start a fast file without room for all its blocks; erase the memory image of a hibernation" },
	{ "start", NULL,
	  "Without --dirty-low, --dirty-high, --idle-ms, --histogram, --stream-kib, --writeback-delay, --mode and --verify, a cache runs with those that are recorded in /etc/xpcache. With one of them, none of the recorded ones is used in this run; without --mode the cache keeps the mode that it had last." },
	{ "resize", "fast-size",
	  "how much of the fast device the cache is to use, from its start: 50G, for example (default: all of it; for a cache with a --fast-size: no more than before)" },
	{ "resize", NULL, "All options are for a stopped cache." },
	{ "forget", "force",
	  "forget the cache even if dirty blocks are lost, or if nothing tells whether there are any" },
	{ "adopt", "fast", LOST_FAST_HELP },
	{ "adopt", "fast-size",
	  "how much of the fast device the cache uses, from its start: 50G, for example (default: all of it, or less if all of it takes a quarter of the memory)" },
	{ "adopt", "slow", "the disk to put behind the cache (default: the one that holds /)" },
	{ "adopt", "name", NAME_HELP },
	{ "adopt", "force",
	  "overwrite a fast device that holds data; go on if /boot has images that cannot be made again, and that must not be booted" },
	{ "adopt", "discard-dirty", DISCARD_HELP },
	{ "check", "slow",
	  "also check the slow device: its size, its identity, and whether dirty blocks reach past its end" },
	{ "bench", "force", "with --destructive: write even if there is no terminal to ask on" },
	{ "bench", NULL,
	  "bench diff compares two results, and takes --json. bench report makes the page of a result, and takes --output." },
};

static const struct xp_tunable *tunable_of(const struct option_row *o)
{
	const struct xp_tunable *row = xp_tunable_rows;

	while (offsetof(struct options, tunables) + row->offset != o->offset)
		row++;	/* there is one */
	return row;
}

/* --------------------------------------------------------------- verbs ---- */

enum arg { ARG_NONE, ARG_MAY, ARG_MUST, ARG_WORDS, ARG_ANY };	/* ARG_WORDS, ARG_ANY: as many as one likes, one at least or none */
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
	  "make a cache of two devices; the slow device keeps its data", NEEDS_NOTHING, ARG_NONE,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_NAME | OPT_ENGINE | OPT_UBLK | OPT_LIMITS | OPT_NO_START | OPT_FORCE |
	  OPT_DISCARD },
	{ "list", list_run, "[--needed] [--json]",
	  "list all caches, running and stopped", NEEDS_ROOT, ARG_NONE, OPT_NEEDED | OPT_JSON },
	{ "status", status_run, "[NAME] [--json]",
	  "show the state of running caches", NEEDS_ROOT, ARG_MAY, OPT_JSON },
	{ "set", set_run, "NAME [OPTION=VALUE...] [--json]",
	  "change options of a cache, now and for later starts, or list them", NEEDS_ROOT, ARG_WORDS,
	  OPT_SET | OPT_JSON },
	{ "histogram", histogram_run, "NAME [OPTION...]",
	  "show how long requests took", NEEDS_ROOT, ARG_MUST,
	  OPT_LIVE | OPT_SHAPE | OPT_FORMAT | OPT_JSON },
	{ "top", top_run, "[--interval SECONDS] [--count N] [--json]",
	  "watch all running caches at work", NEEDS_ROOT, ARG_NONE, OPT_LIVE | OPT_JSON },
	{ "flush", flush_run, "NAME | --boot | --offline --fast DEV --slow DEV [--rescue]",
	  "write all dirty blocks back to the slow device", NEEDS_ROOT, ARG_MAY,
	  OPT_BOOT | OPT_OFFLINE | OPT_FAST | OPT_SLOW | OPT_FORCE | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT |
	  OPT_RESCUE | OPT_SIZE | OPT_JSON },
	{ "stop", stop_run, "NAME | --boot [--force] [--format N]",
	  "stop a cache; dirty blocks stay on the fast device", NEEDS_ROOT, ARG_MAY, OPT_FORCE | OPT_BOOT | OPT_BACK },
	{ "start", start_run, "[NAME | --all | --boot] [OPTION...]",
	  "start a stopped cache again", NEEDS_ROOT, ARG_MAY,
	  OPT_FAST | OPT_SLOW | OPT_NAME | OPT_ENGINE | OPT_UBLK | OPT_ALL | OPT_LIMITS | OPT_FORCE |
	  OPT_DISCARD | OPT_PREFER | OPT_BOOT | OPT_WAIT | OPT_ACCEPT | OPT_CONVERT },
	{ "detach", detach_run, "NAME",
	  "write back all dirty blocks of a cache in use, and lead its device to the slow device alone; the fast device is free", NEEDS_ROOT, ARG_MUST, 0 },
	{ "attach", attach_run, "NAME",
	  "put a detached cache before its slow device again, while that is in use; it is empty", NEEDS_ROOT, ARG_MUST, 0 },
	{ "replace", replace_run, "NAME --fast DEV [OPTION...]",
	  "move a cache in use to another fast device; it is empty there", NEEDS_ROOT, ARG_MUST, OPT_FAST | OPT_SIZE | OPT_FORCE | OPT_DISCARD },
	{ "remove", remove_run, "NAME [--fast DEV] [--slow DEV]",
	  "write back all dirty blocks and end the cache; the slow device is a plain disk again", NEEDS_ROOT, ARG_MUST,
	  OPT_FAST | OPT_SLOW | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT },
	{ "resize", resize_run, "NAME [--fast DEV] [--fast-size SIZE] [--slow DEV]",
	  "use the new size of a device that has grown: the slow device of a running cache, or the fast device of a stopped one", NEEDS_ROOT, ARG_MAY,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_FORCE | OPT_DISCARD | OPT_PREFER | OPT_ACCEPT },
	{ "partitions", partitions_run, "NAME [--hide]",
	  "show the partitions as the partition table has them now, or hide them", NEEDS_ROOT, ARG_MUST, OPT_HIDE },
	{ "forget", forget_run, "NAME [--force]",
	  "release the slow device of a lost cache: other programs may use it again", NEEDS_ROOT, ARG_MUST, OPT_FORCE },
	{ "fence", fence_run, "DEV",
	  "for udev: if DEV is the slow device of a cache, keep other programs from it", NEEDS_ROOT, ARG_MUST, 0 },
	{ "hibernate", hibernate_run, "--begin | --end | --resume [DEV]",
	  "for the system's hibernation: detach all caches before it, reattach them after it", NEEDS_ROOT, ARG_MAY, OPT_SLEEP },
	{ "adopt", adopt_run, "--fast DEV [OPTION...] | --undo",
	  "put the disk that holds / behind a cache at the next boot", NEEDS_ROOT, ARG_NONE,
	  OPT_FAST | OPT_SIZE | OPT_SLOW | OPT_NAME | OPT_LIMITS | OPT_FORCE | OPT_DISCARD | OPT_ADOPT },
	{ "check", check_run, "FAST [--slow DEV] [--data] [--json]",
	  "verify a stopped cache; needs no kernel module, and writes nothing", NEEDS_NOTHING, ARG_MUST,
	  OPT_SLOW | OPT_DATA | OPT_JSON },
	{ "dump", dump_run, "FAST [--json]",
	  "print superblock, journal and all mappings", NEEDS_NOTHING, ARG_MUST, OPT_JSON },
	{ "bench", bench_verb_run, "NAME | DEV... | diff A B | report RESULT [OPTION...]",
	  "measure how long requests take, and how much of the wait a cache hides", NEEDS_NOTHING, ARG_ANY,
	  OPT_BENCH | OPT_FORMAT | OPT_JSON | OPT_FORCE },
	{ "help", help_run, "[VERB]", "show this help, or that of a verb", NEEDS_NOTHING, ARG_MAY, 0 },
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

#define HELP_COLUMNS	80
#define HELP_INDENT	25u	/* of what an option does */

/* From column @indent on, in as many lines as it takes; the first has @at columns already. */
static void put_words(FILE *f, size_t at, size_t indent, const char *text)
{
	for (size_t len; *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		if (at > indent && at + 1 + len > HELP_COLUMNS) {
			putc('\n', f);
			at = 0;
		}
		at += (size_t)fprintf(f, "%*s%.*s", at < indent ? (int)(indent - at) : at > 0, "", (int)len, text);
	}
	putc('\n', f);
}

/* @option: NULL, too; @other: where there is no text of its own. */
static const char *verb_text(const struct verb *v, const char *option, const char *other)
{
	for (size_t i = 0; i < sizeof(verb_texts) / sizeof(*verb_texts); i++) {
		const struct verb_text *t = &verb_texts[i];

		if (!strcmp(t->verb, v->name) && (option && t->option ? !strcmp(t->option, option) : option == t->option))
			return t->help;
	}
	return other;
}

static void help_option(const struct verb *v, const struct option_row *o)
{
	bool word = v->options & OPT_SET && o->bit == OPT_LIMITS;
	char name[64], text[256], initial[16];
	size_t len;

	len = (size_t)snprintf(name, sizeof(name), "  %s%s%s%s", word ? "" : "--", o->name, word ? "=" : o->value ? " " : "",
			       o->value ? o->value : "");
	snprintf(text, sizeof(text), "%s", o->kind == TUNABLE ? o->help : verb_text(v, o->name, o->help));
	if (o->kind == TUNABLE) {
		xp_tunable_text(tunable_of(o), tunable_of(o)->initial, initial, sizeof(initial));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (default %s)", initial);
	}
	fputs(name, stdout);
	if (len >= HELP_INDENT) {	/* it has a line of its own */
		putchar('\n');
		len = 0;
	}
	put_words(stdout, len, HELP_INDENT, text);
}

static void help_all(FILE *f)
{
	fprintf(f, "xpcache: a crash-consistent cache on a fast device, in front of a slow one\n\n");
	for (size_t i = 0; i < NR_VERBS; i++) {
		fprintf(f, "  xpcache %-10s %s\n", verbs[i].name, verbs[i].usage);
		put_words(f, 0, 22, verbs[i].description);
	}
	fprintf(f, "\nxpcache VERB --help lists the options of a verb. Exit codes: 0 done, 1 I/O or\n"
		   "system error, 2 wrong usage, 3 refused to protect data, 4 metadata damaged or\n"
		   "unknown, 5 no such cache or device, 6 bench diff found something slower,\n"
		   "130 interrupted. Manual: man xpcache\n");
}

static void help_options(const struct verb *v)
{
	const unsigned int options = v->options | (v->options & OPT_SET ? OPT_LIMITS : 0);
	const char *together = verb_text(v, NULL, "");

	printf("xpcache %s %s\n", v->name, v->usage);
	put_words(stdout, 0, 2, v->description);
	for (size_t i = 0; i < NR_OPTIONS; i++)
		if (options & option_table[i].bit)
			help_option(v, &option_table[i]);
	if (*together)
		put_words(stdout, 0, 0, together);
}

/* Of bench, whoever has its tests says all of it. */
static enum xc help_verb(const struct verb *v)
{
	if (v->options & OPT_BENCH)
		return bench_help(help_options, v);
	help_options(v);
	return XC_OK;
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
		return help_verb(v);
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
	const struct xp_tunable *t = tunable_of(row);
	char option[64], todo[64];
	struct xp_message msg;

	opt->tuned = true;
	opt->tuned_run |= !t->word;
	if (!xp_tunables_set(&opt->tunables, t->name, text, &msg))
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	snprintf(todo, sizeof(todo), "give another %s", row->value);
	return complain(XC_USAGE, option, t->word ? "give one of them" : todo, "%s", msg.text);
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
	enum xp_class class;

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
	if (v->fn == set_run)
		return set_check(opt);
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

/* Those that are no options. */
static enum xc check_left(const struct verb *v, char **words, int left)
{
	char usage[128];

	snprintf(usage, sizeof(usage), "xpcache %s %s", v->name, v->usage);
	if (left > (v->arg != ARG_NONE) && v->arg < ARG_WORDS)
		return complain(XC_USAGE, words[v->arg != ARG_NONE], usage, "one word too many");
	if ((v->arg == ARG_MUST || v->arg == ARG_WORDS) && !left)
		return complain(XC_USAGE, v->name, usage, "a name or a device is missing");
	if (left && !*words[0])
		return complain(XC_USAGE, v->name, usage, "the name is empty");
	return XC_OK;
}

static enum xc parse(const struct verb *v, int argc, char **argv, struct options *opt)
{
	enum xc ret = parse_options(v, argc, argv, opt);
	int left = argc - optind;

	if (ret || opt->help)
		return ret;
	opt->arg = left ? argv[optind] : NULL;
	opt->words = argv + optind;
	opt->nr_words = (unsigned int)left;
	opt->argc = argc;
	opt->argv = argv;
	return check_left(v, opt->words, left);
}

static bool words_are_right(int argc, char **argv, struct options *opt)
{
	return parse_words(argc, argv, opt);
}

static const struct verb *verb_of(const char *word)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return verb_find("help");
	return verb_find(strcmp(word, "--version") ? word : "version");
}

const struct verb *parse_words(int argc, char **argv, struct options *opt)
{
	const struct verb *v = verb_of(argv[0]);

	memset(opt, 0, sizeof(*opt));
	opt->parse = words_are_right;
	opt->class = -1;
	xp_tunables_init(&opt->tunables);
	if (!v)
		unknown_verb(argv[0]);
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
	if (opt->help)
		return help_verb(v);
	if (v->needs == NEEDS_ROOT && geteuid() != 0 && !is_own(v, opt))
		return complain(XC_FAILED, v->name, "run it with sudo", "only root can do this");
	return v->fn(opt);
}

/* xpcache-bench is this command line, too, with the benchmark in it. */
static bool is_for_xpcache(const struct verb *v)
{
	return bench_alone && !(v->options & OPT_BENCH) && v->fn != help_run && v->fn != version_run;
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
