// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slots in use: each can be read, and holds what its record's checksum says.
 *
 * I1, I3: from its record on a slot is not written while a mapping names it. A
 * record bears a checksum if it was sent beside its data (a FUA write) and was
 * not carried over since, and a sum if the cache verified when the slot was
 * written (--verify); what has neither can only be read.
 */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/findings.h"
#include "lib/progress.h"
#include "tools/check/check.h"
#include "core/look.h"
#include "core/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_BLOCKS	64u
#define PATIENCE	2.0	/* seconds without a progress bar, */
#define PACE		0.2	/* and between two looks of it */

struct scrub {
	struct check *k;
	u8 *buf;			/* RUN_BLOCKS */
	struct xp_mapping run[RUN_BLOCKS];	/* in consecutive slots */
	u32 nr;
	u64 left, read, compared, wrong, unreadable;
	struct progress bar;
	double begun, shown;
};

static u64 block_of(const struct scrub *s, const struct xp_mapping *m)
{
	return le64_to_cpu(s->k->o.sb.data_start) + xp_slot_n(m->slot);
}

static void tell(struct scrub *s, const struct xp_mapping *m, const char *what)
{
	finding_problem(&s->k->found, "slot %u (block %" PRIu64 " of the fast device) %s: sector %" PRIu64
			" of the slow device, %s", xp_slot_n(m->slot), block_of(s, m), what,
			xp_lba_n(m->lba) * XP_BLOCK_SECTORS - xp_sb_pad(&s->k->o.sb), m->dirty ?
			"dirty: its newest contents are lost, the slow device has older ones" :
			"clean: the slow device has the same");
	if (m->dirty)
		s->k->lost++;
}

static void judge(struct scrub *s, const struct xp_mapping *m, int err, const u8 *data)
{
	u64 hash = s->k->ring.hash[xp_slot_n(m->slot)], checksum;
	char why[128];

	if (err) {
		snprintf(why, sizeof(why), "cannot be read, %s", strerror(-err));
		tell(s, m, why);
		s->unreadable++;
		return;
	}
	s->read++;
	if (!hash && !m->sum)
		return;
	s->compared++;
	checksum = xp_checksum(data, XP_BLOCK_SIZE);
	if ((!hash || checksum == hash) && (!m->sum || xp_sum(checksum) == m->sum))
		return;
	tell(s, m, "does not hold what its record's checksum says");
	s->wrong++;
}

static void show(struct scrub *s)
{
	double now = seconds_now();

	if (now - s->begun < PATIENCE || now - s->shown < PACE)
		return;
	progress_show(&s->bar, s->left);
	s->shown = now;
}

/* In one read; where that fails, block by block. */
static void read_run(struct scrub *s)
{
	const struct xp_media *m = &s->k->o.media.io;
	int err = s->nr ? m->read(m->ctx, block_of(s, s->run), s->nr, s->buf) : 0;

	for (u32 i = 0; i < s->nr; i++) {
		u8 *data = s->buf + i * XP_BLOCK_SIZE;

		judge(s, &s->run[i], err ? offline_read_slot(&s->k->o, &s->run[i], data) : 0, data);
		s->left--;
		show(s);
	}
	s->nr = 0;
}

static void add(struct scrub *s, const struct xp_mapping *m)
{
	if (s->nr == RUN_BLOCKS || (s->nr && xp_slot_n(s->run[s->nr - 1].slot) + 1 != xp_slot_n(m->slot)))
		read_run(s);
	s->run[s->nr++] = *m;
}

static void sum_up(const struct scrub *s)
{
	struct findings *f = &s->k->found;

	finding_number(f, "data", "read", s->read);
	finding_number(f, "data", "compared", s->compared);
	finding_number(f, "data", "wrong", s->wrong);
	finding_number(f, "data", "unreadable", s->unreadable);
	if (!s->wrong && !s->unreadable)
		finding_sound(f, "data: %s read, of which %s compared with a checksum",
			      text_blocks(s->read), text_count(s->compared));
}

enum xc check_data(struct check *k)
{
	struct scrub *s = calloc(1, sizeof(*s));
	struct xp_mapping m;
	u32 cursor = 0;

	if (s)
		s->buf = malloc((size_t)RUN_BLOCKS << XP_BLOCK_SHIFT);
	if (!s || !s->buf) {
		free(s);
		return complain_errno(ENOMEM, k->dev.path, "cannot read the data");
	}
	s->k = k;
	s->left = k->o.stats.dirty + k->o.stats.clean;
	s->begun = seconds_now();
	progress_begin(&s->bar, s->left);
	while (xp_walk(k->o.core, &cursor, &m)) {
		if (m.zeros)		/* whatever the slot holds: it is never read */
			s->left--;
		else
			add(s, &m);
	}
	read_run(s);
	progress_end();
	sum_up(s);
	free(s->buf);
	free(s);
	return XC_OK;
}
