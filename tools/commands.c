// SPDX-License-Identifier: GPL-2.0-only
/* The verbs, and their options. */
#include "boot/fence.h"
#include "tools/commands.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"

#include <string.h>

#define SIZE_OF(table)	(sizeof(table) / sizeof(*(table)))

/* ------------------------------------------------------------- options ---- */

const struct option_row option_table[] = {
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

const size_t nr_options = SIZE_OF(option_table);

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

const struct xp_tunable *option_tunable(const struct option_row *row)
{
	const struct xp_tunable *t = xp_tunable_rows;

	while (offsetof(struct options, tunables) + t->offset != row->offset)
		t++;	/* there is one */
	return t;
}

const char *verb_text(const struct verb *v, const char *option, const char *other)
{
	for (size_t i = 0; i < sizeof(verb_texts) / sizeof(*verb_texts); i++) {
		const struct verb_text *t = &verb_texts[i];

		if (!strcmp(t->verb, v->name) && (option && t->option ? !strcmp(t->option, option) : option == t->option))
			return t->help;
	}
	return other;
}

/* --------------------------------------------------------------- verbs ---- */

const struct verb verb_table[] = {
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
	{ "completion", completion_run, "bash | fish | zsh",
	  "print what teaches a shell to complete the words of xpcache", NEEDS_NOTHING, ARG_ANY, 0 },
	{ "help", help_run, "[VERB]", "show this help, or that of a verb", NEEDS_NOTHING, ARG_MAY, 0 },
	{ "version", version_run, "", "show the version", NEEDS_NOTHING, ARG_NONE, 0 },
};

const size_t nr_verbs = SIZE_OF(verb_table);

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < nr_verbs; i++)
		if (!strcmp(verb_table[i].name, name))
			return &verb_table[i];
	return NULL;
}

bool verb_takes(const struct verb *v, const struct option_row *row)
{
	return row->bit == OPT_HELP || v->options & row->bit;
}

const struct verb *verb_of(const char *word)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return verb_find("help");
	return verb_find(strcmp(word, "--version") && strcmp(word, "-V") ? word : "version");
}
