// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have writes passed the cache while its fast device was gone (core/passthrough.c)? The mark says so:
 * at the place that the fingerprint remembers, or where it would be written today.
 */
#include "tools/guard/mark.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/offline.h"
#include "lib/slow.h"
#include "tools/guard/accept.h"
#include "tools/guard/behind.h"
#include "tools/guard/fingerprint.h"
#include "tools/options.h"
#include "core/mark.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES	5u	/* where one may be: two, two if its size was another, and what the fingerprint remembers */

struct ground {
	const char *name;
	const char *slow_path;
	struct device fast;
	struct slow slow;
	struct offline o;
	struct xp_fp fp;
	bool marks;		/* of a cache that may have one */
	bool noted;		/* the fingerprint is there */
	u64 doubt;		/* a block that may be one, and cannot be read; 0: none */
	bool losing;		/* dirty blocks may go with the clean ones */
	u32 accept;		/* and what recovery may lose */
	bool owned;		/* the fast device is open for writing */
	u64 gap[4];
	u32 nr_gaps;		/* of the device as it is, */
	u32 nr_looked;		/* and as it was */
};

static void close_ground(struct ground *g)
{
	offline_close(&g->o);
	slow_close(&g->slow);
	device_close(&g->fast);
}

static void set_fast(struct ground *g, const struct xp_media *m)
{
	g->marks = le64_to_cpu(g->o.sb.incompat) & XP_INCOMPAT_MARK;
	g->noted = fingerprint_read(m, &g->o.sb, &g->fp);
}

static enum xc open_fast(struct ground *g)
{
	int err = offline_open(&g->o, &g->fast);

	g->o.accept = g->accept;
	g->o.slow = g->slow_path;
	if (!err)
		set_fast(g, &g->o.media.io);
	return offline_complain(&g->o, &g->fast, err);
}

/* One at the end was of the end as it was. */
static void find_gaps(struct ground *g)
{
	u64 is = g->slow.bytes, was = le64_to_cpu(g->o.sb.slow.sectors) << XP_SECTOR_SHIFT;

	g->slow.pad = xp_sb_pad(&g->o.sb);
	g->nr_gaps = g->nr_looked = fingerprint_gaps(&g->slow, g->gap);
	if (was >= is)
		return;
	g->slow.bytes = was;
	g->nr_looked += fingerprint_gaps(&g->slow, g->gap + g->nr_gaps);
	g->slow.bytes = is;
}

static enum xc open_ground(struct ground *g, const char *fast, const char *slow)
{
	enum xc ret = device_open(&g->fast, fast, true);
	int err;

	g->slow_path = slow;
	if (!ret)
		ret = open_fast(g);
	if (ret)
		return ret;
	err = slow_open(&g->slow, slow);
	if (err)
		return complain_errno(err, slow, "cannot open it");
	find_gaps(g);
	return XC_OK;
}

static enum xc own(struct ground *g)
{
	enum xc ret = XC_OK;

	if (!g->owned) {
		offline_close(&g->o);
		wait_until_free(&g->fast);
		ret = device_reopen(&g->fast, DEVICE_OWN);
		if (!ret)
			ret = open_fast(g);
		g->owned = !ret;
	}
	return ret;
}

/* ------------------------------------------------------------ a mark ---- */

/* For the core; it gives us the block of @s back. */
static int write_slow(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct slow *s = ctx;

	XP_ASSERT(nr_blocks == 1 && buf == s->block);
	return slow_write(s, block);
}

static enum xc take_back(struct ground *g, u64 lba)
{
	const struct xp_media slow = { .ctx = &g->slow, .write = write_slow };
	enum xc ret = own(g);
	int err;

	if (ret)
		return ret;
	err = offline_load(&g->o);
	if (err)
		return offline_complain(&g->o, &g->fast, err);
	err = xp_unmark(g->o.core, &g->o.media.io, &slow, lba, g->losing, g->slow.block);
	if (err == -EUCLEAN)
		return complain(XC_REFUSED, g->fast.path,
				text_todo("nothing was changed; xpcache check %s --slow %s tells more, --discard-dirty loses them",
					  text_word(g->fast.path), text_word(g->slow_path)),
				"writes have passed it, and %s are dirty there all the same", text_blocks(g->o.stats.dirty));
	if (err)
		return complain_errno(err, g->name, "cannot take back that writes have passed it");
	printf("%s: writes went to %s alone while %s was gone: %s there are of no use, and dropped\n", g->name,
	       g->slow.path, g->fast.path, text_blocks(g->o.stats.clean + g->o.stats.dirty));
	return XC_OK;
}

/* Is there one? False: *err too. -ENXIO: the device ends before it. */
static bool is_mark(struct ground *g, u64 lba, int *err)
{
	*err = !lba ? 0 : slow_sector(&g->slow, lba + 1) << XP_SECTOR_SHIFT > g->slow.bytes ? -ENXIO : slow_read(&g->slow, lba);
	return lba && !*err && xp_mark_is(&g->o.sb, g->slow.block);
}

/* Every place was noted before it was used. Of the one that cannot be read nothing is known, and the
 * map may be of old; where the note is lost, of any that might be one. */
static bool look_at(struct ground *g, u64 lba, bool may_be)
{
	int err;

	if (is_mark(g, lba, &err))
		return true;
	if (err && may_be)
		g->doubt = lba;
	return false;
}

/* Then g->slow has its block, and *@lba says which. */
static bool find(struct ground *g, u64 *lba)
{
	bool there;

	*lba = g->noted ? le64_to_cpu(g->fp.mark) : 0;
	there = look_at(g, *lba, true);
	for (u32 i = 0; i < g->nr_looked && !there; i++) {
		*lba = g->gap[i];
		there = look_at(g, *lba, g->marks && !g->noted);
	}
	return there;
}

/* After one was taken back there may be another. */
static enum xc look(struct ground *g)
{
	enum xc ret = XC_OK;
	u64 lba;

	for (u32 i = 0; i < PLACES && !ret && find(g, &lba); i++)
		ret = take_back(g, lba);
	return ret;
}

bool mark_there(const struct xp_media *m, const struct xp_sb *sb, const char *slow, u64 *doubt)
{
	struct ground g = { .slow.fd = -1, .o.sb = *sb };
	bool there = false;
	u64 lba;

	if (!slow_open(&g.slow, slow)) {
		set_fast(&g, m);
		find_gaps(&g);
		there = find(&g, &lba);
	}
	slow_close(&g.slow);
	*doubt = g.doubt;
	return there;
}

/* Of a cache that is no more. */
void mark_erase(const struct xp_sb *sb, const struct xp_fp *fp, const char *slow)
{
	struct ground g = { .slow.fd = -1, .o.sb = *sb };
	u64 place[5];
	u32 n = 0;
	int err;

	if (!slow_open(&g.slow, slow)) {
		find_gaps(&g);
		n = g.nr_looked;
		memcpy(place, g.gap, n * sizeof(*place));
		place[n++] = le64_to_cpu(fp->mark);
	}
	for (u32 i = 0; i < n; i++) {
		if (!is_mark(&g, place[i], &err))
			continue;
		memset(g.slow.block, 0, XP_BLOCK_SIZE);
		err = slow_write(&g.slow, place[i]);
		if (err)
			complain_errno(err, slow, "cannot erase the mark of writes that passed the cache");
	}
	slow_close(&g.slow);
}

/* ----------------------------------------------------------- a place ---- */

static bool is_free(struct ground *g, u64 lba)
{
	return lba <= UINT32_MAX && !slow_read(&g->slow, lba) && slow_is_all(&g->slow, 0);
}

static u64 choose(struct ground *g)
{
	for (u32 i = 0; i < g->nr_gaps; i++)
		if (is_free(g, g->gap[i]))
			return g->gap[i];
	return 0;
}

/* Remembered before it can be used: partitions may be others when it is looked for. */
static u64 remember(struct ground *g, u64 lba)
{
	if (!lba || !g->noted || le64_to_cpu(g->fp.mark) == lba)
		return g->noted ? lba : 0;
	if (own(g))
		return 0;
	return fingerprint_place(&g->o.media.io, &g->o.sb, lba) ? 0 : lba;
}

/* All places that may be one have been looked at: an engine has no better way than to refuse. */
static enum xc blank_note(struct ground *g)
{
	enum xc ret = own(g);
	int err = ret ? 0 : fingerprint_blank(&g->o.media.io);

	return err ? complain_errno(err, g->fast.path, "cannot write anew what was noted when the cache rested, nor read it") : ret;
}

/* What was noted is there, and cannot be read. */
static enum xc mend_note(struct ground *g)
{
	return g->marks && !g->noted && fingerprint_unreadable(&g->o.media.io, &g->o.sb) ? blank_note(g) : XC_OK;
}

enum xc mark_prepare(const char *name, const char *fast, const char *slow, const struct options *opt, struct xp_tunables *t, u64 *doubt)
{
	struct ground g = { .name = name, .fast.fd = -1, .slow.fd = -1, .losing = !opt || opt->discard_dirty,
			    .accept = opt ? accept_of(opt) : 0 };
	enum xc ret = open_ground(&g, fast, slow);

	t->mark = 0;
	t->grid = g.o.sb.grid;
	if (!ret)
		ret = look(&g);
	if (!ret)
		ret = mend_note(&g);
	*doubt = g.doubt;
	if (!ret && g.marks && !g.doubt)
		t->mark = (u32)remember(&g, choose(&g));
	close_ground(&g);
	return ret;
}
