// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_events.c - what is worth telling of a cache: once when it begins, and once when it is
 * over. A level that lies about its limit is not told again and again: it is over LIMIT_BACK
 * below it only.
 */
#include "daemon/watch/watch.h"
#include "lib/figures.h"
#include "lib/latency/pulse.h"
#include "platform.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

const struct event_name event_name[EVENT_KINDS] = {
	[EVENT_STATE]		= { "state", "c35664e1ada643a7b3eab18f974a1384" },
	[EVENT_FAST_ERRORS]	= { "fast-errors", "7786c84a5de74fda8c7c8f0b12e4a035" },
	[EVENT_SLOW_ERRORS]	= { "slow-errors", "1ff381df8f1c4bd59cbc0adfca2f37e1" },
	[EVENT_DIRTY]		= { "dirty", "a8e128011b9d4cf5a2a43a9df39f66cb" },
	[EVENT_JOURNAL]		= { "journal", "22a4793ea65b450bb4d82aad0c49c48b" },
	[EVENT_WEAR]		= { "wear", "77a95ae3f767450b9b4b8fd29bcf3676" },
	[EVENT_WARNING]		= { "warning", "678c9685380b4dcc927384815f69835c" },
	[EVENT_ENDURANCE]	= { "endurance", "1c26adb13b474e2eacc8cf39b6d10f3c" },
	[EVENT_PRESENCE]	= { "presence", "ef574664db9c4df7a52d6fc444691ae5" },
};

/* Of one cache, at one look. */
struct judge {
	struct alarms *a;
	const struct pulse *p;
	event_fn *tell;
	void *ctx;
};

void alarms_init(struct alarms *a)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->state, sizeof(a->state), "running");	/* what needs no words */
	a->years = NAN;
}

/* "NAME: ..." */
__attribute__((format(printf, 5, 6)))
static void say(const struct judge *j, enum event_kind kind, bool raised, int priority,
		const char *format, ...)
{
	struct event e = {
		.kind = kind, .raised = raised, .priority = raised ? priority : LOG_NOTICE,
		.cache = j->p->name, .uuid = j->p->uuid,
	};
	va_list args;
	int len = snprintf(e.text, sizeof(e.text), "%s: ", j->p->name);

	va_start(args, format);
	vsnprintf(e.text + len, sizeof(e.text) - (size_t)len, format, args);
	va_end(args);
	if (j->a)
		j->a->on[kind] = raised;
	j->tell(j->ctx, &e);
}

/* ------------------------------------------------------------------ state ---- */

/* Suspended and loading are on the way to another. */
static void judge_state(const struct judge *j)
{
	const char *now = j->p->state;
	bool passing = !strcmp(now, "suspended") || !strcmp(now, "loading");

	if (passing || !strcmp(now, j->a->state))
		return;
	snprintf(j->a->state, sizeof(j->a->state), "%s", now);
	if (!strcmp(now, "running"))
		say(j, EVENT_STATE, false, 0, "running again");
	else
		say(j, EVENT_STATE, true, !strcmp(now, "failed") ? LOG_CRIT : LOG_ERR,
		    "%s; xpcache status and the kernel's log tell more", now);
}

/* ----------------------------------------------------------------- errors ---- */

static void judge_errors(const struct judge *j, enum event_kind kind, u64 n)
{
	const bool slow = kind == EVENT_SLOW_ERRORS;
	const char *device = slow ? "slow" : "fast";
	u64 *known = &j->a->errors[slow].n;
	double *last = &j->a->errors[slow].last;

	if (n < *known)	/* the cache was started anew */
		*known = 0;
	if (n > *known) {
		if (!j->a->on[kind])
			say(j, kind, true, LOG_ERR, "%s error%s of the %s device, %s since it was started",
			    text_count(n - *known), n - *known == 1 ? "" : "s", device, text_count(n));
		*known = n;
		*last = j->p->seconds;
	} else if (j->a->on[kind] && j->p->seconds - *last >= ERRORS_QUIET) {
		say(j, kind, false, 0, "no more errors of the %s device for %.0f s; %s since it was started",
		    device, ERRORS_QUIET, text_count(n));
	}
}

/* ----------------------------------------------------------------- levels ---- */

/* True: it has come over the limit, or back; @on says which. */
static bool crossed(bool on, double value, double limit, double back, bool *raised)
{
	*raised = value > limit || (on && value > back);
	return *raised != on;
}

static void judge_level(const struct judge *j, enum event_kind kind, u64 part, u64 whole,
			double limit, const char *what)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;
	bool raised;

	if (!crossed(j->a->on[kind], percent, limit, limit - LIMIT_BACK, &raised))
		return;
	if (raised)
		say(j, kind, true, LOG_WARNING, "%.1f %% %s, the limit is %g %%", percent, what, limit);
	else
		say(j, kind, false, 0, "%.1f %% %s again", percent, what);
}

/* ------------------------------------------------------------ fast device ---- */

static void judge_warning(const struct judge *j, const struct wear *w)
{
	static const char *const bit[8] = {
		"few spare blocks are left", "its temperature", "it is no longer reliable",
		"it is read-only", "its volatile memory's backup failed", "its persistent memory",
	};
	const char *why = "for a reason not known here";

	if (!!w->warning == j->a->on[EVENT_WARNING])
		return;
	for (int i = 7; i >= 0; i--)
		if (w->warning & 1 << i && bit[i])
			why = bit[i];
	if (w->warning)
		say(j, EVENT_WARNING, true, LOG_CRIT, "the fast device warns: %s (SMART, 0x%02x)", why,
		    w->warning);
	else
		say(j, EVENT_WARNING, false, 0, "the fast device warns no more");
}

static void judge_endurance(const struct judge *j, const struct wear *w, double limit)
{
	double rate = wear_rate(&j->a->rate, j->p->seconds, j->p->fast_bytes_written);
	double left = wear_left(w);
	bool raised;

	j->a->years = isnan(rate) || isnan(left) || rate <= 0 ? NAN : left / rate / (365.25 * 86400);
	if (isnan(rate) || isnan(left))
		return;
	/* Fewer years are worse, so the signs are turned. */
	if (!crossed(j->a->on[EVENT_ENDURANCE], -(rate > 0 ? j->a->years : INFINITY), -limit,
		     -1.2 * limit, &raised))
		return;
	if (raised)
		say(j, EVENT_ENDURANCE, true, LOG_WARNING,
		    "at this rate, %.1f GB a day, the fast device lasts %.1f years", rate * 86400 / 1e9,
		    j->a->years);
	else if (isnan(j->a->years))
		say(j, EVENT_ENDURANCE, false, 0, "nothing is written to the fast device any more");
	else
		say(j, EVENT_ENDURANCE, false, 0, "at this rate the fast device lasts %.1f years again",
		    j->a->years);
}

static void judge_wear(const struct judge *j, const struct wear *w, const struct limits *limits)
{
	if (!w->known)
		return;
	judge_level(j, EVENT_WEAR, w->used, 100, limits->wear, "of the fast device's life is used");
	judge_warning(j, w);
	judge_endurance(j, w, limits->years);
}

/* -------------------------------------------------------------------- all ---- */

void alarms_judge(struct alarms *a, const struct pulse *p, const struct wear *w,
		  const struct limits *limits, event_fn *tell, void *ctx)
{
	const struct judge j = { a, p, tell, ctx };

	judge_state(&j);
	if (!p->slots)	/* it is loading still, and tells no figures */
		return;
	judge_errors(&j, EVENT_FAST_ERRORS, p->fast_errors);
	judge_errors(&j, EVENT_SLOW_ERRORS, p->slow_errors);
	judge_level(&j, EVENT_DIRTY, p->dirty, p->slots, limits->dirty, "dirty");
	judge_level(&j, EVENT_JOURNAL, p->journal_used, p->journal_blocks, limits->journal,
		    "of the journal is used");
	judge_wear(&j, w, limits);
}

void alarms_presence(const struct pulse *p, bool here, event_fn *tell, void *ctx)
{
	const struct judge j = { NULL, p, tell, ctx };

	say(&j, EVENT_PRESENCE, here, LOG_NOTICE, "%s", here ? "runs now" : "runs no more");
}
