// SPDX-License-Identifier: GPL-2.0-only
/* xpcached watch: the verb, its options, its loop, and what it says to the service manager. */
#include "daemon/watch/watch.h"
#include "daemon/verbs.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "platform.h"

#include <errno.h>
#include <getopt.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define SECOND	1000000ull	/* us */

struct run {
	struct watch watch;
	struct http_options http_options;
	struct http *http;
	sd_event *event;
	sd_event_source *more;	/* libmicrohttpd has more to do */
	bool complained;	/* of the device mapper */
	char said[64];		/* to the service manager */
};

/* --------------------------------------------------------------- options ---- */

enum { LISTEN = 256, NAME, INTERVAL, DIRTY, JOURNAL, WEAR, YEARS, HELP };

static const struct option longs[] = {
	{ "listen", required_argument, NULL, LISTEN },
	{ "name", required_argument, NULL, NAME },
	{ "interval", required_argument, NULL, INTERVAL },
	{ "dirty-limit", required_argument, NULL, DIRTY },
	{ "journal-limit", required_argument, NULL, JOURNAL },
	{ "wear-limit", required_argument, NULL, WEAR },
	{ "years-limit", required_argument, NULL, YEARS },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 }
};

static enum xc help(void)
{
	printf("xpcached watch [OPTION...]\n"
	       "  watch all running caches: serve a page and metrics, report events\n"
	       "  --listen ADDRESS:PORT    the address to serve at (default 127.0.0.1:" WATCH_PORT ")\n"
	       "  --name NAME              accept requests to this host name, and to localhost\n"
	       "  --interval SECONDS       the time between two looks at a cache (default 1)\n"
	       "  --dirty-limit PERCENT    report when more of the cache is dirty (default 90)\n"
	       "  --journal-limit PERCENT  report when more of the journal is used (default 85)\n"
	       "  --wear-limit PERCENT     report when more of the life of the fast device is\n"
	       "                           used (default 90)\n"
	       "  --years-limit YEARS      report when the fast device lasts less than this at\n"
	       "                           the rate of writes of the last day (default 1;\n"
	       "                           0: never)\n");
	return XC_OK;
}

static enum xc set_number(double *to, const char *option, const char *text, double least,
			  double most)
{
	char *end;

	*to = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *to >= least && *to <= most)
		return XC_OK;
	return complain(XC_USAGE, option, "xpcached watch --help shows all",
			"a number from %g to %g, not \"%s\"", least, most, text);
}

static enum xc add_name(struct http_options *o, const char *text)
{
	if (!*text || strchr(text, ':') || strlen(text) > 253)
		return complain(XC_USAGE, "--name", "give one without a port", "not a host name: \"%s\"",
				text);
	if (o->names == WATCH_NAMES)
		return complain(XC_USAGE, "--name", "give fewer", "more than %d names", WATCH_NAMES);
	o->name[o->names++] = text;
	return XC_OK;
}

static enum xc set_option(struct run *r, int c)
{
	switch (c) {
	case LISTEN:
		r->http_options.listen = optarg;
		return XC_OK;
	case NAME:
		return add_name(&r->http_options, optarg);
	case INTERVAL:
		return set_number(&r->watch.interval, "--interval", optarg, 0.2, 60);
	case DIRTY:
		return set_number(&r->watch.limits.dirty, "--dirty-limit", optarg, LIMIT_BACK, 100);
	case JOURNAL:
		return set_number(&r->watch.limits.journal, "--journal-limit", optarg, LIMIT_BACK, 100);
	case WEAR:
		return set_number(&r->watch.limits.wear, "--wear-limit", optarg, LIMIT_BACK, 255);
	default:
		return set_number(&r->watch.limits.years, "--years-limit", optarg, 0, 100);
	}
}

static const char todo[] = "xpcached watch --help shows all";

/* What getopt_long() has made of @word. */
static enum xc take_option(struct run *r, int c, const char *word, bool *asked_for_help)
{
	if (c == ':')
		return complain(XC_USAGE, word, todo, "a value is missing");
	if (c == '?')
		return complain(XC_USAGE, word, todo, "wrong option");
	*asked_for_help = c == HELP || c == 'h';
	return *asked_for_help ? XC_OK : set_option(r, c);
}

static enum xc parse(struct run *r, int argc, char **argv, bool *asked_for_help)
{
	enum xc ret = XC_OK;
	int c;

	opterr = 0;
	optind = 0;
	while (!ret && !*asked_for_help && (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		ret = take_option(r, c, argv[optind - 1], asked_for_help);
	if (!ret && !*asked_for_help && optind < argc)
		ret = complain(XC_USAGE, argv[optind], todo, "one word too many");
	return ret;
}

/* ------------------------------------------------------------- the loop ---- */

/* systemctl status shows it. */
static void say_status(struct run *r)
{
	size_t ill = 0;
	char text[sizeof(r->said)];

	for (size_t i = 0; i < r->watch.n; i++)
		for (u32 k = 0; k < EVENT_KINDS; k++)
			if (r->watch.cache[i]->alarms.on[k]) {
				ill++;
				break;
			}
	snprintf(text, sizeof(text), "STATUS=%zu cache%s, %zu with something to tell", r->watch.n,
		 r->watch.n == 1 ? "" : "s", ill);
	if (!strcmp(text, r->said))
		return;
	memcpy(r->said, text, sizeof(text));
	sd_notify(0, text);
}

/* Once, and again when it has answered meanwhile. */
static void look(struct run *r)
{
	int err = watch_look(&r->watch);

	if (err && !r->complained)
		complain_errno(err, NULL, "cannot ask the device mapper");
	r->complained = err;
	say_status(r);
}

/* Late is late: looks that were missed are not made up for. */
static int on_time(sd_event_source *s, uint64_t due, void *ctx)
{
	struct run *r = ctx;
	const uint64_t step = (uint64_t)(r->watch.interval * (double)SECOND);
	uint64_t now = due;
	int err;

	look(r);
	http_sweep(r->http);
	sd_event_source_set_enabled(r->more, SD_EVENT_ONESHOT);	/* its timeouts */
	sd_event_now(r->event, CLOCK_MONOTONIC, &now);
	err = sd_event_source_set_time(s, due + step > now ? due + step : now + step);
	return err < 0 ? err : sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int on_more(sd_event_source *s, void *ctx)
{
	struct run *r = ctx;

	return http_run(r->http) ? sd_event_source_set_enabled(s, SD_EVENT_ONESHOT) : 0;
}

static int on_request(sd_event_source *s, int fd, uint32_t events, void *ctx)
{
	struct run *r = ctx;

	(void)s;
	(void)fd;
	(void)events;
	return http_run(r->http) ? sd_event_source_set_enabled(r->more, SD_EVENT_ONESHOT) : 0;
}

static const int signals[] = { SIGTERM, SIGINT };

/* One that comes before there is a loop ends that as well. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < 2; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Signals end the loop: with no handler sd-event does that itself. */
static int prepare(struct run *r)
{
	uint64_t now;
	int err = sd_event_new(&r->event);

	for (size_t i = 0; i < 2 && err >= 0; i++)
		err = sd_event_add_signal(r->event, NULL, signals[i], NULL, NULL);
	if (err >= 0)
		err = sd_event_add_defer(r->event, &r->more, on_more, r);
	if (err >= 0)
		err = sd_event_add_io(r->event, NULL, http_fd(r->http), EPOLLIN, on_request, r);
	if (err >= 0)
		err = sd_event_now(r->event, CLOCK_MONOTONIC, &now);
	if (err >= 0)
		err = sd_event_add_time(r->event, NULL, CLOCK_MONOTONIC, now, SECOND / 50, on_time, r);
	return err < 0 ? err : sd_event_set_watchdog(r->event, true);
}

static enum xc loop(struct run *r, const char *where)
{
	int err = prepare(r);

	if (err >= 0) {
		fprintf(stderr, "xpcached: watches, and can be asked at http://%s/\n", where);
		sd_notify(0, "READY=1");
		err = sd_event_loop(r->event);
		sd_notify(0, "STOPPING=1");
	}
	sd_event_source_unref(r->more);
	sd_event_unref(r->event);
	return err < 0 ? complain_errno(err, NULL, "cannot go on watching") : XC_OK;
}

enum xc watch_run(int argc, char **argv)
{
	static struct run r = {
		.watch = { .interval = 1, .limits = { .dirty = 90, .journal = 85, .wear = 90, .years = 1 } },
		.http_options = { .listen = "127.0.0.1:" WATCH_PORT },
	};
	bool asked_for_help = false;
	char where[96];
	enum xc ret = parse(&r, argc, argv, &asked_for_help);

	if (ret || asked_for_help)
		return ret ? ret : help();
	if (geteuid() != 0)
		return complain(XC_FAILED, "watch", "run it with sudo", "only root can do this");
	hold_signals();
	ret = http_open(&r.http, &r.http_options, &r.watch, where, sizeof(where));
	if (ret)
		return ret;
	ret = privileges_keep(CAP_SYS_ADMIN, -1);
	if (!ret)
		ret = loop(&r, where);
	http_close(r.http);
	watch_free(&r.watch);
	return ret;
}
