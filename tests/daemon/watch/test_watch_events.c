// SPDX-License-Identifier: GPL-2.0-only
/* test_watch_events.c - what the watcher tells, how often, and how it is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <syslog.h>

#include "daemon/watch/watch.h"
#include "lib/latency/pulse.h"
#include "platform.h"

static struct alarms a;
static struct pulse p;
static struct wear wear;
static const struct limits limits = { .dirty = 90, .journal = 85, .wear = 90, .years = 1 };
static struct event told[8];
static unsigned int n;

static void keep(void *ctx, const struct event *e)
{
	(void)ctx;
	assert_true(n < 8);
	told[n++] = *e;
}

/* A second later. */
static void look(void)
{
	n = 0;
	p.seconds++;
	alarms_judge(&a, &p, &wear, &limits, keep, NULL);
}

static int begin(void **state)
{
	(void)state;
	alarms_init(&a);
	memset(&p, 0, sizeof(p));
	memset(&wear, 0, sizeof(wear));
	strcpy(p.name, "xpcache0");
	strcpy(p.uuid, "0123456789abcdef0123456789abcdef");
	strcpy(p.state, "running");
	p.slots = p.journal_blocks = 1000;
	look();
	assert_int_equal(n, 0);
	return 0;
}

static void assert_told(enum event_kind kind, bool raised, const char *text)
{
	assert_int_equal(n, 1);
	assert_int_equal(told[0].kind, kind);
	assert_int_equal(told[0].raised, raised);
	assert_string_equal(told[0].text, text);
	assert_int_equal(a.on[kind], raised);
	look();
	assert_int_equal(n, 0);	/* once */
}

static void a_level_is_told_once_and_has_to_fall_well_below(void **state)
{
	(void)state;
	p.dirty = 900;
	look();
	assert_int_equal(n, 0);
	p.dirty = 901;
	look();
	assert_told(EVENT_DIRTY, true, "xpcache0: 90.1 % dirty, the limit is 90 %");
	for (int i = 0; i < 100; i++) {	/* about the limit */
		p.dirty = i & 1 ? 880 : 920;
		look();
		assert_int_equal(n, 0);
	}
	p.dirty = 850;
	look();
	assert_told(EVENT_DIRTY, false, "xpcache0: 85.0 % dirty again");
	p.dirty = 899;
	look();
	assert_int_equal(n, 0);
	p.dirty = 1000;
	look();
	assert_told(EVENT_DIRTY, true, "xpcache0: 100.0 % dirty, the limit is 90 %");
	p.journal_used = 851;
	look();
	assert_told(EVENT_JOURNAL, true, "xpcache0: 85.1 % of the journal is used, the limit is 85 %");
}

static void errors_are_told_when_they_begin_and_when_they_are_over(void **state)
{
	(void)state;
	p.slow_errors = 2;
	look();
	assert_int_equal(told[0].priority, LOG_ERR);
	assert_told(EVENT_SLOW_ERRORS, true, "xpcache0: 2 errors of the slow device, 2 since it was started");
	for (int i = 0; i < 300; i++) {
		p.slow_errors += !(i % 10);
		look();
		assert_int_equal(n, 0);
	}
	for (int i = 0; i < 70 && !n; i++)
		look();
	assert_told(EVENT_SLOW_ERRORS, false,
		    "xpcache0: no more errors of the slow device for 60 s; 32 since it was started");
	p.slow_errors = 1;	/* it was started anew, and has one again */
	p.fast_errors = 0;
	look();
	assert_told(EVENT_SLOW_ERRORS, true, "xpcache0: 1 error of the slow device, 1 since it was started");
	p.fast_errors = 5;
	look();
	assert_told(EVENT_FAST_ERRORS, true, "xpcache0: 5 errors of the fast device, 5 since it was started");
}

static void states_are_told_but_those_that_pass(void **state)
{
	(void)state;
	strcpy(p.state, "suspended");
	look();
	assert_int_equal(n, 0);
	strcpy(p.state, "running");
	look();
	assert_int_equal(n, 0);
	strcpy(p.state, "asleep");
	look();
	assert_told(EVENT_STATE, true, "xpcache0: asleep; xpcache status and the kernel's log tell more");
	strcpy(p.state, "failed");
	look();
	assert_int_equal(told[0].priority, LOG_CRIT);
	assert_told(EVENT_STATE, true, "xpcache0: failed; xpcache status and the kernel's log tell more");
	strcpy(p.state, "running");
	look();
	assert_told(EVENT_STATE, false, "xpcache0: running again");
}

static void a_cache_that_loads_has_no_figures(void **state)
{
	(void)state;
	p.slow_errors = 3;
	look();
	strcpy(p.state, "loading");
	p.slots = p.slow_errors = 0;
	look();
	assert_int_equal(n, 0);
	assert_int_equal(a.errors[1].n, 3);
}

static void the_fast_devices_own_words_are_told(void **state)
{
	(void)state;
	wear = (struct wear){ .known = true, .used = 91, .warning = 0x04 };
	look();
	assert_int_equal(n, 2);
	assert_string_equal(told[0].text,
			    "xpcache0: 91.0 % of the fast device's life is used, the limit is 90 %");
	assert_string_equal(told[1].text, "xpcache0: the fast device warns: it is no longer reliable (SMART, 0x04)");
	look();
	assert_int_equal(n, 0);
	wear.warning = 0;
	look();
	assert_told(EVENT_WARNING, false, "xpcache0: the fast device warns no more");
}

/* 50 TB in its life are half of it; 200 GB a day leave it 250 days. */
static void endurance_is_told_by_the_rate_of_the_last_day(void **state)
{
	(void)state;
	wear = (struct wear){ .known = true, .used = 50, .written = 50e12 };
	look();
	p.seconds += 3500;
	p.fast_bytes_written = 8101851851;
	look();
	assert_int_equal(n, 0);
	assert_true(isnan(a.years));	/* an hour at least */
	p.seconds += 100;
	p.fast_bytes_written = 200000000000ull / 24 + 4629629;
	look();
	assert_int_equal(told[0].priority, LOG_WARNING);
	assert_told(EVENT_ENDURANCE, true, "xpcache0: at this rate, 200.0 GB a day, the fast device lasts 0.7 years");
	p.seconds += 86400;
	look();
	assert_told(EVENT_ENDURANCE, false, "xpcache0: at this rate the fast device lasts 17.1 years again");
	p.seconds += 86400;	/* a day ago nothing was written any more */
	look();
	look();
	assert_true(isnan(a.years));
}

static void presence_is_told(void **state)
{
	(void)state;
	n = 0;
	alarms_presence(&p, true, keep, NULL);
	alarms_presence(&p, false, keep, NULL);
	assert_int_equal(n, 2);
	assert_string_equal(told[0].text, "xpcache0: runs now");
	assert_string_equal(told[1].text, "xpcache0: runs no more");
}

static void fields_are_those_of_the_event(void **state)
{
	static const char *const wanted[] = {
		"MESSAGE=xpcache0: 90.1 % dirty, the limit is 90 %",
		"MESSAGE_ID=a8e128011b9d4cf5a2a43a9df39f66cb", "PRIORITY=4", "SYSLOG_IDENTIFIER=xpcached",
		"XPCACHE_CACHE=xpcache0", "XPCACHE_UUID=0123456789abcdef0123456789abcdef",
		"XPCACHE_EVENT=dirty", "XPCACHE_RAISED=1",
	};
	struct journal_text text;

	(void)state;
	p.dirty = 901;
	look();
	assert_int_equal(journal_fields(&told[0], &text), 8);
	for (int i = 0; i < 8; i++)
		assert_string_equal(text.field[i], wanted[i]);
	for (u32 i = 0; i < EVENT_KINDS; i++)	/* each has its own, of 32 digits */
		for (u32 k = 0; k <= i; k++)
			assert_true(strspn(event_name[i].id, "0123456789abcdef") == 32 &&
				    (i == k || strcmp(event_name[i].id, event_name[k].id) != 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_level_is_told_once_and_has_to_fall_well_below, begin),
		cmocka_unit_test_setup(errors_are_told_when_they_begin_and_when_they_are_over, begin),
		cmocka_unit_test_setup(states_are_told_but_those_that_pass, begin),
		cmocka_unit_test_setup(a_cache_that_loads_has_no_figures, begin),
		cmocka_unit_test_setup(the_fast_devices_own_words_are_told, begin),
		cmocka_unit_test_setup(endurance_is_told_by_the_rate_of_the_last_day, begin),
		cmocka_unit_test_setup(presence_is_told, begin),
		cmocka_unit_test_setup(fields_are_those_of_the_event, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
