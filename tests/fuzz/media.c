// SPDX-License-Identifier: GPL-2.0-only
/*
 * media.c - libFuzzer on what lies on a fast device: superblock, journal and hint.
 *
 * The input is a list of commands that lay out a device: bytes over the
 * superblock, journal blocks of any header with any records, blocks of a hint with any numbers. Checksums are set
 * right unless the input says otherwise: what gets past them is the point.
 * Whatever it holds, it is refused with a message and without a write (I10), or
 * its name is one for a cache and its words may be shown, the map is sound and the cache works: reads stay within the devices, and a
 * flushed write is found by the next recovery, or that refuses; and the ranks by the start after a stop.
 */
#include <stdlib.h>
#include "cache.h"
#include "layout.h"
#include "look.h"
#include "media.h"
#include "message.h"
#include "run.h"
#include "superblock.h"
#include "words.h"
#include "../rank_audit.h"
#include "../unit/abort.h"

#define RING_START	(XP_SB_BLOCK_B + 1u)
#define RING		96u
#define SLOTS		32u
#define BLOCKS		(RING_START + RING + SLOTS + 8u)
#define LBAS		64u

static u8 image[BLOCKS * XP_BLOCK_SIZE] __attribute__((aligned(4096)));
static const u64 zeros[XP_BLOCK_SIZE / sizeof(u64)];	/* what slots hold */
static u32 writes, grid;

#define MUST(cond) do { if (!(cond)) xp_assert_failed(#cond, __FILE__, __LINE__); } while (0)

static int media_read(void *ctx, u64 block, u32 nr, void *buf)
{
	(void)ctx;
	MUST(block + nr <= BLOCKS);
	memcpy(buf, image + block * XP_BLOCK_SIZE, nr * XP_BLOCK_SIZE);
	return 0;
}

static int media_write(void *ctx, u64 block, u32 nr, const void *buf)
{
	(void)ctx;
	MUST(block + nr <= BLOCKS);
	memcpy(image + block * XP_BLOCK_SIZE, buf, nr * XP_BLOCK_SIZE);
	writes++;
	return 0;
}

static const struct xp_media media = { .read = media_read, .write = media_write };

/* ------------------------------------------------------------- the input ---- */

struct input {
	const u8 *at;
	size_t left;
};

static u64 take(struct input *in, u32 bytes)
{
	u64 n = 0;

	for (; bytes && in->left; bytes--, in->left--)
		n = n << 8 | *in->at++;
	return n;
}

/* Small numbers are the interesting ones. */
static u64 take_number(struct input *in)
{
	u64 n = take(in, 1);

	return n < 250 ? n : take(in, n < 253 ? 2 : 8);
}

static void lay_superblock(struct xp_sb *sb)
{
	u8 block[XP_BLOCK_SIZE];

	memset(image, 0, sizeof(image));
	memset(sb, 0, sizeof(*sb));
	memcpy(sb->magic, XP_SB_MAGIC, sizeof(sb->magic));
	memset(sb->uuid, 0x5a, sizeof(sb->uuid));
	sb->version = cpu_to_le32(XP_SB_VERSION);
	sb->fast_blocks = cpu_to_le64(BLOCKS);
	sb->journal_start = cpu_to_le64(RING_START);
	sb->journal_blocks = cpu_to_le64(RING);
	sb->data_start = cpu_to_le64(RING_START + RING);
	sb->nr_slots = cpu_to_le64(SLOTS);
	sb->slow.sectors = cpu_to_le64(LBAS * XP_BLOCK_SECTORS);
	xp_sb_set_grid(sb, grid);
	xp_format(&media, sb, block);
}

/* Bytes over one copy, sealed or not. */
static void spoil_superblock(struct input *in)
{
	struct xp_sb *sb = (struct xp_sb *)(image + (take(in, 1) & 1 ? XP_SB_BLOCK_A : XP_SB_BLOCK_B) *
					    XP_BLOCK_SIZE);
	u64 at = take(in, 2) % XP_BLOCK_SIZE, n = take(in, 1) % 16;
	bool seal = take(in, 1) & 1;

	for (; n && at < XP_BLOCK_SIZE; n--)
		((u8 *)sb)[at++] = (u8)take(in, 1);
	if (seal)
		xp_sb_seal(sb);
}

static void lay_record(struct xp_record *r, struct input *in)
{
	u64 lba = take_number(in), kind = take(in, 1), flags = take(in, 1);

	r->lba = cpu_to_le64(lba | kind << 40 | flags << 48);
	r->slot = cpu_to_le32((u32)take_number(in));
	r->sum = flags & (XP_REC_SUMMED | XP_REC_RUN) ? cpu_to_le32((u32)take_number(in)) : 0;
	r->hash = flags & XP_REC_CHECKED && take(in, 1) & 1 ? cpu_to_le64(xp_checksum(zeros, sizeof(zeros))) : 0;
}

/* By records whose tag is right. */
static void grow(struct xp_jblock *b, u32 count, struct input *in)
{
	u32 n = take(in, 1) % 16;

	for (; n && count < XP_RECORDS; n--, count++) {
		lay_record(&b->rec[count], in);
		b->rec[count].hash = cpu_to_le64(xp_tag(le64_to_cpu(b->head.checksum), count, &b->rec[count]));
	}
}

static void lay_block(struct input *in)
{
	u64 seq = take_number(in), position = seq % RING;
	struct xp_jblock *b = (struct xp_jblock *)(image + (RING_START + position) * XP_BLOCK_SIZE);
	u32 i, count;

	memset(b, 0, sizeof(*b));
	b->head.magic = cpu_to_le32(XP_JOURNAL_MAGIC + grid);
	memset(b->head.uuid, 0x5a, sizeof(b->head.uuid));
	b->head.seq = cpu_to_le64(seq);
	b->head.tail_seq = cpu_to_le64(seq - take_number(in));
	b->head.durable_seq = cpu_to_le64(seq - take_number(in));
	b->head.incarnation = cpu_to_le64(take_number(in));
	count = (u32)take(in, 1);
	b->head.count = cpu_to_le16((u16)count);
	for (i = 0; i < min(count, XP_RECORDS) && in->left; i++)
		lay_record(&b->rec[i], in);
	b->head.before = cpu_to_le16((u16)take_number(in));
	if (take(in, 1) != 0xff && count <= XP_RECORDS)
		b->head.checksum = cpu_to_le64(jblock_checksum(b));
	grow(b, count, in);
}

/* In its place, or in a slot; of the newest journal block if its numbers say so. */
static void lay_hint(struct input *in)
{
	u64 place = take_number(in);
	struct xp_hint *h = (struct xp_hint *)(image + (place < SLOTS ? RING_START + RING + place : XP_HINT_BLOCK) *
					       XP_BLOCK_SIZE);
	u32 i, n = (u32)take(in, 1) % 32;

	memset(h, 0, sizeof(*h));
	memcpy(h->magic, XP_HINT_MAGIC, sizeof(h->magic));
	memset(h->uuid, 0x5a, sizeof(h->uuid));
	h->incarnation = cpu_to_le64(take_number(in));
	h->seq = cpu_to_le64(take_number(in));
	h->first = cpu_to_le32((u32)take_number(in));
	h->count = cpu_to_le32((u32)take_number(in));
	h->next = cpu_to_le32((u32)take_number(in));
	h->nr_next = cpu_to_le32((u32)take_number(in));
	h->alloc_hand = cpu_to_le32((u32)take_number(in));
	h->main_hand = cpu_to_le32((u32)take_number(in));
	h->new_hand = cpu_to_le32((u32)take_number(in));
	h->young_hand = cpu_to_le32((u32)take_number(in));
	for (i = 0; i < n; i++)
		h->rank[i] = (u8)take(in, 1);
	if (take(in, 1) != 0xff)
		h->checksum = cpu_to_le64(xp_xxh64(h, offsetof(struct xp_hint, checksum)));
}

/* ------------------------------------------------------------- the cache ---- */

/* Kept from input to input: fresh memory of this size is most of the time. */
static void *memory, *scratch;
static u64 memory_size, scratch_size;

static void *at_least(void *old, u64 *have, u64 want)
{
	if (want <= *have)
		return old;
	free(old);
	*have = (want + 4095) / 4096 * 4096;
	return aligned_alloc(4096, *have);
}

static int start(struct xp **c, const struct xp_sb *sb, struct xp_message *msg)
{
	static const struct xp_options opt = { .dirty_low = 10, .dirty_high = 80 };

	memory = at_least(memory, &memory_size, xp_memory(sb, false));
	memset(memory, 0, xp_memory(sb, false));
	scratch = at_least(scratch, &scratch_size, xp_recover_memory(sb));
	msg->text[0] = '\0';
	writes = 0;
	*c = xp_init(memory, sb, &opt);
	return xp_recover(*c, &media, scratch, true, msg);
}

static void check_map(struct xp *c)
{
	static u8 used[BLOCKS];
	struct xp_mapping m, again;
	struct xp_stats s;
	u32 cursor = 0;
	u64 mapped = 0;

	memset(used, 0, sizeof(used));
	while (xp_walk(c, &cursor, &m)) {
		MUST(xp_lba_n(m.lba) * XP_BLOCK_SECTORS < c->slow_sectors && xp_lba_n(m.lba) * XP_BLOCK_SECTORS >= c->pad);
		MUST(xp_slot_n(m.slot) < c->nr_slots && !used[xp_slot_n(m.slot)]++);
		MUST(xp_lookup(c, m.lba, &again) && xp_slot_n(again.slot) == xp_slot_n(m.slot));
		mapped++;
	}
	xp_get_stats(c, &s);
	MUST(s.dirty + s.clean == mapped && s.free + mapped + s.bad_slots == s.slots);
	MUST(!rank_audit(c) && c->alloc_hand <= c->nr_slots);
	MUST(c->ranks.main_hand < c->nr_slots && c->ranks.new_hand < c->nr_slots && c->ranks.young_hand < c->nr_slots);
}

static void perform(struct xp *c, struct xp_todo *todo)
{
	struct xp_journal_io io;

	while (todo->journal) {
		u32 i = (u32)__builtin_ctz(todo->journal);

		todo->journal &= ~(1u << i);
		xp_journal_io(c, i, &io);
		media_write(NULL, io.target / XP_BLOCK_SECTORS, 1, io.data);
		xp_journal_end(c, i, 0, todo);
	}
}

static void check_target(const struct xp *c, const struct xp_req *req)
{
	MUST(req->target >= c->data_start * XP_BLOCK_SECTORS &&
	     req->target + req->nr_sectors <= (u64)BLOCKS * XP_BLOCK_SECTORS);
}

static enum xp_act ask(struct xp *c, struct xp_req *req, u8 op, u64 sector, u32 nr,
		       struct xp_todo *todo)
{
	enum xp_act act;

	memset(req, 0, sizeof(*req));
	req->op = op;
	req->sector = sector;
	req->nr_sectors = nr;
	act = xp_submit(c, req, todo);
	if (act == XP_FAST)
		check_target(c, req);
	return act;
}

/* The ranks of a stop are those of the next start. */
static void stop_and_start(struct xp *c, const struct xp_sb *sb)
{
	static u32 rank[BLOCKS];
	struct xp_message msg;
	u32 i;

	MUST(!xp_close(c, &media) && c->nr_slots <= BLOCKS);
	for (i = 0; i < c->nr_slots; i++)
		rank[i] = entry_rank(&c->entry[i]);
	MUST(!start(&c, sb, &msg));
	for (i = 0; i < c->nr_slots; i++)
		MUST(c->entry[i].state != SLOT_MAPPED || entry_rank(&c->entry[i]) == rank[i]);
	MUST(c->ranks.restored == c->nr_dirty + c->nr_clean);
	check_map(c);
}

/* Reads everything, writes a block, flushes: the next recovery finds it. */
static void use(struct xp *c, const struct xp_sb *sb)
{
	const xp_lba_t first = XP_LBA(c->pad ? 1 : 0);
	struct xp_message msg;
	struct xp_mapping m;
	struct xp_todo todo;
	struct xp_req req;
	u64 sector;
	int err;

	xp_todo_init(&todo);
	for (sector = c->pad; sector < c->slow_sectors && sector < 4096; sector += req.nr_sectors) {
		enum xp_act act = ask(c, &req, XP_READ, sector,
				      (u32)min(c->slow_sectors - sector, (u64)64), &todo);

		MUST(act != XP_WAIT && req.nr_sectors);
		if (act == XP_SLOW_FILL || act == XP_MIXED)
			xp_fill_end(c, &req.fill, -ENOMEM, &todo);
		req.fill.nr_blocks = 0;
		if (act != XP_ZERO && act != XP_DONE)
			xp_end(c, &req, 0, &todo);
	}
	if (ask(c, &req, XP_WRITE, xp_lba_n(first) * XP_BLOCK_SECTORS, XP_BLOCK_SECTORS, &todo) != XP_FAST)
		return;		/* full of dirty blocks */
	MUST(xp_end(c, &req, 0, &todo) == XP_DONE && !req.err);
	sector = req.target;
	ask(c, &req, XP_FLUSH, 0, 0, &todo);
	perform(c, &todo);
	err = start(&c, sb, &msg);
	/* One block whose records contradict each other may be taken once, when a
	 * checksum fails, and not again when nothing is left to be checked. */
	if (err == -EUCLEAN && msg.text[0] && !writes)
		return;
	MUST(!err);
	MUST(xp_lookup(c, first, &m) && m.dirty && !m.zeros &&
	     xp_slot_sector(c, m.slot) == sector);
	check_map(c);
	stop_and_start(c, sb);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct xp_message msg;
	struct xp_sb sb;
	struct xp *c;
	int err;

	grid = size && data[size - 1] & 0x80 ? data[size - 1] & 7 : 0;
	lay_superblock(&sb);
	while (in.left) {
		u8 what = (u8)take(&in, 1);

		if (what == 0xff)
			lay_hint(&in);
		else if (what % 8 == 0)
			spoil_superblock(&in);
		else
			lay_block(&in);
	}
	msg.text[0] = '\0';
	writes = 0;
	err = xp_sb_read(&media, BLOCKS, &sb, &msg);
	MUST(err || (xp_name_valid((const char *)sb.name) && !xp_sb_clean(&sb)));
	if (!err)
		err = start(&c, &sb, &msg);
	if (err) {
		MUST(size);	/* else all of this would prove nothing */
		MUST(msg.text[0] && (err != -EUCLEAN || !writes));
		return 0;
	}
	check_map(c);
	use(c, &sb);
	return 0;
}
