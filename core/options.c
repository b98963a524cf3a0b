// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what users and other programs hand us as words: the table line
 * with its options, and messages.
 *
 * The one place that knows their names, ranges and defaults, what contradicts
 * what, and the sentence that says so. A word may hold anything: in a sentence
 * it is cut short, and what does not print is a '?'.
 */
#include "command.h"
#include "format.h"
#include "message.h"
#include "options.h"

#define AT(member)	offsetof(struct xp_tunables, member)

static const char *const mode_word[XP_MODES] = {
	[XP_MODE_KEPT] = "kept", [XP_MODE_WRITEBACK] = "writeback", [XP_MODE_WRITETHROUGH] = "writethrough",
	[XP_MODE_WRITEAROUND] = "writearound",
};

const struct xp_tunable xp_tunable_rows[XP_TUNABLES] = {
	{ "dirty_low", 0, 100, XP_DEFAULT_DIRTY_LOW, AT(dirty_low), false, NULL },
	{ "dirty_high", 1, 100, XP_DEFAULT_DIRTY_HIGH, AT(dirty_high), false, NULL },
	{ "idle_ms", 0, 24 * 3600 * 1000, 5000, AT(idle_ms), false, NULL },
	{ "histogram", 0, 1, 1, AT(histogram), false, NULL },
	{ "stream_kib", 0, 1u << 30, XP_DEFAULT_STREAM_KIB, AT(stream_kib), false, NULL },
	{ "writeback_delay", 0, 7 * 24 * 3600, 0, AT(writeback_delay), false, NULL },
	{ "mode", XP_MODE_WRITEBACK, XP_MODES - 1, XP_MODE_WRITEBACK, AT(mode), false, mode_word },
	{ "mark", 0, 0xffffffff, 0, AT(mark), true, NULL },
	{ "verify", 0, 1, 0, AT(verify), true, NULL },
	{ "grid", 0, XP_BLOCK_SECTORS - 1, 0, AT(grid), true, NULL },
};

static const struct command {
	const char *name;
	/* that it changes; and to what, or to its second word */
	const char *option, *value;
} commands[XP_COMMANDS] = {
	[XP_COMMAND_FLUSH] = { .name = "flush" },
	[XP_COMMAND_FLUSH_STOP] = { .name = "flush_stop" },
	[XP_COMMAND_COMMIT] = { .name = "commit" },
	[XP_COMMAND_HISTOGRAM] = { .name = "histogram" },
	[XP_COMMAND_HISTOGRAM_ON] = { "histogram_on", "histogram", "1" },
	[XP_COMMAND_HISTOGRAM_OFF] = { "histogram_off", "histogram", "0" },
	[XP_COMMAND_STREAM_KIB] = { "stream_kib", "stream_kib", NULL },
	[XP_COMMAND_SET] = { .name = "set" },	/* those of its pairs */
};

/* -------------------------------------------------------------- words ---- */

struct shown {
	char text[32];
};

static const char *show(const char *word, struct shown *s)
{
	const u32 room = sizeof(s->text) - sizeof("...");
	u32 i;

	for (i = 0; word[i] && i < room; i++)
		s->text[i] = word[i] >= ' ' && word[i] <= '~' ? word[i] : '?';
	memcpy(s->text + i, word[i] ? "..." : "", word[i] ? sizeof("...") : 1);
	return s->text;
}

/* Digits and nothing else. */
static bool read_number(const char *word, u32 min, u32 max, u32 *value)
{
	u64 n = 0;

	do {
		if (*word < '0' || *word > '9')
			return false;
		n = 10 * n + (u64)(*word - '0');
		if (n > max)
			return false;
	} while (*++word);
	if (n < min)
		return false;
	*value = (u32)n;
	return true;
}

/* ------------------------------------------------------------ options ---- */

static u32 *value_of(struct xp_tunables *t, const struct xp_tunable *row)
{
	return (u32 *)((char *)t + row->offset);
}

u32 xp_tunable_value(const struct xp_tunables *t, const struct xp_tunable *row)
{
	return *(const u32 *)((const char *)t + row->offset);
}

static const struct xp_tunable *row_called(const char *name)
{
	u32 i;

	for (i = 0; i < XP_TUNABLES; i++)
		if (!strcmp(name, xp_tunable_rows[i].name))
			return &xp_tunable_rows[i];
	return NULL;
}

static const struct xp_tunable *find_row(const char *name, struct xp_message *msg)
{
	const struct xp_tunable *row = row_called(name);
	struct shown s;
	u32 i, len;

	if (row)
		return row;
	len = (u32)snprintf(msg->text, sizeof(msg->text), "unknown option \"%s\"; known are",
			    show(name, &s));
	for (i = 0; i < XP_TUNABLES; i++)
		len += (u32)snprintf(msg->text + len, sizeof(msg->text) - len, "%s %s",
				     i ? "," : "", xp_tunable_rows[i].name);
	return NULL;
}

static int read_word(u32 *value, const struct xp_tunable *row, const char *word, struct xp_message *msg)
{
	struct shown s;
	u32 i, len;

	for (i = row->min; i <= row->max; i++)
		if (!strcmp(word, row->word[i])) {
			*value = i;
			return 0;
		}
	len = (u32)snprintf(msg->text, sizeof(msg->text), "%s is not \"%s\", but one of", row->name, show(word, &s));
	for (i = row->min; i <= row->max; i++)
		len += (u32)snprintf(msg->text + len, sizeof(msg->text) - len, "%s %s", i > row->min ? "," : "",
				     row->word[i]);
	return -EINVAL;
}

static int read_value(u32 *value, const struct xp_tunable *row, const char *word,
		      struct xp_message *msg)
{
	struct shown s;

	if (row->word)
		return read_word(value, row, word, msg);
	if (read_number(word, row->min, row->max, value))
		return 0;
	snprintf(msg->text, sizeof(msg->text), "%s is a number from %u to %u, not \"%s\"",
		 row->name, row->min, row->max, show(word, &s));
	return -EINVAL;
}

/* "writeback" goes without saying once a start has said which mode it is. */
bool xp_tunable_is_set(const struct xp_tunables *t, const struct xp_tunable *row)
{
	u32 value = xp_tunable_value(t, row);

	return value != row->initial && (!row->word || value != XP_MODE_KEPT);
}

bool xp_tunable_is_said(const struct xp_tunables *t, const struct xp_tunable *row)
{
	return xp_tunable_value(t, row) != (row->word ? XP_MODE_KEPT : row->initial);
}

u32 xp_tunable_text(const struct xp_tunable *row, u32 value, char *text, u32 room)
{
	if (row->word && value <= row->max)
		return (u32)snprintf(text, room, "%s", row->word[value]);
	return (u32)snprintf(text, room, "%u", value);
}

void xp_tunables_init(struct xp_tunables *t)
{
	u32 i;

	for (i = 0; i < XP_TUNABLES; i++)
		*value_of(t, &xp_tunable_rows[i]) = xp_tunable_rows[i].initial;
	t->mode = XP_MODE_KEPT;		/* nobody has said that it is the initial one */
}

int xp_tunables_set(struct xp_tunables *t, const char *name, const char *word,
		    struct xp_message *msg)
{
	const struct xp_tunable *row = find_row(name, msg);

	return row ? read_value(value_of(t, row), row, word, msg) : -EINVAL;
}

int xp_tunables_check(const struct xp_tunables *t, struct xp_message *msg)
{
	if (t->dirty_low < t->dirty_high)
		return 0;
	snprintf(msg->text, sizeof(msg->text), "dirty_low, %u, is not below dirty_high, %u",
		 t->dirty_low, t->dirty_high);
	return -EINVAL;
}

static void print(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT],
		  bool (*is_printed)(const struct xp_tunables *t, const struct xp_tunable *row))
{
	u32 i, len = 0, nr = 0;

	for (i = 0; i < XP_TUNABLES; i++)
		nr += is_printed(t, &xp_tunable_rows[i]);
	text[0] = '\0';
	if (nr)
		len = (u32)snprintf(text, XP_TUNABLES_TEXT, " %u", 2 * nr);
	for (i = 0; i < XP_TUNABLES; i++) {
		const struct xp_tunable *row = &xp_tunable_rows[i];
		u32 value = xp_tunable_value(t, row);

		if (!is_printed(t, row))
			continue;
		len += (u32)snprintf(text + len, XP_TUNABLES_TEXT - len, " %s ", row->name);
		len += xp_tunable_text(row, value, text + len, XP_TUNABLES_TEXT - len);
	}
}

void xp_tunables_print(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT])
{
	print(t, text, xp_tunable_is_set);
}

void xp_tunables_print_said(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT])
{
	print(t, text, xp_tunable_is_said);
}

/* --------------------------------------------------------- table line ---- */

static int read_pairs(struct xp_tunables *t, u32 nr, char *const *word, struct xp_message *msg)
{
	u32 given = 0;
	int err = 0;

	for (; nr && !err; nr -= 2, word += 2) {
		const struct xp_tunable *row = find_row(word[0], msg);
		u32 bit = row ? 1u << (row - xp_tunable_rows) : 0;

		if (!row)
			return -EINVAL;
		if (given & bit) {
			snprintf(msg->text, sizeof(msg->text), "option %s is given twice",
				 row->name);
			return -EINVAL;
		}
		given |= bit;
		err = read_value(value_of(t, row), row, word[1], msg);
	}
	return err ? err : xp_tunables_check(t, msg);
}

/* The count, and what follows it. */
static int read_options(struct xp_tunables *t, u32 nr, char *const *word, struct xp_message *msg)
{
	u32 counted, pairs = nr - 1;
	struct shown s;

	if (!read_number(word[0], 0, ~0u, &counted) || counted != pairs) {
		snprintf(msg->text, sizeof(msg->text),
			 "the count of option words is \"%s\", but %u follow", show(word[0], &s), pairs);
		return -EINVAL;
	}
	if (pairs % 2) {
		snprintf(msg->text, sizeof(msg->text),
			 "options are pairs of a name and a value, but %u words follow their count",
			 pairs);
		return -EINVAL;
	}
	return read_pairs(t, pairs, word + 1, msg);
}

int xp_table_parse(struct xp_table *t, u32 nr, char *const *word, struct xp_message *msg)
{
	memset(t, 0, sizeof(*t));
	xp_tunables_init(&t->tunables);
	if (nr < 2) {
		snprintf(msg->text, sizeof(msg->text),
			 "expected <fast device> <slow device> [<nr args> [<name> <value>]...]");
		return -EINVAL;
	}
	t->fast = word[0];
	t->slow = word[1];
	return nr == 2 ? 0 : read_options(&t->tunables, nr - 2, word + 2, msg);
}

/* ----------------------------------------------------------- messages ---- */

const char *xp_command_name(enum xp_command command)
{
	return commands[command].name;
}

static void tell_known(const char *word, struct xp_message *msg)
{
	struct shown s;
	u32 i, len;

	len = (u32)snprintf(msg->text, sizeof(msg->text), "unknown message \"%s\"; known are",
			    show(word, &s));
	for (i = 0; i < XP_COMMANDS; i++)
		len += (u32)snprintf(msg->text + len, sizeof(msg->text) - len, "%s %s",
				     i ? "," : "", commands[i].name);
}

/* XP_COMMANDS: there is none. */
static u32 command_called(const char *name)
{
	u32 i;

	for (i = 0; i < XP_COMMANDS; i++)
		if (!strcasecmp(name, commands[i].name))
			break;
	return i;
}

static int check_words(u32 command, u32 nr, struct xp_message *msg)
{
	const char *name = commands[command].name;
	bool valued = commands[command].option && !commands[command].value;

	if (command == XP_COMMAND_SET) {
		if (nr > 1 && nr % 2)
			return 0;
		snprintf(msg->text, sizeof(msg->text),
			 "message %s takes a name and a value, or more such pairs", name);
		return -EINVAL;
	}
	if (nr == (valued ? 2 : 1))
		return 0;
	snprintf(msg->text, sizeof(msg->text), "message %s is %s, not %u",
		 name, valued ? "two words" : "one word", nr);
	return -EINVAL;
}

int xp_command_parse(enum xp_command *command, u32 nr, char *const *word, struct xp_message *msg)
{
	u32 i = nr ? command_called(word[0]) : XP_COMMANDS;
	int err;

	if (i == XP_COMMANDS) {
		tell_known(nr ? word[0] : "", msg);
		return -EINVAL;
	}
	err = check_words(i, nr, msg);
	if (!err)
		*command = (enum xp_command)i;
	return err;
}

/* What a start sets stays. */
static int check_running(const struct xp_tunables *was, const struct xp_tunables *is,
			 struct xp_message *msg)
{
	const struct xp_tunable *row;

	for (row = xp_tunable_rows; row < xp_tunable_rows + XP_TUNABLES; row++)
		if (row->start && xp_tunable_value(was, row) != xp_tunable_value(is, row)) {
			snprintf(msg->text, sizeof(msg->text),
				 "%s stays while the cache runs: stop it, and start it with the other value",
				 row->name);
			return -EINVAL;
		}
	return 0;
}

int xp_command_change(enum xp_command command, struct xp_tunables *t, u32 nr, char *const *word,
		      struct xp_message *msg)
{
	const struct command *c = &commands[command];
	struct xp_tunables changed = *t;
	const struct xp_tunable *row;
	int err;

	if (c->option) {
		row = find_row(c->option, msg);
		err = row ? read_value(value_of(&changed, row), row, c->value ? c->value : word[1], msg) : -EINVAL;
	} else {
		err = read_pairs(&changed, nr - 1, word + 1, msg);
	}
	if (!err)
		err = check_running(t, &changed, msg);
	if (!err)
		*t = changed;
	return err;
}
