// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"
#include "layout.h"
#include "look.h"
#include "options.h"
#include "run.h"
#include "superblock.h"
#include "verify.h"
#include "../rank_audit.h"
#include "../region_audit.h"

void xp_assert_failed(const char *what, const char *file, int line)
{
	mock_assert(0, what, file, line);
	abort();
}

static int media_read(void *ctx, u64 block, u32 nr, void *buf)
{
	struct fixture *f = ctx;

	if (block + nr > f->fast_blocks)
		return -EIO;
	memcpy(buf, f->fast + block * XP_BLOCK_SIZE, nr * XP_BLOCK_SIZE);
	return 0;
}

static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	struct fixture *f = ctx;

	f->media_writes++;
	if (block + nr > f->fast_blocks)
		return -EIO;
	memcpy(f->fast + block * XP_BLOCK_SIZE, buf, nr * XP_BLOCK_SIZE);
	return 0;
}

int fixture_restart(struct fixture *f)
{
	void *scratch = malloc(xp_recover_memory(&f->sb));
	struct xp_sb sb;
	int err;

	/* The core writes it; all else is the test's. */
	if (!xp_sb_read(&f->media, f->fast_blocks, &sb, &f->msg) &&
	    le64_to_cpu(sb.generation) > le64_to_cpu(f->sb.generation))
		f->sb = sb;
	free(f->memory);
	f->memory = aligned_alloc(4096, (xp_memory(&f->sb, f->opt.verify) + 4095) / 4096 * 4096);
	memset(f->memory, 0, xp_memory(&f->sb, f->opt.verify));
	f->c = xp_init(f->memory, &f->sb, &f->opt);
	xp_todo_init(&f->todo);
	err = xp_recover(f->c, &f->media, scratch, true, &f->msg);
	free(scratch);
	return err;
}

void fixture_reopen(struct fixture *f)
{
	assert_int_equal(fixture_restart(f), 0);
}

u32 scan_reads(const struct fixture *f)
{
	return 2 + (u32)((le64_to_cpu(f->sb.journal_blocks) + XP_RECOVER_CHUNK - 1) / XP_RECOVER_CHUNK);
}

void restart_refused(struct fixture *f, const char *why)
{
	assert_int_equal(fixture_restart(f), -EUCLEAN);
	if (!strstr(f->msg.text, why))
		fail_msg("message \"%s\" does not say \"%s\"", f->msg.text, why);
}

int fixture_setup(struct fixture *f, u64 fast_blocks, u64 lbas)
{
	u8 block[XP_BLOCK_SIZE];

	memset(f, 0, sizeof(*f));
	f->fast_blocks = fast_blocks;
	f->fast = calloc(fast_blocks, XP_BLOCK_SIZE);
	f->media = (struct xp_media){ .ctx = f, .read = media_read, .write = media_write };
	f->opt = (struct xp_options){ .slow_discards = true,
		.dirty_low = XP_DEFAULT_DIRTY_LOW, .dirty_high = XP_DEFAULT_DIRTY_HIGH };
	memset(f->sb.uuid, 0xab, sizeof(f->sb.uuid));
	f->sb.slow.sectors = cpu_to_le64(lbas * XP_BLOCK_SECTORS);
	assert_int_equal(xp_sb_layout(&f->sb, fast_blocks, &f->msg), 0);
	assert_int_equal(xp_format(&f->media, &f->sb, block), 0);
	fixture_reopen(f);
	return 0;
}

void fixture_teardown(struct fixture *f)
{
	free(f->memory);
	free(f->fast);
}

int teardown(void **state)
{
	fixture_teardown(*state);
	return 0;
}

int teardown_audited(void **state)
{
	struct fixture *f = *state;
	const char *wrong = rank_audit(f->c);

	if (!wrong)
		wrong = region_audit(f->c);
	if (wrong)
		print_error("%s\n", wrong);
	fixture_teardown(f);
	return wrong ? -1 : 0;
}

/* The next block that the todo asks for; -1: there is none. */
static int take_journal(struct fixture *f, struct xp_journal_io *io)
{
	int i = __builtin_ffs((int)f->todo.journal) - 1;

	if (i < 0)
		return i;
	f->todo.journal &= ~(1u << i);
	xp_journal_io(f->c, (u32)i, io);
	return i;
}

void write_journal(struct fixture *f)
{
	struct xp_journal_io io;
	int i;

	while ((i = take_journal(f, &io)) >= 0) {
		assert_true(io.bytes <= XP_BLOCK_SIZE && io.bytes % XP_LINE_SIZE == 0);
		if (f->refuses && f->refuses[io.target / XP_BLOCK_SECTORS]) {
			xp_journal_end(f->c, (u32)i, -EIO, &f->todo);
			continue;
		}
		memcpy(f->fast + io.target * 512, io.data, io.bytes);
		memset(f->fast + io.target * 512 + io.bytes, 0x5a, XP_BLOCK_SIZE - io.bytes);
		xp_journal_end(f->c, (u32)i, 0, &f->todo);
	}
}

void change_mode(struct fixture *f, enum xp_mode mode)
{
	struct xp_tunables t;

	xp_tunables_init(&t);
	t.idle_ms = 0;
	t.mode = mode;
	xp_set_limits(f->c, &t);
	xp_tick(f->c, &f->todo);
	write_journal(f);
}

enum xp_act submit(struct fixture *f, struct xp_req *req, enum xp_op op,
		   u64 sector, u32 nr_sectors, bool fua)
{
	memset(req, 0, sizeof(*req));
	req->op = (u8)op;
	req->sector = sector;
	req->nr_sectors = nr_sectors;
	req->fua = req->ordered = fua;
	return xp_submit(f->c, req, &f->todo);
}

enum xp_act write_blocks(struct fixture *f, u64 lba, u32 nr, int byte)
{
	struct xp_req req;
	enum xp_act act = submit(f, &req, XP_WRITE, lba * 8, nr * 8, false);
	u8 *data = f->fast + req.target * 512;
	u64 hash[XP_COPY_MAX];
	u32 i;

	assert_int_equal(req.nr_blocks, nr);
	memset(data, byte, nr * XP_BLOCK_SIZE);
	if (act == XP_COPY) {	/* a FLUSH is expected, or sums are wanted */
		assert_true(req.copy.hashed && nr <= XP_COPY_MAX);
		for (i = 0; i < nr; i++)
			hash[i] = xp_checksum(data + i * XP_BLOCK_SIZE, XP_BLOCK_SIZE);
		xp_copied(f->c, &req, hash, &f->todo);
		write_journal(f);
	} else {
		assert_int_equal(act, XP_FAST);
	}
	assert_int_equal(xp_end(f->c, &req, 0, &f->todo), XP_DONE);
	write_journal(f);
	return act;
}

xp_slot_t write_under_way(struct fixture *f, u64 lba, int byte)
{
	struct xp_req req;
	u8 data[XP_BLOCK_SIZE];
	u64 hash;

	memset(data, byte, sizeof(data));
	hash = xp_checksum(data, sizeof(data));
	assert_int_equal(submit(f, &req, XP_WRITE, lba * 8, 8, true), XP_COPY);
	memcpy(f->fast + req.target * 512, data, sizeof(data));
	xp_copied(f->c, &req, &hash, &f->todo);
	write_journal(f);
	return req.slot;
}

void flush(struct fixture *f)
{
	struct xp_req req;
	enum xp_act act = submit(f, &req, XP_FLUSH, 0, 0, false);

	write_journal(f);
	if (act == XP_WAIT)
		assert_ptr_equal(xp_list_pop(&f->todo.done), &req.link);
	else
		assert_int_equal(act, XP_DONE);
}

void batch_begin(struct fixture *f)
{
	assert_true(xp_writeback_begin(f->c, &f->todo));
	write_journal(f);
}

void batch_end(struct fixture *f, int run_err, int flush_err, u64 now)
{
	struct xp_run *run = malloc(sizeof(*run));

	while (xp_writeback_next(f->c, run) == XP_NEXT_RUN) {
		run->err = run_err;
		xp_writeback_end(f->c, run, &f->todo);
	}
	xp_writeback_commit(f->c, flush_err, now, &f->todo);
	write_journal(f);
	free(run);
}

void writeback_batch(struct fixture *f, int err)
{
	assert_true(xp_writeback_wanted(f->c));
	batch_begin(f);
	batch_end(f, err, err, 0);
}

void fill_block(struct fixture *f, u64 lba, int byte)
{
	struct xp_req req;

	assert_int_equal(submit(f, &req, XP_READ, lba * 8, 8, false), XP_SLOW_FILL);
	assert_int_equal(xp_end(f->c, &req, 0, &f->todo), XP_DONE);
	assert_int_equal(req.fill.nr_blocks, 1);
	memset(f->fast + req.fill.target * 512, byte, XP_BLOCK_SIZE);
	if (f->opt.verify)
		xp_fill_hash(f->c, &req.fill, 0, xp_checksum(f->fast + req.fill.target * 512, XP_BLOCK_SIZE));
	xp_fill_end(f->c, &req.fill, 0, &f->todo);
	write_journal(f);
}

struct xp_jblock *ring_block(struct fixture *f, u64 seq)
{
	u64 at = le64_to_cpu(f->sb.journal_start) +
		 seq % le64_to_cpu(f->sb.journal_blocks);

	return (struct xp_jblock *)(f->fast + at * XP_BLOCK_SIZE);
}

void reseal(struct xp_jblock *b)
{
	b->head.checksum = cpu_to_le64(jblock_checksum(b));
}

u8 *slot_data(struct fixture *f, xp_slot_t slot)
{
	return f->fast + xp_slot_sector(f->c, slot) * 512;
}

int mapped_byte(struct fixture *f, u64 lba)
{
	struct xp_mapping m;

	if (!xp_lookup(f->c, XP_LBA(lba), &m))
		return -1;
	return m.zeros ? 0 : *slot_data(f, m.slot);
}

bool mapped_dirty(struct fixture *f, u64 lba)
{
	struct xp_mapping m;

	return xp_lookup(f->c, XP_LBA(lba), &m) && m.dirty;
}

struct xp_mapping mapping_of(struct fixture *f, u64 lba)
{
	struct xp_mapping m;

	assert_true(xp_lookup(f->c, XP_LBA(lba), &m));
	return m;
}

u32 pins_of(struct fixture *f, u64 lba)
{
	return entry_pins(entry_of(f->c, mapping_of(f, lba).slot));
}

void fail_journal(struct fixture *f)
{
	u32 asked = f->todo.journal;
	struct xp_journal_io io;

	for (; asked; asked &= asked - 1) {
		u32 i = (u32)__builtin_ctz(asked);

		f->todo.journal &= ~(1u << i);
		xp_journal_io(f->c, i, &io);
		xp_journal_end(f->c, i, -EIO, &f->todo);
	}
}

void fail_journal_for_good(struct fixture *f)
{
	while (f->todo.journal)
		fail_journal(f);
}

void refuse_write(struct fixture *f, struct xp_req *req)
{
	assert_int_equal(xp_end(f->c, req, -EIO, &f->todo), XP_WAIT);
	write_journal(f);
	assert_ptr_equal(xp_list_pop(&f->todo.ready), &req->link);
}

struct xp_stats stats_of(const struct fixture *f)
{
	struct xp_stats s;

	xp_get_stats(f->c, &s);
	return s;
}
