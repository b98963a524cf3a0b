// SPDX-License-Identifier: GPL-2.0-only
/*
 * replace: a running cache moves to another fast device, while programs have it open.
 *
 * The new device is prepared first, and says that it does not count yet. Then the cache is detached (detach.c): it has
 * nothing on either device, and the slow device has all. Only now the old device says that the cache has left it, the new
 * one that it is the cache, and that is attached. core/move.h says what an interruption leaves: each step can be seen in
 * the two superblocks, and whoever starts or attaches the cache completes what has begun.
 *
 * I1, I3: the old device is owned, and was found empty, when it is left; so nobody attaches it meanwhile.
 */
#include "boot/initramfs.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/moves.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/uuid.h"
#include "tools/create.h"
#include "tools/guard/fingerprint.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/sleep.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/layout.h"
#include "core/move.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

#define AT_ONCE	1024u		/* blocks that are zeroed together: 4 MiB */

struct replace {
	const struct options *opt;
	struct running r;
	struct cache from;	/* as it was found; closed */
	struct device old;
	struct media old_media, new_media;
	struct taken to;
	u64 id;			/* of the move */
	bool detached;		/* by us */
	bool there;		/* it is on the new device already, and is to be attached */
	bool left;		/* the old device may say so */
	struct xp_media slowly;	/* new_media, with a progress bar */
	struct progress bar;
	u64 blocks_left;	/* to be zeroed, about */
};

/* ---------------------------------------------------------------- looking ---- */

/* One that runs has its device; of a copy it knows nothing. */
static enum xc check_is_its(struct replace *p)
{
	if (p->r.asleep)
		return cache_arrive(&p->from);
	if (p->from.fast.dev == p->r.fast)
		return XC_OK;
	return complain(XC_REFUSED, p->r.name, "take the copy away", "it runs on another device than %s, which holds it too",
			p->from.fast.path);
}

static enum xc find_old(struct replace *p)
{
	struct caches all;
	size_t n = 0;
	int err = caches_scan_for(p->r.uuid, &all);

	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for its fast device");
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].err) {
			p->from = all.v[i];
			n++;
		}
	caches_free(&all);
	if (n == 1)
		return check_is_its(p);
	if (n)
		return complain(XC_REFUSED, p->r.name, "take the copy away", "%zu devices hold it", n);
	return complain(XC_NOT_FOUND, p->r.name,
			text_todo("connect it; if it is lost, end what uses the cache, then xpcache stop %s, xpcache forget %s, and create one anew",
				  text_word(p->r.name), text_word(p->r.name)),
			"its fast device is not here, and nobody could tell later that it is not the cache any more");
}

static enum xc check_can_move(const struct replace *p)
{
	const struct running *r = &p->r;

	if (r->user)
		return complain(XC_REFUSED, r->name,
				text_todo("xpcache remove %s, and create it anew", text_word(r->name)),
				"its clients talk to xpcached, which cannot let go of its fast device");
	if (r->asleep && !begun_is_alone(r))
		return say_asleep(r->name);
	if (!r->asleep && sleep_check_active(r))
		return XC_REFUSED;
	if (!p->opt->fast)
		return complain(XC_USAGE, "--fast", text_todo("xpcache replace %s --fast DEV", text_word(r->name)),
				"the new fast device is missing");
	return XC_OK;
}

static enum xc check_another(struct replace *p)
{
	struct device d;
	bool same;

	if (device_look(&d, p->opt->fast))
		return XC_OK;	/* whoever opens it complains */
	same = d.is_block && d.dev == p->from.fast.dev;
	device_close(&d);
	p->there = same && p->r.asleep;	/* one that was interrupted has moved it */
	return !same || p->there ? XC_OK : complain(XC_REFUSED, p->opt->fast, "give another", "it is the fast device of %s already", p->r.name);
}

static enum xc look(struct replace *p)
{
	enum xc ret = caches_find_running(p->opt->arg, &p->r);

	if (!ret)
		ret = sleep_mend(&p->r);
	if (!ret)
		ret = check_can_move(p);
	if (!ret)
		ret = find_old(p);
	if (!ret)
		ret = check_another(p);
	if (ret || p->there)
		return ret;
	running_paths(&p->r);
	return create_taken(p->opt, &p->r, &p->from.sb, &p->to);
}

/* -------------------------------------------------------------- preparing ---- */

static int write_slowly(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct replace *p = ctx;

	if (signals_came())
		return -EINTR;
	p->blocks_left -= min(p->blocks_left, (u64)nr_blocks);
	progress_show(&p->bar, p->blocks_left);
	return p->new_media.io.write(p->new_media.io.ctx, block, nr_blocks, buf);
}

static int announce(struct replace *p)
{
	void *zeros;
	int err;

	if (posix_memalign(&zeros, XP_BLOCK_SIZE, (size_t)AT_ONCE << XP_BLOCK_SHIFT))
		return -ENOMEM;
	p->blocks_left = le64_to_cpu(p->to.sb.data_start);
	p->slowly = (struct xp_media){ .ctx = p, .write = write_slowly };
	progress_begin(&p->bar, p->blocks_left);
	err = xp_move_announce(&p->slowly, &p->to.sb, p->id, zeros, AT_ONCE);
	if (!err)	/* where a mark may be is remembered there */
		err = fingerprint_begin(&p->new_media.io, &p->to.sb);
	progress_end();
	free(zeros);
	return err;
}

/* It has nothing from now on, but counts only when the old one says so. */
static enum xc prepare(struct replace *p)
{
	enum xc ret;
	int err;

	while (!p->id)
		if (getrandom(&p->id, sizeof(p->id), 0) != sizeof(p->id))
			return complain_errno(errno, NULL, "no random numbers");
	ret = taken_wipe(&p->to);
	if (ret)
		return ret;
	err = media_init(&p->new_media, p->to.fast.fd);
	if (!err)
		err = announce(p);
	if (err == -EINTR)
		return complain(XC_INTERRUPTED, p->r.name, text_todo("it goes on with %s", p->from.fast.path),
				"stopped, and what was on %s is lost", p->to.fast.path);
	return err ? complain_errno(err, p->to.fast.path, "cannot write the metadata") : taken_is(&p->to);
}

/* Nobody is to find a trace of a move that did not come about. */
static void unprepare(struct replace *p)
{
	struct xp_sb zeros;

	if (p->new_media.bounce && !p->left)
		xp_sb_erase(&p->new_media.io, &zeros);
}

/* ---------------------------------------------------------------- leaving ---- */

static enum xc detach(struct replace *p)
{
	struct options alone = { .arg = p->r.name };
	enum xc ret;

	if (p->r.asleep)
		return XC_OK;
	ret = detach_run(&alone);
	p->detached = !ret;
	return ret;
}

/* Nobody attaches, stops or starts what is detached, owned, and seen by who has the lock. */
static enum xc check_detached(const struct replace *p)
{
	struct running now;
	enum xc ret = caches_find_running(p->r.name, &now);

	if (!ret && (strcmp(now.uuid, p->r.uuid) != 0 || !now.asleep || !begun_is_alone(&now)))
		ret = complain(XC_REFUSED, p->r.name, "once more", "another command has attached or stopped it meanwhile");
	return ret;
}

static enum xc own_old(struct replace *p)
{
	int err = device_look_at(&p->old, p->from.fast.dev);

	return err ? complain_errno(err, p->from.fast.path, "cannot be opened") : device_reopen(&p->old, DEVICE_OWN);
}

/* It is the cache, and has nothing. The first look at it ends with a descriptor that goes through the page cache. */
static enum xc look_at_old(struct replace *p, struct xp_sb *sb)
{
	struct xp_message msg = { "" };
	struct xp_end end;
	int empty = end_of_empty(&p->old, &end), err = media_init(&p->old_media, p->old.fd);

	if (!err)
		err = xp_sb_read(&p->old_media.io, device_blocks(&p->old), sb, &msg);
	if (err == -ENOENT || err == -ENOTSUP || (!err && memcmp(sb->uuid, p->from.sb.uuid, sizeof(sb->uuid)) != 0))
		return complain(XC_REFUSED, p->r.name, text_todo("xpcache status %s shows where it is", text_word(p->r.name)),
				"another command has moved it meanwhile");
	if (!err)
		err = empty;
	if (err == -ESTALE)
		return complain(XC_REFUSED, p->old.path, text_todo("xpcache attach %s says more", text_word(p->r.name)), "it has been used since the cache was detached");
	return err ? complain_errno(err, p->old.path, "cannot tell whether it has nothing") : XC_OK;
}

/* What was set meanwhile moves along. */
static int write_again(struct replace *p, const struct xp_sb *from)
{
	struct xp_sb *sb = &p->to.sb;

	xp_move_as(sb, from);
	sb->generation = cpu_to_le64(le64_to_cpu(sb->generation) + 1);
	return xp_sb_write(&p->new_media.io, sb);
}

/* Where a write that failed has left the superblock sound, the new device is to know nothing of it. Else attach tells. */
static int leave_old(struct replace *p, struct xp_sb *from)
{
	struct xp_message msg;
	struct xp_sb now;
	int err = xp_move_leave(&p->old_media.io, from, p->id);

	if (err)
		p->left = xp_sb_read(&p->old_media.io, device_blocks(&p->old), &now, &msg) != 0;
	return err;
}

static enum xc leave(struct replace *p)
{
	struct xp_sb from;
	enum xc ret = check_detached(p);
	int err;

	if (!ret)
		ret = own_old(p);
	if (!ret)
		ret = look_at_old(p, &from);
	if (!ret)
		ret = wake_check(&p->r, &p->to.sb);
	if (ret)
		return ret;
	err = write_again(p, &from);
	if (err)
		return complain_errno(err, p->to.fast.path, "cannot write the superblock");
	p->left = true;
	err = leave_old(p, &from);
	if (err)
		return complain_errno(err, p->old.path, "cannot write the superblock");
	err = xp_move_arrive(&p->new_media.io, &p->to.sb);
	return err ? complain_errno(err, p->to.fast.path, "cannot write the superblock") : XC_OK;
}

static void let_go(struct replace *p)
{
	media_done(&p->old_media);
	media_done(&p->new_media);
	device_close(&p->old);
	device_close(&p->to.fast);
}

static enum xc move(struct replace *p)
{
	int lock = sleep_lock();
	enum xc ret;

	signals_hold();
	ret = lock < 0 ? complain_errno(errno, p->r.name, "cannot lock others out") : leave(p);
	if (ret)
		unprepare(p);
	let_go(p);
	if (!ret)
		move_erase_left(p->from.fast.dev, &p->to.sb);
	signals_release();
	if (lock >= 0)
		close(lock);
	return ret;
}

/* ----------------------------------------------------------------- verb ---- */

static bool is_for_boot(const struct replace *p)
{
	struct known k;

	return *p->to.replaced || (known_find(p->r.uuid, &k) == 1 && k.start != START_NOT);
}

/*
 * The next boot, whenever that comes, sees both devices, and needs the drivers of both: so the initramfs is made before it
 * moves. Who does not want to wait for others that make it has lost nothing; an interrupt after that is only noted.
 */
static enum xc prepare_all(struct replace *p)
{
	struct sigaction was[NR_CAUGHT];
	bool boots = is_for_boot(p);
	enum xc ret;

	if (boots)
		initramfs_lock_to_refresh();
	signals_catch(was);
	ret = prepare(p);
	if (!ret && boots)
		ret = initramfs_refresh();
	if (ret)
		unprepare(p);
	signals_let(was);
	initramfs_unlock();
	return ret;
}

static enum xc replace_it(struct replace *p)
{
	enum xc ret = prepare_all(p), attached;

	if (ret)
		return ret;
	ret = detach(p);
	if (ret) {
		unprepare(p);
		return ret;
	}
	ret = move(p);
	attached = ret && !p->detached ? XC_OK : sleep_wake(p->r.name, p->opt);
	if (!ret)
		printf("%s: it has moved from %s to %s; %s is not its any more\n", p->r.name, p->from.fast.path, p->to.fast.path, p->from.fast.path);
	return ret ? ret : attached;
}

enum xc replace_run(struct options *opt)
{
	struct replace p = { .opt = opt, .old.fd = -1, .to.fast.fd = -1 };
	enum xc ret = look(&p);

	if (!ret)
		ret = p.there ? sleep_wake(p.r.name, opt) : replace_it(&p);
	let_go(&p);
	return ret;
}
