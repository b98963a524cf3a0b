// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"
#include "look.h"
#include "recovery.h"
#include "rest.h"
#include "witness.h"

static struct fixture f;

static int setup(void **state)
{
	return fixture_setup(*state, 8192, 100000);
}

static void flushed_writes_are_found(void **state)
{
	(void)state;
	write_blocks(&f, 5, 3, 3);
	fill_block(&f, 20, 4);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 7), 3);
	assert_true(mapped_dirty(&f, 7));
	assert_int_equal(mapped_byte(&f, 20), 4);	/* warm, and known to be clean */
	assert_false(mapped_dirty(&f, 20));
}

static void unflushed_writes_may_vanish(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
}

static void the_newest_mapping_counts(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	write_blocks(&f, 5, 1, 4);
	write_blocks(&f, 5, 1, 5);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 5);
}

/* Whoever read zeros after a discard and a flush reads them after a cut. */
static void zeros_stay(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(submit(&f, &req, XP_DISCARD, 40, 8, false), XP_DONE);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 0);
	assert_true(mapped_dirty(&f, 5));
}

static void wrap_and_relocate(void **state)
{
	u64 blocks = le64_to_cpu(f.sb.journal_blocks), i;
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 1, 200, 9);
	for (i = 0; i < 3 * blocks; i++) {
		write_blocks(&f, 500 + i % 7, 1, (int)(i % 250) + 1);
		flush(&f);
	}
	xp_get_stats(f.c, &s);
	assert_true(s.seq > 3 * blocks);
	assert_true(s.relocated >= 200);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 1), 9);
	assert_int_equal(mapped_byte(&f, 200), 9);
	assert_int_equal(mapped_byte(&f, 500 + (i - 1) % 7), (int)((i - 1) % 250) + 1);
}

/* A torn newest block is what a cut leaves: the one before counts. */
static void a_torn_head_is_left_out(void **state)
{
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	write_blocks(&f, 5, 1, 4);
	flush(&f);
	xp_get_stats(f.c, &s);
	memset(ring_block(&f, s.seq), 0xee, 100);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* Not so one that a later block says was durable. */
static void damage_below_durable_is_refused(void **state)
{
	struct xp_stats s;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	xp_get_stats(f.c, &s);
	write_blocks(&f, 6, 1, 4);
	flush(&f);
	memset(ring_block(&f, s.seq), 0xee, 100);
	restart_refused(&f, "is damaged or missing");
}

static void no_journal_is_refused(void **state)
{
	u64 i;

	(void)state;
	for (i = 0; i < le64_to_cpu(f.sb.journal_blocks); i++)
		memset(ring_block(&f, i), 0, XP_BLOCK_SIZE);
	restart_refused(&f, "no block from which");
}

static struct xp_jblock *forge(void)
{
	struct xp_stats s;

	write_blocks(&f, 5, 1, 3);
	flush(&f);
	xp_get_stats(f.c, &s);
	return ring_block(&f, s.seq);
}

/* Else the next block would be numbered too high to be one, and what it says be lost. */
static void numbers_leave_room_for_what_follows(void **state)
{
	struct xp_jblock *b = forge();

	(void)state;
	b->head.incarnation = cpu_to_le64(XP_MAX_SEQ - 1);
	reseal(b);
	restart_refused(&f, "no cache comes to");
	b->head.incarnation = cpu_to_le64(XP_MAX_SEQ / 2 - 1);
	reseal(b);
	fixture_reopen(&f);
	write_blocks(&f, 9, 1, 4);
	flush(&f);
	restart_refused(&f, "no cache comes to");
}

static void bad_records_are_refused(void **state)
{
	struct xp_jblock *b = forge(), kept = *b;

	(void)state;
	b->rec[0].slot = cpu_to_le32(0x7fffffff);
	reseal(b);
	restart_refused(&f, "slot past the data area");
	*b = kept;
	b->rec[0].lba |= cpu_to_le64(XP_MAX_LBAS - 1);
	reseal(b);
	restart_refused(&f, "past the slow device");
	*b = kept;
	b->rec[0].lba |= cpu_to_le64(0xffull << 40);
	reseal(b);
	restart_refused(&f, "unknown kind");
	*b = kept;
	b->rec[0].lba |= cpu_to_le64(0xffull << 56);	/* a slot that lacks all of it */
	reseal(b);
	restart_refused(&f, "unknown kind");
	*b = kept;
	b->rec[0].lba &= cpu_to_le64(XP_MAX_LBAS - 1);
	reseal(b);
	restart_refused(&f, "unknown kind");
	*b = kept;
	b->rec[0].sum = cpu_to_le32(1);
	reseal(b);
	restart_refused(&f, "unknown kind");
	*b = kept;
	b->rec[1] = b->rec[0];
	b->rec[1].lba = cpu_to_le64(le64_to_cpu(b->rec[0].lba) + 1);
	b->head.count = cpu_to_le16((u16)(le16_to_cpu(b->head.count) + 1));
	reseal(b);
	restart_refused(&f, "holds another block");
}

/* Whole, and of this cache, but not where its number belongs. */
static void a_block_in_the_wrong_place_is_none(void **state)
{
	struct xp_stats s;

	(void)state;
	forge();
	xp_get_stats(f.c, &s);
	memcpy(ring_block(&f, s.seq + 7), ring_block(&f, s.seq), XP_BLOCK_SIZE);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* Block @seq of a chain from @tail on, with nothing in it. */
static struct xp_jblock *forge_at(u64 seq, u64 tail, u64 durable)
{
	struct xp_jblock *b = ring_block(&f, seq);
	struct xp_stats s;

	xp_get_stats(f.c, &s);
	memcpy(b, ring_block(&f, s.seq), XP_BLOCK_SIZE);
	b->head.seq = cpu_to_le64(seq);
	b->head.tail_seq = cpu_to_le64(tail);
	b->head.durable_seq = cpu_to_le64(durable);
	b->head.count = 0;
	reseal(b);
	return b;
}

/* A cut leaves a window of blocks without their neighbours, not half a ring. */
static void too_many_broken_chains_are_refused(void **state)
{
	struct xp_stats s;
	u32 i;

	(void)state;
	forge();
	xp_get_stats(f.c, &s);
	for (i = 1; i <= 4 * XP_WINDOW; i++)
		forge_at(s.seq + 2 * i, s.seq + 2 * i - 1, s.seq);
	restart_refused(&f, "no block from which");
}

static void too_many_unproven_records_are_refused(void **state)
{
	u64 first = 200, seq, i;

	(void)state;
	for (seq = first; seq <= first + 2 * XP_WINDOW; seq++) {
		struct xp_jblock *b = forge_at(seq, first, first - 1);

		for (i = 0; i < XP_RECORDS; i++)
			b->rec[i] = (struct xp_record){
				.lba = cpu_to_le64(i | (u64)XP_REC_MAP << 40 |
						   (u64)(XP_REC_CHECKED | XP_REC_DIRTY) << 48),
				.slot = cpu_to_le32((u32)i), .hash = cpu_to_le64(1),
			};
		b->head.count = cpu_to_le16(XP_RECORDS);
		reseal(b);
	}
	restart_refused(&f, "more unproven records");
}

/* Of a chain from the same block on, @blocks of them, with nothing in them. */
static void forge_chain(u64 blocks)
{
	u64 first = 2 * le64_to_cpu(f.sb.journal_blocks), i;

	for (i = 0; i < blocks; i++)
		forge_at(first + i, first, first - 1);
}

/* Else there would be none for what recovery has to say. (With something alive in it: test_ring.c.) */
static void a_chain_leaves_a_place_in_the_ring(void **state)
{
	u64 ring = le64_to_cpu(f.sb.journal_blocks);

	(void)state;
	forge_chain(ring - 1);
	fixture_reopen(&f);
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	forge_chain(ring);
	restart_refused(&f, "no room in the ring");
}

static u32 good_reads;
static bool fickle_but_valid;

/* Another block than before, after some reads. */
static int fickle_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct xp_jblock *b = buf;

	(void)ctx;
	memcpy(buf, f.fast + block * XP_BLOCK_SIZE, nr * XP_BLOCK_SIZE);
	if (good_reads) {
		good_reads--;
		return 0;
	}
	b->head.seq = cpu_to_le64(le64_to_cpu(b->head.seq) + le64_to_cpu(f.sb.journal_blocks));
	b->head.tail_seq = b->head.seq;
	if (fickle_but_valid)
		reseal(b);
	return 0;
}

static void a_block_that_changes_is_refused(void **state)
{
	(void)state;
	forge();
	f.media.read = fickle_read;
	good_reads = scan_reads(&f);
	restart_refused(&f, "changed while it was read");
	good_reads = scan_reads(&f);
	fickle_but_valid = true;
	restart_refused(&f, "changed while it was read");
	fickle_but_valid = false;
}

/* A record beside its data, and the power goes between the two. */
static struct xp_req half_written_fua(u64 lba, int byte, bool data)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_req req;
	u64 hash;

	memset(block, byte, sizeof(block));
	hash = xp_checksum(block, XP_BLOCK_SIZE);
	assert_int_equal(submit(&f, &req, XP_WRITE, lba * 8, 8, true), XP_COPY);
	xp_copied(f.c, &req, &hash, &f.todo);
	write_journal(&f);
	if (data)
		memcpy(f.fast + req.target * 512, block, sizeof(block));
	return req;
}

static void a_record_without_its_data_falls_back(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	half_written_fua(5, 4, false);
	half_written_fua(6, 4, false);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 6), -1);
}

/* Its slot was used again, and the block has no mapping since: the older one that replay falls back to is none either. */
static void an_unmap_ends_what_was_fallen_back_to(void **state)
{
	struct xp_jblock *b;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	half_written_fua(5, 4, false);
	b = ring_block(&f, stats_of(&f).seq);
	b->rec[1] = b->rec[0];
	b->rec[1].lba = cpu_to_le64((u64)XP_REC_UNMAP << 40 | 5);
	b->rec[1].hash = 0;
	b->head.count = cpu_to_le16(2);
	reseal(b);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
}

static void a_record_with_its_data_counts(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	half_written_fua(5, 4, true);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 4);
}

/* DESIGN, restating: the rejected record's slot later receives those very
 * bytes; what was read after the first recovery must not change. */
static void a_rejected_record_stays_rejected(void **state)
{
	struct xp_req req;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	req = half_written_fua(5, 4, false);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	memset(f.fast + req.target * 512, 4, XP_BLOCK_SIZE);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* As if the last @n blocks had been in flight together, and only the newest had
 * landed. Returns its number. */
static u64 only_the_newest_landed(u32 n)
{
	struct xp_stats s;
	u32 i;

	xp_get_stats(f.c, &s);
	ring_block(&f, s.seq)->head.durable_seq = cpu_to_le64(s.seq - n);
	reseal(ring_block(&f, s.seq));
	for (i = 1; i < n; i++)
		memset(ring_block(&f, s.seq - i), 0, XP_BLOCK_SIZE);
	return s.seq;
}

/* A block beyond a gap must not link up again. Recovery writes two blocks of its
 * own, which the gap has room for: they do not take the leftover's place. */
static void a_leftover_beyond_a_gap_is_not_taken_up(void **state)
{
	u64 seq;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	write_blocks(&f, 6, 1, 4);
	flush(&f);
	write_blocks(&f, 8, 1, 4);
	flush(&f);
	write_blocks(&f, 5, 1, 8);
	write_blocks(&f, 7, 1, 8);
	flush(&f);
	seq = only_the_newest_landed(3);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 6), -1);
	assert_int_equal(ring_block(&f, seq)->head.magic, XP_ERASED_MAGIC);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 7), -1);
}

/*
 * Nor may it when the block that takes its place does not land, though a later one
 * does: as the oldest of that one's chain it has no older neighbour to tell it by.
 */
static void a_leftover_is_not_taken_for_the_tail(void **state)
{
	u8 place[XP_BLOCK_SIZE];
	u64 seq;

	(void)state;
	flush(&f);
	write_blocks(&f, 1, 1, 8);
	flush(&f);
	write_blocks(&f, 2, 1, 8);
	flush(&f);
	write_blocks(&f, 5, 1, 8);
	flush(&f);
	seq = only_the_newest_landed(3);
	fixture_reopen(&f);			/* writes two blocks of its own */
	memcpy(place, ring_block(&f, seq), sizeof(place));
	write_blocks(&f, 6, 1, 3);
	flush(&f);
	write_blocks(&f, 6, 1, 4);		/* nothing older lives: the tail is here */
	flush(&f);
	ring_block(&f, seq + 1)->head.tail_seq = cpu_to_le64(seq);
	ring_block(&f, seq + 1)->head.durable_seq = cpu_to_le64(seq - 1);
	reseal(ring_block(&f, seq + 1));
	memcpy(ring_block(&f, seq), place, sizeof(place));
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
}

static void looking_writes_nothing(void **state)
{
	void *scratch = malloc(xp_recover_memory(&f.sb));
	u32 before;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	before = f.media_writes;
	memset(f.memory, 0, xp_memory(&f.sb, f.opt.verify));
	f.c = xp_init(f.memory, &f.sb, &f.opt);
	assert_int_equal(xp_recover(f.c, &f.media, scratch, false, &f.msg), 0);
	assert_int_equal(f.media_writes, before);
	assert_int_equal(mapped_byte(&f, 5), 3);
	free(scratch);
}

/* What a witness was told. */
struct told {
	u32 places[XP_PLACES], records[XP_REFUSED + 1], candidates;
	u64 breaks_at, head;
	char why[XP_MESSAGE_MAX];	/* the last record was refused */
};

static void on_place(void *ctx, u64 position, enum xp_place place, const struct xp_jblock *b)
{
	struct told *t = ctx;

	t->places[place]++;
	if (place == XP_PLACE_VALID)
		assert_int_equal(le64_to_cpu(b->head.seq) %
				 le64_to_cpu(f.sb.journal_blocks), position);
}

static void on_candidate(void *ctx, const struct xp_ring_block *b, u64 breaks_at)
{
	struct told *t = ctx;

	t->candidates++;
	t->head = b->seq;
	if (breaks_at)
		t->breaks_at = breaks_at;
}

static void on_record(void *ctx, const struct xp_said *said, const struct xp_message *why)
{
	struct told *t = ctx;

	t->records[said->verdict]++;
	if (said->verdict == XP_REFUSED)
		snprintf(t->why, sizeof(t->why), "%s", why->text);
}

static int look(struct told *t)
{
	const struct xp_witness w = { t, on_place, on_candidate, on_record };
	void *scratch = malloc(xp_recover_memory(&f.sb));
	u32 before = f.media_writes;
	int err;

	memset(t, 0, sizeof(*t));
	memset(f.memory, 0, xp_memory(&f.sb, f.opt.verify));
	f.c = xp_init(f.memory, &f.sb, &f.opt);
	err = xp_look(f.c, &f.media, scratch, &w, &f.msg);
	assert_int_equal(f.media_writes, before);
	free(scratch);
	return err;
}

static void a_witness_sees_the_places(void **state)
{
	struct told t;
	u64 seq;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	write_blocks(&f, 6, 1, 3);
	flush(&f);
	write_blocks(&f, 7, 1, 3);
	flush(&f);
	seq = only_the_newest_landed(2);
	memset(ring_block(&f, seq + 1), 0xee, 100);
	*ring_block(&f, seq + 2) = *ring_block(&f, 1);
	ring_block(&f, seq + 3)->head.magic = cpu_to_le32(XP_JOURNAL_MAGIC);
	*ring_block(&f, seq + 4) = *ring_block(&f, 1);
	ring_block(&f, seq + 4)->head.uuid[0]++;
	reseal(ring_block(&f, seq + 4));
	ring_block(&f, 1)->head.tail_seq = cpu_to_le64(2);
	reseal(ring_block(&f, 1));
	assert_int_equal(look(&t), 0);
	assert_int_equal(t.candidates, 2);
	assert_int_equal(t.breaks_at, seq - 1);
	assert_int_equal(t.head, seq - 2);
	assert_int_equal(t.places[XP_PLACE_VALID], seq - 2);	/* 2 to seq - 2, and seq */
	assert_int_equal(t.places[XP_PLACE_NOISE], 1);
	assert_int_equal(t.places[XP_PLACE_MISPLACED], 1);
	assert_int_equal(t.places[XP_PLACE_TORN], 1);
	assert_int_equal(t.places[XP_PLACE_OTHER], 1);
	assert_int_equal(t.places[XP_PLACE_SENSELESS], 1);
	assert_int_equal(t.places[XP_PLACE_EMPTY],
			 le64_to_cpu(f.sb.journal_blocks) - seq - 3);
	assert_int_equal(t.records[XP_REPLAYED], 1);
}

static void a_witness_hears_each_record(void **state)
{
	struct xp_jblock *b;
	struct told t;
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		write_blocks(&f, 9 + i, 1, 3);
	b = forge();
	half_written_fua(5, 4, false);
	half_written_fua(6, 4, true);
	assert_int_equal(look(&t), 0);
	assert_int_equal(t.records[XP_REPLAYED], 5 + 1);
	assert_int_equal(t.records[XP_NO_DATA], 1);
	b->rec[1].slot = b->rec[0].slot;
	b->rec[2].lba |= cpu_to_le64(0xffull << 40);
	b->rec[3].lba = cpu_to_le64(le64_to_cpu(b->rec[3].lba) + (1ull << 40));	/* CLEAN, of no mapping */
	b->rec[3].lba &= cpu_to_le64(~(0xffull << 48));
	reseal(b);
	assert_int_equal(look(&t), -EUCLEAN);
	assert_non_null(strstr(f.msg.text, "holds another block"));	/* the first */
	assert_non_null(strstr(t.why, "unknown kind"));
	assert_int_equal(t.records[XP_REFUSED], 2);
	assert_int_equal(t.records[XP_MOOT], 1);
	assert_int_equal(t.records[XP_REPLAYED], 2 + 1);
}

/* A slot that cannot be read is no damage: its record holds, and the witness hears of it. */
static void a_witness_is_told_of_a_slot_that_cannot_be_read(void **state)
{
	struct told t;
	u64 blocks = f.fast_blocks;

	(void)state;
	write_blocks(&f, 9, 4, 3);
	flush(&f);
	half_written_fua(5, 4, true);
	f.fast_blocks = f.c->data_start + 4;
	assert_int_equal(look(&t), 0);
	assert_int_equal(t.records[XP_REPLAYED], 4);
	assert_int_equal(t.records[XP_UNREADABLE_DATA], 1);
	assert_int_equal(t.records[XP_REFUSED], 0);
	f.fast_blocks = blocks;
}

static void close_leaves_nothing_in_memory(void **state)
{
	(void)state;
	write_blocks(&f, 5, 1, 3);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
}

/* ------------------------------------------------------------- at rest ---- */

static void forget(void)
{
	u8 block[XP_BLOCK_SIZE];
	struct told t;

	assert_int_equal(look(&t), 0);
	assert_int_equal(xp_forget(f.c, &f.media, block), 0);
}

/* Without a map; and the life that was closed may go on with what it has in memory, if nobody has
 * written past it: its next block takes the place of the one that forgets. */
static void forgets_without_a_map(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_end end, after;

	(void)state;
	write_blocks(&f, 5, 3, 3);
	flush(&f);
	assert_int_equal(xp_close(f.c, &f.media), 0);
	assert_int_equal(xp_follow(&f.media, &f.sb, f.c->journal.sealed, block, &end), 0);
	assert_int_equal(end.seq, f.c->journal.sealed);
	assert_int_equal(end.incarnation, f.c->journal.incarnation);
	assert_int_equal(xp_forget_after(&f.sb, &end, &f.media, block), 0);
	assert_int_equal(xp_follow(&f.media, &f.sb, end.seq, block, &after), 0);
	assert_int_equal(after.seq, end.seq + 1);
	assert_int_equal(after.incarnation, end.incarnation + 1);

	assert_int_equal(mapped_byte(&f, 5), 3);
	write_blocks(&f, 9, 1, 4);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_int_equal(mapped_byte(&f, 9), 4);

	assert_int_equal(xp_close(f.c, &f.media), 0);
	assert_int_equal(xp_follow(&f.media, &f.sb, f.c->journal.sealed, block, &end), 0);
	assert_int_equal(xp_forget_after(&f.sb, &end, &f.media, block), 0);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(mapped_byte(&f, 9), -1);
	assert_int_equal(xp_follow(&f.media, &f.sb, end.seq + 1, block, &after), 0);
	assert_int_not_equal(after.seq, end.seq + 1);	/* a start is seen */
}

static void what_was_forgotten_stays_so(void **state)
{
	(void)state;
	write_blocks(&f, 5, 3, 3);
	fill_block(&f, 20, 4);
	flush(&f);
	forget();
	for (int life = 0; life < 2; life++) {
		fixture_reopen(&f);
		assert_int_equal(mapped_byte(&f, 5), -1);
		assert_int_equal(mapped_byte(&f, 20), -1);
	}
	write_blocks(&f, 6, 1, 7);
	flush(&f);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 6), 7);
	assert_int_equal(mapped_byte(&f, 5), -1);
}

/* The cut comes while it is written. */
static void half_forgotten_is_not(void **state)
{
	struct xp_jblock was;
	struct told t;
	u64 seq;

	(void)state;
	write_blocks(&f, 5, 3, 3);
	flush(&f);
	assert_int_equal(look(&t), 0);
	seq = t.head + 1;
	was = *ring_block(&f, seq);
	forget();
	memcpy((u8 *)ring_block(&f, seq) + 32, (u8 *)&was + 32, 32);	/* its header, half */
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), 3);
	assert_true(mapped_dirty(&f, 7));
}

/* What a cut has left beyond a gap is not taken up after it. */
static void leftovers_are_forgotten_too(void **state)
{
	u64 seq;

	(void)state;
	write_blocks(&f, 5, 1, 3);
	flush(&f);
	for (int i = 6; i < 9; i++) {
		write_blocks(&f, i, 1, 3);
		flush(&f);
	}
	seq = only_the_newest_landed(3);
	forget();
	assert_int_equal(le64_to_cpu(ring_block(&f, seq)->head.seq), seq);
	fixture_reopen(&f);
	assert_int_equal(mapped_byte(&f, 5), -1);
	assert_int_equal(mapped_byte(&f, 8), -1);
}

static void the_journal_is_followed_to_its_end(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_stats before, after;
	struct xp_end end;

	(void)state;
	xp_get_stats(f.c, &before);
	for (int i = 0; i < 50; i++) {
		write_blocks(&f, i, 1, 3);
		flush(&f);
	}
	xp_get_stats(f.c, &after);
	assert_true(after.seq >= before.seq + 50);
	assert_int_equal(xp_follow(&f.media, &f.sb, before.seq, block, &end), 0);
	assert_int_equal(end.seq, after.seq);
	assert_int_equal(end.incarnation, after.incarnation);
	assert_int_equal(xp_follow(&f.media, &f.sb, after.seq, block, &end), 0);
	assert_int_equal(end.seq, after.seq);
	assert_int_equal(xp_follow(&f.media, &f.sb, after.seq + 1, block, &end), -ENOENT);
}

/* Every start is seen: an old end is the end no more. */
static void a_start_moves_the_end(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_stats s;
	struct xp_end end;

	(void)state;
	xp_get_stats(f.c, &s);
	fixture_reopen(&f);
	assert_int_equal(xp_follow(&f.media, &f.sb, s.seq, block, &end), 0);
	assert_true(end.seq > s.seq);
	assert_int_equal(end.incarnation, s.incarnation + 1);
}

/* What a life before left beyond a gap, which its recovery erased, has no part in it. */
static void a_leftover_is_not_the_end(void **state)
{
	u8 block[XP_BLOCK_SIZE];
	struct xp_jblock left;
	struct xp_stats s;
	struct xp_end end;
	u64 seq;

	(void)state;
	fixture_reopen(&f);
	xp_get_stats(f.c, &s);
	seq = s.seq + 2;
	left = *ring_block(&f, s.seq);
	left.head.incarnation = cpu_to_le64(s.incarnation - 1);
	left.head.seq = cpu_to_le64(seq);
	reseal(&left);
	*ring_block(&f, seq) = left;
	assert_int_equal(xp_follow(&f.media, &f.sb, s.seq, block, &end), 0);
	assert_int_equal(end.seq, s.seq);
	assert_int_equal(end.incarnation, s.incarnation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(flushed_writes_are_found),
		T(unflushed_writes_may_vanish),
		T(the_newest_mapping_counts),
		T(zeros_stay),
		T(wrap_and_relocate),
		T(a_torn_head_is_left_out),
		T(damage_below_durable_is_refused),
		T(no_journal_is_refused),
		T(numbers_leave_room_for_what_follows),
		T(bad_records_are_refused),
		T(a_block_in_the_wrong_place_is_none),
		T(too_many_broken_chains_are_refused),
		T(a_chain_leaves_a_place_in_the_ring),
		T(too_many_unproven_records_are_refused),
		T(a_block_that_changes_is_refused),
		T(a_record_without_its_data_falls_back),
		T(an_unmap_ends_what_was_fallen_back_to),
		T(a_record_with_its_data_counts),
		T(a_rejected_record_stays_rejected),
		T(a_leftover_beyond_a_gap_is_not_taken_up),
		T(a_leftover_is_not_taken_for_the_tail),
		T(looking_writes_nothing),
		T(a_witness_sees_the_places),
		T(a_witness_hears_each_record),
		T(a_witness_is_told_of_a_slot_that_cannot_be_read),
		T(close_leaves_nothing_in_memory),
		T(forgets_without_a_map),
		T(what_was_forgotten_stays_so),
		T(half_forgotten_is_not),
		T(leftovers_are_forgotten_too),
		T(the_journal_is_followed_to_its_end),
		T(a_start_moves_the_end),
		T(a_leftover_is_not_the_end),
	};

	return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
