// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill9.c - one cache through many lives of its daemon, each of which ends by SIGKILL, or
 * nearly so. Prints figures, or what is wrong.
 */
#include "kill9.h"
#include "xpcache.h"

#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct kill9 kill9;
struct tally tally;

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* ------------------------------------------------------------------- load ---- */

static u32 one_of(u64 *rng, const u32 *values, u32 nr)
{
	return values[below(rng, nr)];
}

#define ONE_OF(...) one_of(rng, (const u32[]){ __VA_ARGS__ }, sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32))

static void draw_load(u64 *rng)
{
	struct kill9 *k = &kill9;

	k->connections = 1 + below(rng, CONNECTIONS_MAX);
	k->depth = ONE_OF(1, 4, 16, 64);
	k->fua = ONE_OF(0, 0, 5, 40, 100);
	k->size = below(rng, 4);
	k->ops[XP_READ] = 10 + below(rng, 45);
	k->ops[XP_FLUSH] = ONE_OF(0, 1, 5, 15);
	k->ops[XP_DISCARD] = ONE_OF(0, 0, 2, 6);
	k->ops[XP_ZEROES] = ONE_OF(0, 0, 2, 6, 20);
	if (k->end == STOP && chance(rng, 2))	/* much is left to it */
		k->fua = k->ops[XP_FLUSH] = 0;
	k->ops[XP_WRITE] = 100 - k->ops[XP_READ] - k->ops[XP_FLUSH] - k->ops[XP_DISCARD] -
			   k->ops[XP_ZEROES];
	k->hot = ONE_OF(0, 50, 95, 100);
	k->range = 1024ull << below(rng, 7);
	k->range = min(k->range, k->written);
	k->base = draw(rng) % (k->written - k->range + 1);
	k->restless = chance(rng, 4);
	k->heals = chance(rng, 2) ? UINT64_MAX : now_ns() + below(rng, 300) * 1000000ull;
	k->until = now_ns() + (chance(rng, 4) ? below(rng, 30) : 30 + below(rng, 600)) * 1000000ull;
}

/* Which device, what of it, and how often. */
static void draw_fault(u64 *rng)
{
	const char *disk = chance(rng, 2) ? kill9.fast : kill9.slow;

	if (!kill9.shim)
		return;
	kill9.faulty = !chance(rng, 3);
	kill9.mute = chance(rng, 6);
	snprintf(kill9.flag, sizeof(kill9.flag), "%s.fails", kill9.log);
	snprintf(kill9.fault, sizeof(kill9.fault), "%s %u %u %s", disk, 1 + below(rng, 7),
		 ONE_OF(1, 4, 40, 400), kill9.flag);
}

static enum end draw_end(u64 *rng)
{
	u32 dice = below(rng, 100);

	return dice < 40 ? KILL_ANY_MOMENT : dice < 64 ? KILL_AFTER_FLUSH :
	       dice < 74 ? KILL_AFTER_WRITE : dice < 82 ? KILL_STARTING :
	       dice < 90 ? KILL_STOPPING : STOP;
}

/* ------------------------------------------------------------------ a life ---- */

/* What a clean stop promises: nothing that was acknowledged is lost. */
static void all_is_covered(void)
{
	struct user flush = { .op = XP_FLUSH };

	flush.submitted = ++sim.now;
	sim.now++;
	oracle_end(&flush);
}

static void count_what_happened(void)
{
	static const char *const name[] = { COUNTS };
	char status[4096];

	victim_tell("status", status, sizeof(status));
	for (u32 i = 0; i < NR_COUNTS; i++)
		tally.counts[i] += victim_count(status, name[i]);
}

/* Clients may take their replies, or go on and leave them where they are. */
static void stop(bool killed)
{
	bool well, stuck = chance(&kill9.rng, 3);

	victim_stop_begin();
	if (killed) {
		usleep(below(&kill9.rng, chance(&kill9.rng, 2) ? 1000 : 20000));
		well = victim_kill();
		clients_leave(true);
	} else {
		if (!stuck)
			clients_leave(true);
		well = victim_stop_end();
		if (!well && !kill9.faulty)
			violation(P_ERRORS, "stop failed, and no device did: see %s", kill9.log);
		if (stuck)
			clients_leave(true);
	}
	if (well)
		all_is_covered();
}

static void end_life(void)
{
	switch (kill9.end) {
	case STOP:
	case KILL_STOPPING:
		stop(kill9.end == KILL_STOPPING);
		break;
	default:
		victim_kill();
		clients_leave(true);
	}
}

/* The program that looks at a cache that does not run. Something of the daemon's may still
 * hold its devices. */
static void check(void)
{
	char command[1024];
	int status;

	snprintf(command, sizeof(command), "'%s' check '%s' --slow '%s' --data >>'%s.check' 2>&1",
		 kill9.check, kill9.fast, kill9.slow, kill9.log);
	status = system(command);
	for (u32 i = 0; i < 100 && WEXITSTATUS(status) == 3; i++) {
		usleep(20000);
		status = system(command);
	}
	if (status)
		violation(P_HOST, "xpcache check ended with %d: see %s.check", WEXITSTATUS(status), kill9.log);
	tally.checks++;
}

/*
 * 10: with no error any more dirty blocks go home, unless the journal has failed. What clients have asked for is still
 * under way, and may be dirty after the moment at which nothing was: then once more.
 */
static void bring_home(void)
{
	u64 begun = now_ns(), completed;
	char text[4096];

	victim_tell("status", text, sizeof(text));
	completed = victim_count(text, "flushes_completed");
	victim_tell("message flush", text, sizeof(text));
	for (;;) {
		victim_tell("status", text, sizeof(text));
		if (victim_count(text, "slow_complete") || (kill9.faulty && strstr(text, "\nfailed ")))
			return;
		if (now_ns() - begun > 60000000000ull)
			violation(P_LIVES, "dirty blocks do not go home: %s", text);
		if (!victim_count(text, "flushing") && victim_count(text, "flushes_completed") > completed) {
			completed = victim_count(text, "flushes_completed");
			victim_tell("message flush", text, sizeof(text));
		}
		usleep(5000);
	}
}

/* By itself, where the mode wants nothing dirty: no flush is asked for. */
static void settle(void)
{
	u64 begun = now_ns();
	char text[4096];

	do {
		victim_tell("status", text, sizeof(text));
		if (now_ns() - begun > 60000000000ull)
			violation(P_LIVES, "what was dirty at the start stays so: %s", text);
		usleep(1000);
	} while (!victim_count(text, "slow_complete"));
	kill9.settled = true;
}

static void life(void)
{
	u64 *rng = &kill9.rng;

	kill9.settled = false;
	kill9.end = draw_end(rng);
	tally.lives++;
	tally.ends[kill9.end]++;
	draw_fault(rng);
	victim_start();
	if (kill9.end == KILL_STARTING) {
		usleep(below(rng, chance(rng, 2) ? 10000 : 40000));
		victim_kill();
		return;
	}
	kill9.connections = CONNECTIONS_MAX;
	clients_connect();
	judge_after_kill();
	clients_leave(false);
	if (kill9.alone && chance(rng, 2))
		settle();
	draw_load(rng);
	clients_connect();
	if (chance(rng, 4)) {
		char answer[256];

		victim_tell("message flush", answer, sizeof(answer));
	}
	victim_fails(kill9.faulty);
	clients_load();
	victim_fails(false);
	if (kill9.faulty && !kill9.let_go && chance(rng, 3))
		bring_home();
	if (!kill9.let_go && !kill9.mute)	/* of the errors counted the log tells */
		count_what_happened();
	end_life();
	sim.faulted = false;
	if (kill9.settled)
		judge_without_fast();
	if (chance(rng, 8))
		check();
}

/* All home, and the slow file alone is right. */
static void last_life(void)
{
	kill9.faulty = kill9.mute = false;
	victim_start();
	kill9.connections = 1;
	clients_connect();
	judge_after_kill();
	bring_home();
	victim_stop_begin();
	clients_leave(true);
	if (!victim_stop_end())
		violation(P_ERRORS, "stop failed, and no device did: see %s", kill9.log);
	check();
	judge_slow();
}

/* -------------------------------------------------------------------- main ---- */

static u64 kills(void)
{
	return tally.lives - tally.ends[STOP];
}

static void print_figures(void)
{
	static const char *const name[] = { COUNTS };

	printf("lives %llu kills %llu starting %llu stopping %llu stops %llu requests %llu reads %llu "
	       "sectors %llu checks %llu changes %llu held %llu switches %llu alone %llu", (unsigned long long)tally.lives,
	       (unsigned long long)kills(), (unsigned long long)tally.ends[KILL_STARTING],
	       (unsigned long long)tally.ends[KILL_STOPPING], (unsigned long long)tally.ends[STOP],
	       (unsigned long long)tally.requests, (unsigned long long)figures.reads,
	       (unsigned long long)tally.sectors, (unsigned long long)tally.checks, (unsigned long long)tally.changes,
	       (unsigned long long)tally.held, (unsigned long long)tally.switches, (unsigned long long)tally.alone);
	for (u32 i = 0; i < NR_COUNTS; i++)
		printf(" %s %llu", name[i], (unsigned long long)tally.counts[i]);
	putchar('\n');
}

static void parse(int argc, char **argv, u64 *wanted)
{
	static const struct option options[] = {
		{ "daemon", 1, NULL, 'd' }, { "check", 1, NULL, 'c' }, { "fast", 1, NULL, 'f' },
		{ "slow", 1, NULL, 's' }, { "socket", 1, NULL, 'S' }, { "control", 1, NULL, 'C' },
		{ "log", 1, NULL, 'l' }, { "seed", 1, NULL, 'r' }, { "kills", 1, NULL, 'k' },
		{ "shim", 1, NULL, 'p' }, { "alone", 0, NULL, 'a' }, { "switches", 0, NULL, 'w' },
		{ NULL, 0, NULL, 0 }
	};
	const char **word[] = { ['d'] = &kill9.daemon, ['c'] = &kill9.check, ['f'] = &kill9.fast,
				['s'] = &kill9.slow, ['S'] = &kill9.socket, ['C'] = &kill9.control,
				['l'] = &kill9.log, ['p'] = &kill9.shim };
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'r')
			kill9.rng = mix(strtoull(optarg, NULL, 0));
		else if (o == 'k')
			*wanted = strtoull(optarg, NULL, 0);
		else if (o == 'a')
			kill9.alone = true;
		else if (o == 'w')
			kill9.switches = true;
		else if (o == '?')
			exit(2);
		else
			*word[o] = optarg;
	}
	if (!kill9.daemon || !kill9.check || !kill9.fast || !kill9.slow || !kill9.socket ||
	    !kill9.control || !kill9.log)
		errx(2, "an option is missing; tests/daemon/kill9/run knows them");
	kill9.options = argv + optind;
}

int main(int argc, char **argv)
{
	u64 wanted = 20;

	parse(argc, argv, &wanted);
	signal(SIGPIPE, SIG_IGN);
	sim.now = 2;
	all_properties_on();
	if (setjmp(verdict_leave)) {
		printf("property %d: life %llu: %s\n", (int)verdict.property,
		       (unsigned long long)tally.lives, verdict.text);
		if (kill9.pid)
			kill(kill9.pid, SIGKILL);
		return 1;
	}
	judge_prepare();
	kill9.written = sim.slow.sectors / 8 * 7;
	while (kills() < wanted)
		life();
	last_life();
	print_figures();
	return 0;
}
