// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache whose fast device cannot be read everywhere goes on without, if the user says so: it is
 * recovered here, before it starts, and tells what is lost. Then its journal is as any, for whichever
 * engine.
 */
#include "tools/guard/accept.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/journal_ring.h"
#include "lib/offline.h"
#include "lib/signals.h"
#include "tools/guard/behind.h"
#include "tools/options.h"
#include "core/life.h"
#include "core/look.h"

#include <errno.h>
#include <stdio.h>

struct acceptance {
	const struct cache *c;
	const char *slow;
	struct device fast;
	struct offline o;
	struct ring ring;
	u64 doubtful;		/* mappings */
};

u32 accept_of(const struct options *opt)
{
	return (opt->accept_loss ? XP_ACCEPT_LOSS : 0) | (opt->accept_older ? XP_ACCEPT_OLDER : 0);
}

enum xc accept_check_none(const struct options *opt, const char *todo)
{
	if (!accept_of(opt))
		return XC_OK;
	return complain(XC_USAGE, opt->accept_loss ? "--accept-loss" : "--accept-older", todo,
			"what may be lost is said of one cache that does not run");
}

enum xc accept_check_running(const struct options *opt, const char *todo)
{
	if (opt->prefer_cache || opt->discard_dirty)
		return complain(XC_USAGE, opt->prefer_cache ? "--prefer-cache" : "--discard-dirty", todo,
				"that is asked when a stopped cache starts");
	return accept_check_none(opt, todo);
}

static int look(struct acceptance *a, u32 accept)
{
	int err;

	a->o.accept = accept;
	ring_done(&a->ring);
	err = ring_init(&a->ring, &a->o.sb, false);
	return err ? err : offline_look(&a->o, &a->ring.witness);
}

static void count_doubtful(struct acceptance *a)
{
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(a->o.core, &cursor, &m))
		a->doubtful += m.doubtful;
}

static void say_blocks_lost(u64 lost)
{
	printf("%s journal block%s: at most %s blocks may be older than was promised, or missing",
	       text_count(lost), lost == 1 ? "" : "s", text_count(lost * XP_SPOKEN_OF));
}

/* Once it is done: nobody can ask for it again. */
static void say_lost(const struct acceptance *a, u64 lost, u64 refused, u64 older)
{
	const char *comma = "";

	printf("%s: goes on without ", a->c->name);
	if (!lost && !refused && !older)
		printf("what a recovery that was cut short had decided");
	if (lost) {
		say_blocks_lost(lost);
		comma = "; ";
	}
	if (refused) {
		printf("%s%s record%s of no sense", comma, text_count(refused), refused == 1 ? "" : "s");
		comma = "; ";
	}
	if (older)
		printf("%sthe newest of %s, whose older version%s", comma, text_blocks(older), older == 1 ? " holds" : "s hold");
	if (a->doubtful)
		printf("; %s in the cache may be older, or another block's", text_blocks(a->doubtful));
	putchar('\n');
	fflush(stdout);
}

/* @asked: not only of older versions of blocks. */
static enum xc go_on(struct acceptance *a, u32 accept, bool asked)
{
	u64 lost, refused, older;
	int err = look(a, accept);

	if (err)
		return offline_complain(&a->o, &a->fast, err);
	lost = ring_lost_in_all(&a->ring, &a->o.sb, asked);
	refused = a->ring.said[XP_REFUSED];
	older = accept & XP_ACCEPT_OLDER ? a->ring.said[XP_UNREADABLE_DATA] : 0;
	count_doubtful(a);
	err = offline_restate(&a->o);
	if (err)
		return offline_complain(&a->o, &a->fast, err);
	say_lost(a, lost, refused, older);
	return XC_OK;
}

/* Nobody has told what one that was cut has lost. */
static bool is_unended(const struct acceptance *a)
{
	return le32_to_cpu(a->o.sb.bad.losing);
}

static enum xc decide(struct acceptance *a, const struct options *opt)
{
	int err = offline_open(&a->o, &a->fast);

	a->o.slow = a->slow;
	if (!err)
		err = look(a, 0);
	if (!err && !is_unended(a) && !(opt->accept_older && a->ring.said[XP_UNREADABLE_DATA])) {
		printf("%s: nothing is lost that would have to be accepted\n", a->c->name);
		return XC_OK;
	}
	if (err && ((err != -EBADMSG && err != -EUCLEAN) || !opt->accept_loss))
		return offline_complain(&a->o, &a->fast, err);
	return go_on(a, accept_of(opt), err);
}

enum xc accept_losses(const struct cache *c, const char *slow, const struct options *opt)
{
	struct acceptance a = { .c = c, .slow = slow, .fast.fd = -1 };
	enum xc ret;

	if (!accept_of(opt))
		return XC_OK;
	ret = device_open(&a.fast, c->fast.path, true);
	if (!ret) {
		wait_until_free(&a.fast);
		ret = device_reopen(&a.fast, DEVICE_OWN);
	}
	if (!ret) {
		signals_hold();
		ret = decide(&a, opt);
		signals_release();
	}
	offline_close(&a.o);
	ring_done(&a.ring);
	device_close(&a.fast);
	return ret;
}
