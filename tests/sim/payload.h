/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * payload.h - random numbers that can be drawn again, and sectors that say whose
 * they are. Shared by the simulator and by the program that writes in a guest.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include "platform.h"

#define SECTOR		512u

static inline u64 mix(u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline u64 draw(u64 *rng)
{
	return mix(*rng += 0x9e3779b97f4a7c15ull);
}

/* 0 to @n - 1. */
static inline u32 below(u64 *rng, u32 n)
{
	return (u32)(draw(rng) % n);
}

static inline bool chance(u64 *rng, u32 one_in)
{
	return !below(rng, one_in);
}

/* Which write (id) to which sector a content was made for; or one of these two. */
#define TAG_ZERO	0ull
#define TAG_OTHER	(~0ull)
#define TAG_SECTOR_BITS	24

static inline u64 tag_of(u64 id, u64 sector)
{
	return id << TAG_SECTOR_BITS | (sector + 1);
}

static inline u64 tag_id(u64 tag)
{
	return tag >> TAG_SECTOR_BITS;
}

static inline u64 tag_sector(u64 tag)
{
	return (tag & ((1u << TAG_SECTOR_BITS) - 1)) - 1;
}

void payload_fill(u8 *bytes, u64 sector, u64 id);
u64 payload_tag(const u8 *bytes);

#endif /* PAYLOAD_H */
