// SPDX-License-Identifier: GPL-2.0-only
/* trace_own.c - reads the project's own format of traces; trace.h has it byte by byte. */
#include <string.h>
#include "trace_read.h"

#define RECORD	24u

static u64 le(const u8 *from, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | from[bytes];
	return value;
}

static bool knows(const u8 *head, size_t len)
{
	return len >= 8 && !memcmp(head, "xptrace\n", 8);
}

static int header(struct trace *t, struct xp_message *msg)
{
	const u8 *h;

	if (trace_look(t, RECORD) < RECORD)
		return trace_bad_byte(t, "the header is cut off", msg);
	h = t->buffer + t->at;
	if (le(h + 8, 4) != 1 || le(h + 12, 4) != RECORD)
		return trace_bad_byte(t, "is of a version that is not known here", msg);
	trace_skip(t, RECORD);
	t->begun = true;
	return 1;
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	const u8 *r;
	int got;

	if (!t->begun && header(t, msg) < 0)
		return -1;
	got = trace_whole(t, RECORD, msg);
	if (got <= 0)
		return got;
	r = t->buffer + t->at;
	op->time_ns = le(r, 8);
	op->op = r[20];
	op->sync = r[21] & 1;
	op->fua = r[21] & 2;
	if (op->op > XP_ZEROES || r[21] > 3 || le(r + 22, 2))
		return trace_bad_byte(t, "the record has an unknown operation or flag", msg);
	if (!trace_place_sectors(op, le(r + 8, 8), le(r + 16, 4)))
		return trace_bad_byte(t, "the record's sectors are out of range", msg);
	trace_skip(t, RECORD);
	return 1;
}

const struct trace_reader trace_own = { "xptrace", knows, next };
