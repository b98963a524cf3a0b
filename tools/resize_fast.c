// SPDX-License-Identifier: GPL-2.0-only
/*
 * resize, of a cache that does not run: its fast device has grown.
 *
 * The journal is as long as the slots need it to be, and lies before them. So a larger cache is another layout: every
 * dirty block goes home first, then the core lays the cache out anew (core/rest.c), with nothing in it. Only where a few
 * blocks came that no journal is longer for does all stay.
 */
#include "tools/resize.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/fast_size.h"
#include "lib/figures.h"
#include "lib/offline.h"
#include "lib/progress.h"
#include "lib/room.h"
#include "lib/signals.h"
#include "lib/slow_find.h"
#include "tools/flush.h"
#include "tools/guard/fingerprint.h"
#include "tools/options.h"
#include "core/layout.h"
#include "core/rest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define AT_ONCE	1024u		/* blocks of the longer journal that are written together: 4 MiB */

struct larger {
	struct cache *c;
	struct device fast;
	struct offline o;
	u64 blocks;		/* of the fast device, that are to be the cache's */
	bool told;		/* by --fast-size */
	void *zeros;		/* AT_ONCE blocks */
	u64 slots;		/* that it had */
	struct xp_end end;	/* of its journal; 0: as it was */
	struct xp_media slowly;	/* o.media, with a progress bar */
	struct progress bar;
	u64 left;		/* blocks to be written, about */
};

/* A file in memory that lacks what the cache had on it has lost that: room would only hide it. */
static bool has_lost(const struct device *d, const struct cache *c)
{
	struct stat st;

	return room_is_memory(d->fd) && !fstat(d->fd, &st) &&
	       (u64)st.st_blocks < le64_to_cpu(c->sb.fast_blocks) * XP_BLOCK_SECTORS;
}

/* Holes of a file are allocated, as create does it. */
static enum xc take_room(const struct cache *c, u64 blocks)
{
	struct device d;
	enum xc ret = device_open(&d, c->fast.path, true);

	if (ret || d.is_block || has_lost(&d, c)) {	/* the start that brings home what is dirty complains of that */
		device_close(&d);
		return ret;
	}
	ret = room_fill(&d, blocks << XP_BLOCK_SHIFT, "make room there, or truncate it to what it was");
	device_close(&d);
	return ret;
}

static enum xc complain_of(const struct larger *l, int err)
{
	switch (err) {
	case -EBUSY:
		return complain(XC_REFUSED, l->fast.path, text_todo("%s once more", text_resize(l->c->name, l->fast.path, l->o.slow)),
				"somebody has used %s meanwhile, and %s are dirty", l->c->name, text_blocks(l->o.stats.dirty));
	case -ENOSPC:
		return complain(XC_REFUSED, l->fast.path, "it goes on as large as it was", "%s", l->o.message.text);
	default:
		return complain_errno(err, l->fast.path, *l->o.message.text ? l->o.message.text : "cannot lay it out anew");
	}
}

static int write_slowly(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct larger *l = ctx;
	int err = l->o.media.io.write(l->o.media.io.ctx, block, nr_blocks, buf);

	l->left -= min(l->left, (u64)nr_blocks);
	progress_show(&l->bar, l->left);
	return err;
}

static int read_it(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	struct larger *l = ctx;

	return l->o.media.io.read(l->o.media.io.ctx, block, nr_blocks, buf);
}

static int grow(struct larger *l)
{
	struct xp_sb then;
	int err = xp_sb_grow(&then, &l->o.sb, l->blocks, &l->o.message);

	if (!err)	/* whoever finds no superblock is not to go by what was */
		err = fingerprint_size(&l->o.media.io, &l->o.sb, 0);
	if (err)
		return err;
	l->slots = le64_to_cpu(l->o.sb.nr_slots);
	if (l->told)
		l->o.sb.compat |= cpu_to_le64(XP_COMPAT_PART);
	l->left = le64_to_cpu(then.journal_blocks);
	l->slowly = (struct xp_media){ .ctx = l, .read = read_it, .write = write_slowly };
	progress_begin(&l->bar, l->left);
	err = xp_grow(l->o.core, &l->slowly, &l->o.sb, l->blocks, l->zeros, AT_ONCE, &l->end, &l->o.message);
	progress_end();
	if (!err)	/* it says nothing meanwhile, and then the user has to */
		fingerprint_size(&l->o.media.io, &l->o.sb, l->blocks);
	return err;
}

/* Once it is owned nobody starts it. */
static enum xc lay_out(struct larger *l, const struct options *opt)
{
	enum xc ret = device_open(&l->fast, l->c->fast.path, true);
	int err;

	if (!ret)
		ret = device_reopen(&l->fast, DEVICE_OWN);
	if (ret)
		return ret;
	err = offline_open(&l->o, &l->fast);
	l->o.slow = opt->slow;
	if (!err)
		err = offline_load(&l->o);
	if (err)
		return offline_complain(&l->o, &l->fast, err);
	err = grow(l);
	return err ? complain_of(l, err) : XC_OK;
}

static void say_larger(const struct larger *l)
{
	u64 more = le64_to_cpu(l->o.sb.nr_slots) - l->slots;

	if (l->end.seq)
		printf("%s: %s is laid out anew, for %s more: every block is written back, and nothing is cached yet\n", l->c->name,
		       l->fast.path, text_blocks(more));
	else
		printf("%s: %s takes %s more: what is cached stays\n", l->c->name, l->fast.path, text_blocks(more));
}

static enum xc make_larger(struct cache *c, u64 blocks, const struct options *opt)
{
	struct larger l = { .c = c, .fast.fd = -1, .blocks = blocks, .told = opt->fast_size };
	char slow[PATH_MAX];
	enum xc ret = take_room(c, blocks);

	if (!ret)
		ret = flush_stopped(c, opt);
	if (ret)
		return ret;
	if (posix_memalign(&l.zeros, XP_BLOCK_SIZE, (size_t)AT_ONCE << XP_BLOCK_SHIFT))
		return complain_errno(ENOMEM, c->fast.path, "cannot lay it out anew");
	signals_hold();
	ret = lay_out(&l, opt);
	offline_close(&l.o);
	device_close(&l.fast);
	free(l.zeros);
	if (!ret && l.end.seq && slow_known(c, opt->slow, slow, sizeof(slow)))
		fingerprint_at_rest(l.fast.path, slow, l.end.seq);
	signals_release();
	if (!ret)
		say_larger(&l);
	return ret;
}

static bool is_part(const struct cache *c)
{
	return le64_to_cpu(c->sb.compat) & XP_COMPAT_PART;
}

void fast_tell_grown(const struct cache *c, const char *name, const char *slow)
{
	const char *fast = c->fast.path;

	if (!is_part(c) && xp_sb_can_grow(&c->sb, device_blocks(&c->fast)))
		printf("%s: %s has grown: xpcache stop %s, then %s, use that\n", name, fast, name,
		       text_resize(name, fast, slow));
}

/* What the cache was told to leave is not taken before it is told otherwise. */
static enum xc wanted_blocks(const struct cache *c, const struct options *opt, u64 *blocks)
{
	u64 has = le64_to_cpu(c->sb.fast_blocks);
	enum xc ret = fast_size_blocks(opt->fast_size, &c->fast, blocks);

	if (!ret && !opt->fast_size && is_part(c))
		*blocks = has;
	if (!ret && *blocks < has)
		ret = complain(XC_REFUSED, c->fast.path,
			       text_todo("xpcache remove %s %s, then xpcache create --fast-size %s", c->name,
					 text_devices(c->fast.path, opt->slow), text_size(*blocks)),
			       "%s has %s of it, and no cache becomes smaller", c->name, text_bytes(has << XP_BLOCK_SHIFT));
	return ret;
}

enum xc resize_stopped(const struct options *opt)
{
	struct cache c;
	u64 blocks;
	enum xc ret = caches_find_stopped(opt->arg, opt->fast, opt->slow, &c);

	if (!ret)
		ret = wanted_blocks(&c, opt, &blocks);
	if (ret)
		return ret;
	if (xp_sb_can_grow(&c.sb, blocks))
		return make_larger(&c, blocks, opt);
	if (is_part(&c) && xp_sb_can_grow(&c.sb, device_blocks(&c.fast)))
		printf("%s: it has the first %s of %s, as it was told; %s --fast-size SIZE gives it more\n", c.name,
		       text_bytes(le64_to_cpu(c.sb.fast_blocks) << XP_BLOCK_SHIFT), c.fast.path, text_resize(c.name, c.fast.path, opt->slow));
	else
		printf("%s: %s is as large as it was; %s takes the slow device as it is\n", c.name, c.fast.path,
		       text_start(c.name, c.fast.path, opt->slow));
	return XC_OK;
}
