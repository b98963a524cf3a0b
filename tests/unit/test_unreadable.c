// SPDX-License-Identifier: GPL-2.0-only
/* Recovery from a fast device that cannot be read everywhere. */
#include "unreadable.h"
#include "look.h"
#include "run.h"

static u64 doubtful(void)
{
	void *scratch = malloc(xp_recover_memory(&f.sb));
	void *memory = aligned_alloc(4096, (xp_memory(&f.sb, false) + 4095) / 4096 * 4096);
	struct xp_mapping m;
	struct xp *c;
	u32 cursor = 0;
	u64 n = 0;

	memset(memory, 0, xp_memory(&f.sb, false));
	c = xp_init(memory, &f.sb, &f.opt);
	f.media_writes = 0;
	assert_int_equal(xp_look(c, &f.media, scratch, NULL, &f.msg), 0);
	while (xp_walk(c, &cursor, &m))
		n += m.doubtful;
	assert_int_equal(f.media_writes, 0);
	free(memory);
	free(scratch);
	return n;
}

/* ---------------------------------------------------- outside the chain ---- */

static void a_place_that_nobody_needs_is_written_anew(void **state)
{
	(void)state;
	write_dirty(0, 1000, 7);
	lose_journal(stats_of(&f).seq + XP_WINDOW + 1);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 1000);
	assert_true(bad[0] == ~0ull);
}

/* Readable again, it must not be a block that the chain could link up with. */
static void it_may_come_back(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 10, 7);
	seq = stats_of(&f).seq;
	write_dirty(0, 10, 8);
	write_dirty(0, 10, 9);
	memset(ring_block(&f, seq + 1), 0, XP_BLOCK_SIZE);	/* did not land */
	heals = false;
	lose_journal(seq + 2);
	assert_refused(restart(0), "the last commit before the cut may be lost");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	nr_bad = 0;
	assert_int_not_equal(le64_to_cpu(ring_block(&f, seq + 2)->head.incarnation), 2);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 3), 7);
}

static void of_many_each_is_told_apart(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 500, 7);
	seq = stats_of(&f).seq;
	for (u32 i = 0; i < BAD_MAX; i++)
		lose_journal(seq + XP_WINDOW + 1 + i);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 500);
}

/* ------------------------------------------------------------ after the head ---- */

static void the_newest_commit_may_have_been_there(void **state)
{
	u64 seq;

	(void)state;
	for (u32 ahead = 1; ahead <= XP_WINDOW; ahead++) {
		write_dirty(0, 100, 7);
		seq = stats_of(&f).seq;
		nr_bad = 0;
		lose_journal(seq + ahead);
		assert_refused(restart(0), "the last commit before the cut may be lost");
		nr_bad = 0;
		fixture_reopen(&f);
	}
}

static void the_user_may_go_on(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	seq = stats_of(&f).seq;
	lose_journal(seq + 1);
	f.opt.accept = XP_ACCEPT_LOSS;
	assert_int_equal(doubtful(), 100);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).dirty, 100);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 100);
	assert_int_equal(doubtful(), 0);
}

static void a_cache_that_rested_has_no_newer_commit(void **state)
{
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = note_rest_here();
	lose_journal(s.seq + 1);
	lose_journal(s.seq + 2);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 100);
	nr_bad = 0;
	/* It has been started since: the note says nothing. */
	lose_journal(stats_of(&f).seq + 1);
	assert_refused(restart(0), "the last commit before the cut may be lost");
}

/* A start writes two blocks, and a commit the third: where all three are gone the note is no proof. */
static void a_life_may_be_lost_whole(void **state)
{
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = note_rest_here();
	for (u32 i = 1; i <= 3; i++)
		lose_journal(s.seq + i);
	assert_refused(restart(0), "the last commit before the cut may be lost");
}

/* A head may get the number of one that a loss took; the note is of that. */
static void a_rest_of_another_life_is_no_proof(void **state)
{
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation + 1);
	lose_journal(s.seq + 1);
	assert_refused(restart(0), "the last commit before the cut may be lost");
}

/* Of the life after it: what was before is erased, by a recovery that was cut. */
static void one_block_of_a_later_life_is_proof(void **state)
{
	struct xp_jblock *b;
	struct xp_stats s;
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	s = note_rest_here();
	assert_int_equal(restart(0), 0);
	for (seq = s.seq + 1; seq <= stats_of(&f).seq; seq++)
		if (seq != s.seq + 2)
			memset(ring_block(&f, seq), 0, XP_BLOCK_SIZE);
	b = ring_block(&f, s.seq + 2);
	b->head.durable_seq = cpu_to_le64(s.seq);
	reseal(b);
	lose_journal(s.seq + 3);
	assert_refused(restart(0), "the last commit before the cut may be lost");
}

/* ---------------------------------------------------------- in the chain ---- */

static u64 late;		/* a block that can be read so often yet */
static u32 late_reads;

static int late_read(void *ctx, u64 block, u32 nr, void *buf)
{
	if (late >= block && late < block + nr && !late_reads--) {
		late_reads = 0;
		return -EIO;
	}
	return whole_read(ctx, block, nr, buf);
}

static void a_block_is_lost_while_it_is_looked_at(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	seq = stats_of(&f).seq;
	late = le64_to_cpu(f.sb.journal_start) + seq % ring_blocks();
	late_reads = 1;
	f.media.read = late_read;
	assert_refused(restart(0), "it could be read just now");
	/* From then on it is one that cannot be read, and what that means is asked. */
	f.media.read = bad_read;
	lose(late);
	assert_refused(restart(0), "cannot be read");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	nr_bad = 0;
	assert_int_equal(restart(0), 0);
}

static void a_block_of_the_chain_is_missed(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	seq = stats_of(&f).seq;
	write_dirty(50, 10, 8);		/* one block's */
	write_dirty(200, 100, 9);
	assert_true(stats_of(&f).durable_seq > seq + 1);
	lose_journal(seq + 1);
	assert_refused(restart(0), "cannot be read");
	assert_non_null(strstr(f.msg.text, "348"));
	f.opt.accept = XP_ACCEPT_LOSS;
	assert_int_equal(doubtful(), 100);	/* what came after the hole is certain */
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).dirty, 200);
	assert_int_equal(mapped_byte(&f, 50), 7);
	assert_int_equal(mapped_byte(&f, 250), 9);
}

/* Where it did not heal either. */
static void the_hole_is_left_behind(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 1000, 7);
	seq = stats_of(&f).seq;
	write_dirty(2000, 100, 8);
	heals = false;
	lose_journal(seq);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(restart(0), 0);
	assert_int_equal(doubtful(), 0);
	assert_int_equal(mapped_byte(&f, 2099), 8);
	assert_int_equal(mapped_byte(&f, 0), 7);
}

/* The oldest of a chain as long as the ring: what is said anew comes round to its place. */
static void a_hole_that_is_written_over_is_not_erased(void **state)
{
	u64 ring = ring_blocks(), n, head, hole;
	struct xp_jblock *b;

	(void)state;
	write_dirty(0, 5000, 7);
	for (n = 0; n < ring; n++)
		write_dirty(8000, 1, (u8)n);
	head = stats_of(&f).seq;
	b = ring_block(&f, head);
	hole = head - ring + 4;
	b->head.tail_seq = cpu_to_le64(hole - 1);
	reseal(b);
	lose_journal(hole);
	lose_journal(head - 1);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_true(stats_of(&f).seq >= hole + ring);
	assert_int_equal(restart(0), 0);
	assert_int_equal(mapped_byte(&f, 99), 7);
	assert_int_equal(mapped_byte(&f, 8000), (u8)(n - 1));
}

/* A cut while it is: the same question again until the answer is noted, and never a wrong one. */
static void assert_behind_hole(void)
{
	u64 lba;

	assert_false(is_losing());
	for (lba = 2000; lba < 2100; lba++)
		assert_int_equal(mapped_byte(&f, lba), 8);
}

static void a_cut_while_it_is_left_behind(void **state)
{
	size_t size = f.fast_blocks * XP_BLOCK_SIZE;
	u8 *image = malloc(size);
	u32 n, asked = 0, noted = 0;
	u64 seq;
	int err;

	(void)state;
	write_dirty(0, 1000, 7);
	seq = stats_of(&f).seq;
	write_dirty(2000, 100, 8);
	heals = false;
	lose_journal(seq);
	memcpy(image, f.fast, size);
	f.media.write = last_write;
	for (n = 0; ; n++) {
		memcpy(f.fast, image, size);
		assert_false(is_losing());
		writes_left = n;
		if (!restart(XP_ACCEPT_LOSS))
			break;
		writes_left = ~0u;
		noted += is_losing();
		asked += !noted;
		err = restart(0);
		assert_int_equal(err, noted ? 0 : -EBADMSG);
		if (!err)
			assert_behind_hole();
	}
	assert_int_equal(asked, 1);
	assert_true(noted > 10);
	writes_left = ~0u;
	assert_behind_hole();
	assert_int_equal(restart(0), 0);
	assert_behind_hole();
	free(image);
}

/* What is lost may have given its slot to another block: the slow device has its own data. */
static void a_clean_block_that_is_doubtful_is_not_cached(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	xp_write_back_all(f.c, false);
	assert_int_equal(stats_of(&f).clean, 100);
	write_dirty(500, 50, 9);
	seq = stats_of(&f).seq;
	lose_journal(seq + 1);
	assert_refused(restart(0), "the last commit before the cut may be lost");
	f.opt.accept = XP_ACCEPT_LOSS;
	assert_int_equal(doubtful(), 50);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).clean, 0);
	assert_int_equal(stats_of(&f).dirty, 50);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).clean, 0);
	assert_int_equal(mapped_byte(&f, 549), 9);
}

/* The copy of the fingerprint that was lost is made again; a device that is gone by then is told. */
static void a_cut_while_the_fingerprint_is_made_again(void **state)
{
	u32 n;
	int err;

	(void)state;
	write_dirty(0, 100, 7);
	note_rest_here();
	memset(f.fast + XP_FP_BLOCK_A * XP_BLOCK_SIZE, 0xee, XP_BLOCK_SIZE);
	f.media.write = last_write;
	writes_left = 0;
	assert_int_equal(restart(0), -ENODEV);
	assert_memory_not_equal(f.fast + XP_FP_BLOCK_A * XP_BLOCK_SIZE, f.fast + XP_FP_BLOCK_B * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
	for (n = 1; ; n++) {
		writes_left = n;
		err = restart(0);
		if (!err)
			break;
		assert_int_equal(err, -ENODEV);
		assert_memory_equal(f.fast + XP_FP_BLOCK_A * XP_BLOCK_SIZE, f.fast + XP_FP_BLOCK_B * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
	}
	assert_int_equal(stats_of(&f).dirty, 100);
}

static int write_but_its_first_copy(void *ctx, u64 block, u32 nr, const void *buf)
{
	return block == XP_FP_BLOCK_A ? -EIO : bad_write(ctx, block, nr, buf);
}

/* There is still the other. */
static void a_copy_of_it_that_takes_no_write_is_left(void **state)
{

	(void)state;
	write_dirty(0, 100, 7);
	note_rest_here();
	f.media.write = write_but_its_first_copy;
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 100);
}

/* What is erased by then reads as if nobody had been there since the rest; the last block tells otherwise. */
static void a_cut_while_a_lost_life_is_erased(void **state)
{
	struct xp_jblock *b;
	struct xp_stats s;
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	s = note_rest_here();
	fixture_reopen(&f);
	for (u32 i = 0; i < 6; i++)
		write_dirty(0, 10, 8);
	seq = stats_of(&f).seq;
	assert_true(seq > s.seq + 6);
	b = ring_block(&f, seq);	/* with others under way before it */
	b->head.durable_seq = b->head.tail_seq = cpu_to_le64(seq - 3);
	reseal(b);
	for (u64 i = s.seq + 1; i < seq; i++)
		lose_journal(i);
	assert_int_equal(restart(0), -EBADMSG);
	f.media.write = last_write;
	writes_left = 1;
	assert_int_equal(restart(XP_ACCEPT_LOSS), -ENODEV);
	writes_left = ~0u;
	assert_true(is_losing());
	assert_int_equal(doubtful(), 10);	/* all that the last block leaves */
	assert_int_equal(restart(0), 0);
	assert_false(is_losing());
}

/* What is behind the hole tells what was in it. */
static void a_clean_record_tells_of_a_lost_mapping(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(5, 1, 7);
	seq = stats_of(&f).seq;
	write_dirty(5, 1, 8);		/* lost, */
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);		/* and on the slow device */
	flush(&f);
	lose_journal(seq + 1);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(mapped_byte(&f, 5), -1);
}

/* A write beside its record came in between: CLEAN is of what that is about to supersede. */
static void a_clean_record_tells_nothing_of_a_newer_mapping(void **state)
{
	struct xp_jblock *b;
	u64 seq;

	(void)state;
	write_dirty(90, 1, 7);
	seq = stats_of(&f).seq;
	write_dirty(91, 1, 7);
	write_dirty(5, 1, 8);
	write_dirty(5, 1, 9);
	b = ring_block(&f, stats_of(&f).seq);
	assert_int_equal(le16_to_cpu(b->head.count), 1);
	b->rec[1] = ring_block(&f, stats_of(&f).seq - 1)->rec[0];
	b->rec[1].lba = cpu_to_le64(5 | (u64)XP_REC_CLEAN << 40);
	b->head.count = cpu_to_le16(2);
	reseal(b);
	lose_journal(seq + 1);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(mapped_byte(&f, 5), 9);
	assert_true(mapped_dirty(&f, 5));
}

static void a_zero_record_tells_of_a_lost_mapping(void **state)
{
	struct xp_req req;
	u64 seq;

	(void)state;
	write_dirty(5, 1, 7);
	seq = stats_of(&f).seq;
	write_dirty(5, 1, 8);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 5 * 8, 8, false), XP_DONE);
	flush(&f);
	lose_journal(seq + 1);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(mapped_byte(&f, 5), 0);
	assert_true(mapped_dirty(&f, 5));
	/* And it stays so, when the hole is behind the tail. */
	assert_int_equal(restart(0), 0);
	assert_int_equal(mapped_byte(&f, 5), 0);
	assert_true(mapped_dirty(&f, 5));
}

/* Its checksum is wrong: the same, said otherwise. */
static void a_damaged_block_is_a_hole_for_who_accepts_that(void **state)
{
	u64 seq;

	(void)state;
	write_dirty(0, 100, 7);
	seq = stats_of(&f).seq;
	write_dirty(50, 10, 8);
	write_dirty(200, 100, 9);
	ring_block(&f, seq + 1)->rec[0].slot ^= 1;
	assert_int_equal(restart(0), -EUCLEAN);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).dirty, 200);
	assert_int_equal(restart(0), 0);
}

static void a_refused_record_is_left_out_for_who_accepts_that(void **state)
{
	struct xp_jblock *b;

	(void)state;
	write_dirty(0, 100, 7);
	b = ring_block(&f, stats_of(&f).seq);
	b->rec[3].slot = cpu_to_le32(~0u);
	reseal(b);
	assert_int_equal(restart(0), -EUCLEAN);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(stats_of(&f).dirty, 99);
	assert_int_equal(restart(0), 0);
	assert_int_equal(stats_of(&f).dirty, 99);
}

/* ---------------------------------------------------------------- slots ---- */

static void an_unreadable_slot_is_its_block_s_error(void **state)
{
	struct xp_mapping m;
	xp_slot_t slot;

	(void)state;
	write_dirty(5, 1, 7);
	slot = write_under_way(&f, 5, 9);
	lose(le64_to_cpu(f.sb.data_start) + xp_slot_n(slot));
	assert_int_equal(restart(0), 0);
	assert_true(xp_lookup(f.c, XP_LBA(5), &m));
	assert_int_equal(xp_slot_n(m.slot), xp_slot_n(slot));
	assert_true(m.dirty);
	assert_true(m.unread);	/* test_unread.c */
}

static void the_user_may_take_the_older_version(void **state)
{
	xp_slot_t slot;

	(void)state;
	write_dirty(5, 1, 7);
	slot = write_under_way(&f, 5, 9);
	lose(le64_to_cpu(f.sb.data_start) + xp_slot_n(slot));
	assert_int_equal(restart(XP_ACCEPT_OLDER), 0);
	assert_int_equal(mapped_byte(&f, 5), 7);
	nr_bad = 0;
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 7);
}

/* Its slot may be another's by now; the slow device has the same. Their records may be in one journal block. */
static void an_older_clean_version_is_not_taken_from_its_slot(void **state)
{
	struct xp_mapping m;
	xp_slot_t slot;
	u64 seq;

	(void)state;
	write_dirty(1, 1, 1);
	seq = stats_of(&f).seq;
	fill_block(&f, 5, 7);
	slot = write_under_way(&f, 5, 9);
	assert_int_equal(stats_of(&f).seq, seq + 1);
	lose(le64_to_cpu(f.sb.data_start) + xp_slot_n(slot));
	assert_int_equal(restart(XP_ACCEPT_OLDER), 0);
	assert_false(xp_lookup(f.c, XP_LBA(5), &m));
}

/* Its newest block has landed, and the one before it has not, and nobody was told of either: another one cannot be read. */
static void an_older_head_that_is_whole_comes_first(void **state)
{
	struct xp_jblock *b;
	u64 seq;

	(void)state;
	write_dirty(0, 10, 7);
	write_dirty(100, 1, 8);
	write_dirty(200, 1, 8);
	seq = stats_of(&f).seq;
	b = ring_block(&f, seq);
	b->head.tail_seq = cpu_to_le64(seq - 1);	/* by then all of the others was said anew, */
	b->head.durable_seq = cpu_to_le64(seq - 2);
	reseal(b);
	memset(ring_block(&f, seq - 1), 0, XP_BLOCK_SIZE);	/* there */
	lose_journal(seq + 1);
	assert_int_equal(restart(0), -EBADMSG);
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	for (u64 lba = 0; lba < 10; lba++)
		assert_int_equal(mapped_byte(&f, lba), 7);
}

/* I10: no older head hides that. */
static void what_was_durable_is_not_passed_over(void **state)
{
	struct xp_jblock *b;
	u64 seq;

	(void)state;
	write_dirty(0, 10, 7);
	write_dirty(100, 1, 8);
	write_dirty(200, 1, 8);
	write_dirty(300, 1, 8);
	seq = stats_of(&f).seq;
	b = ring_block(&f, seq);
	b->head.durable_seq = cpu_to_le64(seq - 2);
	reseal(b);
	memset(ring_block(&f, seq - 1), 0, XP_BLOCK_SIZE);	/* has not landed, */
	memset(ring_block(&f, seq - 2), 0, XP_BLOCK_SIZE);	/* and this one had */
	assert_int_equal(restart(0), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "though a later one says it was durable"));
	assert_int_equal(f.media_writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_place_that_nobody_needs_is_written_anew),
		T(it_may_come_back),
		T(of_many_each_is_told_apart),
		T(the_newest_commit_may_have_been_there),
		T(the_user_may_go_on),
		T(a_cache_that_rested_has_no_newer_commit),
		T(a_life_may_be_lost_whole),
		T(a_rest_of_another_life_is_no_proof),
		T(one_block_of_a_later_life_is_proof),
		T(a_block_is_lost_while_it_is_looked_at),
		T(a_cut_while_the_fingerprint_is_made_again),
		T(a_copy_of_it_that_takes_no_write_is_left),
		T(a_block_of_the_chain_is_missed),
		T(the_hole_is_left_behind),
		T(a_hole_that_is_written_over_is_not_erased),
		T(a_cut_while_it_is_left_behind), T(a_clean_block_that_is_doubtful_is_not_cached),
		T(a_cut_while_a_lost_life_is_erased),
		T(a_clean_record_tells_of_a_lost_mapping),
		T(a_clean_record_tells_nothing_of_a_newer_mapping),
		T(a_zero_record_tells_of_a_lost_mapping),
		T(a_damaged_block_is_a_hole_for_who_accepts_that),
		T(a_refused_record_is_left_out_for_who_accepts_that),
		T(an_unreadable_slot_is_its_block_s_error),
		T(the_user_may_take_the_older_version),
		T(an_older_clean_version_is_not_taken_from_its_slot),
		T(an_older_head_that_is_whole_comes_first),
		T(what_was_durable_is_not_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
