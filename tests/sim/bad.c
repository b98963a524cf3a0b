// SPDX-License-Identifier: GPL-2.0-only
/*
 * bad.c - sectors that cannot be read: which, and since when. Until somebody writes there, or
 * whatever is written; some are there again as they were, by themselves.
 *
 * On the fast device a sector takes the 4 KiB with it that it is in: recovery reads no less, and what it
 * believes of a slot that it cannot read is believed of all of it.
 */
#include "image.h"
#include "jblock.h"
#include "look.h"
#include "run.h"
#include "statistics.h"
#include "superblock.h"

static u64 ring_at(u64 seq)
{
	return le64_to_cpu(sim.sb.journal_start) + seq % sim.geometry.ring;
}

static u64 slot_at(u32 slot)
{
	return le64_to_cpu(sim.sb.data_start) + slot;
}

/* ------------------------------------------------------- what is there ---- */

/* A journal block as the image has it, whether it can be read or not. */
static bool ring_block(u64 place, struct xp_jblock *b)
{
	u64 s = (le64_to_cpu(sim.sb.journal_start) + place) * XP_BLOCK_SECTORS, i;

	for (i = 0; i < XP_BLOCK_SECTORS; i++)
		sector_copy((u8 *)b + i * SECTOR, image.fast[s + i]->bytes);
	return le32_to_cpu(b->head.magic) == xp_sb_journal_magic(&sim.sb) &&
	       !memcmp(b->head.uuid, sim.sb.uuid, sizeof(b->head.uuid)) &&
	       le16_to_cpu(b->head.count) <= XP_RECORDS;
}

/* Where the journal seems to end. */
struct ends {
	u64 seq, tail, durable;
};

static struct ends find_ends(void)
{
	struct ends e = { 1, 1, 1 };
	struct xp_jblock b;
	u64 at, incarnation = 0;

	for (at = 0; at < sim.geometry.ring; at++) {
		if (!ring_block(at, &b) || le64_to_cpu(b.head.incarnation) < incarnation ||
		    (le64_to_cpu(b.head.incarnation) == incarnation && le64_to_cpu(b.head.seq) < e.seq))
			continue;
		incarnation = le64_to_cpu(b.head.incarnation);
		e = (struct ends){ le64_to_cpu(b.head.seq), le64_to_cpu(b.head.tail_seq),
				   le64_to_cpu(b.head.durable_seq) };
	}
	return e;
}

/* The slot of some record of the block @seq. */
static u32 slot_of_record(u64 seq, u64 *rng)
{
	struct xp_jblock b;
	u32 nr;

	if (!ring_block(seq % sim.geometry.ring, &b))
		return below(rng, sim.geometry.slots);
	nr = xp_block_records(&b);
	if (nr) {
		const struct xp_record *r = &b.rec[below(rng, nr)];

		return (le32_to_cpu(r->slot) + below(rng, record_blocks(r))) % sim.geometry.slots;
	}
	return 0;
}

/* Of some record that a recovery believed, and may have found to be right since; ~0: there is none. */
static u32 slot_of_unread(u64 *rng)
{
	u32 slot = ~0u, i;
	struct xp_jblock b;
	u64 at;

	for (at = 0; at < sim.geometry.ring; at++)
		for (i = ring_block(at, &b) ? xp_block_records(&b) : 0; i-- > 0;)
			if (le64_to_cpu(b.rec[i].lba) >> 48 & XP_REC_UNREAD && (slot == ~0u || chance(rng, 2)))
				slot = le32_to_cpu(b.rec[i].slot) % sim.geometry.slots;
	return slot;
}

/* ------------------------------------------------------------ an image ---- */

static bool stays(u64 *rng)
{
	return sim.geometry.bad_stays && chance(rng, 2);
}

static void lose(struct arena *a, bool slow, u64 sector, u32 nr, bool for_good)
{
	const struct content **cells = slow ? image.slow : image.fast;
	u32 i;

	for (i = 0; i < nr; i++)
		image_put(slow, sector + i, content_unreadable(a, cells[sector + i], for_good));
}

static void lose_block(struct arena *a, u64 block, bool for_good)
{
	lose(a, false, block * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, for_good);
}

static void lose_slot(struct arena *a, u32 slot, u64 *rng)
{
	figures.bad_slots++;
	lose_block(a, slot_at(slot), stays(rng));
}

static void lose_journal(struct arena *a, u64 seq, bool for_good)
{
	figures.bad_places++;
	lose_block(a, ring_at(seq), for_good);
}

/* All that a life has written, or some of it. */
static void lose_life(struct arena *a, const struct ends *e, u64 *rng)
{
	u64 n = 1 + below(rng, 4), seq;

	if (e->seq > sim.rest && chance(rng, 2))
		n = e->seq - sim.rest;
	for (seq = sim.rest + 1; seq <= sim.rest + min(n, (u64)2 * XP_WINDOW); seq++)
		lose_journal(a, seq, false);
}

/* One copy of two, at most. */
static void lose_head(struct arena *a, u64 *rng)
{
	static const u64 copy[] = { XP_SB_BLOCK_A, XP_SB_BLOCK_B, XP_FP_BLOCK_A, XP_FP_BLOCK_B };
	u32 n = below(rng, 4);

	if (unreadable(image.fast, true, copy[n ^ 1] * XP_BLOCK_SECTORS, 1))
		return;
	figures.bad_heads++;
	lose_block(a, copy[n], false);
}

static void lose_slow(struct arena *a, u64 *rng)
{
	u64 sector = below(rng, (u32)sim.slow.sectors);

	figures.bad_slow++;
	lose(a, true, sector, (u32)min(sim.slow.sectors - sector, (u64)1 + below(rng, 3)), stays(rng));
}

/* Where it hurts. A place of the ring that stays so is asked about at each turn: @lasting ones are few. */
static void lose_something(struct arena *a, const struct ends *e, bool lasting, u64 *rng)
{
	bool for_good = stays(rng) && !(lasting && below(rng, 8));

	switch (below(rng, sim.rest ? 12 : 10)) {
	case 0:
	case 1:
		lose_journal(a, e->seq + 1 + below(rng, XP_WINDOW + 1), for_good);
		break;
	case 2:
		lose_journal(a, e->seq - below(rng, 3), for_good);
		break;
	case 3:
		lose_journal(a, e->tail + below(rng, (u32)(e->seq - e->tail) + 1), for_good);
		break;
	case 4:
	case 5:
		lose_slot(a, slot_of_record(e->durable + 1 + below(rng, (u32)(e->seq - e->durable) + 1), rng), rng);
		break;
	case 6:
		lose_slot(a, slot_of_record(e->tail + below(rng, (u32)(e->seq - e->tail) + 1), rng), rng);
		break;
	case 7:
		lose_journal(a, below(rng, sim.geometry.ring), for_good);
		break;
	case 8:
		lose_head(a, rng);
		break;
	case 9:
		lose_slow(a, rng);
		break;
	default:
		lose_life(a, e, rng);
	}
}

void bad_spoil_image(struct arena *a, bool lasting, u64 *rng)
{
	u32 mark = image_mark(), n = chance(rng, 2) ? 1 : 1 + below(rng, 4);
	struct ends e = find_ends();

	if (chance(rng, 16))	/* it was for a while only */
		bad_return(rng);
	while (n--)
		lose_something(a, &e, lasting, rng);
	if (image_has_unread() && chance(rng, 2)) {
		u32 slot = slot_of_unread(rng);

		if (slot != ~0u)
			lose_slot(a, slot, rng);
	}
	if (ask_is_hopeless())
		image_rewind(mark);
}

bool bad_in_image(void)
{
	u64 s;

	for (s = 0; sim.geometry.bad && s < sim.fast.sectors; s++)
		if (image.fast[s]->under)
			return true;
	for (s = 0; sim.geometry.bad && s < sim.slow.sectors; s++)
		if (image.slow[s]->under)
			return true;
	return false;
}

void bad_return(u64 *rng)
{
	u64 block, i;

	for (block = 0; block < sim.fast.sectors / XP_BLOCK_SECTORS; block++) {
		u64 s = block * XP_BLOCK_SECTORS;

		if (!unreadable(image.fast, true, s, 1) || (rng && chance(rng, 2)))
			continue;
		figures.came_back++;
		for (i = s; i < s + XP_BLOCK_SECTORS; i++)
			if (image.fast[i]->under)
				image_put(false, i, image.fast[i]->under);
	}
}

/* ------------------------------------------------------- while running ---- */

static bool is_quiet(const struct disk *d, u64 sector, u32 nr)
{
	const struct write *w;

	for (w = d->pending; w; w = w->next)
		if (w->sector < sector + nr && sector < w->sector + w->nr)
			return false;
	return true;
}

/* Nothing is on its way there: what a cut leaves is what is read. */
static bool live_lose(struct disk *d, u64 sector, u32 nr, bool for_good)
{
	u64 s;

	if (!is_quiet(d, sector, nr))
		return false;
	for (s = sector; s < sector + nr; s++)
		d->floor[s] = d->seen[s] = content_unreadable(&sim.arena, d->seen[s], for_good);
	trace("--- the %s device cannot read %llu+%u%s", d->name, (unsigned long long)sector, nr,
	      for_good ? ", for good" : "");
	return true;
}

static bool live_lose_block(u64 block, bool for_good)
{
	return live_lose(&sim.fast, block * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, for_good);
}

/* A slot that is in use, if there is one. */
static u32 draw_slot(bool dirty, u64 *rng)
{
	u32 cursor = below(rng, sim.geometry.slots), turn;
	struct xp_mapping m;

	for (turn = 0; turn < 2; turn++, cursor = 0)
		while (xp_walk(sim.c, &cursor, &m))
			if (m.dirty == dirty && !m.zeros)
				return xp_slot_n(m.slot);
	return below(rng, sim.geometry.slots);
}

static u32 nr_bad_slots(void)
{
	u32 i, n = 0;

	for (i = 0; i < sim.geometry.slots; i++)
		n += unreadable(sim.fast.seen, true, slot_at(i) * XP_BLOCK_SECTORS, 1);
	return n;
}

/* Enough is left to work with. */
static void live_lose_slot(u64 *rng)
{
	if (nr_bad_slots() < sim.geometry.slots / 4)
		figures.bad_slots += live_lose_block(slot_at(draw_slot(chance(rng, 2), rng)), stays(rng));
}

static void live_lose_slow(u64 *rng)
{
	u64 sector = below(rng, (u32)sim.slow.sectors);
	u32 nr = (u32)min(sim.slow.sectors - sector, (u64)1 + below(rng, 3));

	figures.bad_slow += live_lose(&sim.slow, sector, nr, stays(rng));
}

static void live_return(u64 *rng)
{
	u64 s, first = below(rng, (u32)sim.fast.sectors / XP_BLOCK_SECTORS) * XP_BLOCK_SECTORS;

	for (s = first; s < sim.fast.sectors && !unreadable(sim.fast.seen, true, s, 1);)
		s += XP_BLOCK_SECTORS;
	if (s >= sim.fast.sectors || !is_quiet(&sim.fast, s, XP_BLOCK_SECTORS))
		return;
	figures.came_back++;
	trace("--- the fast device can read %llu again", (unsigned long long)s);
	for (first = s; s < first + XP_BLOCK_SECTORS; s++)
		if (sim.fast.seen[s]->under)
			sim.fast.floor[s] = sim.fast.seen[s] = sim.fast.seen[s]->under;
}

void bad_turn(u64 *rng)
{
	switch (below(rng, sim.geometry.bad_returns ? 8 : 6)) {
	case 0:
	case 1:
	case 2:
		live_lose_slot(rng);
		break;
	case 3:
		figures.bad_places += live_lose_block(ring_at(below(rng, sim.geometry.ring)), false);
		break;
	case 4:
	case 5:
		live_lose_slow(rng);
		break;
	default:
		live_return(rng);
	}
}

static bool is_stuck(const struct xp_mapping *m)
{
	return m->dirty && !m->zeros && (m->unread || unreadable(sim.fast.seen, true, xp_slot_sector(sim.c, m->slot), 1) || rot_is_in(m));
}

bool bad_is_unread(u64 sector, u32 nr)
{
	struct xp_mapping m;
	u64 block;

	for (block = sector / XP_BLOCK_SECTORS; block * XP_BLOCK_SECTORS < sector + nr; block++)
		if (xp_lookup(sim.c, XP_LBA(block), &m) && m.unread && oracle_stays_lost(block * XP_BLOCK_SECTORS, sim.now + 1))
			return true;
	return false;
}

u32 bad_stuck(u64 *lba, u32 max)
{
	struct xp_mapping m;
	u32 cursor = 0, n = 0;

	while (sim.geometry.bad && n < max && xp_walk(sim.c, &cursor, &m))
		if (is_stuck(&m))
			lba[n++] = xp_lba_n(m.lba);
	return n;
}

void bad_note_rest(void)
{
	struct xp_stats s;
	struct xp_fp fp;

	xp_get_stats(sim.c, &s);
	memset(&fp, 0, sizeof(fp));
	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, sim.sb.uuid, sizeof(fp.uuid));
	fp.serial = cpu_to_le64(++sim.rests);
	fp.seq = cpu_to_le64(s.seq);
	fp.incarnation = cpu_to_le64(s.incarnation);
	fp.checksum = cpu_to_le64(xp_xxh64(&fp, offsetof(struct xp_fp, checksum)));
	if (!live_media.write(NULL, sim.rests & 1 ? XP_FP_BLOCK_B : XP_FP_BLOCK_A, 1, &fp))
		sim.rest = s.seq;
}
