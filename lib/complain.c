// SPDX-License-Identifier: GPL-2.0-only
/* Complaints, and the commands that they advise. */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/progress.h"
#include "core/words.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS	8

/* What the user has typed is in it: it stays one line, and moves no cursor. */
static void say(const char *before, const char *text)
{
	u32 left = text ? (u32)strlen(text) : 0, n;

	fputs(before, stderr);
	for (; left; left -= max(n, 1u), text += max(n, 1u)) {
		n = xp_words_char(text, left);
		fwrite(n ? text : "?", 1, max(n, 1u), stderr);
	}
}

enum xc complain(enum xc code, const char *where, const char *todo,
		 const char *what, ...)
{
	char text[PATH_MAX + 1024];
	va_list args;

	fflush(stdout);
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	progress_end();
	say("xpcache: ", text);
	say(where ? ": " : "", where);
	say(todo ? ": " : "", todo);
	fputc('\n', stderr);
	return code;
}

enum xc complain_errno(int err, const char *where, const char *what)
{
	const char *todo = NULL;

	err = err < 0 ? -err : err;
	if (err == EACCES || err == EPERM)
		todo = "run as root";
	return complain(XC_FAILED, where, todo, "%s: %s", what, strerror(err));
}

/* platform.h wants it of every program that contains the core. */
void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "xpcache: this is a bug: %s:%d: %s\n", file, line, what);
	abort();
}

const char *shell_word(const char *word, char text[2 * PATH_MAX])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+,@%=-";
	char *to = text, *last = text + 2 * PATH_MAX - 8;

	if (word[strspn(word, plain)] == '\0')
		return word;
	*to++ = '\'';
	for (; *word && to < last; word++) {
		if (*word == '\'') {	/* ends there, for a moment */
			*to++ = '\'';
			*to++ = '\\';
			*to++ = '\'';
		}
		*to++ = *word;
	}
	*to++ = '\'';
	*to = '\0';
	return text;
}

const char *text_word(const char *word)
{
	static char text[TEXTS][2 * PATH_MAX];
	static unsigned int next;

	return shell_word(word, text[next++ % TEXTS]);
}

const char *text_todo(const char *format, ...)
{
	static char text[8 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}
