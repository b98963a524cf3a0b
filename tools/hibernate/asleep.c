// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - one cache falls asleep: every block home, suspended, forgotten, led to the slow device.
 */
#include "tools/hibernate/asleep.h"
#include "lib/begun.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/flushing.h"
#include "lib/kernel.h"
#include "lib/media.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/status.h"
#include "lib/user.h"
#include "tools/hibernate/sleep_note.h"
#include "tools/hibernate/turn.h"
#include "core/message.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENOUGH		256u	/* blocks that may be left to go home while it is suspended */

/* Suspended. -EAGAIN: not everything is home. */
static int check_closed(const struct drowsy *d, struct status *s)
{
	int err = kernel_status(d->r.name, s->line, sizeof(s->line));

	if (!err)
		err = status_parse(s);
	if (err)
		return err;
	if (strcmp(s->state, "suspended") != 0 || status_number(s, "passthrough"))
		return -EIO;
	return status_number(s, "dirty") ? -EAGAIN : 0;
}

/* The note first, if there is to be one: no image is made before all sleep, so there is none without it. */
static int note_and_forget(struct drowsy *d, const struct xp_end *end, const struct xp_end *empty, bool forgotten)
{
	static struct xp_jblock block;
	int err = 0;

	d->note.seq = cpu_to_le64(empty->seq);
	d->note.incarnation = cpu_to_le64(empty->incarnation);
	if (!d->alone)
		err = sleep_note_write(&d->fast.io, &d->sb, d->place, &d->note);
	return err || forgotten ? err : xp_forget_after(&d->sb, end, &d->fast.io, &block);
}

static bool is_same(const struct xp_end *a, const struct xp_end *b)
{
	return a->seq == b->seq && a->incarnation == b->incarnation;
}

/* Suspended, so nothing moves: its memory says where the journal ends, and the medium must say so too. */
static int forget(struct drowsy *d)
{
	static struct xp_jblock block;
	static struct status s;
	struct xp_end closed, empty, end;
	struct xp_message msg;
	int err = check_closed(d, &s);

	if (err)
		return err;
	err = xp_sb_read(&d->fast.io, d->blocks, &d->sb, &msg);	/* it ran until now, and may have listed a bad place */
	if (err)
		return err;
	closed = (struct xp_end){ status_number(&s, "seq"), status_number(&s, "incarnation") };
	empty = xp_empty_after(&d->sb, &closed);
	err = xp_follow(&d->fast.io, &d->sb, closed.seq, &block, &end);
	if (err)
		return err;
	if (is_same(&end, &empty))
		return note_and_forget(d, &end, &empty, true);	/* it was not turned then */
	return is_same(&end, &closed) ? note_and_forget(d, &end, &empty, false) : -ESTALE;
}

static int turn(struct drowsy *d)
{
	const char *name = d->r.name;
	struct running now;
	int err = turn_suspend(name);

	if (!err)
		err = forget(d);
	if (!err)
		err = turn_resume_alone(&d->r);
	d->turned = kernel_find(name, NULL, &now) == 1 && now.asleep && !now.suspended;
	if (d->turned)
		return 0;
	turn_resume_as_it_is(name);
	return err ? err : -EIO;
}

static bool is_as_it_was(const struct running *r)
{
	struct running now;

	return kernel_find(r->name, NULL, &now) == 1 && !strcmp(now.uuid, r->uuid) && now.fast == r->fast &&
	       now.slow == r->slow && !now.asleep && !now.suspended && !now.reloads;
}

static int turn_alone(struct drowsy *d)
{
	int lock = kernel_lock(), err = lock < 0 || !is_as_it_was(&d->r) ? -EBUSY : begun_turn(&d->r);

	if (!err)
		err = memory_stay();
	if (!err)
		err = turn(d);
	turn_is_over(&d->r);
	memory_leave();
	kernel_unlock(lock);
	return err;
}

/* A writer that goes on has always something dirty. */
static enum xc turn_when_home(struct drowsy *d, double end)
{
	const char *name = d->r.name;
	enum xc ret;
	int err;

	do {
		ret = flush_nearly(name, ENOUGH, end);
		if (ret)
			return ret;
		err = kernel_message(name, XP_COMMAND_COMMIT);
		if (!err)	/* what is left goes home while it is suspended */
			err = kernel_message(name, XP_COMMAND_FLUSH);
		signals_hold();
		if (!err)
			err = turn_alone(d);
		signals_release();
		if (err == -EAGAIN && signals_came())
			return complain(XC_INTERRUPTED, name, "nothing is lost, and it goes on as it was", "stopped");
	} while (err == -EAGAIN && seconds_now() < end);
	if (err == -EAGAIN)
		return complain(XC_FAILED, name, "end what writes there", "it is written to faster than the slow device can take");
	return err ? complain_errno(err, name, "cannot lead it to the slow device") : XC_OK;
}

/* The cache has it: it is only written while that is suspended. */
static int open_fast(struct drowsy *d)
{
	struct xp_message msg;
	struct device fast;
	int err = device_look_at(&fast, d->r.fast);

	if (err)
		return err;
	close(fast.fd);
	fast.fd = open(fast.path, O_RDWR | O_CLOEXEC);
	if (fast.fd < 0)
		return -errno;
	err = media_init(&d->fast, fast.fd);
	d->blocks = device_blocks(&fast);
	if (!err)
		err = xp_sb_read(&d->fast.io, d->blocks, &d->sb, &msg);
	if (!err && strcmp(text_uuid(d->sb.uuid), d->r.uuid) != 0)
		err = -ESTALE;
	return err;
}

static void close_fast(struct drowsy *d)
{
	if (!d->fast.bounce)
		return;
	media_done(&d->fast);
	close(d->fast.fd);
}

enum xc fall_asleep(struct drowsy *d, double end)
{
	int err = open_fast(d);
	enum xc ret;

	if (err)
		ret = complain_errno(err, d->r.name, "cannot open its fast device");
	else if ((err = begun_keep(&d->r, d->alone)))
		ret = complain_errno(err, user_directory(), "cannot note that it is detached");
	else
		ret = turn_when_home(d, end);
	close_fast(d);
	if (!ret)
		printf("%s: detached%s: every block is written back, and it leads to the slow device alone\n", d->r.name,
		       d->alone ? "" : " for hibernation");
	return ret;
}
