// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - sim: runs of the core over two lying disks.
 *
 *	sim [--seed N] [--runs N] [--seconds N] [--without PROPERTY] [--fast disk|memory]
 *	sim --seed N --steps 3,17,29 --trace	that run, with only those steps
 *
 * 0: nothing found. 1: a run broke a promise; it is shrunk and printed. Or --seconds were enough for
 * hundreds of runs, and something that is counted was not met in any.
 */
#include <getopt.h>
#include <stdio.h>
#include <time.h>
#include "sim.h"

static const char * const property_name[NR_PROPERTIES] = {
	"what no device and no core does", "1 allowed values", "2 unwritten sectors",
	"3 whole blocks", "4 preflush", "5 errors", "6 discard and zeroes",
	"7 what was seen stays", "8 reads", "9 reads after errors", "10 everything ends",
	"11 classes", [P_UNREADABLE] = "13 unreadable sectors", [P_THROUGH] = "14 the slow device alone",
};

static struct {
	u64 seed, runs;
	double seconds, shrink;
	u32 *steps, nr_steps;
	bool trace, quiet;
} opt = { .seed = 1, .runs = UINT64_MAX, .shrink = 60 };

/* Seconds of the processor, not of the clock: on a busy host as much is looked at. */
static double elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void parse_steps(char *text)
{
	char *word;

	opt.steps = calloc(strlen(text) / 2 + 1, sizeof(*opt.steps));
	for (word = strtok(text, ","); word; word = strtok(NULL, ","))
		opt.steps[opt.nr_steps++] = (u32)strtoul(word, NULL, 10);
}

static void print_bad(void)
{
	printf("unreadable: %llu runs, %llu places of the ring, %llu slots, of the slow device %llu, of what is before the ring %llu; "
	       "%llu and %llu reads of them, %llu sectors healed, %llu blocks came back\n",
	       (unsigned long long)figures.bad_runs, (unsigned long long)figures.bad_places,
	       (unsigned long long)figures.bad_slots, (unsigned long long)figures.bad_slow,
	       (unsigned long long)figures.bad_heads, (unsigned long long)figures.bad_reads[0],
	       (unsigned long long)figures.bad_reads[1], (unsigned long long)figures.healed,
	       (unsigned long long)figures.came_back);
	printf("recovery: %llu refused, %llu losses accepted, %llu cut and gone on with, %llu blocks doubtful, %llu older or another's; %llu undecided, %llu looked at again and still unread, "
	       "of which %llu times the older was taken; %llu not needed, %llu rested before; %llu blocks written anew\n",
	       (unsigned long long)figures.refusals, (unsigned long long)figures.losses, (unsigned long long)figures.unended,
	       (unsigned long long)figures.doubtful, (unsigned long long)figures.older,
	       (unsigned long long)figures.undecided, (unsigned long long)figures.unread, (unsigned long long)figures.took_older,
	       (unsigned long long)figures.unneeded, (unsigned long long)figures.rested,
	       (unsigned long long)figures.rewritten);
}

/* How often each error met each operation of each device: 0 would be a gap. */
static u64 print_faults(void)
{
	static const char * const disk[] = { "fast", "slow" }, * const op[] = { "read", "write", "flush" };
	u64 all = 0;
	u32 d, o;

	printf("slow device: %llu writes forgotten by a flush that failed\n", (unsigned long long)figures.forgotten);
	printf("errors, once / until healed / of a device that was gone:");
	for (d = 0; d < 2; d++)
		for (o = 0; o < 3; o++) {
			const u64 *n = figures.faults[d][o];

			printf(" %s %s %llu / %llu / %llu%s", disk[d], op[o],
			       (unsigned long long)n[FAULT_ONCE], (unsigned long long)n[FAULT_ON],
			       (unsigned long long)n[FAULT_GONE], d && o == 2 ? "\n" : ",");
			all += n[FAULT_ONCE] + n[FAULT_ON] + n[FAULT_GONE];
		}
	printf("failed: %llu commits, %llu starts, %llu closes; a tight ring in %llu steps\n",
	       (unsigned long long)figures.failed_commits, (unsigned long long)figures.failed_starts,
	       (unsigned long long)figures.failed_closes, (unsigned long long)figures.tight);
	printf("FUA around the cache: %llu flushes behind a write\n", (unsigned long long)figures.behind);
	printf("gone with nothing dirty: %llu marks, %llu operations passed, %llu recoveries took a mark back\n",
	       (unsigned long long)figures.marks, (unsigned long long)figures.passed,
	       (unsigned long long)figures.unmarked);
	printf("writeback: all was home %llu times when that was asked for, %llu steps in a pause\n",
	       (unsigned long long)figures.flushes_completed, (unsigned long long)figures.pauses);
	printf("memory: %llu runs, %llu kills, %llu more of a recovery, which wrote back %llu sectors that they had left\n",
	       (unsigned long long)figures.memory_runs, (unsigned long long)figures.kills,
	       (unsigned long long)figures.kills_again, (unsigned long long)figures.kept);
	printf("journal blocks grew by %llu stores, %llu of them refused; %llu kills while they were stored\n",
	       (unsigned long long)figures.stores, (unsigned long long)figures.stores_refused,
	       (unsigned long long)figures.kills_storing);
	printf("%llu writes to places that take none; %llu writes went into other slots; %llu lives began with "
	       "places given up, %llu with slots\n", (unsigned long long)figures.refused,
	       (unsigned long long)figures.written_again, (unsigned long long)figures.rerouted,
	       (unsigned long long)figures.given_up);
	print_bad();
	printf("verifying: %llu runs, %llu reads checked; %llu clean and %llu dirty sectors rotted, found in %llu reads, %llu bases, %llu runs of writeback\n",
	       (unsigned long long)figures.verifying, (unsigned long long)figures.checks,
	       (unsigned long long)figures.rots[0], (unsigned long long)figures.rots[1],
	       (unsigned long long)figures.rot_read, (unsigned long long)figures.rot_based,
	       (unsigned long long)figures.rot_written_back);
	printf("fast devices of 4 KiB sectors: %llu runs, %llu requests that they could not be sent\n",
	       (unsigned long long)figures.whole_runs, (unsigned long long)figures.privates);
	printf("parts of blocks: %llu slots, %llu runs of writeback\n", (unsigned long long)figures.parts,
	       (unsigned long long)figures.parts_home);
	printf("runs: %llu records of %llu blocks\n", (unsigned long long)figures.run_records,
	       (unsigned long long)figures.run_blocks);
	printf("in place: %llu writes; %llu sectors cannot be read since one failed\n",
	       (unsigned long long)figures.in_place, (unsigned long long)figures.in_place_lost);
	printf("read at once: %llu fills off the grid, %llu spans with hits, %llu runs laid over; %llu failed, and were read alone\n",
	       (unsigned long long)figures.widened, (unsigned long long)figures.spans,
	       (unsigned long long)figures.laid_over, (unsigned long long)figures.read_alone);
	printf("sizes: %llu runs; the slow device was longer %llu times, shorter %llu, too short %llu, longer while running %llu; "
	       "%llu writes of a last block by recovery\n",
	       (unsigned long long)figures.resizing, (unsigned long long)figures.grown, (unsigned long long)figures.shrunk,
	       (unsigned long long)figures.too_short, (unsigned long long)figures.grown_live,
	       (unsigned long long)figures.short_homes);
	printf("ranks: %llu writes of them at stops, %llu recoveries took them over\n",
	       (unsigned long long)figures.hint_writes, (unsigned long long)figures.hints);
	return all;
}

static void print_figures(void)
{
	u64 faults = print_faults();
	double t = elapsed();

	printf("sim: %llu runs, %llu lives, %llu requests, %llu reads checked, %llu errors of devices; "
	       "%llu crash points, %llu images, %llu distinct states recovered, %llu cuts during recovery; "
	       "%.0f s, %.0f states a second; 0 mismatches\n",
	       (unsigned long long)figures.runs, (unsigned long long)figures.lives,
	       (unsigned long long)figures.requests, (unsigned long long)figures.reads,
	       (unsigned long long)faults, (unsigned long long)figures.crash_points,
	       (unsigned long long)figures.images, (unsigned long long)figures.states,
	       (unsigned long long)figures.recovery_cuts, t, (double)figures.states / t);
}

/* So many meet all that is counted, each many times; rarest is the mark, in one of 15. */
#define RUNS_OF_ALL	300u

/* A campaign that does not has become blind. */
static bool all_was_met(void)
{
	const u64 *figure = (const u64 *)&figures;
	size_t i;

	for (i = 0; i < offsetof(struct figures, no_place_left) / sizeof(*figure); i++)
		if (!figure[i])
			return false;
	return true;
}

static void print_result(u64 seed, const struct result *r)
{
	printf("seed %llu, step %llu, property %s: %s\n", (unsigned long long)seed,
	       (unsigned long long)r->step, property_name[r->property], r->text);
}

static int report(u64 seed, struct result r)
{
	u32 nr = opt.steps ? opt.nr_steps : run_steps(seed), i;
	u32 *steps = calloc(nr + 1, sizeof(*steps));

	print_result(seed, &r);
	if (opt.quiet)
		return 1;
	for (i = 0; i < nr; i++)
		steps[i] = opt.steps ? opt.steps[i] : i;
	nr = shrink(seed, steps, nr, r.property, opt.shrink);
	printf("with %u steps:\n", nr);
	r = run(seed, steps, nr, true);
	print_result(seed, &r);
	printf("replay: build/sim/sim --trace%s --seed %llu --steps ",
	       fast_is == FAST_MEMORY ? " --fast memory" : fast_is == FAST_DISK ? " --fast disk" : "",
	       (unsigned long long)seed);
	for (i = 0; i < nr; i++)
		printf("%s%u", i ? "," : "", steps[i]);
	putchar('\n');
	return 1;
}

static bool more(u64 done)
{
	return done < opt.runs && (!opt.seconds || elapsed() < opt.seconds);
}

static bool parse_fast(const char *word)
{
	if (!strcmp(word, "disk"))
		fast_is = FAST_DISK;
	else if (!strcmp(word, "memory"))
		fast_is = FAST_MEMORY;
	else
		fprintf(stderr, "sim: --fast is disk or memory, not %s; without it a seed says which\n", word);
	return fast_is != FAST_DRAWN;
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", 1, NULL, 's' }, { "runs", 1, NULL, 'r' }, { "seconds", 1, NULL, 't' },
		{ "steps", 1, NULL, 'l' }, { "without", 1, NULL, 'w' }, { "trace", 0, NULL, 'v' },
		{ "shrink", 1, NULL, 'S' }, { "quiet", 0, NULL, 'q' }, { "fast", 1, NULL, 'f' }, { 0 },
	};
	int c;

	all_properties_on();
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'r': opt.runs = strtoull(optarg, NULL, 0); break;
		case 't': opt.seconds = strtod(optarg, NULL); break;
		case 'S': opt.shrink = strtod(optarg, NULL); break;
		case 'l': parse_steps(optarg); opt.runs = 1; break;
		case 'w': property_on[strtoul(optarg, NULL, 0) % NR_PROPERTIES] = false; break;
		case 'v': opt.trace = true; break;
		case 'q': opt.quiet = true; break;
		case 'f': if (!parse_fast(optarg)) return 2; break;
		default: return 2;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	u64 i;

	if (parse(argc, argv))
		return 2;
	for (i = 0; more(i); i++) {
		struct result r = run(opt.seed + i, opt.steps, opt.nr_steps, opt.trace);

		if (r.failed && opt.trace) {
			print_result(opt.seed + i, &r);
			return 1;
		}
		if (r.failed)
			return report(opt.seed + i, r);
	}
	print_figures();
	if (opt.seconds && fast_is == FAST_DRAWN && figures.runs >= RUNS_OF_ALL && !all_was_met()) {
		printf("ERROR: in %llu runs one of these figures is 0\n", (unsigned long long)figures.runs);
		return 1;
	}
	return 0;
}
