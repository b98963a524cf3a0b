// SPDX-License-Identifier: GPL-2.0-only
/*
 * recovery_replay.c - step 3 of a recovery: the records of the chain become the map, and what is in
 * doubt leaves it.
 */
#include "badblocks.h"
#include "checksum.h"
#include "recovery.h"
#include "slot.h"
#include "super.h"
#include "unread.h"

/*
 * How many records of it count. What came behind them may have been refused, and then been
 * placed in the next block: that one knows. Of the newest, and before a hole, all that there are:
 * they were acknowledged, or under way.
 */
static u32 records_of(const struct recovery *r, u64 seq)
{
	const struct xp_ring_block *b = ring_at(r, seq);
	const struct xp_ring_block *next = ring_at(r, number_after(r->c, seq));

	if (seq == r->head.seq || next->hole)
		return b->records;
	return next->before ? next->before : b->count;
}

static u8 known_flags(const struct xp *c)
{
	return XP_REC_DIRTY | XP_REC_ZEROS | XP_REC_CHECKED | (c->may_sum ? XP_REC_SUMMED : 0) | XP_REC_UNREAD;
}

/* Of a dirty block that is not zeros, with its checksum. */
static bool is_unread(const struct xp_said *p)
{
	return (p->flags & (XP_REC_UNREAD | XP_REC_DIRTY | XP_REC_ZEROS | XP_REC_CHECKED)) ==
	       (XP_REC_UNREAD | XP_REC_DIRTY | XP_REC_CHECKED);
}

/* Of a dirty block, with nothing that would be of all of it. */
static bool is_part(const struct xp *c, const struct xp_said *p)
{
	return c->lacks && p->kind == XP_REC_MAP && p->flags == XP_REC_DIRTY && p->lacks != 0xff;
}

static bool is_sensible(const struct xp *c, const struct xp_said *p)
{
	if (p->kind < XP_REC_MAP || p->kind > XP_REC_ZERO || p->flags & ~known_flags(c))
		return false;
	if (p->lacks && !is_part(c, p))
		return false;
	if (p->kind != XP_REC_MAP)
		return !p->sum && !(p->flags & (XP_REC_SUMMED | XP_REC_UNREAD));
	return !p->sum == !(p->flags & XP_REC_SUMMED) && (!(p->flags & XP_REC_UNREAD) || is_unread(p));
}

static int parse(struct recovery *r, const struct xp_record *rec, u64 seq,
		 struct xp_said *p)
{
	u64 word = le64_to_cpu(rec->lba);

	p->lba = XP_LBA(word & (XP_MAX_LBAS - 1));
	p->kind = (u8)(word >> 40);
	p->flags = (u8)(word >> 48);
	p->lacks = (u8)(word >> 56);
	p->slot = XP_SLOT(le32_to_cpu(rec->slot));
	p->sum = le32_to_cpu(rec->sum);
	p->hash = le64_to_cpu(rec->hash);
	p->seq = seq;
	p->verdict = XP_REPLAYED;
	if (!is_sensible(r->c, p))
		return recovery_refuse(r, "holds a record of unknown kind", seq, word >> 40);
	if (xp_lba_n(p->lba) * XP_BLOCK_SECTORS < r->c->pad)
		return recovery_refuse(r, "names an lba before the slow device", seq, xp_lba_n(p->lba));
	if (xp_lba_n(p->lba) * XP_BLOCK_SECTORS >= r->was)
		return recovery_refuse(r, "names an lba past the slow device", seq,
			      xp_lba_n(p->lba));
	if (xp_slot_n(p->slot) >= r->c->nr_slots)
		return recovery_refuse(r, "names a slot past the data area", seq,
			      xp_slot_n(p->slot));
	return 0;
}

/* Of the block with the newest record of a slot that is mapped, before @p. */
static u64 number_of(const struct recovery *r, const struct xp_said *p, xp_slot_t slot)
{
	return record_number_of(r->c, r->m, r->block, slot, p->seq, p->index);
}

/*
 * A recovery has decided that what gave this block the slot was not valid: it could read what
 * cannot be read now, or the user took the older version, or has lost what came before. What it has
 * said anew takes the slot away, and says of this block, too, what holds instead.
 */
static int displace(struct recovery *r, const struct xp_said *p)
{
	int err = recovery_refuse(r, "maps a slot that holds another block; slot", p->seq,
				  xp_slot_n(p->slot));

	if (r->nr_displaced == DISPLACED_MAX ||
	    ring_at(r, p->seq)->incarnation <= ring_at(r, number_of(r, p, p->slot))->incarnation)
		return err;
	if (!r->nr_displaced)
		r->conflict = *r->msg;
	r->msg->text[0] = '\0';
	r->plain_nr = 0;	/* from here on each record may settle one */
	r->displaced[r->nr_displaced++] = xp_lba_n(entry_lba(entry_of(r->c, p->slot)));
	return 0;
}

static void settle(struct recovery *r, xp_lba_t lba)
{
	u32 i = 0;

	while (i < r->nr_displaced)
		if (r->displaced[i] == xp_lba_n(lba))
			r->displaced[i] = r->displaced[--r->nr_displaced];
		else
			i++;
}

/* What such a block was before is lost. */
static int check_displaced(struct recovery *r)
{
	if (!r->nr_displaced)
		return 0;
	r->leave = r->head.seq;
	r->c->lost = r->head.seq + 1;
	r->loss.lost = cpu_to_le32(le32_to_cpu(r->loss.lost) + r->nr_displaced);
	if (recovery_accepts(r, XP_ACCEPT_LOSS))
		return 0;
	*r->msg = r->conflict;
	return -EUCLEAN;
}

static void set_apart(struct xp *c, const struct xp_said *p)
{
	slot_is_no_part(c, p->slot);
	entry_of(c, p->slot)->apart = !!(p->flags & XP_REC_ZEROS);
	if (p->lacks)
		slot_set_lacks(c, p->slot, p->lacks);
}

static int replay_map(struct recovery *r, const struct xp_said *p)
{
	struct xp *c = r->c;
	struct xp_entry *e = entry_of(c, p->slot);
	xp_slot_t old = map_mapped(c, p->lba);

	if (e->state == SLOT_MAPPED &&
	    xp_lba_n(entry_lba(e)) != xp_lba_n(p->lba)) {
		int err = e->held || r->hole ? 0 : displace(r, p);

		if (err)
			return err;
		recovery_unmap(c, p->slot);
	}
	if (is_slot(old) && xp_slot_n(old) != xp_slot_n(p->slot))
		recovery_unmap(c, old);
	if (e->state != SLOT_MAPPED) {
		e->checked &= entry_is_of(e, p->lba);	/* it may have been superseded, and be again what it was */
		map_insert(c, p->slot, p->lba);
		slot_map(c, p->slot, p->flags & XP_REC_DIRTY, XP_RANK_RECOVERED);
	}
	slot_is_read_again(c, p->slot);
	slot_set_dirty(c, e, p->flags & XP_REC_DIRTY);
	set_apart(c, p);
	e->held = 0;
	r->any_outside |= xp_lba_n(p->lba) >= r->whole;
	if (c->sum)
		c->sum[xp_slot_n(p->slot)] = p->sum;
	e->checked |= !!(p->flags & (XP_REC_CHECKED | XP_REC_SUMMED));	/* or one before it in the chain */
	record_is_live(c, p->slot, journal_position(c, p->seq));
	return 0;
}

/*
 * Did the data that the record was sent beside land? What cannot be read may have: then the block
 * is an error until it is written anew, and not what it was before (I9).
 */
static enum xp_verdict landed(struct recovery *r, xp_slot_t slot, u64 hash)
{
	u64 block = r->c->data_start + xp_slot_n(slot);

	int err = r->m->read(r->m->ctx, block, 1, r->block);

	if (err)
		err = r->m->read(r->m->ctx, block, 1, r->block);
	if (err)
		return XP_UNREADABLE_DATA;
	return xp_checksum(r->block, XP_BLOCK_SIZE) == hash ? XP_REPLAYED : XP_NO_DATA;
}

/*
 * The older mapping holds for now. If the record failed only because its slot
 * was reused, then so may the older slot have been, and what replaced both comes
 * later in the chain: until then the older slot may be taken away (held).
 */
static void fall_back(struct recovery *r, xp_lba_t lba)
{
	struct xp *c = r->c;
	xp_slot_t old = map_mapped(c, lba);

	if (is_slot(old)) {
		entry_of(c, old)->held = 1;
		r->any_held = true;
	}
}

static int refuse_unread(struct recovery *r, u64 seq)
{
	return recovery_refuse(r, "maps more slots that cannot be read than there is room for", seq, r->c->nr_unread);
}

/* I9: it is an error until it is written anew, or proven. */
static int replay_unseen(struct recovery *r, const struct xp_said *p)
{
	int err;

	if (!unread_has_room(r->c) && !slot_is_unread(r->c, p->slot))
		return refuse_unread(r, p->seq);
	err = replay_map(r, p);
	if (!err)
		unread_add(r->c, p->slot, p->hash);
	return err;
}

/* The last that was decided of this block in this slot, or NULL. */
static const struct decided *find_decided(const struct recovery *r, u64 lba, u32 slot)
{
	u32 i;

	for (i = r->nr_decided; i-- > 0;)
		if (r->decided[i].lba == lba && r->decided[i].slot == slot)
			return &r->decided[i];
	return NULL;
}

/*
 * A recovery that was cut has said so, of a record that this one has decided otherwise about: no slot has changed since.
 */
static bool is_decided_otherwise(const struct recovery *r, const struct xp_said *p)
{
	const struct decided *d = find_decided(r, xp_lba_n(p->lba), xp_slot_n(p->slot));

	return d && (d->rejected || d->passed_over || !slot_is_unread(r->c, p->slot));
}

/* What was before is not there any more: there is nothing to fall back to. */
static int replay_unread(struct recovery *r, struct xp_said *p)
{
	r->has_unread = true;
	if (!is_decided_otherwise(r, p))
		return replay_unseen(r, p);
	p->verdict = XP_MOOT;
	return 0;
}

static int replay_checked(struct recovery *r, struct xp_said *p)
{
	struct decided *d = &r->decided[r->nr_decided];

	if ((p->flags & (XP_REC_DIRTY | XP_REC_ZEROS)) != XP_REC_DIRTY)	/* no write is so (parallel.c) */
		return recovery_refuse(r, "holds an unproven record of a block that is clean, or zeros; lba", p->seq, xp_lba_n(p->lba));
	if (r->nr_decided == RECORDS_CHECKED_MAX)
		return recovery_refuse(r, "holds more unproven records than can be in flight",
			      p->seq, r->nr_decided);
	p->verdict = landed(r, p->slot, p->hash);
	d->lba = xp_lba_n(p->lba);
	d->slot = xp_slot_n(p->slot);
	d->rejected = p->verdict == XP_NO_DATA;
	d->passed_over = p->verdict == XP_UNREADABLE_DATA && recovery_accepts(r, XP_ACCEPT_OLDER);
	r->nr_decided++;
	if (p->verdict == XP_REPLAYED)
		return replay_map(r, p);
	if (p->verdict == XP_UNREADABLE_DATA && !d->passed_over)
		return replay_unseen(r, p);
	fall_back(r, p->lba);
	return 0;
}

/*
 * CLEAN or ZERO of what is not the block's mapping: the record that made it so has failed, or is
 * in a hole. Then it tells what that said: that the slow device holds the newest, or zeros. (Or the
 * write that superseded it was sent beside its record, which came first: that mapping is no older
 * than the hole.)
 */
static int replay_moot(struct recovery *r, struct xp_said *p)
{
	xp_slot_t mapped = map_mapped(r->c, p->lba);

	p->verdict = XP_MOOT;
	if (!r->hole || (is_slot(mapped) && number_of(r, p, mapped) >= r->hole))
		return 0;
	if (p->kind == XP_REC_CLEAN) {
		if (is_slot(mapped))
			recovery_unmap(r->c, mapped);
		return 0;
	}
	p->flags = XP_REC_DIRTY | XP_REC_ZEROS;
	r->leave = max(r->leave, p->seq);	/* without the hole it would be moot */
	return replay_map(r, p);
}

static void replay_clean(struct xp *c, xp_slot_t slot)
{
	if (slot_is_unread(c, slot) || slot_is_part(c, slot))	/* no cache says so: but then the slow device has it */
		recovery_unmap(c, slot);
	else
		slot_set_dirty(c, entry_of(c, slot), false);
}

static int replay_record(struct recovery *r, struct xp_said *p)
{
	struct xp *c = r->c;
	struct xp_entry *e = entry_of(c, p->slot);

	if (p->kind != XP_REC_CLEAN)
		settle(r, p->lba);
	if (p->kind == XP_REC_MAP) {
		if (p->flags & XP_REC_UNREAD)
			return replay_unread(r, p);
		if (p->flags & XP_REC_CHECKED && p->seq > r->head.durable)
			return replay_checked(r, p);
		return replay_map(r, p);
	}
	if (p->kind == XP_REC_UNMAP) {
		xp_slot_t mapped = map_mapped(c, p->lba);

		if (is_slot(mapped))
			recovery_unmap(c, mapped);
		return 0;
	}
	if (xp_slot_n(map_mapped(c, p->lba)) != xp_slot_n(p->slot))
		return replay_moot(r, p);
	p->verdict = XP_REPLAYED;
	if (p->kind == XP_REC_CLEAN) {
		replay_clean(c, p->slot);
	} else {
		slot_is_read_again(c, p->slot);
		slot_is_no_part(c, p->slot);
		slot_set_dirty(c, e, true);
		e->apart = 1;
	}
	return 0;
}

/*
 * A witness hears of every record that is refused; without one the first ends it, unless losses are
 * accepted.
 */
static int testify(struct recovery *r, struct xp_said *p, int err)
{
	const struct xp_witness *w = r->witness;

	if (err && !w && !recovery_accepts(r, XP_ACCEPT_LOSS))
		return err;
	if (err) {
		p->verdict = XP_REFUSED;
		if (!r->nr_refused++)
			r->first = *r->msg;
	}
	if (w)
		w->record(w->ctx, p, r->msg);
	return 0;
}

/* Its other records are as good as none, too: what it said of their blocks is not known. */
static int accept_refused(struct recovery *r)
{
	if (!r->nr_refused)
		return 0;
	if (recovery_accepts(r, XP_ACCEPT_LOSS)) {
		r->leave = r->head.seq;
		r->c->lost = r->head.seq + 1;
		r->loss.lost = cpu_to_le32(le32_to_cpu(r->loss.lost) + r->nr_refused);
		r->msg->text[0] = '\0';
		return 0;
	}
	*r->msg = r->first;
	return -EUCLEAN;
}

/* Blocks that replay_plain() has mapped, and that are yet to be counted: clean ones, dirty ones. */
struct plain {
	u32 nr[2];
};

static_assert(XP_REC_DIRTY == 1, "the flag tells which");

static void count_plain(struct xp *c, const struct plain *plain, u32 segment)
{
	u32 *nr = c->ranks.nr[rank_class(XP_RANK_RECOVERED)];

	c->nr_clean += plain->nr[false];
	c->nr_dirty += plain->nr[true];
	nr[false] += plain->nr[false];
	nr[true] += plain->nr[true];
	c->journal.live[segment] += plain->nr[false] + plain->nr[true];
}

/*
 * Nearly every record of a cache that has not been full yet: a MAP, of a whole block that nothing maps, in a slot that has not
 * had any. What replay_record() makes of it, in a few steps: a start has as many of them as there are slots in use.
 * @flags: those that it may have. False: it is another, and nothing has changed.
 */
static __always_inline bool replay_plain(struct recovery *r, const struct xp_record *rec, u32 flags, u32 segment, struct plain *plain)
{
	struct xp *c = r->c;
	u64 word = le64_to_cpu(rec->lba), lba = word & (XP_MAX_LBAS - 1);
	u32 slot = le32_to_cpu(rec->slot), said = (u32)(word >> 40), *chain, i;
	struct xp_entry *e;

	if ((said & ~(flags << 8)) != XP_REC_MAP || rec->sum || lba - r->plain_from >= r->plain_nr || slot >= c->nr_slots)
		return false;
	e = &c->entry[slot];
	if (e->word.all)
		return false;
	chain = map_chain(c, XP_LBA(lba));
	for (i = *chain; i != XP_NIL; i = c->entry[i].hash_next)
		if (entry_is_of(&c->entry[i], XP_LBA(lba)))
			return false;
	e->word = r->plain_word[said >> 8];
	region_one_more(&c->region[map_region(c, lba)]);
	map_link(c, XP_SLOT(slot), XP_LBA(lba), chain);
	c->segment[slot] = (u16)segment;
	plain->nr[said >> 8 & XP_REC_DIRTY]++;
	return true;
}

/* Of a slot that is MAPPED by a record with these flags, and of which no more is known. */
static union xp_word plain_word(u32 flags)
{
	return (union xp_word){ .state = SLOT_MAPPED, .dirty = !!(flags & XP_REC_DIRTY), .checked = !!(flags & XP_REC_CHECKED),
				.use = XP_RANK_RECOVERED };
}

static void begin_plain(struct recovery *r)
{
	u32 flags;

	r->plain_from = (r->c->pad + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
	r->plain_nr = r->witness ? 0 : r->whole - min(r->whole, r->plain_from);
	for (flags = 0; flags < PLAIN_FLAGS; flags++)
		r->plain_word[flags] = plain_word(flags);
}

static int replay_any(struct recovery *r, const struct xp_record *rec, u64 seq, u32 index)
{
	struct xp_said p;
	int err = parse(r, rec, seq, &p);

	p.index = index;
	if (!err)
		err = replay_record(r, &p);
	return testify(r, &p, err);
}

/*
 * Where the record's block and slot are looked up: in memory that no processor's cache holds, one after the other. Anything
 * may be there yet.
 */
static __always_inline void look_ahead(const struct xp *c, const struct xp_record *rec)
{
	u32 slot = le32_to_cpu(rec->slot);

	__builtin_prefetch(map_chain(c, XP_LBA(le64_to_cpu(rec->lba) & (XP_MAX_LBAS - 1))), 1);
	if (slot < c->nr_slots)
		__builtin_prefetch(&c->entry[slot], 1);
}

/* A run that makes sense: @rec of MAP with DIRTY or nothing, or of CLEAN, and no block or slot of it is behind all there may be. */
static bool is_run(const struct xp *c, const struct xp_record *rec)
{
	u64 word = le64_to_cpu(rec->lba), plain = word >> 40 & ~((u64)XP_REC_DIRTY << 8);
	u32 blocks = record_blocks(rec);

	return c->may_run && blocks > 1 &&
	       (plain == (XP_REC_MAP | XP_REC_RUN << 8) || word >> 40 == (XP_REC_CLEAN | XP_REC_RUN << 8)) &&
	       (word & (XP_MAX_LBAS - 1)) + blocks <= XP_MAX_LBAS && (u64)le32_to_cpu(rec->slot) + blocks <= 1ull << 32;
}

/* The record of block @i of a run. */
static struct xp_record one_of(const struct xp_record *run, u32 i)
{
	return (struct xp_record){
		.lba = cpu_to_le64((le64_to_cpu(run->lba) & ~((u64)XP_REC_RUN << 48)) + i),
		.slot = cpu_to_le32(le32_to_cpu(run->slot) + i),
		.hash = run->hash,
	};
}

/* As if each of its blocks had a record. */
static int replay_run(struct recovery *r, const struct xp_record *run, u64 seq, u32 index, u32 flags, struct plain *plain)
{
	u32 segment = journal_position(r->c, seq) >> r->c->journal.segment_shift, nr = record_blocks(run), i;
	struct xp_record rec;
	int err = 0;

	for (i = 0; i < nr; i++) {
		rec = one_of(run, i);
		look_ahead(r->c, &rec);
	}
	for (i = 0; i < nr && !err; i++) {
		rec = one_of(run, i);
		if (!replay_plain(r, &rec, flags, segment, plain))
			err = replay_any(r, &rec, seq, index);
	}
	return err;
}

/* The first @count records of block @seq. */
static int replay_records(struct recovery *r, const struct xp_jblock *b, u32 count, u64 seq)
{
	u32 segment = journal_position(r->c, seq) >> r->c->journal.segment_shift;
	u32 flags = XP_REC_DIRTY | (seq <= r->head.durable ? XP_REC_CHECKED : 0);
	struct plain plain = { { 0, 0 } };
	int err = 0;
	u32 i;

	for (i = 0; i < count; i++)
		look_ahead(r->c, &b->rec[i]);
	for (i = 0; i < count && !err; i++)
		if (is_run(r->c, &b->rec[i]))
			err = replay_run(r, &b->rec[i], seq, i, flags, &plain);
		else if (!replay_plain(r, &b->rec[i], flags, segment, &plain))
			err = replay_any(r, &b->rec[i], seq, i);
	count_plain(r->c, &plain, segment);
	return err;
}

static int replay_block(struct recovery *r, struct xp_jblock *b, u64 seq)
{
	u32 count = records_of(r, seq);

	if (place_is_bad(r->c, seq))
		return 0;
	if (ring_at(r, seq)->hole) {
		r->hole = seq;
		return 0;
	}
	if (recovery_judge_place(r->c, b, seq % r->c->journal.blocks) != XP_PLACE_VALID ||
	    le64_to_cpu(b->head.seq) != seq || xp_block_records(b) < count)
		return recovery_refuse(r, "changed while it was read", seq, 0);
	return replay_records(r, b, count, seq);
}

static int replay_chain(struct recovery *r)
{
	struct xp_journal *j = &r->c->journal;
	u64 seq = r->head.tail;

	while (seq <= r->head.seq) {
		u64 position = seq % j->blocks;
		u32 i, n = (u32)min(min(j->blocks - position, r->head.seq - seq + 1),
				    (u64)XP_RECOVER_CHUNK);
		bool together = !r->m->read(r->m->ctx, j->start + position, n, r->chunk);
		int err = 0;

		for (i = 0; i < n && !err; i++) {
			if (!ring_at(r, seq + i)->hole && !place_is_bad(r->c, seq + i) &&
			    read_place(r, position, i, together))
				return recovery_refuse_loss(r, seq + i,
							    "it could be read just now");
			err = replay_block(r, chunk_block(r, i), seq + i);
		}
		if (err)
			return err;
		seq += n;
	}
	return 0;
}

/*
 * The ring never fills, whatever comes (docs/ARCHITECTURE.md): that is so of every chain that a
 * cache writes, or step 5 can make it so. Any other is refused.
 */
static int check_room(struct recovery *r)
{
	struct xp *c = r->c;

	c->journal.tail = r->head.tail;
	if (relocate_has_room(c, r->head.seq, true))
		return 0;
	return recovery_refuse(r, "leaves no room in the ring for what is to be carried, as no cache does; records",
			       r->head.seq, c->nr_dirty + c->nr_clean);
}

/*
 * What is lost may have given a slot to another block. Of a clean block the slow device has its own
 * data, so it is as if it were not cached; of a dirty one there is nothing better. All that is left
 * is said anew: what was lost, or is erased, may turn up again.
 */
static void doubt(struct recovery *r)
{
	struct xp *c = r->c;
	u32 i;

	if (super_is_losing(c))		/* what was lost then may be erased by now */
		c->lost = r->head.seq + 1;
	if (!c->lost)
		return;
	r->leave = max(r->leave, min(c->lost, r->head.seq));
	for (i = 0; i < c->nr_slots; i++) {
		const struct xp_entry *e = &c->entry[i];
		u32 nr;

		if (e->state == SLOT_MAPPED && !e->dirty && record_first_of(c, XP_SLOT(i), r->head.seq, &nr) < c->lost)
			recovery_unmap(c, XP_SLOT(i));
	}
}

/*
 * The version that was passed over may have been durable, and the older one's slot another's since.
 * So it is with that as above; but only the block itself is in doubt. What is clean need not be in the
 * cache: whether its record came before the other or after it is not asked.
 */
static void doubt_older(struct recovery *r)
{
	u32 i;

	for (i = 0; i < r->nr_decided; i++) {
		const struct decided *d = &r->decided[i];
		xp_slot_t old = map_mapped(r->c, XP_LBA(d->lba));

		if (d->passed_over && is_slot(old) && !entry_of(r->c, old)->dirty)
			recovery_unmap(r->c, old);
	}
}

/*
 * What is left of a recovery before, and is there after all, is said anew: from then on its record is one like any other. So
 * it is never asked about again, whatever comes of the slot, and a CLEAN is never one of a record that is UNREAD.
 */
static void look_again(struct recovery *r)
{
	struct xp *c = r->c;
	u32 i = 0;

	while (i < c->nr_unread) {
		const struct xp_unread u = c->unread[i];
		struct xp_entry *e = &c->entry[u.slot];
		u64 lba = xp_lba_n(entry_lba(e));

		/* what is decided was read just now */
		if (find_decided(r, lba, u.slot) || landed(r, XP_SLOT(u.slot), u.hash) != XP_REPLAYED) {
			i++;
			continue;
		}
		unread_drop(c, XP_SLOT(u.slot));
		e->apart = 0;
		r->decided[r->nr_decided++] = (struct decided){ .lba = lba, .slot = u.slot };
	}
}

/* No write is under way. */
static void hold_none(struct recovery *r)
{
	u32 i;

	for (i = 0; r->any_held && i < r->c->nr_slots; i++)
		r->c->entry[i].held = 0;
}

int recovery_replay(struct recovery *r)
{
	int err;

	begin_plain(r);
	err = replay_chain(r);
	if (!err)
		err = accept_refused(r);
	if (!err)
		err = check_displaced(r);
	if (err)
		return err;
	hold_none(r);
	doubt(r);
	doubt_older(r);
	look_again(r);
	if (r->c->nr_unread > unread_most(r->c->nr_slots))
		return refuse_unread(r, r->head.seq);
	return check_room(r);
}
