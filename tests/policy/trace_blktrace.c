// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_blktrace.c - reads what blktrace writes (struct blk_io_trace of the kernel's blktrace_api.h, version 7), in
 * the byte order of the machine that wrote it. A record is 48 bytes and a payload. In bytes from its start:
 *	magic 0 (4), sequence 4 (4), ns 8 (8), sector 16 (8), bytes 24 (4), action 28 (4), pid 32 (4), device 36 (4),
 *	cpu 40 (4), error 44 (2), length of the payload 46 (2)
 * The lower half of the action is the event, the upper one has the request's kind. Requests are taken where they are
 * queued: before they are merged.
 */
#include "trace_read.h"

#define RECORD		48u
#define MAGIC		0x65617400u
#define VERSION		7u

#define EVENT_QUEUE	1u
#define EVENT_CGROUP	0x100u		/* the payload begins with the cgroup: no other event */
#define KIND(bit)	(1u << (16 + (bit)))
#define KIND_WRITE	KIND(1)
#define KIND_FLUSH	KIND(2)
#define KIND_SYNC	KIND(3)
#define KIND_NOTIFY	KIND(10)	/* no request: a name, the time of day, a message */
#define KIND_DISCARD	KIND(13)
#define KIND_FUA	KIND(15)

static u64 get(const struct trace *t, const u8 *from, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value = value << 8 | from[t->big ? i : bytes - 1 - i];
	return value;
}

static bool knows(const u8 *head, size_t len)
{
	return len >= 4 && ((head[1] == 0x74 && head[2] == 0x61 && head[3] == 0x65) ||
			    (head[0] == 0x65 && head[1] == 0x61 && head[2] == 0x74));
}

static int queued(struct trace *t, struct trace_op *op, const u8 *r, u32 action, struct xp_message *msg)
{
	u64 bytes = get(t, r + 24, 4);

	if (!bytes && !(action & KIND_FLUSH))
		return 0;
	if (!trace_is_ours(t, get(t, r + 36, 4)))
		return 0;
	op->time_ns = get(t, r + 8, 8);
	op->sync = action & KIND_SYNC;
	op->fua = action & KIND_FUA;
	op->op = !bytes ? XP_FLUSH : action & KIND_DISCARD ? XP_DISCARD : action & KIND_WRITE ? XP_WRITE : XP_READ;
	if (!trace_place_sectors(op, bytes ? get(t, r + 16, 8) : 0, (bytes + 511) / 512))
		return trace_bad_byte(t, "the record's sectors are out of range", msg);
	return 1;
}

/* Its payload is skipped in pieces: it may be longer than what the buffer has. */
static bool skip(struct trace *t, size_t n)
{
	while (n) {
		size_t len = min(trace_look(t, 1), n);

		if (!len)
			return false;
		trace_skip(t, len);
		n -= len;
	}
	return true;
}

static int record(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	const u8 *r = t->buffer + t->at;
	u32 magic, action;
	size_t payload;
	int got = 0;

	if (!t->begun)
		t->big = r[0] == 0x65;
	t->begun = true;
	magic = (u32)get(t, r, 4);
	if ((magic & ~0xffu) != MAGIC)
		return trace_bad_byte(t, "a record without blktrace's magic number", msg);
	if ((magic & 0xff) != VERSION)
		return trace_bad_byte(t, "a record of a version of blktrace other than 7", msg);
	action = (u32)get(t, r + 28, 4);
	payload = get(t, r + 46, 2);
	if ((action & 0xffff & ~EVENT_CGROUP) == EVENT_QUEUE && !(action & KIND_NOTIFY))
		got = queued(t, op, r, action, msg);
	if (got >= 0 && !skip(t, RECORD + payload))
		return trace_bad_byte(t, "the last record's payload is cut off", msg);
	return got;
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	int got = 0;

	while (!got) {
		got = trace_whole(t, RECORD, msg);
		if (got <= 0)
			return got;
		got = record(t, op, msg);
	}
	return got;
}

const struct trace_reader trace_blktrace = { "blktrace", knows, next };
