/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pulse.h - a running cache between two looks: what top shows.
 *
 *   pulse.c           reading it, differences
 *   pulse_view.c      for people and as JSON
 */
#ifndef PULSE_H
#define PULSE_H

#include "lib/latency/latency.h"
#include "lib/uuid.h"
#include "platform.h"

#include <sys/types.h>

struct canvas;
struct json_object;
struct running;
struct status;

struct pulse {
	char name[128], uuid[UUID_HEX], state[16];
	dev_t fast;		/* 0: not known */
	double seconds;		/* by our own clock: when; between two looks, how long */

	/* Now, in blocks; pressure is 0 to 1024. */
	u64 slots, dirty, clean, journal_blocks, journal_used, pressure;

	/*
	 * Since the start, or between two looks: docs/MEASURING.md, "What a cache counts". An older
	 * backend tells the sums alone, and counts parts of requests.
	 */
	u64 reads, read_hits, writes, write_bypass, flushes, discards;
	bool counted;		/* these are known: */
	u64 requests[XP_REQUEST_CLASSES], requests_failed;
	u64 read_blocks_fast, read_blocks_slow, write_blocks, write_bypass_blocks, discard_blocks;
	u64 fills, written_back, evicted, journal_writes;		/* blocks */
	bool kept_known;	/* these are, of what is kept: */
	u64 streams_seen, stream_bypass_blocks, stream_bypass_written, ghost_hits, ghost_hits_quarter;
	u64 fast_bytes_written, fast_errors, slow_errors;
	u64 read_bytes, write_bytes;	/* by the block layer, if @bytes_known */
	bool bytes_known;

	bool timed;		/* latencies are known, */
	bool older;		/* or the module does not know what is asked */
	struct latency latency;
};

/* ----------------------------------------------------------- pulse.c ---- */

/* Of the kernel's own figures: its status, and /sys/block/.../stat, NULL if there is none. */
void pulse_count(struct pulse *p, const struct status *s, const char *stat);
/* All of a running cache. @older: do not ask for latencies, as an older module logs that.
 * Negative errno: it is gone. */
int pulse_read(struct pulse *p, const struct running *r, bool older);
/* What came between two readings. False: they are not of one run. */
bool pulse_subtract(struct pulse *later, const struct pulse *earlier);

/* The hit ratios of every output, by their names in JSON: 0 to 1; NAN of none, or if not known. */
#define PULSE_RATIOS	3u
extern const struct pulse_ratio {
	const char *name;	/* "hit_ratio", "hit_ratio_by_bytes", ... */
	double (*of)(const struct pulse *p);
} pulse_ratios[PULSE_RATIOS];
/* What a quarter more slots would do, and what the cache costs: likewise of every output. */
#define PULSE_QUOTIENTS	3u
extern const struct pulse_ratio pulse_quotients[PULSE_QUOTIENTS];
double pulse_ghost_hits(const struct pulse *p);
double pulse_fills_per_hit(const struct pulse *p);
double pulse_fast_bytes(const struct pulse *p);
double pulse_hits(const struct pulse *p);
double pulse_hits_by_bytes(const struct pulse *p);
double pulse_hits_by_time(const struct pulse *p);
/* { "requests_read_hit": n, ... }: by the names of the status fields. */
struct json_object *pulse_json_counts(const struct pulse *p);

/* ------------------------------------------------------ pulse_view.c ---- */

void pulse_show(const struct canvas *c, const struct pulse *p);
struct json_object *pulse_json(const struct pulse *p);

#endif /* PULSE_H */
