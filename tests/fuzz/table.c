// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - libFuzzer on the words of a table line and of a message.
 *
 * The input is a line, split into words as device mapper does it. What is taken is
 * what a second reading of it takes, within the ranges that the manual page names,
 * and is the same after it was printed and read again; what is refused is refused
 * in one line that prints.
 */
#include <ctype.h>
#include <stdlib.h>
#include "command.h"
#include "message.h"
#include "options.h"
#include "../unit/abort.h"

#define LINE_MAX	4096
#define WORDS_MAX	(LINE_MAX / 2 + 1)

#define MUST(cond) do { if (!(cond)) xp_assert_failed(#cond, __FILE__, __LINE__); } while (0)

/* ------------------------------------------------------------- words ---- */

/* Each word in memory of its own, so that a step beyond it is seen. */
struct words {
	char *word[WORDS_MAX];
	u32 n;
};

/* Blanks end a word, a backslash makes a character a plain one. */
static void split(const char *line, struct words *w)
{
	char word[LINE_MAX];

	w->n = 0;
	for (;;) {
		size_t len = 0;

		while (isspace((unsigned char)*line))
			line++;
		if (!*line)
			return;
		for (; *line && !isspace((unsigned char)*line); line++) {
			if (*line == '\\' && line[1])
				line++;
			word[len++] = *line;
		}
		w->word[w->n++] = strndup(word, len);
	}
}

static void drop(struct words *w)
{
	while (w->n)
		free(w->word[--w->n]);
}

static void check_refusal(int err, const struct xp_message *msg)
{
	size_t i, len = strnlen(msg->text, sizeof(msg->text));

	MUST(err == -EINVAL);
	MUST(len && len < sizeof(msg->text));
	for (i = 0; i < len; i++)
		MUST(msg->text[i] >= ' ' && msg->text[i] <= '~');
}

/* ------------------------------------------------------------ options ---- */

/* As docs/xpcache.8 has them: not from the table that is tested. */
static bool in_ranges(const struct xp_tunables *t)
{
	return t->dirty_low <= 100 && t->dirty_high >= 1 && t->dirty_high <= 100 &&
	       t->dirty_low < t->dirty_high && t->idle_ms <= 24 * 3600 * 1000 &&
	       t->histogram <= 1 && t->stream_kib <= 1u << 30 && t->writeback_delay <= 7 * 24 * 3600 &&
	       t->mode <= 3 && t->verify <= 1 && t->grid <= 7;
}

/* Digits that fit. */
static bool read_value(const char *word, u32 *value)
{
	unsigned long long n;

	errno = 0;
	n = strtoull(word, NULL, 10);
	*value = (u32)n;
	return *word && !word[strspn(word, "0123456789")] && !errno && n <= UINT32_MAX;
}

static bool read_mode(const char *word, u32 *value)
{
	static const char *const mode[] = { "writeback", "writethrough", "writearound" };
	u32 i;

	for (i = 0; i < 3 && strcmp(word, mode[i]) != 0; i++)
		;
	*value = i + 1;
	return i < 3;
}

/* What the words mean, without a sentence; false: not to be taken. */
static bool understand(const struct words *w, struct xp_tunables *t)
{
	bool low = false, high = false, idle = false, record = false, stream = false, mark = false,
	     delay = false, mode = false, verify = false, grid = false, *given;
	u32 i, n, *value;

	*t = (struct xp_tunables){ .dirty_low = 10, .dirty_high = 80, .idle_ms = 5000, .histogram = 1,
				  .stream_kib = 4096 };
	if (w->n < 2 || (w->n > 2 && (!read_value(w->word[2], &n) || n != w->n - 3 || n % 2)))
		return false;
	for (i = 3; i < w->n; i += 2) {
		const char *name = w->word[i];

		given = !strcmp(name, "dirty_low") ? &low : !strcmp(name, "dirty_high") ? &high :
			!strcmp(name, "idle_ms") ? &idle : !strcmp(name, "histogram") ? &record :
			!strcmp(name, "stream_kib") ? &stream : !strcmp(name, "writeback_delay") ? &delay :
			!strcmp(name, "mode") ? &mode : !strcmp(name, "mark") ? &mark : !strcmp(name, "verify") ? &verify :
			!strcmp(name, "grid") ? &grid : NULL;
		value = given == &low ? &t->dirty_low : given == &high ? &t->dirty_high :
			given == &idle ? &t->idle_ms : given == &record ? &t->histogram :
			given == &stream ? &t->stream_kib : given == &delay ? &t->writeback_delay :
			given == &mode ? &t->mode : given == &mark ? &t->mark :
			given == &grid ? &t->grid : &t->verify;
		if (!given || *given || !(given == &mode ? read_mode : read_value)(w->word[i + 1], value))
			return false;
		*given = true;
	}
	return in_ranges(t);
}

static bool is_default(const struct xp_tunables *t)
{
	return t->dirty_low == 10 && t->dirty_high == 80 && t->idle_ms == 5000 &&
	       t->histogram == 1 && t->stream_kib == 4096 && !t->writeback_delay && t->mode <= 1 && !t->mark && !t->verify &&
	       !t->grid;
}

static void check_line(const char *text, const struct xp_tunables *t)
{
	char again[XP_TUNABLES_TEXT], line[XP_TUNABLES_TEXT + 8];
	struct xp_message msg;
	struct xp_table back;
	struct words w;

	snprintf(line, sizeof(line), "a b%s", text);
	split(line, &w);
	MUST(!xp_table_parse(&back, w.n, w.word, &msg));
	MUST(!memcmp(&back.tunables, t, sizeof(*t)));
	drop(&w);
	xp_tunables_print_said(&back.tunables, again);
	MUST(!strcmp(text, again));
}

/* A start's line has all that was said; that of a running cache what differs from the defaults. */
static void check_print(const struct xp_tunables *t)
{
	struct xp_tunables running = *t;
	char text[XP_TUNABLES_TEXT];

	xp_tunables_print_said(t, text);
	MUST((is_default(t) && !t->mode) == !*text);
	check_line(text, t);
	if (running.mode == 1)
		running.mode = 0;
	xp_tunables_print(t, text);
	MUST(is_default(t) == !*text);
	check_line(text, &running);
}

static void try_table(struct words *w)
{
	struct xp_message msg = { "" };
	struct xp_tunables wanted;
	struct xp_table t;
	int err = xp_table_parse(&t, w->n, w->word, &msg);

	MUST(understand(w, &wanted) == !err);
	MUST(w->n < 2 ? !t.fast && !t.slow : t.fast == w->word[0] && t.slow == w->word[1]);
	if (err) {
		check_refusal(err, &msg);
		return;
	}
	MUST(!memcmp(&t.tunables, &wanted, sizeof(wanted)));
	check_print(&t.tunables);
}

/* ------------------------------------------------------------ messages ---- */

/* From the defaults: what it leaves is a table line, too. */
static void try_change(enum xp_command command, struct words *w)
{
	struct xp_tunables before, t;
	struct xp_message msg = { "" };
	u32 kib;
	int err;

	xp_tunables_init(&before);
	t = before;
	err = xp_command_change(command, &t, w->n, w->word, &msg);
	if (err)
		check_refusal(err, &msg);
	MUST(err ? !memcmp(&t, &before, sizeof(t)) : in_ranges(&t) && !t.mark && !t.verify && !t.grid);
	if (command == XP_COMMAND_STREAM_KIB && read_value(w->word[1], &kib) && kib <= 1u << 30)
		MUST(!err && t.stream_kib == kib);
	if (!err)
		check_print(&t);
}

static void try_message(struct words *w)
{
	enum xp_command command = (enum xp_command)XP_COMMANDS;
	struct xp_message msg = { "" };
	int err = xp_command_parse(&command, w->n, w->word, &msg);

	if (err) {
		MUST((u32)command == XP_COMMANDS);
		check_refusal(err, &msg);
		return;
	}
	MUST((u32)command < XP_COMMANDS);
	MUST(!strcasecmp(w->word[0], xp_command_name(command)));
	MUST(w->n == (command == XP_COMMAND_STREAM_KIB ? 2 : 1) || (command == XP_COMMAND_SET && w->n % 2));
	if (command >= XP_COMMAND_HISTOGRAM_ON)
		try_change(command, w);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct words w;
	char line[LINE_MAX];

	size = min(size, sizeof(line) - 1);
	memcpy(line, data, size);
	line[size] = '\0';
	split(line, &w);
	try_table(&w);
	try_message(&w);
	drop(&w);
	return 0;
}
