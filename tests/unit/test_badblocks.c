// SPDX-License-Identifier: GPL-2.0-only
/* A fast device of which some places cannot be written. */
#include "fixture.h"
#include "mark.h"
#include "request.h"
#include "superblock.h"

#define BLOCKS	8192u

static struct fixture f;
static bool bad[BLOCKS];	/* takes no write */
static int (*whole_write)(void *ctx, u64 block, u32 nr, const void *buf);

static int bad_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	for (u32 i = 0; i < nr; i++)
		if (bad[block + i])
			return -EIO;
	return whole_write(ctx, block, nr, buf);
}

static int setup(void **state)
{
	(void)state;
	fixture_setup(&f, BLOCKS, 100000);
	memset(bad, 0, sizeof(bad));
	whole_write = f.media.write;
	f.media.write = bad_write;
	return 0;
}

/* ------------------------------------------------------------- helpers ---- */

static u64 ring_start(void)
{
	return le64_to_cpu(f.sb.journal_start);
}

static u64 place_of(u64 number)
{
	return ring_start() + number % le64_to_cpu(f.sb.journal_blocks);
}

/* One write of the journal or of the superblock that is asked for, to its end. */
static bool write_one(void)
{
	struct xp_journal_io io;
	u64 block;
	u32 i;

	if (!f.todo.journal)
		return false;
	i = (u32)__builtin_ctz(f.todo.journal);
	f.todo.journal &= ~(1u << i);
	xp_journal_io(f.c, i, &io);
	block = io.target / 8;
	if (!bad[block])
		memcpy(f.fast + block * XP_BLOCK_SIZE, io.data, io.bytes);
	xp_journal_end(f.c, i, bad[block] ? -EIO : 0, &f.todo);
	return true;
}

static void write_all(void)
{
	while (write_one())
		;
}

static void put(u64 lba, int byte)
{
	struct xp_req req;

	f.c->sync_streak = 0;	/* no FLUSH is expected */
	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8, 8, false), XP_FAST);
	memset(f.fast + req.target * 512, byte, XP_BLOCK_SIZE);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
}

/* A write and a FLUSH behind it; false: it ended with an error. */
static bool synced(u64 lba, int byte)
{
	struct xp_req req;

	put(lba, byte);
	if (submit(&f, &req, XP_FLUSH, 0, 0, false) == XP_WAIT) {
		write_all();
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	}
	return !req.err;
}

static void reopen(void)
{
	fixture_reopen(&f);
}

/* ------------------------------------------------------------ the journal ---- */

static void one_failed_write_is_tried_again(void **state)
{
	struct xp_journal_io io;
	struct xp_req req;
	u32 i;

	(void)state;
	write_blocks(&f, 5, 1, 7);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	i = (u32)__builtin_ctz(f.todo.journal);
	f.todo.journal = 0;
	xp_journal_io(f.c, i, &io);
	xp_journal_end(f.c, i, -EIO, &f.todo);
	assert_int_equal(f.todo.journal, 1u << i);
	write_journal(&f);
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, 0);
	assert_int_equal(stats_of(&f).bad_places, 0);
	reopen();
	assert_int_equal(mapped_byte(&f, 5), 7);
}

static void a_bad_place_is_skipped(void **state)
{
	u64 number = stats_of(&f).seq + 1;

	(void)state;
	bad[place_of(number)] = true;
	assert_true(synced(5, 7));
	assert_int_equal(stats_of(&f).seq, number + 1);
	assert_int_equal(stats_of(&f).bad_places, 1);
	assert_true(synced(6, 8));
	reopen();
	assert_int_equal(mapped_byte(&f, 5), 7);
	assert_int_equal(mapped_byte(&f, 6), 8);
	assert_int_equal(stats_of(&f).bad_places, 1);
}

/* It is compared with numbers on the medium, of which a bad place has taken one. */
static void a_mark_counts_as_the_medium_does(void **state)
{
	static struct xp_mark block[XP_BLOCK_SIZE / sizeof(struct xp_mark) + 1];

	(void)state;
	bad[place_of(stats_of(&f).seq + 1)] = true;
	assert_true(synced(5, 7));
	assert_true(synced(6, 8));
	memset(block, 0, sizeof(block));
	assert_true(xp_mark_make(f.c, block));
	assert_int_equal(le64_to_cpu(block->seq), stats_of(&f).durable_seq);
}

static void so_are_several_and_round_the_ring(void **state)
{
	u64 blocks = le64_to_cpu(f.sb.journal_blocks), n;

	(void)state;
	for (n = 0; n < 12; n++)
		bad[ring_start() + 17 * n % blocks] = true;
	for (n = 0; n < 5; n++)
		bad[ring_start() + 40 + n] = true;
	for (n = 0; n < 3 * blocks; n++) {
		assert_true(synced(n % 700, (int)(n % 251)));
		if (n % 100 == 99) {
			reopen();
			for (u64 lba = 0; lba < min(n + 1, (u64)700); lba++)
				assert_int_equal(mapped_byte(&f, lba), (int)((n - (n - lba) % 700) % 251));
		}
	}
	assert_int_equal(stats_of(&f).bad_places, 17);
}

/* Nothing is acknowledged before the superblock is durable, and that comes last. */
static void the_superblock_comes_last(void **state)
{
	struct xp_req req;
	u64 number = stats_of(&f).seq + 1;
	struct xp_sb sb;

	(void)state;
	write_blocks(&f, 5, 1, 7);
	bad[place_of(number)] = true;
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_true(write_one() && write_one());		/* twice in vain */
	assert_true(write_one());				/* the next place */
	assert_int_equal(le64_to_cpu(ring_block(&f, number + 1)->head.seq), number + 1);
	assert_int_equal(f.todo.journal, 1u << XP_SUPERBLOCK);
	assert_true(xp_list_empty(&f.todo.done));
	assert_int_equal(xp_sb_read(&f.media, BLOCKS, &sb, &f.msg), 0);
	assert_int_equal(sb.bad.nr_places, 0);
	assert_true(write_one());
	assert_true(xp_list_empty(&f.todo.done));
	assert_int_equal(xp_sb_read(&f.media, BLOCKS, &sb, &f.msg), 0);
	assert_int_equal(le32_to_cpu(sb.bad.nr_places), 1);
	assert_true(le64_to_cpu(sb.incompat) & XP_INCOMPAT_BAD);
	assert_true(write_one());				/* the other copy */
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, 0);
}

/* Cut before that, the block is gone, and was not acknowledged. */
static void before_that_it_was_never_there(void **state)
{
	struct xp_req req;
	u64 number;

	(void)state;
	assert_true(synced(6, 1));	/* the chain begins here */
	assert_true(synced(5, 7));
	number = stats_of(&f).seq + 1;
	put(5, 8);
	bad[place_of(number)] = true;
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
	assert_true(write_one() && write_one() && write_one());
	reopen();
	assert_int_equal(mapped_byte(&f, 5), 7);
	assert_int_equal(stats_of(&f).bad_places, 1);	/* the start has come to it, too */
}

/* Of several under way all have other places, and the tail that a block names goes along. */
static void those_behind_it_are_written_anew(void **state)
{
	u64 number = stats_of(&f).seq + 1;
	struct xp_req req[4];

	(void)state;
	bad[place_of(number)] = bad[place_of(number + 2)] = true;
	for (u32 i = 0; i < 4; i++) {
		put(10 + i, 20 + (int)i);
		assert_int_equal(submit(&f, &req[i], XP_FLUSH, 0, 0, false), XP_WAIT);
	}
	write_all();
	for (u32 i = 0; i < 4; i++) {
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req[i].link);
		assert_int_equal(req[i].err, 0);
	}
	assert_int_equal(stats_of(&f).seq, number + 5);
	reopen();
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(mapped_byte(&f, 10 + i), 20 + (int)i);
}

static void a_device_that_is_gone_ends_it(void **state)
{
	u32 n = 0;

	(void)state;
	write_blocks(&f, 5, 1, 7);
	xp_tick(f.c, &f.todo);
	while (f.todo.journal) {
		fail_journal(&f);
		n++;
	}
	assert_true(xp_has_failed(f.c));
	assert_int_equal(n, 2 * (XP_WINDOW + 1));
}

static void no_more_than_the_ring_can_spare(void **state)
{
	u64 n, spare = xp_sb_spare_places(&f.sb);

	(void)state;
	assert_int_equal(spare, XP_BAD_PLACES);
	for (n = 0; n <= spare; n++)
		bad[ring_start() + 10 + 2 * n] = true;
	for (n = 0; n < 2 * spare && synced(n, 1); n++)
		;
	assert_true(xp_has_failed(f.c));
	assert_int_equal(stats_of(&f).bad_places, spare);
	/* What was acknowledged is there. */
	for (u32 i = 0; i < BLOCKS; i++)
		bad[i] = false;
	reopen();
	for (u64 lba = 0; lba < n; lba++)
		assert_int_equal(mapped_byte(&f, lba), 1);
}

/* A device that was away for a moment has made good places look bad. */
static void what_is_good_again_is_taken_back(void **state)
{
	u64 number;

	(void)state;
	assert_true(synced(6, 1));
	number = stats_of(&f).seq + 1;
	bad[place_of(number)] = true;
	assert_true(synced(5, 7));
	bad[place_of(number)] = false;
	reopen();
	assert_int_equal(stats_of(&f).bad_places, 1);	/* the chain skips it */
	assert_true(synced(6, 1));
	assert_true(synced(5, 7));
	reopen();
	assert_int_equal(stats_of(&f).bad_places, 0);
	reopen();
	assert_int_equal(mapped_byte(&f, 5), 7);
}

static void what_cannot_be_erased_is_given_up(void **state)
{
	u64 number;

	(void)state;
	assert_true(synced(5, 7));
	number = stats_of(&f).seq;
	*ring_block(&f, number + 2) = *ring_block(&f, number);
	ring_block(&f, number + 2)->head.seq = cpu_to_le64(number + 2);
	reseal(ring_block(&f, number + 2));
	bad[place_of(number + 2)] = true;
	reopen();
	assert_int_equal(stats_of(&f).bad_places, 1);
	for (u32 i = 0; i < 5; i++)
		assert_true(synced(6, 8));
	reopen();
	assert_int_equal(mapped_byte(&f, 6), 8);
}

/* ---------------------------------------------------------- superblock ---- */

/* One copy is whole, whatever happens to the other. */
static void a_torn_first_copy_keeps_the_second_from_being_written(void **state)
{
	u64 number = stats_of(&f).seq + 1;

	(void)state;
	bad[place_of(number)] = bad[XP_SB_BLOCK_B] = true;
	assert_false(synced(5, 7));
	assert_true(xp_has_failed(f.c));
	bad[XP_SB_BLOCK_B] = false;
	reopen();
	assert_int_equal(le64_to_cpu(f.sb.generation), 0);
}

static void a_copy_that_is_gone_is_made_again(void **state)
{
	static const u64 copy[] = { XP_SB_BLOCK_A, XP_SB_BLOCK_B };

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		memset(f.fast + copy[i] * XP_BLOCK_SIZE, 0x55, XP_BLOCK_SIZE);
		reopen();
		assert_memory_equal(f.fast + copy[i] * XP_BLOCK_SIZE, f.fast + copy[!i] * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
	}
}

static void so_is_one_of_the_fingerprint(void **state)
{
	struct xp_fp fp;

	(void)state;
	memset(&fp, 0, sizeof(fp));
	memcpy(fp.magic, XP_FP_MAGIC, sizeof(fp.magic));
	memcpy(fp.uuid, f.sb.uuid, sizeof(fp.uuid));
	fp.checksum = cpu_to_le64(xp_xxh64(&fp, offsetof(struct xp_fp, checksum)));
	memcpy(f.fast + XP_FP_BLOCK_A * XP_BLOCK_SIZE, &fp, sizeof(fp));
	reopen();
	assert_memory_equal(f.fast + XP_FP_BLOCK_B * XP_BLOCK_SIZE, &fp, sizeof(fp));
}

/* Cut between its two copies: an older version must not take the other for what is. */
static void one_copy_of_a_newer_version_is_enough_to_refuse(void **state)
{
	struct xp_sb *b = (struct xp_sb *)(f.fast + XP_SB_BLOCK_B * XP_BLOCK_SIZE), sb;

	(void)state;
	b->incompat |= cpu_to_le64(1ull << 63);
	xp_sb_seal(b);
	assert_int_equal(xp_sb_read(&f.media, BLOCKS, &sb, &f.msg), -ENOTSUP);
}

static int verdict(struct xp_sb *sb)
{
	xp_sb_seal(sb);
	return xp_sb_verify(sb, BLOCKS, &f.msg);
}

static void lists_that_are_none_are_refused(void **state)
{
	struct xp_sb sb = f.sb;

	(void)state;
	sb.incompat |= cpu_to_le64(XP_INCOMPAT_BAD);
	sb.bad.nr_places = cpu_to_le32(XP_BAD_PLACES);
	assert_int_equal(verdict(&sb), 0);
	sb.bad.nr_places = cpu_to_le32(XP_BAD_PLACES + 1);
	assert_int_equal(verdict(&sb), -EUCLEAN);
	sb.bad.nr_places = cpu_to_le32(1);
	sb.bad.place[0] = cpu_to_le32((u32)le64_to_cpu(sb.journal_blocks));
	assert_int_equal(verdict(&sb), -EUCLEAN);
	sb.bad.nr_places = 0;
	sb.bad.nr_slots = cpu_to_le32(XP_BAD_SLOTS + 1);
	assert_int_equal(verdict(&sb), -EUCLEAN);
	sb.bad.nr_slots = cpu_to_le32(1);
	sb.bad.slot[0] = cpu_to_le32((u32)le64_to_cpu(sb.nr_slots));
	assert_int_equal(verdict(&sb), -EUCLEAN);
	sb.bad.nr_slots = 0;
	sb.bad.losing = cpu_to_le32(1);
	assert_int_equal(verdict(&sb), 0);
	sb.bad.losing = cpu_to_le32(2);
	assert_int_equal(verdict(&sb), -EUCLEAN);
	sb.incompat &= ~cpu_to_le64(XP_INCOMPAT_BAD);	/* then they say nothing */
	assert_int_equal(verdict(&sb), 0);
}

/* ---------------------------------------------------------------- slots ---- */

static bool is_bad_run(const struct xp_req *req, u64 sector)
{
	return req->target <= sector && sector < req->target + req->nr_blocks * 8;
}

/* A write to the cache's end, through what the device refuses. How often it was refused. */
static u32 write_through(u64 lba, u32 nr, u64 bad_sector)
{
	u64 end = (lba + nr) * 8;
	struct xp_req req;
	enum xp_act act;
	u32 n = 0;

	act = submit(&f, &req, XP_WRITE, lba * 8, nr * 8, false);
	for (;;) {
		assert_int_equal(act, XP_FAST);
		if (is_bad_run(&req, bad_sector)) {
			n++;
			assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
			write_all();
			assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
		} else {
			assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
			assert_int_equal(req.err, 0);
			req.sector += req.nr_sectors;
			if (req.sector == end)
				break;
		}
		req.nr_sectors = (u32)(end - req.sector);
		act = xp_submit(f.c, &req, &f.todo);
	}
	write_all();
	f.c->sync_streak = 0;
	return n;
}

static void a_bad_slot_is_given_up(void **state)
{
	u64 bad_sector = (le64_to_cpu(f.sb.data_start) + 100) * 8;
	u32 refused = 0;

	(void)state;
	for (u64 n = 0; n < 20000; n++) {
		refused += write_through(n * 7919 % 400, 1, bad_sector);
		if (n % 50 == 0)
			flush(&f);
	}
	assert_int_equal(refused, 1);
	assert_int_equal(stats_of(&f).bad_slots, 1);
	reopen();
	assert_int_equal(stats_of(&f).bad_slots, 1);
	assert_int_equal(stats_of(&f).free + stats_of(&f).dirty, stats_of(&f).slots - 1);
	for (u64 n = 0; n < 20000; n++)
		assert_int_equal(write_through(n * 7919 % 400, 1, bad_sector), 0);
}

/* Which of them is bad is found out when they are written alone. */
static void of_a_run_one_is(void **state)
{
	u64 bad_sector = (le64_to_cpu(f.sb.data_start) + 100) * 8;
	u32 refused = 0;

	(void)state;
	for (u64 n = 0; n < 2000; n++) {
		refused += write_through(n % 20 * 16, 16, bad_sector);
		if (n % 50 == 0)
			flush(&f);
	}
	assert_int_equal(refused, 2);
	assert_int_equal(stats_of(&f).bad_slots, 1);
}

static void a_parallel_commit_goes_elsewhere(void **state)
{
	struct xp_req req;
	u64 hash = 1, was;

	(void)state;
	assert_true(synced(5, 7));
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, true), XP_COPY);
	assert_true(req.copy.parallel);
	was = req.target;
	xp_copied(f.c, &req, &hash, &f.todo);
	assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
	write_all();
	assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
	assert_int_equal(stats_of(&f).bad_slots, 1);
	assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_COPY);
	assert_int_not_equal(req.target, was);
	assert_int_equal(xp_end(f.c, &req, -ENOSPC, &f.todo), XP_WAIT);
}

static void an_error_that_is_not_of_the_place_is_the_callers(void **state)
{
	struct xp_req req;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, false), XP_FAST);
	assert_int_equal(xp_end(f.c, &req, -ENOSPC, &f.todo), XP_WAIT);
	write_all();
	assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
	assert_int_equal(req.err, -ENOSPC);
	assert_int_equal(stats_of(&f).bad_slots, 0);
}

/* The second time its slot is at fault, whoever else the first was. */
static void a_clean_block_that_cannot_be_read_is_dropped(void **state)
{
	struct xp_req req;

	(void)state;
	fill_block(&f, 5, 9);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_FAST);
		assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
		assert_ptr_equal(xp_list_pop(&f.todo.ready), &req.link);
		assert_int_equal(xp_submit(f.c, &req, &f.todo), XP_SLOW);
		assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
		write_all();
		assert_int_equal(mapped_byte(&f, 5), i ? -1 : 9);
	}
	xp_tick(f.c, &f.todo);
	write_all();
	assert_int_equal(stats_of(&f).bad_slots, 1);
}

static void a_slot_that_takes_no_fill_is_given_up(void **state)
{
	struct xp_req req;
	xp_slot_t slot;

	(void)state;
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_SLOW_FILL);
	slot = req.fill.slot;
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &req.fill, -EIO, &f.todo);
	assert_int_equal(stats_of(&f).bad_slots, 0);
	f.c->alloc_hand = xp_slot_n(slot);
	assert_int_equal(submit(&f, &req, XP_READ, 40, 8, false), XP_SLOW_FILL);
	assert_int_equal(xp_slot_n(req.fill.slot), xp_slot_n(slot));
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	xp_fill_end(f.c, &req.fill, -EIO, &f.todo);
	assert_int_equal(stats_of(&f).bad_slots, 1);
	write_all();
}

/* Not by a device that fails all of them for a while. */
static void three_quarters_stay(void **state)
{
	u64 n, slots = stats_of(&f).slots;
	struct xp_req req;

	(void)state;
	for (n = 0; n < slots; n++) {
		enum xp_act act = submit(&f, &req, XP_WRITE, n * 8, 8, false);

		for (u32 i = 0; i < WRITE_TRIES && act == XP_FAST; i++) {
			assert_int_equal(xp_end(f.c, &req, -EIO, &f.todo), XP_WAIT);
			write_all();
			if (!xp_list_pop(&f.todo.ready))
				break;
			act = xp_submit(f.c, &req, &f.todo);
		}
		xp_list_pop(&f.todo.done);
	}
	assert_int_equal(stats_of(&f).bad_slots, XP_BAD_SLOTS);
	reopen();
	assert_int_equal(stats_of(&f).free, slots - XP_BAD_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_failed_write_is_tried_again),
		T(a_bad_place_is_skipped),
		T(a_mark_counts_as_the_medium_does),
		T(so_are_several_and_round_the_ring),
		T(the_superblock_comes_last),
		T(before_that_it_was_never_there),
		T(those_behind_it_are_written_anew),
		T(a_device_that_is_gone_ends_it),
		T(no_more_than_the_ring_can_spare),
		T(what_is_good_again_is_taken_back),
		T(what_cannot_be_erased_is_given_up),
		T(a_torn_first_copy_keeps_the_second_from_being_written),
		T(a_copy_that_is_gone_is_made_again),
		T(so_is_one_of_the_fingerprint),
		T(one_copy_of_a_newer_version_is_enough_to_refuse),
		T(lists_that_are_none_are_refused),
		T(a_bad_slot_is_given_up),
		T(of_a_run_one_is),
		T(a_parallel_commit_goes_elsewhere),
		T(an_error_that_is_not_of_the_place_is_the_callers),
		T(a_clean_block_that_cannot_be_read_is_dropped),
		T(a_slot_that_takes_no_fill_is_given_up),
		T(three_quarters_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
