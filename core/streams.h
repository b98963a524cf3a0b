/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * streams.h - which requests are a stream: reads, or writes, that go on where another one ended.
 *
 * A program that reads a file asks for one piece after another, of whatever size; readers take
 * turns. So the last places where a request ended are remembered, with how much came before. A
 * request that begins there, or a little behind, belongs to the stream; what it leaves out counts
 * against its length. Of reads only misses are seen here: what is cached costs a gap, unless both its ends are.
 * Writes are told apart from reads, by the same rule, and all of them are seen.
 *
 * A stream that has got longer than the limit passes: the slow device is good at those, and
 * what is read once need not be kept. What of it was read before is. If streams come again so
 * often that it pays, none passes but in the sample that tells (policy.c).
 *
 * A written stream goes around the cache while much is dirty, as far as nothing of it is there and nobody
 * syncs (policy_passes()). What does not arrives COLD then (rank.h).
 */
#ifndef XP_STREAMS_H
#define XP_STREAMS_H

#include "platform.h"

#define XP_STREAMS	32u

#ifndef XP_STREAM_BEGIN	/* the simulator's requests are short */
#define XP_STREAM_BEGIN	8u	/* 32 KiB: a shorter request begins none */
#endif

struct xp_stream {
	u64 begin, next;	/* of the newest request: its first block, and the one behind it */
	u32 len;		/* blocks; no more than 2^31 */
	u32 used;		/* the turn in which it was, of all streams; 0: never */
	bool seen;		/* it was longer than the limit, and is counted */
};

struct xp_streams {
	struct xp_stream stream[XP_STREAMS];
	u32 turn;
	/* reads: of 2^16 blocks of streams that passed, about so many had been streamed a while ago */
	u32 again;
	/* writes: parts of the slow device that a stream was in, in this tick and in the last one (stream_part()) */
	u64 parts[2];
};

/* What a write has been told of, in xp_req.stream. */
enum xp_stream_told {
	STREAM_NOT_ASKED,
	STREAM_NONE,		/* or one that is not longer than the limit */
	STREAM_LONG,
};

struct xp;

/* A miss of the blocks @begin to @end: is it of a stream that passes? */
bool stream_passes(struct xp *c, u64 begin, u64 end);
/* A write of them: is it of a stream that is longer than the limit? */
bool stream_is_written(struct xp *c, u64 begin, u64 end);
/* xp_tick() */
void streams_tick(struct xp *c);

/* A bit for the 256 MiB that the block is in. Others may have the same one. */
static inline u64 stream_part(u64 at)
{
	return 1ull << (at >> 16) % 64;
}

/*
 * May a write that is too short to begin a stream belong to one? Most do not, and need not look at all of them. One
 * that has rested for two ticks is not continued by such a write.
 */
static inline bool stream_is_near(const struct xp_streams *all, u64 at)
{
	return (all->parts[0] | all->parts[1]) & stream_part(at);
}

#endif /* XP_STREAMS_H */
