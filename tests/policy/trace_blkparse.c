// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_blkparse.c - reads what blkparse prints when it is told no format, an event a line:
 *	major,minor cpu sequence seconds.nanoseconds pid event kind sector + sectors [program]
 * Requests are taken where they are queued (event Q). A FLUSH has no sectors. blkparse's summary, at the end,
 * does not begin with a device; nor do messages of programs that were mixed into it.
 */
#include <stdlib.h>
#include <string.h>
#include "trace_read.h"

#define FIELDS	10u	/* up to the number of sectors */

/* "8,16": into the kernel's number. */
static bool device(const char *word, u64 *number)
{
	u64 major = 0, minor = 0;
	u32 digits = 0;

	for (; *word >= '0' && *word <= '9' && digits < 8; word++, digits++)
		major = major * 10 + (u64)(*word - '0');
	if (!digits || *word++ != ',')
		return false;
	*number = major << 32;
	if (!trace_number(word, &minor) || minor > 0xffffffffu)
		return false;
	*number |= minor;
	return true;
}

static bool knows(const u8 *head, size_t len)
{
	char line[64], *word[1];
	u64 number;

	len = min(len, sizeof(line) - 1);
	memcpy(line, head, len);
	line[len] = 0;
	return trace_words(line, " \t\n", word, 1) == 1 && device(word[0], &number);
}

/* "1.000000123", with nine digits behind the point. */
static bool time_of(char *word, u64 *ns)
{
	char *point = strchr(word, '.');
	u64 seconds, rest;

	if (!point || strlen(point + 1) != 9)
		return false;
	*point = 0;
	if (!trace_number(word, &seconds) || !trace_number(point + 1, &rest) || seconds > 10000000000ull)
		return false;
	*ns = seconds * 1000000000u + rest;
	return true;
}

static void kind_of(struct trace_op *op, const char *kind, bool has_data)
{
	const char *at = kind + (*kind == 'F');

	op->op = strchr(kind, 'D') ? XP_DISCARD : strchr(kind, 'W') ? XP_WRITE : XP_READ;
	if (!has_data)
		op->op = XP_FLUSH;
	op->sync = strchr(kind, 'S');
	op->fua = strchr(at, 'F');	/* an F in front is a FLUSH before the data */
}

static int queued(struct trace *t, struct trace_op *op, char **word, u32 nr, u64 dev, struct xp_message *msg)
{
	bool has_data = nr == FIELDS && !strcmp(word[8], "+");
	u64 sector = 0, sectors = 0;

	if (!time_of(word[3], &op->time_ns))
		return trace_bad_line(t, "field 4 is no time", msg);
	if (has_data && (!trace_number(word[7], &sector) || !trace_number(word[9], &sectors)))
		return trace_bad_line(t, "has no sectors behind the kind of the request", msg);
	if (!has_data && !strchr(word[6], 'F'))
		return trace_bad_line(t, "has neither sectors nor a FLUSH", msg);
	if (!trace_is_ours(t, dev))
		return 0;
	kind_of(op, word[6], sectors);
	if (!sectors && !strchr(word[6], 'F'))
		return 0;
	return trace_place_sectors(op, sector, sectors) ? 1 : trace_bad_line(t, "the sectors are out of range", msg);
}

static int event(struct trace *t, struct trace_op *op, char *line, struct xp_message *msg)
{
	char *word[FIELDS];
	u32 nr = trace_words(line, " \t", word, FIELDS);
	u64 dev;

	if (!nr || !device(word[0], &dev))
		return 0;
	if (nr < 6)
		return trace_bad_line(t, "has fewer fields than an event of blkparse", msg);
	if (strcmp(word[5], "Q"))
		return 0;
	return nr < 7 ? trace_bad_line(t, "the kind of the request is missing", msg) :
			queued(t, op, word, nr, dev, msg);
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	char *line;
	int got;

	do {
		got = trace_line(t, &line, msg);
		if (got > 0)
			got = event(t, op, line, msg);
		else
			break;
	} while (!got);
	return got;
}

const struct trace_reader trace_blkparse = { "blkparse", knows, next };
