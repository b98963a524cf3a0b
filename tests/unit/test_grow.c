// SPDX-License-Identifier: GPL-2.0-only
/* Journal blocks that grow, in memory. */
#include "fixture.h"
#include "jblock.h"
#include "journal.h"
#include "rest.h"

static struct fixture f;

static struct {
	u32 nr, bytes;		/* stores; of the last one */
	u64 at;
	bool refuses, lands;
} stores;

static int store(void *ctx, u64 at, const void *from, u32 bytes)
{
	assert_ptr_equal(ctx, &stores);
	assert_int_equal((at | bytes) % 8, 0);
	assert_true(at / XP_BLOCK_SIZE == (at + bytes - 1) / XP_BLOCK_SIZE);
	stores.nr++;
	stores.bytes = bytes;
	stores.at = at;
	if (!stores.refuses || stores.lands)
		memcpy(f.fast + at, from, bytes);
	return stores.refuses ? -ENXIO : 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&stores, 0, sizeof(stores));
	fixture_setup(&f, 8192, 100000);
	f.opt.fast_at_once = true;
	f.opt.store = store;
	f.opt.store_ctx = &stores;
	fixture_reopen(&f);
	return 0;
}

static u64 newest(void)
{
	struct xp_stats s;

	xp_get_stats(f.c, &s);
	return s.seq;
}

static void sync_write(u64 lba, int byte)
{
	write_blocks(&f, lba, 1, byte);
	flush(&f);
}

static void a_sync_stores_a_record(void **state)
{
	struct xp_req req;
	u64 seq;

	(void)state;
	sync_write(5, 3);
	seq = newest();
	assert_int_equal(stores.bytes, sizeof(struct xp_jheader) + sizeof(struct xp_record));
	write_blocks(&f, 6, 1, 4);
	assert_int_equal(stores.nr, 1);
	assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_DONE);
	assert_int_equal(f.todo.journal, 0);
	assert_int_equal(stores.nr, 2);
	assert_int_equal(stores.bytes, sizeof(struct xp_record));
	assert_int_equal(newest(), seq);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 6), 4);
}

static void a_fua_write_ends_at_once_and_leaves_nothing_to_do(void **state)
{
	struct xp_req req;

	(void)state;
	sync_write(1, 1);
	xp_todo_init(&f.todo);
	assert_int_equal(submit(&f, &req, XP_WRITE, 40, 8, true), XP_FAST);
	memset(f.fast + req.target * 512, 7, XP_BLOCK_SIZE);
	assert_int_equal(xp_end(f.c, &req, 0, &f.todo), XP_DONE);
	assert_int_equal(req.err, 0);
	assert_true(xp_todo_empty(&f.todo));
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 7);
}

static void a_flush_without_anything_to_cover_stores_nothing(void **state)
{
	u32 nr;

	(void)state;
	sync_write(1, 1);
	nr = stores.nr;
	flush(&f);
	flush(&f);
	assert_int_equal(stores.nr, nr);
}

/* Whichever 8 bytes of it are missing. */
static void a_torn_record_is_left_out(void **state)
{
	u32 word;

	(void)state;
	for (word = 0; word < 3; word++) {
		sync_write(5, 3);
		sync_write(5, 4);
		assert_int_equal(stores.bytes, sizeof(struct xp_record));
		memset(f.fast + stores.at + word * 8, 0, 8);
		fixture_reopen(&f);
		assert_int_equal(mapped_byte(&f, 5), 3);
	}
}

/* A record that is right, of another place or another block. */
static void a_record_belongs_to_its_place(void **state)
{
	struct xp_jblock *b;
	struct xp_record kept;
	u64 seq;

	(void)state;
	sync_write(5, 3);
	sync_write(6, 4);
	sync_write(6, 5);
	seq = newest();
	b = ring_block(&f, seq);
	assert_int_equal(xp_block_records(b), 3);
	b->rec[3] = kept = b->rec[1];
	assert_int_equal(xp_block_records(b), 3);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 5);
	sync_write(9, 1);
	b = ring_block(&f, newest());
	b->rec[1] = kept;
	assert_int_equal(xp_block_records(b), 1);
}

/* What is on the medium is not added to: it would not be stored again. */
static void a_record_that_is_stored_speaks_of_no_more(void **state)
{
	u64 seq;

	(void)state;
	sync_write(5, 3);
	fill_block(&f, 500, 4);
	flush(&f);
	seq = newest();
	fill_block(&f, 501, 5);
	assert_true(journal_pending(f.c));
	flush(&f);
	assert_int_equal(newest(), seq);
	assert_int_equal(xp_block_records(ring_block(&f, seq)), 3);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 500), 4);
	assert_int_equal(mapped_byte(&f, 501), 5);
}

static u32 good_reads;
static struct xp_record *shaky;

/* That record is not there any more, after some reads. */
static int shaky_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	if (!good_reads--)
		shaky->hash = 0;
	memcpy(buf, f.fast + block * XP_BLOCK_SIZE, nr * XP_BLOCK_SIZE);
	return 0;
}

static void a_record_that_goes_while_it_is_read_is_missed(void **state)
{
	(void)state;
	sync_write(5, 3);
	sync_write(6, 4);
	shaky = &ring_block(&f, newest())->rec[1];
	good_reads = scan_reads(&f);
	f.media.read = shaky_read;
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "changed while it was read"));
}

static void fill_a_block(void)
{
	u32 i;

	for (i = 0; i < XP_NEW_MAX; i++)
		sync_write(100 + i, 1 + (int)i);
}

static void a_full_block_is_told_by_the_next(void **state)
{
	u64 seq;
	u32 i;

	(void)state;
	fill_a_block();
	seq = newest();
	sync_write(5, 3);
	assert_int_equal(newest(), seq + 1);
	assert_int_equal(le16_to_cpu(ring_block(&f, seq)->head.count), 1);
	assert_int_equal(xp_block_records(ring_block(&f, seq)), XP_NEW_MAX);
	assert_int_equal(le16_to_cpu(ring_block(&f, seq + 1)->head.before), XP_NEW_MAX);
	assert_int_equal(le64_to_cpu(ring_block(&f, seq + 1)->head.durable_seq), seq);
	fixture_reopen(&f);
	for (i = 0; i < XP_NEW_MAX; i++)
		assert_int_equal(mapped_byte(&f, 100 + i), 1 + (int)i);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* What a block has grown by was acknowledged: a later one says so, of the next life too. */
static void what_a_block_has_lost_is_damage(void **state)
{
	u64 seq;

	(void)state;
	fill_a_block();
	seq = newest();
	sync_write(5, 3);
	memset(&ring_block(&f, seq)->rec[40], 0, 8);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "is damaged or missing"));
}

static void what_the_newest_block_has_lost_is_damage_to_the_next_life(void **state)
{
	u64 seq;

	(void)state;
	sync_write(5, 3);
	sync_write(6, 4);
	seq = newest();
	fixture_reopen(&f);
	assert_int_equal(le16_to_cpu(ring_block(&f, seq + 1)->head.before), 2);
	memset(&ring_block(&f, seq)->rec[1], 0, 8);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
}

static void what_a_block_never_was_is_damage(void **state)
{
	struct xp_jblock *next;
	u64 seq;
	u32 i;

	(void)state;
	for (i = 0; i < XP_NEW_MAX; i++)
		write_blocks(&f, 100 + i, 1, 1);
	flush(&f);
	seq = newest();
	assert_int_equal(le16_to_cpu(ring_block(&f, seq)->head.count), XP_NEW_MAX);
	sync_write(5, 3);
	next = ring_block(&f, seq + 1);
	assert_int_equal(le16_to_cpu(next->head.before), XP_NEW_MAX);
	next->head.before = cpu_to_le16(XP_NEW_MAX - 1);
	reseal(next);
	assert_int_equal(fixture_restart(&f), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "had fewer records than it has"));
}

/* The journal block is written by the backend, then; whether or not the stores have landed. */
static void what_is_refused_goes_to_the_next_block(void **state)
{
	struct xp_req req;
	u64 seq;

	(void)state;
	for (stores.lands = false; ; stores.lands = true) {
		sync_write(5, 3);
		sync_write(6, 3);
		seq = newest();
		stores.refuses = true;
		write_blocks(&f, 5, 1, 4);
		write_blocks(&f, 5, 1, 5);
		write_blocks(&f, 7, 1, 6);
		assert_int_equal(submit(&f, &req, XP_FLUSH, 0, 0, false), XP_WAIT);
		assert_int_not_equal(f.todo.journal, 0);
		write_journal(&f);
		assert_ptr_equal(xp_list_pop(&f.todo.done), &req.link);
		assert_int_equal(newest(), seq + 1);
		assert_int_equal(le16_to_cpu(ring_block(&f, seq + 1)->head.count), 3);
		assert_int_equal(le16_to_cpu(ring_block(&f, seq + 1)->head.before), 2);
		stores.refuses = false;
		sync_write(8, 7);
		assert_int_equal(newest(), seq + 2);
		assert_int_equal(stores.bytes, sizeof(struct xp_jheader) + sizeof(struct xp_record));
		fixture_reopen(&f);
		assert_int_equal(mapped_byte(&f, 5), 5);
		assert_int_equal(mapped_byte(&f, 6), 3);
		assert_int_equal(mapped_byte(&f, 7), 6);
		assert_int_equal(mapped_byte(&f, 8), 7);
		if (stores.lands)
			break;
	}
}

/* The first part of a block, too. */
static void a_first_part_that_is_refused_is_written(void **state)
{
	(void)state;
	stores.refuses = stores.lands = true;
	sync_write(5, 3);
	sync_write(6, 4);
	stores.refuses = false;
	sync_write(7, 5);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 6), 4);
	assert_int_equal(mapped_byte(&f, 7), 5);
}

/* I1: as soon as what supersedes them is stored, and no sooner. */
static void slots_are_free_when_it_is_stored(void **state)
{
	struct xp_stats s;
	u64 free;

	(void)state;
	sync_write(5, 3);
	xp_get_stats(f.c, &s);
	free = s.free;
	write_blocks(&f, 5, 1, 4);
	xp_get_stats(f.c, &s);
	assert_int_equal(s.free, free - 1);
	stores.refuses = true;
	submit(&f, &(struct xp_req){ 0 }, XP_READ, 800, 8, false);
	xp_tick(f.c, &f.todo);
	xp_get_stats(f.c, &s);
	assert_int_equal(s.free, free - 2);	/* of the read's fill */
	write_journal(&f);
	xp_get_stats(f.c, &s);
	assert_int_equal(s.free, free - 1);
}

/* What is carried repeats what was moved on, or a full turn of the ring loses it. */
static void the_ring_turns(void **state)
{
	u64 turns = 3 * le64_to_cpu(f.sb.journal_blocks) * XP_NEW_MAX, i;
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 1, 200, 9);
	for (i = 0; i < turns; i++) {
		stores.refuses = i % 97 == 0;
		sync_write(500 + i % 7, (int)(i % 250) + 1);
	}
	xp_get_stats(f.c, &s);
	assert_true(s.relocated >= 200);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 1), 9);
	assert_int_equal(mapped_byte(&f, 200), 9);
	assert_int_equal(mapped_byte(&f, 500 + (i - 1) % 7), (int)((i - 1) % 250) + 1);
}

/* As a machine that goes to sleep, and does not after all: what follows a close overwrites
 * whatever has come to lie behind the end. */
static void a_close_ends_the_block(void **state)
{
	struct xp_end end;
	u8 block[XP_BLOCK_SIZE] __attribute__((aligned(8)));

	(void)state;
	sync_write(5, 3);
	write_blocks(&f, 6, 1, 4);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	assert_int_equal(xp_follow(&f.media, &f.sb, newest(), block, &end), 0);
	assert_int_equal(end.seq, newest());
	assert_int_equal(xp_forget_after(&f.sb, &end, &f.media, block), 0);
	sync_write(7, 5);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 6), 4);
	assert_int_equal(mapped_byte(&f, 7), 5);
}

static void an_older_cache_does_not_grow(void **state)
{
	(void)state;
	f.sb.incompat = cpu_to_le64(XP_INCOMPAT_MARK);
	fixture_reopen(&f);
	sync_write(5, 3);
	sync_write(6, 4);
	assert_int_equal(stores.nr, 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 4);
}

/* It is one store away: what superseded it was placed, and not stored yet. */
static void a_write_takes_the_slot_that_is_about_to_be_free(void **state)
{
	struct xp_req req;
	struct xp_stats s;
	u32 i;

	(void)state;
	xp_get_stats(f.c, &s);
	for (i = 0; i < s.slots - 1; i++)
		write_blocks(&f, i, 1, 1);
	flush(&f);
	write_blocks(&f, 0, 1, 2);
	assert_int_equal(submit(&f, &req, XP_WRITE, 8, 8, false), XP_FAST);
	assert_int_equal(f.todo.journal, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_sync_stores_a_record),
		T(a_fua_write_ends_at_once_and_leaves_nothing_to_do),
		T(a_flush_without_anything_to_cover_stores_nothing),
		T(a_torn_record_is_left_out),
		T(a_record_belongs_to_its_place),
		T(a_record_that_is_stored_speaks_of_no_more),
		T(a_record_that_goes_while_it_is_read_is_missed),
		T(a_full_block_is_told_by_the_next),
		T(what_a_block_has_lost_is_damage),
		T(what_the_newest_block_has_lost_is_damage_to_the_next_life),
		T(what_a_block_never_was_is_damage),
		T(what_is_refused_goes_to_the_next_block),
		T(a_first_part_that_is_refused_is_written),
		T(slots_are_free_when_it_is_stored),
		T(the_ring_turns),
		T(a_close_ends_the_block),
		T(an_older_cache_does_not_grow),
		T(a_write_takes_the_slot_that_is_about_to_be_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
