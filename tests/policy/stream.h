/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - accesses to blocks, numbered densely, with the next access to each: what rivals are fed. And the random
 * numbers of the tests, the same everywhere.
 */
#ifndef POLICY_STREAM_H
#define POLICY_STREAM_H

#include "rival.h"

struct access {
	u32 id;
	u32 next;		/* number of the block's next access if that counts, or RIVAL_NEVER */
	bool counts;		/* a read: its hit or miss is counted */
};

struct stream {
	struct access *access;
	u32 nr, room;
	u32 nr_ids;
	/* Open hash of the blocks seen. */
	u64 *lba;
	u32 *id;
	u32 slots;
};

void stream_init(struct stream *s);
void stream_add(struct stream *s, u64 lba, bool counts);
/* After the last: the next accesses. */
void stream_end(struct stream *s);
void stream_free(struct stream *s);
/* The part of the counted accesses that misses in a cache of @capacity blocks. */
double stream_misses(const struct stream *s, const struct rival *rival, u32 capacity);

u64 random_next(u64 *seed);		/* xorshift; *seed is not 0 */

/* Numbers of 0 to n-1, number i with a probability of 1 / (i + 1)^skew. */
struct zipf {
	u32 n;
	double *sum;		/* of the probabilities up to each */
};

void zipf_init(struct zipf *z, u32 n, double skew);
u32 zipf_next(const struct zipf *z, u64 *seed);
void zipf_free(struct zipf *z);

#endif
