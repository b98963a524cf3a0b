// SPDX-License-Identifier: GPL-2.0-only
/* watch_journal.c - telling what has happened: to systemd's journal with its fields, or to stderr. */
#include "daemon/watch/watch.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

/* systemd says which device and inode it has given us as stderr: not another's, inherited. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && !fstat(STDERR_FILENO, &st) &&
	       st.st_dev == dev && st.st_ino == ino;
}

__attribute__((format(printf, 3, 4)))
static void put(struct journal_text *text, unsigned int *n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text->field[*n], sizeof(text->field[0]), format, args);
	va_end(args);
	++*n;
}

unsigned int journal_fields(const struct event *e, struct journal_text *text)
{
	unsigned int n = 0;

	put(text, &n, "MESSAGE=%s", e->text);
	put(text, &n, "MESSAGE_ID=%s", event_name[e->kind].id);
	put(text, &n, "PRIORITY=%d", e->priority);
	put(text, &n, "SYSLOG_IDENTIFIER=xpcached");
	put(text, &n, "XPCACHE_CACHE=%s", e->cache);
	put(text, &n, "XPCACHE_UUID=%s", e->uuid);
	put(text, &n, "XPCACHE_EVENT=%s", event_name[e->kind].word);
	put(text, &n, "XPCACHE_RAISED=%d", e->raised);
	return n;
}

/* A line of its own, whatever the name holds. */
static void to_stderr(const struct event *e)
{
	fputs("xpcached: ", stderr);
	for (const char *c = e->text; *c; c++)
		fputc(iscntrl((unsigned char)*c) ? '?' : *c, stderr);
	fputc('\n', stderr);
}

void journal_tell(const struct event *e)
{
	struct iovec field[JOURNAL_FIELDS];
	struct journal_text text;
	unsigned int n;

	if (!stderr_is_journal()) {
		to_stderr(e);
		return;
	}
	n = journal_fields(e, &text);
	for (unsigned int i = 0; i < n; i++)
		field[i] = (struct iovec){ text.field[i], strlen(text.field[i]) };
	if (sd_journal_sendv(field, (int)n))
		to_stderr(e);
}
