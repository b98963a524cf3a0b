// SPDX-License-Identifier: GPL-2.0-only
/* flush: every dirty block goes home. The kernel does it; we ask and watch. */
#include "tool.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS		200
#define STUCK_SECONDS	15	/* errors and no block home for so long: give up */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* A sync would wait for ever. */
static enum xc check_running(const char *name)
{
	struct status s;
	int err = status_read(name, &s);

	if (err)
		return complain_errno(err, name, "cannot read its status");
	if (!strcmp(s.state, "suspended"))
		return complain(XC_FAILED, name, "dmsetup resume it first", "it is suspended");
	return XC_OK;
}

/* What programs wrote without a sync lies in the page cache still. */
static enum xc sync_device(const char *name)
{
	char path[PATH_MAX];
	int fd, err = 0;

	if (user_has(name))	/* its clients have page caches, and sync by themselves */
		return XC_OK;
	snprintf(path, sizeof(path), "/dev/mapper/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain_errno(errno, path, "cannot open it");
	if (fsync(fd))
		err = errno;
	close(fd);
	return err ? complain_errno(err, path, "cannot sync it") : XC_OK;
}

struct watch {
	const char *name;
	struct progress bar;
	u64 dirty, base;	/* last seen, and how many were destaged when it last fell */
	u64 least, errors;	/* fewest left, and errors at that moment */
	double moved;
};

/* Blocks stay dirty until the slow device was flushed after a whole batch, which
 * may take minutes: what of it is written already does not count as left. */
static u64 blocks_left(struct watch *w, const struct status *s)
{
	u64 dirty = status_number(s, "dirty"), destaged = status_number(s, "destaged");

	if (dirty < w->dirty)
		w->base = destaged;
	w->dirty = dirty;
	return dirty - min(dirty, destaged - w->base);
}

static enum xc check_stuck(struct watch *w, const struct status *s, u64 left)
{
	u64 errors = status_number(s, "slow_errors") + status_number(s, "fast_errors");

	if (left < w->least || errors == w->errors) {
		w->least = min(w->least, left);
		w->errors = errors;
		w->moved = seconds_now();
		return XC_OK;
	}
	if (seconds_now() - w->moved < STUCK_SECONDS)
		return XC_OK;
	running_message(w->name, XP_COMMAND_FLUSH_STOP);
	return complain(XC_FAILED, w->name, "see dmesg; nothing is lost, xpcache flush goes on",
			"I/O errors, and %s stay dirty", text_blocks(w->dirty));
}

/* One look. XC_OK and *home false: not yet. */
static enum xc look(struct watch *w, bool *home)
{
	struct status s;
	u64 left, dirty;
	int err = status_read(w->name, &s);

	if (err)
		return complain_errno(err, w->name, "cannot read its status");
	left = blocks_left(w, &s);
	dirty = w->dirty;
	*home = status_number(&s, "home");
	progress_show(&w->bar, left);
	if (*home)
		return XC_OK;
	if (!strcmp(s.state, "failed"))
		return complain(XC_FAILED, w->name, "dmesg tells more",
				"its journal cannot be written, and %s stay dirty", text_blocks(dirty));
	if (interrupted) {
		running_message(w->name, XP_COMMAND_FLUSH_STOP);
		return complain(XC_INTERRUPTED, w->name, "nothing is lost, xpcache flush goes on",
				"stopped, %s stay dirty", text_blocks(dirty));
	}
	if (!status_number(&s, "flushing"))
		return complain(XC_FAILED, w->name, "xpcache flush goes on",
				"the flush was ended from elsewhere, %s stay dirty", text_blocks(dirty));
	return check_stuck(w, &s, left);
}

static enum xc watch(const char *name)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	struct watch w = { .name = name, .least = UINT64_MAX };
	struct status s;
	enum xc ret = XC_OK;
	bool home = false;
	int err = running_message(name, XP_COMMAND_FLUSH);

	if (!err)
		err = status_read(name, &s);
	if (err)
		return complain_errno(err, name, "cannot ask for a flush");
	w.dirty = UINT64_MAX;
	progress_begin(&w.bar, status_number(&s, "dirty"));
	while (!(ret = look(&w, &home)) && !home)
		nanosleep(&pause, NULL);
	progress_end();
	return ret;
}

enum xc flush_home(const char *name)
{
	struct sigaction act = { .sa_handler = on_signal }, was_int, was_term;
	enum xc ret = check_running(name);

	if (!ret)
		ret = sync_device(name);
	if (ret)
		return ret;
	interrupted = 0;
	sigaction(SIGINT, &act, &was_int);
	sigaction(SIGTERM, &act, &was_term);
	ret = watch(name);
	sigaction(SIGINT, &was_int, NULL);
	sigaction(SIGTERM, &was_term, NULL);
	return ret;
}

/* Nobody but us uses it meanwhile, and it rests again when this returns. */
static enum xc flush_offline(struct options *opt)
{
	struct cache c;
	enum xc ret, stopped;

	if (!opt->fast || opt->arg)
		return complain(XC_USAGE, opt->arg ? opt->arg : "--fast",
				"xpcache flush --offline --fast DEV --slow DEV",
				opt->arg ? "the devices say which" : "the fast device is missing");
	opt->engine = "user";
	ret = caches_find_stopped(NULL, opt->fast, &c);
	if (!ret)
		ret = start_cache(&c, opt);
	if (ret)
		return ret;
	ret = flush_home(c.name);
	stopped = running_remove(c.name);
	if (!ret)
		ret = stopped;
	if (!ret)
		printf("%s: every block is home, the slow device is complete; it does not run\n", c.name);
	return ret;
}

enum xc flush_run(struct options *opt)
{
	struct running r;
	enum xc ret;

	if (opt->offline || opt->fast || opt->slow)
		return opt->offline ? flush_offline(opt) :
		       complain(XC_USAGE, opt->fast ? "--fast" : "--slow", "give --offline too", "a running cache has a name");
	if (!opt->arg)
		return complain(XC_USAGE, "flush", "xpcache list shows all", "the name is missing");
	ret = caches_find_running(opt->arg, &r);
	if (!ret)
		ret = flush_home(r.name);
	if (!ret)
		printf("%s: every block is home, the slow device is complete\n", r.name);
	return ret;
}
