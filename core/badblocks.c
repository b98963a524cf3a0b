// SPDX-License-Identifier: GPL-2.0-only
/*
 * badblocks.c - what the fast device cannot write: places of the journal ring, and slots. And the
 * superblock that says so.
 *
 * A journal block that is refused twice needs another place: the next good one. There the block
 * behind it lies already, or is about to, and so on: all from the refused one on are written once
 * more, each a place further.
 *
 *	SEALED --refused twice--> REFUSED   (others still on their way end first)
 *	   ^                         | renumbered: all from it on
 *	   `---- one by one ------ MOVED
 *	WRITTEN, all of them --> superblock, with the bad place --> written
 *
 * I2: nothing from the refused block on has been acknowledged, nor is before the superblock is
 * durable. It must come last: until then a recovery finds a gap at the bad place and stops before
 * it; from then on it steps over the place, and finds all behind it as it is to be. The other way
 * round it could take up a block that was written before it was renumbered, without the one before
 * that. Nor may it if the refused block has landed after all, and there is no gap: so what is
 * renumbered is of a new incarnation, and none of an older one is taken up behind it. And each is
 * on the medium before the next is written: else it could be taken up behind what its place before
 * held until now, without its own.
 *
 * I10: "The ring never fills" counts on places that may all be good. So its thresholds are of a
 * ring that has as many bad ones as it may have, from the start (journal.usable).
 */
#include "badblocks.h"
#include "journal.h"
#include "media.h"
#include "slot.h"
#include "super.h"
#include "superblock.h"

static bool lists(const __le32 *list, u32 n, u64 what)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (le32_to_cpu(list[i]) == what)
			return true;
	return false;
}

bool xp_sb_place_is_bad(const struct xp_sb *sb, u64 position)
{
	return lists(sb->bad.place, le32_to_cpu(sb->bad.nr_places), position);
}

bool place_avoided(const struct xp *c, u64 number)
{
	return lists(c->super.sb->bad.place, c->super.nr_avoided, journal_position(c, number));
}

/* Not in the superblock yet. False: no more may be bad. */
static bool avoid(struct xp *c, u32 position)
{
	struct xp_super *s = &c->super;

	if (s->nr_avoided == s->spare_places)
		return false;
	s->sb->bad.place[s->nr_avoided++] = cpu_to_le32(position);
	return true;
}

static void changed(struct xp_super *s)
{
	s->sb->incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	s->changes++;
}

static void note_avoided(struct xp_super *s)
{
	if (le32_to_cpu(s->sb->bad.nr_places) == s->nr_avoided)
		return;
	s->sb->bad.nr_places = cpu_to_le32(s->nr_avoided);
	changed(s);
}

bool place_give_up(struct xp *c, u64 position)
{
	if (!avoid(c, (u32)position))
		return false;
	note_avoided(&c->super);
	return true;
}

void place_take_back(struct xp *c, u32 i)
{
	struct xp_super *s = &c->super;

	s->sb->bad.place[i] = s->sb->bad.place[--s->nr_avoided];
	note_avoided(s);
}

/* ------------------------------------------------------- the superblock ---- */

bool super_is_losing(const struct xp *c)
{
	return le32_to_cpu(c->super.sb->bad.losing);
}

int super_lose(struct xp *c, const struct xp_sb_loss *loss, const struct xp_media *m, void *block)
{
	static const struct xp_sb_loss none;
	struct xp_sb *sb = c->super.sb;
	bool losing = loss;

	loss = loss ? loss : &none;
	if (super_is_losing(c) == losing && !memcmp(&sb->loss, loss, sizeof(*loss)))
		return 0;
	sb->bad.losing = cpu_to_le32(losing);
	sb->loss = *loss;
	changed(&c->super);
	return super_write_now(c, m, block);
}

int super_feature(struct xp *c, u64 bit, bool on, const struct xp_media *m, void *block)
{
	struct xp_super *s = &c->super;
	u64 had = le64_to_cpu(s->sb->incompat);

	if (!(had & bit) == !on)
		return 0;
	s->sb->incompat = cpu_to_le64(had ^ bit);
	s->changes++;
	return super_write_now(c, m, block);
}

int super_size(struct xp *c, u64 sectors, u64 was, const struct xp_media *m, void *block)
{
	struct xp_sb *sb = c->super.sb;

	sectors -= c->pad;
	was = was ? was - c->pad : 0;
	if (le64_to_cpu(sb->slow.sectors) == sectors && le64_to_cpu(sb->slow_was) == was)
		return 0;
	sb->slow.sectors = cpu_to_le64(sectors);
	sb->slow_was = cpu_to_le64(was);
	c->super.changes++;
	return super_write_now(c, m, block);
}

static const u64 block_of[2] = { XP_SB_BLOCK_A, XP_SB_BLOCK_B };

/* Whatever becomes of the copy that is written first, the other is whole. */
static void super_begin(struct xp_super *s)
{
	s->sb->generation = cpu_to_le64(le64_to_cpu(s->sb->generation) + 1);
	s->copy = s->whole[0];
	s->tries = 0;
}

void super_write(struct xp *c, struct xp_todo *todo)
{
	if (c->super.state != SUPER_REST)
		return;		/* super_end() comes back */
	super_begin(&c->super);
	c->super.state = SUPER_FIRST;
	todo->journal |= 1u << XP_SUPERBLOCK;
}

/* What is bad while it is being given another place is not said. */
static void super_copy(struct xp_super *s)
{
	u32 n = le32_to_cpu(s->sb->bad.nr_places);

	*s->io = *s->sb;
	memset(&s->io->bad.place[n], 0, (XP_BAD_PLACES - n) * sizeof(s->io->bad.place[0]));
	xp_sb_seal(s->io);
	s->writing = s->changes;
}

void super_io(struct xp *c, struct xp_journal_io *io)
{
	struct xp_super *s = &c->super;

	xp_lock(&c->lock);
	if (s->state == SUPER_FIRST)
		super_copy(s);
	io->data = s->io;
	io->bytes = XP_BLOCK_SIZE;
	io->target = block_of[s->copy] * XP_BLOCK_SECTORS;
	io->flush_fua = c->opt.volatile_fast;
	xp_unlock(&c->lock);
}

static void super_rest(struct xp *c, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;

	s->state = SUPER_REST;
	s->written = s->writing;
	if (s->written != s->changes)
		super_write(c, todo);
}

bool super_end(struct xp *c, int err, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;

	s->whole[s->copy] = !err;
	if (error_of_place(err) && !s->tries++) {
		todo->journal |= 1u << XP_SUPERBLOCK;
		return true;
	}
	/* an older copy that is whole may be left: nothing is built on the newer alone */
	if (err) {
		s->state = SUPER_REST;
		return false;
	}
	if (s->state == SUPER_SECOND) {
		super_rest(c, todo);
	} else {
		s->copy = !s->copy;
		s->tries = 0;
		s->state = SUPER_SECOND;
		todo->journal |= 1u << XP_SUPERBLOCK;
	}
	return true;
}

static int write_copy(struct xp_super *s, const struct xp_media *m)
{
	int err = m->write(m->ctx, block_of[s->copy], 1, s->io);

	if (error_of_place(err))
		err = m->write(m->ctx, block_of[s->copy], 1, s->io);
	s->whole[s->copy] = !err;
	return err;
}

/*
 * I2, I10: if the newer one cannot be read some day, an older one would be believed, and it says of
 * other places that they are skipped. Where its place took no write it is mostly not whole any
 * more.
 */
static bool older_is_left(struct xp_super *s, const struct xp_media *m, struct xp_sb *block)
{
	return !m->read(m->ctx, block_of[s->copy], 1, block) &&
	       !memcmp(block->magic, XP_SB_MAGIC, sizeof(block->magic)) &&
	       le64_to_cpu(block->checksum) == xp_xxh64(block, offsetof(struct xp_sb, checksum));
}

int super_write_now(struct xp *c, const struct xp_media *m, void *block)
{
	struct xp_super *s = &c->super;
	int err;

	super_begin(s);
	super_copy(s);
	err = write_copy(s, m);
	if (err)
		return err;
	s->copy = !s->copy;
	err = write_copy(s, m);
	s->written = s->writing;
	return error_of_place(err) && !older_is_left(s, m, block) ? 0 : err;
}

/*
 * With the places of before in one copy, and those of now in the other, a cut and a bad sector
 * would be the end.
 */
static bool other_places_left(struct xp_super *s, const struct xp_media *m, struct xp_sb *block)
{
	return older_is_left(s, m, block) && !xp_sb_same_places(block, s->sb);
}

/* A copy that is as the superblock is now. */
static bool is_whole(const struct xp_super *s, u32 copy, const struct xp_media *m, void *block)
{
	return !m->read(m->ctx, block_of[copy], 1, block) && !memcmp(block, s->io, XP_BLOCK_SIZE);
}

int super_mend(struct xp *c, const struct xp_media *m, void *block)
{
	struct xp_super *s = &c->super;
	int err = 0;

	*s->io = *s->sb;
	for (s->copy = 0; s->copy < 2; s->copy++)
		s->whole[s->copy] = is_whole(s, s->copy, m, block);
	for (s->copy = 0; s->copy < 2 && (!err || error_of_place(err)); s->copy++)
		if (!s->whole[s->copy] && s->whole[!s->copy]) {
			err = write_copy(s, m);
			if (error_of_place(err) && other_places_left(s, m, block))
				return err;
		}
	return error_of_place(err) ? 0 : err;
}

int super_both(struct xp *c, const struct xp_media *m, void *block)
{
	int err = super_mend(c, m, block);

	return err || (c->super.whole[0] && c->super.whole[1]) ? err : -EIO;
}

/* ------------------------------------------------------------- the ring ---- */

bool journal_refused(struct xp *c, struct xp_window *w, int err, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;

	if (!error_of_place(err))
		return false;
	if (!w->tries++) {
		todo->journal |= 1u << (w->seq % XP_WINDOW);
		return true;
	}
	w->state = BLOCK_REFUSED;
	j->rerouting = true;
	return ++j->refused <= XP_WINDOW;
}

static bool any(struct xp *c, enum xp_block_state state)
{
	u64 seq;

	for (seq = c->journal.written + 1; seq <= c->journal.sealed; seq++)
		if (journal_window(c, seq)->state == state)
			return true;
	return false;
}

static bool avoid_refused(struct xp *c)
{
	u64 seq;

	for (seq = c->journal.written + 1; seq <= c->journal.sealed; seq++) {
		const struct xp_window *w = journal_window(c, seq);

		if (w->state == BLOCK_REFUSED && !avoid(c, w->position))
			return false;
	}
	return true;
}

/* In order: the last that has a record of a slot has its newest. */
static void move_records(struct xp *c, u64 seq, const struct xp_window *w)
{
	const struct xp_jblock *b = journal_buffer(c, seq);
	u32 i;

	for (i = 0; i < w->nr; i++)
		journal_goes_along(c, &b->rec[i], w->position);
}

/* Of those in the window, and not known to be written. */
struct numbers {
	u64 first, nr;		/* seqs */
	u64 was[XP_WINDOW + 1], now[XP_WINDOW + 1];
};

static void new_numbers(struct xp *c, struct numbers *n)
{
	const struct xp_journal *j = &c->journal;
	u64 number = j->written_number, i;

	n->first = j->written + 1;
	n->nr = j->sealed - j->written + (journal_window(c, journal_open(c))->state == BLOCK_OPEN);
	for (i = 0; i < n->nr; i++) {
		number = number_after(c, number);
		n->was[i] = journal_window(c, n->first + i)->number;
		n->now[i] = number;
	}
}

static u64 number_now(const struct numbers *n, u64 number)
{
	u64 i;

	for (i = 0; i < n->nr; i++)
		if (n->was[i] == number)
			return n->now[i];
	return number;
}

static void change_number(struct xp *c, struct xp_window *w, const struct numbers *n)
{
	struct xp_jheader *h = &journal_buffer(c, w->seq)->head;

	w->tail = number_now(n, w->tail);
	h->seq = cpu_to_le64(w->number);
	h->tail_seq = cpu_to_le64(w->tail);
	h->incarnation = cpu_to_le64(c->journal.incarnation);
	w->state = BLOCK_MOVED;
	w->tries = 0;
}

/* The first of those that have moved. False: there is none. */
static bool send_moved(struct xp *c, struct xp_todo *todo)
{
	u64 seq;

	for (seq = c->journal.written + 1; seq <= c->journal.sealed; seq++) {
		struct xp_window *w = journal_window(c, seq);

		if (w->state != BLOCK_MOVED)
			continue;
		w->state = BLOCK_SEALED;
		todo->journal |= 1u << (seq % XP_WINDOW);
		return true;
	}
	return false;
}

static bool renumber(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal *j = &c->journal;
	struct numbers n = { .nr = 0 };
	u64 i;

	new_numbers(c, &n);
	XP_ASSERT(n.nr);
	if (n.now[n.nr - 1] >= j->tail_written + j->blocks)
		return false;
	j->incarnation++;
	c->stats.reroutes++;
	for (i = 0; i < n.nr; i++) {
		struct xp_window *w = journal_window(c, n.first + i);

		w->number = n.now[i];
		w->position = journal_position(c, w->number);
		move_records(c, n.first + i, w);
		if (w->seq <= j->sealed)
			change_number(c, w, &n);
	}
	j->tail = number_now(&n, j->tail);
	j->sealed_number = journal_window(c, j->sealed)->number;
	return send_moved(c, todo);
}

bool journal_reroute(struct xp *c, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;

	if (any(c, BLOCK_SEALED))
		return true;
	if (any(c, BLOCK_REFUSED))
		return avoid_refused(c) && renumber(c, todo);
	if (send_moved(c, todo))
		return true;
	note_avoided(s);
	if (s->written == s->changes)
		c->journal.rerouting = false;
	else
		super_write(c, todo);
	return true;
}

/* ---------------------------------------------------------------- slots ---- */

bool slot_listed_bad(const struct xp *c, u32 i)
{
	return lists(c->super.sb->bad.slot, c->super.nr_bad_slots, i);
}

u32 slots_given_up(const struct xp *c)
{
	u32 k, n = 0;

	for (k = 0; k < c->super.nr_bad_slots; k++)
		n += c->entry[le32_to_cpu(c->super.sb->bad.slot[k])].state == SLOT_FREE;
	return n;
}

/* A device that fails all of them for a while must not cost the cache. */
static u32 bad_slots_max(const struct xp *c)
{
	return min(XP_BAD_SLOTS, c->nr_slots / 4);
}

static void give_up_slot(struct xp *c, u32 i, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;

	if (s->nr_bad_slots >= bad_slots_max(c) || slot_is_bad(c, i))
		return;
	s->sb->bad.slot[s->nr_bad_slots++] = cpu_to_le32(i);
	s->sb->bad.nr_slots = cpu_to_le32(s->nr_bad_slots);
	changed(s);
	if (slots_is_free(c, i))
		slots_mark_used(c, i);
	super_write(c, todo);
}

bool slot_is_suspect(const struct xp *c, xp_slot_t slot)
{
	u32 i;

	for (i = 0; c->any_suspect && i < XP_SUSPECTS; i++)
		if (xp_slot_n(slot) - c->suspect[i].first < c->suspect[i].nr)
			return true;
	return false;
}

void slots_suspect(struct xp *c, xp_slot_t first, u32 nr)
{
	c->suspect[c->next_suspect++ % XP_SUSPECTS] = (struct xp_slots){ xp_slot_n(first), nr };
	c->any_suspect = true;
}

void slots_refused(struct xp *c, xp_slot_t first, u32 nr, struct xp_todo *todo)
{
	if (nr == 1)
		give_up_slot(c, xp_slot_n(first), todo);
	else
		slots_suspect(c, first, nr);
}

void slot_failed_again(struct xp *c, xp_slot_t slot, struct xp_todo *todo)
{
	if (slot_is_suspect(c, slot))
		give_up_slot(c, xp_slot_n(slot), todo);
	else
		slots_suspect(c, slot, 1);
}

u32 slots_together(const struct xp *c, u32 first, u32 want)
{
	u32 i;

	for (i = 0; i < XP_SUSPECTS; i++) {
		const struct xp_slots *s = &c->suspect[i];

		if (first - s->first < s->nr)
			return 1;
		if (s->nr && s->first - first < want)
			want = s->first - first;
	}
	return want;
}
