/* SPDX-License-Identifier: GPL-2.0-only */
/* complain.h - complaints, and the commands that they advise. */
#ifndef XP_LIB_COMPLAIN_H
#define XP_LIB_COMPLAIN_H

#include "lib/exit.h"

#include <limits.h>

/* "xpcache: what: where: todo" on stderr; @where and @todo may be NULL. Returns @code. */
enum xc complain(enum xc code, const char *where, const char *todo,
		 const char *what, ...) __attribute__((format(printf, 4, 5)));

/* The same for an errno. */
enum xc complain_errno(int err, const char *where, const char *what);
/* @word as a shell takes it for one: itself, or in quotes in @text. For commands that are advised. */
const char *shell_word(const char *word, char text[2 * PATH_MAX]);
/* The same, until the eighth next call. */
const char *text_word(const char *word);
/* What complain() is to advise, until the next call; not a thread's but the program's own. */
const char *text_todo(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
