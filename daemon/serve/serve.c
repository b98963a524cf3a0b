// SPDX-License-Identifier: GPL-2.0-only
/*
 * serve: runs a cache, and exports it on a socket or as a block device, until it is told to stop.
 *
 * With --detach the program returns when clients can connect, with the exit code that says
 * whether they can; what runs on has the log file for its complaints.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/nbd/server.h"
#include "daemon/serve/notify.h"
#include "daemon/ublk/ublk.h"
#include "daemon/verbs.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/offline.h"
#include "lib/process.h"
#include "lib/remote.h"
#include "lib/user.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_DEFAULT	1u

struct words {
	const char *fast, *slow, *socket, *control, *log;
	struct xp_tunables tunables;
	u32 threads;
	bool detach, ublk, force;
};

#define PATIENCE_NS	5000000000ull	/* of a stop: then it says what it waits for, again and again */
#define SAME_SIGNAL_S	1	/* timeout(1), for one, signals a process, and then its group with it */

struct serving {
	struct xd_cache cache;
	struct xd_server server;
	struct xd_control control;
	struct xd_ublk ublk;
	char name[XP_NAME_LEN];
	int ready;		/* pipe to who waits; -1: nobody */
	sigset_t signals;
};

/* ----------------------------------------------------------------- words ---- */

static enum xc set_tunable(struct words *w, const struct xp_tunable *row, const char *value)
{
	struct xp_message msg;

	if (xp_tunables_set(&w->tunables, row->name, value, &msg))
		return complain(XC_USAGE, value, "xpcached serve --help tells more", "%s", msg.text);
	return XC_OK;
}

static enum xc set_threads(struct words *w, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*end || !n || n > XD_LOOPS_MAX)
		return complain(XC_USAGE, value, NULL, "--threads is 1 to %u", XD_LOOPS_MAX);
	w->threads = (u32)n;
	return XC_OK;
}

enum { OPT_FAST = 1, OPT_SLOW, OPT_SOCKET, OPT_CONTROL, OPT_LOG, OPT_THREADS, OPT_DETACH, OPT_UBLK,
       OPT_FORCE, OPT_HELP, OPT_TUNABLE };	/* the first of them */

static const struct option fixed[] = {
	{ "fast", 1, NULL, OPT_FAST }, { "slow", 1, NULL, OPT_SLOW },
	{ "socket", 1, NULL, OPT_SOCKET }, { "control", 1, NULL, OPT_CONTROL },
	{ "log", 1, NULL, OPT_LOG }, { "threads", 1, NULL, OPT_THREADS },
	{ "detach", 0, NULL, OPT_DETACH }, { "ublk", 0, NULL, OPT_UBLK },
	{ "force", 0, NULL, OPT_FORCE }, { "help", 0, NULL, OPT_HELP },
};
#define NR_FIXED	(sizeof(fixed) / sizeof(*fixed))

/* What the number of an option is; the rest is told by xpcache create --help. */
static const char *tunable_help(const char *name)
{
	static const struct { const char *name, *help; } text[] = {
		{ "dirty_low", "percent, " }, { "dirty_high", "percent, " },
		{ "idle_ms", "milliseconds; 0: never; " },
		{ "stream_kib", "KiB; 0: off; " },
		{ "writeback_delay", "seconds; 0: none; " },
		{ "mark", "the block of the slow device, in units of 4096 bytes, for\n                    the passthrough mark; 0: none; " },
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (!strcmp(text[i].name, name))
			return text[i].help;
	return "";
}

static void help_words(const struct xp_tunable *t, const char *name)
{
	printf("  --%-15s ", name);
	for (u32 i = t->min; i <= t->max; i++)
		printf("%s%s", i == t->min ? "" : i < t->max ? ", " : " or ", t->word[i]);
	printf("\n                    (default: the one that the cache had last)\n");
}

static void help(void)
{
	printf("usage: xpcached serve --fast DEV --slow DEV [OPTION...]\n\n"
	       "  --fast DEV        the fast device: a block device or a file, made into a cache\n"
	       "                    by xpcache create\n"
	       "  --slow DEV        its slow device: a block device, a file, nbd://,\n"
	       "                    nbd+unix:// or nbds://\n"
	       "  --socket PATH     the socket for NBD clients: nbd+unix:///?socket=PATH;\n"
	       "                    without it there is no NBD export\n"
	       "  --ublk            provide the block device /dev/ublkbN, through the kernel's\n"
	       "                    ublk driver\n"
	       "  --control PATH    the socket for the program xpcache\n"
	       "                    (at least one of --socket, --ublk and --control is needed)\n"
	       "  --force           accept a slow device that is a copy of the known one\n"
	       "  --threads N       the number of threads, 1 to %u (default %u)\n"
	       "  --detach          run in the background; return when clients can connect\n"
	       "  --log FILE        with --detach: write messages to FILE; without it they are\n"
	       "                    dropped\n"
	       "Options of the cache; xpcache create --help explains all but --mark:\n",
	       XD_LOOPS_MAX, THREADS_DEFAULT);
	for (u32 i = 0; i < XP_TUNABLES; i++) {
		const struct xp_tunable *t = &xp_tunable_rows[i];
		char name[TUNABLE_OPTION];

		tunable_option(t, name);
		if (t->word)
			help_words(t, name);
		else
			printf("  --%-15s %s%u to %u (default %u)\n", name, tunable_help(t->name), t->min, t->max, t->initial);
	}
}

/* The fixed options, and one for each tunable; @name keeps its letters. */
static void make_options(struct option *o, char name[XP_TUNABLES][TUNABLE_OPTION])
{
	memcpy(o, fixed, sizeof(fixed));
	for (u32 i = 0; i < XP_TUNABLES; i++) {
		tunable_option(&xp_tunable_rows[i], name[i]);
		o[NR_FIXED + i] = (struct option){ name[i], 1, NULL, OPT_TUNABLE + (int)i };
	}
	o[NR_FIXED + XP_TUNABLES] = (struct option){ NULL, 0, NULL, 0 };
}

static enum xc set_word(struct words *w, int option, const char *value)
{
	const char **const text[OPT_TUNABLE] = {
		[OPT_FAST] = &w->fast, [OPT_SLOW] = &w->slow, [OPT_SOCKET] = &w->socket, [OPT_CONTROL] = &w->control,
		[OPT_LOG] = &w->log,
	};
	bool *const on[OPT_TUNABLE] = { [OPT_DETACH] = &w->detach, [OPT_UBLK] = &w->ublk, [OPT_FORCE] = &w->force };

	if (option >= OPT_TUNABLE && option < OPT_TUNABLE + (int)XP_TUNABLES)
		return set_tunable(w, &xp_tunable_rows[option - OPT_TUNABLE], value);
	switch (option) {
	case OPT_FAST ... OPT_LOG:
		*text[option] = value;
		return XC_OK;
	case OPT_DETACH ... OPT_FORCE:
		*on[option] = true;
		return XC_OK;
	case OPT_THREADS:
		return set_threads(w, value);
	case OPT_HELP:
		help();
		exit(process_end(XC_OK));
	default:
		return complain(XC_USAGE, NULL, "xpcached serve --help lists them", "no such option, or no value");
	}
}

static enum xc check_nothing_missing(const struct words *w)
{
	const char *missing = !w->fast ? "--fast" : !w->slow ? "--slow" :
			      !w->socket && !w->control && !w->ublk ? "--socket" : NULL;

	return missing ? complain(XC_USAGE, missing, "xpcached serve --help", "it is missing") : XC_OK;
}

static enum xc check_words(const struct words *w)
{
	struct xp_message msg;
	enum xc ret = check_nothing_missing(w);

	if (ret)
		return ret;
	if (path_check(w->fast) || path_check(w->slow) || path_check(w->socket) || path_check(w->control))
		return XC_USAGE;
	if (xp_tunables_check(&w->tunables, &msg))
		return complain(XC_USAGE, NULL, NULL, "%s", msg.text);
	return XC_OK;
}

static enum xc parse(struct words *w, int argc, char **argv)
{
	struct option options[NR_FIXED + XP_TUNABLES + 1];
	char name[XP_TUNABLES][TUNABLE_OPTION];
	enum xc ret = XC_OK;
	int option;

	memset(w, 0, sizeof(*w));
	w->threads = THREADS_DEFAULT;
	xp_tunables_init(&w->tunables);
	make_options(options, name);
	opterr = 0;
	while (!ret && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		ret = set_word(w, option, optarg);
	if (ret)
		return ret;
	if (optind < argc)
		return complain(XC_USAGE, argv[optind], "xpcached serve --help", "what is this for?");
	return check_words(w);
}

/* ---------------------------------------------------------------- folder ---- */

static enum xc resolve(const char **path, const char *folder)
{
	char *whole;

	whole = malloc(REMOTE_MAX);
	if (!whole)
		return complain_errno(ENOMEM, *path, "cannot note its whole name");
	if (is_remote(*path))
		remote_resolve(*path, folder, whole);
	else
		snprintf(whole, REMOTE_MAX, "%s/%s", folder, *path);
	*path = whole;	/* for the rest of this process */
	return XC_OK;
}

/* Nobody could unmount the file system it was started in, for as long as the cache runs. What it may open, listen at or
 * connect to later has been named from there. */
static enum xc leave_folder(struct words *w)
{
	const char **paths[] = { &w->fast, &w->slow, &w->socket, &w->control, &w->log };
	char folder[PATH_MAX];
	enum xc ret = XC_OK;

	for (size_t i = 0; !ret && i < sizeof(paths) / sizeof(*paths); i++)
		if (*paths[i] && **paths[i] != '/') {
			ret = folder_get(folder);
			if (!ret)
				ret = resolve(paths[i], folder);
		}
	return !ret && chdir("/") ? complain_errno(errno, "/", "cannot go there") : ret;
}

/* ----------------------------------------------------------------- start ---- */

/* Both, or none. */
static enum xc open_devices(struct xd_setup *setup, const struct words *w)
{
	enum xc ret = xd_device_open(&setup->fast, w->fast, "fast");

	if (!ret)
		ret = xd_device_open(&setup->slow, w->slow, "slow");
	if (!ret && setup->fast->dev.is_block && setup->slow->dev.is_block &&
	    device_overlap(&setup->fast->dev, &setup->slow->dev))
		ret = complain(XC_REFUSED, w->slow, "give two different disks", "on the same disk as %s", w->fast);
	if (ret) {
		xd_device_close(setup->fast);
		xd_device_close(setup->slow);
	}
	return ret;
}

/* @text: what the cache itself says of @err; "": nothing. */
static enum xc cannot_start(const struct words *w, int err, const char *text)
{
	if (!*text)
		return complain_errno(err, w->fast, "the cache cannot be started");
	switch (err) {
	case -EBADMSG:
		return complain(XC_DAMAGED, w->fast, loss_advice(w->fast, w->slow), "%s", text);
	case -EUCLEAN:
		return complain(XC_DAMAGED, w->fast, text_todo("nothing was changed; xpcache check %s tells more", text_word(w->fast)),
				"%s", text);
	case -ENOTSUP:
		return complain(XC_DAMAGED, w->fast, NULL, "%s", text);
	case -ENOENT:
		return complain(XC_NOT_FOUND, w->fast, NULL, "%s", text);
	case -ENODEV:
		return complain(XC_NOT_FOUND, w->fast, "give the right --slow, or --force if it is an exact copy", "%s", text);
	default:
		return complain(XC_FAILED, w->fast, NULL, "%s", text);
	}
}

static enum xc start_cache_of(struct serving *s, const struct words *w)
{
	struct xd_setup setup = { .tunables = &w->tunables, .loops = w->threads, .force = w->force };
	struct xp_message msg = { "" };
	enum xc ret = open_devices(&setup, w);
	int err;

	if (ret)
		return ret;
	err = privileges_keep(CAP_IPC_LOCK, w->ublk ? CAP_SYS_ADMIN : -1) ? -EPERM :
	      xd_cache_start(&s->cache, &setup, &msg);
	if (err)
		return cannot_start(w, err, msg.text);
	snprintf(s->name, sizeof(s->name), "%.31s", (const char *)s->cache.sb.name);
	return XC_OK;
}

/* The loops have given it up by then. */
static enum xc start_ublk(struct serving *s, const struct words *w)
{
	enum xc ret;

	if (!w->ublk)
		return XC_OK;
	ret = xd_ublk_start(&s->ublk, &s->cache);
	return ret ? ret : privileges_give_up(CAP_SYS_ADMIN);
}

static enum xc open_sockets(struct serving *s, const struct words *w)
{
	enum xc ret = XC_OK;

	s->server.fd = -1;
	if (w->socket)
		ret = xd_server_open(&s->server, &s->cache, s->name, w->socket);
	s->control = (struct xd_control){ .cache = &s->cache, .server = &s->server, .ublk = &s->ublk,
					  .fd = -1, .stop_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	if (!ret && w->control)
		ret = xd_control_open(&s->control, w->control);
	if (!ret && w->control && xd_control_start(&s->control))
		ret = complain(XC_FAILED, w->control, NULL, "no thread to be had");
	if (!ret && w->socket)
		xd_server_start(&s->server);
	return ret;
}

static void tell_ready(struct serving *s, enum xc ret)
{
	u8 code = (u8)ret;

	if (s->ready >= 0) {
		if (write(s->ready, &code, 1) != 1)
			xd_log("who started us is gone");
		close(s->ready);
		s->ready = -1;
	}
	if (!ret)
		notify("READY=1\nSTATUS=%s %s %s", s->name, s->ublk.node,
		       *s->server.path ? s->server.path : *s->ublk.node ? "" : "is not exported");
}

/* ------------------------------------------------------------------- run ---- */

static void wait_for_signal(const sigset_t *set)
{
	int sig;

	while (sigwait(set, &sig) || (sig != SIGTERM && sig != SIGINT))
		;
}

/*
 * A stop waits for what the devices were asked; one that hangs is waited for as long as it hangs,
 * since what was not flushed would be lost. Who does not want that says so: by a second signal. It
 * ends then as if killed, and the next start recovers.
 */
static void end_at_once(struct serving *s)
{
	xd_log_event("%s: ended at once, by a second signal: what was acknowledged and not flushed may be lost; all else is on the fast device, and the next start finds it",
		     s->name);
	xd_control_stopped(&s->control, -EINTR);
	_exit(XC_FAILED);
}

static void say_waiting(struct serving *s)
{
	char what[PATH_MAX + 160];

	if (!xd_cache_waits(&s->cache, what, sizeof(what)))
		snprintf(what, sizeof(what), "clients");
	xd_log_event("%s: stops, and waits for %s; a second signal ends it at once", s->name, what);
	notify("STATUS=%s stops, and waits for %s", s->name, what);
	xd_control_waits(&s->control, what);
}

static void drop_same_signal(const sigset_t *set)
{
	const struct timespec none = { .tv_sec = 0 };

	sleep(SAME_SIGNAL_S);
	while (sigtimedwait(set, NULL, &none) > 0)
		;
}

static void *stop_main(void *arg)
{
	const struct timespec pause = { .tv_sec = PATIENCE_NS / 1000000000u };
	struct serving *s = arg;
	int sig;

	drop_same_signal(&s->signals);
	do {
		sig = sigtimedwait(&s->signals, NULL, &pause);
		if (sig < 0 && errno == EAGAIN)
			say_waiting(s);
	} while (sig != SIGTERM && sig != SIGINT);
	end_at_once(s);
	return NULL;
}

/* For the rest of this process. */
static void watch_stop(struct serving *s)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stop_main, s))
		xd_log("%s: no thread to be had: a second signal does nothing", s->name);
	else
		pthread_detach(thread);
}

/* Nobody is left who could be told. xpcache stop has asked before, and may have been told to go on. */
static int last_commit(struct serving *s)
{
	int err = xd_cache_commit(&s->cache);

	if (err)
		xd_log_event("%s: stops, and what was acknowledged and not flushed may be lost: %s", s->name,
			     strerror(-err));
	return err;
}

/* What detaches keeps its complaints in the log from here on. */
static void leave_terminal(const char *log)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fd = null;
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
}

/* wait_for_signal() takes them, and no thread is interrupted. */
static void block_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
}

/* Non-zero: something that was acknowledged may not be durable. */
static int stop_serving(struct serving *s, bool ublk)
{
	int lost, err;

	notify("STOPPING=1");
	watch_stop(s);
	xd_device_hurry(s->cache.slow);
	if (ublk)
		xd_ublk_stop(&s->ublk);
	xd_server_stop(&s->server);
	xd_control_stop(&s->control);
	lost = last_commit(s);
	err = xd_cache_stop(&s->cache);
	xd_control_stopped(&s->control, err);
	return lost ? lost : err;
}

static enum xc run(const struct words *w, int ready)
{
	static struct serving s;
	enum xc ret;
	int lost;

	s.ready = ready;
	block_signals(&s.signals);
	s.server.fd = s.control.fd = s.control.stop_fd = -1;
	ret = w->ublk ? xd_ublk_open(&s.ublk) : XC_OK;
	if (!ret)
		ret = start_cache_of(&s, w);
	if (ret) {
		tell_ready(&s, ret);
		return ret;
	}
	ret = start_ublk(&s, w);
	if (!ret)
		ret = open_sockets(&s, w);
	if (!ret && w->detach)	/* before its starter looks for the log */
		leave_terminal(w->log);
	tell_ready(&s, ret);
	if (!ret)
		wait_for_signal(&s.signals);
	lost = stop_serving(&s, w->ublk);
	return !ret && lost ? XC_FAILED : ret;
}

static enum xc detached(const struct words *w)
{
	int pipes[2], status;
	u8 code;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return complain_errno(errno, NULL, "no pipe");
	pid = fork();
	if (pid < 0)
		return complain_errno(errno, NULL, "cannot fork");
	if (!pid) {
		setsid();	/* Ctrl-C is for who waits */
		close(pipes[0]);
		exit(run(w, pipes[1]));
	}
	close(pipes[1]);
	if (read(pipes[0], &code, 1) == 1)
		return code;
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return complain(XC_FAILED, NULL, NULL, "it ended before clients could connect");
}

enum xc serve_run(int argc, char **argv)
{
	struct words w;
	enum xc ret = parse(&w, argc, argv);

	if (!ret)
		ret = leave_folder(&w);
	if (ret)
		return ret;
	return w.detach ? detached(&w) : run(&w, -1);
}
