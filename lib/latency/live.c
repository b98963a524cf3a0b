// SPDX-License-Identifier: GPL-2.0-only
/* live.c - looks at an interval, drawn over one another on a terminal. */
#include "lib/latency/live.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/process.h"
#include "lib/progress.h"
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/* ------------------------------------------------------------ terminal ---- */

struct screen {
	bool drawn;		/* stdout is a terminal that can do it */
	bool keys;		/* stdin is one, and its keys come one by one */
	struct termios was;
	sigset_t mask;		/* while it waits */
	struct sigaction act[4];
	unsigned int lines;	/* that the last look took, above the cursor */
	char *last;		/* all of it */
};

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* They are let through in ppoll() only, so that none is lost between two looks. */
static void catch_signals(struct screen *s)
{
	const struct sigaction act = { .sa_handler = on_signal };
	sigset_t set;

	ended = 0;
	sigemptyset(&set);
	for (int i = 0; i < 4; i++) {
		sigaddset(&set, signals[i]);
		sigaction(signals[i], &act, &s->act[i]);
	}
	sigprocmask(SIG_BLOCK, &set, &s->mask);
}

static void release_signals(struct screen *s)
{
	for (int i = 0; i < 4; i++)
		sigaction(signals[i], &s->act[i], NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* Ctrl-Z would leave the shell with this terminal. */
static void take_keys(struct screen *s)
{
	struct termios now;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &s->was))
		return;
	now = s->was;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VSUSP] = _POSIX_VDISABLE;
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	s->keys = !tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

static void screen_begin(struct screen *s, bool lines)
{
	const char *term = getenv("TERM");

	memset(s, 0, sizeof(*s));
	catch_signals(s);
	s->drawn = !lines && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
	if (!s->drawn)
		return;
	take_keys(s);
	fputs("\033[?25l\033[?7l", stdout);	/* no cursor, and what is too long is cut */
}

/* As many lines as there is room for: one more would move all of them. */
static void draw(struct screen *s, const char *text, unsigned int room)
{
	if (s->lines)
		printf("\033[%uA", s->lines);
	for (s->lines = 0; *text && s->lines < room; s->lines++) {
		size_t len = strcspn(text, "\n");

		printf("\r%.*s\033[K\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
}

/* The last look stays, and is @whole, unless there is a complaint below it. */
static void screen_end(struct screen *s, bool whole)
{
	if (s->drawn && s->last && whole)
		draw(s, s->last, UINT_MAX);
	if (s->drawn)
		fputs("\033[?7h\033[?25h", stdout);
	fflush(stdout);
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->was);
	release_signals(s);
	free(s->last);
}

static unsigned int screen_rows(void)
{
	struct winsize size;

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row ? size.ws_row : 24u;
}

/* ---------------------------------------------------------------- looks ---- */

static bool pressed_q(void)
{
	char key[16];
	ssize_t n = read(STDIN_FILENO, key, sizeof(key));

	return n > 0 && (memchr(key, 'q', (size_t)n) || memchr(key, 'Q', (size_t)n));
}

/* Until @when; false: it was ended. A terminal that is gone has no keys. */
static bool wait_until(struct screen *s, double when)
{
	struct pollfd key = { .fd = STDIN_FILENO, .events = POLLIN };
	double left;

	while (!ended && (left = when - seconds_now()) > 0) {
		const struct timespec pause = {
			.tv_sec = (time_t)left,
			.tv_nsec = (long)((left - floor(left)) * 1e9),
		};

		if (ppoll(&key, s->keys, &pause, &s->mask) <= 0)
			continue;
		if (key.revents & (POLLHUP | POLLERR))
			s->keys = false;
		else if (pressed_q())
			return false;
	}
	return !ended;
}

static enum xc show_one(const struct live *l, struct screen *s, bool first)
{
	size_t len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	enum xc ret;

	if (!f)
		return complain_errno(errno, NULL, "cannot show anything");
	ret = l->look(l->ctx, f);
	fclose(f);
	if (ret) {
		free(text);
		return ret;
	}
	if (s->drawn)
		draw(s, text, screen_rows() - 1);
	else
		printf("%s%s", first || l->lines ? "" : "\n", text);
	free(s->last);
	s->last = text;
	return output_fails() ? output_complain() : XC_OK;
}

enum xc live_run(const struct live *l)
{
	double when = seconds_now();
	enum xc ret = l->look(l->ctx, NULL);
	struct screen s;

	if (ret)
		return ret;
	screen_begin(&s, l->lines);
	if (s.drawn)
		draw(&s, "looking ...\n", 1);
	fflush(stdout);
	for (u64 i = 0; !ret && (!l->count || i < l->count); i++) {
		when = fmax(when + l->interval, seconds_now());
		if (!wait_until(&s, when))
			break;
		ret = show_one(l, &s, !i);
	}
	screen_end(&s, !ret);
	return ret;
}
