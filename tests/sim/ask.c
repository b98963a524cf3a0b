// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask.c - of an image that cannot be read everywhere: may recovery refuse it? What does it tell before
 * it goes on all the same?
 */
#include "image.h"
#include "life.h"
#include "look.h"
#include "message.h"
#include "run.h"
#include "witness.h"
#include "checksum.h"
#include "xpcache.h"

/* What a recovery that only looks has seen. */
struct sight {
	int err;
	struct xp_message msg;
	struct xp *c;
	struct xp_ring_block head;	/* the last one that it tried */
	bool needed;			/* something that cannot be read has to do with one of them */
	bool undecided[SECTORS_MAX / 8];
	u64 hash[SECTORS_MAX / 8];	/* and what the records say of these */
};

/* Of the ring, in the image that was looked at last. */
static bool *given_up;		/* places that belong to no number */
static u64 *incarnation;	/* of the block that is there; 0: none that is valid */
static u64 settled;		/* the journal block that a loss has ended with; 0: none was accepted */
static u32 wish;		/* what the user accepts before being asked */

void ask_anew(u32 accept)
{
	memset(&told, 0, sizeof(told));
	settled = 0;
	wish = accept;
}

static void see_place(void *ctx, u64 position, enum xp_place place, const struct xp_jblock *b)
{
	(void)ctx;
	given_up[position] = place == XP_PLACE_BAD;
	incarnation[position] = place == XP_PLACE_VALID ? le64_to_cpu(b->head.incarnation) : 0;
	if (!given_up[position] && !b != (place == XP_PLACE_UNREADABLE))
		violation(P_UNREADABLE, "place %llu of the ring is said to be what it is not", (unsigned long long)position);
}

static bool place_unreadable(u64 seq)
{
	u64 block = le64_to_cpu(sim.sb.journal_start) + seq % sim.geometry.ring;

	return !given_up[seq % sim.geometry.ring] && unreadable(image.fast, true, block * XP_BLOCK_SECTORS, 1);
}

/* Places that cannot be read, of blocks from @first to @last. */
static u32 nr_unreadable(const struct xp_ring_block *head, u64 first, u64 last)
{
	u64 seq;
	u32 n = 0;

	for (seq = first; seq <= last && seq - head->tail < sim.geometry.ring; seq++)
		n += place_unreadable(seq);
	return n;
}

/* The last place where a commit after the head may have been: no more than a window from the first where none has been. */
static u64 window_end(const struct xp_ring_block *head)
{
	u64 seq = head->seq;
	u32 left = XP_WINDOW;

	while (left && seq - head->tail < sim.geometry.ring) {
		seq++;
		left -= !given_up[seq % sim.geometry.ring] && (left < XP_WINDOW || !place_unreadable(seq));
	}
	return seq;
}

/* Of the chain, and where the next commit may have been. */
static u32 nr_needed(const struct xp_ring_block *head)
{
	return nr_unreadable(head, max(head->tail, settled + 1), window_end(head));
}

static void see_candidate(void *ctx, const struct xp_ring_block *b, u64 breaks_at)
{
	struct sight *s = ctx;

	(void)breaks_at;
	s->head = *b;
	s->needed |= nr_needed(b);
}

/* The last that is said of a block counts. */
static void see_record(void *ctx, const struct xp_said *said, const struct xp_message *why)
{
	struct sight *s = ctx;
	u64 block = xp_lba_n(said->lba);

	(void)why;
	if (said->verdict != XP_UNREADABLE_DATA && (said->verdict != XP_REPLAYED || said->kind == XP_REC_CLEAN))
		return;
	s->hash[block] = said->hash;
	if (!(said->flags & XP_REC_UNREAD))	/* else it is as it was, or is proven */
		s->undecided[block] = said->verdict != XP_REPLAYED;
}

/* @truth: as if all could be read. */
static struct sight see(void *memory, u32 accept, bool truth)
{
	struct sight s = { 0 };
	struct xp_witness w = { &s, see_place, see_candidate, see_record };

	given_up = arena_alloc(&sim.state, sim.geometry.ring * sizeof(*given_up));
	incarnation = arena_alloc(&sim.state, sim.geometry.ring * sizeof(*incarnation));
	s.err = look_as(memory, &s.c, accept, truth, &w, &s.msg);
	return s;
}

static u32 nr_blocks(const struct xp_ring_block *head)
{
	u64 seq;
	u32 n = 0;

	for (seq = head->tail; seq <= head->seq; seq++)
		n += !given_up[seq % sim.geometry.ring];
	return n;
}

/* Not one block of the chain can be read. */
static bool is_hopeless(void *memory)
{
	struct sight s = see(memory, 0, true);

	return s.err || nr_unreadable(&s.head, s.head.tail, s.head.seq) == nr_blocks(&s.head);
}

bool ask_is_hopeless(void)
{
	return is_hopeless(state_memory);
}

/* What a loss has left behind is erased; where the blocks that were written instead cannot be read either it
 * is missed, and looks like damage. That can be accepted as well.
 * And where no chain is whole without, nobody is asked about one: -EIO. The loss can be accepted all the same. */
static bool asks(int err)
{
	return err == -EBADMSG || err == -EIO || (err == -EUCLEAN && told.asked);
}

static void check_refusal(const struct sight *s, void *memory)
{
	bool *skipped = given_up;
	struct sight truth = see(memory, 0, true);
	/* Else the newer superblock cannot be read, and says of other places that they are skipped. */
	bool alike = !memcmp(skipped, given_up, sim.geometry.ring * sizeof(*given_up));

	figures.refusals++;
	if (!asks(s->err) || !s->msg.text[0])
		violation(P_UNREADABLE, "an image with unreadable sectors is refused with %d: %s", s->err, s->msg.text);
	if (!s->needed)
		violation(P_UNREADABLE, "refused, and nothing that is needed is unreadable: %s", s->msg.text);
	if (alike && !truth.err && !nr_needed(&truth.head))
		violation(P_UNREADABLE, "refused, and nothing was needed of what is unreadable: %s", s->msg.text);
	if (refused_image_writes(memory) != s->err)
		violation(P_UNREADABLE, "a start and a look do not refuse alike: %s", s->msg.text);
}

static void note_doubtful(const struct sight *s)
{
	struct xp_mapping m;
	u32 cursor = 0;

	told.loss = true;
	told.head = s->head.seq;
	while (xp_walk(s->c, &cursor, &m)) {
		told.doubtful[xp_lba_n(m.lba)] |= m.doubtful;
		figures.doubtful += m.doubtful;
	}
}

static u64 newest_incarnation(void)
{
	u64 newest = 0, place;

	for (place = 0; place < sim.geometry.ring; place++)
		newest = max(newest, incarnation[place]);
	return newest;
}

static void note_loss(const struct sight *s)
{
	figures.losses++;
	told.began = s->head.seq;
	told.incarnation = newest_incarnation();
	told.lost += nr_unreadable(&s->head, s->head.tail, window_end(&s->head));
	told.asked++;
	note_doubtful(s);
}

/* Among what the recovery that was cut has written. */
static u32 nr_unheard_of(const struct xp_ring_block *head)
{
	u64 seq = head->seq;

	while (seq > head->tail && (place_unreadable(seq) || incarnation[seq % sim.geometry.ring] == head->incarnation))
		seq--;
	return nr_unreadable(head, seq + 1, head->seq);
}

/* One that was cut goes on. How much it has lost was said then. */
static void note_unended(const struct sight *s)
{
	if (told.loss && s->head.seq != told.began && s->head.incarnation <= told.incarnation)
		violation(P_UNREADABLE, "the user was asked about journal block %llu, and a recovery that was cut goes on with %llu",
			  (unsigned long long)told.began, (unsigned long long)s->head.seq);
	if (told.loss && s->head.incarnation > told.incarnation && !(wish & XP_ACCEPT_LOSS) && nr_unheard_of(&s->head))
		violation(P_UNREADABLE, "a recovery that was cut goes on without what nobody was asked about");
	figures.unended++;
	told.unended |= !told.loss;
	note_doubtful(s);
}

/* Of the slot as the image has it: can it be read, and is it what its record names? */
static bool is_proven(const struct sight *s, const struct xp_mapping *m)
{
	u64 first = xp_slot_sector(s->c, m->slot), i;
	u8 bytes[XP_BLOCK_SIZE];

	for (i = 0; i < XP_BLOCK_SECTORS; i++)
		sector_copy(bytes + i * SECTOR, image.fast[first + i]->bytes);
	return !unreadable(image.fast, true, first, XP_BLOCK_SECTORS) &&
	       xp_checksum(bytes, XP_BLOCK_SIZE) == s->hash[xp_lba_n(m->lba)];
}

/* 13: what can be read is not an error, and what is one is told. */
static void check_unread(const struct sight *s)
{
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(s->c, &cursor, &m)) {
		if (!m.unread)
			continue;
		figures.unread++;
		if (is_proven(s, &m))
			violation(P_UNREADABLE, "block %llu is an error, and its slot can be read and holds what was written",
				  (unsigned long long)xp_lba_n(m.lba));
	}
}

static void note_undecided(const struct sight *s)
{
	u32 i;

	check_unread(s);

	for (i = 0; i < SECTORS_MAX / 8; i++) {
		told.undecided[i] |= s->undecided[i];
		figures.undecided += s->undecided[i];
	}
	told.older |= !!(wish & XP_ACCEPT_OLDER);
}

static u32 accept_loss(const struct sight *refused, void *memory)
{
	struct sight s;

	check_refusal(refused, memory);
	if (is_hopeless(memory))
		run_abandon();
	s = see(memory, XP_ACCEPT_LOSS | wish, false);
	if (s.err) {
		violation(P_UNREADABLE, "refused for good: %s", s.msg.text);
		run_abandon();
	}
	note_loss(&s);
	note_undecided(&s);
	return XP_ACCEPT_LOSS | wish;
}

u32 ask(void *memory)
{
	struct sight s;

	bool losing = sim.geometry.bad && image_is_losing();

	if (!bad_in_image() && !losing && !image_has_unread())
		return 0;
	s = see(memory, wish, false);
	if (s.err)
		return accept_loss(&s, memory);
	if (losing)
		note_unended(&s);
	note_undecided(&s);
	if (nr_unreadable(&s.head, s.head.seq + 1, window_end(&s.head)))
		figures.rested++;
	else
		figures.unneeded += nr_unreadable(&s.head, window_end(&s.head) + 1, UINT64_MAX) != 0;
	return wish;
}

void ask_settled(void)
{
	if (told.loss)
		settled = told.head;
	wish = 0;
}
