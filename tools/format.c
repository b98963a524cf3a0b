// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache of an older version becomes one of this: bits of the superblock allow slots that lack sectors and records
 * of several blocks, and what was there stays.
 *
 * And back: what lacks sectors is written back, all that the journal says is said once more by the core's own recovery, and
 * these bits go last. Until then the cache is one of this version, whatever comes between.
 */
#include "tools/format.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "tools/flush.h"
#include "tools/guard/behind.h"
#include "tools/guard/fingerprint.h"
#include "tools/options.h"
#include "core/look.h"
#include "core/superblock.h"

#include <stdio.h>
#include <unistd.h>

/* Once it is owned nobody starts it. */
static enum xc own(struct offline *o, struct device *fast, const char *path)
{
	enum xc ret = device_open(fast, path, true);
	int err;

	if (!ret) {
		wait_until_free(fast);
		ret = device_reopen(fast, DEVICE_OWN);
	}
	if (ret)
		return ret;
	err = offline_open(o, fast);
	return err ? offline_complain(o, fast, err) : XC_OK;
}

/* ------------------------------------------------------------- to ours ---- */

static bool is_asked(const struct cache *c, const struct options *opt)
{
	char answer[16] = "";

	if (opt->convert)
		return true;
	if (opt->boot || opt->all || opt->offline || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	printf("%s: of an older version: writes of parts of blocks and long ones take longer.\n"
	       "Convert it? That version refuses it then, until it is converted back. [y/N] ", c->name);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

static enum xc convert(struct cache *c)
{
	struct device fast = { .fd = -1 };
	struct offline o = { .core = NULL };
	enum xc ret = own(&o, &fast, c->fast.path);
	int err;

	if (!ret) {
		signals_hold();
		err = xp_sb_allow(&o.media.io, &o.sb, XP_INCOMPAT_NEW);
		signals_release();
		ret = err ? complain_errno(err, fast.path, "cannot write the superblock") : XC_OK;
	}
	if (!ret) {
		c->sb = o.sb;
		printf("%s: converted; xpcache stop --format 1 %s takes it back, for an older version\n", c->name, c->name);
	}
	offline_close(&o);
	device_close(&fast);
	return ret;
}

enum xc format_convert(struct cache *c, const struct options *opt)
{
	return xp_sb_format(&c->sb) < XP_FORMAT && is_asked(c, opt) ? convert(c) : XC_OK;
}

/* ---------------------------------------------------------------- back ---- */

/* 0: there is none of this name. */
static u32 format_of(const char *word)
{
	return (*word == '1' || *word == '2') && !word[1] ? (u32)(*word - '0') : 0;
}

static enum xc refuse_format(const struct running *r, const struct cache *c, u32 format)
{
	if (format > xp_sb_format(&c->sb))
		return complain(XC_REFUSED, r->name,
				text_todo("xpcache stop %s, then %s --convert", text_word(r->name), text_start(r->name, r->fast_path, r->slow_path)),
				"it has the format 1, and only a start converts it");
	if (format < XP_FORMAT && xp_sb_pad(&c->sb))
		return complain(XC_REFUSED, r->name, text_todo("xpcache remove %s writes all back and ends it", text_word(r->name)),
				"its blocks do not begin with the slow device: no older version can read it");
	return XC_OK;
}

enum xc format_check(const struct running *r, const struct options *opt)
{
	struct device d;
	struct cache c;
	int err;

	if (!opt->format)
		return XC_OK;
	if (!format_of(opt->format))
		return complain(XC_USAGE, "--format", "give 1 or 2", "this version knows no format \"%s\"", opt->format);
	if (r->asleep)
		return complain(XC_REFUSED, r->name, text_todo("xpcache attach %s first", text_word(r->name)), "it is detached");
	err = device_look(&d, r->fast_path);
	if (!err) {
		err = cache_read(&c, &d);
		device_close(&d);
	}
	return err ? complain_errno(err, r->fast_path, "cannot read the superblock") : refuse_format(r, &c, format_of(opt->format));
}

static bool has_parts(struct offline *o)
{
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(o->core, &cursor, &m))
		if (m.lacks)
			return true;
	return false;
}

/* Before it is said in a format that cannot: as by flush --offline. */
static enum xc bring_parts_home(const struct running *r, const struct options *opt)
{
	struct options named = *opt;
	struct device fast = { .fd = -1 };
	struct offline o = { .core = NULL };
	struct cache c;
	enum xc ret = own(&o, &fast, r->fast_path);
	int err = ret ? 0 : offline_load(&o);
	bool parts = !ret && !err && has_parts(&o);

	if (err)
		ret = offline_complain(&o, &fast, err);
	offline_close(&o);
	device_close(&fast);
	if (!ret && parts)
		ret = caches_find_stopped(NULL, r->fast_path, r->slow_path, &c);
	named.slow = r->slow_path;
	return ret || !parts ? ret : flush_stopped(&c, &named);
}

/* *@seq: where the journal ends. */
static int say_anew(struct offline *o, u64 *seq)
{
	struct xp_stats s;
	int err;

	o->anew = true;
	err = offline_restate(o);
	if (err)
		return err;
	xp_get_stats(o->core, &s);
	*seq = s.seq;
	err = xp_sb_read(&o->media.io, le64_to_cpu(o->sb.fast_blocks), &o->sb, &o->message);
	return err ? err : xp_sb_forbid(&o->media.io, &o->sb, XP_INCOMPAT_PARTS | XP_INCOMPAT_RUNS);
}

static enum xc go_back(const struct running *r)
{
	struct device fast = { .fd = -1 };
	struct offline o = { .core = NULL };
	enum xc ret = own(&o, &fast, r->fast_path);
	u64 seq = 0;
	int err;

	if (!ret) {
		err = say_anew(&o, &seq);
		ret = err ? offline_complain(&o, &fast, err) : XC_OK;
	}
	offline_close(&o);
	device_close(&fast);
	if (!ret)
		fingerprint_at_rest(r->fast_path, r->slow_path, seq);
	return ret;
}

enum xc format_back(const struct running *r, const struct options *opt)
{
	enum xc ret;

	if (!opt->format || format_of(opt->format) == XP_FORMAT)
		return XC_OK;
	ret = bring_parts_home(r, opt);
	if (ret)
		return ret;
	signals_hold();
	ret = go_back(r);
	signals_release();
	if (!ret)
		printf("%s: an older version can start it now\n", r->name);
	return ret;
}
