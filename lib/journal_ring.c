// SPDX-License-Identifier: GPL-2.0-only
/* The journal ring, as the core's recovery judges it. Nothing is decided here. */
#include "lib/journal_ring.h"
#include "lib/findings.h"
#include "core/bounds.h"
#include "core/jblock.h"
#include "core/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *ring_place_text(enum xp_place place)
{
	static const char *const text[XP_PLACES] = {
		[XP_PLACE_VALID] = "another journal block",
		[XP_PLACE_EMPTY] = "zeros",
		[XP_PLACE_ERASED] = "a place that a recovery has erased",
		[XP_PLACE_NOISE] = "no journal block",
		[XP_PLACE_TORN] = "a journal block with a wrong checksum",
		[XP_PLACE_OTHER] = "a journal block of another cache",
		[XP_PLACE_MISPLACED] = "a journal block that belongs elsewhere",
		[XP_PLACE_SENSELESS] = "a journal block whose header contradicts itself",
		[XP_PLACE_UNREADABLE] = "a block that cannot be read",
		[XP_PLACE_BAD] = "a place that is given up",
	};

	return text[place];
}

static void on_place(void *ctx, u64 position, enum xp_place place, const struct xp_jblock *b)
{
	struct ring *r = ctx;
	struct xp_ring_block *rb = &r->block[position];

	r->place[position] = place;
	r->count[place]++;
	if (place != XP_PLACE_VALID)
		return;
	*rb = (struct xp_ring_block){
		.seq = le64_to_cpu(b->head.seq),
		.tail = le64_to_cpu(b->head.tail_seq),
		.durable = le64_to_cpu(b->head.durable_seq),
		.incarnation = le64_to_cpu(b->head.incarnation),
		.records = xp_block_records(b),
		.count = le16_to_cpu(b->head.count),
		.before = le16_to_cpu(b->head.before),
	};
	r->newest = max(r->newest, rb->seq);
	r->oldest = r->oldest ? min(r->oldest, rb->seq) : rb->seq;
	r->records += rb->records;
}

static void on_candidate(void *ctx, const struct xp_ring_block *b, u64 breaks_at)
{
	struct ring *r = ctx;

	if (!breaks_at) {
		r->head = *b;
		return;
	}
	r->passed_over++;
	r->broken_at = breaks_at;
}

static const char *kind_text(const struct xp_said *said)
{
	static const char *const text[] = { "?", "MAP", "CLEAN", "UNMAP", "ZERO" };

	return said->kind <= XP_REC_ZERO ? text[said->kind] : text[0];
}

static void tell_record(struct ring *r, const struct xp_said *said, const struct xp_message *why)
{
	if (said->verdict == XP_REFUSED)
		finding_problem(r->findings, "%s: record %u, %s of block %" PRIu64 " and slot %u",
				why->text, said->index, kind_text(said),
				(u64)xp_lba_n(said->lba), xp_slot_n(said->slot));
}

static void on_record(void *ctx, const struct xp_said *said, const struct xp_message *why)
{
	struct ring *r = ctx;

	r->said[said->verdict]++;
	if (r->findings)
		tell_record(r, said, why);
	if (said->verdict == XP_REFUSED || said->kind != XP_REC_MAP)
		return;
	if (said->flags & XP_REC_CHECKED && said->seq > r->head.durable)
		r->unproven++;
	if (r->hash && said->verdict == XP_REPLAYED)
		r->hash[xp_slot_n(said->slot)] = said->flags & XP_REC_CHECKED ? said->hash : 0;
}

int ring_init(struct ring *r, const struct xp_sb *sb, bool hashes)
{
	memset(r, 0, sizeof(*r));
	r->start = le64_to_cpu(sb->journal_start);
	r->blocks = le64_to_cpu(sb->journal_blocks);
	r->witness = (struct xp_witness){ r, on_place, on_candidate, on_record };
	r->place = calloc(r->blocks, sizeof(*r->place));
	r->part = calloc(r->blocks, sizeof(*r->part));
	r->block = calloc(r->blocks, sizeof(*r->block));
	if (hashes)
		r->hash = calloc(le64_to_cpu(sb->nr_slots), sizeof(*r->hash));
	return r->place && r->part && r->block && (r->hash || !hashes) ? 0 : -ENOMEM;
}

/* As recovery walks it: next_missing() in core/recovery_pick.c. */
static u64 chain_lost(const struct ring *r)
{
	u64 incarnation = r->head.incarnation, seq, lost = 0;
	u32 least = 0;

	for (seq = r->head.seq; seq >= r->head.tail; seq--) {
		const struct xp_ring_block *b = &r->block[seq % r->blocks];
		bool there = b->seq == seq && b->records >= least && b->incarnation <= incarnation &&
			     !(least && b->count > least && b->incarnation < incarnation);

		if (r->place[seq % r->blocks] == XP_PLACE_BAD)
			continue;
		lost += !there;
		incarnation = there ? b->incarnation : incarnation;
		least = there ? b->before : 0;
	}
	return lost;
}

/* As recovery looks behind its end: unreadable_after(). */
static u64 end_lost(const struct ring *r)
{
	u64 seq = r->head.seq + 1, lost = 0;
	u32 window = 0;

	for (; window < XP_WINDOW && seq - r->head.tail < r->blocks; seq++) {
		bool unreadable = r->place[seq % r->blocks] == XP_PLACE_UNREADABLE;

		lost += unreadable;
		window += r->place[seq % r->blocks] != XP_PLACE_BAD && (window || !unreadable);
	}
	return lost;
}

u64 ring_lost(const struct ring *r)
{
	return chain_lost(r) + end_lost(r);
}

u64 ring_lost_in_all(const struct ring *r, const struct xp_sb *sb, bool asked)
{
	u64 now = ring_lost(r), noted = le32_to_cpu(sb->bad.losing) ? le32_to_cpu(sb->loss.lost) : 0;

	return noted && asked ? noted + now : max(noted, now);
}

void ring_done(struct ring *r)
{
	free(r->place);
	free(r->part);
	free(r->block);
	free(r->hash);
	memset(r, 0, sizeof(*r));
}
