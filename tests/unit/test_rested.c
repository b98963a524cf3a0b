// SPDX-License-Identifier: GPL-2.0-only
/* How much of the ring a start reads: after a stop the chain, else all of it. */
#include "unreadable.h"

static u64 ring_reads;		/* blocks */

static int counted_read(void *ctx, u64 block, u32 nr, void *buf)
{
	u64 start = le64_to_cpu(f.sb.journal_start);

	ring_reads += block >= start && block < start + ring_blocks() ? nr : 0;
	return bad_read(ctx, block, nr, buf);
}

static int setup_counted(void **state)
{
	setup(state);
	f.media.read = counted_read;
	return 0;
}

static u64 chain_length(void)
{
	return f.c->journal.sealed_number - f.c->journal.tail + 1;
}

/* Is all of the ring read, by a start that ends well? */
static bool reads_all_with(u32 accept)
{
	ring_reads = 0;
	assert_int_equal(restart(accept), 0);
	return ring_reads >= ring_blocks();
}

static bool reads_all(void)
{
	return reads_all_with(0);
}

/* Twice: it is looked for, and replayed. Behind it no more than as many as a life may have begun behind, or skipped. */
static void the_chain_is_read_after_a_stop(void **state)
{
	u64 chain;

	(void)state;
	write_dirty(0, 1000, 7);
	write_dirty(3000, 1, 8);
	chain = chain_length();
	note_rest_here();
	assert_false(reads_all());
	assert_true(ring_reads <= 2 * chain + XP_WINDOW + 32 + 1);
	assert_int_equal(stats_of(&f).dirty, 1001);
	assert_int_equal(mapped_byte(&f, 999), 7);
	assert_int_equal(mapped_byte(&f, 3000), 8);
}

/* The chain, and the places behind it. */
static void so_it_is_where_it_goes_round_the_ring(void **state)
{
	const u64 place[] = { 4, ring_blocks() - 4 };

	(void)state;
	write_dirty(0, 1000, 7);
	for (u32 i = 0; i < 2; i++) {
		do
			write_dirty(3000, 1, 8 + (int)i);
		while (stats_of(&f).seq < ring_blocks() || stats_of(&f).seq % ring_blocks() != place[i]);
		assert_true(chain_length() > 5);
		note_rest_here();
		assert_false(reads_all());
		assert_int_equal(mapped_byte(&f, 999), 7);
		assert_int_equal(mapped_byte(&f, 3000), 8 + (int)i);
	}
}

static void all_is_read_without_one(void **state)
{
	(void)state;
	write_dirty(0, 100, 7);
	assert_true(reads_all());
}

static void a_start_since_then_is_seen(void **state)
{
	(void)state;
	write_dirty(0, 100, 7);
	note_rest_here();
	assert_false(reads_all());
	assert_true(reads_all());
	write_dirty(50, 1, 8);
	assert_true(reads_all());
	assert_int_equal(mapped_byte(&f, 50), 8);
}

static void another_number_or_life_is_none_of_it(void **state)
{
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation + 1);
	assert_true(reads_all());
	s = stats_of(&f);
	note_rest(s.seq - 1, s.incarnation);
	assert_true(reads_all());
	s = stats_of(&f);
	note_rest(s.seq + ring_blocks(), s.incarnation);
	assert_true(reads_all());
	note_rest(XP_MAX_SEQ, s.incarnation);
	assert_true(reads_all());
}

/* All of the ring is blocks of this cache, and the noted one's place has the one before it. */
static void nor_is_one_of_the_next_round(void **state)
{
	(void)state;
	write_dirty(0, 100, 7);
	while (stats_of(&f).seq < 2 * ring_blocks())
		write_dirty(3000, 1, 8);
	note_rest(stats_of(&f).seq + ring_blocks(), stats_of(&f).incarnation);
	assert_true(reads_all());
	assert_int_equal(mapped_byte(&f, 0), 7);
	assert_int_equal(mapped_byte(&f, 3000), 8);
}

/* Its first blocks are lost, by a device that keeps less than it says: so many do not hide the next. */
static void a_life_that_lacks_its_beginning_is_seen(void **state)
{
	u64 end, i;

	(void)state;
	write_dirty(0, 100, 7);
	end = note_rest_here().seq;
	assert_int_equal(restart(0), 0);
	while (stats_of(&f).seq < end + 40)
		write_dirty(0, 1, 9);
	for (i = 1; i < 40; i++)
		memset(ring_block(&f, end + i), 0, XP_BLOCK_SIZE);
	ring_block(&f, end + 40)->head.tail_seq = ring_block(&f, end + 40)->head.seq;
	reseal(ring_block(&f, end + 40));
	assert_true(reads_all());
}

/* Whoever goes on without something has to know all, and so has who may take a place back. */
static void all_is_read_by_who_asks_for_all(void **state)
{
	(void)state;
	write_dirty(0, 100, 7);
	note_rest_here();
	assert_true(reads_all_with(XP_ACCEPT_LOSS));
	note_rest_here();
	assert_true(reads_all_with(XP_ACCEPT_OLDER));
	note_rest_here();
	assert_false(reads_all());
	f.sb.incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	f.sb.bad.nr_places = cpu_to_le32(1);
	f.sb.bad.place[0] = cpu_to_le32((u32)ring_blocks() - 1);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	note_rest_here();
	assert_true(reads_all());
	assert_int_equal(stats_of(&f).bad_places, 0);
	note_rest_here();
	f.sb.bad.nr_places = 0;
	f.sb.bad.losing = cpu_to_le32(1);
	f.sb.generation = cpu_to_le64(le64_to_cpu(f.sb.generation) + 1);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	assert_true(reads_all());
}

/* Half a block, where the next life has begun: it may be all that is left of that. */
static void half_a_block_behind_it_is_seen(void **state)
{
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = stats_of(&f);
	assert_int_equal(restart(0), 0);
	note_rest(s.seq, s.incarnation);
	ring_block(&f, s.seq + 1)->head.durable_seq++;
	for (u64 seq = s.seq + 2; seq <= stats_of(&f).seq; seq++)
		memset(ring_block(&f, seq), 0, XP_BLOCK_SIZE);
	assert_true(reads_all());
}

/* What was there before the cache is, until the ring has gone round. */
static void noise_is_none_of_ours_at_first(void **state)
{
	(void)state;
	write_dirty(0, 100, 7);
	memset(ring_block(&f, stats_of(&f).seq + 3), 0xa5, XP_BLOCK_SIZE);
	note_rest_here();
	assert_false(reads_all());
	while (stats_of(&f).seq < ring_blocks())
		write_dirty(3000, 1, 8);
	for (int byte = 0; byte < 2; byte++) {	/* zeros, too: an older version has erased what was there */
		memset(ring_block(&f, stats_of(&f).seq + 6), byte, XP_BLOCK_SIZE);
		note_rest_here();
		assert_true(reads_all());
	}
}

static void a_chain_that_is_not_whole_is_judged_with_all(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	seq = stats_of(&f).seq;
	write_dirty(200, 100, 8);
	note_rest_here();
	((u8 *)ring_block(&f, seq))[200]++;
	restart_refused(&f, "is damaged or missing");
}

/* By a later life, whose first blocks are gone: a device that loses what it has been sent. */
static void a_chain_that_is_overwritten_is_none(void **state)
{
	u64 end, tail, i;

	(void)state;
	write_dirty(0, 1000, 7);
	end = stats_of(&f).seq;
	tail = f.c->journal.tail;
	assert_true(end > tail + 2);
	note_rest_here();
	assert_int_equal(restart(0), 0);
	while (stats_of(&f).seq < tail + ring_blocks() + 1)
		write_dirty(0, 1, 9);
	assert_true(f.c->journal.tail_written > end + BAD_MAX);
	for (i = 1; i <= BAD_MAX; i++)
		memset(ring_block(&f, end + i), 0, XP_BLOCK_SIZE);
	assert_int_equal(ring_block(&f, end)->head.seq, end);
	assert_true(reads_all());
	assert_int_equal(mapped_byte(&f, 0), 9);
}

/*
 * A later life, whose first blocks nobody needs any more, more than a start looks at. They cannot be read, so a recovery
 * erases them: then nothing behind the noted block tells that it is not the newest, and its chain is whole.
 */
static void a_life_whose_beginning_is_erased_is_not_forgotten(void **state)
{
	u64 end, i;

	(void)state;
	write_dirty(0, 1, 7);
	end = note_rest_here().seq;
	assert_int_equal(restart(0), 0);
	do
		write_dirty(0, 1, 9);
	while (f.c->journal.tail_written <= end + BAD_MAX);
	assert_true(stats_of(&f).seq < end + ring_blocks() - BAD_MAX);
	for (i = 1; i <= BAD_MAX; i++)
		lose_journal(end + i);
	assert_int_equal(restart(0), 0);
	assert_int_equal(ring_block(&f, end)->head.seq, end);
	assert_int_equal(ring_block(&f, end + BAD_MAX)->head.magic, XP_ERASED_MAGIC);
	nr_bad = 0;
	assert_true(reads_all());
	assert_int_equal(mapped_byte(&f, 0), 9);
}

/* Past the end of a slow device that is shorter now no record is left, of no block that was ever written. */
static void all_is_read_where_all_is_left_behind(void **state)
{
	u64 seq;

	(void)state;
	for (seq = 1; seq < ring_blocks() / 2; seq++)
		write_dirty(3000, 1, 8);
	assert_true(f.c->journal.tail_written > 2);
	note_rest_here();
	f.opt.slow_sectors = le64_to_cpu(f.sb.slow.sectors) - 80;
	assert_true(reads_all());
	for (seq = 1; seq < ring_blocks() / 2; seq++)
		assert_int_equal(ring_block(&f, seq)->head.magic, XP_ERASED_MAGIC);
	assert_int_equal(mapped_byte(&f, 3000), 8);
}

/* Where the user asks for it: what there was is said in blocks that this recovery writes, dirty or clean. */
static void all_is_said_anew_where_that_is_asked(void **state)
{
	u64 head, seq;

	(void)state;
	write_dirty(0, 1000, 7);
	write_dirty(3000, 1, 8);
	head = stats_of(&f).seq;
	note_rest_here();
	f.opt.anew = true;
	assert_true(reads_all());
	f.opt.anew = false;
	assert_true(f.c->journal.tail > head);
	for (seq = 1; seq <= head; seq++)
		assert_int_equal(ring_block(&f, seq)->head.magic, 0);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 1001);
	assert_int_equal(mapped_byte(&f, 999), 7);
	assert_int_equal(mapped_byte(&f, 3000), 8);
}

#define C(name) TEST_WITH(name, setup_counted, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		C(the_chain_is_read_after_a_stop),
		C(so_it_is_where_it_goes_round_the_ring),
		C(all_is_read_without_one),
		C(a_start_since_then_is_seen),
		C(another_number_or_life_is_none_of_it),
		C(nor_is_one_of_the_next_round),
		C(a_life_that_lacks_its_beginning_is_seen),
		C(all_is_read_by_who_asks_for_all),
		C(half_a_block_behind_it_is_seen),
		C(noise_is_none_of_ours_at_first),
		C(a_chain_that_is_not_whole_is_judged_with_all),
		C(a_chain_that_is_overwritten_is_none),
		C(a_life_whose_beginning_is_erased_is_not_forgotten),
		C(all_is_read_where_all_is_left_behind),
		C(all_is_said_anew_where_that_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
