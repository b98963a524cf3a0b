// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_slow.c - a recovery and the size of the slow device: what it does not hold as a whole is
 * not mapped (step 6).
 */
#include "checksum.h"
#include "policy.h"
#include "recovery.h"
#include "slot.h"

/*
 * Only blocks are mapped that are whole on the slow device as it was and as it is. Behind the end
 * of one that was short its slot has zeros, and the slow device may have data by now. What lay past
 * an end of it that was is not there any more, or something else is.
 */
u64 recovery_whole_blocks(const struct recovery *r)
{
	return min(r->sectors, r->c->slow_sectors) / XP_BLOCK_SECTORS;
}

/* Sector behind the block's last. */
static u64 end_of(const struct recovery *r, xp_slot_t slot)
{
	return min((xp_lba_n(entry_lba(entry_of(r->c, slot))) + 1) * XP_BLOCK_SECTORS, r->was);
}

/* The same of the slow device. */
static u64 slow_sector(const struct recovery *r, u64 sector)
{
	return sector - r->c->pad;
}

static bool sticks_out(const struct recovery *r, xp_slot_t slot)
{
	const struct xp_entry *e = entry_of(r->c, slot);

	return e->state == SLOT_MAPPED && xp_lba_n(entry_lba(e)) >= r->whole;
}

static int refuse_shorter(struct recovery *r)
{
	u64 n = 0, first = ~0ull, end = 0;
	u32 i;

	for (i = 0; i < r->c->nr_slots; i++) {
		const struct xp_entry *e = &r->c->entry[i];

		if (!sticks_out(r, XP_SLOT(i)) || !e->dirty)
			continue;
		n++;
		first = min(first, xp_lba_n(entry_lba(e)) * XP_BLOCK_SECTORS);
		end = max(end, end_of(r, XP_SLOT(i)));
	}
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "the slow device has %llu sectors, and had %llu: %llu dirty blocks reach past its end, in sectors %llu to %llu",
		 (unsigned long long)slow_sector(r, r->c->slow_sectors), (unsigned long long)slow_sector(r, r->was), (unsigned long long)n,
		 (unsigned long long)slow_sector(r, first), (unsigned long long)slow_sector(r, end) - 1);
	return -ENOSPC;
}

/*
 * The short block by an UNMAP, as if replay had found it so; what is further on by leaving all
 * records behind.
 */
static void drop_outside(struct recovery *r, xp_slot_t slot)
{
	u64 lba = xp_lba_n(entry_lba(entry_of(r->c, slot)));

	recovery_unmap(r->c, slot);
	if (lba == r->sectors / XP_BLOCK_SECTORS)
		r->decided[r->nr_decided++] = (struct decided){ .lba = lba, .slot = xp_slot_n(slot) };
}

bool recovery_leaves_all(const struct recovery *r)
{
	return r->c->slow_sectors < r->sectors || r->was > r->sectors || r->c->opt.anew;
}

/* Before anything is written. */
int recovery_fit(struct recovery *r)
{
	struct xp *c = r->c;
	u32 i;

	for (i = 0; r->any_outside && i < c->nr_slots; i++) {
		xp_slot_t slot = XP_SLOT(i);

		if (!sticks_out(r, slot))
			continue;
		if (c->entry[i].dirty && end_of(r, slot) > min(r->sectors, c->slow_sectors))
			return refuse_shorter(r);
		if (c->entry[i].dirty)
			r->short_block = slot;
		else
			drop_outside(r, slot);
	}
	if (recovery_leaves_all(r))
		r->leave = r->head.seq;
	return 0;
}

/* ------------------------------------------------------- 6. short block ---- */

static int read_short(struct recovery *r)
{
	struct xp *c = r->c;
	u32 sum = c->sum ? c->sum[xp_slot_n(r->short_block)] : 0;
	int err;

	if (slot_is_unread(c, r->short_block))
		return -EIO;
	if (slot_is_zeros(c, r->short_block)) {
		memset(r->block, 0, XP_BLOCK_SIZE);
		return 0;
	}
	err = r->m->read(r->m->ctx, c->data_start + xp_slot_n(r->short_block), 1, r->block);
	return !err && sum && sum != xp_sum(xp_checksum(r->block, XP_BLOCK_SIZE)) ? -EIO : err;
}

static int drop_short(struct recovery *r)
{
	struct xp *c = r->c;
	struct xp_todo todo;
	bool room;

	xp_todo_init(&todo);
	xp_lock(&c->lock);
	slot_set_dirty(c, entry_of(c, r->short_block), false);
	room = policy_unmap(c, r->short_block, &todo);
	XP_ASSERT(room && !todo.journal);	/* all before is written, and one record fills no block */
	xp_unlock(&c->lock);
	return recovery_seal_and_write(c, r->m);
}

static int refuse_short(struct recovery *r, u64 sector, const char *what, int err)
{
	snprintf(r->msg->text, sizeof(r->msg->text),
		 "the last block of the slow device as it was, dirty, cannot be %s: sectors %llu to %llu", what,
		 (unsigned long long)slow_sector(r, sector), (unsigned long long)slow_sector(r, r->sectors) - 1);
	return err;
}

/* Its first @nr sectors, but for those that its slot lacks. */
static int write_short(struct recovery *r, u64 sector, u32 nr)
{
	u8 lacks = slot_lacks(r->c, r->short_block);
	u32 at, n;
	int err = 0;

	for (at = 0; !err && (n = xp_part_next((u8)~lacks, &at)) && at < nr; at += n)
		err = r->m->write_slow(r->m->slow_ctx, slow_sector(r, sector + at), min(n, nr - at), r->block + ((size_t)at << XP_SECTOR_SHIFT));
	return err;
}

/*
 * Its record is durable, and so it may be written back, as any; then it is not mapped any more. A
 * cut in between writes the same once more. What cannot be read stays: an error until it is
 * overwritten, as any dirty block. But on a device that has become longer its slot would speak for
 * sectors that it has never had.
 */
int recovery_write_back_short(struct recovery *r)
{
	u64 sector;
	int err;

	if (!is_slot(r->short_block) || !r->m->write_slow)
		return 0;
	sector = xp_lba_n(entry_lba(entry_of(r->c, r->short_block))) * XP_BLOCK_SECTORS;
	err = read_short(r);
	if (err)
		return r->c->slow_sectors == r->sectors ? 0 :
		       refuse_short(r, sector, "read: make it as long as it was", err);
	err = write_short(r, sector, (u32)(r->sectors - sector));
	return err ? refuse_short(r, sector, "written back", err) : drop_short(r);
}
