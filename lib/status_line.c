// SPDX-License-Identifier: GPL-2.0-only
/* The line of words that a running cache tells of itself: read, taken to pieces, as JSON. */
#include "lib/status.h"
#include "lib/json.h"
#include "lib/running.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "<state> <name> <value> ...": readers look names up, so the order may grow. */
int status_parse(struct status *s)
{
	const unsigned int room = sizeof(s->name) / sizeof(*s->name);
	char *word, *next;

	s->n = 0;
	s->state = strtok_r(s->line, " ", &next);
	if (!s->state)
		return -EPROTO;
	while (s->n < room && (word = strtok_r(NULL, " ", &next))) {
		s->name[s->n] = word;
		s->value[s->n] = strtok_r(NULL, " ", &next);
		if (!s->value[s->n])
			return -EPROTO;
		s->n++;
	}
	return 0;
}

int status_read(const char *name, struct status *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = running_status(name, s->line, sizeof(s->line));
	xp_words_clean(s->line, sizeof(s->line));
	return err ? err : status_parse(s);
}

/* Fields with a new name. An older module or daemon has the first name only. */
static const struct {
	const char *name, *older;
} renamed[] = {
	{ "slow_complete", "home" },
	{ "passthrough", "passing" },
	{ "dirty_unreachable", "stranded" },
	{ "writeback_failing_since", "destage_failing_since" },
	{ "written_back", "destaged" },
	{ "relocated", "carried" },
	{ "flushes_completed", "homes" },
	{ "writeback_flushes", "destage_flushes" },
};
#define NR_RENAMED	(sizeof(renamed) / sizeof(*renamed))

static const char *value_of(const struct status *s, const char *name)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->name[i], name))
			return s->value[i];
	return NULL;
}

const char *status_text(const struct status *s, const char *name)
{
	const char *value = value_of(s, name);

	for (size_t i = 0; i < NR_RENAMED && !value; i++)
		if (!strcmp(renamed[i].name, name))
			value = value_of(s, renamed[i].older);
	return value;
}

/* Digits and nothing else, and no more than fit. */
static bool is_number(const char *text, u64 *n)
{
	errno = 0;
	*n = strtoull(text, NULL, 10);
	return !errno && !text[strspn(text, "0123456789")];
}

u64 status_number(const struct status *s, const char *name)
{
	const char *text = status_text(s, name);
	u64 n;

	return text && is_number(text, &n) ? n : 0;
}

static void add_field(struct json_object *o, const char *name, const char *value)
{
	u64 n;

	json_object_object_add(o, name, is_number(value, &n) ? json_object_new_uint64(n) : json_words(value));
}

/* The names of the status line, and the new names of fields that an older backend calls otherwise. */
struct json_object *status_json(const struct status *s)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < s->n; i++)
		if (strcmp(s->name[i], "uuid") != 0)
			add_field(o, s->name[i], s->value[i]);
	for (size_t i = 0; i < NR_RENAMED; i++)
		if (!value_of(s, renamed[i].name) && value_of(s, renamed[i].older))
			add_field(o, renamed[i].name, value_of(s, renamed[i].older));
	return o;
}
