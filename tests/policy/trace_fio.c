// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_fio.c - reads fio's iolog, versions 2 and 3. After the header a line is, with "time" (us) in version 3 only:
 *	[time] file add|open|close
 *	[time] file read|write|trim offset bytes
 *	[time] file sync|datasync [offset bytes]
 *	       file wait us bytes
 */
#include <string.h>
#include "trace_read.h"

#define FIELDS	5u

static bool knows(const u8 *head, size_t len)
{
	return len >= 12 && !memcmp(head, "fio version ", 12);
}

static int header(struct trace *t, struct xp_message *msg)
{
	char *line;

	if (trace_line(t, &line, msg) < 0)
		return -1;
	t->version = !strcmp(line, "fio version 2 iolog") ? 2 : !strcmp(line, "fio version 3 iolog") ? 3 : 0;
	t->begun = true;
	return t->version ? 1 : trace_bad_line(t, "is neither of fio's iolog versions 2 and 3", msg);
}

static int operation(const char *word)
{
	static const struct { const char *word; u8 op; } words[] = {
		{ "read", XP_READ }, { "write", XP_WRITE }, { "trim", XP_DISCARD },
		{ "sync", XP_FLUSH }, { "datasync", XP_FLUSH },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return words[i].op;
	return -1;
}

static bool is_of_files(const char *word)
{
	return !strcmp(word, "add") || !strcmp(word, "open") || !strcmp(word, "close");
}

static int request(struct trace *t, struct trace_op *op, char **word, u32 nr, struct xp_message *msg)
{
	u64 offset = 0, bytes = 0;
	int what = operation(word[1]);
	bool wait = t->version == 2 && !strcmp(word[1], "wait");

	if (what < 0 && !wait)
		return trace_bad_line(t, "has an action that is none of fio's", msg);
	if (what != XP_FLUSH || nr > 2)
		if (nr != 4 || !trace_number(word[2], &offset) || !trace_number(word[3], &bytes))
			return trace_bad_line(t, "has no offset and length behind the action", msg);
	if (wait) {
		if (offset > TRACE_SECTORS)
			return trace_bad_line(t, "waits for too long", msg);
		t->delay_ns += offset * 1000;
		return 0;
	}
	op->op = (u8)what;
	if ((!bytes && what != XP_FLUSH) || !trace_is_ours(t, trace_hash(word[0])))
		return 0;
	return trace_place(op, offset, bytes) ? 1 : trace_bad_line(t, "the offset is out of range", msg);
}

static int action(struct trace *t, struct trace_op *op, char *line, struct xp_message *msg)
{
	char *words[FIELDS + 1], **word = words;
	u32 nr = trace_words(line, " \t", words, FIELDS + 1);
	u64 us = 0;

	if (!nr)
		return 0;
	if (t->version == 3 && (!trace_number(*word++, &us) || us > ~0ull / 1000))
		return trace_bad_line(t, "does not begin with a time", msg);
	nr -= t->version == 3;
	if (nr < 2 || nr > 4)
		return trace_bad_line(t, "has not the fields of an iolog", msg);
	op->time_ns = t->version == 3 ? us * 1000 : t->delay_ns;
	return nr == 2 && is_of_files(word[1]) ? 0 : request(t, op, word, nr, msg);
}

static int next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	char *line;
	int got = 1;

	if (!t->begun)
		got = header(t, msg);
	while (got > 0) {
		got = trace_line(t, &line, msg);
		if (got <= 0)
			break;
		got = action(t, op, line, msg);
		if (got)
			return got;
		got = 1;
	}
	return got;
}

const struct trace_reader trace_fio = { "fio", knows, next };
