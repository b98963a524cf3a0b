// SPDX-License-Identifier: GPL-2.0-only
/* What a person reads: complaints, sizes, durations, the progress bar. */
#include "tools/tool.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TEXTS	8

static char *next_text(size_t *len)
{
	static char text[TEXTS][64];
	static unsigned int next;

	*len = sizeof(text[0]);
	return text[next++ % TEXTS];
}

/* Where there is a bar: the initramfs keeps complaints in a file, and its console is stdout. */
static FILE *terminal(void)
{
	return isatty(STDERR_FILENO) ? stderr : isatty(STDOUT_FILENO) ? stdout : NULL;
}

static FILE *bar_shown;	/* a progress bar is on the line where a complaint would go */

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

const char *text_bytes(u64 n)
{
	static const char unit[][4] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int i = 0;
	double v = n;
	size_t len;
	char *s = next_text(&len);

	while (v >= 1024 && i < 6) {
		v /= 1024;
		i++;
	}
	snprintf(s, len, "%.*f %s", i && v < 100 ? 2 - (v >= 10) : 0, v, unit[i]);
	return s;
}

const char *text_count(u64 n)
{
	char digits[24];
	size_t len, have = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *s = next_text(&len), *p = s;

	for (size_t i = 0; i < have; i++) {
		if (i && (have - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return s;
}

const char *text_size(u64 blocks)
{
	static const char units[] = "KMGT";
	u64 n = blocks << (XP_BLOCK_SHIFT - 10);
	u32 unit = 0;
	size_t len;
	char *s = next_text(&len);

	for (; n && !(n % 1024) && unit < 3; unit++)
		n /= 1024;
	snprintf(s, len, "%" PRIu64 "%c", n, units[unit]);
	return s;
}

const char *text_blocks(u64 n)
{
	size_t len;
	char *s = next_text(&len);

	snprintf(s, len, "%s block%s (%s)", text_count(n), n == 1 ? "" : "s",
		 text_bytes(n << XP_BLOCK_SHIFT));
	return s;
}

const char *text_duration(u64 t)
{
	size_t len;
	char *s = next_text(&len);

	if (t >= 3600)
		snprintf(s, len, "%" PRIu64 ":%02u:%02u", t / 3600,
			 (unsigned int)(t / 60 % 60), (unsigned int)(t % 60));
	else
		snprintf(s, len, "%u:%02u", (unsigned int)(t / 60),
			 (unsigned int)(t % 60));
	return s;
}

const char *text_time(u64 t)
{
	time_t seconds = (time_t)t;
	struct tm tm;
	size_t len;
	char *s = next_text(&len);

	if (!localtime_r(&seconds, &tm) || !strftime(s, len, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(s, len, "%" PRIu64, t);
	return s;
}

const char *text_percent(u64 part, u64 whole)
{
	size_t len;
	char *s = next_text(&len);

	if (whole)
		snprintf(s, len, "%.1f %%", 100.0 * part / whole);
	else
		snprintf(s, len, "-");
	return s;
}

const char *text_uuid(const u8 uuid[16])
{
	size_t len;
	char *s = next_text(&len);

	for (int i = 0; i < 16; i++)
		snprintf(s + 2 * i, 3, "%02x", uuid[i]);
	return s;
}

static const char *colour(const char *escape)
{
	static int wanted = -1;

	if (wanted < 0) {
		const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

		wanted = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
			 !(no && *no);
	}
	return wanted ? escape : "";
}

const char *colour_good(void) { return colour("\033[32m"); }
const char *colour_bad(void)  { return colour("\033[31m"); }
const char *colour_dim(void)  { return colour("\033[2m"); }
const char *colour_off(void)  { return colour("\033[0m"); }

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, u64 left)
{
	memset(p, 0, sizeof(*p));
	p->total = p->last_left = left;
	p->start = p->last = seconds_now();
	p->tty = terminal();
}

/* The rate is smoothed over some seconds: a disk's pace jumps. */
static void progress_measure(struct progress *p, u64 left)
{
	double now = seconds_now(), dt = now - p->last;

	if (left > p->total)
		p->total = left;
	if (dt < 0.1)
		return;
	double rate = ((double)p->last_left - (double)left) / dt;
	double weight = p->last == p->start ? 1 : min(dt / 5, 1);

	p->rate += weight * (rate - p->rate);
	p->last = now;
	p->last_left = left;
}

void progress_show(struct progress *p, u64 left)
{
	enum { WIDTH = 30 };
	FILE *out = p->tty ? terminal() : NULL;
	char bar[WIDTH + 1];
	u64 done;

	progress_measure(p, left);
	if (!out)
		return;
	done = p->total ? (p->total - left) * WIDTH / p->total : WIDTH;
	memset(bar, '.', WIDTH);
	memset(bar, '#', done);
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s] %s left", bar,
		text_bytes(left << XP_BLOCK_SHIFT));
	if (p->rate >= 1)
		fprintf(out, ", %s/s, ETA %s",
			text_bytes((u64)p->rate << XP_BLOCK_SHIFT),
			text_duration((u64)(left / p->rate) + 1));
	fprintf(out, "\033[K");
	fflush(out);
	bar_shown = out;
}

void progress_say(double part, const char *words)
{
	enum { WIDTH = 30 };
	FILE *out = terminal();
	char bar[WIDTH + 1];

	if (!out)
		return;
	memset(bar, '.', WIDTH);
	memset(bar, '#', (size_t)(min(max(part, 0), 1) * WIDTH));
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s] %s\033[K", bar, words);
	fflush(out);
	bar_shown = out;
}

void progress_end(void)
{
	if (bar_shown) {
		fprintf(bar_shown, "\r\033[K");
		fflush(bar_shown);
	}
	bar_shown = NULL;
}

static sigset_t held;
static unsigned int holds;

void signals_hold(void)
{
	sigset_t set;

	if (holds++)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &held);
}

void signals_release(void)
{
	if (!--holds)
		sigprocmask(SIG_SETMASK, &held, NULL);
}

static const int caught[NR_CAUGHT] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t came;

static void on_signal(int sig)
{
	(void)sig;
	came = 1;
}

bool signals_came(void)
{
	return came;
}

/* A second time it changes nothing. */
void signals_catch(struct sigaction *was)
{
	const struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	for (u32 i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i], &act, &was[i]);
	if (was[0].sa_handler != on_signal)
		came = 0;
}

void signals_let(const struct sigaction *was)
{
	for (u32 i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i], &was[i], NULL);
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
