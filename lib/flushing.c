// SPDX-License-Identifier: GPL-2.0-only
/* Dirty blocks of a running cache are written back. The cache does it; we ask and watch. */
#include "lib/flushing.h"
#include "lib/begun.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/kernel.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/status.h"
#include "lib/user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS		200
#define STUCK_SECONDS	15	/* errors and no block written back for so long: give up */

enum xc flush_awake(const char *name)
{
	struct status s;
	int err = status_read(name, &s);

	if (err)
		return complain_errno(err, name, "cannot read its status");
	if (!strcmp(s.state, "suspended"))
		return complain(XC_FAILED, name, text_todo("dmsetup resume %s first", name), "it is suspended");
	if (!strcmp(s.state, "asleep"))
		return say_asleep(name);
	return XC_OK;
}

/*
 * What programs wrote without a sync lies in the page cache still. Written out, not synced: a
 * FLUSH of ours would be told, in place of a file system's next, what the slow device has lost.
 */
enum xc flush_pages(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return complain_errno(errno, path, "cannot open it");
	if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				      SYNC_FILE_RANGE_WAIT_AFTER))
		err = errno;
	close(fd);
	return err ? complain_errno(err, path, "cannot write out what programs wrote there") : XC_OK;
}

/* Each has a page cache of its own. */
static enum xc sync_partitions(const struct running *r, const char *name)
{
	struct partition *list;
	enum xc ret = XC_OK;
	size_t n;
	int err = partitions_of(r, &list, &n);

	if (err)
		return complain_errno(err, name, "cannot tell its partitions");
	for (size_t i = 0; i < n && !ret; i++)
		if (list[i].sectors)	/* without a table there is no node, and nothing was written */
			ret = flush_pages(list[i].node);
	free(list);
	return ret;
}

static enum xc sync_device(const char *name)
{
	struct running r;
	char path[PATH_MAX];
	int found = running_find(name, NULL, &r);
	enum xc ret;

	if (found != 1)
		return complain_errno(found ? found : ENODEV, name, "cannot tell its device");
	if (r.user && !*r.ublk)
		return XC_OK;	/* its clients have page caches, and sync by themselves */
	running_node(&r, path, sizeof(path));
	ret = flush_pages(path);
	return ret ? ret : sync_partitions(&r, name);
}

struct watch {
	const char *name;
	struct progress bar;
	u64 dirty, base;	/* last seen, and how many were written back when it last fell */
	u64 least, errors;	/* fewest left, and errors at that moment */
	double moved;
	u64 completed;		/* flushes before ours, */
	u64 incarnation;	/* since it was started: this time */
	bool of_mode;		/* that goes home without us, too */
	u64 enough;		/* blocks that may be left; and when to give up; 0: never */
	double end;
};

static void give_up(const struct watch *w)
{
	running_message(w->name, XP_COMMAND_FLUSH_STOP);
}

/* Blocks stay dirty until the slow device was flushed after a whole batch, which
 * may take minutes: what of it is written already does not count as left. */
static u64 blocks_left(struct watch *w, const struct status *s)
{
	u64 dirty = status_number(s, "dirty"), written_back = status_number(s, "written_back");

	if (dirty < w->dirty)
		w->base = written_back;
	w->dirty = dirty;
	return dirty - min(dirty, written_back - w->base);
}

static enum xc check_stuck(struct watch *w, const struct status *s, u64 left)
{
	u64 errors = status_number(s, "slow_errors") + status_number(s, "fast_errors") + status_number(s, "sum_errors");

	if (left < w->least || errors == w->errors) {
		w->least = min(w->least, left);
		w->errors = errors;
		w->moved = seconds_now();
		return XC_OK;
	}
	if (seconds_now() - w->moved < STUCK_SECONDS)
		return XC_OK;
	give_up(w);
	return complain(XC_FAILED, w->name, running_log(w->name, text_todo("; nothing is lost, xpcache flush %s goes on", w->name)),
			"I/O errors, and %s stay dirty", text_blocks(w->dirty));
}

/* All that is left could not be read when the cache was started, and waits for whoever writes it anew. */
static enum xc check_unread(const struct watch *w, const struct status *s)
{
	u64 unread = status_number(s, "unread");

	if (!unread || status_number(s, "dirty") != unread)
		return XC_OK;
	give_up(w);
	return complain(XC_FAILED, w->name,
			"all else is written back; write them anew, from a backup: of the stopped cache xpcache check names them",
			"%s could not be read when it was started, and stay dirty", text_blocks(unread));
}

/* Now, or in a moment that we did not see. */
static bool is_complete(const struct watch *w, const struct status *s)
{
	return status_number(s, "slow_complete") || status_number(s, "flushes_completed") > w->completed;
}

/* The journal's incarnation when it was started. */
static u64 life_of(const struct status *s)
{
	return status_number(s, "incarnation") - status_number(s, "reroutes");
}

static enum xc interrupted(const struct watch *w, u64 dirty)
{
	give_up(w);
	if (w->of_mode)
		return complain(XC_INTERRUPTED, w->name,
				text_todo("writeback goes on, and new writes are in the new mode already; xpcache flush %s shows when it is done",
					  w->name), "not waited for, %s are dirty still", text_blocks(dirty));
	return complain(XC_INTERRUPTED, w->name, text_todo("nothing is lost, xpcache flush %s goes on", w->name),
			"stopped, %s stay dirty", text_blocks(dirty));
}

/* Does anything end the wait before they are written back? */
static enum xc check_goes_on(struct watch *w, const struct status *s, u64 left, u64 dirty)
{
	if (!strcmp(s->state, "failed"))
		return complain(XC_FAILED, w->name, running_log(w->name, ""),
				"its journal cannot be written, and %s stay dirty", text_blocks(dirty));
	if (signals_came())
		return interrupted(w, dirty);
	if (w->end && seconds_now() > w->end)
		return complain(XC_FAILED, w->name, text_todo("that goes on; try again, or xpcache flush %s shows when it is done", w->name),
				"%s could not be written back in time", text_blocks(dirty));
	if (!status_number(s, "flushing"))
		return complain(XC_FAILED, w->name, text_todo("xpcache flush %s goes on", w->name),
				"the flush was ended from elsewhere, %s stay dirty", text_blocks(dirty));
	return check_unread(w, s) ? XC_FAILED : check_stuck(w, s, left);
}

/* One look. XC_OK and *complete false: not yet. */
static enum xc look(struct watch *w, bool *complete)
{
	struct status s;
	u64 left, dirty;
	int err = status_read(w->name, &s);

	if (err)
		return complain_errno(err, w->name, "cannot read its status");
	if (!strcmp(s.state, "asleep")) {	/* nothing was dirty when it was detached */
		*complete = true;
		progress_show(&w->bar, 0);
		return XC_OK;
	}
	left = blocks_left(w, &s);
	dirty = w->dirty;
	if (life_of(&s) != w->incarnation)
		return complain(XC_FAILED, w->name, text_todo("xpcache flush %s goes on", w->name),
				"it was started anew meanwhile, %s stay dirty", text_blocks(dirty));
	*complete = is_complete(w, &s) || (w->end && left <= w->enough);
	progress_show(&w->bar, left);
	return *complete ? XC_OK : check_goes_on(w, &s, left, dirty);
}

static enum xc watch(struct watch w)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	const char *name = w.name;
	struct status s;
	enum xc ret = XC_OK;
	bool complete = false;
	int err = status_read(name, &s);

	if (!err)
		err = running_message(name, XP_COMMAND_FLUSH);
	if (err)
		return complain_errno(err, name, "cannot ask for a flush");
	w.least = w.dirty = UINT64_MAX;
	w.completed = status_number(&s, "flushes_completed");
	w.incarnation = life_of(&s);
	progress_begin(&w.bar, status_number(&s, "dirty"));
	while (!(ret = look(&w, &complete)) && !complete)
		nanosleep(&pause, NULL);
	progress_end();
	return ret;
}

/* Of what went around the cache clients may have yet to hear that the slow device lost it. */
static enum xc check_kept(const char *name)
{
	int err = user_has(name) ? user_tell(name, xp_command_name(XP_COMMAND_COMMIT)) : 0;
	struct running r = { .name = "" };

	if (!err)
		return XC_OK;
	user_find(name, NULL, &r);
	return complain(XC_FAILED, name,
			running_log(name, text_todo("; xpcache stop %s --force, then %s, forgets it", name,
						    text_start(name, r.fast_path, r.slow_path))),
			"writes that bypassed the full cache may be lost: %s", strerror(-err));
}

static enum xc sync_and_watch(struct watch w)
{
	enum xc ret = flush_awake(w.name);

	if (!ret)
		ret = sync_device(w.name);
	if (!ret)
		ret = watch(w);
	return ret ? ret : check_kept(w.name);
}

static enum xc catch_and_watch(struct watch w)
{
	struct sigaction was[NR_CAUGHT];
	enum xc ret;

	signals_catch(was);
	ret = sync_and_watch(w);
	signals_let(was);
	return ret;
}

enum xc flush_to_end(const char *name)
{
	return sync_and_watch((struct watch){ .name = name });
}

enum xc flush_home(const char *name)
{
	return catch_and_watch((struct watch){ .name = name });
}

enum xc flush_of_mode(const char *name)
{
	return catch_and_watch((struct watch){ .name = name, .of_mode = true });
}

enum xc flush_nearly(const char *name, u64 enough, double end)
{
	struct sigaction was[NR_CAUGHT];
	enum xc ret;

	signals_catch(was);
	ret = watch((struct watch){ .name = name, .enough = enough, .end = end });
	signals_let(was);
	return ret;
}

enum xc flush_by_user(const char *name, const char *fast, const char *slow, const struct user_start *how)
{
	struct sigaction was[NR_CAUGHT];
	enum xc ret, stopped;

	signals_catch(was);
	ret = user_create(name, fast, slow, how);
	if (!ret) {
		ret = signals_came() ? XC_INTERRUPTED : flush_to_end(name);
		stopped = running_remove(name, false);
		ret = ret ? ret : stopped;
	}
	signals_let(was);
	return ret;
}
