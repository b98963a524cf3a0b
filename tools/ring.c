// SPDX-License-Identifier: GPL-2.0-only
/* The journal ring as it lies on the medium. What it means is the core's to say. */
#include "ring.h"

#include <stdlib.h>

#define SCAN_BLOCKS	64u

static bool verifies(const struct xp_jblock *b)
{
	struct xp_jblock copy;
	u32 count = le32_to_cpu(b->head.count);

	if (count > XP_RECORDS)
		return false;
	memcpy(&copy, b, sizeof(copy));
	copy.head.checksum = 0;
	return le64_to_cpu(b->head.checksum) ==
	       xp_xxh64(&copy, sizeof(copy.head) + count * sizeof(struct xp_record));
}

static bool all_zero(const void *block)
{
	static const char zeros[XP_BLOCK_SIZE];

	return !memcmp(block, zeros, XP_BLOCK_SIZE);
}

enum ring_state ring_judge(const struct xp_sb *sb, u64 index, const struct xp_jblock *b)
{
	if (le32_to_cpu(b->head.magic) != XP_JOURNAL_MAGIC)
		return all_zero(b) ? RING_EMPTY : RING_NOISE;
	if (!verifies(b))
		return RING_TORN;
	if (memcmp(b->head.uuid, sb->uuid, sizeof(sb->uuid)))
		return RING_OTHER;
	if (le64_to_cpu(b->head.seq) % le64_to_cpu(sb->journal_blocks) != index)
		return RING_MISPLACED;
	return RING_GOOD;
}

static void count(struct ring *r, enum ring_state state, u64 block,
		  const struct xp_jblock *b)
{
	u64 seq = le64_to_cpu(b->head.seq);

	r->count[state]++;
	if (state == RING_TORN || state == RING_MISPLACED) {
		if (!r->nr_bad++)
			r->first_bad = block;
	}
	if (state != RING_GOOD)
		return;
	r->newest = max(r->newest, seq);
	r->oldest = r->oldest ? min(r->oldest, seq) : seq;
	r->incarnation = max(r->incarnation, le64_to_cpu(b->head.incarnation));
	r->records += le32_to_cpu(b->head.count);
}

int ring_scan(const struct xp_media *m, const struct xp_sb *sb, struct ring *r)
{
	u64 start = le64_to_cpu(sb->journal_start), n = le64_to_cpu(sb->journal_blocks);
	struct xp_jblock *buf = malloc(SCAN_BLOCKS * sizeof(*buf));
	int err = buf ? 0 : -ENOMEM;

	memset(r, 0, sizeof(*r));
	for (u64 i = 0; i < n && !err; i += SCAN_BLOCKS) {
		u32 some = min(n - i, (u64)SCAN_BLOCKS);

		err = m->read(m->ctx, start + i, some, buf);
		for (u32 k = 0; k < some && !err; k++)
			count(r, ring_judge(sb, i + k, &buf[k]), start + i + k, &buf[k]);
	}
	free(buf);
	return err;
}
