// SPDX-License-Identifier: GPL-2.0-only
/* A recovery that goes on without what is lost, with the user's consent, and is cut: the next one keeps to what was accepted. */
#include "unreadable.h"

/*
 * A recovery that went on without what it could not read was cut: it had erased that place, and what the blocks before it
 * had been needed for. Nothing tells any more why they are missed, but that it has not ended.
 */
static void one_that_was_cut_goes_on_without_what_it_has_erased(void **state)
{
	u64 seq, newest;

	(void)state;
	fixture_reopen(&f);
	write_dirty(1, 1, 9);
	write_under_way(&f, 2, 1);
	write_under_way(&f, 3, 2);
	write_under_way(&f, 4, 3);
	newest = stats_of(&f).seq;
	for (seq = newest - 2; seq; seq--)
		memset(ring_block(&f, seq), 0, XP_BLOCK_SIZE);
	assert_int_equal(restart(0), -EUCLEAN);
	assert_int_equal(f.media_writes, 0);
	f.sb.bad.losing = cpu_to_le32(1);
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	f.sb.generation = cpu_to_le64(100);
	assert_int_equal(restart(0), -EUCLEAN);	/* a version before did not note which */
	f.sb.loss.head = cpu_to_le64(newest);
	f.sb.loss.incarnation = ring_block(&f, newest)->head.incarnation;
	f.sb.loss.nr_holes = cpu_to_le32(BLOCKS);
	for (u32 i = 0; i < XP_LOSS_HOLES; i++)	/* the newest of them */
		f.sb.loss.hole[i] = cpu_to_le64(newest - 2 - i);
	assert_int_equal(restart(0), 0);
	assert_int_equal(mapped_byte(&f, 4), 3);
	assert_int_equal(restart(0), 0);
	assert_int_equal(mapped_byte(&f, 4), 3);
}

/* A ring that has gone round, with ten commits of late. Returns the number of the newest. */
static u64 go_round(void)
{
	u64 i;

	for (i = 0; i < 600; i += 60)
		write_dirty(i, 60, 1);
	while (stats_of(&f).seq < ring_blocks() || stats_of(&f).seq % ring_blocks() != 93)
		write_dirty(50000, 1, 2);
	for (i = 0; i < 10; i++)
		write_dirty(60000 + i, 1, 3);
	return stats_of(&f).seq;
}

static u64 newest_in_ring(void)
{
	u64 i, newest = 0;

	for (i = 0; i < ring_blocks(); i++)
		newest = max(newest, le64_to_cpu(ring_block(&f, i)->head.seq));
	return newest;
}

/* Of those up to @seq none is left that is older than one that is not. */
static void assert_oldest_went_first(u64 seq, u64 newest)
{
	bool gone = false;

	for (; seq + ring_blocks() > newest; seq--) {
		bool there = le64_to_cpu(ring_block(&f, seq)->head.seq) == seq;

		assert_false(there && gone);
		gone |= !there;
	}
}

static u8 *image;	/* of the fast device, for cut_after() */

static void keep_image(void)
{
	image = malloc(f.fast_blocks * XP_BLOCK_SIZE);
	memcpy(image, f.fast, f.fast_blocks * XP_BLOCK_SIZE);
}

static int teardown_image(void **state)
{
	free(image);
	image = NULL;
	return teardown(state);
}

/*
 * A recovery with consent from the image that is cut after @n writes: @nr blocks of the journal, @lost and those before it, cannot
 * be read. False: it came to its end.
 */
static bool cut_after(u32 n, u64 lost, u32 nr)
{
	memcpy(f.fast, image, f.fast_blocks * XP_BLOCK_SIZE);
	assert_false(is_losing());
	nr_bad = 0;
	while (nr--)
		lose_journal(lost - nr);
	f.media.write = last_write;
	writes_left = n;
	if (!restart(XP_ACCEPT_LOSS))
		return false;
	writes_left = ~0u;
	return true;
}

/* No older head is left whole with newer ones gone; and of what was written last the user is asked. */
static void a_cut_while_older_ones_are_erased(void **state)
{
	u64 seq = go_round(), newest;
	u32 n, asked = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, seq + 1, 1); n++) {
		newest = newest_in_ring();
		if (!is_losing() || newest == seq)
			continue;
		assert_oldest_went_first(seq, newest);
		lose_journal(newest);	/* what was written last before the cut */
		if (newest == seq + 1) {	/* is that which could not be read before */
			assert_int_equal(restart(0), 0);
			continue;
		}
		assert_int_equal(restart(0), -EBADMSG);
		assert_int_equal(f.media_writes, 0);
		asked++;
		assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		assert_true(stats_of(&f).seq > seq);
	}
	assert_true(asked > 100);
}

/* Not with the newest block there is, which lacks what the user was not asked about; nor with none, when its traces are gone. */
static void one_that_was_cut_goes_on_with_its_head(void **state)
{
	struct xp_jblock *b;
	u64 seq;
	u32 n;

	(void)state;
	write_dirty(0, 10, 7);
	write_dirty(100, 1, 8);		/* cannot be read, */
	write_dirty(200, 1, 8);		/* says the ten anew, and has not landed */
	write_dirty(300, 1, 8);
	seq = stats_of(&f).seq;
	b = ring_block(&f, seq);
	b->head.durable_seq = cpu_to_le64(seq - 2);
	b->head.tail_seq = cpu_to_le64(seq - 1);
	reseal(b);
	memset(ring_block(&f, seq - 1), 0, XP_BLOCK_SIZE);
	keep_image();
	for (n = 0; cut_after(n, seq - 2, 1); n++) {
		if (restart(0))
			assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		for (u64 lba = 0; lba < 10; lba++)
			assert_int_equal(mapped_byte(&f, lba), 7);
	}
	assert_true(n > 3);
}

/* The last eight commits were under way at once, and have landed; the third of them is to be lost. Returns the last. */
static u64 write_at_once(void)
{
	u64 h;

	write_dirty(0, 1500, 1);
	for (u32 i = 0; i < 8; i++)
		write_dirty(60000 + i, 1, 3);
	h = stats_of(&f).seq;
	for (u64 seq = h - 5; seq <= h; seq++) {
		ring_block(&f, seq)->head.durable_seq = cpu_to_le64(h - 6);
		reseal(ring_block(&f, seq));
	}
	return h;
}

static void assert_the_other_seven(void)
{
	for (u32 i = 0; i < 8; i++)
		assert_true(i == 2 || mapped_byte(&f, 60000 + i) == 3);
}

/* As zeros, and no older block is the head for that. */
static void a_hole_can_be_read_again_after_a_cut(void **state)
{
	u64 h = write_at_once();
	u32 n, went_on = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, h - 5, 1); n++) {
		if (!is_losing())
			continue;
		memset(ring_block(&f, h - 5), 0, XP_BLOCK_SIZE);
		nr_bad = 0;
		assert_int_equal(restart(0), 0);
		assert_the_other_seven();
		went_on++;
	}
	assert_true(went_on > 20);
}

static void what_it_has_written_is_asked_about(void **state)
{
	u64 h = write_at_once(), newest;
	u32 n, asked = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, h - 5, 1); n++) {
		newest = newest_in_ring();
		if (!is_losing() || newest == h)
			continue;
		lose_journal(newest);
		asked++;
		assert_int_equal(restart(0), -EBADMSG);
		assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		assert_true(stats_of(&f).seq >= newest);
	}
	assert_true(asked > 20);
}

static void what_is_lost_since_the_cut_is_asked_about(void **state)
{
	u64 h = write_at_once();

	(void)state;
	keep_image();
	assert_true(cut_after(5, h + 1, 1));
	assert_true(is_losing());
	lose_journal(h - 3);
	assert_refused(restart(0), "more is lost than was accepted");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(mapped_byte(&f, 60005), 3);
}

/* Not the one that was accepted, which can be read again. */
static void another_hole_is_asked_about(void **state)
{
	u64 h = write_at_once();
	u32 n, asked = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, h - 5, 1); n++) {
		if (!is_losing() || newest_in_ring() > h)
			continue;
		nr_bad = 0;
		lose_journal(h - 3);
		assert_int_equal(restart(0), -EBADMSG);
		asked++;
	}
	assert_true(asked > 0);
}

static void damage_of_what_it_has_written_is_asked_about(void **state)
{
	u64 h = write_at_once(), newest;
	u32 n, asked = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, h - 5, 1); n++) {
		newest = newest_in_ring();
		if (!is_losing() || newest < h + 3 || le64_to_cpu(ring_block(&f, newest)->head.durable_seq) > h)
			continue;
		memset(ring_block(&f, h + 2), 0, XP_BLOCK_SIZE);
		assert_int_equal(restart(0), -EUCLEAN);
		assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		assert_true(stats_of(&f).seq >= newest);
		asked++;
	}
	assert_true(asked > 3);
}

static void its_head_that_is_gone_is_asked_about(void **state)
{
	u64 h = write_at_once();

	(void)state;
	keep_image();
	assert_true(cut_after(2, h + 1, 1));
	assert_true(is_losing());
	assert_int_equal(newest_in_ring(), h);
	memset(ring_block(&f, h), 0, XP_BLOCK_SIZE);
	assert_int_equal(restart(0), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "has been cut began with it"));
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
}

/* A copy of the superblock that took no write says that it goes on. What a later life has written tells otherwise. */
static void one_that_has_ended_is_not_gone_on_with(void **state)
{
	u64 h = write_at_once();
	struct xp_sb noted;

	(void)state;
	keep_image();
	assert_true(cut_after(2, h + 1, 1));
	assert_true(is_losing());
	noted = f.sb;
	assert_int_equal(restart(0), 0);
	for (u32 i = 0; i < 20; i++)
		write_dirty(70000 + i, 1, 5);
	noted.generation = cpu_to_le64(1000);
	assert_int_equal(xp_sb_write(&f.media, &noted), 0);
	memset(ring_block(&f, stats_of(&f).seq - 10), 0, XP_BLOCK_SIZE);
	assert_true(is_losing());
	assert_int_equal(restart(0), -EUCLEAN);
}

/* What was newer than its head was erased before it wrote anything: what goes on from it is newer than that all the same. */
static void one_that_was_cut_writes_what_is_newer_than_what_it_erased(void **state)
{
	u64 h = write_at_once();
	struct xp_jblock *b;
	struct xp_sb noted;
	u32 n, went_on = 0;

	(void)state;
	b = ring_block(&f, h + 5);	/* lacks those before it */
	memcpy(b, ring_block(&f, h), XP_BLOCK_SIZE);
	b->head.seq = cpu_to_le64(h + 5);
	b->head.incarnation = cpu_to_le64(50);
	reseal(b);
	keep_image();
	for (n = 0; cut_after(n, h + 1, 1); n++) {
		if (!is_losing() || newest_in_ring() != h)
			continue;
		noted = f.sb;
		assert_int_equal(restart(0), 0);
		for (u32 i = 0; i < 20; i++)
			write_dirty(70000 + i, 1, 5);
		noted.generation = cpu_to_le64(1000);	/* in a copy that took no write since */
		assert_int_equal(xp_sb_write(&f.media, &noted), 0);
		assert_int_equal(restart(0), 0);
		for (u32 i = 0; i < 20; i++)
			assert_int_equal(mapped_byte(&f, 70000 + i), 5);
		went_on++;
	}
	assert_true(went_on > 0);
}

static void what_is_told_is_of_all_that_were_cut(void **state)
{
	u64 h = write_at_once();
	u32 n, noted = 0;

	(void)state;
	keep_image();
	for (n = 0; cut_after(n, h - 5, 1); n++) {
		if (!is_losing())
			continue;
		assert_int_equal(le32_to_cpu(f.sb.loss.lost), 1);
		writes_left = 4;
		restart(0);
		writes_left = ~0u;
		if (is_losing())
			assert_int_equal(le32_to_cpu(f.sb.loss.lost), 1);
		noted++;
	}
	assert_true(noted > 20);
}

/* Of more than the note has room for, only what is older than the noted ones may be one that was accepted. */
static void of_many_holes_none_is_credit_for_a_newer_one(void **state)
{
	u32 n, asked = 0;
	u64 h;

	(void)state;
	write_at_once();
	for (u32 i = 0; i < 40; i++)
		write_dirty(70000 + i, 1, 4);
	h = stats_of(&f).seq;
	keep_image();
	for (n = 0; cut_after(n, h - 5, XP_LOSS_HOLES + 3); n++) {
		if (!is_losing() || newest_in_ring() > h)
			continue;
		assert_int_equal(le32_to_cpu(f.sb.loss.nr_holes), XP_LOSS_HOLES + 3);
		nr_bad = 0;		/* the oldest can be read again */
		for (u32 i = 0; i < XP_LOSS_HOLES; i++)
			lose_journal(h - 5 - i);
		lose_journal(h - 1);
		assert_int_equal(restart(0), -EBADMSG);
		asked++;
	}
	assert_true(asked > 0);
}

static u64 sick;	/* a block of the fast device that takes no write, and cannot be read after it */

static int sick_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	if (block != sick)
		return last_write(ctx, block, nr, buf);
	lose(sick);
	return -EIO;
}

static u32 nr_lost(u64 first, u32 nr, int byte)
{
	u32 n = 0;

	for (u32 i = 0; i < nr; i++)
		n += mapped_byte(&f, first + i) != byte;
	return n;
}

/* A recovery gives up a place and is cut; then the block behind it is damaged. That is no other head: a block's 168 are lost at most. */
static void damage_behind_a_place_that_was_given_up(void **state)
{
	u64 h = write_at_once();
	u32 n, tried = 0;

	(void)state;
	keep_image();
	sick = le64_to_cpu(f.sb.journal_start) + (h + 2) % ring_blocks();
	for (n = 0; n < 200; n++) {
		memcpy(f.fast, image, f.fast_blocks * XP_BLOCK_SIZE);
		assert_false(is_losing());
		nr_bad = 0;
		lose_journal(h - 5);
		f.media.write = sick_write;
		writes_left = n;
		if (!restart(XP_ACCEPT_LOSS))
			break;
		f.media.write = last_write;
		writes_left = ~0u;
		nr_bad = 0;
		lose_journal(h - 5);
		if (!is_losing() || newest_in_ring() < h + 5 || !le32_to_cpu(f.sb.bad.nr_places))
			continue;
		memset(ring_block(&f, h + 3), 0, XP_BLOCK_SIZE);
		if (restart(0))
			assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		assert_true(nr_lost(0, 1500, 1) <= XP_RECORDS);
		tried++;
	}
	assert_true(tried > 0);
	writes_left = ~0u;
}

/* A copy of the superblock says that it goes on, and the block that says otherwise is damaged: a later life is not lost unheard. */
static void what_came_after_one_that_has_ended_is_asked_about(void **state)
{
	u64 h = write_at_once(), last;
	struct xp_sb noted;

	(void)state;
	keep_image();
	assert_true(cut_after(2, h + 1, 1));
	assert_true(is_losing());
	noted = f.sb;
	assert_int_equal(restart(0), 0);
	last = stats_of(&f).seq;
	assert_int_equal(restart(0), 0);
	for (u32 i = 0; i < 20; i++)
		write_dirty(70000 + i, 1, 5);
	memset(ring_block(&f, last), 0, XP_BLOCK_SIZE);
	noted.generation = cpu_to_le64(1000);
	assert_int_equal(xp_sb_write(&f.media, &noted), 0);
	assert_true(is_losing());
	assert_int_equal(restart(0), -EUCLEAN);
}

#define C(name) TEST_WITH(name, setup, teardown_image)

int main(void)
{
	const struct CMUnitTest tests[] = {
		C(one_that_was_cut_goes_on_without_what_it_has_erased),
		C(a_cut_while_older_ones_are_erased),
		C(one_that_was_cut_goes_on_with_its_head),
		C(a_hole_can_be_read_again_after_a_cut),
		C(what_it_has_written_is_asked_about),
		C(what_is_lost_since_the_cut_is_asked_about),
		C(another_hole_is_asked_about),
		C(damage_of_what_it_has_written_is_asked_about),
		C(its_head_that_is_gone_is_asked_about),
		C(one_that_has_ended_is_not_gone_on_with),
		C(one_that_was_cut_writes_what_is_newer_than_what_it_erased),
		C(what_is_told_is_of_all_that_were_cut),
		C(of_many_holes_none_is_credit_for_a_newer_one),
		C(damage_behind_a_place_that_was_given_up),
		C(what_came_after_one_that_has_ended_is_asked_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
