// SPDX-License-Identifier: GPL-2.0-only
/* ghost.c - blocks that were evicted a while ago (ghost.h). */
#include "ghost.h"

#define PRINT_MASK	((1u << XP_GHOST_BITS) - 1)
#define LAST_PLACE	4u	/* from this one on */
#define WORD_MASK	((1ull << XP_GHOSTS * XP_GHOST_BITS) - 1)

#define ODD		0xd1342543de82ef95ull

/*
 * Not map_bucket()'s: the blocks of a bucket would share a word. Twice, or of blocks at equal distances
 * more than chance has it share a word and a print.
 */
static u64 hash_of(xp_lba_t lba)
{
	u64 hash = xp_lba_n(lba) * ODD;

	hash = (hash ^ hash >> 32) * ODD;
	return hash ^ hash >> 32;
}

static u64 *word_of(const struct xp *c, u64 hash)
{
	return &c->ranks.ghost[(hash >> 32) * c->ranks.nr_ghosts >> 32];
}

/* 0 is nobody's: an empty place is one. */
static u32 print_of(u64 hash)
{
	u32 print = (u32)hash & PRINT_MASK;

	return print ? print : 1;
}

void ghost_put(struct xp *c, xp_lba_t lba)
{
	u64 hash = hash_of(lba), *word = word_of(c, hash);

	*word = (*word << XP_GHOST_BITS | print_of(hash)) & WORD_MASK;
	c->ranks.ghosted++;
}

void ghost_put_last(struct xp *c, xp_lba_t lba)
{
	const u32 bits = LAST_PLACE * XP_GHOST_BITS;
	u64 hash = hash_of(lba), *word = word_of(c, hash);
	u64 first = *word & ((1ull << bits) - 1), last = *word >> bits;

	*word = ((last << XP_GHOST_BITS | print_of(hash)) << bits & WORD_MASK) | first;
}

/* Its place in its word, 0 for the newest; XP_GHOSTS: it has none. */
static u32 place_of(const struct xp *c, u64 hash)
{
	u64 word = *word_of(c, hash);
	u32 print = print_of(hash), place;

	for (place = 0; place < XP_GHOSTS && (word & PRINT_MASK) != print; place++)
		word >>= XP_GHOST_BITS;
	return place;
}

bool ghost_knows(const struct xp *c, xp_lba_t lba, u64 most)
{
	u64 place = place_of(c, hash_of(lba));

	/* came since the ghost in the middle of a place: half a place's share of all words */
	return place < XP_GHOSTS && c->ranks.nr_ghosts / 2 + place * c->ranks.nr_ghosts <= most;
}

/*
 * A place of all words has 7 ghosts for 40 slots. So what was evicted last, as many blocks as a
 * quarter of the slots, is in the newest place of all words, and in the next of three words in seven.
 */
static bool is_of_the_last_quarter(u64 hash, u32 place)
{
	const u64 words = (3ull << 32) / 7;

	return place == 0 || (place == 1 && hash >> 32 < words);
}

void ghost_count_hit(struct xp *c, xp_lba_t lba)
{
	u64 hash = hash_of(lba);
	u32 place = place_of(c, hash);

	c->stats.ghost_hits += place < LAST_PLACE;
	c->stats.ghost_hits_quarter += is_of_the_last_quarter(hash, place);
}
