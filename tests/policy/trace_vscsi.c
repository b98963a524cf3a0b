// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_vscsi.c - reads vscsi traces, little-endian records of one size without a header. In bytes from the start:
 *	version 1, 32 bytes: serial 0, length 4, segments 8, command 12 (2), version 14 (2), block 16 (8), us 24 (8)
 *	version 2, 40 bytes: command 0 (2), version 2 (2), serial 4, length 8, segments 12, block 16 (8), us 24 (8),
 *	response time 32 (8)
 * The version is the upper byte of its field, the command the first byte of the SCSI command, blocks are sectors.
 */
#include "trace_read.h"

static u64 le(const u8 *from, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | from[bytes];
	return value;
}

static u32 version_of(const u8 *head, size_t len)
{
	if (len >= 32 && head[15] == 1)
		return 1;
	return len >= 40 && head[3] == 2 ? 2 : 0;
}

static bool knows(const u8 *head, size_t len)
{
	u32 version = version_of(head, len), size = version == 1 ? 32 : 40;

	/* One byte proves little: the second record must agree. */
	return version && (len < 2 * size || version_of(head + size, len - size) == version);
}

static int operation(u8 command)
{
	switch (command) {
	case 0x08: case 0x28: case 0xa8: case 0x88:
		return XP_READ;
	case 0x0a: case 0x2a: case 0xaa: case 0x8a:
		return XP_WRITE;
	case 0x35: case 0x91:
		return XP_FLUSH;
	default:
		return -1;
	}
}

/* 1: a request, 0: a command that is none, -1: bad. */
static int record(struct trace *t, struct trace_op *op, const u8 *r, struct xp_message *msg)
{
	bool first = t->version == 1;
	int what = operation(r[first ? 12 : 0]);
	u64 bytes = le(r + (first ? 4 : 8), 4), us = le(r + 24, 8);

	if (r[first ? 15 : 3] != t->version)
		return trace_bad_byte(t, "the record is of another version than the first", msg);
	if (what < 0 || (!bytes && what != XP_FLUSH))
		return 0;
	op->op = (u8)what;
	op->time_ns = us * 1000;
	if (us > ~0ull / 1000 || !trace_place_sectors(op, le(r + 16, 8), (bytes + 511) / 512))
		return trace_bad_byte(t, "the record's time or sectors are out of range", msg);
	return 1;
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	int got = 0;

	while (!got) {
		size_t len = trace_look(t, 80), size;

		if (!t->version)
			t->version = version_of(t->buffer + t->at, len);
		size = t->version == 1 ? 32 : 40;
		got = trace_whole(t, size, msg);
		if (got <= 0)
			return got;
		got = record(t, op, t->buffer + t->at, msg);
		if (got >= 0)
			trace_skip(t, size);
	}
	return got;
}

const struct trace_reader trace_vscsi = { "vscsi", knows, next };
