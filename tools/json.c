// SPDX-License-Identifier: GPL-2.0-only
/* json.c - what a file holds, if all of it is one value: json-c is content with a beginning. */
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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
	errno = err;
	return value;
}
