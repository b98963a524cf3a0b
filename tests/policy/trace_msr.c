// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_msr.c - reads the CSV of the MSR Cambridge traces, a request a line:
 *	time,host,disk,Read|Write,offset,bytes,response time
 * Times are Windows' (100 ns since 1601), the offset is in bytes.
 */
#include <string.h>
#include <strings.h>
#include "trace_read.h"

#define FIELDS	7u

static bool knows(const u8 *head, size_t len)
{
	u32 commas = 0;
	size_t i;

	if (!len || head[0] < '0' || head[0] > '9')
		return false;
	for (i = 0; i < len && head[i] != '\n'; i++)
		commas += head[i] == ',';
	return commas == FIELDS - 1;
}

static int request(struct trace *t, struct trace_op *op, char *line, struct xp_message *msg)
{
	u64 time, disk, offset, bytes;
	char *word[FIELDS + 1];

	if (trace_words(line, ",", word, FIELDS + 1) != FIELDS)
		return trace_bad_line(t, "has not the 7 fields of an MSR trace", msg);
	if (!trace_number(word[0], &time) || time > ~0ull / 100)
		return trace_bad_line(t, "field 1 is no time", msg);
	if (!trace_number(word[2], &disk) || disk > 0xffffffffu)
		return trace_bad_line(t, "field 3 is no number of a disk", msg);
	if (strcasecmp(word[3], "Read") && strcasecmp(word[3], "Write"))
		return trace_bad_line(t, "field 4 is neither Read nor Write", msg);
	if (!trace_number(word[4], &offset) || !trace_number(word[5], &bytes))
		return trace_bad_line(t, "fields 5 and 6 are no offset and size", msg);
	op->op = strcasecmp(word[3], "Read") ? XP_WRITE : XP_READ;
	op->time_ns = time * 100;
	if (!bytes || !trace_is_ours(t, trace_hash(word[1]) + disk))
		return 0;
	return trace_place(op, offset, bytes) ? 1 : trace_bad_line(t, "the offset is out of range", msg);
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	char *line;
	int got;

	do {
		got = trace_line(t, &line, msg);
		if (got <= 0)
			return got;
		got = *line ? request(t, op, line, msg) : 0;
	} while (!got);
	return got;
}

const struct trace_reader trace_msr = { "msr", knows, next };
