// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the superblock notes of a loss that was accepted, and which head a recovery takes then: rings that are made block by
 * block, with what no cut of a whole ring leaves.
 */
#include "unreadable.h"

#define BEGAN	50u	/* the head that the recovery which was cut began with */

static struct xp_jblock model;	/* a block of this cache without a record */

static int setup_empty(void **state)
{
	setup(state);
	model = *ring_block(&f, stats_of(&f).seq);
	memset(model.rec, 0, sizeof(model.rec));
	model.head.count = model.head.before = 0;
	for (u64 i = 0; i < ring_blocks(); i++)
		memset(ring_block(&f, i), 0, XP_BLOCK_SIZE);
	return 0;
}

static struct xp_jblock *put(u64 seq, u64 tail, u64 durable, u64 incarnation)
{
	struct xp_jblock *b = ring_block(&f, seq);

	*b = model;
	b->head.seq = cpu_to_le64(seq);
	b->head.tail_seq = cpu_to_le64(tail);
	b->head.durable_seq = cpu_to_le64(durable);
	b->head.incarnation = cpu_to_le64(incarnation);
	reseal(b);
	return b;
}

/* ... with one record of @kind; @lba's data is in the slot of that number. */
static void put_record(u64 seq, u64 tail, u64 incarnation, u64 lba, u32 kind)
{
	struct xp_jblock *b = put(seq, tail, seq, incarnation);

	b->head.count = cpu_to_le16(1);
	b->rec[0].lba = cpu_to_le64(lba | (u64)kind << 40 | (u64)(kind == XP_REC_MAP ? XP_REC_DIRTY : 0) << 48);
	b->rec[0].slot = cpu_to_le32((u32)lba);
	reseal(b);
}

static void note_loss(u64 head, u64 incarnation)
{
	f.sb.bad.losing = cpu_to_le32(1);
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	f.sb.loss.head = cpu_to_le64(head);
	f.sb.loss.incarnation = cpu_to_le64(incarnation);
	f.sb.generation = cpu_to_le64(100);
}

static void its_head_that_cannot_be_read_is_asked_about(void **state)
{
	(void)state;
	put(BEGAN, BEGAN, BEGAN, 1);
	note_loss(BEGAN, 1);
	lose_journal(BEGAN);
	assert_refused(restart(0), "a recovery that has been cut began with it");
	assert_int_equal(restart(XP_ACCEPT_LOSS), -EIO);	/* nothing else is there */
}

/* The user has accepted that records are refused; which of them, nobody noted. */
static void a_record_that_was_refused_is_so_again(void **state)
{
	(void)state;
	put_record(BEGAN - 1, BEGAN - 1, 1, 7, XP_REC_MAP);
	put_record(BEGAN, BEGAN - 1, 1, 8, 9);
	restart_refused(&f, "a record of unknown kind");
	note_loss(BEGAN, 1);
	assert_int_equal(restart(0), 0);
	assert_true(mapped_dirty(&f, 7));
	assert_int_equal(mapped_byte(&f, 8), -1);
	assert_false(is_losing());
}

static void a_noted_head_has_a_number_that_a_cache_comes_to(void **state)
{
	(void)state;
	put(BEGAN, BEGAN, BEGAN, 1);
	put(BEGAN + 1, BEGAN, BEGAN, XP_MAX_SEQ / 2);
	note_loss(BEGAN, 1);
	restart_refused(&f, "a number that no cache comes to");
}

/* Of holes: those that are named, and of older ones as many as had no room. */
static void put_head_without_chain(u32 holes)
{
	put(BEGAN, BEGAN - 39, BEGAN, 1);
	note_loss(BEGAN, 1);
	f.sb.loss.nr_holes = cpu_to_le32(holes);
	for (u32 i = 0; i < XP_LOSS_HOLES; i++)
		f.sb.loss.hole[i] = cpu_to_le64(BEGAN - 1 - i);
}

static void holes_that_had_no_room_in_the_note_were_accepted(void **state)
{
	(void)state;
	put_head_without_chain(39);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 0);
}

static void older_ones_than_so_many_were_not(void **state)
{
	(void)state;
	put_head_without_chain(XP_LOSS_HOLES + 3);
	restart_refused(&f, "more is lost than was accepted");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
}

/* ------------------------------------- which block is the newest of its own ---- */

/* Blocks behind one that was refused, each alone: their own number was another's until the superblock said so. */
static void put_alone(u32 nr)
{
	for (u32 i = 1; i <= nr; i++)
		put(BEGAN + 2 * i, BEGAN + 2 * i - 1, BEGAN, 2 + i);
	note_loss(BEGAN, 1);
}

static void none_of_its_own_that_lacks_one_is_its_head(void **state)
{
	(void)state;
	put_alone(3);
	restart_refused(&f, "a recovery that has been cut began with it");
	put(BEGAN, BEGAN, BEGAN, 1);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).seq, BEGAN + 2);
}

/* More than can have been under way. */
static void it_does_not_look_for_ever(void **state)
{
	(void)state;
	assert_true(ring_blocks() > 2 * 4 * XP_WINDOW + 2);
	put_alone(4 * XP_WINDOW + 1);
	restart_refused(&f, "a recovery that has been cut began with it");
}

/* It may be what was there. */
static void one_that_lacks_what_cannot_be_read_is(void **state)
{
	(void)state;
	put_alone(1);
	lose_journal(BEGAN + 1);
	assert_refused(restart(0), "more is lost than was accepted");
}

/* Whose number a block has taken is told by the incarnation: that rises there, and by what comes behind it. */
static void so_is_one_that_lacks_a_block_and_has_not_moved(void **state)
{
	(void)state;
	put(BEGAN, BEGAN, BEGAN, 1);
	put(BEGAN + 2, BEGAN, BEGAN, 2);
	note_loss(BEGAN, 1);
	restart_refused(&f, "more is lost than was accepted");
	put(BEGAN + 2, BEGAN, BEGAN, 3);
	put(BEGAN + 3, BEGAN, BEGAN, 3);
	restart_refused(&f, "more is lost than was accepted");
}

/* Of a gap tell all blocks behind it, but for a place that cannot be read, or was given up. */
static void put_behind_two_gaps(void)
{
	put(BEGAN, BEGAN, BEGAN, 1);
	put(BEGAN + 2, BEGAN + 2, BEGAN, 3);
	put(BEGAN + 5, BEGAN, BEGAN, 4);
	note_loss(BEGAN, 1);
}

static void what_has_moved_is_told_beside_one_that_cannot_be_read(void **state)
{
	(void)state;
	put_behind_two_gaps();
	lose_journal(BEGAN + 4);
	assert_refused(restart(0), "the last commit before the cut may be lost");	/* block BEGAN + 2 is taken */
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
}

static void what_has_moved_is_told_beside_one_that_was_given_up(void **state)
{
	(void)state;
	put_behind_two_gaps();
	f.sb.bad.nr_places = cpu_to_le32(1);
	f.sb.bad.place[0] = cpu_to_le32((BEGAN + 4) % (u32)ring_blocks());
	assert_int_equal(restart(0), 0);
	assert_false(is_losing());
	assert_true(le64_to_cpu(ring_block(&f, BEGAN + 5)->head.incarnation) > 4);	/* it was erased, and written anew */
}

/* ----------------------------------------------------------- without a note ---- */

/* Newer blocks let it be overwritten, and are gone. */
static void where_no_chain_is_whole_any_of_the_newest_may_be_missing(void **state)
{
	(void)state;
	put(10, 8, 8, 1);
	restart_refused(&f, "no block from which the mapping can be rebuilt");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).seq, 12);
}

/* But one that is there, and is not what the next one followed, is none of a chain. */
static void one_that_lacks_records_is_not_what_was_overwritten(void **state)
{
	struct xp_jblock *b;

	(void)state;
	put(8, 7, 6, 1);
	b = put(9, 8, 6, 1);
	b->head.before = cpu_to_le16(5);
	reseal(b);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).seq, 10);
}

/* A clean block whose slot cannot be read has no place among those that were not seen, nor have zeros. */
static void an_unproven_record_is_of_a_dirty_block(void **state)
{
	const u64 flags[] = { XP_REC_CHECKED, XP_REC_CHECKED | XP_REC_DIRTY | XP_REC_ZEROS };
	struct xp_jblock *b;

	(void)state;
	lose(le64_to_cpu(f.sb.data_start) + 7);
	for (u32 i = 0; i < 2; i++) {
		b = put(BEGAN, BEGAN, BEGAN - 1, 1);
		b->head.count = cpu_to_le16(1);
		b->rec[0].lba = cpu_to_le64(7 | (u64)XP_REC_MAP << 40 | flags[i] << 48);
		b->rec[0].slot = cpu_to_le32(7);
		reseal(b);
		restart_refused(&f, "an unproven record of a block that is clean, or zeros");
	}
}

static int read_of_one_place(void *ctx, u64 block, u32 nr, void *buf)
{
	u64 start = le64_to_cpu(f.sb.journal_start), one = start + BEGAN % ring_blocks();

	if (block < start + ring_blocks() && block + nr > start && (block != one || nr != 1))
		return -EIO;
	return whole_read(ctx, block, nr, buf);
}

static void one_block_of_a_ring_that_cannot_be_read_is_asked_about(void **state)
{
	(void)state;
	put(BEGAN, BEGAN, BEGAN, 1);
	f.media.read = read_of_one_place;
	assert_refused(restart(0), "the last commit before the cut may be lost");
}

#define E(name) TEST_WITH(name, setup_empty, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		E(its_head_that_cannot_be_read_is_asked_about),
		E(a_record_that_was_refused_is_so_again),
		E(a_noted_head_has_a_number_that_a_cache_comes_to),
		E(holes_that_had_no_room_in_the_note_were_accepted),
		E(older_ones_than_so_many_were_not),
		E(none_of_its_own_that_lacks_one_is_its_head),
		E(it_does_not_look_for_ever),
		E(one_that_lacks_what_cannot_be_read_is),
		E(so_is_one_that_lacks_a_block_and_has_not_moved),
		E(what_has_moved_is_told_beside_one_that_cannot_be_read),
		E(what_has_moved_is_told_beside_one_that_was_given_up),
		E(where_no_chain_is_whole_any_of_the_newest_may_be_missing),
		E(one_that_lacks_records_is_not_what_was_overwritten),
		E(an_unproven_record_is_of_a_dirty_block),
		E(one_block_of_a_ring_that_cannot_be_read_is_asked_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
