/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * streams.h - which reads are a stream: requests that go on where another one ended.
 *
 * A program that reads a file asks for one piece after another, of whatever size; readers take
 * turns. So the last places where a request ended are remembered, with how much came before. A
 * request that begins there, or a little behind, belongs to the stream; what it leaves out counts
 * against its length. Only misses are seen here: what is cached costs a gap, unless both its ends are.
 *
 * A stream that has got longer than the limit passes: the slow device is good at those, and
 * what is read once need not be kept. What of it was read before is. If streams come again so
 * often that it pays, none passes but in the sample that tells (policy.c).
 */
#ifndef XP_STREAMS_H
#define XP_STREAMS_H

#include "platform.h"

#define XP_STREAMS	32u

struct xp_stream {
	u64 begin, next;	/* of the newest request: its first block, and the one behind it */
	u32 len;		/* blocks; no more than 2^31 */
	u32 used;		/* the turn in which it was, of all streams; 0: never */
	bool seen;		/* it was longer than the limit, and is counted */
};

struct xp_streams {
	struct xp_stream stream[XP_STREAMS];
	u32 turn;
	/* of 2^16 blocks of streams that passed, about so many had been streamed a while ago */
	u32 again;
};

struct xp;

/* A miss of the blocks @begin to @end: is it of a stream that passes? */
bool stream_passes(struct xp *c, u64 begin, u64 end);

#endif /* XP_STREAMS_H */
