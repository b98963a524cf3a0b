// SPDX-License-Identifier: GPL-2.0-only
/* json.c - what a file holds, if all of it is one value: json-c is content with a beginning. */
#include "lib/json.h"
#include "core/options.h"
#include "core/words.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define DEPTH	32	/* json-c's own */

/* Is nothing but white space left? */
static bool is_blank(const char *text, size_t n)
{
	while (n && isspace((unsigned char)*text)) {
		text++;
		n--;
	}
	return !n;
}

/* NULL, errno: 0 if it is not JSON. */
static struct json_object *read_value(int fd, struct json_tokener *parser)
{
	struct json_object *value = NULL;
	char text[1 << 14];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0) {
		size_t used = 0;

		if (!value) {
			value = json_tokener_parse_ex(parser, text, (int)n);
			used = value ? json_tokener_get_parse_end(parser) : (size_t)n;
			if (!value && json_tokener_get_error(parser) != json_tokener_continue)
				break;
		}
		if (!is_blank(text + used, (size_t)n - used))
			break;
	}
	if (!n && value)
		return value;
	json_object_put(value);
	if (n >= 0)
		errno = 0;
	return NULL;
}

static void clean_text(struct json_object *text)
{
	size_t room = (size_t)json_object_get_string_len(text) + 1;
	char *copy = strndup(json_object_get_string(text), room);

	if (copy && xp_words_clean(copy, (u32)strlen(copy) + 1))
		json_object_set_string(text, copy);
	free(copy);
}

/* As deep as DEPTH. */
static void clean(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		clean_text(value);
	if (json_object_is_type(value, json_type_array))
		for (size_t i = 0; i < json_object_array_length(value); i++)
			clean(json_object_array_get_idx(value, i));
	if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, key, member) {
			(void)key;
			clean(member);
		}
	}
}

struct json_object *json_words(const char *text)
{
	size_t room = strlen(text) + 1;
	char *copy = strdup(text);
	struct json_object *o = NULL;

	if (copy) {
		xp_words_clean(copy, (u32)room);
		o = json_object_new_string(copy);
	}
	free(copy);
	return o;
}

struct json_object *json_load(const char *path)
{
	struct json_tokener *parser = json_tokener_new_ex(DEPTH);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct json_object *value = parser && fd >= 0 ? read_value(fd, parser) : NULL;
	int err = errno;

	if (fd >= 0)
		close(fd);
	if (parser)
		json_tokener_free(parser);
	clean(value);
	errno = err;
	return value;
}

struct json_object *json_tunable(const struct xp_tunable *row, u32 value)
{
	char text[16];

	if (!row->word)
		return json_object_new_int64(value);
	xp_tunable_text(row, value, text, sizeof(text));
	return json_object_new_string(text);
}
