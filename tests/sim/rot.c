// SPDX-License-Identifier: GPL-2.0-only
/*
 * rot.c - sectors of the fast device that silently become something else, after they were written.
 *
 * Only what has a sum (a run that rots verifies in all its lives), and what a recovery does not
 * need to tell whether it landed: a checked record whose data has rotted by then is one
 * whose data is not there, and nobody can know better. That is over when a block that certainly
 * is on the medium vouches for it.
 */
#include "badblocks.h"
#include "journal.h"
#include "look.h"
#include "run.h"
#include "sim.h"

#define ROTTEN_MAX	64u

static struct {
	u64 sector, lba;
	const struct content *right, *rotten;
} rotten[ROTTEN_MAX];
static u32 nr_rotten;
static bool dirty[SECTORS_MAX];	/* blocks that were so when they rotted, in this run */
static u32 nr_dirty;

void rot_new_run(void)
{
	nr_rotten = nr_dirty = 0;
	memset(dirty, 0, sizeof(dirty));
}

static const struct content *original(const struct content *k)
{
	u32 i;

	for (i = 0; i < nr_rotten; i++)
		if (rotten[i].rotten == k)
			return rotten[i].right;
	return NULL;
}

const struct content *rot_answer(const struct image *im, u64 slot_sector, u64 sector,
				 const struct xp_mapping *m)
{
	const struct content *k = im->fast[slot_sector + sector % XP_BLOCK_SECTORS], *right;
	u64 block[XP_BLOCK_SIZE / sizeof(u64)];
	bool rotten = false;
	u32 i;

	for (i = 0; sim.geometry.rot_one_in && i < XP_BLOCK_SECTORS; i++) {
		sector_copy((u8 *)block + i * SECTOR, im->fast[slot_sector + i]->bytes);
		rotten |= !!original(im->fast[slot_sector + i]);
	}
	if (!rotten || xp_mapping_holds(m, block))
		return k;
	right = original(k);
	return !m->dirty ? im->slow[sector] : right ? right : k;
}

/* What waits for a slot may have to fail, too: what has rotted keeps its own. */
bool rot_excuses(const struct user *u)
{
	u64 block;

	if (u->op != XP_READ)
		return nr_dirty;
	for (block = u->sector / XP_BLOCK_SECTORS; block * XP_BLOCK_SECTORS < u->sector + u->nr; block++)
		if (dirty[block])
			return true;
	return false;
}

bool rot_is_of(u64 lba)
{
	return dirty[lba];
}

bool rot_keeps_dirty(void)
{
	return nr_dirty;
}

/* ------------------------------------------------------------- where ---- */

/* Of the block with its newest record: no later than. */
static u64 seq_of(u32 slot)
{
	u32 nr;
	u64 open = number_after(sim.c, sim.c->journal.sealed_number);
	u64 first = record_first_of(sim.c, XP_SLOT(slot), open, &nr);

	return first + nr - 1;
}

/* By the newest block that is on the medium with all before it. */
static u64 vouched(void)
{
	const struct xp_journal *j = &sim.c->journal;
	u64 position = j->written_number % j->blocks;
	struct xp_jblock b;
	u32 i;

	for (i = 0; i < XP_BLOCK_SECTORS; i++)
		memcpy((u8 *)&b + i * SECTOR, sim.fast.floor[(j->start + position) * XP_BLOCK_SECTORS + i]->bytes,
		       SECTOR);
	if (le32_to_cpu(b.head.magic) != j->magic || memcmp(b.head.uuid, j->uuid, sizeof(j->uuid)) ||
	    le16_to_cpu(b.head.count) > XP_RECORDS || le64_to_cpu(b.head.incarnation) != j->incarnation ||
	    le64_to_cpu(b.head.checksum) != jblock_checksum(&b))
		return 0;
	return le64_to_cpu(b.head.durable_seq);
}

static u32 choose_slot(u64 *rng)
{
	u64 durable = vouched();
	u32 first = below(rng, sim.geometry.slots), i;

	for (i = 0; i < sim.geometry.slots; i++) {
		u32 slot = (first + i) % sim.geometry.slots;
		const struct xp_entry *e = &sim.c->entry[slot];

		if (e->state == SLOT_MAPPED && !e->apart && record_lives(sim.c, XP_SLOT(slot)) && seq_of(slot) <= durable)
			return slot;
	}
	return XP_NIL;
}

/* ------------------------------------------------------------- what ---- */

/* A bit is wrong, or what is there is another sector's, or nothing. */
static const struct content *rots_to(u64 sector, u64 *rng)
{
	u64 other = xp_slot_sector(sim.c, XP_SLOT(below(rng, sim.geometry.slots))) + sector % XP_BLOCK_SECTORS;
	u8 bytes[SECTOR];

	memcpy(bytes, sim.fast.seen[sector]->bytes, SECTOR);
	switch (below(rng, 3)) {
	case 0:
		memset(bytes, 0, SECTOR);
		break;
	case 1:
		memcpy(bytes, sim.fast.seen[other]->bytes, SECTOR);
		break;
	default:
		bytes[below(rng, SECTOR)] ^= (u8)(1 << below(rng, 8));
	}
	if (!memcmp(bytes, sim.fast.seen[sector]->bytes, SECTOR))
		return NULL;
	return content_own(&sim.arena, bytes);
}

static void note_dirty(u64 lba)
{
	nr_dirty += !dirty[lba];
	dirty[lba] = true;
}

void rot_cut(void)
{
	struct xp_mapping m;
	u32 i;

	for (i = 0; i < nr_rotten; i++)
		if (xp_lookup(sim.c, XP_LBA(rotten[i].lba), &m) && m.dirty)
			note_dirty(rotten[i].lba);
}

static bool holds(const struct xp_mapping *m)
{
	u8 bytes[XP_BLOCK_SIZE];
	u32 i;

	for (i = 0; i < XP_BLOCK_SECTORS; i++)
		sector_copy(bytes + i * SECTOR, sim.fast.seen[xp_slot_sector(sim.c, m->slot) + i]->bytes);
	return xp_mapping_holds(m, bytes);
}

/* A loss that was accepted may leave a block with a slot that was given to another one since: its sum tells, and it is an
 * error like what has rotted. */
void rot_note_doubtful(void)
{
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(sim.c, &cursor, &m))
		if (m.dirty && told.doubtful[xp_lba_n(m.lba)] && !holds(&m))
			note_dirty(xp_lba_n(m.lba));
}

bool rot_is_in(const struct xp_mapping *m)
{
	return sim.verifies && dirty[xp_lba_n(m->lba)] && !holds(m);
}

static void rot(u32 slot, u64 *rng)
{
	u64 sector = xp_slot_sector(sim.c, XP_SLOT(slot)) + below(rng, XP_BLOCK_SECTORS);
	const struct content *right = sim.fast.seen[sector], *wrong = rots_to(sector, rng);
	const struct xp_entry *e = &sim.c->entry[slot];
	u64 lba = xp_lba_n(entry_lba(e));

	if (!wrong || original(right) || memcmp(sim.fast.floor[sector]->bytes, right->bytes, SECTOR))
		return;
	trace("--- sector %llu of the fast device rots: slot %u, lba %llu, %s", (unsigned long long)sector, slot,
	      (unsigned long long)lba, e->dirty ? "dirty" : "clean");
	rotten[nr_rotten].sector = sector;
	rotten[nr_rotten].lba = lba;
	rotten[nr_rotten].right = right;
	rotten[nr_rotten++].rotten = wrong;
	sim.fast.seen[sector] = sim.fast.floor[sector] = wrong;
	figures.rots[e->dirty]++;
	if (e->dirty)
		note_dirty(lba);
}

void rot_turn(u64 *rng)
{
	u32 slot = choose_slot(rng);

	if (slot != XP_NIL && nr_rotten < ROTTEN_MAX)
		rot(slot, rng);
}

/*
 * What was written there since may be what it had become, zeros say: then it is that, whatever names it. A slot that was
 * given to another block was written as a whole.
 */
static bool is_rotten_still(u32 i)
{
	u64 s = rotten[i].sector, slot = (s - xp_slot_sector(sim.c, XP_SLOT(0))) / XP_BLOCK_SECTORS;
	struct xp_mapping m;

	return sim.fast.seen[s] == rotten[i].rotten && sim.fast.floor[s] == rotten[i].rotten &&
	       xp_lookup(sim.c, XP_LBA(rotten[i].lba), &m) && xp_slot_n(m.slot) == slot;
}

void rot_heal(void)
{
	u32 i;

	for (i = 0; i < nr_rotten; i++)
		if (is_rotten_still(i))
			sim.fast.seen[rotten[i].sector] = sim.fast.floor[rotten[i].sector] = rotten[i].right;
}

void rot_forget(void)
{
	rot_new_run();
}
