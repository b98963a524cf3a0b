// SPDX-License-Identifier: GPL-2.0-only
/* With xp_options.verify: sums that are kept, and what is done when a slot holds something else. */
#include "fixture.h"
#include "class.h"
#include "look.h"
#include "run.h"
#include "superblock.h"
#include "verify.h"

static struct fixture f;

static int start_with_sums(u64 incompat)
{
	fixture_setup(&f, 8192, 100000);
	f.sb.incompat = cpu_to_le64(incompat);
	f.opt.verify = true;
	fixture_reopen(&f);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return start_with_sums(XP_INCOMPAT_KNOWN);
}

static int setup_without(void **state)
{
	(void)state;
	return start_with_sums(XP_INCOMPAT_NEW);
}

static u8 *data_of(u64 lba)
{
	return slot_data(&f, mapping_of(&f, lba).slot);
}

static u32 sum_of(const void *data)
{
	return xp_sum(xp_checksum(data, XP_BLOCK_SIZE));
}

static bool is_summed(u64 lba)
{
	return mapping_of(&f, lba).sum == sum_of(data_of(lba));
}

static void rot(u64 lba)
{
	data_of(lba)[1234] ^= 0x10;
}

/* ---- the sum ---- */

static void a_sum_is_never_none(void **state)
{
	(void)state;
	assert_int_not_equal(xp_sum(0), 0);
	assert_int_equal(xp_sum(0x9e3779b1), 0x9e3779b1);
	assert_int_not_equal(xp_sum(1ull << 32 | 0x9e3779b1), 0);
}

/* Blocks of words in pairs, as most that repeat something are: each has a sum of its own. */
static void blocks_that_repeat_a_byte_differ(void **state)
{
	static u8 block[XP_BLOCK_SIZE];
	u32 sum[256], i, k;

	(void)state;
	for (i = 0; i < 256; i++) {
		memset(block, (int)i, sizeof(block));
		sum[i] = sum_of(block);
		for (k = 0; k < i; k++)
			assert_int_not_equal(sum[i], sum[k]);
	}
}

static void one_bit_changes_it(void **state)
{
	static u8 block[XP_BLOCK_SIZE];
	u32 sum = sum_of(block), bit;

	(void)state;
	for (bit = 0; bit < 8 * XP_BLOCK_SIZE; bit++) {
		block[bit / 8] ^= (u8)(1 << bit % 8);
		assert_int_not_equal(sum_of(block), sum);
		block[bit / 8] ^= (u8)(1 << bit % 8);
	}
}

/* ---- kept ---- */

static void a_write_goes_from_a_copy(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8 * 20, false), XP_COPY);
	assert_true(req.copy.hashed);
	assert_false(req.copy.parallel);
	assert_int_equal(req.nr_blocks, XP_COPY_MAX);
	assert_int_equal(req.copy.base, XP_BASE_NONE);
}

static void what_is_written_and_filled_is_summed(void **state)
{
	(void)state;
	write_blocks(&f, 5, 3, 9);
	fill_block(&f, 50, 7);
	assert_true(is_summed(5) && is_summed(6) && is_summed(7) && is_summed(50));
	write_blocks(&f, 5, 1, 8);
	assert_true(is_summed(5));
}

static void a_recovery_finds_it(void **state)
{
	(void)state;
	write_blocks(&f, 5, 3, 9);
	fill_block(&f, 50, 7);
	flush(&f);
	fixture_reopen(&f);
	assert_true(is_summed(5) && is_summed(6) && is_summed(7) && is_summed(50));
}

static u64 fua_write(u64 lba, int byte, bool lands)
{
	struct xp_req req;
	u64 hash, seq;
	u8 *data;

	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8, 8, true), XP_COPY);
	assert_true(req.copy.parallel && req.copy.hashed);
	data = f.fast + req.target * 512;
	if (lands)
		memset(data, byte, XP_BLOCK_SIZE);
	hash = xp_checksum(data, XP_BLOCK_SIZE) + !lands;
	xp_copied(f.c, &req, &hash, &f.todo);
	seq = xp_seq_n(req.record_seq);
	if (lands) {
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_WAIT);
		write_journal(&f);
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	} else {
		refuse_write(&f, &req);	/* nobody tries again */
	}
	return seq;
}

/* Beside its data: the record has both. */
static void so_is_a_parallel_commit(void **state)
{
	u64 seq;

	(void)state;
	seq = fua_write(5, 9, true);
	assert_true(le64_to_cpu(ring_block(&f, seq)->rec[0].hash));
	assert_int_equal(le32_to_cpu(ring_block(&f, seq)->rec[0].sum), sum_of(data_of(5)));
	assert_int_equal(le64_to_cpu(ring_block(&f, seq)->rec[0].lba) >> 48,
			 XP_REC_DIRTY | XP_REC_CHECKED | XP_REC_SUMMED);
	assert_true(is_summed(5));
	fixture_reopen(&f);
	assert_true(is_summed(5));
}

/* What holds after a write that failed is said again. */
static void what_is_fallen_back_to_keeps_it(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	fua_write(5, 8, false);
	assert_int_equal(mapped_byte(&f, 5), 9);
	assert_true(is_summed(5));
	fixture_reopen(&f);
	assert_true(is_summed(5));
}

/* Its record goes round the ring, again and again. */
static void a_record_that_is_relocated_keeps_it(void **state)
{
	u64 relocated;
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	fill_block(&f, 50, 7);
	for (i = 0; i < 3 * le64_to_cpu(f.sb.journal_blocks); i++) {
		write_blocks(&f, 1000 + i % 8, 1, (int)i);
		flush(&f);
	}
	relocated = stats_of(&f).relocated;
	assert_true(relocated >= 4);
	fixture_reopen(&f);
	assert_true(is_summed(5) && is_summed(50));
}

/* A life without sums, by this version: what it writes has none, and what it carries loses it. */
static void a_record_without_is_not_checked(void **state)
{
	struct xp_req req;

	(void)state;
	f.opt.verify = false;
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	f.opt.verify = true;
	fixture_reopen(&f);
	assert_int_equal(mapping_of(&f, 5).sum, 0);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_false(req.copy.check);
}

/* The slot of one that had a sum is used again by one that has none. */
static void an_old_sum_is_not_taken_for_a_new_one(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	f.opt.verify = false;
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 8);
	flush(&f);
	f.opt.verify = true;
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 8);
	assert_int_equal(mapping_of(&f, 5).sum, 0);
}

/* ---- the superblock ---- */

static void without_the_feature_there_are_none(void **state)
{
	(void)state;
	assert_int_equal(xp_memory(&f.sb, true), xp_memory(&f.sb, false));
	assert_int_equal(write_blocks(&f, 5, 1, 9), XP_FAST);
	flush(&f);
	assert_int_equal(mapping_of(&f, 5).sum, 0);
}

/* Who does not know of them must not start it; we refuse a record that should not be there. */
static void without_the_feature_a_sum_is_damage(void **state)
{
	(void)state;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_KNOWN);
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_NEW);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
}

/* Of a record that is otherwise right. */
static void is_damage(struct xp_jblock *b, u64 flags, u64 kind, u32 sum)
{
	struct xp_record was = b->rec[0];

	b->rec[0].lba = cpu_to_le64(5 | kind << 40 | flags << 48);
	b->rec[0].sum = cpu_to_le32(sum);
	reseal(b);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	b->rec[0] = was;
	reseal(b);
}

static void a_sum_where_none_may_be_is_damage(void **state)
{
	struct xp_jblock *b;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	b = ring_block(&f, stats_of(&f).seq);
	assert_int_equal(le16_to_cpu(b->head.count), 1);
	is_damage(b, XP_REC_DIRTY | XP_REC_SUMMED, XP_REC_MAP, 0);
	is_damage(b, XP_REC_DIRTY, XP_REC_MAP, 7);
	is_damage(b, XP_REC_SUMMED, XP_REC_CLEAN, 7);
	fixture_reopen(&f);
	assert_true(is_summed(5));
}

static void a_cache_gets_the_feature_when_it_is_wanted(void **state)
{
	struct xp_sb sb;
	u64 generation;

	(void)state;
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg), 0);
	assert_false(le64_to_cpu(sb.incompat) & XP_INCOMPAT_SUMS);
	generation = le64_to_cpu(sb.generation);
	assert_int_equal(xp_sb_allow(&f.media, &sb, XP_INCOMPAT_SUMS), 0);
	assert_int_equal(xp_sb_read(&f.media, f.fast_blocks, &sb, &f.msg), 0);
	assert_true(le64_to_cpu(sb.incompat) & XP_INCOMPAT_SUMS);
	assert_int_equal(le64_to_cpu(sb.generation), generation + 1);
	f.media_writes = 0;
	assert_int_equal(xp_sb_allow(&f.media, &sb, XP_INCOMPAT_SUMS), 0);
	assert_int_equal(f.media_writes, 0);
	assert_true(xp_memory(&sb, true) <= xp_memory(&sb, false) + 4 * le64_to_cpu(sb.nr_slots) + 8);
}

/* ---- reads ---- */

static void hash_blocks(const struct xp_req *req, u64 *hash)
{
	u32 i;

	for (i = 0; i < req->nr_blocks; i++)
		hash[i] = xp_checksum(f.fast + req->target * 512 + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
}

static enum xp_act check(struct xp_req *req, struct xp_rot *found)
{
	u64 hash[XP_COPY_MAX];

	hash_blocks(req, hash);
	return xp_checked(f.c, req, hash, found, &f.todo);
}

/* A read that finds rot, twice: the answer. */
static enum xp_act check_twice(struct xp_req *req, struct xp_rot *found)
{
	assert_int_equal(check(req, found), XP_CHECK);
	assert_int_equal(found->nr, 0);
	return check(req, found);
}

static void come_again(struct xp_req *req, u32 nr_sectors)
{
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req->link);
	req->nr_sectors = nr_sectors;
}

static void a_part_of_a_block_is_read_whole(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 2, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 43, 8, false), XP_CHECK);
	assert_int_equal(req.nr_blocks, 2);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(req.target, xp_slot_sector(f.c, mapping_of(&f, 5).slot));
	assert_int_equal(req.copy.offset, 3 * 512);
	assert_int_equal(check(&req, &found), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(found.nr, 0);
	assert_int_equal(pins_of(&f, 5) + pins_of(&f, 6), 0);
	assert_int_equal(stats_of(&f).sum_errors, 0);
	assert_int_equal(stats_of(&f).read_blocks_fast, 2);
}

static void no_more_is_read_than_can_be_hashed(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 0, 16, 9);
	write_blocks(&f, 16, 4, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 0, 160, false), XP_CHECK);
	assert_int_equal(req.nr_blocks, XP_COPY_MAX);
	assert_int_equal(req.nr_sectors, 128);
	assert_int_equal(check(&req, &found), XP_DONE);
}

/* A miss is as long as it was: what is admitted depends on it. */
static void a_miss_is_not_cut(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 0, 160, false), XP_SLOW_FILL);
	assert_int_equal(req.nr_sectors, 160);
}

static void what_is_right_the_second_time_is_right(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(check(&req, &found), XP_CHECK);
	rot(5);		/* and back */
	assert_int_equal(check(&req, &found), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(stats_of(&f).sum_errors, 0);
}

static void a_clean_one_is_read_from_the_slow_device(void **state)
{
	struct xp_req req;
	struct xp_rot found;
	xp_slot_t slot;

	(void)state;
	fill_block(&f, 5, 9);
	slot = mapping_of(&f, 5).slot;
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(check_twice(&req, &found), XP_WAIT);
	assert_int_equal(found.nr, 1);
	assert_int_equal(xp_lba_n(found.lba), 5);
	assert_int_equal(xp_slot_n(found.slot), xp_slot_n(slot));
	assert_false(found.dirty);
	assert_int_equal(stats_of(&f).sum_errors, 1);
	come_again(&req, 8);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.class, XP_CLASS_READ_BYPASS);
}

static void and_its_slot_is_dropped(void **state)
{
	struct xp_req req;
	struct xp_rot found;
	struct xp_mapping m;
	u64 free;

	(void)state;
	fill_block(&f, 5, 9);
	flush(&f);
	free = stats_of(&f).free;
	rot(5);
	submit(&f, &req, XP_READ, 40, 8, false);
	check_twice(&req, &found);
	assert_false(xp_lookup(f.c, XP_LBA(5), &m));
	flush(&f);
	assert_int_equal(stats_of(&f).free, free + 1);
	fixture_reopen(&f);
	assert_false(xp_lookup(f.c, XP_LBA(5), &m));
}

static void a_dirty_one_is_an_error(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(check_twice(&req, &found), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(found.nr, 1);
	assert_true(found.dirty);
	assert_int_equal(stats_of(&f).sum_errors, 1);
	assert_int_equal(pins_of(&f, 5), 0);
	assert_true(mapped_dirty(&f, 5));
}

/* The one in the middle is lost, and the clean ones around it are not. */
static void a_run_is_read_in_pieces(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	fill_block(&f, 5, 9);
	write_blocks(&f, 6, 1, 9);
	fill_block(&f, 7, 9);
	rot(6);
	rot(7);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 24, false), XP_CHECK);
	assert_int_equal(req.nr_blocks, 3);
	assert_int_equal(check_twice(&req, &found), XP_WAIT);
	assert_int_equal(found.nr, 1);
	assert_int_equal(xp_lba_n(found.lba), 7);
	come_again(&req, 24);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(req.nr_sectors, 8);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	req.sector = 48;
	req.nr_sectors = 16;
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_CHECK);
	assert_int_equal(req.nr_blocks, 1);
	assert_int_equal(check_twice(&req, &found), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(stats_of(&f).sum_errors, 2);
}

static void what_was_written_anew_meanwhile_is_nobodys_loss(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	write_blocks(&f, 5, 1, 8);
	assert_int_equal(check_twice(&req, &found), XP_WAIT);
	assert_int_equal(found.nr, 0);
	come_again(&req, 8);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_CHECK);
	assert_int_equal(check(&req, &found), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(stats_of(&f).sum_errors, 0);
}

/* A write beside its record may fall back to it: its mapping must not be ended before. */
static void one_that_is_held_stays(void **state)
{
	struct xp_req req, fua;
	struct xp_rot found;
	u64 hash = 1;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(submit(&f, &fua, XP_WRITE, 40, 8, true), XP_COPY);
	xp_copied(f.c, &fua, &hash, &f.todo);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(check_twice(&req, &found), XP_WAIT);
	assert_int_equal(found.nr, 1);
	come_again(&req, 8);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_false(mapping_of(&f, 5).dirty);
}

static void an_error_of_the_device_is_one_as_ever(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	come_again(&req, 8);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
	assert_int_equal(stats_of(&f).sum_errors, 0);
}

/* ---- the base of a write ---- */

static enum xp_act check_base(struct xp_req *req, struct xp_rot *found)
{
	return xp_base_checked(f.c, req, xp_checksum(f.fast + req->copy.from * 512, XP_BLOCK_SIZE), found,
			       &f.todo);
}

static void a_base_is_checked(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_true(req.copy.check && req.copy.hashed);
	assert_int_equal(check_base(&req, &found), XP_COPY);
}

static void a_clean_base_is_read_from_the_slow_device(void **state)
{
	struct xp_req req;
	struct xp_rot found;
	u64 hash;

	(void)state;
	fill_block(&f, 5, 9);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(check_base(&req, &found), XP_CHECK);
	assert_int_equal(check_base(&req, &found), XP_WAIT);
	assert_int_equal(found.nr, 1);
	come_again(&req, 1);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_SLOW);
	assert_false(req.copy.check);
	memset(f.fast + req.target * 512, 7, XP_BLOCK_SIZE);
	hash = xp_checksum(f.fast + req.target * 512, XP_BLOCK_SIZE);
	xp_copied(f.c, &req, &hash, &f.todo);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_true(is_summed(5) && mapped_dirty(&f, 5));
	flush(&f);
	fixture_reopen(&f);
	assert_true(is_summed(5) && mapped_dirty(&f, 5));
}

static void a_dirty_base_is_an_error(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	rot(5);
	assert_int_equal(submit(&f, &req, XP_WRITE, 41, 1, false), XP_COPY);
	assert_int_equal(check_base(&req, &found), XP_CHECK);
	assert_int_equal(check_base(&req, &found), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(pins_of(&f, 5), 0);
	assert_int_equal(stats_of(&f).sum_errors, 1);
}

/* ---- writeback ---- */

static int check_run(struct xp_run *run, struct xp_rot *found)
{
	u32 i;
	int err = 0;

	for (i = 0; i < run->nr_blocks && !err; i++) {
		u64 hash = xp_checksum(slot_data(&f, run->slot[i]), XP_BLOCK_SIZE);

		err = xp_writeback_checked(f.c, run, i, hash, found);
		if (err == -EAGAIN)
			err = xp_writeback_checked(f.c, run, i, hash, found);
	}
	return err;
}

static void rot_is_not_written_back(void **state)
{
	struct xp_rot found;
	struct xp_run run;

	(void)state;
	write_blocks(&f, 5, 3, 9);
	flush(&f);
	rot(6);
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	assert_int_equal(run.nr_blocks, 3);
	assert_int_equal(check_run(&run, &found), -EIO);
	assert_int_equal(found.nr, 1);
	assert_int_equal(xp_lba_n(found.lba), 6);
	assert_true(found.dirty);
	run.err = -EIO;
	xp_writeback_end(f.c, &run, &f.todo);
	xp_writeback_commit(f.c, 0, 1, &f.todo);
	write_journal(&f);
	assert_int_equal(stats_of(&f).dirty, 3);
	assert_int_equal(stats_of(&f).sum_errors, 1);

	/* The next batch: one by one, and all but that. */
	batch_begin(&f);
	while (xp_writeback_next(f.c, &run) == XP_NEXT_RUN) {
		run.err = check_run(&run, &found);
		xp_writeback_end(f.c, &run, &f.todo);
	}
	xp_writeback_commit(f.c, 0, 2, &f.todo);
	write_journal(&f);
	assert_int_equal(stats_of(&f).dirty, 1);
	assert_true(mapped_dirty(&f, 6));
}

static void what_was_misread_once_is_written_back(void **state)
{
	struct xp_rot found;
	struct xp_run run;
	u64 right;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	flush(&f);
	xp_write_back_all(f.c, true);
	batch_begin(&f);
	assert_int_equal(xp_writeback_next(f.c, &run), XP_NEXT_RUN);
	right = xp_checksum(data_of(5), XP_BLOCK_SIZE);
	assert_int_equal(xp_writeback_checked(f.c, &run, 0, right + 1, &found), -EAGAIN);
	assert_int_equal(xp_writeback_checked(f.c, &run, 0, right, &found), 0);
	assert_int_equal(stats_of(&f).sum_errors, 0);
}

/* What is written over it is as good as new. */
static void a_write_heals(void **state)
{
	struct xp_req req;
	struct xp_rot found;

	(void)state;
	write_blocks(&f, 5, 1, 9);
	rot(5);
	write_blocks(&f, 5, 1, 8);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_CHECK);
	assert_int_equal(check(&req, &found), XP_DONE);
	assert_int_equal(req.err, 0);
}

/* ---- a fast device that takes whole blocks, and nobody verifies ---- */

static int setup_plain(void **state)
{
	(void)state;
	fixture_setup(&f, 8192, 100000);
	fixture_reopen(&f);
	return 0;
}

static enum xp_act submit_private(struct xp_req *req, enum xp_op op, u64 sector, u32 nr)
{
	*req = (struct xp_req){ .op = (u8)op, .sector = sector, .nr_sectors = nr, .private = true };
	return xp_submit(f.c, req, &f.todo);
}

static void parts_of_blocks_are_read_by_whole_ones(void **state)
{
	struct xp_rot found;
	struct xp_req req;

	(void)state;
	assert_true(xp_is_partial(3, 8) && xp_is_partial(8, 3) && xp_is_partial(3, 5));
	assert_false(xp_is_partial(8, 16));
	write_blocks(&f, 5, 20, 77);
	assert_int_equal(submit_private(&req, XP_READ, 5 * 8 + 3, 2), XP_CHECK);
	assert_int_equal(req.target, xp_slot_sector(f.c, mapping_of(&f, 5).slot));
	assert_int_equal(req.nr_blocks, 1);
	assert_int_equal(req.nr_sectors, 2);
	assert_int_equal(req.copy.offset, 3 * 512);
	assert_int_equal(pins_of(&f, 5), 1);
	assert_int_equal(check(&req, &found), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_int_equal(found.nr, 0);
	assert_int_equal(pins_of(&f, 5), 0);

	/* As many as fit into a buffer; the device's error as of any hit. */
	assert_int_equal(submit_private(&req, XP_READ, 5 * 8 + 3, 18 * 8), XP_CHECK);
	assert_int_equal(req.nr_blocks, XP_COPY_MAX);
	assert_int_equal(req.nr_sectors, XP_COPY_MAX * 8 - 3);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_DONE);
	assert_int_equal(req.err, -EIO);
	assert_int_equal(submit(&f, &req, XP_READ, 5 * 8, 18 * 8, false), XP_FAST);
	assert_int_equal(req.nr_blocks, 18);
	xp_end(f.c, &req, 0, &f.todo);
}

/* From memory that is not of whole blocks. */
static void whole_blocks_are_written_from_a_copy(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit_private(&req, XP_WRITE, 40, 8 * 20), XP_COPY);
	assert_false(req.copy.hashed);
	assert_int_equal(req.nr_blocks, XP_COPY_MAX);
	assert_int_equal(req.copy.base, XP_BASE_NONE);
	memset(f.fast + req.target * 512, 9, XP_COPY_MAX * XP_BLOCK_SIZE);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(mapped_byte(&f, 5), 9);
	/* A part of one is written to another slot, whose base is a whole block. */
	assert_int_equal(submit_private(&req, XP_WRITE, 41, 2), XP_COPY);
	assert_int_equal(req.copy.base, XP_BASE_FAST);
	assert_int_equal(req.copy.from % 8, 0);
	assert_int_not_equal(req.target, req.copy.from);
	xp_base_failed(f.c, &req, -EIO, &f.todo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_is_never_none),
		cmocka_unit_test(blocks_that_repeat_a_byte_differ),
		cmocka_unit_test(one_bit_changes_it),
		T(a_write_goes_from_a_copy),
		T(what_is_written_and_filled_is_summed),
		T(a_recovery_finds_it),
		T(so_is_a_parallel_commit),
		T(what_is_fallen_back_to_keeps_it),
		T(a_record_that_is_relocated_keeps_it),
		T(a_record_without_is_not_checked),
		T(an_old_sum_is_not_taken_for_a_new_one),
		TEST_WITH(without_the_feature_there_are_none, setup_without, teardown),
		TEST_WITH(without_the_feature_a_sum_is_damage, setup_without, teardown),
		T(a_sum_where_none_may_be_is_damage),
		TEST_WITH(a_cache_gets_the_feature_when_it_is_wanted, setup_without, teardown),
		T(a_part_of_a_block_is_read_whole),
		T(no_more_is_read_than_can_be_hashed),
		T(a_miss_is_not_cut),
		T(what_is_right_the_second_time_is_right),
		T(a_clean_one_is_read_from_the_slow_device),
		T(and_its_slot_is_dropped),
		T(a_dirty_one_is_an_error),
		T(a_run_is_read_in_pieces),
		T(what_was_written_anew_meanwhile_is_nobodys_loss),
		T(one_that_is_held_stays),
		T(an_error_of_the_device_is_one_as_ever),
		T(a_base_is_checked),
		T(a_clean_base_is_read_from_the_slow_device),
		T(a_dirty_base_is_an_error),
		T(rot_is_not_written_back),
		T(what_was_misread_once_is_written_back),
		T(a_write_heals),
		TEST_WITH(parts_of_blocks_are_read_by_whole_ones, setup_plain, teardown),
		TEST_WITH(whole_blocks_are_written_from_a_copy, setup_plain, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
