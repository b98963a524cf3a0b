/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kill9.h - the daemon killed at any moment, before the simulator's oracle; the map of
 * tests/daemon/kill9/.
 *
 *	run             the script: devices, variants, figures, the check at the end
 *	kill9.c         lives: start, judge, load, kill; of one cache
 *	kill9_client.c  requests over libnbd, told to the oracle as they begin and end
 *	kill9_victim.c  the daemon's process, and its control socket
 *	kill9_judge.c   what it holds, before the oracle
 *	../sim/         oracle.c itself, unchanged, and what sectors hold
 *
 * The power stays on: what the daemon has handed to the kernel is there. So a kill is a cut
 * that loses memory alone, and each promise is judged as after any cut.
 */
#ifndef KILL9_H
#define KILL9_H

#include <libnbd.h>
#include <stdio.h>
#include <sys/types.h>
#include "sim.h"

#define CONNECTIONS_MAX	3u

enum end { KILL_ANY_MOMENT, KILL_AFTER_FLUSH, KILL_AFTER_WRITE, KILL_STARTING, KILL_STOPPING, STOP, NR_ENDS };

struct kill9 {
	const char *daemon, *fast, *slow, *socket, *control, *log, *check;
	const char *shim;	/* faulty.so; NULL: devices do not fail */
	char **options;		/* of "serve" */
	u64 rng;
	u64 written;		/* sectors from here on are never written */
	bool faulty;		/* in this life a device fails: errors are no news */
	bool mute;		/* who reads its complaints is gone */
	bool alone;		/* the slow file is never behind what was flushed: all lives have a mode that promises it, */
	bool settled;		/* and this one has written back what the one before left, which nobody was promised */
	bool switches;		/* lives change the mode */
	char fault[512];	/* as the shim is told */
	char flag[256];		/* it fails while this exists */

	pid_t pid;		/* 0: it does not run */
	bool let_go;		/* killed, or told to stop: connections may end */

	/* of this life's load */
	enum end end;
	u64 until;		/* ns, CLOCK_MONOTONIC */
	u64 heals;		/* ns: its devices fail no more */
	bool restless;		/* connections come and go */
	u32 connections, depth, hot, fua, size;
	u32 ops[5];
	u64 base, range;	/* sectors, where most requests go to */
};

extern struct kill9 kill9;

/* Of the status, summed up: has it happened? */
#define COUNTS	"read_hits", "read_misses", "write_bypass", "evicted", "written_back", "fills", "waits", "fast_errors", "slow_errors"
#define NR_COUNTS	9u

struct tally {
	u64 lives, requests, failed, sectors, held, ends[NR_ENDS], checks, changes, switches, alone;
	u64 counts[NR_COUNTS];
};

extern struct tally tally;

u64 now_ns(void);

/* kill9_client.c */
void clients_connect(void);
void clients_load(void);	/* until kill9.end is due */
void clients_leave(bool wait);	/* @wait: for the replies that are on their way */
/* All sectors, as they are now: content[] of each. */
void clients_read_all(const struct content **seen);

/* kill9_victim.c */
void victim_start(void);
void victim_fails(bool on);	/* its device, from now on */
bool victim_runs(void);
bool victim_kill(void);	/* true: it had stopped before, and well */
void victim_tell(const char *line, char *answer, size_t room);
u64 victim_count(const char *status, const char *name);
/* Tells it to stop, and does not wait; then waits for it: false: it failed. */
void victim_stop_begin(void);
bool victim_stop_end(void);

/* kill9_judge.c */
void judge_prepare(void);	/* fills the slow file, and tells the oracle */
void judge_after_kill(void);
void judge_without_fast(void);	/* the slow file alone, as a cut has left it */
void judge_slow(void);
const struct content *judge_content(u64 sector, const u8 *bytes);

#endif /* KILL9_H */
