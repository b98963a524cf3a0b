// SPDX-License-Identifier: GPL-2.0-only
/* Caches that were moving to another fast device when it was interrupted. */
#include "lib/moves.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/known.h"
#include "lib/media.h"
#include "core/move.h"
#include "core/superblock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cache_is_elsewhere(const struct cache *c)
{
	return c->err == -ENOTSUP && xp_move_says(&c->sb);
}

const char *move_advice(const struct cache *c)
{
	const char *connect = xp_move_is_away(&c->sb) ? "connect that one" : "connect the other too";

	if (c->left_over)
		return text_todo("xpcache list shows where it is; xpcache create --fast %s --slow DEV --force takes this one for a new cache",
				 text_word(c->fast.path));
	if (known_is_noted(c->uuid))
		return text_todo("%s; if that is lost for good, xpcache forget %s --force gives the cache up", connect, text_word(c->name));
	return text_todo("%s; xpcache create --fast %s --slow DEV --force takes this one for a new cache", connect, text_word(c->fast.path));
}

/* ------------------------------------------------------------- pairing ---- */

/* As xp_move_arrive() leaves it. */
static bool foresee(struct cache *there)
{
	struct xp_message msg;
	struct xp_sb sb = there->sb;

	xp_move_clear(&sb);
	xp_sb_seal(&sb);
	if (xp_sb_verify(&sb, device_blocks(&there->fast), &msg))
		return false;
	there->sb = sb;
	there->err = 0;
	there->coming = true;
	return true;
}

static bool is_on_another(const struct caches *all, const struct cache *c)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].err && !strcmp(all->v[i].uuid, c->uuid))
			return true;
	return false;
}

/* Of one that is coming, or has arrived: which device has it left? */
static void find_left(const struct caches *all, struct cache *there)
{
	for (size_t i = 0; i < all->n && !there->left; i++) {
		const struct cache *here = &all->v[i];

		if (cache_is_elsewhere(here) && xp_move_has_left(&here->sb, &there->sb) && (!there->err || foresee(there)))
			there->left = here->fast.dev;
	}
}

void moves_pair(struct caches *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].err || cache_is_elsewhere(&all->v[i]))
			find_left(all, &all->v[i]);
	for (size_t i = 0; i < all->n; i++)
		all->v[i].left_over = cache_is_elsewhere(&all->v[i]) && is_on_another(all, &all->v[i]);
}

/* ------------------------------------------------------------ arriving ---- */

struct owned {
	struct device d;	/* closed again but for fd */
	struct media m;
	struct xp_sb sb;
};

/* What its superblock is read with; without a complaint. */
static int own(struct owned *o, dev_t dev)
{
	struct xp_message msg;
	int err;

	*o = (struct owned){ .d.fd = -1 };
	err = device_look_at(&o->d, dev);
	if (err) {
		o->d.fd = -1;
		return err;
	}
	device_close(&o->d);
	o->d.fd = open(o->d.path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (o->d.fd < 0)
		return -errno;
	err = media_init(&o->m, o->d.fd);
	return err ? err : xp_sb_read(&o->m.io, device_blocks(&o->d), &o->sb, &msg);
}

static void let_go(struct owned *o)
{
	media_done(&o->m);
	device_close(&o->d);
}

void move_erase_left(dev_t dev, const struct xp_sb *there)
{
	struct xp_sb block;
	struct owned o;
	int err = own(&o, dev);

	if (err == -ENOTSUP && xp_move_has_left(&o.sb, there))
		err = xp_move_erase(&o.m.io, &o.sb, &block);
	if (err == -ESTALE)
		printf("%s: it is no part of the cache any more, and has another use\n", o.d.path);
	else if (err && err != -ENOENT && err != -ENOTSUP && o.d.fd >= 0)
		printf("%s: it is no part of the cache any more, and its superblock cannot be erased (%s)\n", o.d.path, strerror(-err));
	let_go(&o);
}

/* What it says is so after a power cut too. */
static int confirm_left(const struct cache *c, char *path, size_t len)
{
	struct xp_sb block;
	struct owned o;
	int err = own(&o, c->left);

	snprintf(path, len, "%s", *o.d.path ? o.d.path : c->fast.path);
	if (err == -ENOTSUP && xp_move_has_left(&o.sb, &c->sb))
		err = xp_move_confirm(&o.m.io, &o.sb, &block);
	else if (!err)	/* a copy that could not be read says now that it is here */
		err = -ESTALE;
	let_go(&o);
	return err;
}

static bool is_same(const struct xp_sb *a, const struct xp_sb *b)
{
	return a->move == b->move && !memcmp(a->uuid, b->uuid, sizeof(a->uuid));
}

static int arrive(struct cache *c, const struct owned *o)
{
	int err = xp_move_arrive(&o->m.io, &c->sb);

	if (!err)
		printf("%s: its move to %s, which was interrupted, is complete\n", c->name, c->fast.path);
	return err;
}

/* There nobody has it, or it is in use already. */
static int complete(struct cache *c, char *path, size_t len)
{
	int left = c->coming ? confirm_left(c, path, len) : 0, err;
	struct owned o;

	err = own(&o, c->fast.dev);
	if (err == -ENOTSUP && is_same(&o.sb, &c->sb) && xp_move_is_coming(&o.sb)) {
		c->sb = o.sb;
		err = left ? left : arrive(c, &o);
	} else if (!err && is_same(&o.sb, &c->sb)) {	/* another has completed it, or it was killed after it */
		c->sb = o.sb;
		err = xp_move_settle(&o.m.io, &o.sb);
	} else if (!err) {
		err = -ESTALE;
	}
	if (!left)
		snprintf(path, len, "%s", c->fast.path);
	let_go(&o);
	return err;
}

enum xc cache_arrive(struct cache *c)
{
	char path[PATH_MAX];
	int err = c->left ? complete(c, path, sizeof(path)) : 0;

	if (!c->left || (err && !c->coming))	/* that which it has left may wait until it is not in use */
		return XC_OK;
	if (err)
		return complain(XC_FAILED, path,
				text_todo("once more, with both devices; or, as it has nothing yet, xpcache stop %s if it runs, then xpcache forget %s --force",
					  text_word(c->name), text_word(c->name)),
				"the move of %s to %s cannot be completed: %s", c->name, c->fast.path, strerror(-err));
	c->coming = false;
	move_erase_left(c->left, &c->sb);
	c->left = 0;
	return XC_OK;
}
