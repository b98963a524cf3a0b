/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - block traces of several formats behind one iterator. A reader streams: it holds one buffer, whatever the
 * size of the file. The format is recognised by content.
 *
 * Formats: blkparse's default text, blktrace's binary (one CPU's file, or several merged by time), fio's iolog
 * versions 2 and 3, MSR Cambridge CSV, vscsi versions 1 and 2, SRT of HP Laboratories, and the format below. A trace of
 * several devices gives the requests of the first device named; trace_others() counts the rest.
 *
 * The project's own format, all integers little-endian. Header, 24 bytes:
 *	 0  8  magic "xptrace\n"
 *	 8  4  version, 1
 *	12  4  size of a record, 24
 *	16  8  sectors of the device; 0: not known
 * Then records of 24 bytes up to the end of the file, in order of time:
 *	 0  8  time, ns since the trace began
 *	 8  8  first sector
 *	16  4  sectors; 0 for a FLUSH only
 *	20  1  operation: 0 read, 1 write, 2 FLUSH, 3 discard, 4 write zeroes (enum xp_op)
 *	21  1  flags: bit 0 sync, bit 1 FUA; the others 0
 *	22  2  0
 */
#ifndef POLICY_TRACE_H
#define POLICY_TRACE_H

#include "message.h"
#include "xpcache.h"

struct trace_op {
	u64 time_ns;		/* since any moment, the same in the whole trace */
	u64 sector;		/* sector + nr_sectors is at most TRACE_SECTORS */
	u32 nr_sectors;		/* 0 for XP_FLUSH only */
	u8 op;			/* enum xp_op */
	bool sync, fua;
};

#define TRACE_SECTORS	(1ull << 43)	/* 2^40 blocks: what a cache can have behind it */

struct trace;

/* NULL: it cannot be opened or is of no known format; *msg has one line with the name of the file. */
struct trace *trace_open(const char *path, struct xp_message *msg);
/* 1: *op is the next request; 0: there is no more; -1: the input is bad, and *msg has one line that names file and
 * line, or byte. After 0 and -1 do not ask again. */
int trace_next(struct trace *t, struct trace_op *op, struct xp_message *msg);
const char *trace_format(const struct trace *t);
/* Requests left out so far because they are of another device than the first. */
u64 trace_others(const struct trace *t);
void trace_close(struct trace *t);

#endif
