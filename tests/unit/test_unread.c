// SPDX-License-Identifier: GPL-2.0-only
/* What a recovery believed, and could not read, until it is written anew. */
#include "checksum.h"
#include "fixture.h"
#include "look.h"
#include "map.h"
#include "policy.h"
#include "recovery.h"
#include "request.h"
#include "run.h"
#include "superblock.h"

#define BLOCKS	8192u
#define LBA	5u

static struct fixture f;
static u64 bad;			/* block of the fast device that cannot be read; 0: none */
static int (*whole_read)(void *ctx, u64 block, u32 nr, void *buf);

static bool no_slot_is_read;

static int bad_read(void *ctx, u64 block, u32 nr, void *buf)
{
	if (no_slot_is_read && block >= le64_to_cpu(f.sb.data_start))
		return -EIO;
	return bad && bad >= block && bad < block + nr ? -EIO : whole_read(ctx, block, nr, buf);
}

static int restart(u32 accept)
{
	f.opt.accept = accept;
	return fixture_restart(&f);
}

static void reopen(void)
{
	assert_int_equal(restart(0), 0);
}

static xp_slot_t slot;

/* A cache that has started without being able to read the slot of LBA, which was 9 there and 7 before. */
/* Of so many blocks, that are read by @read from now on. */
static void setup_read(u64 fast_blocks, int (*read)(void *ctx, u64 block, u32 nr, void *buf))
{
	fixture_setup(&f, fast_blocks, 100000);
	whole_read = f.media.read;
	f.media.read = read;
}

static int setup(void **state)
{
	(void)state;
	setup_read(BLOCKS, bad_read);
	no_slot_is_read = false;
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	write_blocks(&f, 50, 1, 5);	/* the chain begins here */
	write_blocks(&f, LBA, 1, 7);
	flush(&f);
	slot = write_under_way(&f, LBA, 9);
	bad = le64_to_cpu(f.sb.data_start) + xp_slot_n(slot);
	reopen();
	assert_int_equal(xp_unread(f.c), 1);
	return 0;
}

/* It can be read from now on, and holds something else. */
static void it_was_not_there(void)
{
	bad = 0;
	memset(slot_data(&f, slot), 1, XP_BLOCK_SIZE);
}

static int read_error(u64 lba)
{
	struct xp_req req;

	if (submit(&f, &req, XP_READ, lba * 8, 8, false) == XP_DONE)
		return req.err;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	return req.err;
}

static void assert_unread(void)
{
	struct xp_mapping m;
	struct xp_req req;

	assert_true(xp_lookup(f.c, XP_LBA(LBA), &m));
	assert_true(m.dirty && m.unread && !m.zeros);
	assert_int_equal(read_error(LBA), -EIO);
	assert_int_equal(xp_hit(f.c, &(struct xp_req){ .op = XP_READ, .sector = LBA * 8, .nr_sectors = 8 }), 0);
	assert_int_equal(submit(&f, &req, XP_WRITE, LBA * 8, 1, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(xp_unread(f.c), 1);
}

static bool has_feature(void)
{
	struct xp_sb sb;

	memcpy(&sb, f.fast, sizeof(sb));
	return le64_to_cpu(sb.incompat) & XP_INCOMPAT_UNREAD;
}

/* ------------------------------------------------------------- stays ---- */

static void it_is_an_error_whatever_the_slot_holds(void **state)
{
	(void)state;
	assert_unread();
	assert_true(has_feature());
	it_was_not_there();
	assert_unread();
	reopen();
	assert_unread();
	reopen();
	assert_unread();
	assert_true(has_feature());
}

static void it_is_one_however_often_its_record_is_repeated(void **state)
{
	u64 ring = le64_to_cpu(f.sb.journal_blocks), i;

	(void)state;
	it_was_not_there();
	for (i = 0; i < 2 * ring; i++) {
		write_blocks(&f, 100 + i % 50, 1, 3);
		flush(&f);
	}
	assert_unread();
	reopen();
	assert_unread();
}

static void overwrite_fails(void)
{
	struct xp_req req;
	u64 hash = 1;

	assert_int_equal(submit(&f, &req, XP_WRITE, LBA * 8, 8, true), XP_COPY);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	assert_int_equal(xp_end(f.c, &req, -ENOSPC, &f.todo), XP_WAIT);
	write_journal(&f);
}

static void it_is_one_after_a_write_that_failed(void **state)
{
	(void)state;
	it_was_not_there();
	overwrite_fails();
	assert_unread();
	reopen();
	assert_unread();
}

static void it_does_not_go_home(void **state)
{
	(void)state;
	it_was_not_there();
	write_blocks(&f, LBA + 1, 1, 3);
	write_blocks(&f, LBA - 1, 1, 3);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_int_equal(stats_of(&f).dirty, 1);
	assert_false(mapped_dirty(&f, LBA + 1));
	assert_false(mapped_dirty(&f, LBA - 1));
	assert_unread();
	assert_int_equal(xp_writeback_pause(f.c), 0);
	assert_false(xp_writeback_wanted(f.c));
}

/* Whatever could not be brought home is no fault of a device: a burst that fills the cache waits, and does not fail. */
static void a_burst_beside_it_is_no_error(void **state)
{
	struct xp_req req;
	u64 lba = 1000;

	(void)state;
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_false(xp_writeback_wanted(f.c));
	while (f.c->nr_free) {
		write_blocks(&f, lba++, 1, 3);
		if (lba % 64 == 0)
			flush(&f);
	}
	flush(&f);
	assert_int_equal(submit(&f, &req, XP_WRITE, 1000 * 8, 8, false), XP_WAIT);
	assert_true(xp_writeback_wanted(f.c));
	writeback_batch(&f, 0);
}

static bool all_bad;

static int all_bad_read(void *ctx, u64 block, u32 nr, void *buf)
{
	return all_bad && block >= le64_to_cpu(f.sb.data_start) ? -EIO : whole_read(ctx, block, nr, buf);
}

/* Nothing would ever come for who waits. */
static void who_finds_nothing_else_does_not_wait(void **state)
{
	struct xp_req req;
	u64 lba = 0;
	u32 i;

	(void)state;
	fixture_teardown(&f);
	setup_read(1024, all_bad_read);
	all_bad = true;
	while (f.c->nr_free) {
		for (i = 0; i < XP_WINDOW / 2 && f.c->nr_free; i++)
			write_under_way(&f, lba++, 9);
		reopen();
	}
	all_bad = false;
	assert_int_equal(xp_unread(f.c), lba);
	assert_int_equal(submit(&f, &req, XP_WRITE, 8, 8, false), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_ZEROES, 8, 8, false), XP_DONE);	/* this goes */
	assert_int_equal(req.err, 0);
	assert_int_equal(xp_unread(f.c), lba - 1);
}

/* Nor does what lies between two of them go home block by block. */
static void what_is_between_two_is_one_run(void **state)
{
	struct xp_run run;
	u32 runs = 0, round;

	(void)state;
	it_was_not_there();
	bad = le64_to_cpu(f.sb.data_start) + xp_slot_n(write_under_way(&f, 9000, 9));
	reopen();
	assert_int_equal(xp_unread(f.c), 2);
	for (round = 0; round < 2; round++, runs = 0) {
		write_blocks(&f, 2000, 16, 3);
		flush(&f);
		xp_write_back_all(f.c, true);
		assert_true(xp_writeback_begin(f.c, &f.todo));
		write_journal(&f);
		for (; xp_writeback_next(f.c, &run) == XP_NEXT_RUN; runs++)
			xp_writeback_end(f.c, &run, &f.todo);
		assert_int_equal(xp_writeback_flushes(f.c), XP_FLUSH_NOW);
		xp_writeback_commit(f.c, 0, 1, &f.todo);
		write_journal(&f);
		assert_true(runs <= 2);
	}
}

/* A read of more than that ends before it, and goes on behind it. */
static void what_is_beside_it_is_read(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, LBA - 1, 1, 3);
	assert_int_equal(submit(&f, &req, XP_READ, (LBA - 1) * 8, 3 * 8, false), XP_FAST);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_READ, LBA * 8, 2 * 8, false), XP_DONE);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(req.err, -EIO);
}

/* It would be laid over what the slow device holds. */
static void it_is_in_no_span(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, (LBA - 1) * 8, 3 * 8, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_sectors, 8);
	assert_null(req.overlay);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
}

/* -------------------------------------------------------------- ends ---- */

static void assert_over(int byte)
{
	assert_int_equal(xp_unread(f.c), 0);
	assert_int_equal(read_error(LBA), 0);
	assert_int_equal(mapped_byte(&f, LBA), byte);
}

static void it_ends_with_what_was_written(void **state)
{
	(void)state;
	bad = 0;
	assert_unread();	/* nobody has looked */
	reopen();
	assert_over(9);
	write_blocks(&f, LBA, 1, 6);
	flush(&f);
	reopen();
	assert_over(6);
}

/* Proven, brought home; and then its slot cannot be read again. */
static void what_was_proven_stays_so(void **state)
{
	u64 ring = le64_to_cpu(f.sb.journal_blocks), was = bad, i;
	struct xp_todo todo;
	struct xp_req req;

	(void)state;
	bad = 0;
	reopen();
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	flush(&f);
	assert_false(mapped_dirty(&f, LBA));
	bad = was;
	reopen();
	assert_int_equal(xp_unread(f.c), 0);
	assert_false(mapped_dirty(&f, LBA));
	assert_int_equal(submit(&f, &req, XP_READ, LBA * 8, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);	/* the slow device has it */
	for (i = 0; i < 2 * ring; i++) {
		write_blocks(&f, 100 + i % 50, 1, 3);
		flush(&f);
	}
	reopen();
	xp_todo_init(&todo);
	xp_lock(&f.c->lock);
	if (is_slot(map_mapped(f.c, XP_LBA(LBA))))
		policy_unmap(f.c, slot, &todo);
	xp_unlock(&f.c->lock);
}

static void it_ends_with_a_write(void **state)
{
	(void)state;
	it_was_not_there();
	write_blocks(&f, LBA, 1, 6);
	assert_over(6);
	flush(&f);
	reopen();
	assert_over(6);
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_int_equal(stats_of(&f).dirty, 0);
}

static void it_ends_with_zeroes(void **state)
{
	struct xp_mapping m;
	struct xp_req req;

	(void)state;
	it_was_not_there();
	assert_int_equal(submit(&f, &req, XP_ZEROES, LBA * 8, 8, false), XP_DONE);
	assert_int_equal(req.err, 0);
	flush(&f);
	for (int i = 0; i < 2; i++) {
		assert_true(xp_lookup(f.c, XP_LBA(LBA), &m));
		assert_true(m.zeros && !m.unread);
		assert_int_equal(submit(&f, &req, XP_READ, LBA * 8, 8, false), XP_ZERO);
		reopen();
	}
	xp_write_back_all(f.c, true);
	writeback_batch(&f, 0);
	assert_int_equal(stats_of(&f).dirty, 0);
}

/* Zeroes that come while a batch has it: what was written home is not of them. */
static void it_turns_to_zeros_in_a_batch(void **state)
{
	struct xp_req req;

	(void)state;
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_int_equal(submit(&f, &req, XP_ZEROES, LBA * 8, 8, false), XP_DONE);
	batch_end(&f, 0, 0, 1);
	assert_int_equal(stats_of(&f).dirty, 1);
	writeback_batch(&f, 0);
	assert_int_equal(stats_of(&f).dirty, 0);
}

static void an_older_version_may_look_when_it_is_over(void **state)
{
	u64 ring = le64_to_cpu(f.sb.journal_blocks), i;

	(void)state;
	write_blocks(&f, LBA, 1, 6);
	flush(&f);
	reopen();
	assert_true(has_feature());	/* a record of the chain says so */
	for (i = 0; i < 2 * ring; i++) {
		write_blocks(&f, 100 + i % 50, 1, 3);
		flush(&f);
	}
	reopen();
	assert_false(has_feature());
}

/* ----------------------------------------------------------- the chain ---- */

/* There is nothing older any more. */
static void the_older_version_is_gone(void **state)
{
	(void)state;
	assert_int_equal(restart(XP_ACCEPT_OLDER), 0);
	assert_unread();
}

/* The recovery was cut before it had ended: this one decides anew, and by the slot alone. */
static void a_recovery_that_was_cut_is_not_believed(void **state)
{
	struct xp_jblock *last = ring_block(&f, stats_of(&f).seq);

	(void)state;
	it_was_not_there();
	memset(last, 0, sizeof(*last));
	reopen();
	assert_over(7);
	reopen();
	assert_over(7);
}

/* Nor that it cannot be read, when it can. */
static void nor_is_one_that_could_not_read_it(void **state)
{
	struct xp_jblock *last = ring_block(&f, stats_of(&f).seq);

	(void)state;
	memset(last, 0, sizeof(*last));
	bad = 0;
	reopen();
	assert_over(9);
	reopen();
	assert_over(9);
}

static void it_makes_no_sense_elsewhere(void **state)
{
	struct xp_jblock *b;
	u64 seq;
	u32 i;

	(void)state;
	seq = stats_of(&f).seq - 1;
	b = ring_block(&f, seq);
	for (i = 0; !(le64_to_cpu(b->rec[i].lba) >> 48 & XP_REC_UNREAD); i++)
		assert_true(i < le16_to_cpu(b->head.count));
	b->rec[i].lba ^= cpu_to_le64((u64)XP_REC_DIRTY << 48);
	reseal(b);
	restart_refused(&f, "record of unknown kind");
	b->rec[i].lba ^= cpu_to_le64((u64)XP_REC_DIRTY << 48 | (u64)(XP_REC_MAP ^ XP_REC_CLEAN) << 40);
	reseal(b);
	restart_refused(&f, "record of unknown kind");
	b->rec[i].lba ^= cpu_to_le64((u64)XP_REC_UNREAD << 48);
	b->rec[i].sum = cpu_to_le32(1);
	reseal(b);
	restart_refused(&f, "record of unknown kind");
}

/* Both superblocks are lost, and one is laid out anew: it has the features that a cache is made with. */
static void its_feature_may_be_lost(void **state)
{
	(void)state;
	it_was_not_there();
	f.sb.incompat &= ~cpu_to_le64(XP_INCOMPAT_UNREAD);
	f.sb.generation = cpu_to_le64(99);
	assert_int_equal(xp_sb_write(&f.media, &f.sb), 0);
	reopen();
	assert_unread();
	assert_true(has_feature());
}

/* Of the second of two commits; the first's one is proven by that. */
#define TOGETHER	7u

static void write_many_under_way(u64 lba, u32 nr)
{
	struct xp_req req[TOGETHER + 1];
	u8 data[XP_BLOCK_SIZE] = { 9 };
	u64 hash = xp_checksum(data, sizeof(data));

	for (u32 i = 0; i <= nr; i++) {
		assert_int_equal(submit(&f, &req[i], XP_WRITE, (lba + i) * 8, 8, true), XP_COPY);
		memcpy(f.fast + req[i].target * 512, data, sizeof(data));
		xp_copied(f.c, &req[i], &hash, &f.todo);
	}
	write_journal(&f);
}

static void say_last_again(void)
{
	struct xp_jblock *b = ring_block(&f, stats_of(&f).seq);
	u16 n = le16_to_cpu(b->head.count);

	assert_in_range(n, 1, XP_RECORDS - 1);
	assert_true(le64_to_cpu(b->rec[n - 1].lba) >> 48 & XP_REC_UNREAD);
	b->rec[n] = b->rec[n - 1];
	b->head.count = cpu_to_le16((u16)(n + 1));
	reseal(b);
}

/* One more than the table takes: refused, until they can be read, or the older versions are taken. */
static void there_is_no_room_for_more(void **state)
{
	u32 room = RECORDS_CHECKED_MAX, n = 1, seen;

	(void)state;
	no_slot_is_read = true;
	for (; n + TOGETHER <= room; n += TOGETHER) {
		write_many_under_way(1000 + 2 * n, TOGETHER);
		reopen();
		assert_int_equal(xp_unread(f.c), n + TOGETHER);
	}
	write_many_under_way(1000 + 2 * n, room - n - 1);	/* so few are in one commit */
	reopen();
	assert_int_equal(xp_unread(f.c), room);
	overwrite_fails();
	say_last_again();
	reopen();
	assert_int_equal(xp_unread(f.c), room);
	write_under_way(&f, LBA, 8);	/* it has the place of what was there before */
	reopen();
	assert_int_equal(xp_unread(f.c), room);
	n = room;
	write_many_under_way(1000 + 2 * n, TOGETHER);
	seen = xp_unread(f.c);
	assert_int_equal(restart(0), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "than there is room for"));
	no_slot_is_read = false;
	reopen();
	assert_int_equal(xp_unread(f.c), 1);	/* all others had landed */
	assert_int_equal(mapped_byte(&f, 1000 + 2 * n), 9);
	assert_int_equal(seen, n);
}

/* Behind the newest block: @nr records of as many slots that cannot be read, and another one of slot @last. */
static void forge_unread(u32 nr, u32 last)
{
	const struct xp_jblock *head = ring_block(&f, stats_of(&f).seq);
	u32 i, k, n = 0;

	for (k = 1; n <= nr; k++) {
		struct xp_jblock *b = ring_block(&f, stats_of(&f).seq + k);

		b->head = head->head;
		b->head.seq = cpu_to_le64(stats_of(&f).seq + k);
		for (i = 0; i < XP_RECORDS && n <= nr; i++, n++)
			b->rec[i] = (struct xp_record){
				.lba = cpu_to_le64((n < nr ? 1000 + n : 1000 + last) | (u64)XP_REC_MAP << 40 |
						   (u64)(XP_REC_DIRTY | XP_REC_CHECKED | XP_REC_UNREAD) << 48),
				.slot = cpu_to_le32(n < nr ? n : last),
				.hash = cpu_to_le64(1),
			};
		b->head.count = cpu_to_le16((u16)i);
		reseal(b);
	}
}

/* More than any version writes: a slot has one place in the table, and who has none is refused. */
static void nor_has_replay_for_whatever_a_ring_says(void **state)
{
	const u32 room = 2 * RECORDS_CHECKED_MAX;

	(void)state;
	fixture_teardown(&f);
	setup_read(8192, bad_read);
	no_slot_is_read = true;
	assert_in_range(f.c->nr_slots, room + 1, 100000);
	forge_unread(room + 1, room);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "than there is room for (5376)"));
	fixture_teardown(&f);
	setup_read(8192, bad_read);
	forge_unread(room, 7);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "than there is room for"));
}

/* Its record gives it a slot that is another block's. */
static void a_record_that_contradicts_is_refused(void **state)
{
	xp_slot_t other = write_under_way(&f, 77, 3);
	struct xp_jblock *b = ring_block(&f, stats_of(&f).seq);
	u32 i;

	(void)state;
	for (i = 0; (le64_to_cpu(b->rec[i].lba) & (XP_MAX_LBAS - 1)) != 77; i++)
		assert_true(i < le16_to_cpu(b->head.count));
	assert_int_equal(le32_to_cpu(b->rec[i].slot), xp_slot_n(other));
	b->rec[i].slot = cpu_to_le32(xp_slot_n(slot));
	b->rec[i].hash = 0;
	reseal(b);
	restart_refused(&f, "holds another block");
}

static u64 dead;		/* block of the fast device that takes no write */
static int (*whole_write)(void *ctx, u64 block, u32 nr, const void *buf);

static int dead_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	return dead >= block && dead < block + nr ? -EIO : whole_write(ctx, block, nr, buf);
}

/* Of two superblocks one is enough to start with, whatever there is to say. */
static void a_superblock_may_be_dead(void **state)
{
	(void)state;
	whole_write = f.media.write;
	f.media.write = dead_write;
	for (u32 i = 0; i < 2; i++) {
		dead = i ? XP_SB_BLOCK_B : XP_SB_BLOCK_A;
		f.sb.incompat &= ~cpu_to_le64(XP_INCOMPAT_UNREAD);
		f.sb.generation = cpu_to_le64(99 + i);
		xp_sb_seal(&f.sb);
		memcpy(f.fast + XP_SB_BLOCK_A * XP_BLOCK_SIZE, &f.sb, sizeof(f.sb));
		memcpy(f.fast + XP_SB_BLOCK_B * XP_BLOCK_SIZE, &f.sb, sizeof(f.sb));
		reopen();
		assert_unread();
	}
	write_blocks(&f, LBA, 1, 6);
	flush(&f);
	for (u64 i = 0; i < 2 * le64_to_cpu(f.sb.journal_blocks); i++) {
		write_blocks(&f, 100 + i % 50, 1, 3);
		flush(&f);
	}
	reopen();
	assert_over(6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(it_is_an_error_whatever_the_slot_holds),
		T(it_is_one_however_often_its_record_is_repeated),
		T(it_is_one_after_a_write_that_failed),
		T(it_does_not_go_home),
		T(a_burst_beside_it_is_no_error),
		T(who_finds_nothing_else_does_not_wait),
		T(what_is_between_two_is_one_run),
		T(what_is_beside_it_is_read),
		T(it_is_in_no_span),
		T(it_ends_with_what_was_written),
		T(what_was_proven_stays_so),
		T(it_ends_with_a_write),
		T(it_ends_with_zeroes),
		T(it_turns_to_zeros_in_a_batch),
		T(an_older_version_may_look_when_it_is_over),
		T(the_older_version_is_gone),
		T(a_recovery_that_was_cut_is_not_believed),
		T(nor_is_one_that_could_not_read_it),
		T(it_makes_no_sense_elsewhere),
		T(its_feature_may_be_lost),
		T(there_is_no_room_for_more),
		T(nor_has_replay_for_whatever_a_ring_says),
		T(a_record_that_contradicts_is_refused),
		T(a_superblock_may_be_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
