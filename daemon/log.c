// SPDX-License-Identifier: GPL-2.0-only
/* log.c - to stderr, which is the journal under systemd. */
#include "daemon/log.h"
#include "daemon/loop.h"
#include "core/words.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#define BURST		10u		/* lines */
#define WINDOW_NS	5000000000u	/* in which no more are said */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A device that is gone fails each request. */
static bool too_many(void)
{
	static u64 since;
	static u32 said;
	u64 now = xd_now();

	if (!since || now - since > WINDOW_NS) {
		if (said > BURST)
			fprintf(stderr, "xpcached: %u more lines were not said\n", said - BURST);
		since = now;
		said = 0;
	}
	return ++said > BURST;
}

/* Paths are in it: it stays one line. */
static void print(const char *format, va_list args)
{
	char text[PATH_MAX + 1024];

	vsnprintf(text, sizeof(text), format, args);
	xp_words_clean(text, sizeof(text));
	fprintf(stderr, "xpcached: %s\n", text);
}

void xd_log(const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	if (!too_many()) {
		va_start(args, format);
		print(format, args);
		va_end(args);
	}
	pthread_mutex_unlock(&lock);
}

void xd_log_event(const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, format);
	print(format, args);
	va_end(args);
	pthread_mutex_unlock(&lock);
}
