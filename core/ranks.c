// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranks.c - the ranks of the MAPPED slots, and the three hands that go round them (rank.h).
 *
 * Nothing here can make the cache wrong, only slow. What it takes of memory: ghost.h, and this
 * structure. What it takes of time, the lock held: a look at the slots beside, one after the other.
 */
#include "ghost.h"
#include "ranks.h"
#include "policy.h"

#define NEW_PART	20u	/* of the cache is YOUNG or NEW */
#define TICK_STEPS	4096u	/* slots looked at, the lock held */
/*
 * What the main hand meets is worth its slot if it has been asked for since the hand was there before.
 * If more than this is not, MAIN holds what nobody asks for any more.
 */
#define UNASKED_ONE	(1ull << 40)
#define UNASKED_MANY	(UNASKED_ONE / 8)

/* The main hand has come to another part of the slots. Else each of its steps would divide. */
static void enter_part(struct xp *c)
{
	u64 slots = c->nr_slots;

	c->ranks.part = (u32)((u64)c->ranks.main_hand * XP_RANK_PARTS / slots);
	c->ranks.part_end = (u32)(((c->ranks.part + 1) * slots + XP_RANK_PARTS - 1) / XP_RANK_PARTS);
}

void ranks_init(struct xp *c)
{
	enter_part(c);
	c->ranks.new_max = max(c->nr_slots / NEW_PART, 1u);
	c->ranks.young_max = c->ranks.new_max / 4 * 3;
	while (c->nr_slots >> c->ranks.eighth_shift > 8)
		c->ranks.eighth_shift++;
}

/* Of a MAPPED slot: hits change the word at the same time. */
static void set_rank(struct xp_entry *e, u32 rank)
{
	union xp_word was = { .all = XP_READ_ONCE(e->word.all) }, now;

	do {
		now = was;
		now.use = (u16)(word_pins(was) * XP_PIN + rank);
	} while (!xp_try_exchange(&e->word.all, &was.all, now.all));
}

static void move(struct xp *c, struct xp_entry *e, enum xp_rank_class to, u32 freq)
{
	ranks_count(c, e, -1);
	set_rank(e, XP_RANK(to, freq));
	ranks_count(c, e, 1);
}

bool ranks_restore_hands(struct xp *c, u32 main_hand, u32 new_hand, u32 young_hand)
{
	if (max(max(main_hand, new_hand), young_hand) >= c->nr_slots)
		return false;
	c->ranks.main_hand = main_hand;
	c->ranks.new_hand = new_hand;
	c->ranks.young_hand = young_hand;
	enter_part(c);
	return true;
}

/* Asked for once more is what it is of MAIN for. */
static void promote(struct xp *c, struct xp_entry *e, u32 freq)
{
	move(c, e, XP_RANK_MAIN, freq - 1);
}

void ranks_hit(struct xp_entry *e)
{
	u32 rank = entry_rank(e);

	if (rank_hit(rank))
		set_rank(e, rank + 1);
}

/* ------------------------------------------------------------- arrivals ---- */

static u32 nr_of(const struct xp *c, enum xp_rank_class class)
{
	return c->ranks.nr[class][false] + c->ranks.nr[class][true];
}

/* MAIN holds much that nobody asks for any more. */
static bool is_stale(const struct xp_ranks *r)
{
	return r->unasked > UNASKED_MANY;
}

/*
 * As long as MAIN has not grown, there is room for what comes back, however late. Then a ghost is in
 * time among the younger half of those that came since the main hand entered this part of the slots: the
 * less MAIN is asked for slots, the longer ago that is. Where it is stale, half of those of a round are.
 */
static u64 ghosts_in_time(const struct xp *c)
{
	const struct xp_ranks *r = &c->ranks;
	u32 entered = (r->part + XP_RANK_PARTS - 1) % XP_RANK_PARTS, a_round_ago = r->part;

	if (nr_of(c, XP_RANK_MAIN) < c->nr_slots / 2)
		return XP_GHOST_EVER;
	return (r->ghosted - r->ghosted_at[is_stale(r) ? a_round_ago : entered]) / 2;
}

static bool comes_back(const struct xp *c, xp_lba_t lba)
{
	return ghost_knows(c, lba, ghosts_in_time(c));
}

u32 ranks_arrival(struct xp *c, xp_lba_t lba)
{
	if (comes_back(c, lba))
		return XP_RANK(XP_RANK_MAIN, 1);
	c->ranks.arrived++;
	return XP_RANK(XP_RANK_YOUNG, 0);
}

/* As long as there is room, a stream may come again, and is as good as any other: NEW is small. */
static bool is_cold(const struct xp *c, xp_lba_t lba)
{
	return c->nr_dirty > c->dirty_pass && !comes_back(c, lba);
}

u32 ranks_written_new(struct xp *c, xp_lba_t lba, bool streams)
{
	if (streams && is_cold(c, lba))
		return XP_RANK(XP_RANK_COLD, 0);
	return ranks_arrival(c, lba);
}

/* ---------------------------------------------------------------- hands ---- */

static struct xp_entry *step(struct xp *c, u32 *hand, xp_slot_t *slot)
{
	*slot = XP_SLOT(*hand);
	if (++*hand == c->nr_slots)
		*hand = 0;
	return entry_of(c, *slot);
}

static u32 nr_new(const struct xp *c)
{
	return nr_of(c, XP_RANK_YOUNG) + nr_of(c, XP_RANK_NEW);
}

static void young_hand(struct xp *c, u32 most, u32 *steps)
{
	while (nr_of(c, XP_RANK_YOUNG) > most && *steps) {
		xp_slot_t slot;
		struct xp_entry *e = step(c, &c->ranks.young_hand, &slot);

		--*steps;
		if (e->state == SLOT_MAPPED && rank_class(entry_rank(e)) == XP_RANK_YOUNG)
			move(c, e, XP_RANK_NEW, 0);
	}
}

/* Each of the two: it has gone a step on. Is the slot that it has left to be evicted? */
static bool new_hand(struct xp *c, xp_slot_t *slot)
{
	struct xp_entry *e = step(c, &c->ranks.new_hand, slot);
	u32 rank = entry_rank(e);

	if (e->state != SLOT_MAPPED || rank_class(rank) != XP_RANK_NEW)
		return false;
	if (rank_freq(rank))
		promote(c, e, rank_freq(rank));
	else if (e->dirty)
		move(c, e, XP_RANK_COLD, 0);
	else
		return policy_evictable(e);
	return false;
}

/* The average over the eighth of the slots that the main hand has met last. */
static void learn_unasked(struct xp_ranks *r, bool asked)
{
	r->unasked -= r->unasked >> r->eighth_shift;
	if (!asked)
		r->unasked += UNASKED_ONE >> r->eighth_shift;
}

static bool main_hand(struct xp *c, xp_slot_t *slot)
{
	struct xp_entry *e = step(c, &c->ranks.main_hand, slot);
	u32 rank = entry_rank(e);

	if (!c->ranks.main_hand || c->ranks.main_hand == c->ranks.part_end) {
		c->ranks.ghosted_at[c->ranks.part] = c->ranks.ghosted;
		enter_part(c);
	}
	if (e->state != SLOT_MAPPED || rank_class(rank) != XP_RANK_MAIN)
		return false;
	learn_unasked(&c->ranks, rank_freq(rank));
	if (policy_evictable(e) && rank_freq(rank) <= c->ranks.hurry)
		return true;
	if (rank_freq(rank))
		set_rank(e, rank - 1);
	return false;
}

/* What is clean where the turn is may be pinned for long. */
static bool takes_any(const struct xp *c)
{
	return c->ranks.hurry == XP_HURRY_MAX;
}

/*
 * Whose turn is it? If there are enough new ones, theirs; else that of the others, if one is clean. A
 * stale MAIN leaves them twice as many slots: they are what is asked for now.
 */
static bool is_new_hands(const struct xp *c, u32 steps)
{
	u32 most = is_stale(&c->ranks) ? 2 * c->ranks.new_max : c->ranks.new_max;

	if (takes_any(c))
		return steps % 2;
	return nr_new(c) > most || !c->ranks.nr[XP_RANK_MAIN][false];
}

xp_slot_t ranks_victim(struct xp *c, u32 *steps)
{
	bool only_young = !c->ranks.nr[XP_RANK_MAIN][false] && !c->ranks.nr[XP_RANK_NEW][false];
	xp_slot_t slot;

	young_hand(c, only_young || takes_any(c) ? 0 : c->ranks.young_max, steps);
	while (*steps) {
		--*steps;
		if (is_new_hands(c, *steps) ? new_hand(c, &slot) : main_hand(c, &slot))
			return slot;
	}
	return XP_SLOT(XP_NIL);
}

void ranks_found(struct xp *c, bool any)
{
	if (any || c->nr_free)
		c->ranks.hurry = 0;
	else if (c->ranks.hurry < XP_HURRY_MAX)
		c->ranks.hurry++;
}

bool ranks_is_over(const struct xp_entry *e, bool in_need)
{
	u32 rank = entry_rank(e);

	return !rank_freq(rank) && (in_need || rank_class(rank) == XP_RANK_COLD);
}

void ranks_cleaned(struct xp *c, struct xp_entry *e)
{
	u32 rank = entry_rank(e), freq = rank_freq(rank);

	if (rank_class(rank) != XP_RANK_COLD)
		return;
	if (freq)
		promote(c, e, freq);
	else
		move(c, e, XP_RANK_NEW, 0);
}

void ranks_evicted(struct xp *c, const struct xp_entry *e)
{
	if (rank_class(entry_rank(e)) != XP_RANK_MAIN)
		ghost_put(c, entry_lba(e));
}

void ranks_tick(struct xp *c)
{
	struct xp_ranks *r = &c->ranks;
	u32 steps = TICK_STEPS, *then = &r->arrived_at[r->tick++ % XP_RANK_TICKS];

	young_hand(c, min(r->arrived - *then, r->young_max), &steps);
	*then = r->arrived;
}
