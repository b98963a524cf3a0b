// SPDX-License-Identifier: GPL-2.0-only
/*
 * start --boot: the caches that are to start by themselves, each as soon as its devices are here.
 *
 * One that / leaves (adopt --undo) is brought home instead, and does not start: / is mounted from
 * the plain disk then, and adopt --undo, called again by the running system, ends the cache.
 */
#include "tools/start.h"
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/known.h"
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "lib/uuid.h"
#include "tools/adopt.h"
#include "tools/flush.h"
#include "tools/guard/behind.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define WAIT_SECONDS	30.0
#define PATIENCE	2.0	/* without a word */
#define LOOK_AGAIN	1.0	/* a device may be there before it can be read */

struct awaited {
	struct known known;
	bool done;		/* tried, or running */
	bool fast_here;
	struct cache elsewhere;	/* a device that it has left, or has not reached; no uuid: none was seen */
};

struct boot {
	struct options opt;
	struct awaited *list;
	size_t n, left;
	enum xc ret;		/* of the first that failed */
};

/* --------------------------------------------------------------- devices ---- */

/* Changes when a device comes. */
static u64 devices_here(void)
{
	DIR *dir = opendir("/sys/class/block");
	struct dirent *e;
	u64 sum = 0;

	while (dir && (e = readdir(dir)))
		sum += xp_xxh64(e->d_name, strlen(e->d_name));
	if (dir)
		closedir(dir);
	return sum;
}

/* ------------------------------------------------------------------ round ---- */

static enum xc leave(struct cache *c, dev_t slow, const struct options *opt)
{
	enum xc ret = fence_open(c->uuid);

	if (!ret)
		ret = sleep_no_image(c, slow, opt);
	if (!ret)
		ret = cache_arrive(c);
	if (!ret && !cache_is_home(c)) {
		printf("%s: it is left; first every block is written back, which may take long\n", c->name);
		fflush(stdout);
		ret = flush_stopped(c, opt);
	}
	if (!ret)	/* an image of before may start it when the disk is another */
		ret = behind_empty(c);
	if (ret) {
		left_forget(c->uuid);
		fence_changed(slow);
		return ret;
	}
	fence_opened(c->uuid, slow);
	printf("%s: every block is written back; it is left, and its slow device used alone\n", c->name);
	return XC_OK;
}

/* An image of before it was adopted has booted, or it was just adopted. */
static enum xc refuse_below_root(const struct cache *c)
{
	if (cache_is_home(c))
		return complain(XC_REFUSED, c->name,
				"reboot if it was adopted since; else xpcache adopt --undo, and adopt once more",
				"the initramfs of this boot did not start it, and / is on its disk alone");
	return complain(XC_REFUSED, c->name, "write nothing; boot with the initramfs that starts it",
			"the initramfs of this boot did not start it, / is on its disk alone, and what is dirty is not there");
}

static enum xc start_found(const struct awaited *a, struct cache *c, dev_t slow, const struct options *opt)
{
	if (c->running)
		return sleep_is_for_start(c->uuid) ? sleep_wake(c->uuid, opt) : XC_OK;
	if (c->err)
		return complain(XC_DAMAGED, c->fast.path, "xpcache check tells more", "%s",
				c->message.text);
	if (root_is_on_disk(slow) &&
	    (a->known.start == START_IN_INITRAMFS || (a->known.start == START_TO_LEAVE && !cache_is_home(c))))
		return refuse_below_root(c);
	if (a->known.start == START_TO_LEAVE)
		return leave(c, slow, opt);
	return start_cache(c, opt);
}

/* A copy of a fast device may be old. */
static enum xc check_only_one(const struct cache *c, const struct caches *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (&all->v[i] != c && !strcmp(all->v[i].uuid, c->uuid) && !cache_is_elsewhere(&all->v[i]))
			return complain(XC_REFUSED, c->name,
					"take the copy away, or start it by xpcache start --fast DEV",
					"%s and %s both hold it", c->fast.path, all->v[i].fast.path);
	return XC_OK;
}

/* On a device that it has left, or has not reached, it is not: the other one may be late. */
static bool is_on(struct awaited *a, const struct cache *c)
{
	if (strcmp(a->known.uuid, c->uuid) != 0)
		return false;
	if (cache_is_elsewhere(c))
		a->elsewhere = *c;
	else
		a->fast_here = true;
	return !cache_is_elsewhere(c);
}

static void look_at(struct boot *b, struct awaited *a, struct caches *all)
{
	for (size_t i = 0; i < all->n && !a->done; i++) {
		struct cache *c = &all->v[i];
		dev_t slow = 0;
		enum xc ret;

		if (!is_on(a, c))
			continue;
		if (!c->running && !c->err && !(slow = slow_of(c)))
			continue;	/* not yet */
		ret = c->running ? XC_OK : check_only_one(c, all);
		if (!ret)
			ret = start_found(a, c, slow, &b->opt);
		b->ret = b->ret ? b->ret : ret;
		a->done = true;
		b->left--;
	}
}

static void look_round(struct boot *b)
{
	struct caches all;

	if (caches_scan(&all))
		return;
	for (size_t i = 0; i < b->n; i++)
		look_at(b, &b->list[i], &all);
	caches_free(&all);
}

/* ---------------------------------------------------------------- waiting ---- */

/* Whose it is cannot be told. */
static void say_damaged(void)
{
	struct caches all;

	if (caches_scan(&all))
		return;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].err == -EUCLEAN)
			complain(XC_DAMAGED, all.v[i].fast.path, "xpcache check tells more", "%s",
				 all.v[i].message.text);
	caches_free(&all);
}

static void say_missing(const struct boot *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct awaited *a = &b->list[i];

		if (a->done)
			continue;
		if (*a->elsewhere.uuid && !a->fast_here)
			complain(XC_NOT_FOUND, a->known.name, move_advice(&a->elsewhere), "%s: %s", a->elsewhere.fast.path, a->elsewhere.message.text);
		else if (a->fast_here)
			complain(XC_NOT_FOUND, a->known.name, "connect it",
				 "its slow device is not here (%s)", identity_text(&a->known.slow));
		else
			complain(XC_NOT_FOUND, a->known.name,
				 "connect it; if it is lost for good, xpcache forget lets go of the slow device",
				 "its fast device is not here, and may have what its slow device (%s) has not",
				 identity_text(&a->known.slow));
	}
}

static void wait_for(struct boot *b, double seconds)
{
	double begin = seconds_now(), now = begin, looked = 0;
	bool said = false;
	u64 seen = 0;

	while (b->left && now - begin < seconds) {
		u64 here = devices_here();

		if (here != seen || now - looked > LOOK_AGAIN) {
			look_round(b);
			looked = seconds_now();
		}
		seen = here;
		now = seconds_now();
		if (b->left && !said && now - begin > PATIENCE) {
			printf("waiting up to %.0f s for the devices of caches\n", seconds);
			fflush(stdout);
			said = true;
		}
		if (b->left)
			usleep(100000);
	}
}

static bool is_dirty(const char *uuid)
{
	struct caches all;
	bool dirty = false;

	if (caches_scan_for(uuid, &all))
		return false;
	for (size_t i = 0; i < all.n; i++)
		dirty |= !cache_is_home(&all.v[i]);
	caches_free(&all);
	return dirty;
}

/* Its end has begun, and adopt --undo is to go on with it. But an image of before has started it, now or
 * meanwhile: then what is made or goes home until that must know that it is to be left. True: it is to
 * be looked at in this boot as well. */
static bool go_on_with_end(struct known *k)
{
	struct running r;
	bool runs = running_find(NULL, k->uuid, &r) == 1;
	int err = 0;

	if (k->start == START_GONE && (runs || is_dirty(k->uuid))) {
		k->start = START_TO_LEAVE;
		err = known_write(k);
	}
	if (err)
		complain_errno(err, k->name, "it cannot be noted that / is to leave it");
	if (runs || k->start == START_GONE)
		left_write(k->uuid);
	return !runs && k->start == START_TO_LEAVE;
}

/* Of one whose record cannot be read nobody knows what was on it. */
static enum xc to_start(struct boot *b)
{
	struct known *known;
	size_t n = known_all(&known);

	b->list = calloc(n + 1, sizeof(*b->list));
	for (size_t i = 0; b->list && i < n; i++) {
		bool ends = known[i].start == START_GONE || known[i].start == START_TO_LEAVE;

		if (known[i].start != START_NOT && !left_is(known[i].uuid) && (!ends || go_on_with_end(&known[i])))
			b->list[b->n++].known = known[i];
	}
	free(known);
	b->left = b->n;
	return !b->list || known_broken() ? XC_FAILED : XC_OK;
}

/* It runs in the kernel, of devices by which it can be known, and has no record. */
static bool lacks_record(const struct cache *c, struct running *r)
{
	return c->running && !known_is_noted(c->uuid) && running_find(NULL, c->uuid, r) == 1 && !r->user &&
	       identity_known(&c->sb.slow);
}

/* An image of before its record was taken away has started it: the next is to know it. */
static void note_running(void)
{
	char root[UUID_HEX] = "";
	struct xp_tunables defaults;
	struct running r;
	struct caches all;
	struct known k;

	if (caches_scan(&all))
		return;
	root_is_on(root);
	xp_tunables_init(&defaults);
	for (size_t i = 0; i < all.n; i++) {
		const struct cache *c = &all.v[i];

		if (!lacks_record(c, &r))
			continue;
		known_of(&k, &c->sb, !strcmp(c->uuid, root) ? START_IN_INITRAMFS : START_AT_BOOT,
			 r.tunables_known ? &r.tunables : &defaults);
		k.limits.mark = k.limits.grid = 0;
		k.limits.mode = XP_MODE_KEPT;	/* by its superblock */
		if (!known_write(&k))
			printf("%s: it runs, and nothing was noted of it: now it is\n", c->name);
	}
	caches_free(&all);
}

enum xc start_at_boot(const struct options *opt)
{
	struct boot b = { .opt = *opt };

	if (!opt->engine)
		b.opt.engine = "kernel";	/* what is mounted is a device, not a socket */
	note_running();
	fence_end_unknown();
	b.ret = to_start(&b);
	wait_for(&b, opt->wait > 0 ? opt->wait : WAIT_SECONDS);
	if (b.left) {
		say_damaged();
		say_missing(&b);
		b.ret = b.ret ? b.ret : XC_NOT_FOUND;
	}
	free(b.list);
	return b.ret;
}
