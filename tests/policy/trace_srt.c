// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_srt.c - reads the disk traces of HP Laboratories, SRT: a header in text, "$$TR_IOREC-" first and a form feed
 * last, then big-endian records. The header describes the disks ("0 -> {", "sectorsize = 256"); the first one is taken.
 *
 * A record, in bytes from its start, of 4 each: size of the record 0, version << 16 | type 4, s 8, us 12, us until the
 * disk was given it 16, us until it ended 20, bytes 24, sector of the disk 28, device 32 (its bits 8 to 15: the disk),
 * driver 36, cylinder 40, flags 44 (1: read, 0x100: nobody waits), origin 48. More may follow. Type 1 is a request, the
 * others are not.
 */
#include <string.h>
#include "trace_read.h"

#define MAGIC		"$$TR_IOREC-"
#define VERSION_MAX	4u
#define REQUEST		1u
#define SIZE_MIN	52u
#define FLAG_READ	1u
#define FLAG_ASYNC	0x100u

static u32 be(const u8 *from)
{
	return (u32)from[0] << 24 | (u32)from[1] << 16 | (u32)from[2] << 8 | from[3];
}

static bool knows(const u8 *head, size_t len)
{
	return len >= sizeof(MAGIC) - 1 && !memcmp(head, MAGIC, sizeof(MAGIC) - 1);
}

static void header_line(struct trace *t, char *line)
{
	char *word[3];
	u64 number;

	if (trace_words(line, " \t,;", word, 3) < 3)
		return;
	if (!t->has_device && !strcmp(word[1], "->") && trace_number(word[0], &number))
		trace_is_ours(t, number);
	if (!t->sector_bytes && !strcmp(word[0], "sectorsize") && trace_number(word[2], &number))
		t->sector_bytes = (u32)min(number, (u64)TRACE_LINE);
}

/* Sets *@end to where in the file it ends. NULs, as behind the title, become text. */
static bool find_end(struct trace *t, u64 *end)
{
	size_t len = trace_look(t, sizeof(t->buffer));
	u8 *start = t->buffer + t->at, *feed = memchr(start, '\f', len), *nul;

	if (!feed)
		return false;
	while ((nul = memchr(start, 0, (size_t)(feed - start))))
		*nul = ' ';
	*end = t->offset + (u64)(feed - start);
	return true;
}

static int header(struct trace *t, struct xp_message *msg)
{
	char *line;
	u64 end;

	if (!find_end(t, &end))
		return trace_bad_byte(t, "the header has no end", msg);
	while (t->offset < end) {
		if (trace_line(t, &line, msg) < 0)
			return -1;
		header_line(t, line);
	}
	if (t->offset != end)
		return trace_bad_byte(t, "the header's last line does not end", msg);
	if (!t->has_device || !t->sector_bytes)
		return trace_bad_byte(t, "the header names no disk and its sectorsize", msg);
	trace_skip(t, 1);
	t->begun = true;
	return 1;
}

/* 1: a request of our disk, 0: something else, -1: bad. */
static int record(struct trace *t, struct trace_op *op, const u8 *r, struct xp_message *msg)
{
	u32 version = be(r + 4) >> 16, flags = be(r + 44);

	if (!version || version > VERSION_MAX)
		return trace_bad_byte(t, "the record is of a version that is not known here", msg);
	if ((be(r + 4) & 0xffff) != REQUEST || !trace_is_ours(t, be(r + 32) >> 8 & 0xff))
		return 0;
	op->op = flags & FLAG_READ ? XP_READ : XP_WRITE;
	op->sync = !(flags & FLAG_ASYNC);
	op->time_ns = be(r + 8) * 1000000000ull + be(r + 12) * 1000ull;
	if (!trace_place(op, (u64)be(r + 28) * t->sector_bytes, be(r + 24)))
		return trace_bad_byte(t, "the record's sectors are out of range", msg);
	return 1;
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	int got = t->begun ? 1 : header(t, msg);

	if (got < 0)
		return got;
	for (got = 0; !got;) {
		size_t size = trace_look(t, 4) < 4 ? SIZE_MIN : be(t->buffer + t->at);

		if (size < SIZE_MIN || size > TRACE_LINE)
			return trace_bad_byte(t, "the record's size is out of range", msg);
		got = trace_whole(t, size, msg);
		if (got <= 0)
			return got;
		got = record(t, op, t->buffer + t->at, msg);
		if (got >= 0)
			trace_skip(t, size);
	}
	return got;
}

const struct trace_reader trace_srt = { "srt", knows, next };
