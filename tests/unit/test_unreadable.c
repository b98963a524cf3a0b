// SPDX-License-Identifier: GPL-2.0-only
/* Recovery from a fast device that cannot be read everywhere. */
#include "fixture.h"
#include "look.h"
#include "run.h"
#include "superblock.h"

#define BLOCKS	8192u
#define BAD_MAX	64u

static struct fixture f;
static u64 bad[BAD_MAX];
static u32 nr_bad;
static bool heals;		/* a block that is written can be read again */
static int (*whole_read)(void *ctx, u64 block, u32 nr, void *buf);
static int (*whole_write)(void *ctx, u64 block, u32 nr, const void *buf);

static int bad_read(void *ctx, u64 block, u32 nr, void *buf)
{
	for (u32 i = 0; i < nr_bad; i++)
		if (bad[i] >= block && bad[i] < block + nr)
			return -EIO;
	return whole_read(ctx, block, nr, buf);
}

static int bad_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	for (u32 i = 0; heals && i < nr_bad; i++)
		if (bad[i] >= block && bad[i] < block + nr)
			bad[i] = ~0ull;
	return whole_write(ctx, block, nr, buf);
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, 100000);
	whole_read = f.media.read;
	whole_write = f.media.write;
	f.media.read = bad_read;
	f.media.write = bad_write;
	nr_bad = 0;
	heals = true;
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static u64 ring_blocks(void)
{
	return le64_to_cpu(f.sb.journal_blocks);
}

static void lose(u64 block)
{
	assert_true(nr_bad < BAD_MAX);
	bad[nr_bad++] = block;
}

static void lose_journal(u64 seq)
{
	lose(le64_to_cpu(f.sb.journal_start) + seq % ring_blocks());
}

static void write_dirty(u64 lba, u32 nr, int byte)
{
	for (u32 i = 0; i < nr; i++)
		write_blocks(&f, lba + i, 1, byte);
	flush(&f);
}

static int restart(u32 accept)
{
	f.opt.accept = accept;
	f.media_writes = 0;
	return fixture_restart(&f);
}

static void assert_refused(int err, const char *words)
{
	assert_int_equal(err, -EBADMSG);
	assert_non_null(strstr(f.msg.text, words));
	assert_int_equal(f.media_writes, 0);
}

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

/* As `stop` leaves it. */
static void note_rest(u64 seq, u64 incarnation)
{
	struct xp_fp fp;

	memset(&fp, 0, sizeof(fp));
	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, f.sb.uuid, sizeof(fp.uuid));
	fp.serial = cpu_to_le64(1);
	fp.seq = cpu_to_le64(seq);
	fp.incarnation = cpu_to_le64(incarnation);
	fp.checksum = cpu_to_le64(xp_xxh64(&fp, offsetof(struct xp_fp, checksum)));
	memcpy(f.fast + XP_FP_BLOCK_B * XP_BLOCK_SIZE, &fp, sizeof(fp));
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
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation);
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
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation);
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
	assert_non_null(strstr(f.msg.text, "168"));
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

/* A cut while it is: the same question again until the answer is noted, and never a wrong one. */
static u32 writes_left;

static int last_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	return writes_left-- ? bad_write(ctx, block, nr, buf) : -ENODEV;
}

static bool is_losing(void)
{
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &f.sb, &f.msg), 0);
	return le32_to_cpu(f.sb.bad.losing);
}

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
	struct xp_stats s;
	u32 n;
	int err;

	(void)state;
	write_dirty(0, 100, 7);
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation);
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
	struct xp_stats s;

	(void)state;
	write_dirty(0, 100, 7);
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation);
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
	s = stats_of(&f);
	note_rest(s.seq, s.incarnation);
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

/*
 * A recovery with consent from @image that is cut after @n writes: @nr blocks of the journal, @lost and those before it, cannot
 * be read. False: it came to its end.
 */
static bool cut_after(u32 n, const u8 *image, u64 lost, u32 nr)
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

static u8 *image_of_fast(void)
{
	u8 *image = malloc(f.fast_blocks * XP_BLOCK_SIZE);

	memcpy(image, f.fast, f.fast_blocks * XP_BLOCK_SIZE);
	return image;
}

/* No older head is left whole with newer ones gone; and of what was written last the user is asked. */
static void a_cut_while_older_ones_are_erased(void **state)
{
	u64 seq = go_round(), newest;
	u8 *image = image_of_fast();
	u32 n, asked = 0;

	(void)state;
	for (n = 0; cut_after(n, image, seq + 1, 1); n++) {
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
	free(image);
}

/* Not with the newest block there is, which lacks what the user was not asked about; nor with none, when its traces are gone. */
static void one_that_was_cut_goes_on_with_its_head(void **state)
{
	struct xp_jblock *b;
	u64 seq;
	u8 *image;
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
	image = image_of_fast();
	for (n = 0; cut_after(n, image, seq - 2, 1); n++) {
		if (restart(0))
			assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
		for (u64 lba = 0; lba < 10; lba++)
			assert_int_equal(mapped_byte(&f, lba), 7);
	}
	assert_true(n > 3);
	free(image);
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
	u8 *image = image_of_fast();
	u32 n, went_on = 0;

	(void)state;
	for (n = 0; cut_after(n, image, h - 5, 1); n++) {
		if (!is_losing())
			continue;
		memset(ring_block(&f, h - 5), 0, XP_BLOCK_SIZE);
		nr_bad = 0;
		assert_int_equal(restart(0), 0);
		assert_the_other_seven();
		went_on++;
	}
	assert_true(went_on > 20);
	free(image);
}

static void what_it_has_written_is_asked_about(void **state)
{
	u64 h = write_at_once(), newest;
	u8 *image = image_of_fast();
	u32 n, asked = 0;

	(void)state;
	for (n = 0; cut_after(n, image, h - 5, 1); n++) {
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
	free(image);
}

static void what_is_lost_since_the_cut_is_asked_about(void **state)
{
	u64 h = write_at_once();
	u8 *image = image_of_fast();

	(void)state;
	assert_true(cut_after(5, image, h + 1, 1));
	assert_true(is_losing());
	lose_journal(h - 3);
	assert_refused(restart(0), "more is lost than was accepted");
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	assert_int_equal(mapped_byte(&f, 60005), 3);
	free(image);
}

/* Not the one that was accepted, which can be read again. */
static void another_hole_is_asked_about(void **state)
{
	u64 h = write_at_once();
	u8 *image = image_of_fast();
	u32 n, asked = 0;

	(void)state;
	for (n = 0; cut_after(n, image, h - 5, 1); n++) {
		if (!is_losing() || newest_in_ring() > h)
			continue;
		nr_bad = 0;
		lose_journal(h - 3);
		assert_int_equal(restart(0), -EBADMSG);
		asked++;
	}
	assert_true(asked > 0);
	free(image);
}

static void damage_of_what_it_has_written_is_asked_about(void **state)
{
	u64 h = write_at_once(), newest;
	u8 *image = image_of_fast();
	u32 n, asked = 0;

	(void)state;
	for (n = 0; cut_after(n, image, h - 5, 1); n++) {
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
	free(image);
}

static void its_head_that_is_gone_is_asked_about(void **state)
{
	u64 h = write_at_once();
	u8 *image = image_of_fast();

	(void)state;
	assert_true(cut_after(2, image, h + 1, 1));
	assert_true(is_losing());
	assert_int_equal(newest_in_ring(), h);
	memset(ring_block(&f, h), 0, XP_BLOCK_SIZE);
	assert_int_equal(restart(0), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "has been cut began with it"));
	assert_int_equal(restart(XP_ACCEPT_LOSS), 0);
	free(image);
}

/* A copy of the superblock that took no write says that it goes on. What a later life has written tells otherwise. */
static void one_that_has_ended_is_not_gone_on_with(void **state)
{
	u64 h = write_at_once();
	u8 *image = image_of_fast();
	struct xp_sb noted;

	(void)state;
	assert_true(cut_after(2, image, h + 1, 1));
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
	free(image);
}

/* What was newer than its head was erased before it wrote anything: what goes on from it is newer than that all the same. */
static void one_that_was_cut_writes_what_is_newer_than_what_it_erased(void **state)
{
	u64 h = write_at_once();
	struct xp_jblock *b;
	struct xp_sb noted;
	u8 *image;
	u32 n, went_on = 0;

	(void)state;
	b = ring_block(&f, h + 5);	/* lacks those before it */
	memcpy(b, ring_block(&f, h), XP_BLOCK_SIZE);
	b->head.seq = cpu_to_le64(h + 5);
	b->head.incarnation = cpu_to_le64(50);
	reseal(b);
	image = image_of_fast();
	for (n = 0; cut_after(n, image, h + 1, 1); n++) {
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
	free(image);
}

static void what_is_told_is_of_all_that_were_cut(void **state)
{
	u64 h = write_at_once();
	u8 *image = image_of_fast();
	u32 n, noted = 0;

	(void)state;
	for (n = 0; cut_after(n, image, h - 5, 1); n++) {
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
	free(image);
}

/* Of more than the note has room for, only what is older than the noted ones may be one that was accepted. */
static void of_many_holes_none_is_credit_for_a_newer_one(void **state)
{
	u32 n, asked = 0;
	u8 *image;
	u64 h;

	(void)state;
	write_at_once();
	for (u32 i = 0; i < 40; i++)
		write_dirty(70000 + i, 1, 4);
	h = stats_of(&f).seq;
	image = image_of_fast();
	for (n = 0; cut_after(n, image, h - 5, XP_LOSS_HOLES + 3); n++) {
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
	free(image);
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
		T(a_block_is_lost_while_it_is_looked_at),
		T(a_cut_while_the_fingerprint_is_made_again),
		T(a_copy_of_it_that_takes_no_write_is_left),
		T(a_block_of_the_chain_is_missed),
		T(the_hole_is_left_behind),
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
		T(one_that_was_cut_goes_on_without_what_it_has_erased),
		T(an_older_head_that_is_whole_comes_first),
		T(what_was_durable_is_not_passed_over),
		T(a_cut_while_older_ones_are_erased),
		T(one_that_was_cut_goes_on_with_its_head),
		T(a_hole_can_be_read_again_after_a_cut),
		T(what_it_has_written_is_asked_about),
		T(what_is_lost_since_the_cut_is_asked_about),
		T(another_hole_is_asked_about),
		T(damage_of_what_it_has_written_is_asked_about),
		T(its_head_that_is_gone_is_asked_about),
		T(one_that_was_cut_writes_what_is_newer_than_what_it_erased),
		T(one_that_has_ended_is_not_gone_on_with),
		T(what_is_told_is_of_all_that_were_cut),
		T(of_many_holes_none_is_credit_for_a_newer_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
