/* SPDX-License-Identifier: GPL-2.0-only */
/* no_witness.h - looks on at a recovery, and notes nothing: for tests of what a recovery does where somebody looks on. */
#ifndef TESTS_NO_WITNESS_H
#define TESTS_NO_WITNESS_H

#include "witness.h"

static inline void no_place(void *ctx, u64 position, enum xp_place place, const struct xp_jblock *b)
{
	(void)ctx, (void)position, (void)place, (void)b;
}

static inline void no_candidate(void *ctx, const struct xp_ring_block *b, u64 breaks_at)
{
	(void)ctx, (void)b, (void)breaks_at;
}

static inline void no_record(void *ctx, const struct xp_said *said, const struct xp_message *why)
{
	(void)ctx, (void)said, (void)why;
}

static const struct xp_witness no_witness = { .place = no_place, .candidate = no_candidate, .record = no_record };

#endif
